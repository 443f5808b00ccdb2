package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// sizes are arguments with which the programs of test/apps run for a fraction of a
// second to a second and a half on two ranks.
var sizes = map[string][]string{
	"heat2d":     {"-n", "500", "-i", "1200"},
	"cg":         {"-n", "1024"},
	"lu":         {"-n", "40", "-i", "60"},
	"nbody":      {"-n", "1000", "-i", "20"},
	"master":     {"-n", "2000", "-i", "1500"},
	"sort":       {"-n", "200000", "-i", "20"},
	"checkpoint": {"-n", "512", "-i", "20"},
}

// others are programs that Debian builds for Open MPI alone.
var others = map[string][]string{
	"hpcc":   {"hpcc"},
	"lammps": {"lmp", "-in", "in.melt", "-log", "none"},
}

// names lists all programs.
func names() []string {
	var list []string
	for _, a := range compile.All {
		list = append(list, a.Name)
	}
	return append(list, "hpcc", "lammps")
}

// line is a program's command line, nil if it is not there for this MPI.
func (b *bench) line(m *mpis.MPI, name string, ranks int) ([]string, error) {
	if args := others[name]; args != nil {
		if _, err := exec.LookPath(args[0]); err != nil || m.Name != "openmpi" {
			return nil, nil
		}
		return args, b.inputs(ranks)
	}
	a, ok := compile.ByName(name)
	if !ok {
		return nil, fmt.Errorf("no such program")
	}
	dir := filepath.Join(b.dir, m.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	args := sizes[name]
	if b.short {
		args = a.Quick
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		if path, err = a.Build(m, dir); err != nil {
			return nil, err
		}
	}
	return append([]string{path}, args...), nil
}

// inputs writes the files that hpcc and LAMMPS read.
func (b *bench) inputs(ranks int) error {
	steps := 250
	if b.short {
		steps = 20
	}
	if err := os.WriteFile(filepath.Join(b.dir, "hpccinf.txt"), []byte(inputs.HPCCFor(ranks)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "in.melt"), []byte(fmt.Sprintf(melt, steps)), 0o644)
}

// melt is Lennard-Jones atoms, as in LAMMPS's example of that name.
const melt = `units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run %d
`
