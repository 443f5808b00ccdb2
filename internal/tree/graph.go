package tree

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A graph is the pairs of vertices whose calls are consecutive in a stream. Calls without a vertex are skipped.
type graph struct {
	of    []*vertex // by terminal: its vertex; nil: none
	ends  map[int]ends
	pairs map[[2]*vertex][2]int32 // by pair of vertices: the lowest pair of terminals that forms it
	last  [2]*vertex              // the pair of vertices added last, as the next pair is most often the same
	first [2]int32                // the pair of terminals in pairs for the pair last
}

// ends are the first and the last terminal with a vertex in a part of a stream; -1 without any.
type ends struct{ first, last int32 }

func newGraph(root trace.Node, of []*vertex) *graph {
	g := &graph{of: of, ends: make(map[int]ends), pairs: make(map[[2]*vertex][2]int32)}
	g.once(root)
	return g
}

// once adds the pairs in one iteration of a node, and returns the iteration's ends.
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

// next adds the pair of vertices of consecutive terminals a and b.
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

// sorted lists the pairs of vertices in the order of the terminals in pairs.
func (g *graph) sorted() [][2]*vertex {
	return slices.SortedFunc(maps.Keys(g.pairs), func(a, b [2]*vertex) int {
		x, y := g.pairs[a], g.pairs[b]
		return slices.Compare(x[:], y[:])
	})
}
