package grammar

import (
	"iter"
	"sort"
)

// A Splitter divides a sequence by weight without expanding it, and counts the terminals in each part by kind.
// Weights must not be negative, and their sum must be below 1<<62. It is for one goroutine.
type Splitter struct {
	s     *WeightSums
	kind  []int
	kinds int
	each  func(terminal uint32) int64
	whole map[int32]*KindCounts
	marks map[int32][]KindCounts // by rule with a long body: the counts before every markEach-th symbol
	count KindCounts             // result of the last call of CountKinds

	// StepsBeforeDoubling, if not 0, limits the number of parts: each time that Parts has taken this many steps, it doubles the
	// weight of the parts that follow.
	StepsBeforeDoubling int
}

// A KindCounts is, by kind, the number of terminals of the kind, and the sum of what the Splitter's each returns for
// them.
type KindCounts struct {
	TerminalCounts []uint64
	Sums           []int64
}

const (
	markEach = 64
	short    = 64 // counts of rules that expand to at most this many terminals are not cached
)

// NewSplitter returns a Splitter. kind is a terminal's kind, less than kinds. each is the part of a terminal's weight
// that CountKinds sums up.
func NewSplitter(s *WeightSums, kind []int, kinds int, each func(terminal uint32) int64) *Splitter {
	return &Splitter{s: s, kind: kind, kinds: kinds, each: each, whole: make(map[int32]*KindCounts), marks: make(map[int32][]KindCounts)}
}

// A WeightPart is a range of consecutive terminals.
type WeightPart struct {
	WeightBefore, Weight int64 // weight of all terminals before the part, and of the part
	IsSingleTerminal     bool  // the part is one terminal
	Terminal             uint32

	rule     int32
	from, to int    // range of symbols in the rule's body
	times    uint64 // if the part is repetitions of one symbol: their number; else 0
}

// Parts yields the sequence in order, in parts of weight most at most, and heavier single terminals. Their number
// is limited by the total weight divided by most, and by the depth of the rules.
func (p *Splitter) Parts(most int64) iter.Seq[WeightPart] {
	return func(yield func(WeightPart) bool) {
		s := p.s
		if len(s.rules) == 0 || s.Len() == 0 {
			return
		}
		type place struct {
			rule int32
			at   int
			done uint64 // number of completed repetitions of the symbol at index at
		}
		stack := []place{{}}
		before := int64(0)
		steps := 0
		for len(stack) > 0 {
			if steps++; p.StepsBeforeDoubling > 0 && steps%p.StepsBeforeDoubling == 0 && most < 1<<61 {
				most *= 2
			}
			x := &stack[len(stack)-1]
			body := s.g.Rules[x.rule]
			if x.at == len(body) {
				stack = stack[:len(stack)-1]
				continue
			}
			sym := body[x.at]
			one := s.weightOf(sym.TerminalOrRule)
			if x.done == 0 {
				if to := s.reach(x.rule, x.at, most); to > x.at {
					w := s.between(x.rule, x.at, to)
					single := to == x.at+1 && sym.TerminalOrRule >= 0 && sym.Count == 1
					if !yield(WeightPart{WeightBefore: before, Weight: w, IsSingleTerminal: single, Terminal: uint32(max(sym.TerminalOrRule, 0)), rule: x.rule, from: x.at, to: to}) {
						return
					}
					before += w
					x.at = to
					continue
				}
			}
			// All repetitions of the symbol together are heavier than most: take some of them, or enter its rule.
			n := uint64(1)
			if one <= most && one > 0 {
				n = min(sym.Count-x.done, uint64(most/one))
			}
			at := x.at
			if x.done += n; x.done == sym.Count {
				x.at, x.done = x.at+1, 0
			}
			if one > most && sym.TerminalOrRule < 0 {
				stack = append(stack, place{rule: -sym.TerminalOrRule})
				continue
			}
			w := one * int64(n)
			part := WeightPart{WeightBefore: before, Weight: w, rule: x.rule, from: at, to: at + 1, times: n}
			if sym.TerminalOrRule >= 0 && n == 1 {
				part.IsSingleTerminal, part.Terminal = true, uint32(sym.TerminalOrRule)
			}
			if !yield(part) {
				return
			}
			before += w
		}
	}
}

func (s *WeightSums) weightOf(id int32) int64 {
	if id >= 0 {
		return s.weight(uint32(id))
	}
	_, w := s.rules[-id].total()
	return w
}

// between returns the weight of the symbols from up to to of a body, without to.
func (s *WeightSums) between(rule int32, from, to int) int64 {
	r := &s.rules[rule]
	if r.weights == nil {
		return 0
	}
	w := r.weights[to-1]
	if from > 0 {
		w -= r.weights[from-1]
	}
	return w
}

