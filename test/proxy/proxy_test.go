// Package proxy tests the strongest claim about a trace: that a program can be
// made from it which does the same. Each program is traced, its proxy generated,
// compiled without a warning, run under the recorder, and the two traces
// compared.
//
// It doesn't test what a trace holds; test/oracle does.
package proxy

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// slots bounds how many tests run at a time.
var slots = make(chan struct{}, 2)

// installed returns the MPIs of the machine, which also has the tool.
func installed(t *testing.T) []*mpis.MPI {
	t.Helper()
	mpis.NeedSpoor(t)
	return mpis.Need(t)
}

// all reports whether every program is to be run on every number of ranks;
// SPOOR_TEST_PROXY=programs means every program on two.
func all() bool { return os.Getenv("SPOOR_TEST_PROXY") == "all" }

// sampled picks a part of the programs.
func sampled(name string, part uint32) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return os.Getenv("SPOOR_TEST_PROXY") != "" || h.Sum32()%part == 0
}

// run runs a command in a folder and returns what it printed.
func run(t *testing.T, m *mpis.MPI, dir string, args ...string) (string, error) {
	t.Helper()
	r := mpis.Job{MPI: m, Dir: dir, Env: []string{"PROXY_WATCHDOG=120", "OMP_NUM_THREADS=1"}, Limit: perRun}.Run(args...)
	return r.Stdout + r.Stderr, r.Err
}

// perRun bounds a run, on a machine with more ranks than cores and a disk that others keep busy.
const perRun = 150 * time.Second

// traced runs a program under the recorder and returns the trace.
func traced(t *testing.T, m *mpis.MPI, dir, name string, ranks int, command ...string) *trace.Reader {
	t.Helper()
	return recorded(t, m, dir, name, ranks, nil, command...)
}

// deep is traced with the functions around calls, and what the program's machine code says of them.
func deep(t *testing.T, m *mpis.MPI, dir, name string, ranks int, command ...string) *trace.Reader {
	t.Helper()
	return recorded(t, m, dir, name, ranks, []string{"--stack", "16"}, command...)
}

