package trace

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/grammar"
)

// A NodeKind says what a Node is.
type NodeKind uint8

// The kinds of nodes.
const (
	SequenceNode NodeKind = iota // the calls of its children, in order
	LoopNode                     // the calls of its children in order, Count times
	CallNode                     // one call
)

// A Node is a part of a stream's structure as found by the compression: a sequence, a loop, or a call. Nodes are
// created on demand. A part that occurs several times has the same Rule each time, so that callers can cache
// results by Rule.
type Node struct {
	Kind     NodeKind
	Count    uint64 // of a loop: number of iterations; else 1
	Terminal int    // of a call, or of a loop around one call: its terminal; else -1
	Rule     int    // number of the grammar's rule that the node is a use of; -1 for a call or a loop around one call
	Leaf     int    // if Terminal is set: in a structure from Leaves its leaf, else equal to Terminal
	RuleCopy int    // if Rule is set: in a structure from Leaves the number of the rule's copy, else equal to Rule

	g    *grammar.Grammar
	tree *grammar.UnfoldedGrammar // in a structure from Leaves: which leaves grammar g has; nil: g is the stream's grammar
}

// Structure returns the structure of a stream: a node for its outermost sequence. It does not expand the stream.
func (k *Rank) Structure(stream int) Node {
	return Node{Kind: SequenceNode, Count: 1, Terminal: -1, g: k.streams[stream]}
}

// An OpaqueGrammar is a grammar without its methods: spoor's own packages unseal it, other importers can only pass it on.
type OpaqueGrammar grammar.OpaqueGrammar

// StructureOf returns the structure of a sequence: a node for its outermost rule.
func StructureOf(s OpaqueGrammar) Node {
	return Node{Kind: SequenceNode, Count: 1, Terminal: -1, g: grammar.OpaqueGrammar(s).Grammar()}
}

// WholeGrammar returns the whole sequence that the node is a part of.
func (n Node) WholeGrammar() OpaqueGrammar { return OpaqueGrammar(grammar.WrapOpaque(n.g)) }

// RuleUses returns, by rule, how many nodes below n are uses of it. The content of a rule is visited once, and a loop
// counts as one use.
func (n Node) RuleUses() map[int]int {
	uses := make(map[int]int)
	var count func(n Node)
	count = func(n Node) {
		for _, c := range n.Children() {
			if c.Rule < 0 {
				continue
			}
			if uses[c.Rule]++; uses[c.Rule] == 1 {
				count(c)
			}
		}
	}
	count(n)
	return uses
}

// Sequence yields the terminals of a stream in order.
func (k *Rank) Sequence(stream int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := range k.streams[stream].All() {
			if !yield(int(n)) {
				return
			}
		}
	}
}

// SequenceFrom yields the terminals of a stream in order, beginning with the call at the given index.
func (k *Rank) SequenceFrom(stream int, index uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		c := k.streams[stream].Cursor()
		c.Seek(index)
		for n, ok := c.Next(); ok && yield(int(n)); n, ok = c.Next() {
		}
	}
}

// StructureSize returns the number of symbols in a stream's grammar.
func (k *Rank) StructureSize(stream int) int { return k.streams[stream].SymbolCount() }

