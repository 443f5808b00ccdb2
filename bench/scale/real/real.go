// Package real measures the traces of real programs on ranks of this machine:
// the small programs of test/apps, hpcc and LAMMPS.
package real

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A Result is the measurements of one program on one MPI and number of ranks: a run without spoor and one with it.
type Result struct {
	Program, MPI                  string
	Ranks                         int
	Calls                         int64
	File, Content, Times, Process int
	Classes                       int
	Finalize, Plain               float64 // ms in MPI_Finalize after all ranks have entered it: with spoor, and without
	Seconds                       float64 // wall time of the run with spoor
	Args                          string  // the problem size: arguments of the program, or e.g. "100 steps"
}

// programs are Debian's programs, in addition to those of compile.All. Debian builds them only for Open MPI.
var programs = []struct {
	name string
	args []string // command line; [0] is the executable
	mpi  string
}{
	{name: "hpcc", args: []string{"hpcc"}, mpi: "openmpi"},
	{name: "lammps", args: []string{"lmp", "-in", "in.melt", "-log", "none"}, mpi: "openmpi"},
}

// Names lists the names of all programs that a Bench runs: those of compile.All, then Debian's.
func Names() []string {
	var list []string
	for _, a := range compile.All {
		list = append(list, a.Name)
	}
	for _, p := range programs {
		list = append(list, p.name)
	}
	return list
}

// A Bench runs programs in a folder of its own.
type Bench struct {
	Tool    string // path of bin/spoor
	Dir     string
	Timeout time.Duration
	Flags   []string // additional flags of spoor run
}

// Run runs a program without and with spoor. It returns nil if the program isn't available for the MPI.
func (b *Bench) Run(m *mpis.MPI, program string, ranks int) (*Result, error) {
	line, err := b.line(m, program, ranks)
	if err != nil || line == nil {
		return nil, err
	}
	if err := b.input(ranks); err != nil {
		return nil, err
	}
	timer, err := b.timer(m)
	if err != nil {
		return nil, err
	}
	res := &Result{Program: program, MPI: m.Name, Ranks: ranks, Args: size(program, ranks, line)}
	file := filepath.Join(b.Dir, fmt.Sprintf("%s-%s-%d.spoor", program, m.Name, ranks))
	os.Remove(file)
	for _, traced := range []bool{false, true} {
		// The timer comes before the shim in LD_PRELOAD, so that it measures the shim's MPI_Finalize and the MPI's.
		behind := []string{"/bin/sh", "-c", "LD_PRELOAD=" + timer + ":$LD_PRELOAD exec \"$@\"", "sh"}
		command := m.Command(ranks, slices.Concat(behind, line)...)
		if traced {
			command = slices.Concat([]string{b.Tool, "run", "-q", "-o", file}, b.Flags, command)
		}
		start := time.Now()
		ms, err := b.once(m, command)
		if err != nil {
			return nil, err
		}
		if traced {
			res.Finalize, res.Seconds = ms, time.Since(start).Seconds()
		} else {
			res.Plain = ms
		}
	}
	return res, res.measure(file)
}

// line returns the program's command line, nil if it is not installed for this MPI.
func (b *Bench) line(m *mpis.MPI, program string, ranks int) ([]string, error) {
	if a, ok := compile.ByName(program); ok {
		dir := filepath.Join(b.Dir, m.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, a.Name)
		if _, err := os.Stat(path); err != nil {
			if path, err = a.Build(m, dir); err != nil {
				return nil, err
			}
		}
		args := a.Quick
		switch program { // enough work for 64 ranks, and not too much for two cores
		case "heat2d":
			args = []string{"-n", "64", "-i", "40"}
			if ranks > 16 {
				args[3] = "10"
			}
		case "nbody":
			if ranks > 16 {
				args = []string{"-n", "8", "-i", "2"}
			}
		case "master":
			args = []string{"-n", "100", "-i", strconv.Itoa(max(60, 2*ranks))}
		case "checkpoint":
			args = []string{"-n", "64", "-i", "2"}
		}
		return append([]string{path}, args...), nil
	}
	for _, p := range programs {
		if p.name != program || p.mpi != m.Name {
			continue
		}
		if _, err := exec.LookPath(p.args[0]); err != nil {
			return nil, nil
		}
		return p.args, nil
	}
	return nil, nil
}

