package grammar

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// A Symbol is a terminal or a rule, repeated.
type Symbol struct {
	TerminalOrRule int32  // a terminal if not negative, else the negated number of a rule
	Count          uint64 // number of repetitions, at least 1
}

// A Grammar is what a Builder has built, and does not change. Rules[0] is the start rule, which no symbol names; the
// other rules are numbered by first use in a depth-first walk. That order alone does not exclude cycles, as a rule may
// name one with a lower number; Check and Decode do. All other methods need a grammar that passes Check, as those of a
// Builder and of Decode do.
type Grammar struct {
	Rules [][]Symbol
}

// Check returns an error unless g generates exactly one finite sequence whose length fits into 64 bits. It does not
// require the numbering by first use.
func (g *Grammar) Check() error {
	_, err := g.CheckedLen()
	return err
}

func (g *Grammar) checkSymbols() error {
	if len(g.Rules) == 0 {
		return errors.New("grammar: no start rule")
	}
	for r, body := range g.Rules {
		if len(body) == 0 && r > 0 {
			return fmt.Errorf("grammar: rule %d: empty", r)
		}
		for _, s := range body {
			if s.Count == 0 {
				return fmt.Errorf("grammar: rule %d: count 0", r)
			}
			if s.TerminalOrRule < 0 && (int64(s.TerminalOrRule) <= -int64(len(g.Rules))) {
				return fmt.Errorf("grammar: rule %d: no rule %d", r, -int64(s.TerminalOrRule))
			}
		}
	}
	return nil
}

