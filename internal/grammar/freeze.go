package grammar

import "slices"

// Grammar returns the grammar of everything appended so far. The Builder stays
// as it is.
func (b *Builder) Grammar() *Grammar {
	c := b.clone()
	c.finish()
	return c.freeze()
}

// clone returns a Builder in the same state that shares nothing with b.
func (b *Builder) clone() *Builder {
	c := *b
	c.nodes = slices.Clone(b.nodes)
	c.rules = slices.Clone(b.rules)
	c.index.slots = slices.Clone(b.index.slots)
	c.path = slices.Clone(b.path)
	c.dirty, c.replay = nil, nil
	return &c
}

// finish ends the last token and closes the end of the start rule.
func (b *Builder) finish() {
	switch b.mode {
	case collecting:
		b.push(int32(b.sym), unlimited-b.left)
	case following:
		const none = 1 << 31 // is no terminal
		done := b.nodes[b.cur].count - b.left
		if b.left == 0 {
			b.advance(none)
			done = 0
		}
		tok := int32(b.sym)
		b.retrace()
		if done > 0 {
			b.push(tok, done)
		}
	}
	b.mode, b.left = idle, 0
	for b.close() {
	}
}

// freeze copies the rules out, numbered by first use.
func (b *Builder) freeze() *Grammar {
	type place struct{ node, rule int32 }
	number := make([]int32, len(b.rules))
	g := &Grammar{Rules: make([][]Symbol, 1)}
	stack := []place{{b.nodes[0].next, 0}}
	for len(stack) > 0 {
		p := &stack[len(stack)-1]
		x := b.nodes[p.node]
		if x.count == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		s := Symbol{x.id, x.count}
		p.node = x.next
		body := &g.Rules[p.rule]
		if x.id < 0 {
			k := number[-x.id]
			if k == 0 {
				k = int32(len(g.Rules))
				number[-x.id] = k
				stack = append(stack, place{b.nodes[b.rules[-x.id].guard].next, k})
			}
			s.ID = -k
		}
		*body = append(*body, s)
		if s.ID < 0 && int(-s.ID) == len(g.Rules) {
			g.Rules = append(g.Rules, nil)
		}
	}
	return g
}