// timer compiles the preloaded library that measures the time in MPI_Finalize, and returns its path.
func (b *Bench) timer(m *mpis.MPI) (string, error) {
	out := filepath.Join(b.Dir, "finalize-"+m.Name+".so")
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	text, err := exec.Command(m.CC, "-O2", "-shared", "-fPIC", "-o", out, "bench/scale/real/preload/finalize.c", "-ldl").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return out, nil
}

// once runs a command under the timer's library and returns the ms that it measured in MPI_Finalize.
func (b *Bench) once(m *mpis.MPI, command []string) (float64, error) {
	says := filepath.Join(b.Dir, "finalize")
	os.Remove(says)
	c := exec.Command(command[0], command[1:]...)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = b.Dir, &out, &out
	c.Env = m.Environ("FINALIZE_OUT="+says, "OMP_NUM_THREADS=1", "MPIR_CVAR_POLLS_BEFORE_YIELD=1")
	if err := mpis.RunWithin(b.Timeout, c); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out.String())
	}
	text, err := os.ReadFile(says)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
}

func (x *Result) measure(file string) error {
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := trace.Check(r); err != nil {
		return err
	}
	st, err := os.Stat(file)
	if err != nil {
		return err
	}
	x.File, x.Classes = int(st.Size()), r.Classes()
	for _, s := range r.Sections() {
		switch s.Name {
		case "ranks", "signatures", "classes", "columns", "lanes":
			x.Content += int(s.StoredBytes)
		case "times", "places", "totals", "rank-values", "value-places":
			x.Times += int(s.StoredBytes)
		case "process":
			x.Process = int(s.StoredBytes)
		}
	}
	procs, err := r.Processes()
	if err != nil {
		return err
	}
	for _, p := range procs.All() {
		x.Calls += p.Calls
	}
	return nil
}

// input writes the files that hpcc and LAMMPS read.
func (b *Bench) input(ranks int) error {
	if err := os.WriteFile(filepath.Join(b.Dir, "hpccinf.txt"), []byte(inputs.HPCCFor(ranks)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.Dir, "in.melt"), []byte(fmt.Sprintf(melt, steps(ranks))), 0o644)
}

// steps returns the number of LAMMPS's time steps.
func steps(ranks int) int {
	if ranks > 16 {
		return 20
	}
	return 100
}

// size describes the problem size of a run for the table's last column.
func size(program string, ranks int, line []string) string {
	switch program {
	case "hpcc":
		return "N 120"
	case "lammps":
		return fmt.Sprintf("%d steps", steps(ranks))
	}
	return strings.Join(line[1:], " ")
}

// melt is LAMMPS's input file for Lennard-Jones atoms: LAMMPS's example melt with %d, usually fewer, time steps.
const melt = `units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run %d
`

// Head prints the first line of the table whose other lines Row prints.
func Head(w io.Writer) {
	fmt.Fprintf(w, "%-11s %-8s %5s %9s %6s | %8s %8s %8s %8s | %12s %12s | %7s | %s\n",
		"program", "MPI", "ranks", "calls", "class", "file", "content", "times", "process", "finalize", "plain", "run", "size")
}

// Row prints a result as a line of the table.
func Row(w io.Writer, r *Result) {
	fmt.Fprintf(w, "%-11s %-8s %5d %9d %6d | %8d %8d %8d %8d | %9.1f ms %9.1f ms | %5.1f s | %s\n", r.Program, r.MPI, r.Ranks,
		r.Calls, r.Classes, r.File, r.Content, r.Times, r.Process, r.Finalize, r.Plain, r.Seconds, r.Args)
}

// A Key identifies a row of the table.
type Key struct {
	Program, MPI string
	Ranks        int
}

// Key returns the result's key.
func (r *Result) Key() Key { return Key{r.Program, r.MPI, r.Ranks} }

// KeyOf returns the key of a line printed by Row.
func KeyOf(line string) (Key, bool) {
	f := strings.Fields(line)
	if len(f) < 4 || !strings.Contains(line, "|") || !slices.Contains(Names(), f[0]) || f[1] != "mpich" && f[1] != "openmpi" {
		return Key{}, false
	}
	n, err := strconv.Atoi(f[2])
	return Key{f[0], f[1], n}, err == nil
}

// Compare orders rows by program, in the order of Names, then by MPI, then by number of ranks.
func Compare(a, b Key) int {
	names := Names()
	return cmp.Or(cmp.Compare(slices.Index(names, a.Program), slices.Index(names, b.Program)),
		cmp.Compare(a.MPI, b.MPI), cmp.Compare(a.Ranks, b.Ranks))
}