// reach returns the end of the longest range of symbols from from on that weighs at most most.
func (s *WeightSums) reach(rule int32, from int, most int64) int {
	r := &s.rules[rule]
	if r.weights == nil {
		return len(r.ends)
	}
	base := int64(0)
	if from > 0 {
		base = r.weights[from-1]
	}
	return from + sort.Search(len(r.weights)-from, func(i int) bool { return r.weights[from+i]-base > most })
}

// CountKinds returns the counts of a part. The result is valid until the next call.
func (p *Splitter) CountKinds(part WeightPart) *KindCounts {
	c := &p.count
	if c.TerminalCounts == nil {
		*c = p.zero()
	}
	clear(c.TerminalCounts)
	clear(c.Sums)
	if part.times > 0 {
		p.add(c, p.s.g.Rules[part.rule][part.from].TerminalOrRule, part.times)
		return c
	}
	p.addBody(c, part.rule, part.from, part.to)
	return c
}

func (p *Splitter) zero() KindCounts {
	return KindCounts{make([]uint64, p.kinds), make([]int64, p.kinds)}
}

func (c *KindCounts) add(d *KindCounts, times uint64) {
	for k, n := range d.TerminalCounts {
		c.TerminalCounts[k] += n * times
		c.Sums[k] += d.Sums[k] * int64(times)
	}
}

func (c *KindCounts) subtract(d *KindCounts) {
	for k, n := range d.TerminalCounts {
		c.TerminalCounts[k] -= n
		c.Sums[k] -= d.Sums[k]
	}
}

// add adds to c the counts of the symbol id, repeated times times.
func (p *Splitter) add(c *KindCounts, id int32, times uint64) {
	if id >= 0 {
		k := p.kind[id]
		c.TerminalCounts[k] += times
		c.Sums[k] += p.each(uint32(id)) * int64(times)
		return
	}
	if n, _ := p.s.rules[-id].total(); n <= short {
		for _, sym := range p.s.g.Rules[-id] {
			p.add(c, sym.TerminalOrRule, sym.Count*times)
		}
		return
	}
	c.add(p.of(-id), times)
}

// of returns the counts of a rule's expansion, cached. It first computes those of the rules in its body, without
// recursion.
func (p *Splitter) of(rule int32) *KindCounts {
	if c := p.whole[rule]; c != nil {
		return c
	}
	stack := []int32{rule}
	for len(stack) > 0 {
		r := stack[len(stack)-1]
		ready := true
		for _, sym := range p.s.g.Rules[r] {
			if sym.TerminalOrRule >= 0 || p.whole[-sym.TerminalOrRule] != nil {
				continue
			}
			if n, _ := p.s.rules[-sym.TerminalOrRule].total(); n > short {
				stack = append(stack, -sym.TerminalOrRule)
				ready = false
			}
		}
		if !ready {
			continue
		}
		stack = stack[:len(stack)-1]
		if p.whole[r] == nil {
			c := p.zero()
			for _, sym := range p.s.g.Rules[r] {
				p.add(&c, sym.TerminalOrRule, sym.Count)
			}
			p.whole[r] = &c
		}
	}
	return p.whole[rule]
}

// addBody adds the counts of the symbols from up to to of a body, without to.
func (p *Splitter) addBody(c *KindCounts, rule int32, from, to int) {
	if to-from > 2*markEach {
		marks := p.marked(rule)
		a, b := (from+markEach-1)/markEach, to/markEach
		p.addSymbols(c, rule, from, a*markEach)
		c.add(&marks[b], 1)
		c.subtract(&marks[a])
		from = b * markEach
	}
	p.addSymbols(c, rule, from, to)
}

func (p *Splitter) addSymbols(c *KindCounts, rule int32, from, to int) {
	for _, sym := range p.s.g.Rules[rule][from:to] {
		p.add(c, sym.TerminalOrRule, sym.Count)
	}
}

// marked returns the counts before every markEach-th symbol of a body.
func (p *Splitter) marked(rule int32) []KindCounts {
	list := p.marks[rule]
	if list == nil {
		sum := p.zero()
		for i, sym := range p.s.g.Rules[rule] {
			if i%markEach == 0 {
				copied := p.zero()
				copied.add(&sum, 1)
				list = append(list, copied)
			}
			p.add(&sum, sym.TerminalOrRule, sym.Count)
		}
		if len(p.s.g.Rules[rule])%markEach == 0 {
			list = append(list, sum)
		}
		p.marks[rule] = list
	}
	return list
}
