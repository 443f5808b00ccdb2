package merge

import (
	"testing"

	"pgregory.net/rapid"
)

// A pairing numbers pairs as a map does, also after it was reset.
func TestPairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pairing
		for range 2 {
			p.reset()
			known := make(map[[2]uint32]uint32)
			// Half of them are close together, so that pairs come back.
			one := rapid.OneOf(rapid.Uint32Range(0, 40), rapid.Uint32())
			for _, x := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]uint32 {
				return [2]uint32{one.Draw(t, "a"), one.Draw(t, "b")}
			}), 0, 900).Draw(t, "pairs") {
				want, there := known[x]
				if !there {
					want = uint32(len(known))
					known[x] = want
				}
				if n, ok := p.number(x[0], x[1]); n != want || ok != there {
					t.Fatalf("%v is %d, known %v; want %d, %v", x, n, ok, want, there)
				}
			}
		}
	})
}
