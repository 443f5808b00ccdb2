package export

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A sum is what there is of a function.
type sum struct {
	Calls int
	Ns    int64
}

// sums counts the calls of each function and adds up their times, rank by rank.
func sums(t *testing.T, r *trace.Reader) []map[string]sum {
	t.Helper()
	list := make([]map[string]sum, r.Ranks())
	for rank := range list {
		list[rank] = make(map[string]sum)
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for stream := range k.Streams() {
			for c, err := range k.TimedCalls(stream) {
				if err != nil {
					t.Fatal(err)
				}
				s := list[rank][c.Name()]
				list[rank][c.Name()] = sum{s.Calls + 1, s.Ns + c.EndNs() - c.StartNs}
			}
		}
	}
	return list
}

// cells is the matrix of a trace, with collectives or without.
func cells(t *testing.T, r *trace.Reader, o matrix.Options) [][]matrix.Cell {
	t.Helper()
	m, err := matrix.Compute(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return m.Dense()
}

// back has a trace imported that was exported, and compares. Persistent requests are not in OTF2: calls that
// start them come back as others.
func back(t *testing.T, x traced) {
	spoor(t, x.dir, "import", "--from", "otf2", "-o", "back.spoor", "otf2")
	r := open(t, filepath.Join(x.dir, "back.spoor"))
	spoor(t, x.dir, "check", "back.spoor")
	all, _ := functions(t, x.r)
	starts := all["MPI_Start"]+all["MPI_Startall"] > 0
	if diff := cmp.Diff(sums(t, x.r), sums(t, r)); diff != "" && !starts {
		t.Errorf("calls and their times, before and after:\n%s", diff)
	}
	if diff := cmp.Diff(cells(t, x.r, matrix.Options{PointToPoint: true}), cells(t, r, matrix.Options{PointToPoint: true})); diff != "" {
		t.Errorf("messages, before and after:\n%s", diff)
	}
	topology := false // OTF2 has no collectives along one
	for name := range all {
		topology = topology || strings.Contains(name, "eighbor")
	}
	uneven := all["MPI_Alltoallv"]+all["MPI_Ialltoallv"]+all["MPI_Alltoallw"]+all["MPI_Ialltoallw"] > 0 // OTF2 has the sum
	if diff := cmp.Diff(cells(t, x.r, matrix.Options{PointToPoint: true, Collectives: true, RMA: true}), cells(t, r, matrix.Options{PointToPoint: true, Collectives: true, RMA: true})); diff != "" && !starts && !topology && !uneven {
		t.Errorf("traffic, before and after:\n%s", diff)
	}
	// Once more to OTF2 and back: the same.
	spoor(t, x.dir, "export", "--to", "otf2", "-o", "otf2-again", "back.spoor")
	spoor(t, x.dir, "import", "--from", "otf2", "-o", "again.spoor", "otf2-again")
	again := open(t, filepath.Join(x.dir, "again.spoor"))
	every := matrix.Options{PointToPoint: true, Collectives: true, RMA: true}
	if diff := cmp.Diff(sums(t, r), sums(t, again)); diff != "" {
		t.Errorf("calls and their times, imported once and twice:\n%s", diff)
	}
	if diff := cmp.Diff(cells(t, r, every), cells(t, again, every)); diff != "" {
		t.Errorf("traffic, imported once and twice:\n%s", diff)
	}
	if x.name == "cg" || x.name == "stencil" { // of which the archive lacks reduction operations alone
		calls := func(trace string) (list []int) {
			var o struct{ Ranks []struct{ Calls int } }
			if err := json.Unmarshal([]byte(spoor(t, x.dir, "replay", "--json", trace)), &o); err != nil {
				t.Fatal(err)
			}
			for _, k := range o.Ranks {
				list = append(list, k.Calls)
			}
			return list
		}
		if got, want := calls("back.spoor"), calls("app.spoor"); !slices.Equal(got, want) || len(got) != x.r.Ranks() {
			t.Errorf("the import's replay makes %v calls, the original's %v", got, want)
		}
	}
}

// TestSwitchedOff: ranks that switched recording off, so that nobody recorded their MPI_Finalize, can be replayed.
func TestSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	spoor(t, dir, "import", "-o", "off.spoor", mpis.Root("internal", "convert", "otf2", "testdata", "off"))
	for _, m := range mpis.Need(t) {
		spoor(t, dir, "replay", "-q", "--mpi", m.Name, "off.spoor")
	}
}
