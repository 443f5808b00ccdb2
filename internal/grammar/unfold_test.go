package grammar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sequences have loops within loops, and the same parts in several places.
func sequences() *rapid.Generator[[]uint32] {
	return rapid.Custom(func(t *rapid.T) []uint32 {
		parts := [][]uint32{{0}, {1}, {2}}
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			var p []uint32
			for range rapid.IntRange(1, 3).Draw(t, "pieces") {
				q := rapid.SampledFrom(parts).Draw(t, "piece")
				for range rapid.IntRange(1, 4).Draw(t, "times") {
					if len(p)+len(q) < 2000 {
						p = append(p, q...)
					}
				}
			}
			parts = append(parts, p)
		}
		return parts[len(parts)-1]
	})
}

// Whatever the limit, a walk gives the sequence, within that many symbols; with
// room enough, each leaf is at one place: no instance has two uses.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq := sequences().Draw(t, "sequence")
		b := NewBuilder()
		for _, x := range seq {
			b.Append(x)
		}
		g := b.Grammar()
		limit := rapid.SampledFrom([]int{0, 1, 5, 50, 1 << 20}).Draw(t, "limit")
		tree := Unfold(g, limit)
		var got, leaves []uint32
		for v := range tree.Walk(g) {
			got, leaves = append(got, uint32(tree.OriginalTerminal[v.Leaf])), append(leaves, uint32(v.Leaf))
			if v.EntersLoop && v.RepeatsLoop {
				t.Fatal("a loop is entered and goes on at once")
			}
		}
		if !slices.Equal(got, seq) {
			t.Fatalf("%v, want %v", got, seq)
		}
		if all := slices.Collect(tree.Grammar.All()); !slices.Equal(all, leaves) {
			t.Fatalf("the grammar has %v, the walk %v", all, leaves)
		}
		if size(tree.Grammar) > 2*size(g)+limit {
			t.Fatalf("%d symbols of %d, limit %d", size(tree.Grammar), size(g), limit)
		}
		uses := make(map[int32]int)
		for _, body := range tree.Grammar.Rules {
			for _, s := range body {
				if uses[s.TerminalOrRule]++; limit == 1<<20 && uses[s.TerminalOrRule] > 1 {
					t.Fatal("two uses of one instance")
				}
			}
		}
	})
}

// To skip visits is to go through them.
func TestSkip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder()
		for _, x := range sequences().Draw(t, "sequence") {
			b.Append(x)
		}
		g := b.Grammar()
		tree := Unfold(g, rapid.SampledFrom([]int{0, 5, 1 << 20}).Draw(t, "limit"))
		all := slices.Collect(tree.Walk(g))
		c, at := tree.Cursor(g), 0
		for at <= len(all) {
			n := rapid.IntRange(0, 1+len(all)/3).Draw(t, "skipped")
			c.Skip(uint64(n))
			at += n
			v, ok := c.Next()
			if ok != (at < len(all)) || ok && v != all[at] {
				t.Fatalf("%v %t at %d of %v", v, ok, at, all)
			}
			at++
		}
	})
}

func size(g *Grammar) (n int) {
	for _, body := range g.Rules {
		n += len(body)
	}
	return n
}

// x (a a b)[3], twice: where loops are entered, and where they go on.
func TestVisits(t *testing.T) {
	g := &Grammar{Rules: [][]Symbol{
		{{TerminalOrRule: -1, Count: 2}},
		{{TerminalOrRule: 7, Count: 1}, {TerminalOrRule: -2, Count: 3}},
		{{TerminalOrRule: 8, Count: 2}, {TerminalOrRule: 9, Count: 1}},
	}}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	tree := Unfold(g, 10)
	text := ""
	for v := range tree.Walk(g) {
		text += string(rune('a' + tree.OriginalTerminal[v.Leaf] - 7))
		if v.EntersLoop {
			text += "+"
		}
		if v.RepeatsLoop {
			text += "*"
		}
	}
	// b's own run is the innermost loop that it begins.
	if want := "a+b+b*cb+b*cb+b*ca*b+b*cb+b*cb+b*c"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// Another rank ran the loop another number of times.
func TestOtherCounts(t *testing.T) {
	g := &Grammar{Rules: [][]Symbol{{{TerminalOrRule: -1, Count: 2}, {TerminalOrRule: 5, Count: 1}, {TerminalOrRule: -1, Count: 3}}, {{TerminalOrRule: 3, Count: 1}, {TerminalOrRule: 4, Count: 1}}}}
	o := g.Clone()
	o.Rules[0][2].Count = 1
	tree := Unfold(g, 10)
	var got []int
	for v := range tree.Walk(o) {
		got = append(got, v.Leaf)
	}
	if want := []int{1, 2, 1, 2, 0, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Arrivals say what a walk finds: how often it comes to each leaf from where, up to
// any position.
func TestArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq := sequences().Draw(t, "sequence")
		b := NewBuilder()
		for _, x := range seq {
			b.Append(x)
		}
		g := b.Grammar()
		tree := Unfold(g, rapid.SampledFrom([]int{0, 10, 1 << 20}).Draw(t, "limit"))
		type way struct {
			leaf, from int
			enters     bool
		}
		want := make(map[way]uint64)
		until := uint64(rapid.IntRange(0, len(seq)).Draw(t, "position"))
		all, from, at := make(map[way]uint64), BeforeFirst, uint64(0)
		for v := range tree.Walk(g) {
			w := way{v.Leaf, from, v.EntersLoop}
			from = int(tree.OriginalTerminal[v.Leaf])
			if all[w]++; at < until {
				want[w]++
			}
			at++
		}
		got, sum := make(map[way]uint64), make(map[way]uint64)
		known := make(map[int]bool)
		for leaf, list := range tree.Arrivals(g) {
			for i := range list {
				a := &list[i]
				known[leaf] = true
				got[way{leaf, a.PreviousTerminal, a.EntersLoop}] += a.CountBefore(until)
				sum[way{leaf, a.PreviousTerminal, a.EntersLoop}] += a.Count()
			}
		}
		for w, n := range all {
			if known[w.leaf] && (got[w] != want[w] || sum[w] != n) {
				t.Fatalf("%+v: %d of %d arrivals, want %d of %d", w, got[w], sum[w], want[w], n)
			}
		}
		for w, n := range sum {
			if n > 0 && all[w] == 0 {
				t.Fatalf("%+v: %d arrivals, want none", w, n)
			}
		}
	})
}
