package main

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Whatever is wanted, and in whatever range, what is printed is what going
// through all calls finds.
func TestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 60).Draw(t, "steps")
		rounds := rapid.IntRange(1, 5).Draw(t, "rounds")
		r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
			for range rounds {
				for _, s := range steps {
					r.Send(s, int64(s), 0, 1)
				}
			}
		})
		k, err := r.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		wanted := rapid.SliceOfN(rapid.Bool(), k.Terminals(), k.Terminals()).Draw(t, "wanted")
		first := rapid.Uint64Range(0, k.CallCount(0)+1).Draw(t, "first")
		end := rapid.OneOf(rapid.Just(uint64(math.MaxUint64)), rapid.Uint64Range(first, k.CallCount(0)+1)).Draw(t, "end")
		var want, got []uint64
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Index >= first && c.Index < end && wanted[c.Terminal] {
				want = append(want, c.Index)
			}
		}
		d := &dumper{r: r, first: first, end: end}
		for c, err := range d.calls(k, 0, wanted) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.Index)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	})
}
