package rsd

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A shape is the order of contexts in the program, as the ranks' first calls tell it, and its loops: a step back
// in that order begins another round. Loops lie within each other or apart.
type shape struct {
	order []int // contexts
	at    []int // by context: its place in the order
	loops []interval
	// inner is, by place, the innermost loop that has it, none if no loop does; outer is that of a loop.
	inner, outer []int
}

// An interval is the places from first to last.
type interval struct{ first, last int }

func (i interval) has(place int) bool { return i.first <= place && place <= i.last }

const none = -1

// A step is a context and the one behind it.
type step struct{ from, to int }

// A set of contexts.
type set []uint64

func (s set) has(c int) bool { return c/64 < len(s) && s[c/64]>>(c%64)&1 != 0 }

func (s set) with(o set) set {
	out := make(set, max(len(s), len(o)))
	copy(out, s)
	for i, w := range o {
		out[i] |= w
	}
	return out
}

func setOf(list []int) (s set) {
	for _, c := range list {
		for c/64 >= len(s) {
			s = append(s, 0)
		}
		s[c/64] |= 1 << (c % 64)
	}
	return s
}

// A survey is what a stream's structure says of the order of contexts.
type survey struct {
	of    func(terminal int) int
	steps map[step]bool
	first []int // contexts as they first come
	seen  map[int]bool
	rules map[int]step // by rule: its first and last context
}

// nodes goes through a sequence, or the body of a loop, and returns its first and last context.
func (s *survey) nodes(n trace.Node) step {
	out := step{none, none}
	for _, c := range n.Children() {
		x := s.node(c)
		if x.from == none {
			continue
		}
		if c.Count > 1 {
			s.steps[step{x.to, x.from}] = true
		}
		if out.to != none {
			s.steps[step{out.to, x.from}] = true
		} else {
			out.from = x.from
		}
		out.to = x.to
	}
	return out
}

func (s *survey) node(n trace.Node) step {
	if n.Count == 0 {
		return step{none, none}
	}
	if n.Rule < 0 {
		c := s.of(n.Terminal)
		if !s.seen[c] {
			s.seen[c] = true
			s.first = append(s.first, c)
		}
		return step{c, c}
	}
	return once.Of(s.rules, n.Rule, func() step { return s.nodes(n) })
}

// merge puts contexts that aren't in the order yet behind those that come before them.
func merge(order, first []int) []int {
	known := make(map[int]bool, len(order))
	for _, c := range order {
		known[c] = true
	}
	if !slices.ContainsFunc(first, func(c int) bool { return !known[c] }) {
		return order
	}
	at := 0
	for _, c := range first {
		if known[c] {
			at = slices.Index(order, c) + 1
			continue
		}
		order = slices.Insert(order, at, c)
		known[c] = true
		at++
	}
	return order
}

// shapeOf finds the loops. Each step comes with the contexts that ranks have which make it.
func shapeOf(order []int, contexts int, steps map[step]set) *shape {
	s := &shape{order: order, at: make([]int, contexts), inner: make([]int, len(order))}
	for place, c := range order {
		s.at[c] = place
	}
	list := make(map[interval]set)
	for x, has := range steps {
		if from, to := s.at[x.from], s.at[x.to]; to <= from {
			list[interval{to, from}] = list[interval{to, from}].with(has)
		}
	}
	s.loops = laminar(s.whole(list))
	for i := range s.inner {
		s.inner[i] = none
	}
	s.outer = make([]int, len(s.loops))
	for n, l := range s.loops { // the larger before the smaller
		s.outer[n] = s.inner[l.first]
		for place := l.first; place <= l.last; place++ {
			s.inner[place] = n
		}
	}
	return s
}

// whole leaves out what is a part of a loop: the whole of it for ranks that have nothing of the rest.
func (s *shape) whole(list map[interval]set) (out []interval) {
	for a, has := range list {
		part := false
		for b := range list {
			part = part || a != b && b.first <= a.first && a.last <= b.last &&
				!s.any(has, b.first, a.first) && !s.any(has, a.last+1, b.last+1)
		}
		if !part {
			out = append(out, a)
		}
	}
	return out
}

// any reports whether some context from a place to before another is in a set.
func (s *shape) any(has set, from, to int) bool {
	return slices.ContainsFunc(s.order[from:to], has.has)
}

// laminar makes one of intervals that overlap without being within each other. They come out from the left, the
// larger before those in it.
func laminar(list []interval) []interval {
	for {
		slices.SortFunc(list, func(a, b interval) int {
			if a.first != b.first {
				return a.first - b.first
			}
			return b.last - a.last
		})
		list = slices.Compact(list)
		var open []int
		crossed := false
		for i := range list {
			for len(open) > 0 && list[open[len(open)-1]].last < list[i].first {
				open = open[:len(open)-1]
			}
			if k := len(open); k > 0 && list[open[k-1]].last < list[i].last {
				list[open[k-1]].last = list[i].last
				crossed = true
			}
			open = append(open, i)
		}
		if !crossed {
			return list
		}
	}
}

// loop is the innermost loop that has both places.
func (s *shape) loop(a, b int) int {
	n := s.inner[a]
	for n != none && !s.loops[n].has(b) {
		n = s.outer[n]
	}
	return n
}
