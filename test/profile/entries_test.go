package profile

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestLoopEntries: means alone have apart what comes before the first entry of a loop, before later entries of a loop in it that begins
// with the same call, and before further rounds of that. The profile shows it of both loops, with loops of the machine code and without.
func TestLoopEntries(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, stack := range []string{"0", "32"} {
			t.Run(m.Name+" stack "+stack, func(t *testing.T) {
				mpis.Steady(t, func(complain func(string, ...any)) { loopEntries(t, m, stack, complain) })
			})
		}
	}
}

func loopEntries(t *testing.T, m *mpis.MPI, stack string, complain func(string, ...any)) {
	dir := t.TempDir()
	if err := m.Compile(filepath.Join(dir, "app"), "testdata/entries.c", "-O1", "-g"); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "--stack", stack, "-o", "app.spoor"}, m.Command(4, "./app"))...)
	var list []struct{ Threads []struct{ Body []loop } }
	if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
		t.Fatal(err)
	}
	entries, further := make(map[uint64]float64), make(map[uint64]float64) // by rounds of an entry, in ms
	each(list[0].Threads[0].Body, func(x loop) {
		if x.Entered > 0 && x.Entry != nil {
			entries[x.Most] = *x.Entry / 1e6
			if x.Further != nil {
				further[x.Most] = *x.Further / 1e6
			}
		}
	})
	// Ranks share processors: times are no less than what was computed, and not ten times as much.
	if outer, inner := entries[30], entries[20]; outer < 195 || outer > 2000 || inner < 3.9 || inner > 40 {
		complain("the outer loop is entered after %.3g ms, the inner one after %.3g ms; want 204 and 4", outer, inner)
	}
	if outer, inner := further[30], further[20]; outer < 3.9 || outer > 40 || inner > 1.5 {
		complain("further rounds come after %.3g and %.3g ms; want 4 and 0.05", outer, inner)
	}
}
