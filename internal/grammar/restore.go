package grammar

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// CodeSequence writes the sequence of b. When reading, it expects terminals below n, and returns a new Builder that
// continues the sequence.
func (b *Builder) CodeSequence(c *wire.Coder, n int) *Builder {
	if c.Reader == nil {
		at := len(c.Buf)
		c.Buf = b.AppendBinary(c.Buf)
		c.Buf = slices.Insert(c.Buf, at, wire.AppendUvarint(nil, uint64(len(c.Buf)-at))...)
		return b
	}
	g, _, err := Decode(c.Reader.Blob())
	if err == nil {
		err = g.CheckTerminals(n)
	}
	if err != nil {
		c.RecordError(err)
		return b
	}
	return ContinueGrammar(g)
}

// CheckTerminals returns an error if g has a terminal that is not below n.
func (g *Grammar) CheckTerminals(n int) error {
	for _, t := range g.Terminals() {
		if int(t) >= n {
			return fmt.Errorf("grammar: terminal %d of %d", t, n)
		}
	}
	return nil
}

// ContinueGrammar returns a Builder that continues the sequence of g, a grammar that
// passes Check. If g came from a Builder, the new one compresses what follows
// as well as that one would.
func ContinueGrammar(g *Grammar) *Builder {
	b := NewBuilder()
	if g.Len() == 0 {
		return b
	}
	b.n = g.Len()
	b.load(g)
	b.tidy()
	b.reopen()
	return b
}

// load copies the reachable rules of g.
func (b *Builder) load(g *Grammar) {
	for range g.Rules[1:] {
		b.newRule()
	}
	g.walk(func(r int32) {
		guard := b.rules[r].guard
		for _, s := range g.Rules[r] {
			b.link(b.nodes[guard].prev, b.newNode(s.TerminalOrRule, s.Count))
			b.use(s.TerminalOrRule)
		}
	}, nil, func(r int32) {
		b.rules[r].first = uint32(g.Rules[r][0].TerminalOrRule)
		if id := g.Rules[r][0].TerminalOrRule; id < 0 {
			b.rules[r].first = b.rules[-id].first
		}
	})
	for r := range b.rules {
		if r > 0 && b.rules[r].uses == 0 {
			b.freeRule(int32(r))
		}
	}
}

// tidy establishes the invariants of a Builder, which a loaded grammar may violate anywhere.
func (b *Builder) tidy() {
	for n := range b.nodes {
		b.inline(int32(n))
	}
	for n := range b.nodes {
		b.dirty = append(b.dirty, int32(n))
	}
	b.settle()
}

// reopen removes the last token from the grammar again, as it may continue. After X^n the state is then that of
// having followed X to its end. If only one X is left, X is expanded until the last symbol is a token or can be
// followed.
func (b *Builder) reopen() {
	last := b.nodes[0].prev
	b.unindex(b.nodes[last].prev)
	b.replay = b.replay[:0]
	n := last
	x := &b.nodes[n]
	alone := x.id < 0 && x.count == 2 && b.rules[-x.id].uses == 1
	for x.id < 0 && (x.count == 1 || alone && n == last) {
		n = b.first(n)
		for b.nodes[b.nodes[n].next].count != 0 {
			b.hold(n, b.nodes[n].count)
			n = b.nodes[n].next
		}
		x = &b.nodes[n]
	}
	tok := *x
	if tok.id < 0 {
		b.hold(n, tok.count-1)
	}
	if y := &b.nodes[last]; y.count > 1 && y.id < 0 {
		y.count-- // for X^2 tidy then inlines X here
		if n == last {
			b.unuse(y.id)
			b.replay = b.replay[:0]
		}
	} else {
		b.unuse(y.id)
		p := y.prev
		b.nodes[p].next, b.nodes[0].prev = 0, p
		b.freeNode(last)
	}
	b.tidy()
	for _, s := range b.replay {
		b.push(s.TerminalOrRule, s.Count)
	}
	if tok.id >= 0 {
		b.collect(uint32(tok.id), tok.count)
	} else {
		b.followed(b.nodes[0].prev)
	}
}

// followed sets the cursor to the end of the rule that root names.
func (b *Builder) followed(root int32) {
	b.mode, b.root, b.path = following, root, b.path[:0]
	b.passedBy(b.final(root))
}

// final returns the last symbol of the rule that n names.
func (b *Builder) final(n int32) int32 {
	return b.nodes[b.rules[-b.nodes[n].id].guard].prev
}
