// Unfold separates the uses of a grammar's rules, so that each position in a sequence's structure can have its own
// data: a warm-up loop and the main loop may be the same rule, but differ in time.
//
// It works on sequences of numbers and does not know calls or times.

package grammar

import (
	"iter"

	"github.com/spoor-hpc/spoor/trace/model"
)

// UnfoldLimit is the limit of the Unfold whose numbers of leaves files refer to.
const UnfoldLimit = 1 << 14

// An UnfoldedGrammar is a grammar in which each use of a rule has its own copy, as far as the limit allows: further uses
// share one. A copy of a rule is an instance, and a terminal at one position of an instance is a leaf. Instances
// and leaves have new numbers.
type UnfoldedGrammar struct {
	// Grammar generates the sequence of leaves.
	Grammar *Grammar
	// OriginalRule is by instance: the original rule.
	OriginalRule []int32
	// OriginalTerminal is by leaf: the original terminal.
	OriginalTerminal []int32
}

// Unfold separates the uses of a grammar's rules. All copies together have at most limit symbols, not counting
// shared instances. Outer rules are unfolded first, so that only deeply nested uses are shared.
func Unfold(g *Grammar, limit int) *UnfoldedGrammar {
	t := &UnfoldedGrammar{Grammar: new(Grammar)}
	shared := make([]int32, len(g.Rules)) // by rule: the instance that uses without a copy share
	uses := make([]int, len(g.Rules))
	for _, body := range g.Rules {
		for _, s := range body {
			if s.TerminalOrRule < 0 {
				uses[-s.TerminalOrRule]++
			}
		}
	}
	instance := func(rule int32) int32 {
		body := make([]Symbol, len(g.Rules[rule]))
		for i, s := range g.Rules[rule] {
			body[i] = s
			if s.TerminalOrRule >= 0 {
				body[i].TerminalOrRule = int32(len(t.OriginalTerminal))
				t.OriginalTerminal = append(t.OriginalTerminal, s.TerminalOrRule)
			}
		}
		t.Grammar.Rules = append(t.Grammar.Rules, body)
		t.OriginalRule = append(t.OriginalRule, rule)
		return int32(len(t.OriginalRule) - 1)
	}
	if len(g.Rules) == 0 {
		return t
	}
	instance(0)
	// own is, by instance, whether only one use has it. Instances of rules with a single use don't count against the
	// limit, as they are no copies.
	own := []bool{true}
	for n := 0; n < len(t.OriginalRule); n++ {
		for i, s := range g.Rules[t.OriginalRule[n]] {
			if s.TerminalOrRule >= 0 {
				continue
			}
			rule := -s.TerminalOrRule
			size := len(g.Rules[rule])
			var to int32
			switch {
			case own[n] && uses[rule] == 1:
				to = instance(rule)
				own = append(own, true)
			case own[n] && size <= limit:
				limit -= size
				to = instance(rule)
				own = append(own, true)
			case shared[rule] != 0:
				to = shared[rule]
			default:
				to = instance(rule)
				own = append(own, false)
				shared[rule] = to
			}
			t.Grammar.Rules[n][i].TerminalOrRule = -to
		}
	}
	return t
}

// A LeafVisit is a call in sequence order: a leaf with the loops that it begins.
type LeafVisit struct {
	Leaf int
	// EntersLoop reports whether the visit enters the innermost loop that begins with the leaf, RepeatsLoop whether
	// it begins another iteration of that loop.
	EntersLoop, RepeatsLoop bool
	// LoopsEntered is how many of the loops that begin with the leaf are entered, from the innermost one outwards.
	LoopsEntered int
}

// A visitFrame is a position in an instance: at is the index of the symbol there, and done is the number of the
// symbol's repetitions that are complete or begun.
type visitFrame struct {
	instance, at int32
	done         uint64
	begin        LeafVisit // the visit of the instance's first leaf
}

// Walk yields the sequence as visits. counts is the original grammar, or one
// that differs from it in counts only.
func (t *UnfoldedGrammar) Walk(counts *Grammar) iter.Seq[LeafVisit] {
	return func(yield func(LeafVisit) bool) {
		c := t.Cursor(counts)
		for {
			if v, ok := c.Next(); !ok || !yield(v) {
				return
			}
		}
	}
}

// An UnfoldedCursor iterates over a sequence visit by visit, for callers that cannot use Walk.
type UnfoldedCursor struct {
	t      *UnfoldedGrammar
	counts *Grammar
	path   []visitFrame
	length []uint64 // by instance, in visits; nil until needed
}

// Cursor returns a cursor before the first visit. counts is as for Walk.
func (t *UnfoldedGrammar) Cursor(counts *Grammar) *UnfoldedCursor {
	c := &UnfoldedCursor{t: t, counts: counts}
	if len(t.OriginalRule) > 0 {
		c.path = make([]visitFrame, 1, 16)
	}
	return c
}

