package replay

import (
	"hash/crc32"
	"os"
	"strings"
	"testing"
)

// sampled is true for about one of n programs, always the same.
func (p *program) sampled(n uint32) bool { return crc32.ChecksumIEEE([]byte(p.name))%n == 0 }

// The replay of a program makes the calls that the program made.
func TestReplayMakesTheSameCalls(t *testing.T) {
	list := programs(t, "../mpi/*.c", "../mpi/*.f90", "../mpi/*.f")
	var y tally
	t.Run("all", func(t *testing.T) {
		for i, m := range installed(t) {
			for k, p := range list {
				if !p.runsOn(m) {
					continue
				}
				// The sample takes each program on one MPI.
				if os.Getenv("SPOOR_TEST_REPLAY") != "all" && (!p.sampled(4) || len(p.mpis) != 1 && k%2 != i) {
					continue
				}
				t.Run(m.name+"/"+p.name, func(t *testing.T) {
					t.Parallel()
					y.add(same(t, m, p))
				})
			}
		}
	})
	t.Logf("programs: %v", y.count)
}

// same traces a program and its replay and compares them. It returns how that
// ended.
func same(t *testing.T, m *installation, p *program) string {
	t.Helper()
	binary, err := p.build(m)
	if err != nil {
		t.Error(err)
		return "failed"
	}
	return sameOf(t, m, p.name, p.ranks, append([]string{binary}, p.args...)...)
}

func sameOf(t *testing.T, m *installation, name string, ranks int, command ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := m.record(dir, ranks, command...); err != nil {
		t.Error(err)
		return "failed"
	}
	e := exceptionOf(name, m.name)
	out, err := m.replay(dir, "--no-compute")
	switch {
	case err != nil && e.kind == refused && strings.Contains(out, "can't be made again"):
		t.Logf("refused: %s", e.reason)
		return "refused"
	case e.kind == refused:
		t.Errorf("not refused, although: %s\n%s", e.reason, tail(out))
		return "failed"
	case err != nil && e.kind == differs:
		t.Logf("fails: %s\n%s", e.reason, tail(out))
		return "excused"
	case err != nil:
		t.Errorf("replay: %v\n%s", err, tail(out))
		return "failed"
	}
	out, err = m.diff(dir)
	switch {
	case err == nil:
		return "equal"
	case e.kind == differs:
		t.Logf("differs: %s\n%s", e.reason, tail(out))
		return "excused"
	}
	t.Errorf("the replay made other calls: %v\n%s", err, tail(out))
	return "failed"
}
