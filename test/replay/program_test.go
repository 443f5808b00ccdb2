// Package replay proves replays by tracing them: a program's trace and the trace
// of its replay hold the same calls, save where an exception says why not.
//
// It needs an MPI and the tool built (make). CI runs a sample; SPOOR_TEST_REPLAY=all
// runs every program of test/mpi on every MPI.
package replay

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
)

// An installation is one MPI of this machine.
type installation struct {
	name, cc, fortran string
	launcher          []string
	env               []string
}

var installations = []*installation{
	{
		name: "openmpi", cc: "mpicc.openmpi", fortran: "mpifort.openmpi",
		launcher: []string{"mpiexec.openmpi", "--oversubscribe", "-n"},
		env: []string{
			"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
			"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1",
			"OMPI_MCA_btl_base_warn_component_unused=0",
		},
	},
	{name: "mpich", cc: "mpicc.mpich", fortran: "mpifort.mpich", launcher: []string{"mpiexec.mpich", "-n"}},
}

var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "replay")
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

func installed(t *testing.T) []*installation {
	t.Helper()
	if _, err := os.Stat(spoor()); err != nil {
		skip(t, "bin/spoor is not built: run make")
	}
	var list []*installation
	for _, m := range installations {
		if _, err := exec.LookPath(m.cc); err == nil {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		skip(t, "no MPI is installed")
	}
	return list
}

func spoor() string {
	path, err := filepath.Abs("../../bin/spoor")
	if err != nil {
		panic(err)
	}
	return path
}

// A program is one source file with what its header says.
type program struct {
	name  string
	path  string
	ranks []int
	mpis  []string
	args  []string
}

// programs reads those of a folder that match one of the patterns.
func programs(t *testing.T, patterns ...string) []*program {
	t.Helper()
	var list []*program
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasPrefix(filepath.Base(name), "crash_") {
				continue // they leave no whole trace
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
	p := &program{name: filepath.Base(path), path: path}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if len(s.Text()) == 0 || !strings.ContainsAny(s.Text()[:1], "/!*cC") {
			break
		}
		key, value, _ := strings.Cut(strings.TrimLeft(s.Text(), "/!*cC "), ":")
		fields := strings.Fields(value)
		switch key {
		case "ranks":
			for _, f := range fields {
				n, err := strconv.Atoi(f)
				if err != nil {
					return nil, fmt.Errorf("%s: ranks: %w", path, err)
				}
				p.ranks = append(p.ranks, n)
			}
		case "mpi":
			p.mpis = fields
		case "args":
			p.args = fields
		}
	}
	if len(p.ranks) == 0 {
		p.ranks = []int{4}
	}
	return p, nil
}

// few is the least number of ranks above one, if there is one.
func (p *program) few() int {
	for _, n := range p.ranks {
		if n > 1 {
			return n
		}
	}
	return p.ranks[0]
}

func (p *program) runsOn(m *installation) bool {
	for _, name := range p.mpis {
		if name == m.name {
			return true
		}
	}
	return len(p.mpis) == 0
}

// build compiles a program for an MPI.
func (p *program) build(m *installation) (string, error) {
	dir, err := os.MkdirTemp(scratch, "build") // modules are written to the working folder
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(p.path)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, strings.TrimSuffix(p.name, filepath.Ext(p.name)))
	compiler, flags := m.cc, []string{"-w", "-g", "-O1", "-pthread", "-I" + filepath.Dir(path)}
	if filepath.Ext(p.name) != ".c" {
		compiler, flags = m.fortran, append(flags, "-fallow-argument-mismatch", "-ffixed-line-length-none")
	}
	cmd := exec.Command(compiler, append(flags, "-o", binary, path, "-lm")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", compiler, p.name, err, out)
	}
	return binary, nil
}

// perRun bounds one run, on a machine with more ranks than cores.
const perRun = 2 * time.Minute

var slots = make(chan struct{}, 2)

// run runs a command in a directory.
func (m *installation) run(dir string, args ...string) (string, error) {
	slots <- struct{}{}
	defer func() { <-slots }()
	ctx, cancel := context.WithTimeout(context.Background(), perRun)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), m.env...), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("still running after %v: %w", perRun, ctx.Err())
	}
	return out.String(), err
}

// record traces a program into a.spoor.
func (m *installation) record(dir string, ranks int, command ...string) error {
	args := append([]string{spoor(), "run", "-q", "-o", "a.spoor"}, m.launcher...)
	args = append(append(args, strconv.Itoa(ranks)), command...)
	if out, err := m.run(dir, args...); err != nil {
		return fmt.Errorf("recording: %w\n%s", err, tail(out))
	}
	return nil
}

// replay replays a.spoor, with b.spoor as its trace.
func (m *installation) replay(dir string, flags ...string) (string, error) {
	args := []string{spoor(), "replay", "--mpi", m.name, "--record", "b.spoor", "--timeout", "40s"}
	return m.run(dir, append(append(args, flags...), "a.spoor")...)
}

// diff compares a.spoor and b.spoor.
func (m *installation) diff(dir string, flags ...string) (string, error) {
	return m.run(dir, append(append([]string{spoor(), "diff", "--any-address"}, flags...), "a.spoor", "b.spoor")...)
}

func tail(s string) string {
	if len(s) > 3000 {
		return "…" + s[len(s)-3000:]
	}
	return s
}

// A tally counts how programs ended, over all of a test.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func (y *tally) add(what string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.count == nil {
		y.count = make(map[string]int)
	}
	y.count[what]++
}
