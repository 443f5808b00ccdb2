// WeightSums, Splitter and PrefixFingerprints answer questions about positions in the sequence of a grammar without
// expanding it: which terminal is there, and what is the sum of the weights before it. They do not change grammars.

package grammar

import (
	"math"
	"sort"
)

// WeightSums is a grammar with a weight for each terminal. It is safe for use by
// several goroutines at once. Sums of weights wrap around at 64 bits.
type WeightSums struct {
	g      *Grammar
	weight func(terminal uint32) int64
	rules  []sumsRule
	order  []int32 // reachable rules, each after those in its body

	// SearchComparisons, if not nil, counts the comparisons of searches, for tests. A WeightSums with Steps is for one
	// goroutine only.
	SearchComparisons *int
}

// first is sort.Search, with its comparisons counted in Steps.
func (s *WeightSums) first(n int, is func(i int) bool) int {
	if s.SearchComparisons == nil {
		return first(n, is)
	}
	return sort.Search(n, func(i int) bool { *s.SearchComparisons++; return is(i) })
}

func first(n int, is func(i int) bool) int { return sort.Search(n, is) }

// A sumsRule holds, by symbol of a rule's body, the length and the weight of the body's expansion up to and including
// that symbol. weights is nil if all are 0.
type sumsRule struct {
	ends    []uint64
	weights []int64
}

// NewWeightSums returns the WeightSums of g, with these weights. It takes time and memory in proportion to the grammar,
// not to the sequence.
func NewWeightSums(g *Grammar, weight func(terminal uint32) int64) *WeightSums {
	s := &WeightSums{g: g, rules: make([]sumsRule, len(g.Rules)), order: g.RuleOrder()}
	for _, id := range s.order {
		ends := make([]uint64, len(g.Rules[id]))
		sum := uint64(0)
		for i, sym := range g.Rules[id] {
			n := uint64(1)
			if sym.TerminalOrRule < 0 {
				n, _ = s.rules[-sym.TerminalOrRule].total()
			}
			sum += n * sym.Count
			ends[i] = sum
		}
		s.rules[id].ends = ends
	}
	return s.WithWeights(weight)
}

// WithWeights returns the WeightSums of the same grammar with other weights. If few terminals have a weight other than
// 0, it is faster and takes less memory than NewWeightSums.
func (s *WeightSums) WithWeights(weight func(terminal uint32) int64) *WeightSums {
	w := &WeightSums{g: s.g, weight: weight, order: s.order, rules: make([]sumsRule, len(s.rules))}
	for _, id := range s.order {
		r := &w.rules[id]
		r.ends = s.rules[id].ends
		sum := int64(0)
		for i, sym := range s.g.Rules[id] {
			one := int64(0)
			if sym.TerminalOrRule >= 0 {
				one = weight(uint32(sym.TerminalOrRule))
			} else {
				_, one = w.rules[-sym.TerminalOrRule].total()
			}
			if one == 0 && r.weights == nil {
				continue
			}
			if r.weights == nil {
				r.weights = make([]int64, len(r.ends))
			}
			sum += one * int64(sym.Count)
			r.weights[i] = sum
		}
	}
	return w
}

func (r *sumsRule) total() (length uint64, weight int64) {
	if n := len(r.ends); n > 0 {
		length = r.ends[n-1]
	}
	if n := len(r.weights); n > 0 {
		weight = r.weights[n-1]
	}
	return length, weight
}

// Len returns the length of the sequence.
func (s *WeightSums) Len() uint64 {
	if len(s.rules) == 0 {
		return 0
	}
	n, _ := s.rules[0].total()
	return n
}

// FirstPositions returns the first position of each of the terminals 0 to n-1; math.MaxUint64 for terminals that do
// not occur.
func (s *WeightSums) FirstPositions(n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = math.MaxUint64
	}
	if len(s.rules) == 0 {
		return list
	}
	type place struct {
		rule int32
		at   int
		pos  uint64
	}
	seen := make([]bool, len(s.rules))
	stack := []place{{}}
	for len(stack) > 0 {
		x := &stack[len(stack)-1]
		if x.at == len(s.g.Rules[x.rule]) {
			stack = stack[:len(stack)-1]
			continue
		}
		sym, pos := s.g.Rules[x.rule][x.at], x.pos
		x.at++
		if sym.TerminalOrRule >= 0 {
			x.pos += sym.Count
			if int(sym.TerminalOrRule) < n {
				list[sym.TerminalOrRule] = min(list[sym.TerminalOrRule], pos)
			}
			continue
		}
		length, _ := s.rules[-sym.TerminalOrRule].total()
		x.pos += length * sym.Count
		if !seen[-sym.TerminalOrRule] { // only the first use of a rule has new terminals
			seen[-sym.TerminalOrRule] = true
			stack = append(stack, place{rule: -sym.TerminalOrRule, pos: pos})
		}
	}
	return list
}

// Total returns the weight of the whole sequence.
func (s *WeightSums) Total() int64 { return s.Before(s.Len()) }

// Before returns the weight of the first pos terminals.
func (s *WeightSums) Before(pos uint64) int64 {
	if n := s.Len(); pos >= n {
		if n == 0 {
			return 0
		}
		_, w := s.rules[0].total()
		return w
	}
	_, w := s.TerminalAt(pos)
	return w
}

// TerminalAt returns the terminal at pos, which must be below Len, and the weight of
// all terminals before it.
func (s *WeightSums) TerminalAt(pos uint64) (terminal uint32, before int64) {
	for id := int32(0); ; {
		r := &s.rules[id]
		at := s.first(len(r.ends), func(i int) bool { return r.ends[i] > pos })
		start, sum := uint64(0), int64(0)
		if at > 0 {
			start = r.ends[at-1]
			if r.weights != nil {
				sum = r.weights[at-1]
			}
		}
		sym := s.g.Rules[id][at]
		pos -= start
		before += sum
		if sym.TerminalOrRule >= 0 {
			return uint32(sym.TerminalOrRule), before + s.weight(uint32(sym.TerminalOrRule))*int64(pos)
		}
		n, w := s.rules[-sym.TerminalOrRule].total()
		before += w * int64(pos/n)
		pos %= n
		id = -sym.TerminalOrRule
	}
}

// Nth returns the first position where the sum of weights up to and including it exceeds k, and the terminal there.
// Weights must not be negative, and k must be below Total.
func (s *WeightSums) Nth(k int64) (pos uint64, terminal uint32) {
	for id := int32(0); ; {
		r := &s.rules[id]
		at := s.first(len(r.weights), func(i int) bool { return r.weights[i] > k })
		if at > 0 {
			pos += r.ends[at-1]
			k -= r.weights[at-1]
		}
		sym := s.g.Rules[id][at]
		if sym.TerminalOrRule >= 0 {
			return pos + uint64(k/s.weight(uint32(sym.TerminalOrRule))), uint32(sym.TerminalOrRule)
		}
		n, w := s.rules[-sym.TerminalOrRule].total()
		pos += n * uint64(k/w)
		k %= w
		id = -sym.TerminalOrRule
	}
}
