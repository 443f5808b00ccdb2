package grammar

import (
	"encoding/binary"
	"slices"
)

// A round of a progression may begin with the whole round before it, or the same rounds may occur again in another
// order. Sequitur then makes rules of rounds, which hide the progression: (Y X³)² X for Y X³ Y X⁴. Such rules
// differ only in counts.

const (
	minHidden = 8       // least number of rounds of a hidden progression; fewer may be chance
	maxTwice  = 2       // largest count with which a rule of rounds is expanded
	maxApart  = 1 << 12 // largest number of symbols of a rule that is expanded
	maxFlat   = 1 << 18 // largest number of symbols of a body with expanded rules, in addition to four times its own
)

// A piece is a symbol of a body with expanded rules of rounds, and the range of symbols of the body that it comes
// from.
type piece struct {
	from, to int
	apart    bool // the piece is written; if false, the symbols from from up to to of the body are
	round    bool // the piece is part of a progression
}

// straighten returns a grammar of the same sequence without hidden progressions; g itself if it has none.
func (g *Grammar) straighten() *Grammar {
	hides := g.roundRules()
	if hides == nil {
		return g
	}
	s := straightener{rules: slices.Clone(g.Rules), apart: make([][]Symbol, len(g.Rules)), known: make(map[string]int32)}
	for _, r := range g.RuleOrder() {
		flat, pieces := s.flatten(g.Rules[r])
		if r > 0 && (hides[r] || pieces != nil && len(flat) <= maxApart) {
			s.apart[r] = flat
		}
		if pieces != nil && mark(flat, pieces) {
			s.replace(r, s.tokens(g.Rules[r], flat, pieces))
		}
	}
	if len(s.known) == 0 {
		return g
	}
	out := (&Grammar{Rules: s.rules}).tidy()
	if len(out.AppendBinary(nil)) >= len(g.AppendBinary(nil)) {
		return g
	}
	return out
}

// roundRules returns, by rule, whether the rule may be rounds of a progression: it is short, and several other rules or
// rounds in bodies have the same symbols with other counts. It returns nil if no rule may.
func (g *Grammar) roundRules() []bool {
	var key []byte
	alike := func(body []Symbol) string {
		key = key[:0]
		for _, s := range body {
			key = binary.LittleEndian.AppendUint32(key, uint32(s.TerminalOrRule))
		}
		return string(key)
	}
	rounds := make(map[string]int)
	for r, body := range g.Rules {
		if r > 0 && len(body) <= maxWidth {
			rounds[alike(body)]++
		}
		for len(body) >= 2*minHidden {
			w, n := FindProgression(body)
			if n < minHidden {
				body = body[1:]
				continue
			}
			for i := range w { // a round may begin at each symbol
				rounds[alike(body[i:i+w])] += n
			}
			body = body[w*n:]
		}
	}
	var hides []bool
	for r, body := range g.Rules {
		if r > 0 && len(body) <= maxWidth && rounds[alike(body)] >= MinProgressionRounds {
			if hides == nil {
				hides = make([]bool, len(g.Rules))
			}
			hides[r] = true
		}
	}
	return hides
}

type straightener struct {
	rules [][]Symbol
	apart [][]Symbol       // by rule of rounds: the symbols that replace it
	known map[string]int32 // rules of progressions, by their content
}

// flatten returns a body with rules of rounds expanded; pieces is nil if it has no such rules.
func (s *straightener) flatten(body []Symbol) (flat []Symbol, pieces []piece) {
	if !slices.ContainsFunc(body, func(x Symbol) bool { return s.splits(x) != nil }) {
		return body, nil
	}
	put := func(x Symbol, at int) {
		if n := len(flat); n > 0 && flat[n-1].TerminalOrRule == x.TerminalOrRule {
			flat[n-1].Count += x.Count
			pieces[n-1].to = at + 1
			return
		}
		flat, pieces = append(flat, x), append(pieces, piece{from: at, to: at + 1})
	}
	for at, x := range body {
		parts := s.splits(x)
		if parts == nil {
			put(x, at)
			continue
		}
		if len(flat) > maxFlat+4*len(body) {
			return body, nil
		}
		for range x.Count {
			for _, y := range parts {
				put(y, at)
			}
		}
	}
	return flat, pieces
}

func (s *straightener) splits(x Symbol) []Symbol {
	if x.TerminalOrRule >= 0 || x.Count > maxTwice {
		return nil
	}
	return s.apart[-x.TerminalOrRule]
}

