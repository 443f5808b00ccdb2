package replay

import (
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// sampled is true for about one of n programs, always the same.
func sampled(name string, n uint32) bool { return crc32.ChecksumIEEE([]byte(name))%n == 0 }

// The replay of a program makes the calls that the program made.
func TestReplayMakesTheSameCalls(t *testing.T) {
	list := mpis.NeedPrograms(t)
	var y tally
	t.Run("all", func(t *testing.T) {
		for k, p := range list {
			runsOn := slices.DeleteFunc(installed(t), func(m *mpis.MPI) bool { return !p.RunsOn(m) })
			for i, m := range runsOn {
				// The sample takes each program on one MPI.
				if os.Getenv("SPOOR_TEST_REPLAY") != "all" && (!sampled(p.Name, 4) || k%len(runsOn) != i) {
					continue
				}
				ranks := []int{p.Few()}
				if os.Getenv("SPOOR_TEST_REPLAY") == "all" {
					ranks = p.Ranks
				}
				for _, n := range ranks {
					if results.Known(m.Name, p.Name, n) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%d", m.Name, p.Name, n), func(t *testing.T) {
						t.Parallel()
						y.run(t, m.Name, p.Name, n, func() string { return same(t, m, p, n) })
					})
				}
			}
		}
	})
	t.Logf("programs: %v", y.count)
}

// The mini-apps, on four ranks.
func TestReplayOfApps(t *testing.T) {
	var y tally
	t.Run("all", func(t *testing.T) {
		for i, m := range installed(t) {
			for k, a := range compile.All {
				if os.Getenv("SPOOR_TEST_REPLAY") != "all" && k%2 != i {
					continue
				}
				if results.Known(m.Name, a.Name, 4) {
					continue
				}
				t.Run(m.Name+"/"+a.Name, func(t *testing.T) {
					t.Parallel()
					binary, err := a.Build(m, t.TempDir())
					if err != nil {
						t.Fatal(err)
					}
					y.run(t, m.Name, a.Name, 4, func() string { return sameOf(t, m, a.Name, 4, binary, "-i", "5") })
				})
			}
		}
	})
	t.Logf("apps: %v", y.count)
}

// What is thinned is replayed: sizes that were merged on one side fit the other's. Each size of the sort's
// exchange depends on keys.
func TestReplayOfThinned(t *testing.T) {
	i := slices.IndexFunc(compile.All, func(a compile.App) bool { return a.Name == "sort" })
	if i < 0 {
		t.Fatal("no app sort")
	}
	for _, m := range installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			binary, err := compile.All[i].Build(m, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := record(m, dir, 4, binary, "-i", "5"); err != nil {
				t.Fatal(err)
			}
			for _, tolerance := range []string{"10%", "100%"} {
				for _, args := range [][]string{
					{"reduce", "--tolerance", tolerance, "--force", "-o", "thin.spoor", "a.spoor"},
					{"check", "thin.spoor"},
					{"replay", "--mpi", m.Name, "--no-compute", "-o", "b" + tolerance + ".spoor", "--timeout", "40s", "thin.spoor"},
					{"diff", "--any-address", "thin.spoor", "b" + tolerance + ".spoor"},
				} {
					if out, err := spoor(m, dir, args...); err != nil {
						t.Fatalf("tolerance %s: spoor %s: %v\n%s", tolerance, args[0], err, mpis.Tail(out))
					}
				}
				if off := sameTraffic(t, dir, "tolerance "+tolerance, "thin.spoor", "b"+tolerance+".spoor"); off.MeanRank > 0.1 || off.Rank > 0.2 {
					t.Errorf("tolerance %s: bytes of ranks are off: %+v", tolerance, off)
				}
			}
			if out, err := spoor(m, dir, "diff", "--quiet", "a.spoor", "thin.spoor"); err == nil {
				t.Errorf("nothing was merged\n%s", out)
			}
		})
	}
}

