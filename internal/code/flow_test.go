package code

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFlowLoops(t *testing.T) {
	for _, c := range []struct {
		name string
		next [][]int
		want []Loop
	}{
		{"none", [][]int{{1, 2}, {3}, {3}, nil}, nil},
		{"itself", [][]int{{1}, {1, 2}, nil}, []Loop{{Header: 1, Parent: NoIndex, Latches: []int{1}}}},
		{"nested", [][]int{{1}, {2, 5}, {3}, {2, 4}, {1}, nil}, []Loop{
			{Header: 1, Parent: NoIndex, Latches: []int{4}}, {Header: 2, Parent: 0, NestingDepth: 1, Latches: []int{3}}}},
		{"two ways back", [][]int{{1}, {2, 3}, {1}, {1, 4}, nil}, []Loop{{Header: 1, Parent: NoIndex, Latches: []int{2, 3}}}},
		{"two ways in", [][]int{{1, 2}, {2}, {1, 3}, nil}, []Loop{{Header: 1, Parent: NoIndex, Latches: []int{2}, Irreducible: true}}},
		{"the entry", [][]int{{1}, {0, 2}, nil}, []Loop{{Header: 0, Parent: NoIndex, Latches: []int{1}}}},
		{"not reached", [][]int{{1}, nil, {3}, {2}}, nil},
	} {
		if diff := cmp.Diff(c.want, AnalyseFlow(0, c.next).Loops); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestNoEntry(t *testing.T) {
	if g := AnalyseFlow(0, nil); len(g.Loops) != 0 || len(g.ReversePostorder) != 0 {
		t.Errorf("%+v", g)
	}
	if g := AnalyseFlow(NoIndex, [][]int{{0}}); g.ReversePostorder[0] != NoIndex || g.InnermostLoop[0] != NoIndex {
		t.Errorf("%+v", g)
	}
}

// reached returns the blocks that a search from entry gets to without passing through avoid.
func reached(entry, avoid int, next [][]int) []bool {
	seen := make([]bool, len(next))
	work := []int{entry}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == avoid || seen[b] {
			continue
		}
		seen[b] = true
		work = append(work, next[b]...)
	}
	return seen
}

func graphs(t *rapid.T) [][]int {
	n := rapid.IntRange(1, 14).Draw(t, "blocks")
	next := make([][]int, n)
	for b := range next {
		next[b] = rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 3), rapid.ID[int]).Draw(t, "next")
	}
	return next
}

// TestNatural compares with the textbook's definition: an edge to a block without which its source isn't reached
// makes a loop of all that leads to the source without passing the header.
func TestNatural(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		next := graphs(t)
		n := len(next)
		g := AnalyseFlow(0, next)
		all := reached(0, NoIndex, next)
		back := make([][]int, n)
		for b := range next {
			for _, to := range next[b] {
				if all[b] {
					back[to] = append(back[to], b)
				}
			}
		}
		inside := func(i, b int) bool {
			for l := g.InnermostLoop[b]; l != NoIndex; l = g.Loops[l].Parent {
				if l == i {
					return true
				}
			}
			return false
		}
		for b := range n {
			if all[b] != (g.ReversePostorder[b] != NoIndex) {
				t.Fatalf("block %d: order %d", b, g.ReversePostorder[b])
			}
		}
		for h := range n {
			if !all[h] {
				continue
			}
			without := reached(0, h, next)
			var latches []int
			for _, p := range back[h] {
				if !without[p] {
					latches = append(latches, p)
				}
			}
			i := slices.IndexFunc(g.Loops, func(l Loop) bool { return l.Header == h })
			if len(latches) == 0 {
				if i >= 0 && !g.Loops[i].Irreducible {
					t.Fatalf("block %d is no header", h)
				}
				continue
			}
			if i < 0 {
				t.Fatalf("block %d is a header", h)
			}
			if g.Loops[i].Irreducible {
				continue // entered elsewhere through a loop that is larger than the natural one
			}
			body := make([]bool, n)
			for _, l := range latches {
				for b, in := range reached(l, h, back) {
					body[b] = body[b] || in
				}
			}
			body[h] = true
			for b := range n {
				if body[b] != inside(i, b) {
					t.Fatalf("block %d, loop %d: %v", b, h, body[b])
				}
			}
		}
		for b := range n {
			for _, to := range next[b] {
				if all[b] && g.ReversePostorder[to] <= g.ReversePostorder[b] && (g.InnermostLoop[to] == NoIndex || !inside(g.InnermostLoop[to], b)) {
					t.Fatalf("edge %d to %d goes back outside a loop", b, to)
				}
			}
		}
	})
}
