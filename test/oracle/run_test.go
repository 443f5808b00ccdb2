package oracle

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spoor/test/oracle/gen"
)

// perRun bounds one run of a program, on a machine with more ranks than cores.
const perRun = 2 * time.Minute

// slots bounds how many jobs run at a time.
var slots = make(chan struct{}, 2)

// An installation is one MPI of this machine.
type installation struct {
	Name      string
	cc, fort  string
	exec      []string
	env       []string
	libraries []string // that export the C functions

	once   sync.Once
	err    error
	oracle string // liboracle.so, see preload
}

var installations = []*installation{
	{
		Name: "mpich", cc: "mpicc.mpich", fort: "mpifort.mpich", exec: []string{"mpiexec.mpich"},
		libraries: []string{"libmpich.so.12", "libmpi.so.12"},
	},
	{
		Name: "openmpi", cc: "mpicc.openmpi", fort: "mpifort.openmpi",
		exec: []string{"mpiexec.openmpi", "--oversubscribe"},
		env: []string{
			"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
			"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1",
			"OMPI_MCA_btl_base_warn_component_unused=0",
		},
		libraries: []string{"libmpi.so.40"},
	},
}

// scratch outlives the tests that share what is built in it.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// skip leaves a test out where its means are missing, save in CI.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// installed returns the MPIs at hand.
func installed(t *testing.T) []*installation {
	t.Helper()
	var list []*installation
	for _, m := range installations {
		if _, err := exec.LookPath(m.cc); err != nil {
			continue
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		skip(t, "no MPI is installed")
	}
	return list
}

// preload returns this MPI's oracle, made when it is first wanted.
func (m *installation) preload(t *testing.T) string {
	t.Helper()
	m.once.Do(func() {
		dir := filepath.Join(scratch, m.Name)
		if m.err = os.MkdirAll(dir, 0o777); m.err == nil {
			m.oracle, m.err = gen.Build(m.cc, dir)
		}
	})
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m.oracle
}

// A program is one source file of test/mpi with what its header says.
type program struct {
	Name   string
	path   string
	ranks  []int
	mpis   []string
	args   []string
	nondet bool

	uncompared bool
}

func programs(t *testing.T) []*program {
	t.Helper()
	var list []*program
	for _, pattern := range []string{"*.c", "*.f90", "*.f"} {
		names, err := filepath.Glob(filepath.Join("..", "mpi", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasPrefix(filepath.Base(name), "crash_") {
				continue
			}
			p, err := readProgram(name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, p)
		}
	}
	return list
}

func readProgram(path string) (*program, error) {
	p := &program{Name: filepath.Base(path), path: path}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		text := strings.TrimLeft(s.Text(), "/!*cC ")
		if len(s.Text()) == 0 || !strings.ContainsAny(s.Text()[:1], "/!*cC") {
			break
		}
		key, value, _ := strings.Cut(text, ":")
		switch key {
		case "ranks":
			for _, f := range strings.Fields(value) {
				n, err := strconv.Atoi(f)
				if err != nil {
					return nil, fmt.Errorf("%s: ranks: %w", path, err)
				}
				p.ranks = append(p.ranks, n)
			}
		case "mpi":
			p.mpis = strings.Fields(value)
		case "args":
			p.args = strings.Fields(value)
		case "nondet":
			p.nondet = true
		case "uncompared": // the C calls that a log shows are not the program's
			p.uncompared = true
		}
	}
	if len(p.ranks) == 0 || len(p.mpis) == 0 {
		return nil, fmt.Errorf("%s: no ranks or no mpi in the header", path)
	}
	return p, nil
}

func (p *program) fortran() bool { return !strings.HasSuffix(p.Name, ".c") }

func (p *program) runsOn(m *installation) bool {
	for _, name := range p.mpis {
		if name == m.Name {
			return true
		}
	}
	return false
}

var (
	building sync.Mutex
	built    = map[string]error{}
)

// build compiles the program for an MPI, once.
func (p *program) build(m *installation) (string, error) {
	building.Lock()
	defer building.Unlock()
	binary := filepath.Join(scratch, m.Name, strings.ReplaceAll(p.Name, ".", "_"))
	if err, done := built[binary]; done {
		return binary, err
	}
	compiler, flags := m.cc, []string{"-g", "-O1", "-pthread"}
	if p.fortran() {
		// mpif.h declares no interfaces: one routine gets buffers of many types.
		compiler, flags = m.fort, append(flags, "-fallow-argument-mismatch", "-ffixed-line-length-none")
	}
	if err := os.MkdirAll(filepath.Dir(binary), 0o777); err != nil {
		return "", err
	}
	// Modules are written to the working folder.
	dir, err := os.MkdirTemp(scratch, "build")
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(p.path)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(compiler, append(flags, "-o", binary, path, "-lm")...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", compiler, p.Name, err, out)
	}
	built[binary] = err
	return binary, err
}

// A result is how a run ended.
type result struct {
	output string // stdout
	stderr string
	err    error
}

// launch runs the program on a number of ranks with more environment. All
// processes of the job get it, the launcher included, as under spoor run.
func (p *program) launch(m *installation, ranks int, env ...string) result {
	binary, err := p.build(m)
	if err != nil {
		return result{err: err}
	}
	slots <- struct{}{}
	defer func() { <-slots }()
	dir, err := os.MkdirTemp(scratch, "run")
	if err != nil {
		return result{err: err}
	}
	defer os.RemoveAll(dir)

	ctx, cancel := context.WithTimeout(context.Background(), perRun)
	defer cancel()
	args := append(m.exec[1:len(m.exec):len(m.exec)], "-n", strconv.Itoa(ranks), binary)
	cmd := exec.CommandContext(ctx, m.exec[0], append(args, p.args...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), m.env...), "TMPDIR="+dir)
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("still running after %v: %w", perRun, ctx.Err())
	}
	return result{stdout.String(), stderr.String(), err}
}

func (r result) String() string {
	return fmt.Sprintf("%v\n--- stdout\n%s--- stderr\n%s", r.err, tail(r.output), tail(r.stderr))
}

func tail(s string) string {
	if len(s) > 4000 {
		return "…" + s[len(s)-4000:]
	}
	return s
}
