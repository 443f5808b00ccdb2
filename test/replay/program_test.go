// Package replay proves replays by tracing them: a program's trace and the trace
// of its replay hold the same calls, save where an exception says why not.
//
// It needs an MPI and the tool built (make). CI runs a sample; SPOOR_TEST_REPLAY=all
// runs every program of test/mpi on every MPI, in pieces if one likes: see package outcomes.
package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/outcomes"
)

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

// installed returns the MPIs of the machine, which also has the tool.
func installed(t *testing.T) []*mpis.MPI {
	t.Helper()
	mpis.NeedSpoor(t)
	return mpis.Need(t)
}

// build compiles a program for an MPI.
func build(m *mpis.MPI, source string) (string, error) {
	dir, err := os.MkdirTemp(scratch, "build")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
	return binary, m.Compile(binary, source)
}

// run runs a command in a directory.
func run(m *mpis.MPI, dir string, args ...string) (string, error) {
	r := mpis.Job{MPI: m, Dir: dir}.Run(args...)
	return r.Stdout + r.Stderr, r.Err
}

// spoor runs the tool in a directory.
func spoor(m *mpis.MPI, dir string, args ...string) (string, error) {
	return run(m, dir, append([]string{mpis.Root("bin", "spoor")}, args...)...)
}

// record traces a program into a.spoor.
func record(m *mpis.MPI, dir string, ranks int, command ...string) error {
	args := append([]string{"run", "-q", "-o", "a.spoor"}, m.Command(ranks, command...)...)
	if out, err := spoor(m, dir, args...); err != nil {
		return fmt.Errorf("recording: %w\n%s", err, mpis.Tail(out))
	}
	return nil
}

// replay replays a.spoor, with b.spoor as its trace.
func replay(m *mpis.MPI, dir string, flags ...string) (string, error) {
	args := []string{"replay", "--mpi", m.Name, "-o", "b.spoor", "--timeout", "40s"}
	return spoor(m, dir, append(append(args, flags...), "a.spoor")...)
}

// compare compares a.spoor and b.spoor.
func compare(m *mpis.MPI, dir string, flags ...string) (string, error) {
	return spoor(m, dir, append(append([]string{"diff", "--any-address"}, flags...), "a.spoor", "b.spoor")...)
}

// A tally counts how programs ended, over all of a test.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

// results are how programs came out, if SPOOR_TEST_REPLAY_RESULTS names a file for it;
// see package outcomes.
var results = outcomes.Of("SPOOR_TEST_REPLAY")

// pieces bounds how many programs are under way, so that a piece of a long run that is
// over begins no other.
var pieces = make(chan struct{}, 2)

// run counts how a program ends.
func (y *tally) run(t *testing.T, mpi, program string, ranks int, f func() string) {
	t.Helper()
	pieces <- struct{}{}
	defer func() { <-pieces }()
	results.InTime(t)
	what := f()
	results.Note(t, mpi, program, ranks, what, "")
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.count == nil {
		y.count = make(map[string]int)
	}
	y.count[what]++
}
