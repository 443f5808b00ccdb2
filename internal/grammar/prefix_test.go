package grammar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Before and At agree with a walk over the expanded sequence.
func TestAgainstExpansion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Uint32Range(0, 5), 0, 12).Draw(t, "body")
		loops := rapid.IntRange(1, 9).Draw(t, "loops")
		tail := rapid.SliceOfN(rapid.Uint32Range(0, 9), 0, 12).Draw(t, "tail")
		b := NewBuilder()
		var seq []uint32
		add := func(list []uint32) {
			for _, x := range list {
				b.Append(x)
				seq = append(seq, x)
			}
		}
		for range loops {
			add(body)
		}
		add(tail)
		add(body)
		weight := func(x uint32) int64 { return int64(x)*1e18 - 7 }
		s := NewWeightSums(b.Grammar(), weight)
		if s.Len() != uint64(len(seq)) {
			t.Fatalf("length %d, want %d", s.Len(), len(seq))
		}
		sum := int64(0)
		for i, want := range seq {
			got, before := s.TerminalAt(uint64(i))
			if got != want || before != sum || s.Before(uint64(i)) != sum {
				t.Fatalf("at %d: %d after %d, want %d after %d", i, got, before, want, sum)
			}
			sum += weight(want)
		}
		for x, got := range s.FirstPositions(10) {
			if want := uint64(slices.Index(seq, uint32(x))); got != want {
				t.Fatalf("%d is first at %d, want %d", x, got, want)
			}
		}
		odd := NewWeightSums(b.Grammar(), func(x uint32) int64 { return int64(x % 3) })
		k := int64(0)
		for i, want := range seq {
			for range want % 3 {
				if pos, got := odd.Nth(k); pos != uint64(i) || got != want {
					t.Fatalf("unit %d is %d at %d, want %d at %d", k, got, pos, want, i)
				}
				k++
			}
		}
		if odd.Total() != k {
			t.Fatalf("total %d, want %d", odd.Total(), k)
		}
		if s.Total() != sum {
			t.Fatalf("total %d, want %d", s.Total(), sum)
		}
	})
}

func TestEmpty(t *testing.T) {
	s := NewWeightSums(&Grammar{}, func(uint32) int64 { return 1 })
	if s.Len() != 0 || s.Total() != 0 || s.Before(3) != 0 {
		t.Errorf("an empty grammar has length %d, weight %d", s.Len(), s.Total())
	}
}
