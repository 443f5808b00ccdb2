package grammar

import "slices"

// A body may continue the progression of two earlier rules. All three have the same number of symbols and the same
// terminals. Counts and rule numbers change by the same amounts from the first body to the second and from the
// second to this one; some count must change. A loop that contains a triangular loop leaves such rules: each
// triangle has one iteration more than the one before. The distances between the three rules must be equal. All
// three must refer only to rules before themselves, so that a reader knows them.

const (
	maxBack   = 8        // largest difference between the numbers of two consecutive ones of the three rules
	maxOnward = maxWidth // largest number of symbols: limits what a reader makes of a few bytes
)

// next returns the symbol c whose count and rule number differ from b's by as much as b's differ from a's. ok is false
// if a and b have neither the same terminal nor rules both, or if c would not be valid.
func next(a, b Symbol) (c Symbol, ok bool) {
	id := 2*int64(b.TerminalOrRule) - int64(a.TerminalOrRule)
	if a.TerminalOrRule != b.TerminalOrRule && (a.TerminalOrRule >= 0 || b.TerminalOrRule >= 0 || id >= 0 || id <= -1<<31) {
		return c, false
	}
	c = Symbol{int32(id), 2*b.Count - a.Count}
	return c, c.Count != 0
}

// isOnward reports whether the bodies a, b and c are a progression: each symbol of c is as next returns, and some
// count changes.
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

// onward returns the body c for which a, b and c are a progression, see isOnward; nil if there is no such body.
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

// settled reports whether a rule's body refers only to rules before it.
func settled(rule int, body []Symbol) bool {
	return !slices.ContainsFunc(body, func(s Symbol) bool { return -int64(s.TerminalOrRule) >= int64(rule) })
}

// A past is the bodies of the rules written last, by rule number modulo its length. It is empty for a body that cannot
// be continued.
type past [3*maxBack + 1][]Symbol

func (p *past) at(rule int32) *[]Symbol { return &p[int(rule)%len(p)] }

// begin records a rule's body. It returns the distance to the rule that the body continues; 0: it continues none.
// number maps rules that were used before to their numbers.
func (p *past) begin(rule int32, body []Symbol, number []int32) (back int32) {
	own := p.at(rule)
	if *own = (*own)[:0]; len(body) > maxOnward {
		return 0
	}
	for _, s := range body {
		if s.TerminalOrRule < 0 {
			if s.TerminalOrRule = -number[-s.TerminalOrRule]; s.TerminalOrRule == 0 { // the rule is first used in this body
				*own = (*own)[:0]
				return 0
			}
		}
		*own = append(*own, s)
	}
	// Four bodies in a row must be a progression, as in MinProgressionRounds: fewer may be chance, and the usual form
	// is as short.
	for back = 1; back <= maxBack && 3*back < rule; back++ {
		a, b, c := *p.at(rule - 3*back), *p.at(rule - 2*back), *p.at(rule - back)
		if isOnward(b, c, *own) && isOnward(a, b, c) {
			return back
		}
	}
	return 0
}
