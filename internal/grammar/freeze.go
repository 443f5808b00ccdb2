package grammar

import "slices"

// Grammar returns the grammar of everything appended so far, with progressions uncovered by straighten. The Builder
// does not change.
func (b *Builder) Grammar() *Grammar { return b.frozen().straighten() }

func (b *Builder) frozen() *Grammar { return b.clone().last() }

// TakeGrammar is Grammar without a copy of b, which becomes unusable.
func (b *Builder) TakeGrammar() *Grammar { return b.last().straighten() }

func (b *Builder) last() *Grammar {
	b.finish()
	return b.freeze()
}

// none is larger than any terminal.
const none = 1 << 31

// clone returns a Builder in the same state that shares nothing with b.
func (b *Builder) clone() *Builder {
	c := *b
	c.nodes = slices.Clone(b.nodes)
	c.rules = slices.Clone(b.rules)
	for _, s := range []*[]slot{&c.index.slots, &c.index.ends.slots, &c.index.begins.slots} {
		*s = slices.Clone(*s)
	}
	c.path = slices.Clone(b.path)
	c.dirty, c.replay, c.undone, c.scratch = nil, nil, nil, scratch{}
	return &c
}

// finish ends the last token and closes the end of the start rule.
func (b *Builder) finish() {
	b.flush()
	for b.close() {
	}
}

// flush ends the last token, and appends it and the followed part before it to the start rule.
func (b *Builder) flush() {
	b.leave()
	if b.mode == following && b.nodes[b.root].count == 0 {
		b.undo()
		b.leave()
	}
	switch b.mode {
	case collecting:
		b.mode = idle
		b.push(int32(b.sym), unlimited-b.left)
	case following:
		done, tok := b.nodes[b.cur].count-b.left, int32(b.sym)
		b.retrace()
		if done > 0 {
			b.push(tok, done)
		}
	}
	b.mode, b.left = idle, 0
}

// leave moves on from a token that was followed to its end.
func (b *Builder) leave() {
	if b.mode == following && b.left == 0 {
		b.advance(none)
	}
}

// freeze copies the rules into a Grammar, numbered by first use.
func (b *Builder) freeze() *Grammar {
	number := make([]int32, len(b.rules))
	g := &Grammar{Rules: make([][]Symbol, 1, len(b.rules))}
	room := make([]Symbol, 0, len(b.nodes))
	take := func(r int32) []Symbol { // returns a body with rules numbered as in b
		from := len(room)
		if room = b.copyBody(room, r); len(room) == from {
			return nil
		}
		return room[from:len(room):len(room)]
	}
	g.Rules[0] = take(0)
	stack := [][]Symbol{g.Rules[0]}
	for len(stack) > 0 {
		p := &stack[len(stack)-1]
		if len(*p) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		s := &(*p)[0]
		*p = (*p)[1:]
		if s.TerminalOrRule >= 0 {
			continue
		}
		k := number[-s.TerminalOrRule]
		if k == 0 {
			k = int32(len(g.Rules))
			number[-s.TerminalOrRule] = k
			body := take(-s.TerminalOrRule)
			g.Rules = append(g.Rules, body)
			stack = append(stack, body)
		}
		s.TerminalOrRule = -k
	}
	return g
}

// copyBody appends the body of rule r to list.
func (b *Builder) copyBody(list []Symbol, r int32) []Symbol {
	for x := &b.nodes[b.nodes[b.rules[r].guard].next]; x.count != 0; x = &b.nodes[x.next] {
		list = append(list, Symbol{x.id, x.count})
	}
	return list
}

// AppendBinary appends the binary form of everything appended so far to dst. Grammar first completes a copy of the
// Builder; this does not. So the start rule may end with a few symbols that also occur elsewhere; ContinueGrammar merges
// them.
func (b *Builder) AppendBinary(dst []byte) []byte {
	w := &b.scratch
	if b.mode == following && b.left == 0 && b.nodes[b.root].count > 0 {
		c := *b
		w.path = append(w.path[:0], b.path...)
		b.path = w.path
		laps := b.nodes[b.root].count
		b.advance(none)
		defer func() {
			b.nodes[b.root].count = laps
			b.cur, b.path, b.sym, b.left = c.cur, c.path, c.sym, c.left
		}()
	}
	w.room, w.begins = w.room[:0], w.begins[:0]
	at, over := b.nodes[0].next, false // the next node of the start rule
	dst = appendBinary(dst, w, len(b.rules), func(r int32, depth int) []Symbol {
		if depth < len(w.begins) {
			w.room, w.begins = w.room[:w.begins[depth]], w.begins[:depth]
		}
		from := len(w.room)
		w.begins = append(w.begins, from)
		if r != 0 {
			w.room = b.copyBody(w.room, r)
			return w.room[from:]
		}
		// If there is little repetition, most symbols are in the start rule, so it is copied in parts.
		for ; at != 0 && len(w.room) < startPart; at = b.nodes[at].next {
			w.room = append(w.room, Symbol{b.nodes[at].id, b.nodes[at].count})
		}
		if at == 0 && !over {
			w.room, over = b.tail(w.room), true
		}
		return w.room
	})
	if cap(w.room) > muchScratch || len(b.rules) > muchScratch {
		*w = scratch{}
	}
	return dst
}

// startPart is how many symbols of the start rule are copied at a time.
const startPart = 256

// muchScratch is the size in symbols or rules above which scratch memory is freed.
const muchScratch = 1 << 10

// tail appends the symbols that are not yet in the start rule to list.
func (b *Builder) tail(list []Symbol) []Symbol {
	switch b.mode {
	case collecting:
		return append(list, Symbol{int32(b.sym), unlimited - b.left})
	case following:
		b.passed(func(n int32, count uint64) {
			if count > 0 {
				list = append(list, Symbol{b.nodes[n].id, count})
			}
		})
		if done := b.nodes[b.cur].count - b.left; done > 0 {
			list = append(list, Symbol{int32(b.sym), done})
		}
	}
	return list
}