// Next returns the next visit; ok is false at the end.
func (c *UnfoldedCursor) Next() (v LeafVisit, ok bool) {
	for {
		top, id, n := c.here()
		if top == nil {
			return LeafVisit{}, false
		}
		v := top.visit(n)
		top.done++
		if id < 0 {
			c.path = append(c.path, visitFrame{instance: -id, begin: v})
			continue
		}
		v.Leaf = int(id)
		return v, true
	}
}

// here returns the frame of the current symbol, the symbol's id, and how many iterations it has in all. top is nil
// at the end.
func (c *UnfoldedCursor) here() (top *visitFrame, id int32, n uint64) {
	for len(c.path) > 0 {
		top = &c.path[len(c.path)-1]
		body := c.t.Grammar.Rules[top.instance]
		if int(top.at) == len(body) {
			c.path = c.path[:len(c.path)-1]
			continue
		}
		if n = c.t.count(c.counts, top.instance, int(top.at)); top.done < n {
			return top, body[top.at].TerminalOrRule, n
		}
		top.at, top.done = top.at+1, 0
	}
	return nil, 0, 0
}

// visit describes the begin of the next iteration of a frame's symbol, which has n iterations.
func (f *visitFrame) visit(n uint64) (v LeafVisit) {
	switch {
	case n > 1:
		if v.EntersLoop, v.RepeatsLoop = f.done == 0, f.done > 0; v.EntersLoop {
			v.LoopsEntered = 1
			if f.at == 0 {
				v.LoopsEntered += f.begin.LoopsEntered
			}
		}
	case f.at == 0:
		v = f.begin
	}
	return v
}

// Skip skips this many visits, without reading them; it stops at the end.
func (c *UnfoldedCursor) Skip(visits uint64) {
	if visits > 0 && c.length == nil {
		c.length = c.t.lengths(c.counts)
	}
	for visits > 0 {
		top, id, n := c.here()
		if top == nil {
			return
		}
		each := uint64(1)
		if id < 0 {
			each = c.length[-id]
		}
		if each == 0 {
			top.done = n // the instance has no visits
			continue
		}
		if rounds := min(visits/each, n-top.done); rounds > 0 {
			top.done += rounds
			visits -= rounds * each
			continue
		}
		v := top.visit(n)
		top.done++
		c.path = append(c.path, visitFrame{instance: -id, begin: v})
	}
}

// MainLoop returns the repeated symbol of the start rule with the most visits. Its Iterations are 0 if the start rule
// has no repeated symbol.
func (c *UnfoldedCursor) MainLoop() (r model.OuterLoop) {
	if len(c.t.OriginalRule) == 0 {
		return r
	}
	if c.length == nil {
		c.length = c.t.lengths(c.counts)
	}
	for at, s := range c.t.Grammar.Rules[0] {
		x := model.OuterLoop{SymbolIndex: int32(at), Iterations: c.t.count(c.counts, 0, at), CallsPerIteration: 1}
		if s.TerminalOrRule < 0 {
			x.CallsPerIteration = c.length[-s.TerminalOrRule]
		}
		if x.Iterations > 1 && x.Iterations*x.CallsPerIteration > r.Iterations*r.CallsPerIteration {
			r = x
		}
	}
	return r
}

// RoundsLeft returns how many iterations of a loop remain. between reports whether the cursor is between two
// iterations, or directly after the last.
func (c *UnfoldedCursor) RoundsLeft(r model.OuterLoop) (rounds uint64, between bool) {
	c.here()
	if len(c.path) != 1 {
		return 0, false
	}
	switch top := &c.path[0]; {
	case top.at == r.SymbolIndex:
		return r.Iterations - top.done, true
	case top.at == r.SymbolIndex+1 && top.done == 0:
		return 0, true
	}
	return 0, false
}

// count returns how often a symbol of an instance is repeated.
func (t *UnfoldedGrammar) count(counts *Grammar, instance int32, at int) uint64 {
	return counts.Rules[t.OriginalRule[instance]][at].Count
}

// lengths returns the number of visits in each instance.
func (t *UnfoldedGrammar) lengths(counts *Grammar) []uint64 {
	list := make([]uint64, len(t.OriginalRule))
	for _, n := range t.Grammar.RuleOrder() {
		for at, s := range t.Grammar.Rules[n] {
			each := uint64(1)
			if s.TerminalOrRule < 0 {
				each = list[-s.TerminalOrRule]
			}
			list[n] += each * t.count(counts, int32(n), at)
		}
	}
	return list
}

// An OpaqueGrammar is a grammar without its methods, for passing it through a package whose API must not expose grammars.
type OpaqueGrammar struct{ g *Grammar }

// WrapOpaque wraps a grammar.
func WrapOpaque(g *Grammar) OpaqueGrammar { return OpaqueGrammar{g} }

// Grammar returns the grammar that h wraps.
func (h OpaqueGrammar) Grammar() *Grammar { return h.g }
