package grammar

import "slices"

// A body goes on from those of two rules before it if it has the same number of symbols and the same terminals. Counts and rules that are named
// go up or down by the same from the first to the second and from that on, counts not by 0 alone. Loops leave such rules that have a triangle in each
// round: each triangle is the one before and a round more. The rule it goes on from is as far before it as the one before that is before
// this. All are known without it: they name rules before themselves alone.

const (
	maxBack   = 8        // rules
	maxOnward = maxWidth // symbols: limits what a reader makes of a few bytes
)

// next is the symbol that goes on from b as b does from a; ok is false if none does.
func next(a, b Symbol) (c Symbol, ok bool) {
	id := 2*int64(b.TerminalOrRule) - int64(a.TerminalOrRule)
	if a.TerminalOrRule != b.TerminalOrRule && (a.TerminalOrRule >= 0 || b.TerminalOrRule >= 0 || id >= 0 || id <= -1<<31) {
		return c, false
	}
	c = Symbol{int32(id), 2*b.Count - a.Count}
	return c, c.Count != 0
}

// isOnward reports whether c goes on from b as b does from a.
func isOnward(a, b, c []Symbol) bool {
	if len(a) != len(c) || len(b) != len(c) {
		return false
	}
	steps := false
	for i, x := range a {
		y := b[i]
		if z, ok := next(x, y); !ok || z != c[i] {
			return false
		}
		steps = steps || x.Count != y.Count
	}
	return steps
}

// onward returns what goes on from b as b does from a; nil if nothing does.
func onward(a, b []Symbol) []Symbol {
	if len(a) != len(b) || len(a) > maxOnward {
		return nil
	}
	c := make([]Symbol, len(a))
	for i, x := range a {
		var ok bool
		if c[i], ok = next(x, b[i]); !ok {
			return nil
		}
	}
	if !isOnward(a, b, c) {
		return nil
	}
	return c
}

// settled reports whether a rule's body names rules before it alone.
func settled(rule int, body []Symbol) bool {
	return !slices.ContainsFunc(body, func(s Symbol) bool { return -int64(s.TerminalOrRule) >= int64(rule) })
}

// A past has the bodies written last, by number of the rule; none where one can't be gone on from.
type past [3*maxBack + 1][]Symbol

func (p *past) at(rule int32) *[]Symbol { return &p[int(rule)%len(p)] }

// begin takes note of a rule's body, and returns how far back the one is that it goes on from; 0: it doesn't. number has those of the rules
// that were named before.
func (p *past) begin(rule int32, body []Symbol, number []int32) (back int32) {
	own := p.at(rule)
	if *own = (*own)[:0]; len(body) > maxOnward {
		return 0
	}
	for _, s := range body {
		if s.TerminalOrRule < 0 {
			if s.TerminalOrRule = -number[-s.TerminalOrRule]; s.TerminalOrRule == 0 { // it begins within this body
				*own = (*own)[:0]
				return 0
			}
		}
		*own = append(*own, s)
	}
	// At least the rounds of a progression: fewer are chance, and the usual form codes them as well.
	for back = 1; back <= maxBack && 3*back < rule; back++ {
		a, b, c := *p.at(rule - 3*back), *p.at(rule - 2*back), *p.at(rule - back)
		if isOnward(b, c, *own) && isOnward(a, b, c) {
			return back
		}
	}
	return 0
}
