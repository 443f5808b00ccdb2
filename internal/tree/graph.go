package tree

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A graph is the pairs of vertices that are consecutive in a stream. It skips calls without a vertex.
type graph struct {
	of    []*vertex // by terminal
	ends  map[int]ends
	pairs map[[2]*vertex][2]int32 // by pair: the first two terminals that form it
	last  [2]*vertex              // the last pair, as the next one is most often the same
	first [2]int32                // the terminals with which last occurred first
}

// ends are the first and last terminal of a sequence, -1 if it has none.
type ends struct{ first, last int32 }

func newGraph(root trace.Node, of []*vertex) *graph {
	g := &graph{of: of, ends: make(map[int]ends), pairs: make(map[[2]*vertex][2]int32)}
	g.once(root)
	return g
}

// once adds one iteration of a node and returns its ends.
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

// next adds a pair of consecutive terminals.
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
