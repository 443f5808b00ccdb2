package sections

import (
	"bytes"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// FuzzWhen: what is no such section is an error, and what is one goes both ways.
func FuzzWhen(f *testing.F) {
	row := func(levels ...int64) (r model.WhenRow) {
		r.RankCount = 2
		for s := range r.StateTimes {
			r.StateTimes[s] = model.WhenStateTimes{LoopBaseUnits: int64(s) - 1, LevelCounts: levels}
		}
		return r
	}
	for _, w := range []model.When{
		{ColumnsBeforeLoop: 3, ColumnsPerIteration: 1, ColumnWidthNs: []int64{10, 20, 0}, LevelNs: 2, Rows: []model.WhenRow{row(0, 0, 5), row(-3, -3, -3)}},
		{
			Loop: &model.WhenLoop{BeginsAt: model.FunctionSiteNumbers{FunctionIndex: 1, SiteNumber: 2}, Iterations: 3, RanksWithout: 1}, ColumnsBeforeLoop: 1, ColumnsAfterLoop: 1, ColumnsPerIteration: 2, IterationsPerColumn: 1,
			ColumnWidthNs: []int64{1000, 10, 10, 10, 10, 10, 10, 70}, LevelNs: 30, Rows: []model.WhenRow{row(1, 2, 3, 3, 3, 3, 0, 0)},
			Outliers: []model.WhenOutlier{{Column: 2, Rank: 3, ExcessNs: 60}, {Column: 7, Rank: 1, ExcessNs: 90}},
			Findings: []model.WhenFinding{
				{Kind: 0, FirstIteration: 2, RankCount: 1, Ranks: []int{3}, BeforeNs: 20, AfterNs: 400, LongerNs: 300, CostNs: 380, EndingCall: model.FunctionSiteNumbers{FunctionIndex: 1, SiteNumber: 1}},
				{Kind: 3, FirstIteration: 1, Period: 2, BeforeNs: 20, AfterNs: 40, CostNs: 20, EndingCall: model.FunctionSiteNumbers{FunctionIndex: -1}},
			},
			Exemplars: []model.WhenExemplar{
				{Iteration: 1, Ranks: []model.WhenCallTimes{{Rank: 0, RelativeStartNs: -4, Gaps: []int64{10, 0}, Durations: []int64{3, 700}}, {Rank: 2}}},
				{Iteration: 2, Ranks: []model.WhenCallTimes{{Rank: 0, RelativeStartNs: 3, Gaps: []int64{11, 0}, Durations: []int64{3, 9000}}, {Rank: 2, Gaps: []int64{1}, Durations: []int64{2}}}},
			},
		},
	} {
		f.Add(AppendWhen(nil, &w))
	}
	n := DecodingLimits{Ranks: 4, Functions: 3, Sites: 2, Kinds: 8}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data, "when")
		w := DecodeWhen(r, n)
		if r.Finish() != nil {
			return
		}
		for column := range w.ColumnWidthNs { // nobody who reads it goes out of bounds
			if w.InLoop(column) {
				if from, end := w.Iterations(column); from >= end || end > w.Loop.Iterations {
					t.Fatalf("iterations %d to %d of %d", from, end, w.Loop.Iterations)
				}
			}
			for row := range w.Rows {
				w.StateNs(row, model.WhenStateAside, column)
			}
		}
		b := AppendWhen(nil, w)
		r = wire.NewReader(b, "when")
		again := DecodeWhen(r, n)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if second := AppendWhen(nil, again); !bytes.Equal(second, b) {
			t.Fatalf("%x became %x", b, second)
		}
	})
}

// A section doesn't have cells without end: lengths are believed only as far as bounds and bytes go.
func TestWhenBounds(t *testing.T) {
	w := model.When{ColumnsBeforeLoop: whenColumns, ColumnsPerIteration: 1, ColumnWidthNs: make([]int64, whenColumns), LevelNs: 1}
	for range 65 { // all planes of them have more cells than that
		r := model.WhenRow{RankCount: 1}
		for s := range r.StateTimes {
			r.StateTimes[s].LevelCounts = make([]int64, whenColumns)
		}
		w.Rows = append(w.Rows, r)
	}
	read := func(w *model.When) error {
		r := wire.NewReader(AppendWhen(nil, w), "when")
		DecodeWhen(r, DecodingLimits{Ranks: 1, Functions: 1, Sites: 1, Kinds: 1})
		return r.Finish()
	}
	if err := read(&w); err == nil {
		t.Error("too many cells were read")
	}
	w.Rows = w.Rows[:64]
	if err := read(&w); err != nil {
		t.Error(err)
	}
}
