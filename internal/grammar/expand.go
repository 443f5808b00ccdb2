package grammar

// Expand appends the sequence to list. It expands each rule once and copies it from then on. It is faster than All,
// but takes memory for the whole sequence.
func (g *Grammar) Expand(list []uint32) []uint32 {
	if len(g.Rules) == 0 {
		return list
	}
	type place struct {
		rule  int32
		at    int
		begin int  // begin of the rule's terminals in the list
		once  bool // the list already has one repetition of the symbol at index at
	}
	type span struct{ begin, end int }
	known := make([]span, len(g.Rules)) // by rule: where the list has its expansion; valid if over
	over := make([]bool, len(g.Rules))
	stack := []place{{begin: len(list)}}
	for {
		p := &stack[len(stack)-1]
		body := g.Rules[p.rule]
		if p.at == len(body) {
			known[p.rule], over[p.rule] = span{p.begin, len(list)}, true
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return list
			}
			continue
		}
		s := body[p.at]
		if s.TerminalOrRule >= 0 {
			for range s.Count {
				list = append(list, uint32(s.TerminalOrRule))
			}
			p.at++
			continue
		}
		if !over[-s.TerminalOrRule] {
			p.once = true
			stack = append(stack, place{rule: -s.TerminalOrRule, begin: len(list)})
			continue
		}
		of, times := known[-s.TerminalOrRule], s.Count
		if p.once {
			times--
		}
		p.at, p.once = p.at+1, false
		for range times {
			list = append(list, list[of.begin:of.end]...)
		}
	}
}
