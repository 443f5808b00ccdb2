package sections

import (
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// TestBadThinned: what can't be is neither written nor read.
func TestBadThinned(t *testing.T) {
	for name, bad := range map[string]model.MergedSizes{
		"rank":   {Distribution: model.Distribution{Least: model.Extreme{Rank: 4}, Most: model.Extreme{Value: 9}}},
		"order":  {Distribution: model.Distribution{Most: model.Extreme{Value: 9}, Bins: []model.Bin{{Low: 5, High: 6, ReplacingValue: 5, Count: 1}, {Low: 4, High: 7, ReplacingValue: 5, Count: 1}}}},
		"value":  {Distribution: model.Distribution{Most: model.Extreme{Value: 9}, Bins: []model.Bin{{Low: 5, High: 6, ReplacingValue: 7, Count: 1}}}},
		"beyond": {Distribution: model.Distribution{Most: model.Extreme{Value: 9}, Bins: []model.Bin{{Low: 5, High: 10, ReplacingValue: 7, Count: 1}}}},
	} {
		c := Content{Ranks: 4, MergedSizes: []model.MergedSizes{bad}}
		if c.checkThinned() == nil {
			t.Errorf("%s: could be written", name)
		}
		r := wire.NewReader((&Content{MergedSizes: c.MergedSizes}).appendThinned(nil), "thinned")
		if DecodeMergedSizes(r, 4); r.Finish() == nil {
			t.Errorf("%s: could be read", name)
		}
	}
}

// FuzzThinned: what is no list of merged sizes is an error, and what is one goes both ways.
func FuzzThinned(f *testing.F) {
	end := func(v int64, rank int) model.Extreme { return model.Extreme{Value: v, Rank: rank} }
	f.Add((&Content{MergedSizes: []model.MergedSizes{
		{Functions: []uint16{9, 40}, PrecisionPercent: 95, UnmergedCalls: 3, Distribution: model.Distribution{Least: end(0, 1), Most: end(900, 3), Bins: []model.Bin{{Low: 80, High: 84, ReplacingValue: 82, Count: 5}, {Low: 700, High: 900, ReplacingValue: 800, Count: 1}}}},
		{Tags: []int64{-1, 7}, Distribution: model.Distribution{Least: end(-4, 0), Most: end(4, 0)}}, {Tags: []int64{}, PrecisionPercent: 100}, {},
	}}).appendThinned(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := wire.NewReader(data, "thinned")
		list := DecodeMergedSizes(w, 4)
		if w.Finish() != nil {
			return
		}
		if err := (&Content{Ranks: 4, MergedSizes: list}).checkThinned(); err != nil {
			t.Fatal(err)
		}
		b := (&Content{MergedSizes: list}).appendThinned(nil)
		w = wire.NewReader(b, "thinned")
		again := DecodeMergedSizes(w, 4)
		if err := w.Finish(); err != nil || !reflect.DeepEqual(again, list) {
			t.Fatalf("%+v became %+v: %v", list, again, err)
		}
	})
}
