package profile

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	said := spoor(t, dir, slices.Concat([]string{"run", "-q", "--stack", stack, "-o", "app.spoor"}, m.Command(4, "./app"))...)
	var first, later, inner float64 // ms, on average over ranks
	ranks := 0
	for line := range strings.Lines(said) {
		var a, b, c float64
		if n, _ := fmt.Sscanf(line, "computed %f %f %f", &a, &b, &c); n == 3 {
			ranks++
			first, later, inner = first+a/1e6, later+b/1e6, inner+c/1e6
		}
	}
	if ranks != 4 {
		t.Fatalf("%d of 4 ranks say how long they computed:\n%s", ranks, said)
	}
	first, later, inner = first/4, later/4, inner/4
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
	near := func(got, want float64) bool { return math.Abs(got-want) <= 0.02*want+0.2 } // a rank may lose its processor between its look at the clock and the recorder's
	if !near(entries[30], first) || !near(entries[20], later) {
		complain("the outer loop is entered after %.3g ms, the inner one after %.3g ms; want %.3g and %.3g", entries[30], entries[20], first, later)
	}
	if !near(further[30], later) || !near(further[20], inner) {
		complain("further rounds come after %.3g and %.3g ms; want %.3g and %.3g", further[30], further[20], later, inner)
	}
}

// TestLoopNames: a loop has the name that the tree shows, also if another loop in it begins with the same call.
func TestLoopNames(t *testing.T) {
	dir := traceWith(t, mpis.Need(t)[0], "entries.c", []string{"--stack", "16"}, "-g", "-O0")
	text, err := os.ReadFile("testdata/entries.c")
	if err != nil {
		t.Fatal(err)
	}
	at := func(code string) string {
		before, _, ok := strings.Cut(string(text), code)
		if !ok {
			t.Fatalf("no %q", code)
		}
		return fmt.Sprintf("entries.c:%d", 1+strings.Count(before, "\n"))
	}
	for _, x := range []struct {
		loop  string
		calls int // of two ranks, in two iterations
	}{{at("for (int i"), 2 * 2 * 21}, {at("for (int k"), 2 * 2}} {
		said := spoor(t, dir, "profile", "--loop", x.loop, "--iteration", "3:5", "app.spoor")
		if want := fmt.Sprintf(" %d calls,", x.calls); !strings.Contains(said, want) {
			t.Errorf("%s: not%s\n%s", x.loop, want, said)
		}
	}
}