func recorded(t *testing.T, m *mpis.MPI, dir, name string, ranks int, flags []string, command ...string) *trace.Reader {
	t.Helper()
	file := filepath.Join(dir, name)
	line := slices.Concat([]string{mpis.NeedSpoor(t), "run", "-q", "-o", file}, flags, m.Command(ranks, command...))
	out, err := run(t, m, dir, line...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

var (
	runtimeLock sync.Mutex
	runtimes    = map[string][]string{} // object files of the runtime, by MPI
	scratch     string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "proxy")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var cflags = []string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O0"}

// compiled compiles a generated program.
func compiled(t *testing.T, m *mpis.MPI, dir string) string {
	t.Helper()
	object := func(source, to string) {
		if out, err := run(t, m, dir, m.Compiler(slices.Concat(cflags, []string{"-c", "-o", to, source})...)...); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
	}
	runtimeLock.Lock()
	shared := runtimes[m.Name]
	if shared == nil {
		sources, err := filepath.Glob(filepath.Join(dir, "runtime", "*.c"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			o := filepath.Join(scratch, m.Name+"-"+filepath.Base(source)+".o")
			object(source, o)
			shared = append(shared, o)
		}
		runtimes[m.Name] = shared
	}
	runtimeLock.Unlock()
	object("proxy.c", "proxy.o")
	binary := filepath.Join(dir, "proxy")
	if out, err := run(t, m, dir, m.Compiler(slices.Concat([]string{"-o", binary, "proxy.o"}, shared, []string{"-lpthread"})...)...); err != nil {
		t.Fatalf("link: %v\n%s", err, out)
	}
	return binary
}

// An outcome says how alike two traces are.
type outcome string

const (
	equal    outcome = "equal"
	anyOrder outcome = "equal up to the order in which requests finish"
	differs  outcome = "different"
	refused  outcome = "refused"
)

func compare(t *testing.T, a, b *trace.Reader) (outcome, string) {
	t.Helper()
	first := ""
	for _, o := range []diff.Options{{AllowRenamedValues: true}, {AllowRenamedValues: true, AllowAnyCompletionOrder: true}} {
		found := false
		for d, err := range diff.CompareTraces(a, b, o) {
			if err != nil {
				t.Fatal(err)
			}
			found = true
			first = d.NonCallText
			if d.CallA != nil {
				first += "\n- " + d.CallA.Text()
			}
			if d.CallB != nil {
				first += "\n+ " + d.CallB.Text()
			}
			break
		}
		switch {
		case !found && !o.AllowAnyCompletionOrder:
			return equal, ""
		case !found:
			return anyOrder, ""
		}
	}
	return differs, first
}

// proxied makes the proxy of a trace, runs it under an MPI and compares.
func proxied(t *testing.T, m *mpis.MPI, a *trace.Reader, ranks int, o proxy.Options) (outcome, string) {
	t.Helper()
	p, err := proxy.GenerateProgram(a, o)
	var no *proxy.RefusedError
	if errors.As(err, &no) {
		return refused, fmt.Sprint(no.Obstacles)
	} else if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	b := traced(t, m, dir, "b.spoor", ranks, compiled(t, m, dir))
	got, why := compare(t, a, b)
	switch got {
	case differs:
		keep(t, dir, a.Name())
	case equal:
		why = memory(t, a, b)
	}
	return got, why
}

// code is what the machine code of a trace's program says, nil if nothing.
func code(t *testing.T, r *trace.Reader) *trace.Code {
	t.Helper()
	c, err := r.Code()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A count is how many programs came out how.
type count struct {
	sync.Mutex
	of map[outcome]int
}

func (c *count) add(o outcome) {
	c.Lock()
	defer c.Unlock()
	if c.of == nil {
		c.of = make(map[outcome]int)
	}
	c.of[o]++
}

// TestPrograms makes proxies of the programs of test/mpi: a part of them on two
// ranks, or more; see all.
func TestPrograms(t *testing.T) {
	for _, m := range installed(t) {
		var total count
		t.Run(m.Name, func(t *testing.T) {
			for _, p := range mpis.NeedPrograms(t) {
				if !p.RunsOn(m) || !sampled(p.Name+m.Name, 4) {
					continue
				}
				for _, ranks := range p.Ranks {
					if ranks != 2 && !all() {
						continue
					}
					if results.Known(m.Name, p.Name, ranks) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%d", p.Name, ranks), func(t *testing.T) {
						t.Parallel()
						slots <- struct{}{}
						defer func() { <-slots }()
						results.InTime(t)
						dir := t.TempDir()
						binary := build(t, m, p, dir)
						for range times() {
							a := deep(t, m, t.TempDir(), "a.spoor", ranks, append([]string{binary}, p.Args...)...)
							got, why := proxied(t, m, a, ranks, proxy.Options{Code: code(t, a)})
							total.add(got)
							results.Note(t, m.Name, p.Name, ranks, string(got), why)
							judge(t, p.Name, m.Name, got, why)
						}
					})
				}
			}
		})
		t.Logf("%s: %v", m.Name, total.of)
	}
}

// judge fails the test unless the outcome is what is known of the program.
func judge(t *testing.T, name, mpi string, got outcome, why string) {
	t.Helper()
	switch e := mpis.ExceptionOf(name, mpi, "proxy"); {
	case e == nil && (got == differs || got == refused):
		t.Errorf("%s\n%s", got, why)
	case e != nil && (e.Refused && got == differs || !e.Refused && got == refused):
		t.Errorf("%s, though listed for: %s\n%s", got, e.Reason, why)
	}
}

// build compiles a program of test/mpi.
func build(t *testing.T, m *mpis.MPI, p *mpis.Program, dir string) string {
	t.Helper()
	binary := filepath.Join(dir, "app")
	if err := m.Compile(binary, p.Path); err != nil {
		t.Fatal(err)
	}
	return binary
}