// Children returns the parts of a sequence, or those of the body of a loop, in order. A call has none.
func (n Node) Children() []Node {
	switch {
	case n.Kind == CallNode:
		return nil
	case n.Rule < 0:
		return []Node{{Kind: CallNode, Count: 1, Terminal: n.Terminal, Leaf: n.Leaf, Rule: -1, g: n.g, tree: n.tree}}
	}
	if len(n.g.Rules) == 0 {
		return nil
	}
	body := n.g.Rules[n.RuleCopy]
	list := make([]Node, len(body))
	for i, s := range body {
		c := Node{Kind: CallNode, Count: s.Count, Terminal: -1, Rule: -1, g: n.g, tree: n.tree}
		if s.TerminalOrRule < 0 {
			c.RuleCopy, c.Kind = int(-s.TerminalOrRule), SequenceNode
		}
		switch {
		case s.TerminalOrRule >= 0 && n.tree != nil:
			c.Leaf, c.Terminal = int(s.TerminalOrRule), int(n.tree.OriginalTerminal[s.TerminalOrRule])
		case s.TerminalOrRule >= 0:
			c.Leaf, c.Terminal = int(s.TerminalOrRule), int(s.TerminalOrRule)
		case n.tree != nil:
			c.Rule = int(n.tree.OriginalRule[-s.TerminalOrRule])
		default:
			c.Rule = int(-s.TerminalOrRule)
		}
		if s.Count > 1 {
			c.Kind = LoopNode
		}
		list[i] = c
	}
	return list
}

// Occurrences is the positions of selected calls of a stream, without expanding the stream. It is safe for concurrent
// use.
type Occurrences struct {
	of interface {
		Total() int64
		Before(index uint64) int64
		Nth(n int64) (index uint64, terminal uint32)
	}
}

// Occurrences selects the calls of a stream for whose terminals wanted returns true. It takes time in proportion to the
// stream's grammar. It returns the same for all ranks of a class if they are Uniform.
func (k *Rank) Occurrences(stream int, wanted func(terminal int) bool) *Occurrences {
	return &Occurrences{k.weighed(stream, func(t uint32) int64 {
		if wanted(int(t)) {
			return 1
		}
		return 0
	})}
}

// NoPreviousTerminal is used instead of the previous call's terminal for a stream's first call.
const NoPreviousTerminal = grammar.BeforeFirst

// OccurrencesAfter selects the calls of a stream for which wanted returns true, given the terminals of the stream's
// previous call and of the call itself.
func (k *Rank) OccurrencesAfter(stream int, wanted func(before, terminal int) bool) *Occurrences {
	return &Occurrences{k.bare[stream]().FindSuccessorPairs(wanted)}
}

// Transitions returns, by pair of terminals, how often a call of the second directly follows one of the first in a
// stream. The first is NoPreviousTerminal for the stream's first call. The stream isn't expanded.
func (k *Rank) Transitions(stream int) map[[2]int]uint64 { return k.bare[stream]().Digrams() }

// PrefixWeights returns a function that returns, for an index in a stream, the sum of the weights of the calls before
// it. weight returns the weight of a terminal's calls. Sums wrap around at 64 bits.
func (k *Rank) PrefixWeights(stream int, weight func(terminal int) int64) func(index uint64) int64 {
	return k.weighed(stream, func(t uint32) int64 { return weight(int(t)) }).Before
}

// Total returns the number of occurrences.
func (o *Occurrences) Total() uint64 { return uint64(o.of.Total()) }

// CountBefore returns the number of occurrences before an index in the stream.
func (o *Occurrences) CountBefore(index uint64) uint64 { return uint64(o.of.Before(index)) }

// Nth returns the index in the stream and the terminal of occurrence n, counted from 0.
func (o *Occurrences) Nth(n uint64) (index uint64, terminal int) {
	at, t := o.of.Nth(int64(n))
	return at, int(t)
}

// All yields the index in the stream and the terminal of each occurrence, in program order.
func (o *Occurrences) All() iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		for i := range o.of.Total() {
			if at, terminal := o.of.Nth(i); !yield(at, int(terminal)) {
				return
			}
		}
	}
}

// FirstPositions returns, by terminal, the index of its first call in a stream. For terminals without a call there it
// is larger than any index.
func (k *Rank) FirstPositions(stream int) []uint64 {
	return k.bare[stream]().FirstPositions(k.Terminals())
}

// ClassHasEqualCounts reports whether all ranks of the class run their loops equally often,
// so that counts and positions of terminals are the same on all of them.
func (k *Rank) ClassHasEqualCounts() bool { return len(k.class.VaryingSymbols) == 0 }
