package replay

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spoor/test/hpcc"
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
				ranks := []int{p.few()}
				if os.Getenv("SPOOR_TEST_REPLAY") == "all" {
					ranks = p.ranks
				}
				for _, n := range ranks {
					t.Run(fmt.Sprintf("%s/%s/%d", m.name, p.name, n), func(t *testing.T) {
						t.Parallel()
						y.add(same(t, m, p, n))
					})
				}
			}
		}
	})
	t.Logf("programs: %v", y.count)
}

// The mini-apps, on four ranks.
func TestReplayOfApps(t *testing.T) {
	list := programs(t, "../apps/*.c", "../apps/*.f90")
	var y tally
	t.Run("all", func(t *testing.T) {
		for i, m := range installed(t) {
			for k, p := range list {
				if os.Getenv("SPOOR_TEST_REPLAY") != "all" && k%2 != i {
					continue
				}
				p.args = []string{"-i", "5"}
				t.Run(m.name+"/"+p.name, func(t *testing.T) {
					t.Parallel()
					y.add(same(t, m, p, p.few()))
				})
			}
		}
	})
	t.Logf("apps: %v", y.count)
}

// Programs that nobody here wrote.
func TestReplayOfRealPrograms(t *testing.T) {
	const melt = "/usr/share/lammps/examples/melt/in.melt"
	for _, m := range installed(t) {
		if m.name != "openmpi" {
			continue // what Debian links both with
		}
		t.Run("lammps", func(t *testing.T) {
			if _, err := os.Stat(melt); err != nil {
				skip(t, "LAMMPS is not installed")
			}
			sameOf(t, m, "lammps", 4, "/usr/bin/lmp", "-in", melt, "-log", "none")
		})
		t.Run("hpcc", func(t *testing.T) {
			if _, err := os.Stat("/usr/bin/hpcc"); err != nil {
				skip(t, "hpcc is not installed")
			}
			if os.Getenv("SPOOR_TEST_REPLAY") != "all" {
				t.Skip("takes long: SPOOR_TEST_REPLAY=all")
			}
			sameOf(t, m, "hpcc", 4, "/usr/bin/hpcc")
		})
	}
}

// same traces a program and its replay and compares them. It returns how that
// ended.
func same(t *testing.T, m *installation, p *program, ranks int) string {
	t.Helper()
	binary, err := p.build(m)
	if err != nil {
		t.Error(err)
		return "failed"
	}
	return sameOf(t, m, p.name, ranks, append([]string{binary}, p.args...)...)
}

func sameOf(t *testing.T, m *installation, name string, ranks int, command ...string) string {
	t.Helper()
	dir := t.TempDir()
	if name == "hpcc" {
		if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(hpcc.Input), 0o666); err != nil {
			t.Fatal(err)
		}
	}
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
	case err != nil:
		t.Errorf("replay: %v\n%s", err, tail(out))
		return "failed"
	}
	out, err = m.diff(dir)
	if err == nil {
		return "equal"
	}
	if _, err := m.diff(dir, "--any-order"); err == nil {
		t.Logf("equal but for the order of completion\n%s", tail(out))
		return "equal but for order"
	}
	if e.kind == differs {
		if call := differsFromItself(t, m, dir, ranks, command, differing(out)); call != "" {
			t.Logf("%s: two runs of the program differ there too, in %s\n%s", e.reason, call, tail(out))
			return "as different as the program from itself"
		}
		t.Errorf("excused (%s), but no two runs of the program differ there\n%s", e.reason, tail(out))
		return "failed"
	}
	t.Errorf("the replay made other calls: %v\n%s", err, tail(out))
	return "failed"
}

// differing finds the functions that the output of spoor diff says calls of differ.
func differing(out string) map[string]bool {
	found := make(map[string]bool)
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
		if name, _, call := strings.Cut(rest, "("); ok && call {
			found[name] = true
		}
	}
	return found
}

// differsFromItself traces the program again until its trace differs from a.spoor in
// a call of one of the functions, and returns which; "" if it never does.
func differsFromItself(t *testing.T, m *installation, dir string, ranks int, command []string, functions map[string]bool) string {
	t.Helper()
	for range 8 {
		again := t.TempDir()
		if err := m.record(again, ranks, command...); err != nil {
			t.Error(err)
			return ""
		}
		if err := os.Rename(filepath.Join(again, "a.spoor"), filepath.Join(dir, "b.spoor")); err != nil {
			t.Error(err)
			return ""
		}
		out, _ := m.diff(dir)
		for name := range differing(out) {
			if functions[name] {
				return name
			}
		}
	}
	return ""
}
