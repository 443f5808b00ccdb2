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
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spoor/internal/diff"
	"spoor/internal/proxy"
	"spoor/internal/reissue"
	"spoor/test/apps/compile"
	"spoor/test/hpcc"
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

// TestOtherMPI runs proxies of traces that were made under the other MPI. What
// an MPI answers differs there; the calls must be possible and end.
func TestOtherMPI(t *testing.T) {
	list := installed(t)
	if len(list) < 2 {
		skip(t, "only one MPI is installed")
	}
	names := []string{"collectives.c", "datatypes.c", "vectors.c"}
	for _, p := range programs(t) {
		if !slices.Contains(names, p.name) {
			continue
		}
		for i, m := range list[:2] {
			other := list[1-i]
			if !slices.Contains(p.mpis, m.Name) || !slices.Contains(p.mpis, other.Name) || !slices.Contains(p.ranks, "2") {
				continue
			}
			t.Run(p.name+"/"+m.Name+"-"+other.Name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				dir := t.TempDir()
				a := traced(t, &m, dir, "a.spoor", "2", build(t, &m, &p, dir))
				got, why := proxied(t, &other, a, "2", proxy.Options{Target: reissue.Target{Flavour: other.Name}})
				if got != equal && got != anyOrder {
					t.Errorf("%s\n%s", got, why)
				}
			})
		}
	}
}

// TestApps makes proxies of the small real programs.
func TestApps(t *testing.T) {
	for _, m := range installed(t) {
		var total count
		t.Run(m.Name, func(t *testing.T) {
			for _, app := range compile.All {
				if !sampled(app.Name+m.Name, 2) {
					continue
				}
				ranks := "2"
				if all() {
					ranks = "4"
				}
				if known(m.Name, app.Name, ranks) {
					continue
				}
				t.Run(app.Name, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					if late() {
						t.Skip("the time is up")
					}
					dir := t.TempDir()
					binary, err := m.Build(app, dir)
					if err != nil {
						t.Fatal(err)
					}
					a := traced(t, &m, dir, "a.spoor", ranks, append([]string{binary}, app.Quick...)...)
					got, why := proxied(t, &m, a, ranks, proxy.Options{})
					total.add(got)
					note(t, m.Name, app.Name, ranks, got, why)
					judge(t, app.Name, m.Name, got, why)
				})
			}
		})
		t.Logf("%s: %v", m.Name, total.of)
	}
}

// TestReal makes proxies of HPC Challenge and of LAMMPS, with SPOOR_TEST_PROXY=all.
func TestReal(t *testing.T) {
	if !all() {
		t.Skip("SPOOR_TEST_PROXY=all runs it")
	}
	for _, m := range installed(t) {
		if m.Name != "openmpi" {
			continue // what Debian builds them for
		}
		real := func(name string, args ...string) {
			t.Run(name, func(t *testing.T) {
				if _, err := exec.LookPath(args[0]); err != nil {
					skip(t, "%s is not installed", args[0])
				}
				if known(m.Name, name, "4") || late() {
					t.Skip("known already, or the time is up")
				}
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(hpcc.Input), 0o666); err != nil {
					t.Fatal(err)
				}
				got, why := proxied(t, &m, traced(t, &m, dir, "a.spoor", "4", args...), "4", proxy.Options{})
				note(t, m.Name, name, "4", got, why)
				judge(t, name, m.Name, got, why)
			})
		}
		real("hpcc", "hpcc")
		real("lammps-melt", "lmp", "-in", "/usr/share/lammps/examples/melt/in.melt", "-log", "none")
	}
}

// TestStuck runs a proxy that hangs: one of four ranks makes no calls after its
// MPI_Init. The watchdog has to end it, and to name the ranks that wait and their calls.
func TestStuck(t *testing.T) {
	m := installed(t)[0]
	for _, x := range installed(t) {
		if x.Name == "openmpi" {
			m = x
		}
	}
	var p program
	for _, q := range programs(t) {
		if q.name == "collectives.c" {
			p = q
		}
	}
	dir := t.TempDir()
	a := traced(t, &m, dir, "a.spoor", "4", build(t, &m, &p, dir))
	made, err := proxy.Generate(a, proxy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	include := []byte("#include \"runtime/runtime.h\"\n")
	text := bytes.Replace(made.Files["proxy.c"], include, append(include, "#include <unistd.h>\n"...), 1)
	text = bytes.Replace(text, []byte("begun();"), []byte("begun(); while (rank == 1) pause();"), 1)
	made.Files["proxy.c"] = text
	if err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	binary := compiled(t, &m, dir)
	line := slices.Concat(m.Launcher, []string{"-n", "4", "env", "PROXY_WATCHDOG=2", binary})
	begin := time.Now()
	out, err := run(t, &m, dir, line...)
	if err == nil || time.Since(begin) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	for _, rank := range []int{0, 2, 3} {
		if !regexp.MustCompile(fmt.Sprintf(`proxy: rank %d, thread 0: for 2 s in call \d+: MPI_\w+\(`, rank)).MatchString(out) {
			t.Errorf("nothing of rank %d", rank)
		}
	}
	if strings.Contains(out, "proxy: rank 1") {
		t.Error("rank 1 is in no call")
	}
	if t.Failed() {
		t.Log(out)
	}
}
