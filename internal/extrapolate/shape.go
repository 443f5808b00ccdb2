package extrapolate

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// A node of the shape is a place, or a loop around places and loops that follow one another.
type node struct {
	place    int32 // -1: a loop
	lo, hi   int   // positions, in the order of places, of its first and last one
	children []*node
	around   []*node // loops, outermost first
	mask     uint    // which of these loops' numbers of iterations what happens here depends on
	number   int
}

// maxDepth is how many loops may be in one another.
const maxDepth = 10

// A shape is the program's places in order, and the loops around them: it is the same for all ranks and numbers of ranks. A place
// stands once in it; a step back in the order begins another iteration of the innermost loop that has both ends.
type shape struct {
	position []int // of places
	root     *node
	nodes    []*node
	of       []*node // by place
}

// shapeOf finds the shape of the ranks' calls.
func shapeOf(places int, ranks [][]call) (*shape, error) {
	s := &shape{position: make([]int, places)}
	order := orderOf(places, ranks)
	for i, p := range order {
		s.position[p] = i
	}
	loops := s.loops(ranks)
	sort.Slice(loops, func(i, j int) bool {
		return loops[i].lo < loops[j].lo || loops[i].lo == loops[j].lo && loops[i].hi > loops[j].hi
	})
	s.root = &node{place: -1, lo: 0, hi: len(order) - 1}
	s.of = make([]*node, places)
	s.nodes = append(s.nodes, s.root)
	open := []*node{s.root}
	add := func(n *node) {
		for open[len(open)-1].hi < n.hi {
			open = open[:len(open)-1]
		}
		in := open[len(open)-1]
		in.children = append(in.children, n)
		n.around = append(slices.Clone(in.around), in)
		n.number = len(s.nodes)
		s.nodes = append(s.nodes, n)
	}
	for at, p := range order {
		for len(loops) > 0 && loops[0].lo == at {
			n := &node{place: -1, lo: loops[0].lo, hi: loops[0].hi}
			loops = loops[1:]
			for open[len(open)-1].hi < at {
				open = open[:len(open)-1]
			}
			add(n)
			if len(n.around) > maxDepth {
				return nil, fmt.Errorf("more than %d loops in one another", maxDepth)
			}
			open = append(open, n)
		}
		n := &node{place: p, lo: at, hi: at}
		add(n)
		s.of[p] = n
	}
	return s, nil
}

// orderOf merges the orders in which ranks come to places first, from the rank with most places on.
func orderOf(places int, ranks [][]call) []int32 {
	var firsts [][]int32
	known := make(map[string]bool)
	for _, calls := range ranks {
		seen := make([]bool, places)
		var list []int32
		for _, c := range calls {
			if !seen[c.place] {
				seen[c.place] = true
				list = append(list, c.place)
			}
		}
		if key := fmt.Sprint(list); !known[key] {
			known[key] = true
			firsts = append(firsts, list)
		}
	}
	sort.SliceStable(firsts, func(i, j int) bool { return len(firsts[i]) > len(firsts[j]) })
	var order []int32
	for _, list := range firsts {
		at := 0 // where the next new place goes
		for _, p := range list {
			if i := slices.Index(order, p); i >= 0 {
				at = max(at, i+1)
				continue
			}
			order = slices.Insert(order, at, p)
			at++
		}
	}
	return order
}

// A span is a loop on the way: from its first place to its last, with the sets of places of the ranks that showed it.
type span struct {
	lo, hi int
	seen   [][]bool
}

// loops finds the loops that the steps back show. Loops that overlap are one. One within another is one of its own if some rank that steps back
// in it has places of the outer one outside of it; else that rank just lacks these places.
func (s *shape) loops(ranks [][]call) []*span {
	byEnds := make(map[[2]int]*span)
	for _, calls := range ranks {
		seen := make([]bool, len(s.position))
		mine := make(map[[2]int]bool)
		last := -1
		for _, c := range calls {
			at := s.position[c.place]
			seen[at] = true
			if at <= last {
				mine[[2]int{at, last}] = true
			}
			last = at
		}
		for ends := range mine {
			if byEnds[ends] == nil {
				byEnds[ends] = &span{lo: ends[0], hi: ends[1]}
			}
			x := byEnds[ends]
			if !slices.ContainsFunc(x.seen, func(o []bool) bool { return slices.Equal(o, seen) }) {
				x.seen = append(x.seen, seen)
			}
		}
	}
	var list []*span
	for _, x := range byEnds {
		list = append(list, x)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].hi-list[i].lo < list[j].hi-list[j].lo || list[i].hi-list[i].lo == list[j].hi-list[j].lo && list[i].lo < list[j].lo
	})
	for again := true; again; {
		again = false
		for i := 0; i < len(list) && !again; i++ {
			for j := i + 1; j < len(list) && !again; j++ {
				a, b := list[i], list[j]
				if a.hi < b.lo || b.hi < a.lo {
					continue
				}
				if a.hi-a.lo > b.hi-b.lo {
					a, b = b, a
				}
				if b.lo <= a.lo && a.hi <= b.hi && (a.lo != b.lo || a.hi != b.hi) && a.own(b) {
					continue
				}
				b.lo, b.hi = min(a.lo, b.lo), max(a.hi, b.hi)
				b.seen = append(b.seen, a.seen...)
				if a == list[i] {
					list = slices.Delete(list, i, i+1)
				} else {
					list = slices.Delete(list, j, j+1)
				}
				again = true
			}
		}
	}
	return list
}

