package hang

import (
	"cmp"
	"slices"
)

// Cycles returns a shortest cycle for each group of stuck ranks that wait for each other. Groups are in order of
// their lowest ranks. A cycle begins with its lowest rank; each rank waits for the next, and the last for the first.
func (g *Graph) Cycles() [][]int {
	var list [][]int
	for _, group := range g.components() {
		if c := g.shortest(group); c != nil {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return list
}

// holds reports whether a vertex of the graph is stuck: it is a rank that can't go on, or a condition that can't be
// met.
func (g *Graph) holds(v int) bool {
	if v < len(g.nodes) {
		return g.IsStuck(v)
	}
	return !g.met[v-len(g.nodes)]
}

// components returns the strongly connected components of the stuck vertices (Tarjan 1972). It doesn't recurse, as
// chains of waiting ranks may be very long.
func (g *Graph) components() [][]int {
	next := make([][]int, g.size())
	for v := range next {
		if g.holds(v) {
			g.successors(v, func(w int) {
				if g.holds(w) {
					next[v] = append(next[v], w)
				}
			})
		}
	}
	index, low := make([]int, g.size()), make([]int, g.size()) // of Tarjan's algorithm, by vertex; index 0: not visited
	on := make([]bool, g.size())
	var stack []int
	var list [][]int
	type level struct{ v, arc int }
	count := 0
	for start := range next {
		if !g.holds(start) || index[start] > 0 {
			continue
		}
		open := []level{{start, 0}}
		for len(open) > 0 {
			top := &open[len(open)-1]
			v := top.v
			if top.arc == 0 {
				count++
				index[v], low[v], on[v] = count, count, true
				stack = append(stack, v)
			}
			if top.arc < len(next[v]) {
				w := next[v][top.arc]
				top.arc++
				if index[w] == 0 {
					open = append(open, level{w, 0})
				} else if on[w] {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			open = open[:len(open)-1]
			if len(open) > 0 {
				u := open[len(open)-1].v
				low[u] = min(low[u], low[v])
			}
			if low[v] < index[v] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != v {
				at--
			}
			group := slices.Clone(stack[at:])
			stack = stack[:at]
			for _, w := range group {
				on[w] = false
			}
			list = append(list, group)
		}
	}
	return list
}

// Limits of the search for a shortest cycle in a component.
const (
	starts = 64      // largest number of ranks from which a cycle is searched
	steps  = 1 << 20 // about the largest number of vertices visited, so fewer ranks are tried in large components
)

// shortest returns the ranks of a shortest cycle in a component, beginning with the lowest; nil if there is no cycle.
func (g *Graph) shortest(group []int) []int {
	in := make(map[int]bool, len(group))
	var ranks []int
	for _, v := range group {
		in[v] = true
		if v < len(g.nodes) {
			ranks = append(ranks, v)
		}
	}
	slices.Sort(ranks)
	var best []int
	for _, from := range ranks[:min(len(ranks), starts, 1+steps/len(group))] {
		if c := g.around(from, in); c != nil && (best == nil || len(c) < len(best)) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	low := slices.Index(best, slices.Min(best))
	return append(slices.Clone(best[low:]), best[:low]...)
}

// around returns the ranks on a shortest path from a rank back to itself, through vertices of in; nil if there is no
// path. A rank that waits for any of several ranks, itself among them, counts as waiting only for the others.
func (g *Graph) around(from int, in map[int]bool) []int {
	came := make(map[int]int)
	owner := func(v int) int { // the rank that waits for condition v on the path that led to v; a rank itself
		for v >= len(g.nodes) {
			v = came[v]
		}
		return v
	}
	closes := make(map[int]bool) // conditions that from waits for, and that from or another rank can meet
	next := []int{from}
	for len(next) > 0 {
		v := next[0]
		next = next[1:]
		back := false
		g.successors(v, func(w int) {
			if w == from {
				if g.among(v) && owner(v) == from {
					closes[v] = true
				} else {
					back = true
				}
				return
			}
			back = back || closes[w] && owner(v) != from
			if _, seen := came[w]; in[w] && !seen {
				came[w] = v
				next = append(next, w)
			}
		})
		if !back {
			continue
		}
		var list []int
		for ; v != from; v = came[v] {
			if v < len(g.nodes) {
				list = append(list, v)
			}
		}
		list = append(list, from)
		slices.Reverse(list)
		return list
	}
	return nil
}

// among reports whether vertex v is a condition that any one of several ranks can meet.
func (g *Graph) among(v int) bool {
	return v >= len(g.nodes) && g.conditions[v-len(g.nodes)].AnySuffices && len(g.conditions[v-len(g.nodes)].Ranks) > 1
}
