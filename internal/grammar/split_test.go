package grammar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Parts follow each other, weigh what was asked for, and have in them what an expansion
// has there.
func TestSplitAgainstExpansion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder()
		for range rapid.IntRange(1, 5).Draw(t, "phases") {
			body := rapid.SliceOfN(rapid.Uint32Range(0, 5), 1, 40).Draw(t, "body")
			for range rapid.IntRange(1, 9).Draw(t, "rounds") {
				for _, x := range body {
					b.Append(x)
				}
			}
		}
		g := b.Grammar()
		weights := rapid.SliceOfN(rapid.Int64Range(0, 20), 6, 6).Draw(t, "weights")
		most := rapid.Int64Range(1, 400).Draw(t, "most")
		kind := []int{0, 1, 2, 0, 1, 2}
		s := NewWeightSums(g, func(x uint32) int64 { return weights[x] })
		p := NewSplitter(s, kind, 3, func(x uint32) int64 { return weights[x] / 2 })
		all := slices.Collect(g.All())
		at, before := 0, int64(0)
		for part := range p.Parts(most) {
			if part.WeightBefore != before || part.Weight > most && !part.IsSingleTerminal {
				t.Fatalf("part %+v after %d", part, before)
			}
			c := p.CountKinds(part)
			n := int(c.TerminalCounts[0] + c.TerminalCounts[1] + c.TerminalCounts[2])
			want := p.zero()
			weight := int64(0)
			for _, x := range all[at : at+n] {
				want.TerminalCounts[kind[x]]++
				want.Sums[kind[x]] += weights[x] / 2
				weight += weights[x]
			}
			if part.IsSingleTerminal && (n != 1 || all[at] != part.Terminal) {
				t.Fatalf("part %+v of %d calls", part, n)
			}
			if weight != part.Weight || !slices.Equal(want.TerminalCounts, c.TerminalCounts) || !slices.Equal(want.Sums, c.Sums) {
				t.Fatalf("part %+v has %+v, want %+v of weight %d", part, c, want, weight)
			}
			at, before = at+n, before+weight
		}
		if at != len(all) {
			t.Fatalf("parts of %d calls, there are %d", at, len(all))
		}
	})
}

// Long bodies are counted by their marks.
func TestSplitLongBodies(t *testing.T) {
	for _, n := range []int{127, 128, 129, 1000, 1024} {
		g := &Grammar{Rules: [][]Symbol{nil}}
		want := uint64(0)
		for i := range n {
			g.Rules[0] = append(g.Rules[0], Symbol{TerminalOrRule: int32(i % 7), Count: uint64(1 + i%3)})
			want += uint64(1 + i%3)
		}
		s := NewWeightSums(g, func(uint32) int64 { return 1 })
		for _, most := range []int64{1, 5, 130, 300, 1 << 40} {
			p := NewSplitter(s, make([]int, 7), 1, func(uint32) int64 { return 2 })
			got := uint64(0)
			for part := range p.Parts(most) {
				c := p.CountKinds(part)
				if c.Sums[0] != 2*part.Weight || int64(c.TerminalCounts[0]) != part.Weight {
					t.Fatalf("%d symbols: part %+v has %+v", n, part, c)
				}
				got += c.TerminalCounts[0]
			}
			if got != want {
				t.Errorf("%d symbols in parts of %d: %d calls, want %d", n, most, got, want)
			}
		}
	}
}

// However many terminals there are, parts are as many as their weight asks for; and
// fewer if that is too many.
func TestSplitIsBounded(t *testing.T) {
	g := &Grammar{Rules: make([][]Symbol, 16)}
	for i := range g.Rules {
		next := int32(-(i + 1))
		if i == len(g.Rules)-1 {
			next = 1
		}
		g.Rules[i] = []Symbol{{TerminalOrRule: 0, Count: 1}, {TerminalOrRule: next, Count: 10}}
	}
	s := NewWeightSums(g, func(uint32) int64 { return 10 })
	p := NewSplitter(s, make([]int, 2), 1, func(uint32) int64 { return 10 })
	count := func(most int64) (parts int, calls uint64) {
		for part := range p.Parts(most) {
			parts++
			calls += p.CountKinds(part).TerminalCounts[0]
		}
		return parts, calls
	}
	n, calls := count(s.Total() / 1000)
	if n < 1000 || n > 10000 || calls != s.Len() {
		t.Errorf("%d parts of %d calls, there are %d", n, calls, s.Len())
	}
	p.StepsBeforeDoubling = 1000
	if n, calls := count(1); n > 60000 || calls != s.Len() {
		t.Errorf("%d parts of %d calls, there are %d", n, calls, s.Len())
	}
}
