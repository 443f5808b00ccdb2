package grammar

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Pairs agree with a walk over the expanded sequence.
func TestPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder()
		var seq []int
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			body := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 8).Draw(t, "body")
			for range rapid.IntRange(1, 9).Draw(t, "rounds") {
				for _, x := range body {
					n := rapid.IntRange(1, 3).Draw(t, "times")
					b.AppendRun(uint32(x), uint64(n))
					for range n {
						seq = append(seq, x)
					}
				}
			}
		}
		mask := rapid.Uint32().Draw(t, "wanted")
		wanted := func(before, terminal int) bool { return mask>>((before+1)*4+terminal)&1 != 0 }
		s := NewWeightSums(b.Grammar(), func(uint32) int64 { return 0 })
		p, counts := s.FindSuccessorPairs(wanted), make(map[[2]int]uint64)
		n, before := int64(0), BeforeFirst
		for i, x := range seq {
			if got := p.Before(uint64(i)); got != n {
				t.Fatalf("%d before %d of %v, want %d", got, i, seq, n)
			}
			counts[[2]int{before, x}]++
			if wanted(before, x) {
				if pos, terminal := p.Nth(n); pos != uint64(i) || int(terminal) != x {
					t.Fatalf("the %d-th is %d at %d of %v, want %d at %d", n, terminal, pos, seq, x, i)
				}
				n++
			}
			before = x
		}
		if p.Total() != n || p.Before(uint64(len(seq))) != n {
			t.Fatalf("%d in all, want %d", p.Total(), n)
		}
		if got := s.Digrams(); !maps.Equal(got, counts) {
			t.Fatalf("digrams of %v: %v", seq, got)
		}
	})
}
