package reduce

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// TestBins: sizes keep their order, differ by no more than they may from what they share a bin with, and
// what stands for them is a whole number of units.
func TestBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grain := rapid.SampledFrom([]int64{1, 4, 8, 24}).Draw(t, "grain")
		precision := rapid.IntRange(0, 100).Draw(t, "precision")
		var list []stats.Bin
		for _, n := range rapid.SliceOfNDistinct(rapid.Int64Range(0, 2000), 0, 60, rapid.ID).Draw(t, "sizes") {
			list = append(list, stats.Bin{Min: n * grain, Max: n * grain, Count: rapid.Uint64Range(1, 9).Draw(t, "count")})
		}
		slices.SortFunc(list, func(a, b stats.Bin) int { return int(a.Min - b.Min) })
		f := &sizeFamily{sorted: list, unit: grain}
		f.merge(precision)
		counts := make(map[int64]uint64)
		last := int64(0)
		for _, x := range list {
			v := f.value(x.Min)
			if v < last || v%grain != 0 {
				t.Fatalf("%d became %d, the one before %d", x.Min, v, last)
			}
			last = v
			if (x.Min == 0 || precision == 100) && v != x.Min {
				t.Fatalf("%d became %d", x.Min, v)
			}
			counts[v] += x.Count
		}
		for _, b := range f.bins {
			if b.Low >= b.High || !CanMerge(b.Low, b.High, precision) || b.ReplacingValue < b.Low || b.ReplacingValue > b.High {
				t.Fatalf("precision %d: bin %+v", precision, b)
			}
			if counts[b.ReplacingValue] != b.Count {
				t.Fatalf("bin %+v: %d calls have its value", b, counts[b.ReplacingValue])
			}
		}
	})
}

// TestFullest: what lies around a mean is one bin, wherever windows from the least size on would end.
func TestFullest(t *testing.T) {
	list := []stats.Bin{{Min: 90, Max: 90, Count: 1}}
	for n := int64(98); n <= 102; n++ {
		list = append(list, stats.Bin{Min: n, Max: n, Count: 10})
	}
	want := []trace.Bin{{Low: 98, High: 102, ReplacingValue: 100, Count: 50}}
	if got := MergeSizes(list, 95, 1); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := MergeSizes(list, 95, 64); got != nil {
		t.Errorf("%+v, though no multiple of 64 is in one", got)
	}
	if got := MergeSizes(list, 0, 1); len(got) != 1 || got[0].Low != 90 || got[0].High != 102 {
		t.Errorf("precision 0: %+v", got)
	}
}
