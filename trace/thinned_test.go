package trace

import (
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// TestThinned: sizes that were merged come back.
func TestThinned(t *testing.T) {
	c := sample(t)
	good := []MergedSizes{
		{
			Functions: []uint16{40}, PrecisionPercent: 95, UnmergedCalls: 3, Distribution: Distribution{Least: Extreme{Rank: 1}, Most: Extreme{Value: 900},
				Bins: []Bin{{Low: 80, High: 84, ReplacingValue: 82, Count: 5}}},
		},
		{Tags: []int64{3, 7}, Distribution: Distribution{Least: Extreme{Value: 8}, Most: Extreme{Value: 8}}},
	}
	c.MergedSizes = good
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.MergedSizes()
	if err != nil || !reflect.DeepEqual(list, good) {
		t.Fatalf("%+v, error %v", list, err)
	}
	if !list[1].HasTag(7) || list[1].HasTag(5) || list[0].HasTag(7) || list[0].BinOfReplacingValue(82) == nil || list[0].BinOfReplacingValue(84) != nil {
		t.Errorf("what is in %+v", list)
	}
}
