// AnalyseFlow finds the loops of a control-flow graph.
//
// Loops nest as in Havlak, "Nesting of Reducible and Irreducible Loops" (ACM TOPLAS 19(4), 1997), section 5: where
// every loop is entered at one block alone, its header, they are the natural loops of dominator-based analysis
// (back edges to a dominator, those with one header taken together). A loop that is entered elsewhere too is
// marked; its header is the block that depth-first search meets first.

package code

import "slices"

// NoIndex is the index of no block and no loop.
const NoIndex = -1

// A Loop is a loop of a function's control flow graph. Header and Latches are indices of blocks.
type Loop struct {
	Header       int
	Parent       int   // index of the loop around, or NoIndex
	NestingDepth int   // number of loops around it
	Latches      []int // blocks that jump back to the header, ascending
	Irreducible  bool  // it has entries other than Header
}

// A FlowGraph is a function's control flow graph with its loops.
type FlowGraph struct {
	// ReversePostorder numbers blocks in reverse postorder: within an iteration of a loop, what runs later has the higher number.
	// Unreachable blocks have NoIndex.
	ReversePostorder []int
	// InnermostLoop is the innermost loop of each block, or NoIndex.
	InnermostLoop []int
	// Loops lists loops by the ReversePostorder of their headers, so that enclosing loops come first.
	Loops []Loop
}

// AnalyseFlow analyses a graph of blocks; next lists the successors of each, and entry is the first block.
func AnalyseFlow(entry int, next [][]int) *FlowGraph {
	s := search(entry, next)
	s.nest()
	return s.graph(next)
}

// A searched is a graph with its reachable blocks numbered in preorder. Its fields use these numbers unless they
// say otherwise.
type searched struct {
	blocks int
	block  []int // by preorder number: index of the block
	number []int // by index of a block: its preorder number, or NoIndex
	last   []int // highest number among the descendants in the search tree
	post   []int // indices of the blocks in postorder
	pred   [][]int
	header []int  // header of the innermost enclosing loop, or NoIndex
	loop   []bool // the node is a header
	wild   []bool // the node is the header of an irreducible loop
}

func search(entry int, next [][]int) *searched {
	s := &searched{blocks: len(next), number: make([]int, len(next))}
	for i := range s.number {
		s.number[i] = NoIndex
	}
	if entry < 0 || entry >= len(next) {
		return s
	}
	type level struct{ block, edge int }
	visit := func(b int) level {
		s.number[b] = len(s.block)
		s.block = append(s.block, b)
		s.last = append(s.last, 0)
		return level{b, 0}
	}
	for stack := []level{visit(entry)}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.edge < len(next[top.block]) {
			to := next[top.block][top.edge]
			if top.edge++; s.number[to] == NoIndex {
				stack = append(stack, visit(to))
			}
			continue
		}
		s.last[s.number[top.block]] = len(s.block) - 1
		s.post = append(s.post, top.block)
		stack = stack[:len(stack)-1]
	}
	s.pred = make([][]int, len(s.block))
	for n, b := range s.block {
		for _, to := range next[b] {
			s.pred[s.number[to]] = append(s.pred[s.number[to]], n)
		}
	}
	return s
}

// above reports whether a is b or an ancestor of it in the search tree.
func (s *searched) above(a, b int) bool { return a <= b && b <= s.last[a] }

// nest determines headers from the innermost loops outwards. A loop, once found, counts as one node: into leads from
// its nodes to its header.
func (s *searched) nest() {
	n := len(s.block)
	s.header, s.loop, s.wild = make([]int, n), make([]bool, n), make([]bool, n)
	into := make([]int, n)
	forward := make([][]int, n)
	for v := range n {
		s.header[v], into[v] = NoIndex, v
		for _, p := range s.pred[v] {
			if !s.above(v, p) {
				forward[v] = append(forward[v], p)
			}
		}
	}
	find := func(v int) int {
		root := v
		for into[root] != root {
			root = into[root]
		}
		for into[v] != root {
			v, into[v] = into[v], root
		}
		return root
	}
	member := make([]int, n) // header of the last loop that a node was added to
	for v := range member {
		member[v] = NoIndex
	}
	for w := n - 1; w >= 0; w-- {
		var body []int
		put := func(v int) {
			if v != w && member[v] != w {
				member[v] = w
				body = append(body, v)
			}
		}
		for _, p := range s.pred[w] {
			if s.above(w, p) {
				s.loop[w] = true
				put(find(p))
			}
		}
		for i := 0; i < len(body); i++ {
			for _, p := range forward[body[i]] {
				if p = find(p); s.above(w, p) {
					put(p)
				} else {
					// An entry from outside: treat it as an edge into w.
					s.wild[w] = true
					if !slices.Contains(forward[w], p) {
						forward[w] = append(forward[w], p)
					}
				}
			}
		}
		for _, v := range body {
			s.header[v], into[v] = w, w
		}
	}
}

// graph makes the FlowGraph, in which blocks have their indices again instead of preorder numbers.
func (s *searched) graph(next [][]int) *FlowGraph {
	g := &FlowGraph{ReversePostorder: make([]int, s.blocks), InnermostLoop: make([]int, s.blocks)}
	for b := range g.ReversePostorder {
		g.ReversePostorder[b], g.InnermostLoop[b] = NoIndex, NoIndex
	}
	at := make([]int, len(s.block)) // by preorder number of a header: index of its loop
	for i := range s.post {
		b := s.post[len(s.post)-1-i]
		g.ReversePostorder[b] = i
		n := s.number[b]
		if !s.loop[n] {
			continue
		}
		at[n] = len(g.Loops)
		g.Loops = append(g.Loops, Loop{Header: b, Parent: NoIndex, Irreducible: s.wild[n]})
	}
	for n, b := range s.block {
		switch {
		case s.loop[n]:
			g.InnermostLoop[b] = at[n]
			if h := s.header[n]; h != NoIndex {
				g.Loops[at[n]].Parent = at[h]
			}
		case s.header[n] != NoIndex:
			g.InnermostLoop[b] = at[s.header[n]]
		}
		for _, to := range next[b] {
			if t := s.number[to]; s.above(t, n) {
				l := &g.Loops[at[t]]
				l.Latches = append(l.Latches, b)
			}
		}
	}
	for i := range g.Loops {
		l := &g.Loops[i]
		slices.Sort(l.Latches)
		l.Latches = slices.Compact(l.Latches)
		for p := l.Parent; p != NoIndex; p = g.Loops[p].Parent {
			l.NestingDepth++
		}
	}
	return g
}
