package grammar

import "unsafe"

// A frame is a rule entered while following: the symbol that names it, and the number of its completed repetitions.
type frame struct {
	done uint64
	node int32
}

const frameSize = int(unsafe.Sizeof(frame{}))

// follow starts to predict another repetition of the rule named by root, which is the last symbol of the start
// rule.
func (b *Builder) follow(root int32) {
	b.mode = following
	b.root = root
	b.path = b.path[:0]
	b.expect(b.first(root))
}

// shortest is the least number of symbols of a rule that resume begins to follow.
const shortest = 4

// resume starts to follow a rule that begins with the last two symbols of the start rule, the first one being node n.
// It removes these two from the start rule. f is the node of the followed rule's first symbol. It returns false without
// a change if the rule is too short, or if some rule would be left with one use.
func (b *Builder) resume(n, f int32) bool {
	m, g := b.nodes[n].next, b.nodes[f].prev
	x := &b.nodes[n]
	if m != b.nodes[0].prev || b.nodes[g].count != 0 || g == 0 || b.seldom(x.id) || b.seldom(b.nodes[m].id) {
		return false
	}
	at := b.nodes[f].next
	for i, s := 2, at; i < shortest; i++ {
		if s = b.nodes[s].next; s == g {
			return false
		}
	}
	p := x.prev
	b.unindex(p)
	b.unuse(x.id)
	b.unuse(b.nodes[m].id)
	b.nodes[p].next, b.nodes[0].prev = 0, p
	b.freeNode(m)
	*x = node{id: b.nodes[g].id}
	b.use(x.id)
	b.mode, b.root, b.path = following, n, b.path[:0]
	b.passedBy(at)
	return true
}

// seldom reports whether removing a use of the rule would leave it with one.
func (b *Builder) seldom(id int32) bool { return id < 0 && b.rules[-id].uses < 3 }

// passedBy sets the cursor to the end of the symbol of node n, after all of the symbol's repetitions.
func (b *Builder) passedBy(n int32) {
	for b.nodes[n].id < 0 {
		b.path = append(b.path, frame{node: n, done: b.nodes[n].count - 1})
		n = b.final(n)
	}
	b.cur, b.sym, b.left = n, uint32(b.nodes[n].id), 0
}

// undo appends the followed part of a rule that resume chose, in the way it would have been appended without
// resume.
func (b *Builder) undo() {
	b.replay = b.replay[:0]
	b.passed(b.hold)
	list := append(b.undone[:0], b.replay...)
	if done := b.nodes[b.cur].count - b.left; done > 0 {
		list = append(list, Symbol{int32(b.sym), done})
	}
	b.unuse(b.nodes[b.root].id)
	b.freeNode(b.root)
	b.mode, b.left, b.undoing = idle, 0, true
	n := b.n
	for _, s := range list {
		if s.TerminalOrRule >= 0 {
			b.AppendRun(uint32(s.TerminalOrRule), s.Count)
			continue
		}
		b.flush()
		b.push(s.TerminalOrRule, s.Count)
	}
	b.n, b.undone, b.undoing = n, list[:0], false
}

// resumed appends to the start rule a use of the rule that resume began to follow, as the rule is now complete. If the
// start rule already ends with this rule, root becomes that symbol.
func (b *Builder) resumed() {
	last := b.nodes[0].prev
	if x := &b.nodes[last]; x.id == b.nodes[b.root].id {
		b.unindex(x.prev)
		b.unuse(x.id)
		b.freeNode(b.root)
		b.root = last
		return
	}
	b.link(last, b.root)
}

// first returns the first symbol of the rule that n names.
func (b *Builder) first(n int32) int32 {
	return b.nodes[b.rules[-b.nodes[n].id].guard].next
}

// expect enters rules until n is a token, which is then the expected one.
func (b *Builder) expect(n int32) {
	x := &b.nodes[n]
	for x.id < 0 {
		b.path = append(b.path, frame{node: n})
		n = b.first(n)
		x = &b.nodes[n]
	}
	b.cur, b.sym, b.left = n, uint32(x.id), x.count
}

// advance moves from a completed token to the next one, and reports whether that begins with sym.
func (b *Builder) advance(sym uint32) bool {
	n := b.nodes[b.cur].next
	for b.nodes[n].count == 0 { // the end of a body
		d := len(b.path) - 1
		if d < 0 {
			if b.nodes[b.root].count == 0 {
				b.resumed()
			}
			b.nodes[b.root].count++
			n = b.nodes[n].next
			break
		}
		f := &b.path[d]
		f.done++
		if f.done < b.nodes[f.node].count {
			n = b.nodes[n].next
			break
		}
		b.path = b.path[:d]
		n = b.nodes[f.node].next
	}
	b.expect(n)
	if b.sym != sym {
		return false
	}
	b.left--
	return true
}

// abandon ends following, as sym differs from the expected terminal.
func (b *Builder) abandon(sym uint32) {
	if b.nodes[b.root].count == 0 {
		b.undo()
		b.undoing = true
		b.n--
		b.Append(sym)
		b.undoing = false
		return
	}
	done := b.nodes[b.cur].count - b.left
	if sym == b.sym && done > 0 { // the token is longer than expected
		b.retrace()
		b.collect(sym, done+1)
		return
	}
	tok := int32(b.sym)
	b.retrace()
	if done > 0 {
		b.push(tok, done)
	}
	b.begin(sym)
}

// retrace ends following. It appends to the start rule the part of the followed rule that the cursor has passed,
// without the current token.
func (b *Builder) retrace() {
	b.replay = b.replay[:0]
	b.passed(b.hold)
	b.mode = idle
	for _, s := range b.replay {
		b.push(s.TerminalOrRule, s.Count)
	}
}

// passed calls f for each symbol that the cursor has passed in the followed rule, without the current token. count is
// how many repetitions of the symbol it has passed.
func (b *Builder) passed(f func(n int32, count uint64)) {
	n := b.first(b.root)
	for d := 0; ; d++ {
		stop := b.cur
		if d < len(b.path) {
			stop = b.path[d].node
		}
		for ; n != stop; n = b.nodes[n].next {
			f(n, b.nodes[n].count)
		}
		if d == len(b.path) {
			return
		}
		f(n, b.path[d].done)
		n = b.first(n)
	}
}

// hold schedules count repetitions of the symbol n for pushing. The use of its rule counts immediately, so that
// pushing earlier symbols cannot inline the rule.
func (b *Builder) hold(n int32, count uint64) {
	if count > 0 {
		id := b.nodes[n].id
		b.use(id)
		b.replay = append(b.replay, Symbol{id, count})
	}
}