// own reports whether a loop within another is one of its own.
func (x *span) own(outer *span) bool {
	for _, seen := range x.seen {
		for at := outer.lo; at <= outer.hi; at++ {
			if (at < x.lo || at > x.hi) && seen[at] {
				return true
			}
		}
	}
	return false
}

// A row is what happened at one node in one iteration of the loops around it.
type row struct {
	index [maxDepth + 1]int32 // of the loops around, from the root on, whose only iteration is 0
	what  int32               // iterations of a loop; of a place: values, -1 if it was not reached
}

// A parse is how a rank went through the shape.
type parse struct {
	s    *shape
	rows [][]row // by node
	open []*node
	at   [maxDepth + 1]int32
	seen []bool
}

func (s *shape) parse(calls []call) *parse {
	p := &parse{s: s, rows: make([][]row, len(s.nodes)), seen: make([]bool, len(s.nodes))}
	p.enter(s.root)
	last := -1
	for _, c := range calls {
		n := s.of[c.place]
		if n.lo <= last {
			for p.top().lo > n.lo {
				p.leave()
			}
			p.next()
		}
		for p.top().hi < n.lo {
			p.leave()
		}
		for _, l := range n.around[len(p.open):] {
			p.enter(l)
		}
		p.row(n, c.values)
		last = n.lo
	}
	for len(p.open) > 0 {
		p.leave()
	}
	return p
}

func (p *parse) top() *node { return p.open[len(p.open)-1] }

func (p *parse) row(n *node, what int32) {
	p.rows[n.number] = append(p.rows[n.number], row{p.at, what})
	p.seen[n.number] = true
}

func (p *parse) enter(l *node) {
	p.open = append(p.open, l)
	p.at[len(p.open)-1] = 0
	p.begin(l)
}

func (p *parse) begin(l *node) {
	for _, c := range l.children {
		p.seen[c.number] = false
	}
}

// over ends an iteration.
func (p *parse) over() {
	for _, c := range p.top().children {
		if !p.seen[c.number] {
			if c.place < 0 {
				p.row(c, 0)
			} else {
				p.row(c, -1)
			}
		}
	}
}

func (p *parse) next() {
	p.over()
	p.at[len(p.open)-1]++
	p.begin(p.top())
}

func (p *parse) leave() {
	p.over()
	l, n := p.top(), p.at[len(p.open)-1]+1
	p.at[len(p.open)-1] = 0
	p.open = p.open[:len(p.open)-1]
	if len(p.open) > 0 {
		p.row(l, n)
	}
}

// reduced is a row's index with what a mask lets through.
func reduced(index [maxDepth + 1]int32, mask uint) [maxDepth + 1]int32 {
	for i := range index {
		if mask>>i&1 == 0 {
			index[i] = 0
		}
	}
	return index
}

// depends adds to the nodes' masks what this rank shows that they depend on.
func (p *parse) depends() {
	for _, n := range p.s.nodes[1:] {
		n.mask = smallest(n.mask, len(n.around), p.rows[n.number])
	}
}

// smallest returns the smallest mask that has all of another, and under which what happens follows from the index; of equal size the one
// of inner loops.
func smallest(mask uint, depth int, rows []row) uint {
	all := uint(1)<<depth - 1
	list := []uint{}
	for m := uint(0); m <= all; m++ {
		if m&mask == mask && m&1 == 0 { // the root's index is always 0
			list = append(list, m)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := bits.OnesCount(list[i]), bits.OnesCount(list[j])
		return a < b || a == b && list[i] > list[j]
	})
	known := make(map[[maxDepth + 1]int32]int32)
	for _, m := range list {
		clear(known)
		if !slices.ContainsFunc(rows, func(r row) bool {
			key := reduced(r.index, m)
			what, ok := known[key]
			known[key] = r.what
			return ok && what != r.what
		}) {
			return m
		}
	}
	return all &^ 1
}
