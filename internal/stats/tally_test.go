package stats

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/trace/model"
)

// TestNumbers: count, sum and extremes are those of all numbers; bins are apart and have all of them.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64Range(-5000, 5000), 1, 4*mostExact).Draw(t, "numbers")
		cut := rapid.IntRange(0, len(list)).Draw(t, "cut")
		const shown = 8
		var n, more NumberDistribution
		for i, v := range list {
			if i < cut {
				n.Add(v, 1, i)
			} else {
				more.Add(v, 1, i)
			}
		}
		n.Join(&more)
		sum := int64(0)
		for _, v := range list {
			sum += v
		}
		least, most := slices.Min(list), slices.Max(list)
		if n.Count != uint64(len(list)) || n.Sum != float64(sum) || n.Min != (model.Extreme{Value: least, Rank: slices.Index(list, least)}) || n.Max != (model.Extreme{Value: most, Rank: slices.Index(list, most)}) {
			t.Fatalf("%+v, want %d numbers, sum %d, %d to %d", n, len(list), sum, least, most)
		}
		bins := JoinBins(n.AllBins(), shown)
		if len(bins) > shown || bins[0].Min != least || bins[len(bins)-1].Max != most {
			t.Fatalf("bins %+v", bins)
		}
		for i, b := range bins {
			if i > 0 && b.Min <= bins[i-1].Max {
				t.Fatalf("bins overlap: %+v", bins)
			}
			in := 0
			total := int64(0)
			for _, v := range list {
				if b.Min <= v && v <= b.Max {
					in++
					total += v
				}
			}
			if b.Count != uint64(in) || b.Sum != float64(total) {
				t.Fatalf("bin %+v, want %d numbers of %d", b, in, total)
			}
		}
	})
}
