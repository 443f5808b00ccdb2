// Package real runs programs that nobody here wrote, as Debian ships them,
// with and without spoor: they must end and print the same, and their traces
// must pass `spoor verify`.
//
// It needs the tool built (make) and Debian's packages; .ci/run has the list.
// A missing program is a failure in CI and a skip elsewhere.
package real

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spoor/test/hpcc"
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

	anyOrder bool // of lines: each rank prints one, and the launcher takes them as they come
}

func programs() []program {
	list := []program{
		{
			name: "hpcc", mpi: "openmpi", ranks: 4, needs: "/usr/bin/hpcc", args: []string{"hpcc"},
			files: map[string]string{"hpccinf.txt": hpcc.Input}, out: "hpccoutf.txt",
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
	// MPICH's ranks spin while they wait: four of them on two cores take minutes.
	for mpi, ranks := range map[string]int{"openmpi": 4, "mpich": 2} {
		dir := "/usr/lib/x86_64-linux-gnu/scalapack/" + mpi + "-tests"
		for _, name := range []string{"xdlu", "xdqr", "xdls", "xdbrd", "xdsvd", "xdhrd", "xdnep", "xddblu", "xzinv"} {
			if name == "xdsvd" && ranks < 4 {
				continue // aborts without four ranks
			}
			list = append(list, program{
				name: "scalapack-" + name + "-" + mpi, mpi: mpi, ranks: ranks, needs: filepath.Join(dir, name),
				args: []string{"./" + name}, links: dir,
			})
		}
	}
	return list
}

func TestProgramsBehaveAsWithoutSpoor(t *testing.T) {
	spoor := abs("../../bin/spoor")
	if _, err := os.Stat(spoor); err != nil {
		absent(t, "bin/spoor is not built: run make")
	}
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			if _, err := os.Stat(p.needs); err != nil {
				absent(t, p.needs+" is not installed")
			}
			launcher := []string{"mpiexec." + p.mpi, "-n", fmt.Sprint(p.ranks)}
			if p.mpi == "openmpi" {
				launcher = append(launcher, "--oversubscribe")
			}
			command := append(launcher, p.args...)
			plain := p.run(t, command)
			trace := filepath.Join(t.TempDir(), "t.spoor")
			traced := p.run(t, append([]string{spoor, "run", "-q", "-o", trace}, command...))
			if d := cmp.Diff(plain, traced); d != "" {
				t.Errorf("the program behaves differently under spoor (-plain +traced):\n%s", d)
			}
			if out, err := exec.Command(spoor, "verify", trace).CombinedOutput(); err != nil {
				t.Errorf("spoor verify: %v\n%s", err, out)
			}
			if st, err := os.Stat(trace); err == nil {
				t.Logf("trace: %d bytes", st.Size())
			}
		})
	}
}

// A result is what a user sees of a run, times left out.
type result struct {
	Code           int
	Stdout, Stderr string
	File           string
}

func (p *program) run(t *testing.T, command []string) result {
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
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMP_NUM_THREADS=1")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v: no end after three minutes\n%s%s", command, stdout.String(), stderr.String())
	}
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatalf("%v: %v", command, err)
	}
	r := result{Code: c.ProcessState.ExitCode(), Stdout: timeless(stdout.String()), Stderr: timeless(stderr.String())}
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

var measured = regexp.MustCompile(`[-+]?\d+\.\d*(?:[eE][-+]?\d+)?|\d+:\d\d(?::\d\d)?|\d+ +bytes/sec`)

// hpcc leaves this line out where the clock didn't advance.
var cpuLine = regexp.MustCompile(`(?m)^ *CPU .*\n`)
var number = regexp.MustCompile(`-?\d+(?:[eE][-+]?\d+)?`)
var spaces = regexp.MustCompile(`[ \t]+`)

// timeless masks what differs from run to run by nature: decimal fractions,
// times of day, and the column widths that go with them.
func timeless(s string) string {
	s = measured.ReplaceAllString(s, "#")
	return spaces.ReplaceAllString(s, " ")
}

func abs(path string) string {
	p, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return p
}

func absent(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
