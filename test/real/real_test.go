// Package real runs programs that nobody here wrote, as Debian ships them,
// with and without spoor: they must end and print the same, and their traces
// must pass `spoor check`.
//
// It needs the tool built (make) and Debian's packages; .ci/run has the list.
// A missing program is a failure in CI and a skip elsewhere.
package real

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/test/treetest"
)

// A program is one of Debian's, with what makes it run for a second or so.
type program struct {
	name  string
	mpi   string // openmpi or mpich
	ranks int
	needs string            // file that tells whether it is installed
	args  []string          // command line behind the launcher
	files map[string]string // contents of files in its working directory
	links string            // directory whose files are linked into it
	out   string            // file to compare besides stdout, its numbers (rates, most of them) masked

	anyOrder bool           // of lines: each rank prints one, and the launcher takes them as they come
	chance   *regexp.Regexp // what it prints of memory that it never wrote
	tells    *regexp.Regexp // all that is compared of stdout, where most of it is clocks, process ids and free memory
}

func programs() []program {
	list := []program{
		{
			name: "hpcc", mpi: "openmpi", ranks: 4, needs: "/usr/bin/hpcc", args: []string{"hpcc"},
			files: map[string]string{"hpccinf.txt": inputs.HPCC}, out: "hpccoutf.txt",
		},
		{
			name: "lammps-melt", mpi: "openmpi", ranks: 4, needs: "/usr/share/lammps/examples/melt/in.melt",
			args: []string{"lmp", "-in", "/usr/share/lammps/examples/melt/in.melt", "-log", "none"},
		},
		{
			name: "lammps-peptide", mpi: "openmpi", ranks: 3, needs: "/usr/share/lammps/examples/peptide/in.peptide",
			args: []string{"lmp", "-in", "in.peptide", "-log", "none"}, links: "/usr/share/lammps/examples/peptide",
		},
		{
			name: "mpi4py-helloworld", anyOrder: true, mpi: "openmpi", ranks: 4, needs: "/usr/lib/python3/dist-packages/mpi4py/bench.py",
			args: []string{"/usr/bin/python3", "-m", "mpi4py.bench", "helloworld"},
		},
		{
			name: "mpi4py-ringtest", mpi: "openmpi", ranks: 4, needs: "/usr/lib/python3/dist-packages/mpi4py/bench.py",
			args: []string{"/usr/bin/python3", "-m", "mpi4py.bench", "ringtest", "-l", "10", "-n", "1000"},
		},
		{
			name: "mpi4py-tour", mpi: "openmpi", ranks: 4, needs: "/usr/lib/python3/dist-packages/mpi4py/bench.py",
			args: []string{"/usr/bin/python3", abs("mpi4py_tour.py")},
		},
	}
	for mpi, name := range map[string]string{"openmpi": "NPopenmpi", "mpich": "NPmpich2"} {
		list = append(list, program{
			name: "netpipe-" + mpi, anyOrder: true, mpi: mpi, ranks: 2, needs: "/usr/bin/" + name, args: []string{name, "-u", "4096", "-n", "20", "-o", "out"},
		})
	}
	// One-sided communication through Global Arrays, and Fortran with hundreds of communicators.
	list = append(list, program{
		name: "nwchem", mpi: "openmpi", ranks: 3, needs: "/usr/bin/nwchem.openmpi", args: []string{"nwchem.openmpi", "water.nw"},
		files: map[string]string{"water.nw": inputs.NWChem}, tells: regexp.MustCompile(`Total SCF energy = +-\d+\.\d{7}`),
	}, program{
		name: "cp2k", mpi: "openmpi", ranks: 4, needs: "/usr/bin/cp2k.psmp", args: []string{"cp2k.psmp", "-i", "water.inp"},
		files: map[string]string{"water.inp": inputs.CP2K}, tells: regexp.MustCompile(`Total energy: +-\d+\.\d{7}`),
	})
	// Interpreters with glue of their own, a library that uses MPI in several threads, and Fortran's coarrays.
	const coarrays = "/usr/lib/x86_64-linux-gnu/open-coarrays/openmpi/bin/OpenCoarrays-2.10.1-tests/co_reduce_test"
	petsc, _ := filepath.Glob("/usr/lib/petscdir/petsc3.*/*-real")
	list = append(list, program{
		name: "rmpi", mpi: "openmpi", ranks: 2, needs: "/usr/lib/R/site-library/Rmpi/libs/Rmpi.so", args: []string{"Rscript", abs("rmpi.R")},
		out: "result", tells: regexp.MustCompile(`1`),
	}, program{
		name: "meep", mpi: "openmpi", ranks: 2, needs: "/usr/bin/meep", args: []string{"meep", "waveguide.ctl"},
		files: map[string]string{"waveguide.ctl": inputs.Meep}, tells: regexp.MustCompile(`run 0 finished at t = \S+ \(\d+ timesteps\)`),
	}, program{
		name: "dgord", mpi: "openmpi", ranks: 3, needs: "/usr/bin/dgord", args: []string{"dgord", "grid.grf", "grid.ord"},
		files: map[string]string{"grid.grf": inputs.Grid(30)}, out: "grid.ord",
	}, program{
		name: "petsc4py", mpi: "openmpi", ranks: 2, needs: "/usr/lib/petscdir",
		args: []string{"env", "PETSC_DIR=" + strings.Join(petsc, ""), "/usr/bin/python3", abs("petsc.py")},
	}, program{
		name: "coarrays", mpi: "openmpi", ranks: 4, needs: coarrays, args: []string{coarrays},
	})
	// Ranks spin while they wait: four of them on two cores take minutes, so only some
	// programs have them.
	fours := map[string]bool{"xdlu": true, "xdsvd": true, "xddblu": true} // xdsvd aborts with fewer
	for _, mpi := range []string{"openmpi", "mpich"} {
		dir := "/usr/lib/x86_64-linux-gnu/scalapack/" + mpi + "-tests"
		for _, name := range []string{"xdlu", "xdqr", "xdls", "xdbrd", "xdsvd", "xdhrd", "xdnep", "xddblu", "xzinv"} {
			ranks := 2
			switch {
			case mpi == "openmpi" && fours[name]:
				ranks = 4
			case name == "xdsvd":
				continue
			}
			var chance *regexp.Regexp
			if name == "xdlu" {
				// It computes with what calls of MPI_Allreduce and others left on the stack:
				// a denormal number as a rule, nothing if that is overwritten with zeros behind
				// these calls, an invalid one if with 0xff.
				chance = regexp.MustCompile(`(?m)^Note: The following floating-point exceptions are signalling:.*\n`)
			}
			list = append(list, program{
				chance: chance,
				name:   "scalapack-" + name + "-" + mpi, mpi: mpi, ranks: ranks, needs: filepath.Join(dir, name),
				args: []string{"./" + name}, links: dir,
			})
		}
	}
	return list
}

