package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spoor/internal/diff"
	"spoor/internal/proxy"
	"spoor/test/apps/compile"
	"spoor/trace"
)

// perRun bounds a run, on a machine with more ranks than cores.
const perRun = 90 * time.Second

// slots bounds how many tests run at a time.
var slots = make(chan struct{}, 2)

func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func installed(t *testing.T) []compile.MPI {
	t.Helper()
	list := compile.Installed()
	if len(list) == 0 {
		skip(t, "no MPI is installed")
	}
	if _, err := os.Stat(tool(t)); err != nil {
		skip(t, "bin/spoor is not built: run make")
	}
	return list
}

func tool(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/spoor")
	if err != nil {
		t.Fatal(err)
	}
	return path
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

// A program is a source file of test/mpi with what its header says.
type program struct {
	name, path string
	ranks      []string
	mpis, args []string
}

func programs(t *testing.T) []program {
	t.Helper()
	var list []program
	for _, pattern := range []string{"*.c", "*.f90", "*.f"} {
		names, err := filepath.Glob(filepath.Join("..", "mpi", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range names {
			if strings.HasPrefix(filepath.Base(path), "crash_") {
				continue // ends before MPI_Finalize
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := program{name: filepath.Base(path), path: path}
			for _, line := range strings.Split(string(text), "\n") {
				if line == "" || !strings.ContainsAny(line[:1], "/!*cC") {
					break
				}
				key, value, _ := strings.Cut(strings.TrimLeft(line, "/!*cC "), ":")
				switch key {
				case "ranks":
					p.ranks = strings.Fields(value)
				case "mpi":
					p.mpis = strings.Fields(value)
				case "args":
					p.args = strings.Fields(value)
				}
			}
			list = append(list, p)
		}
	}
	return list
}

// run runs a command in a folder and returns what it printed.
func run(t *testing.T, m *compile.MPI, dir string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), perRun)
	defer cancel()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &out, &out
	c.Env = append(m.Environ(), "TMPDIR="+dir, "PROXY_WATCHDOG=40", "OMP_NUM_THREADS=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	err := c.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("still running after %v", perRun)
	}
	return out.String(), err
}

// traced runs a program under the recorder and returns the trace.
func traced(t *testing.T, m *compile.MPI, dir, name, ranks string, command ...string) *trace.Reader {
	t.Helper()
	file := filepath.Join(dir, name)
	line := slices.Concat([]string{tool(t), "run", "-q", "-o", file}, m.Launcher, []string{"-n", ranks}, command)
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
func compiled(t *testing.T, m *compile.MPI, dir string) string {
	t.Helper()
	object := func(source, to string) {
		if out, err := run(t, m, dir, slices.Concat([]string{m.CC}, cflags, []string{"-c", "-o", to, source})...); err != nil {
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
	if out, err := run(t, m, dir, slices.Concat([]string{m.CC, "-o", binary, "proxy.o"}, shared, []string{"-lpthread"})...); err != nil {
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
	for _, o := range []diff.Options{{Renamed: true}, {Renamed: true, AnyOrder: true}} {
		found := false
		for d, err := range diff.Traces(a, b, o) {
			if err != nil {
				t.Fatal(err)
			}
			found = true
			first = d.What
			if d.A != nil {
				first += "\n- " + d.A.Text()
			}
			if d.B != nil {
				first += "\n+ " + d.B.Text()
			}
			break
		}
		switch {
		case !found && !o.AnyOrder:
			return equal, ""
		case !found:
			return anyOrder, ""
		}
	}
	return differs, first
}

// proxied makes the proxy of a trace, runs it under an MPI and compares.
func proxied(t *testing.T, m *compile.MPI, a *trace.Reader, ranks string, o proxy.Options) (outcome, string) {
	t.Helper()
	p, err := proxy.Generate(a, o)
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
			for _, p := range programs(t) {
				if !slices.Contains(p.mpis, m.Name) || !sampled(p.name+m.Name, 4) {
					continue
				}
				for _, ranks := range p.ranks {
					if ranks != "2" && !all() {
						continue
					}
					if known(m.Name, p.name, ranks) {
						continue
					}
					t.Run(p.name+"/"+ranks, func(t *testing.T) {
						t.Parallel()
						slots <- struct{}{}
						defer func() { <-slots }()
						if late() {
							t.Skip("the time is up")
						}
						dir := t.TempDir()
						binary := build(t, &m, &p, dir)
						for range times() {
							a := traced(t, &m, t.TempDir(), "a.spoor", ranks, append([]string{binary}, p.args...)...)
							got, why := proxied(t, &m, a, ranks, proxy.Options{})
							total.add(got)
							note(t, m.Name, p.name, ranks, got, why)
							judge(t, p.name, m.Name, got, why)
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
	for _, e := range Exceptions[name] {
		if e.MPI == "" || e.MPI == mpi {
			if e.Refused && got == differs || !e.Refused && got == refused {
				t.Errorf("%s, though listed for: %s\n%s", got, e.Reason, why)
			}
			return
		}
	}
	if got == differs || got == refused {
		t.Errorf("%s\n%s", got, why)
	}
}

// build compiles a program of test/mpi.
func build(t *testing.T, m *compile.MPI, p *program, dir string) string {
	t.Helper()
	path, err := filepath.Abs(p.path)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "app")
	args := []string{m.CC, "-O1", "-pthread", "-o", binary, path, "-lm"}
	if !strings.HasSuffix(p.name, ".c") {
		args = []string{m.Fort, "-O1", "-pthread", "-fallow-argument-mismatch", "-ffixed-line-length-none", "-o", binary, path, "-lm"}
	}
	if out, err := run(t, m, dir, args...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
