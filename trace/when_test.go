package trace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/trace/model"
)

// sampleWhen has all that a section of it can have, as far as levels and steps keep it as it is.
func sampleWhen() *When {
	row := func(first, ranks int, levels ...int64) (r WhenRow) {
		r.FirstRank, r.RankCount = first, ranks
		for s := range r.StateTimes {
			r.StateTimes[s] = WhenStateTimes{LoopBaseUnits: int64(30 * s), LevelCounts: make([]int64, 5)}
		}
		r.StateTimes[WhenStateComputing].LevelCounts = levels
		return r
	}
	return &When{
		Loop:              &WhenLoop{BeginsAt: FunctionSiteNumbers{FunctionIndex: 0, SiteNumber: 1}, Iterations: 6, RanksWithout: 1},
		ColumnsBeforeLoop: 1, ColumnsAfterLoop: 1, ColumnsPerIteration: 1, IterationsPerColumn: 2, ColumnWidthNs: []int64{10, 80, 80, 80, 0}, LevelNs: 20,
		Rows:     []WhenRow{row(0, 2, 7, 0, 0, -1, 2), row(1, 1, 0, 3, 3, 3, 0)},
		Outliers: []WhenOutlier{{Column: 1, Rank: 1, ExcessNs: 40}},
		Findings: []WhenFinding{{Kind: 1, FirstIteration: 4, Ranks: []int{1}, RankCount: 1, BeforeNs: 40, AfterNs: 60, CostNs: 100, EndingCall: FunctionSiteNumbers{FunctionIndex: 0, SiteNumber: 1}}, {EndingCall: FunctionSiteNumbers{FunctionIndex: -1}}},
	}
}

// What is put into a trace comes back.
func TestAddWhen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.spoor")
	for _, want := range []*When{{ColumnsBeforeLoop: 2, ColumnWidthNs: []int64{0, 0}, LevelNs: 1}, sampleWhen()} {
		if err := os.WriteFile(name, encoded(t), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := AddWhen(name, want); err != nil {
			t.Fatal(err)
		}
		r, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.When()
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v; %s", err, d)
		}
		if err := Check(r); err != nil {
			t.Error(err)
		}
		r.Close()
	}
}

// Times of cells are levels above the base, in the loop or where there is none; iterations follow from columns.
func TestWhenTimes(t *testing.T) {
	w := sampleWhen()
	if got := []int64{w.StateNs(0, model.WhenStateComputing, 0), w.StateNs(0, model.WhenStateWaiting, 0), w.StateNs(0, model.WhenStateWaiting, 1), w.StateNs(1, model.WhenStateComputing, 3)}; !cmp.Equal(got, []int64{140, 0, 60, 60}) {
		t.Error(got)
	}
	if from, end := w.Iterations(3); from != 4 || end != 6 {
		t.Error(from, end)
	}
	if w.RunNs() != 250 {
		t.Error(w.RunNs())
	}
	w.Loop, w.ColumnsBeforeLoop, w.ColumnsAfterLoop = nil, 5, 0
	if ns := w.StateNs(0, model.WhenStateWaiting, 0); ns != 60 {
		t.Error(ns)
	}
}
