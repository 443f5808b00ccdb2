package tree

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A graph is a stream's structure with which vertices are next to each other in it. Calls without a vertex are passed over.
type graph struct {
	of    []*vertex // by terminal
	ends  map[int]ends
	pairs map[[2]*vertex][2]int32 // the first terminals that are such a pair
	last  [2]*vertex              // pair that was noted, which most often comes again
	first [2]int32                // terminals of it
}

// ends are the first and last terminal of a sequence, -1 if it has none.
type ends struct{ first, last int32 }

func newGraph(root trace.Node, of []*vertex) *graph {
	g := &graph{of: of, ends: make(map[int]ends), pairs: make(map[[2]*vertex][2]int32)}
	g.once(root)
	return g
}

// once goes through one round of a node and returns its ends.
func (g *graph) once(n trace.Node) ends {
	if n.Rule < 0 && n.Terminal >= 0 {
		if g.of[n.Terminal] == nil {
			return ends{-1, -1}
		}
		return ends{int32(n.Terminal), int32(n.Terminal)}
	}
	if e, known := g.ends[n.RuleCopy]; known {
		return e
	}
	e := ends{-1, -1}
	for _, c := range n.Children() {
		x := g.once(c)
		if x.first < 0 {
			continue
		}
		if e.last >= 0 {
			g.next(e.last, x.first)
		} else {
			e.first = x.first
		}
		if c.Count > 1 {
			g.next(x.last, x.first)
		}
		e.last = x.last
	}
	g.ends[n.RuleCopy] = e
	return e
}

// next notes that one terminal follows another.
func (g *graph) next(a, b int32) {
	key, pair := [2]*vertex{g.of[a], g.of[b]}, [2]int32{a, b}
	if key == g.last && slices.Compare(pair[:], g.first[:]) >= 0 {
		return
	}
	old, known := g.pairs[key]
	if !known || slices.Compare(pair[:], old[:]) < 0 {
		old = pair
		g.pairs[key] = pair
	}
	g.last, g.first = key, old
}

// sorted lists the pairs in the order of their terminals.
func (g *graph) sorted() [][2]*vertex {
	return slices.SortedFunc(maps.Keys(g.pairs), func(a, b [2]*vertex) int {
		x, y := g.pairs[a], g.pairs[b]
		return slices.Compare(x[:], y[:])
	})
}
