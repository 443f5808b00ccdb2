package extrapolate

import (
	"errors"
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

var errDeep = fmt.Errorf("more than %d loops in one another", maxDepth)

// A shape is the program's places in order, and the loops around them: it is the same for all ranks and numbers of ranks. A place
// stands once in it. Loops are those of the machine code if that is known; else a step back in the order begins another iteration of the
// innermost loop that has both ends.
type shape struct {
	coded bool
	root  *node
	nodes []*node
	of    []*node // by place
	size  int     // places so far
}

func newShape(places int) *shape {
	s := &shape{root: &node{place: -1}, of: make([]*node, places)}
	s.nodes = append(s.nodes, s.root)
	return s
}

// add adds a node within another.
func (s *shape) add(n, in *node) *node {
	in.children = append(in.children, n)
	n.around = append(slices.Clone(in.around), in)
	n.number = len(s.nodes)
	s.nodes = append(s.nodes, n)
	return n
}

// leaf adds a place.
func (s *shape) leaf(p int32, in *node) {
	s.of[p] = s.add(&node{place: p, lo: s.size, hi: s.size}, in)
	s.size++
	s.root.hi = s.size - 1
}

// orderedShape finds the shape that the order of the ranks' calls shows.
func orderedShape(places int, ranks [][]call) (*shape, error) {
	order := orderOf(places, ranks)
	loops := loopsOf(order, ranks)
	sort.Slice(loops, func(i, j int) bool {
		return loops[i].lo < loops[j].lo || loops[i].lo == loops[j].lo && loops[i].hi > loops[j].hi
	})
	s := newShape(places)
	open := []*node{s.root}
	for at, p := range order {
		for len(open) > 1 && open[len(open)-1].hi < at {
			open = open[:len(open)-1]
		}
		for len(loops) > 0 && loops[0].lo == at {
			n := s.add(&node{place: -1, lo: at, hi: loops[0].hi}, open[len(open)-1])
			loops = loops[1:]
			if len(n.around) > maxDepth {
				return nil, errDeep
			}
			open = append(open, n)
		}
		s.leaf(p, open[len(open)-1])
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
func loopsOf(order []int32, ranks [][]call) []*span {
	position := make([]int, len(order)) // of places
	for i, p := range order {
		position[p] = i
	}
	byEnds := make(map[[2]int]*span)
	for _, calls := range ranks {
		seen := make([]bool, len(order))
		mine := make(map[[2]int]bool)
		last := -1
		for _, c := range calls {
			at := position[c.place]
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

// errOrder says that calls do not follow the loops of the machine code.
var errOrder = errors.New("calls are not in the order of the machine code")

func (s *shape) parse(calls []call) (*parse, error) {
	p := &parse{s: s, rows: make([][]row, len(s.nodes)), seen: make([]bool, len(s.nodes))}
	p.enter(s.root)
	last := -1
	for _, c := range calls {
		n := s.of[c.place]
		again := n.lo <= last
		if s.coded {
			for len(p.open) > int(c.kept)+1 {
				p.leave()
			}
			if again && !c.round || len(p.open) > len(n.around) || p.top() != n.around[len(p.open)-1] {
				return nil, errOrder
			}
			again = c.round
		}
		if again {
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
	return p, nil
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

// shapeOf finds the shape of all ranks' calls, by the machine code or else by their order, and what its nodes depend on.
func shapeOf(p *program, ranks [][]call, coded bool) (s *shape, err error) {
	if coded {
		s, err = p.outline.shape(len(p.places))
	} else {
		s, err = orderedShape(len(p.places), ranks)
	}
	for i := 0; i < len(ranks) && err == nil; i++ {
		var x *parse
		if x, err = s.parse(ranks[i]); err == nil {
			x.depends()
		}
	}
	return s, err
}
