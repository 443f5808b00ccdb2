package rsd

import (
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A survey collects in which order a stream first reaches contexts, and which context follows which.
type survey struct {
	calltree.ObservedOrder
	of    func(terminal int) int
	seen  map[int]bool
	rules map[int]calltree.Transition // by rule: numbers of its first context (From) and last context (To)
}

// nodes surveys a sequence of symbols. It returns the sequence's first context (From) and last context (To), both
// calltree.NoLoop if it has no calls.
func (s *survey) nodes(n trace.Node) calltree.Transition {
	out := calltree.Transition{From: calltree.NoLoop, To: calltree.NoLoop}
	for _, c := range n.Children() {
		x := s.node(c)
		if x.From == calltree.NoLoop {
			continue
		}
		if c.Count > 1 {
			s.Transitions[calltree.Transition{From: x.To, To: x.From}] = true
		}
		if out.To != calltree.NoLoop {
			s.Transitions[calltree.Transition{From: out.To, To: x.From}] = true
		} else {
			out.From = x.From
		}
		out.To = x.To
	}
	return out
}

func (s *survey) node(n trace.Node) calltree.Transition {
	if n.Count == 0 {
		return calltree.Transition{From: calltree.NoLoop, To: calltree.NoLoop}
	}
	if n.Rule < 0 {
		c := s.of(n.Terminal)
		if !s.seen[c] {
			s.seen[c] = true
			s.Items = append(s.Items, c)
		}
		return calltree.Transition{From: c, To: c}
	}
	return once.GetOrMake(s.rules, n.Rule, func() calltree.Transition { return s.nodes(n) })
}