// mark finds the progressions in an expanded body. It cancels the expansions that no progression needs, and reports
// whether there are any progressions.
func mark(flat []Symbol, pieces []piece) (some bool) {
	apart := make([]bool, pieces[len(pieces)-1].to)
	for i := 0; i < len(flat); {
		w, n := FindProgression(flat[i:])
		if n < minHidden {
			i++
			continue
		}
		for ; n > 0; n-- {
			for range w {
				pieces[i].round = true
				for at := pieces[i].from; at < pieces[i].to; at++ {
					apart[at] = true
				}
				i++
			}
		}
		some = true
	}
	// All pieces from one symbol of the body are expanded together.
	spread := func(p *piece) {
		if slices.Contains(apart[p.from:p.to], true) {
			for at := p.from; at < p.to; at++ {
				apart[at] = true
			}
		}
	}
	for i := range pieces {
		spread(&pieces[i])
	}
	for i := range slices.Backward(pieces) {
		spread(&pieces[i])
	}
	for i := range pieces {
		pieces[i].apart = apart[pieces[i].from]
	}
	return some
}

// tokens returns a body in which each progression is replaced by a rule that has the progression as its body.
func (s *straightener) tokens(body, flat []Symbol, pieces []piece) []Symbol {
	var list []Symbol
	for i, next := 0, 0; i < len(flat); { // next is the next symbol of the body
		p := &pieces[i]
		switch {
		case p.round:
			w, n := FindProgression(flat[i:])
			list = append(list, Symbol{s.progression(flat[i : i+w*n]), 1})
			i += w * n
			continue
		case p.apart:
			list = append(list, flat[i])
		default:
			list = append(list, body[max(next, p.from):max(next, p.to)]...)
			next = p.to
		}
		i++
	}
	return list
}

// progression returns, as Symbol.TerminalOrRule, the rule whose body is these rounds of a progression. It adds the rule
// if it is new.
func (s *straightener) progression(rounds []Symbol) int32 {
	var key []byte
	for _, x := range rounds {
		key = binary.AppendVarint(key, int64(x.TerminalOrRule))
		key = binary.AppendUvarint(key, x.Count)
	}
	r, ok := s.known[string(key)]
	if !ok {
		r = int32(len(s.rules))
		s.known[string(key)] = r
		s.rules = append(s.rules, slices.Clone(rounds))
	}
	return -r
}

// CompressSymbols compresses a list of symbols. The terminals of b are indices in ids, which has the symbols' terminals
// and rules.
func CompressSymbols(list []Symbol) (b *Builder, ids []int32) {
	number := make(map[int32]uint32)
	b = NewBuilder()
	for _, x := range list {
		n, known := number[x.TerminalOrRule]
		if !known {
			n = uint32(len(ids))
			number[x.TerminalOrRule] = n
			ids = append(ids, x.TerminalOrRule)
		}
		b.AppendRun(n, x.Count)
	}
	return b, ids
}

// replace makes tokens the body of rule r. It compresses them again, as a progression may itself be repeated.
func (s *straightener) replace(r int32, tokens []Symbol) {
	b, ids := CompressSymbols(tokens)
	shift := int32(len(s.rules)) - 1
	for i, body := range b.frozen().Rules {
		for k, x := range body {
			if x.TerminalOrRule >= 0 {
				body[k].TerminalOrRule = ids[x.TerminalOrRule]
			} else {
				body[k].TerminalOrRule -= shift
			}
		}
		if i == 0 {
			s.rules[r] = body
		} else {
			s.rules = append(s.rules, body)
		}
	}
}

// tidy returns g without rules that are unused, or used once with count 1. It numbers the rules by first use.
func (g *Grammar) tidy() *Grammar {
	uses := make([]int, len(g.Rules))
	order := g.RuleOrder()
	for _, r := range order {
		for _, x := range g.Rules[r] {
			if x.TerminalOrRule < 0 {
				uses[-x.TerminalOrRule]++
				if x.Count > 1 {
					uses[-x.TerminalOrRule]++
				}
			}
		}
	}
	whole := &Grammar{Rules: make([][]Symbol, len(g.Rules))}
	for _, r := range order { // a rule comes after those in its body
		var body []Symbol
		for _, x := range g.Rules[r] {
			if x.TerminalOrRule < 0 && uses[-x.TerminalOrRule] == 1 {
				body = append(body, whole.Rules[-x.TerminalOrRule]...)
			} else {
				body = append(body, x)
			}
		}
		whole.Rules[r] = body
	}
	number := make([]int32, len(g.Rules))
	out := &Grammar{}
	whole.walk(func(r int32) {
		number[r] = int32(len(out.Rules))
		out.Rules = append(out.Rules, whole.Rules[r])
	}, nil, nil)
	for _, body := range out.Rules {
		for i, x := range body {
			if x.TerminalOrRule < 0 {
				body[i].TerminalOrRule = -number[-x.TerminalOrRule]
			}
		}
	}
	return out
}
