package tree

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A graph is a stream's structure with what is next to each other in it. Calls stand for the numbers that they are given; those
// with -1 are passed over.
type graph struct {
	of    func(terminal int) int32
	ends  map[int]ends
	pairs map[[2]int32]bool
}

// ends are the first and last of a sequence, -1 if it has none.
type ends struct{ first, last int32 }

func newGraph(root trace.Node, of func(terminal int) int32) *graph {
	g := &graph{of: of, ends: make(map[int]ends), pairs: make(map[[2]int32]bool)}
	g.once(root)
	return g
}

// once goes through one round of a node and returns its ends.
func (g *graph) once(n trace.Node) ends {
	if n.Rule < 0 && n.Terminal >= 0 {
		v := g.of(n.Terminal)
		return ends{v, v}
	}
	if e, known := g.ends[n.Copy]; known {
		return e
	}
	e := ends{-1, -1}
	for _, c := range n.Children() {
		x := g.once(c)
		if x.first < 0 {
			continue
		}
		if e.last >= 0 {
			g.pairs[[2]int32{e.last, x.first}] = true
		} else {
			e.first = x.first
		}
		if c.Count > 1 {
			g.pairs[[2]int32{x.last, x.first}] = true
		}
		e.last = x.last
	}
	g.ends[n.Copy] = e
	return e
}

// sorted lists the pairs in order.
func (g *graph) sorted() [][2]int32 {
	return slices.SortedFunc(maps.Keys(g.pairs), func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
}
