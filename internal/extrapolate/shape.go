package extrapolate

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// A node of the shape is a place, or a loop around consecutive places and loops.
type node struct {
	place    int32 // index in program.places; -1: a loop
	lo, hi   int   // positions of its first and last place in the shape's order
	children []*node
	around   []*node // loops around it, outermost first; around[0] is the shape's root
	mask     uint    // bit d is set if what the node does depends on the iteration of around[d]
	cycle    cycle   // of a loop: how its iterations repeat
	number   int
}

// maxDepth is the deepest nesting of loops that is supported.
const maxDepth = 10

var errDeep = fmt.Errorf("more than %d loops in one another", maxDepth)

// A shape is the program's places in order, and the loops around them: it is the same for all ranks and numbers of
// ranks. A place occurs once in it. Loops are those of the machine code if that is known; else a step back in the order
// begins another iteration of the innermost loop that has both ends.
type shape struct {
	coded bool
	root  *node
	nodes []*node
	of    []*node // by place: its node
	size  int     // number of places so far
}

func newShape(places int) *shape {
	s := &shape{root: &node{place: -1}, of: make([]*node, places)}
	s.nodes = append(s.nodes, s.root)
	return s
}

// add makes node n the last child of node in.
func (s *shape) add(n, in *node) *node {
	in.children = append(in.children, n)
	n.around = append(slices.Clone(in.around), in)
	n.number = len(s.nodes)
	s.nodes = append(s.nodes, n)
	return n
}

// leaf makes the node of a place the last child of node in.
func (s *shape) leaf(p int32, in *node) {
	s.of[p] = s.add(&node{place: p, lo: s.size, hi: s.size}, in)
	s.size++
	s.root.hi = s.size - 1
}

// orderedShape finds the shape from the order of the ranks' calls.
func orderedShape(p *program, all []*grammar.Grammar) (*shape, error) {
	places := len(p.places)
	var courses []calltree.ObservedOrder
	for _, g := range all {
		c := calltree.ObservedOrder{Transitions: make(map[calltree.Transition]bool)}
		seen, last := make([]bool, places), -1
		for n := range short(g).All() {
			at := int(p.calls[n].place)
			if !seen[at] {
				seen[at] = true
				c.Items = append(c.Items, at)
			}
			if last >= 0 {
				c.Transitions[calltree.Transition{From: last, To: at}] = true
			}
			last = at
		}
		courses = append(courses, c)
	}
	order := calltree.FindLoopOrder(places, courses)
	loops := order.Loops
	s := newShape(places)
	open := []*node{s.root}
	for at, p := range order.Items {
		for len(open) > 1 && open[len(open)-1].hi < at {
			open = open[:len(open)-1]
		}
		for len(loops) > 0 && loops[0].First == at {
			n := s.add(&node{place: -1, lo: at, hi: loops[0].Last}, open[len(open)-1])
			loops = loops[1:]
			if len(n.around) > maxDepth {
				return nil, errDeep
			}
			open = append(open, n)
		}
		s.leaf(int32(p), open[len(open)-1])
	}
	return s, nil
}

// short returns the grammar with at most two repetitions of each symbol: the order of calls stays the same.
func short(g *grammar.Grammar) *grammar.Grammar {
	g = g.Clone()
	for _, body := range g.Rules {
		for i := range body {
			body[i].Count = min(body[i].Count, 2)
		}
	}
	return g
}

// A parse assigns a rank's calls to the shape.
type parse struct {
	s     *shape
	calls []call
	rules [][]grammar.Symbol
	// row gets an observation of a node in one iteration of the loops around it: index is their iterations from the
	// root on, whose only iteration is 0. what is a loop's trip count, or a place's values, -1 if it was not reached.
	// It reports whether masks changed.
	row     func(n *node, index [maxDepth + 1]int32, what int32) bool
	changed bool // a node's mask changed since the innermost repetition began
	depends uint // bit set of loops, by depth: those on which observations in the innermost repetition depend
	open    []*node
	at      [maxDepth + 1]int32
	last    int // position of the previous call's place in the shape; -1: none
	seen    []bool
}

// errOrder means that calls do not follow the loops of the machine code.
var errOrder = errors.New("calls are not in the order of the machine code")

func (s *shape) parse(calls []call, g *grammar.Grammar, row func(n *node, index [maxDepth + 1]int32, what int32) bool) error {
	p := &parse{s: s, calls: calls, rules: g.Rules, row: row, last: -1, seen: make([]bool, len(s.nodes))}
	p.enter(s.root)
	if len(g.Rules) > 0 {
		if err := p.body(g.Rules[0]); err != nil {
			return err
		}
	}
	for len(p.open) > 0 {
		p.leave()
	}
	return nil
}

