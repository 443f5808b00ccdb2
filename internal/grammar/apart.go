package grammar

import "slices"

// ReplaceTerminalAt returns a grammar of the sequence with the terminal at a position replaced. Symbols that contain
// the position lose a repetition, and their rules are copied; g does not change.
func (g *Grammar) ReplaceTerminalAt(position uint64, terminal int32) *Grammar {
	length, err := g.lengths()
	if err != nil || position >= length[0] {
		return g
	}
	out := &Grammar{Rules: slices.Clone(g.Rules)}
	// copied returns the body of a rule with the terminal at a position replaced.
	var copied func(rule int32, position uint64) []Symbol
	copied = func(rule int32, position uint64) []Symbol {
		body := g.Rules[rule]
		for i, s := range body {
			each := uint64(1)
			if s.TerminalOrRule < 0 {
				each = length[-s.TerminalOrRule]
			}
			if all := s.Count * each; position >= all {
				position -= all
				continue
			}
			before, own := position/each, Symbol{terminal, 1}
			if s.TerminalOrRule < 0 {
				inner := copied(-s.TerminalOrRule, position%each)
				out.Rules = append(out.Rules, inner)
				own.TerminalOrRule = -int32(len(out.Rules) - 1)
			}
			list := slices.Clone(body[:i])
			if before > 0 {
				list = append(list, Symbol{s.TerminalOrRule, before})
			}
			if list = append(list, own); before+1 < s.Count {
				list = append(list, Symbol{s.TerminalOrRule, s.Count - before - 1})
			}
			return append(list, body[i+1:]...)
		}
		return body
	}
	out.Rules[0] = copied(0, position)
	return out
}