// CheckedLen is Check followed by Len.
func (g *Grammar) CheckedLen() (uint64, error) {
	if err := g.checkSymbols(); err != nil {
		return 0, err
	}
	n, err := g.lengths()
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

var (
	errCycle = errors.New("grammar: a rule contains itself")
	errLong  = errors.New("grammar: length exceeds 64 bits")
)

// walk visits every rule that is reachable from the start rule, once, depth-first in order of first use. It calls
// enter before a body and leave after it; both may be nil. It does not recurse, as nesting may be as deep as the
// grammar is long.
func (g *Grammar) walk(enter func(r int32), symbol func(s Symbol), leave func(r int32)) error {
	type place struct {
		rule int32
		at   int
	}
	const (
		unseen = iota
		inside
		over
	)
	if len(g.Rules) == 0 {
		return nil
	}
	state := make([]uint8, len(g.Rules))
	stack := []place{{0, 0}}
	state[0] = inside
	if enter != nil {
		enter(0)
	}
	for len(stack) > 0 {
		p := &stack[len(stack)-1]
		if p.at == len(g.Rules[p.rule]) {
			state[p.rule] = over
			if leave != nil {
				leave(p.rule)
			}
			stack = stack[:len(stack)-1]
			continue
		}
		s := g.Rules[p.rule][p.at]
		p.at++
		if symbol != nil {
			symbol(s)
		}
		if s.TerminalOrRule >= 0 {
			continue
		}
		switch state[-s.TerminalOrRule] {
		case inside:
			return errCycle
		case unseen:
			state[-s.TerminalOrRule] = inside
			stack = append(stack, place{-s.TerminalOrRule, 0})
			if enter != nil {
				enter(-s.TerminalOrRule)
			}
		}
	}
	return nil
}

// RuleOrder returns the rules reachable from the start rule, each after the rules in its body; the start rule is last.
func (g *Grammar) RuleOrder() []int32 {
	var order []int32
	g.walk(nil, nil, func(r int32) { order = append(order, r) })
	return order
}

// lengths returns how many terminals each rule expands to; 0 for unreachable rules.
func (g *Grammar) lengths() ([]uint64, error) {
	long := false
	n := make([]uint64, len(g.Rules))
	err := g.walk(nil, nil, func(r int32) {
		sum := uint64(0)
		for _, s := range g.Rules[r] {
			hi, lo, carry := uint64(0), s.Count, uint64(0)
			if s.TerminalOrRule < 0 {
				hi, lo = bits.Mul64(n[-s.TerminalOrRule], s.Count)
			}
			sum, carry = bits.Add64(sum, lo, 0)
			long = long || hi|carry != 0
		}
		n[r] = sum
	})
	if err == nil && long {
		err = errLong
	}
	return n, err
}

// Fold computes a value of the sequence from values of its parts, without expanding it. empty is the value of the
// empty sequence, and of returns that of a terminal. join returns the value of a part with value sum followed by
// count repetitions of a part with value v.
func Fold[V any](g *Grammar, empty V, of func(id uint32) V, join func(sum, v V, count uint64) V) V {
	rules, _ := fold(g, empty, of, join)
	if len(rules) == 0 {
		return empty
	}
	return rules[0]
}

// fold returns the values of all rules; the zero value for unreachable ones.
func fold[V any](g *Grammar, empty V, of func(id uint32) V, join func(sum, v V, count uint64) V) ([]V, error) {
	rules := make([]V, len(g.Rules))
	err := g.walk(nil, nil, func(r int32) { // leave is called after all rules in the body
		sum := empty
		for _, s := range g.Rules[r] {
			if s.TerminalOrRule < 0 {
				sum = join(sum, rules[-s.TerminalOrRule], s.Count)
			} else {
				sum = join(sum, of(uint32(s.TerminalOrRule)), s.Count)
			}
		}
		rules[r] = sum
	})
	return rules, err
}

// Len returns the length of the sequence.
func (g *Grammar) Len() uint64 {
	n, _ := g.lengths()
	if len(n) == 0 {
		return 0
	}
	return n[0]
}

// Terminals returns the distinct terminals in order of first occurrence in the sequence.
func (g *Grammar) Terminals() []uint32 {
	var list []uint32
	seen := map[int32]bool{}
	g.walk(nil, func(s Symbol) {
		if s.TerminalOrRule >= 0 && !seen[s.TerminalOrRule] {
			seen[s.TerminalOrRule] = true
			list = append(list, uint32(s.TerminalOrRule))
		}
	}, nil)
	return list
}

// IsNumberedFrom reports whether the terminals from next on first occur in ascending order without gaps. It returns
// the next terminal after those of g.
func (g *Grammar) IsNumberedFrom(next uint32) (after uint32, ok bool) {
	ok = true
	g.walk(nil, func(s Symbol) {
		if t := uint32(s.TerminalOrRule); s.TerminalOrRule >= 0 && t >= next {
			ok = ok && t == next
			next = t + 1
		}
	}, nil)
	return next, ok
}

// TerminalCounts returns how often each of the terminals 0 to n-1 occurs in the sequence. Terminals from n on are ignored.
func (g *Grammar) TerminalCounts(n int) []uint64 {
	counts := make([]uint64, n)
	// In reverse, each rule comes after all rules that use it.
	order := g.RuleOrder()
	times := make([]uint64, len(g.Rules))
	for i, r := range slices.Backward(order) {
		if i == len(order)-1 {
			times[r] = 1
		}
		for _, s := range g.Rules[r] {
			if s.TerminalOrRule < 0 {
				times[-s.TerminalOrRule] += times[r] * s.Count
			} else if int(s.TerminalOrRule) < n {
				counts[s.TerminalOrRule] += times[r] * s.Count
			}
		}
	}
	return counts
}

// Renumber returns the grammar with every terminal t replaced by f(t), which
// must be below 1<<31.
func (g *Grammar) Renumber(f func(uint32) uint32) *Grammar {
	h := g.Clone()
	h.RenumberInPlace(f)
	return h
}

// RenumberInPlace is Renumber that changes g.
func (g *Grammar) RenumberInPlace(f func(uint32) uint32) {
	for _, body := range g.Rules {
		for i, s := range body {
			if s.TerminalOrRule >= 0 {
				body[i].TerminalOrRule = int32(f(uint32(s.TerminalOrRule)))
			}
		}
	}
}

// SymbolCount returns the number of symbols in all rules.
func (g *Grammar) SymbolCount() (n int) {
	for _, body := range g.Rules {
		n += len(body)
	}
	return n
}

// Clone returns a copy that can be changed.
func (g *Grammar) Clone() *Grammar {
	all, rules := make([]Symbol, 0, g.SymbolCount()), make([][]Symbol, len(g.Rules))
	for r, body := range g.Rules {
		all = append(all, body...)
		rules[r] = all[len(all)-len(body) : len(all) : len(all)]
	}
	return &Grammar{Rules: rules}
}

// Equal reports whether g and h have the same rules in the same order. Two
// grammars may generate the same sequence without being equal.
func (g *Grammar) Equal(h *Grammar) bool {
	return slices.EqualFunc(g.Rules, h.Rules, slices.Equal[[]Symbol])
}