// body processes the calls of a rule. It skips repetitions that add nothing: they begin in the same state as the
// previous one, except for the iteration of a loop on which nothing in them depends.
func (p *parse) body(list []grammar.Symbol) (err error) {
	for _, x := range list {
		changed, depends := p.changed, p.depends
		for left := x.Count; left > 0; left-- {
			p.changed, p.depends = false, 0
			var before parse
			if x.Count > 2 {
				before = *p
				before.open, before.seen = slices.Clone(p.open), slices.Clone(p.seen)
			}
			if x.TerminalOrRule < 0 {
				err = p.body(p.rules[-x.TerminalOrRule])
			} else {
				err = p.call(&p.calls[x.TerminalOrRule])
			}
			if err != nil {
				return err
			}
			changed, depends = changed || p.changed, depends|p.depends
			l := 0 // depth of the outermost loop that began another iteration
			for l < maxDepth && p.at[l] == before.at[l] {
				l++
			}
			step := p.at[l] - before.at[l]
			if p.depends>>l&1 != 0 && !p.repeats(l, before.at[l], step) {
				continue
			}
			before.at[l] += step
			if x.Count > 2 && !p.changed && p.at == before.at && p.last == before.last &&
				slices.Equal(p.open, before.open) && slices.Equal(p.seen, before.seen) {
				p.at[l] += step * int32(left-1)
				break
			}
		}
		p.changed, p.depends = changed, depends
	}
	return nil
}

// repeats reports whether the loop at a depth has a cycle by which the iterations from "from" on, step of them,
// represent all later ones.
func (p *parse) repeats(depth int, from, step int32) bool {
	if depth >= len(p.open) {
		return false
	}
	c := p.open[depth].cycle
	return c.every > 0 && from >= c.first && step%c.every == 0
}

func (p *parse) call(c *call) error {
	s := p.s
	n := s.of[c.place]
	again := n.lo <= p.last
	if s.coded {
		for len(p.open) > int(c.kept)+1 {
			p.leave()
		}
		if again && !c.round || len(p.open) > len(n.around) || p.top() != n.around[len(p.open)-1] {
			return errOrder
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
	p.report(n, c.values)
	p.last = n.lo
	return nil
}

func (p *parse) top() *node { return p.open[len(p.open)-1] }

func (p *parse) report(n *node, what int32) {
	p.changed = p.row(n, n.keyed(p.at), what) || p.changed
	p.depends |= n.mask
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

// over ends an iteration of the innermost open loop: it reports its children that were not reached.
func (p *parse) over() {
	for _, c := range p.top().children {
		if !p.seen[c.number] {
			if c.place < 0 {
				p.report(c, 0)
			} else {
				p.report(c, -1)
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
		p.report(l, n)
	}
}

// reduced returns an index with 0 for the loops that are not in the mask.
func reduced(index [maxDepth + 1]int32, mask uint) [maxDepth + 1]int32 {
	for i := range index {
		if mask>>i&1 == 0 {
			index[i] = 0
		}
	}
	return index
}

// depends extends the nodes' masks by a rank's observations, until an observation follows from the masked index.
func (s *shape) depends(calls []call, g *grammar.Grammar) error {
	masks := make([][]uint, len(s.nodes)) // by node: the masks that are left to try, smallest first
	known := make([]map[[maxDepth + 1]int32]int32, len(s.nodes))
	for _, n := range s.nodes[1:] {
		masks[n.number] = larger(n.mask, len(n.around))
	}
	for again := true; again; {
		again = false
		for i := range known {
			known[i] = make(map[[maxDepth + 1]int32]int32)
		}
		if err := s.parse(calls, g, func(n *node, index [maxDepth + 1]int32, what int32) (changed bool) {
			list := &masks[n.number]
			for {
				key := reduced(index, n.mask)
				if is, ok := known[n.number][key]; !ok || is == what || len(*list) == 1 {
					known[n.number][key] = what
					return changed
				}
				*list = (*list)[1:]
				n.mask, again, changed = (*list)[0], true, true
				clear(known[n.number])
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// larger lists a mask and its supersets, the smallest first; among equal sizes, masks of inner loops first.
func larger(mask uint, depth int) (list []uint) {
	for m := uint(0); m < 1<<depth; m++ {
		if m&mask == mask && m&1 == 0 { // bit 0 is the root's, whose iteration is always 0
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b uint) int {
		return cmp.Or(cmp.Compare(bits.OnesCount(a), bits.OnesCount(b)), cmp.Compare(b, a))
	})
	return list
}

// shapeOf finds the shape of all ranks' calls, from the machine code or from their order, and the nodes' masks.
func shapeOf(p *program, ranks []*grammar.Grammar, coded bool) (s *shape, err error) {
	if coded {
		s, err = p.outline.shape(len(p.places))
	} else {
		s, err = orderedShape(p, ranks)
	}
	for i := 0; i < len(ranks) && err == nil; i++ {
		err = s.depends(p.calls, ranks[i])
	}
	if err == nil {
		err = s.cycles(p.calls, ranks)
	}
	return s, err
}
