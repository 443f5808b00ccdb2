package proxy

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/trace"
)

// A ruleFunction is a C function made from a rule of a grammar. Equal rules share it.
type ruleFunction struct {
	first  []string // statements before the first step
	steps  []step
	at     []int // by symbol of the rule: the index of its step
	loops  []loop
	copies []*copied
	named  *named // nil: it represents no function or loop of the traced program
}

// A loop is consecutive steps of a function that are repeated; counts change by a constant step: a progression.
type loop struct {
	first, width int
	rounds       string
}

// A step is a line, or a call of another function, with a repetition count.
type step struct {
	line  *line
	part  int
	count string // repetition count in C, "" for once; in a loop it may contain the variable round

	// Statements about memory: at the beginning and end of each repetition, between two repetitions, and after the
	// last.
	head, tail []string
	between    events
	after      []string
}

// variant makes the functions of a variant.
func (g *generator) variant(v *variant) error {
	if err := v.findNested(); err != nil {
		return err
	}
	g.threads(v)
	if err := g.shape(v); err != nil {
		return err
	}
	if err := g.allocations(v); err != nil {
		return err
	}
	if err := g.lanes(v); err != nil {
		return err
	}
	lines := make([]*line, len(v.calls), len(v.calls)+len(v.finishes))
	for t := range lines {
		lines[t] = g.line(v, t)
	}
	for n := range v.finishes {
		lines = append(lines, g.finishLine(v, &v.finishes[n]))
	}
	v.lanes = g.function("lanes", strings.Join(v.tables, ""))
	for stream := range v.ranks[0].Streams() {
		roots := make([]trace.Node, len(v.ranks))
		for i, k := range v.ranks {
			roots[i] = v.structure(k, stream)
		}
		number := make(map[int]int)
		n, err := g.rule(v, lines, stream, roots, number)
		if err != nil {
			return err
		}
		p, err := g.places(v, stream)
		if err != nil {
			return err
		}
		v.placed = append(v.placed, p)
		x := copies{g: g, v: v, stream: stream, number: number, done: make(map[int]int), leaf: make(map[int]int)}
		v.roots = append(v.roots, [2]int{n, x.instance(p.leaves.Structure(), -1)})
	}
	v.memory = g.setup(v)
	return nil
}

// children lists the symbols of a rule on each member; nodes is the rule on each member.
func (v *variant) children(nodes []trace.Node) ([][]trace.Node, error) {
	list := make([][]trace.Node, len(nodes))
	for i := range nodes {
		if list[i] = nodes[i].Children(); len(list[i]) != len(list[0]) {
			return nil, fmt.Errorf("ranks %d and %d of a class have different structures", v.members[0], v.members[i])
		}
	}
	return list, nil
}

// nth returns the k-th child on each member.
func nth(children [][]trace.Node, k int) []trace.Node {
	list := make([]trace.Node, len(children))
	for i := range children {
		list[i] = children[i][k]
	}
	return list
}

// rule makes the function of a rule, and returns its index. nodes is the rule's node on each member: members differ
// only in counts.
func (g *generator) rule(v *variant, lines []*line, stream int, nodes []trace.Node, done map[int]int) (int, error) {
	id := nodes[0].Rule
	if n, ok := done[id]; ok && id >= 0 {
		return n, nil
	}
	children, err := v.children(nodes)
	if err != nil {
		return 0, err
	}
	p := &ruleFunction{named: g.name(v, stream, id), first: v.allocs.at[boundary{stream, id, -1, false}].all()}
	before := &p.first
	f := folder{g: g, v: v, part: p, counts: make([][]grammar.Symbol, len(nodes)), known: make(map[string]int32)}
	steps := make([]step, len(children[0]))
	for k := range steps {
		c, s := children[0][k], &steps[k]
		*s = step{part: -1, between: v.allocs.at[boundary{stream, id, k, true}], after: v.allocs.at[boundary{stream, id, k, false}].all()}
		s.arrange(before)
		if c.Rule >= 0 {
			n, err := g.rule(v, lines, stream, nth(children, k), done)
			if err != nil {
				return 0, err
			}
			s.part = n
		} else {
			s.line = lines[c.Terminal]
		}
		before = &s.after
	}
	key := f.fold(steps, children)
	if p.named != nil {
		key += p.named.title
	}
	n, ok := g.known[key]
	if ok && p.named != nil {
		g.parts[n].named.also(p.named)
	}
	if !ok {
		n = len(g.parts)
		g.known[key] = n
		g.parts = append(g.parts, p)
	}
	if id >= 0 {
		done[id] = n
	}
	return n, nil
}
