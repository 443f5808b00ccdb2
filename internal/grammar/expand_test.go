package grammar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Expand gives what All does, behind what the list has.
func TestExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder()
		part := rapid.SliceOfN(rapid.Uint32Range(0, 4), 0, 12)
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			list := part.Draw(t, "part")
			for range rapid.IntRange(1, 5).Draw(t, "laps") {
				for _, x := range list {
					b.Append(x)
				}
			}
		}
		g := b.Grammar()
		want := slices.Concat([]uint32{7, 7}, slices.Collect(g.All()))
		if got := g.Expand([]uint32{7, 7}); !slices.Equal(got, want) {
			t.Fatalf("%v became %v, want %v", g.Rules, got, want)
		}
		if n, err := g.CheckedLen(); err != nil || n != uint64(len(want)-2) {
			t.Fatalf("%d terminals, %d expected, error %v", n, len(want)-2, err)
		}
	})
}
