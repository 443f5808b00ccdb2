package trace

import "spoor/internal/grammar"

// A NodeKind says what a Node is.
type NodeKind uint8

// The kinds of nodes.
const (
	SequenceNode NodeKind = iota // its children, in order
	LoopNode                     // its children, Count times
	CallNode                     // one call
)

// A Node is a part of a stream's structure, as the compression found it: a
// sequence, a loop, or a call. Nodes are made as they are asked for; a part
// that occurs in several places has the same Rule in all of them, so that what
// is computed for it can be kept.
type Node struct {
	Kind     NodeKind
	Count    uint64 // of a loop
	Terminal int    // of a call
	Rule     int    // of a sequence, or of a loop over more than one call; else -1

	g *grammar.Grammar
}

// Structure returns the structure of a stream without expanding it.
func (k *Rank) Structure(stream int) Node {
	return Node{Kind: SequenceNode, Count: 1, Terminal: -1, g: k.streams[stream]}
}

// Children returns the parts of a sequence or the body of a loop.
func (n Node) Children() []Node {
	switch {
	case n.Kind == CallNode:
		return nil
	case n.Rule < 0:
		return []Node{{Kind: CallNode, Count: 1, Terminal: n.Terminal, Rule: -1, g: n.g}}
	}
	if len(n.g.Rules) == 0 {
		return nil
	}
	body := n.g.Rules[n.Rule]
	list := make([]Node, len(body))
	for i, s := range body {
		c := Node{Kind: CallNode, Count: s.Count, Terminal: -1, Rule: -1, g: n.g}
		if s.ID >= 0 {
			c.Terminal = int(s.ID)
		} else {
			c.Rule, c.Kind = int(-s.ID), SequenceNode
		}
		if s.Count > 1 {
			c.Kind = LoopNode
		}
		list[i] = c
	}
	return list
}
