package grammar

import "slices"

// AppendRepeated appends the terminals in lap, laps times. Once a whole lap led from a position in a loop back to the
// same position, the remaining laps are only counted.
func (b *Builder) AppendRepeated(lap []uint32, laps uint64) {
	if len(lap) == 1 {
		b.AppendRun(lap[0], laps)
		return
	}
	for ; laps > 0; laps-- {
		from, n := followed{b.root, b.cur, b.left, append(b.before[:0], b.path...), b.nodes[b.root].count}, b.n
		b.before = from.path
		follows := b.mode == following
		for _, t := range lap {
			b.Append(t)
		}
		here := followed{b.root, b.cur, b.left, b.path, b.nodes[b.root].count}
		if follows && b.mode == following && here.same(&from) {
			b.nodes[b.root].count += (laps - 1) * (here.laps - from.laps)
			b.n += (laps - 1) * (b.n - n)
			return
		}
	}
}

// AppendAll appends the sequence of g with every terminal t replaced by f(t). Its time grows with g, not with the
// sequence: a repeated part is appended until the Builder recognises the repetition, and then counted. If it would have
// to append more than most symbols of g, it stops and returns false; the Builder is then useless.
func (b *Builder) AppendAll(g *Grammar, f func(uint32) uint32, most int) bool {
	if len(g.Rules) == 0 {
		return true
	}
	a := appender{b, g, f, most}
	return a.rule(0)
}

type appender struct {
	b    *Builder
	g    *Grammar
	f    func(uint32) uint32
	left int
}

func (a *appender) rule(r int32) bool {
	for _, s := range a.g.Rules[r] {
		if a.left--; a.left < 0 {
			return false
		}
		if s.TerminalOrRule >= 0 {
			a.b.AppendRun(a.f(uint32(s.TerminalOrRule)), s.Count)
			continue
		}
		var last followed
		for i := uint64(0); i < s.Count; i++ {
			before := a.b.n
			if !a.rule(-s.TerminalOrRule) {
				return false
			}
			here, ok := a.b.place(last.path[:0:0])
			if ok && here.same(&last) {
				// The appended part led from a position in a loop to the same position some laps later, and each
				// further repetition does the same.
				more := s.Count - i - 1
				a.b.nodes[here.root].count += more * (here.laps - last.laps)
				a.b.n += more * (a.b.n - before)
				break
			}
			last = here
		}
	}
	return true
}

// A followed is the cursor's position in the rule that the Builder follows.
type followed struct {
	root, cur int32
	left      uint64
	path      []frame
	laps      uint64 // completed repetitions of root
}

// place returns the cursor's position; false if no rule is followed.
func (b *Builder) place(path []frame) (followed, bool) {
	if b.mode != following {
		return followed{}, false
	}
	return followed{b.root, b.cur, b.left, append(path, b.path...), b.nodes[b.root].count}, true
}

// same reports whether p is the same position as q, in a later lap.
func (p *followed) same(q *followed) bool {
	return p.root == q.root && p.cur == q.cur && p.left == q.left && p.laps > q.laps && slices.Equal(p.path, q.path)
}

// Concatenate returns the concatenation of sequences. It reuses the bodies of parts, which become invalid.
func Concatenate(parts ...*Grammar) *Grammar {
	rules, first := 1, 0
	for _, h := range parts {
		if len(h.Rules) > 0 {
			rules, first = rules+len(h.Rules)-1, first+len(h.Rules[0])
		}
	}
	g := &Grammar{Rules: make([][]Symbol, 1, rules)}
	g.Rules[0] = make([]Symbol, 0, first)
	for i, h := range parts {
		g.join(h)
		parts[i] = nil // frees memory early
	}
	return g
}

func (g *Grammar) join(h *Grammar) {
	if len(h.Rules) == 0 || len(h.Rules[0]) == 0 {
		return
	}
	shift := int32(len(g.Rules)) - 1
	for r, body := range h.Rules {
		for i := range body {
			if body[i].TerminalOrRule < 0 {
				body[i].TerminalOrRule -= shift
			}
		}
		if r > 0 {
			g.Rules = append(g.Rules, body)
			continue
		}
		if end := len(g.Rules[0]) - 1; end >= 0 && body[0].TerminalOrRule >= 0 && g.Rules[0][end].TerminalOrRule == body[0].TerminalOrRule {
			g.Rules[0][end].Count += body[0].Count
			body = body[1:]
		}
		g.Rules[0] = append(g.Rules[0], body...)
	}
}
