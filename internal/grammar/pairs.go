package grammar

// SuccessorPairs counts selected pairs of consecutive terminals in a sequence, without expanding it. It is safe for
// use by several goroutines at once.
type SuccessorPairs struct {
	g      *Grammar
	sums   *WeightSums
	wanted func(before, terminal int) bool
	rules  []pairsRule
}

// A pairsRule is the first and last terminal of a rule and, by symbol, the number of pairs in the body up to the
// symbol's end. A pair across the begin of the rule belongs to the rule around it.
type pairsRule struct {
	first, last int
	ends        []uint64
}

// FindSuccessorPairs selects pairs of a terminal and its predecessor, which is BeforeFirst for the first terminal.
func (s *WeightSums) FindSuccessorPairs(wanted func(before, terminal int) bool) *SuccessorPairs {
	p := &SuccessorPairs{g: s.g, sums: s, wanted: wanted, rules: make([]pairsRule, len(s.rules))}
	for _, id := range s.order {
		body, r := s.g.Rules[id], &p.rules[id]
		r.ends = make([]uint64, len(body))
		sum := uint64(0)
		for i, sym := range body {
			first, last, inner := p.of(sym.TerminalOrRule)
			switch {
			case i == 0:
				r.first = first
			case wanted(r.last, first):
				sum++
			}
			sum += inner
			if again := p.again(sym, first, last); sym.Count > 1 {
				sum += (sym.Count - 1) * (again + inner)
			}
			r.last, r.ends[i] = last, sum
		}
	}
	return p
}

// of returns first and last terminal of a symbol's expansion, and the number of pairs in it.
func (p *SuccessorPairs) of(id int32) (first, last int, inner uint64) {
	if id >= 0 {
		return int(id), int(id), 0
	}
	r := &p.rules[-id]
	return r.first, r.last, r.total()
}

func (r *pairsRule) total() uint64 {
	if len(r.ends) == 0 {
		return 0
	}
	return r.ends[len(r.ends)-1]
}

// again is 1 if last and first, with which the expansion of the repeated symbol sym ends and begins, are a selected
// pair; else 0.
func (p *SuccessorPairs) again(sym Symbol, first, last int) uint64 {
	if sym.Count > 1 && p.wanted(last, first) {
		return 1
	}
	return 0
}

// atStart is 1 if BeforeFirst and the sequence's first terminal are a selected pair, else 0.
func (p *SuccessorPairs) atStart() uint64 {
	if p.sums.Len() > 0 && p.wanted(BeforeFirst, p.rules[0].first) {
		return 1
	}
	return 0
}

// Total returns the number of selected pairs in the sequence.
func (p *SuccessorPairs) Total() int64 {
	if p.sums.Len() == 0 {
		return 0
	}
	return int64(p.atStart() + p.rules[0].total())
}

// Before returns the number of selected pairs whose second terminal is among the first pos terminals of the sequence.
func (p *SuccessorPairs) Before(pos uint64) int64 {
	if pos >= p.sums.Len() {
		return p.Total()
	}
	if pos == 0 {
		return 0
	}
	sum := p.atStart()
	for id := int32(0); pos > 1; { // the pair at a rule's first terminal belongs to the rule around it
		r, s := &p.rules[id], &p.sums.rules[id]
		at := first(len(s.ends), func(i int) bool { return s.ends[i] >= pos })
		sym := p.g.Rules[id][at]
		begin, end, inner := p.of(sym.TerminalOrRule)
		if at > 0 {
			pos -= s.ends[at-1]
			sum += r.ends[at-1]
			if _, before, _ := p.of(p.g.Rules[id][at-1].TerminalOrRule); p.wanted(before, begin) {
				sum++
			}
		}
		again := p.again(sym, begin, end)
		if sym.TerminalOrRule >= 0 {
			return int64(sum + again*(pos-1))
		}
		n, _ := p.sums.rules[-sym.TerminalOrRule].total()
		whole := (pos - 1) / n
		sum += whole * (inner + again)
		pos -= whole * n
		id = -sym.TerminalOrRule
	}
	return int64(sum)
}

// Nth returns the position and value of the second terminal of the n-th selected pair, from 0. n must be below Total.
func (p *SuccessorPairs) Nth(n int64) (pos uint64, terminal uint32) {
	k := uint64(n)
	if p.atStart() > 0 {
		if k == 0 {
			return 0, uint32(p.rules[0].first)
		}
		k--
	}
	for id := int32(0); ; {
		r, s := &p.rules[id], &p.sums.rules[id]
		at := first(len(r.ends), func(i int) bool { return r.ends[i] > k })
		sym := p.g.Rules[id][at]
		begin, end, inner := p.of(sym.TerminalOrRule)
		if at > 0 {
			pos += s.ends[at-1]
			k -= r.ends[at-1]
			if _, before, _ := p.of(p.g.Rules[id][at-1].TerminalOrRule); p.wanted(before, begin) {
				if k == 0 {
					return pos, uint32(begin)
				}
				k--
			}
		}
		again := p.again(sym, begin, end)
		if sym.TerminalOrRule >= 0 {
			return pos + 1 + k, uint32(begin) // all remaining pairs are between repetitions
		}
		if k >= inner {
			k -= inner
			n, _ := p.sums.rules[-sym.TerminalOrRule].total()
			pos += n * (1 + k/(again+inner))
			if k %= again + inner; again > 0 {
				if k == 0 {
					return pos, uint32(begin)
				}
				k--
			}
		}
		id = -sym.TerminalOrRule
	}
}

// Digrams counts, by predecessor and terminal, how often the terminal directly follows the predecessor. The predecessor
// of the first terminal is BeforeFirst.
func (s *WeightSums) Digrams() map[[2]int]uint64 {
	out := make(map[[2]int]uint64)
	if s.Len() == 0 {
		return out
	}
	uses := make([]uint64, len(s.rules))
	uses[0] = 1
	type ends struct{ first, last int }
	of := make([]ends, len(s.rules))
	end := func(id int32) ends {
		if id >= 0 {
			return ends{int(id), int(id)}
		}
		return of[-id]
	}
	for _, id := range s.order {
		body := s.g.Rules[id]
		of[id] = ends{end(body[0].TerminalOrRule).first, end(body[len(body)-1].TerminalOrRule).last}
	}
	for i := len(s.order) - 1; i >= 0; i-- { // each rule after all that use it
		id := s.order[i]
		for at, sym := range s.g.Rules[id] {
			x := end(sym.TerminalOrRule)
			if at > 0 {
				out[[2]int{end(s.g.Rules[id][at-1].TerminalOrRule).last, x.first}] += uses[id]
			}
			if sym.Count > 1 {
				out[[2]int{x.last, x.first}] += uses[id] * (sym.Count - 1)
			}
			if sym.TerminalOrRule < 0 {
				uses[-sym.TerminalOrRule] += uses[id] * sym.Count
			}
		}
	}
	out[[2]int{BeforeFirst, of[0].first}]++
	return out
}
