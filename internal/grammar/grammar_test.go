package grammar

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// stupid expands by recursion, for comparison.
func stupid(g *Grammar, r int32) []uint32 {
	var seq []uint32
	for _, s := range g.Rules[r] {
		for range s.Count {
			if s.TerminalOrRule >= 0 {
				seq = append(seq, uint32(s.TerminalOrRule))
			} else {
				seq = append(seq, stupid(g, -s.TerminalOrRule)...)
			}
		}
	}
	return seq
}

func TestQueries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := handMade(t)
		if g.Len() > 20000 {
			t.Skip("drawn too long; rapid draws another")
		}
		seq := stupid(g, 0)
		if got := expand(g); !slices.Equal(got, seq) {
			t.Fatalf("All: %v, want %v", got, seq)
		}
		if g.Len() != uint64(len(seq)) {
			t.Fatalf("Len: %d, want %d", g.Len(), len(seq))
		}
		counts := make([]uint64, 2)
		var first []uint32
		for _, s := range seq {
			if s < 2 {
				counts[s]++
			}
			if !slices.Contains(first, s) {
				first = append(first, s)
			}
		}
		if got := g.TerminalCounts(2); !slices.Equal(got, counts) {
			t.Fatalf("Counts: %v, want %v", got, counts)
		}
		if got := g.Terminals(); !slices.Equal(got, first) {
			t.Fatalf("Terminals: %v, want %v", got, first)
		}
		h := g.Renumber(func(s uint32) uint32 { return s + 5 })
		for i := range seq {
			seq[i] += 5
		}
		if got := expand(h); !slices.Equal(got, seq) {
			t.Fatalf("Renumber: %v, want %v", got, seq)
		}
		if h.Equal(g) != (len(seq) == 0 && !reachesTerminal(g)) {
			t.Fatalf("Equal of %v and %v", g, h)
		}
	})
}

// reachesTerminal: an unused rule has terminals too.
func reachesTerminal(g *Grammar) bool {
	for _, body := range g.Rules {
		for _, s := range body {
			if s.TerminalOrRule >= 0 {
				return true
			}
		}
	}
	return false
}

func TestAllStops(t *testing.T) {
	n := 0
	for range (&Grammar{}).All() {
		n++
	}
	for range build([]uint32{1, 2, 1, 2, 1, 2, 2, 2}).Grammar().All() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Fatal(n)
	}
}

func TestCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := handMade(t)
		if g.Len() > 20000 {
			t.Skip("drawn too long; rapid draws another")
		}
		seq := stupid(g, 0)
		c := g.Cursor()
		for range 10 {
			at := rapid.IntRange(0, len(seq)+1).Draw(t, "at")
			c.Seek(uint64(at))
			at = min(at, len(seq))
			for i, want := range seq[at:min(len(seq), at+50)] {
				if c.Pos() != uint64(at+i) {
					t.Fatalf("Pos is %d, want %d", c.Pos(), at+i)
				}
				if got, ok := c.Next(); !ok || got != want {
					t.Fatalf("at %d+%d: %d %v, want %d", at, i, got, ok, want)
				}
			}
		}
		c.Seek(uint64(len(seq)))
		if _, ok := c.Next(); ok {
			t.Fatal("Next behind the end")
		}
	})
}

func TestSeekFar(t *testing.T) {
	g := &Grammar{Rules: [][]Symbol{{{-1, 1 << 40}, {5, 1}}, {{1, 1 << 20}, {2, 1}}}}
	c := g.Cursor()
	if c.Len() != g.Len() || c.Len() != (1<<20+1)<<40+1 {
		t.Fatal(c.Len())
	}
	for _, at := range []struct {
		pos  uint64
		want uint32
	}{{0, 1}, {1 << 20, 2}, {(1<<20+1)*(1<<39) - 1, 2}, {(1<<20 + 1) * (1 << 39), 1}, {c.Len() - 1, 5}, {c.Len() - 2, 2}} {
		c.Seek(at.pos)
		if got, ok := c.Next(); !ok || got != at.want {
			t.Errorf("at %d: %d %v, want %d", at.pos, got, ok, at.want)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, g := range map[string]*Grammar{
		"no start":      {},
		"count 0":       {Rules: [][]Symbol{{{1, 0}}}},
		"empty rule":    {Rules: [][]Symbol{{{-1, 1}}, {}}},
		"unknown rule":  {Rules: [][]Symbol{{{-1, 1}}}},
		"unknown, far":  {Rules: [][]Symbol{{{math.MinInt32, 1}}}},
		"self":          {Rules: [][]Symbol{{{-1, 1}}, {{-1, 1}}}},
		"cycle":         {Rules: [][]Symbol{{{-1, 1}}, {{3, 1}, {-2, 1}}, {{-1, 1}}}},
		"long, product": {Rules: [][]Symbol{{{-1, 1 << 32}}, {{1, 1 << 32}}}},
		"long, sum":     {Rules: [][]Symbol{{{1, math.MaxUint64}, {2, 1}}}},
	} {
		if g.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	mustHold(t, (&Grammar{Rules: [][]Symbol{{{1, math.MaxUint64 - 1}, {2, 1}}}}).Check())
	mustHold(t, (&Grammar{Rules: [][]Symbol{{{-2, 1}}, {{1, 1}}, {{-1, 1}}}}).Check())
}

func TestNumbered(t *testing.T) {
	for _, tc := range []struct {
		seq         []uint32
		next, after uint32
		ok          bool
	}{
		{nil, 3, 3, true},
		{[]uint32{0, 1, 0, 1, 2}, 0, 3, true},
		{[]uint32{0, 2, 0, 2, 1}, 0, 3, false},
		{[]uint32{1, 0, 1, 0}, 0, 2, false},
		{[]uint32{0, 5, 1, 5, 6, 5, 6}, 5, 7, true},
		{[]uint32{0, 6, 5}, 5, 7, false},
	} {
		b := NewBuilder()
		for _, t := range tc.seq {
			b.Append(t)
		}
		if after, ok := b.Grammar().IsNumberedFrom(tc.next); ok != tc.ok || ok && after != tc.after {
			t.Errorf("%v from %d: %d, %v", tc.seq, tc.next, after, ok)
		}
	}
}
