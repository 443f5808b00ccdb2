package sections

import (
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/trace/model"
)

func end(v int64, rank int) model.Extreme { return model.Extreme{Value: v, Rank: rank} }

// two is a content of two classes.
func two(families ...model.SyntheticLoops) *Content {
	return &Content{
		Ranks: 4, Classes: []Class{{Ranks: column.ColumnOf(0, 2)}, {Ranks: column.ColumnOf(1, 3)}},
		SyntheticLoops: &grammar.SyntheticTripCounts{Seed: 5, Families: families, Loops: make([][]grammar.SyntheticLoop, 2)},
	}
}

var twoRanks = [][]int{{0, 2}, {1, 3}}

// TestBadDrawn: what can't be is neither written nor read.
func TestBadDrawn(t *testing.T) {
	for name, bad := range map[string]model.SyntheticLoops{
		"none":   {Distribution: model.Distribution{Least: end(1, 0), Most: end(9, 0)}},
		"no run": {LoopRuns: 1, Distribution: model.Distribution{Least: end(0, 0), Most: end(9, 0), Bins: []model.Bin{{Low: 0, High: 6, ReplacingValue: 5, Count: 1}}}},
		"order":  {LoopRuns: 2, Distribution: model.Distribution{Least: end(1, 0), Most: end(9, 0), Bins: []model.Bin{{Low: 5, High: 6, ReplacingValue: 5, Count: 1}, {Low: 4, High: 7, ReplacingValue: 5, Count: 1}}}},
		"value":  {LoopRuns: 1, Distribution: model.Distribution{Least: end(1, 0), Most: end(9, 0), Bins: []model.Bin{{Low: 5, High: 6, ReplacingValue: 7, Count: 1}}}},
		"beyond": {LoopRuns: 1, Distribution: model.Distribution{Least: end(1, 0), Most: end(9, 0), Bins: []model.Bin{{Low: 5, High: 10, ReplacingValue: 7, Count: 1}}}},
		"rank":   {LoopRuns: 1, Distribution: model.Distribution{Least: end(1, 4), Most: end(9, 0), Bins: []model.Bin{{Low: 5, High: 6, ReplacingValue: 5, Count: 1}}}},
	} {
		c := two(bad)
		if name != "rank" && c.checkDrawn() == nil {
			t.Errorf("%s: could be written", name)
		}
		r := wire.NewReader(c.AppendSyntheticLoops(nil), "drawn")
		if DecodeSyntheticLoops(r, 4, twoRanks); r.Finish() == nil {
			t.Errorf("%s: could be read", name)
		}
	}
}

// FuzzDrawn: what is no list of drawn loops is an error, and what is one goes both ways.
func FuzzDrawn(f *testing.F) {
	c := two(
		model.SyntheticLoops{PrecisionPercent: 95, LoopRuns: 6, Distribution: model.Distribution{Least: end(1, 1), Most: end(90, 3), Bins: []model.Bin{{Low: 1, High: 1, ReplacingValue: 1, Count: 1}, {Low: 70, High: 90, ReplacingValue: 80, Count: 5}}}},
		model.SyntheticLoops{LoopRuns: 2, Distribution: model.Distribution{Least: end(3, 0), Most: end(4, 0), Bins: []model.Bin{{Low: 3, High: 4, ReplacingValue: 3, Count: 2}}}},
	)
	c.SyntheticLoops.Loops[0] = []grammar.SyntheticLoop{{RepeatedSymbol: 0, Family: 1, DrawKeyOfRank: []int64{0, 0}}, {RepeatedSymbol: 7, Family: 0, DrawKeyOfRank: []int64{5, -9}}}
	f.Add(c.AppendSyntheticLoops(nil))
	f.Add(two().AppendSyntheticLoops(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := wire.NewReader(data, "drawn")
		d := DecodeSyntheticLoops(w, 4, twoRanks)
		if w.Finish() != nil {
			return
		}
		c := two()
		c.SyntheticLoops = d
		if err := c.checkDrawn(); err != nil {
			t.Fatal(err)
		}
		w = wire.NewReader(c.AppendSyntheticLoops(nil), "drawn")
		again := DecodeSyntheticLoops(w, 4, twoRanks)
		if err := w.Finish(); err != nil || !reflect.DeepEqual(again, d) {
			t.Fatalf("%+v became %+v: %v", d, again, err)
		}
	})
}
