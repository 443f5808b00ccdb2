package grammar

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestApart: the sequence is the same but for one terminal.
func TestApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		b := NewBuilder()
		for range 1 + rng.IntN(6) {
			lap := make([]uint32, 1+rng.IntN(5))
			for i := range lap {
				lap[i] = rng.Uint32N(4)
			}
			for range 1 + rng.IntN(9) {
				for _, sym := range lap {
					b.AppendRun(sym, 1+rng.Uint64N(3))
				}
			}
		}
		g := b.Grammar()
		want := slices.Collect(g.All())
		before := g.AppendBinary(nil)
		at := rng.IntN(len(want))
		h := g.ReplaceTerminalAt(uint64(at), 77)
		want[at] = 77
		if err := h.Check(); err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(h.All()); !slices.Equal(got, want) {
			t.Fatalf("%v at %d: %v", want, at, got)
		}
		if !slices.Equal(g.AppendBinary(nil), before) {
			t.Fatal("the grammar itself is changed")
		}
		if h = g.ReplaceTerminalAt(uint64(len(want)), 77); h != g {
			t.Fatal("a position after the end changes something")
		}
	}
}
