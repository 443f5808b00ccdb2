package sections

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Times of leaves come back, rounded, whether or not those of a terminal have the same.
func TestPlaces(t *testing.T) {
	mean := rapid.SampledFrom([]float64{0, 1, 17, 1000, 123456789})
	rapid.Check(t, func(t *rapid.T) {
		terminals := rapid.SliceOfN(rapid.Int32Range(0, 5), 1, 40).Draw(t, "leaves")
		var list []LeafMeanTimes
		for leaf := range terminals {
			if rapid.IntRange(0, 3).Draw(t, "there") == 0 {
				continue
			}
			p := LeafMeanTimes{leaf, mean.Draw(t, "gap"), mean.Draw(t, "duration"), math.NaN(), nil}
			if rapid.IntRange(0, 5).Draw(t, "entered") == 0 {
				p.MeanEntryGap = mean.Draw(t, "entry")
				p.MeanOuterEntryGaps = rapid.SliceOfN(mean, 0, 3).Draw(t, "outer")
			}
			list = append(list, p)
		}
		b, err := appendPlacesOf(nil, list, terminals)
		if err != nil {
			t.Fatal(err)
		}
		r := wire.NewReader(b, "places")
		got := DecodeLeafMeanTimes(r, terminals)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(list) {
			t.Fatalf("%d leaves of %d: %v, want %v", len(got), len(list), got, list)
		}
		for i, p := range list {
			g := got[i]
			if g.Leaf != p.Leaf || meansOf(&g) != meansOf(&p) || math.IsNaN(g.MeanEntryGap) != math.IsNaN(p.MeanEntryGap) || RoundToFloatCode(g.MeanEntryGap, meanBits) != RoundToFloatCode(p.MeanEntryGap, meanBits) || !slices.EqualFunc(g.MeanOuterEntryGaps, p.MeanOuterEntryGaps, func(a, b float64) bool { return RoundToFloatCode(a, meanBits) == RoundToFloatCode(b, meanBits) }) {
				t.Fatalf("%v, want %v", g, p)
			}
		}
		if again, err := appendPlacesOf(nil, got, terminals); err != nil || string(again) != string(b) {
			t.Fatalf("written again: %v, %v, was %v", again, err, b)
		}
	})
	if _, err := appendPlacesOf(nil, []LeafMeanTimes{{Leaf: 2}}, []int32{0, 1}); err == nil {
		t.Error("a leaf that is none was written")
	}
}

// The same times at many leaves of a terminal are there once.
func TestPlacesOfATerminal(t *testing.T) {
	terminals := make([]int32, 1000)
	var list []LeafMeanTimes
	for i := range terminals {
		if terminals[i] = int32(i % 2); i%2 == 1 {
			list = append(list, LeafMeanTimes{i, 5e6, 7e6, math.NaN(), nil})
		}
	}
	list[3].MeanGap = 9e6
	if b, err := appendPlacesOf(nil, list, terminals); err != nil || len(b) > 16 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// Damaged times are errors, or those of leaves that there are.
func TestPlacesDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terminals := rapid.SliceOfN(rapid.Int32Range(0, 3), 0, 12).Draw(t, "leaves")
		r := wire.NewReader(rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.ByteRange(0, 4)), 0, 30).Draw(t, "bytes"), "places")
		list := DecodeLeafMeanTimes(r, terminals)
		if r.Err() != nil {
			return
		}
		last := -1
		for _, p := range list {
			if p.Leaf <= last || p.Leaf >= len(terminals) {
				t.Fatalf("leaf %d behind %d of %d", p.Leaf, last, len(terminals))
			}
			last = p.Leaf
		}
	})
}