// Programs that nobody here wrote: under the MPI that Debian links both with, and, on as
// many ranks as there may be cores, under the other.
func TestReplayOfRealPrograms(t *testing.T) {
	const melt = "/usr/share/lammps/examples/melt/in.melt"
	everything := os.Getenv("SPOOR_TEST_REPLAY") == "all"
	var y tally
	list := installed(t)
	for i, m := range list {
		if m.Family != "openmpi" {
			continue
		}
		try := func(name string, rarely bool, command ...string) {
			t.Run(name, func(t *testing.T) {
				if _, err := os.Stat(command[0]); err != nil {
					need.Absent(t, "%s is not installed", name)
				}
				if rarely && !everything {
					t.Skip("takes long: SPOOR_TEST_REPLAY=all")
				}
				if !results.Known(m.Name, name, 4) {
					y.run(t, m.Name, name, 4, func() string { return sameOf(t, m, name, 4, command...) })
				}
				if !everything || len(list) < 2 {
					return
				}
				other := list[1-i]
				if pair := m.Name + " to " + other.Name; !results.Known(pair, name, 2) {
					y.run(t, pair, name, 2, func() string {
						dir := t.TempDir()
						if err := inputs.Write(dir, 2); err != nil {
							t.Fatal(err)
						}
						return acrossOf(t, m, other, dir, 2, command...)
					})
				}
			})
		}
		try("lammps", false, "/usr/bin/lmp", "-in", melt, "-log", "none")
		try("hpcc", true, "/usr/bin/hpcc")
		try("nwchem", true, "/usr/bin/nwchem.openmpi", "water.nw")
		try("cp2k", true, "/usr/bin/cp2k.psmp", "-i", "water.inp")
	}
	t.Logf("programs: %v", y.count)
}

// same traces a program and its replay and compares them. It returns how that
// ended.
func same(t *testing.T, m *mpis.MPI, p *mpis.Program, ranks int) string {
	t.Helper()
	binary, err := build(m, p.Path)
	if err != nil {
		t.Error(err)
		return "failed"
	}
	return sameOf(t, m, p.Name, ranks, append([]string{binary}, p.Args...)...)
}

func sameOf(t *testing.T, m *mpis.MPI, name string, ranks int, command ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := inputs.Write(dir, ranks); err != nil {
		t.Fatal(err)
	}
	if err := record(m, dir, ranks, command...); err != nil {
		t.Error(err)
		return "failed"
	}
	e := mpis.ExceptionOf(name, m.Name, "replay")
	if e == nil {
		e = new(mpis.Exception)
	}
	out, err := replay(m, dir, "--no-compute")
	switch {
	case err != nil && e.Refused && strings.Contains(out, "can't be made again"):
		t.Logf("refused: %s", e.Reason)
		return "refused"
	case e.Refused:
		t.Errorf("not refused, although: %s\n%s", e.Reason, mpis.Tail(out))
		return "failed"
	case err != nil:
		t.Errorf("replay: %v\n%s", err, mpis.Tail(out))
		return "failed"
	}
	out, err = compare(m, dir)
	if err == nil {
		return "equal"
	}
	if _, err := compare(m, dir, "--any-order"); err == nil {
		t.Logf("equal but for the order of completion\n%s", mpis.Tail(out))
		return "equal but for order"
	}
	if e.Order {
		if a, b := calls(t, filepath.Join(dir, "a.spoor")), calls(t, filepath.Join(dir, "b.spoor")); !maps.Equal(a, b) {
			t.Errorf("the replay makes %v, the program %v", b, a)
			return "failed"
		}
		return "equal but for order"
	}
	if e.Reason != "" {
		if call := differsFromItself(t, m, dir, ranks, command, differing(out)); call != "" {
			t.Logf("%s: two runs of the program differ there too, in %s\n%s", e.Reason, call, mpis.Tail(out))
			return "as different as the program from itself"
		}
		t.Errorf("excused (%s), but no two runs of the program differ there\n%s", e.Reason, mpis.Tail(out))
		return "failed"
	}
	t.Errorf("the replay made other calls: %v\n%s", err, mpis.Tail(out))
	return "failed"
}

// calls counts the calls of a trace, by rank and function.
func calls(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	counts := make(map[string]uint64)
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			t.Fatal(err)
		}
		for stream := range k.Streams() {
			for n, count := range k.TerminalCounts(stream) {
				counts[fmt.Sprint(k.Number(), k.CallWithoutParams(n).Name())] += count
			}
		}
	}
	return counts
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
func differsFromItself(t *testing.T, m *mpis.MPI, dir string, ranks int, command []string, functions map[string]bool) string {
	t.Helper()
	for range 8 {
		again := t.TempDir()
		if err := record(m, again, ranks, command...); err != nil {
			t.Error(err)
			return ""
		}
		if err := os.Rename(filepath.Join(again, "a.spoor"), filepath.Join(dir, "b.spoor")); err != nil {
			t.Error(err)
			return ""
		}
		out, _ := compare(m, dir)
		for name := range differing(out) {
			if functions[name] {
				return name
			}
		}
	}
	return ""
}