func TestProgramsBehaveAsWithoutSpoor(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			if _, err := os.Stat(p.needs); err != nil {
				need.Absent(t, "%s is not installed", p.needs)
			}
			m, err := mpis.Find(p.mpi)
			if err != nil {
				need.Absent(t, "%v", err)
			}
			command := m.Command(p.ranks, p.args...)
			plain := p.run(t, m, command)
			trace := filepath.Join(t.TempDir(), "t.spoor")
			traced := p.run(t, m, append([]string{spoor, "run", "-q", "-o", trace}, command...))
			traced.Stderr = noCode.ReplaceAllString(traced.Stderr, "")
			if d := cmp.Diff(plain, traced); d != "" {
				t.Errorf("the program behaves differently under spoor (-plain +traced):\n%s", d)
			}
			if out, err := exec.Command(spoor, "check", trace).CombinedOutput(); err != nil {
				t.Errorf("spoor check: %v\n%s", err, out)
			}
			if st, err := os.Stat(trace); err == nil {
				t.Logf("trace: %d bytes", st.Size())
			}
		})
	}
}

// noCode is what spoor says of large programs on a busy machine.
var noCode = regexp.MustCompile(`(?m)^spoor: .* is complete, but for the program's functions and loops: .*\n`)

// A result is what a user sees of a run, times left out.
type result struct {
	Code           int
	Stdout, Stderr string
	File           string
}

