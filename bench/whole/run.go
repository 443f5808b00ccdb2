package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A bench runs programs in a folder of its own.
type bench struct {
	dir, tool, timer string
	runs             int
	short, off       bool
}

func newBench(runs int, short, off bool) (*bench, error) {
	tool, err := mpis.Spoor()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "spoor-whole-")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, tool: tool, timer: filepath.Join(dir, "phases.so"), runs: runs, short: short, off: off}
	source := mpis.Root("bench", "whole", "preload", "phases.c")
	if text, err := exec.Command("cc", "-O2", "-shared", "-fPIC", "-o", b.timer, source, "-ldl").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return b, nil
}

// phases are the times of a run, in ms. launch to after follow each other; their sum is whole.
type phases struct {
	whole           float64 // from the start of the launcher, or of spoor, to its end
	launch          float64 // until the first rank calls MPI_Init
	start           float64 // until MPI_Init has returned on all ranks
	calls           float64 // until the last rank calls MPI_Finalize
	end             float64 // until MPI_Finalize has returned on all ranks
	after           float64 // until the launcher, or spoor, has ended
	initCPU, endCPU float64 // processor time of a process in MPI_Init and MPI_Finalize, on average
}

// record traces a program with the times of all calls. It doesn't preload the library that measures phases: with it,
// Fortran's MPI_Init would enter the shim twice.
func (b *bench) record(m *mpis.MPI, ranks int, line []string) error {
	command := slices.Concat([]string{b.tool, "run", "-q", "-f", "--timing", "lossless", "-o", "t.spoor"}, m.Command(ranks, line...))
	c := exec.Command(command[0], command[1:]...)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = b.dir, &out, &out
	c.Env = m.Environ("OMP_NUM_THREADS=1")
	if err := mpis.RunWithin(5*time.Minute, c); err != nil {
		return fmt.Errorf("%q: %w\n%s", command, err, mpis.Tail(out.String()))
	}
	return nil
}

// once runs a program. kind is 0 without spoor, 1 with spoor, 2 with spoor whose tracing is switched off.
func (b *bench) once(m *mpis.MPI, ranks int, line []string, kind int) (*phases, error) {
	says := filepath.Join(b.dir, "phases")
	if err := os.RemoveAll(says); err != nil {
		return nil, err
	}
	// The library that measures phases comes before the shim in LD_PRELOAD, so that it measures the shim, too.
	behind := []string{"/bin/sh", "-c", "LD_PRELOAD=" + b.timer + ":$LD_PRELOAD exec \"$@\"", "sh"}
	command := m.Command(ranks, slices.Concat(behind, line)...)
	switch kind {
	case 1:
		command = slices.Concat([]string{b.tool, "run", "-q", "-f", "-o", "t.spoor"}, command)
	case 2:
		command = slices.Concat([]string{b.tool, "run", "-q", "-f", "-o", "t.spoor", "--start-off"}, command)
	}
	c := exec.Command(command[0], command[1:]...)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = b.dir, &out, &out
	c.Env = m.Environ("PHASES_OUT="+says, "OMP_NUM_THREADS=1")
	began := time.Now()
	err := mpis.RunWithin(5*time.Minute, c)
	ended := time.Now()
	if err != nil {
		return nil, fmt.Errorf("%q: %w\n%s", command, err, mpis.Tail(out.String()))
	}
	text, err := os.ReadFile(says)
	if err != nil {
		return nil, err
	}
	return split(began.UnixNano(), ended.UnixNano(), string(text), ranks)
}

// split computes the phases of a run from the times that each rank wrote: when it entered and left MPI_Init and
// MPI_Finalize, each with the processor time so far.
func split(began, ended int64, text string, ranks int) (*phases, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != ranks {
		return nil, fmt.Errorf("%d ranks said when they were where, want %d", len(lines), ranks)
	}
	var first, started, last, over int64
	var p phases
	for i, line := range lines {
		var wall, cpu [4]int64
		if n, _ := fmt.Sscan(line, &wall[0], &cpu[0], &wall[1], &cpu[1], &wall[2], &cpu[2], &wall[3], &cpu[3]); n != 8 {
			return nil, fmt.Errorf("unexpected line %q", line)
		}
		if wall[0] == 0 || wall[2] == 0 {
			return nil, errors.New("a rank has not called MPI_Init and MPI_Finalize as expected")
		}
		if i == 0 {
			first = wall[0]
		}
		first, started = min(first, wall[0]), max(started, wall[1])
		last, over = max(last, wall[2]), max(over, wall[3])
		p.initCPU += ms(cpu[1]-cpu[0]) / float64(ranks)
		p.endCPU += ms(cpu[3]-cpu[2]) / float64(ranks)
	}
	p.whole = ms(ended - began)
	p.launch, p.start, p.calls, p.end, p.after = ms(first-began), ms(started-first), ms(last-started), ms(over-last), ms(ended-over)
	return &p, nil
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

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

// others are the command lines of programs that Debian builds for Open MPI alone.
var others = map[string][]string{
	"hpcc":   {"hpcc"},
	"lammps": {"lmp", "-in", "in.melt", "-log", "none"},
}

// names lists the names of all programs that can be measured.
func names() []string {
	var list []string
	for _, a := range compile.All {
		list = append(list, a.Name)
	}
	return append(list, "hpcc", "lammps")
}

// line returns a program's command line; nil if the program isn't installed for this MPI.
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

// melt is LAMMPS's input file for Lennard-Jones atoms, from LAMMPS's example melt; %d is the number of time steps.
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