func (p *program) run(t *testing.T, m *mpis.MPI, command []string) result {
	t.Helper()
	dir := t.TempDir()
	for name, text := range p.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if p.links != "" {
		entries, err := os.ReadDir(p.links)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.Symlink(filepath.Join(p.links, e.Name()), filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	ran := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir(), Env: []string{"OMP_NUM_THREADS=1"}, Limit: 8 * time.Minute}.Run(command...)
	if exit := (*exec.ExitError)(nil); ran.Err != nil && !errors.As(ran.Err, &exit) {
		t.Fatalf("%v: %v", command, ran)
	}
	r := result{Code: ran.Code, Stdout: timeless(ran.Stdout), Stderr: timeless(ran.Stderr)}
	if p.chance != nil {
		r.Stderr = p.chance.ReplaceAllString(r.Stderr, "")
	}
	if p.tells != nil {
		if r.Stdout = p.tells.FindString(ran.Stdout); r.Stdout == "" {
			t.Fatalf("%v: no %s in %v", command, p.tells, ran)
		}
	}
	if p.anyOrder {
		lines := strings.Split(r.Stdout, "\n")
		slices.Sort(lines)
		r.Stdout = strings.Join(lines, "\n")
	}
	if p.out != "" {
		text, err := os.ReadFile(filepath.Join(dir, p.out))
		if err != nil {
			t.Fatal(err)
		}
		r.File = number.ReplaceAllString(timeless(cpuLine.ReplaceAllString(string(text), "")), "#")
	}
	return r
}

// LAMMPS prints times with %g in tables, where they may come out as whole numbers.
var measuredLine = regexp.MustCompile(`(?m)^\w+ +\|.*\|.*$|^Loop time of \S+`)
var measured = regexp.MustCompile(`[-+]?\d+\.\d*(?:[eE][-+]?\d+)?|\d+:\d\d(?::\d\d)?|\d+ +bytes/sec`)

// hpcc leaves this line out where the clock didn't advance.
var cpuLine = regexp.MustCompile(`(?m)^ *CPU .*\n`)
var number = regexp.MustCompile(`-?\d+(?:[eE][-+]?\d+)?`)
var spaces = regexp.MustCompile(`[ \t]+`)

// timeless masks what differs from run to run by nature: decimal fractions,
// times of day, and the column widths that go with them.
func timeless(s string) string {
	s = measured.ReplaceAllString(s, "#")
	s = measuredLine.ReplaceAllStringFunc(s, func(line string) string { return number.ReplaceAllString(line, "#") })
	return spaces.ReplaceAllString(s, " ")
}

// Times that happen to be whole numbers are masked like others.
func TestTimeless(t *testing.T) {
	const a, b = "Loop time of 1.02 on 4 procs for 2 steps\nNeigh   | 0.98       | 1       | 1.03 |   0.0 |  9\nOther   |            | 2.1  |  |  | 1\n",
		"Loop time of 1 on 4 procs for 2 steps\nNeigh   | 1       | 1.02       | 1.05 |   0.0 |  8.99\nOther   |            | 2    |  |  | 1.01\n"
	if timeless(a) != timeless(b) || !strings.Contains(timeless(a), "on 4 procs for 2 steps") {
		t.Errorf("%s\n%s", timeless(a), timeless(b))
	}
}

func abs(path string) string {
	p, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return p
}

// LAMMPS is stripped, in C++, and calls MPI through virtual functions: its profile has one time-step loop of 250 rounds, and the loop
// that reads its input with 33, in which it sends 32 lengths and 31 lines. Each of its calls has its place, and the tree
// tells them all.
func TestLoopsOfLAMMPS(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	const input = "/usr/share/lammps/examples/melt/in.melt"
	if _, err := os.Stat(input); err != nil {
		need.Absent(t, "%s is not installed", input)
	}
	m, err := mpis.Find("openmpi")
	if err != nil {
		need.Absent(t, "%v", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "t.spoor")
	line := append([]string{spoor, "run", "-q", "--stack", "24", "-o", path}, m.Command(2, "lmp", "-in", input, "-log", "none")...)
	if r := (mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}).Run(line...); r.Err != nil {
		t.Fatal(r)
	}
	placed, all, err := treetest.Check(path)
	if err != nil || placed != all || all < 10000 {
		t.Errorf("%d of %d calls placed, error %v", placed, all, err)
	}
	out, err := exec.Command(spoor, "calltree", "--rank", "0", "--min-time", "0", "--width", "160", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`Input::file\(\).*\n.* 32 times +\+0x[0-9a-f]+\n.* 32 +MPI_Bcast root 0  4 B .*\n.* if \(31 of 32 iterations: 0–30\)\n.* 31 +MPI_Bcast`,
		`Verlet::run\(\).*\n.* 250 times `,
	} {
		if n := len(regexp.MustCompile(want).FindAll(out, -1)); n != 1 {
			t.Errorf("%d times %s in\n%s", n, want, out)
		}
	}
}
