package grammar

import (
	"slices"
	"unsafe"
)

// A node is a symbol of a body, or the guard that closes a body to a ring. Guards and free nodes have count 0.
type node struct {
	next, prev int32
	id         int32  // as Symbol.TerminalOrRule; for a guard: the negated number of its rule
	hash       uint32 // hash of the digram that begins here if it is in the index, else 0
	count      uint64
}

// A rule is a body, referred to by its guard, with the number of its uses.
type rule struct {
	guard int32
	uses  int32  // nodes that name it, plus scheduled pushes
	first uint32 // first terminal of its expansion
}

const (
	nodeSize   = int(unsafe.Sizeof(node{}))
	ruleSize   = int(unsafe.Sizeof(rule{}))
	symbolSize = int(unsafe.Sizeof(Symbol{}))
)

func (b *Builder) newNode(id int32, count uint64) int32 {
	n := b.freeNodes
	if n == 0 {
		if len(b.nodes) == cap(b.nodes) {
			// Go's append grows large slices by a quarter, which would copy five times as much.
			b.nodes = slices.Grow(b.nodes, len(b.nodes))
		}
		n = int32(len(b.nodes))
		b.nodes = append(b.nodes, node{id: id, count: count})
		return n
	}
	b.freeNodes = b.nodes[n].next
	b.nodes[n] = node{id: id, count: count}
	return n
}

func (b *Builder) freeNode(n int32) {
	b.nodes[n] = node{next: b.freeNodes}
	b.freeNodes = n
}

// newRule returns a rule with an empty body.
func (b *Builder) newRule() int32 {
	r := b.freeRules
	if r == 0 {
		r = int32(len(b.rules))
		b.rules = append(b.rules, rule{})
	} else {
		b.freeRules = b.rules[r].guard
	}
	g := b.newNode(-r, 0)
	b.nodes[g].next, b.nodes[g].prev = g, g
	b.rules[r] = rule{guard: g}
	return r
}

func (b *Builder) freeRule(r int32) {
	b.freeNode(b.rules[r].guard)
	b.rules[r] = rule{guard: b.freeRules}
	b.freeRules = r
}

// link inserts node n after node p.
func (b *Builder) link(p, n int32) {
	q := b.nodes[p].next
	b.nodes[p].next, b.nodes[n].prev = n, p
	b.nodes[n].next, b.nodes[q].prev = q, n
}

// use and unuse count the symbols that name a rule; terminals need no count.
func (b *Builder) use(id int32) {
	if id < 0 {
		b.rules[-id].uses++
	}
}

func (b *Builder) unuse(id int32) {
	if id < 0 {
		b.rules[-id].uses--
	}
}

// push appends a completed symbol to the start rule. If it names a rule, the caller has already counted the use.
func (b *Builder) push(id int32, count uint64) {
	for {
		last := b.nodes[0].prev
		if x := &b.nodes[last]; id < 0 && x.id == id {
			b.unindex(x.prev)
			x.count += count
			b.unuse(id)
			return
		}
		if !b.close() {
			n := b.newNode(id, count)
			b.link(last, n)
			b.check(last, false)
			b.settle()
			return
		}
	}
}

// close looks up the digram at the end of the start rule if that was postponed. It reports whether this changed the
// end, so that another call may be necessary.
func (b *Builder) close() bool {
	last := b.nodes[0].prev
	p := b.nodes[last].prev
	if b.nodes[p].count == 0 || b.nodes[p].hash != 0 {
		return false
	}
	changed := b.check(p, true)
	b.settle()
	return changed
}

// settle checks the digrams in dirty until none is left. A node may have been freed or reused since it was added:
// check looks at its present state.
func (b *Builder) settle() {
	for len(b.dirty) > 0 {
		n := b.dirty[len(b.dirty)-1]
		b.dirty = b.dirty[:len(b.dirty)-1]
		b.check(n, false)
	}
}

// check processes the digram that begins at n: it merges equal rules, replaces the digram if it occurs elsewhere,
// and otherwise enters it into the index. It ignores an open end unless closing is set. It reports whether the
// grammar changed.
func (b *Builder) check(n int32, closing bool) bool {
	x := &b.nodes[n]
	m := x.next
	y := &b.nodes[m]
	if x.count == 0 || y.count == 0 || x.hash != 0 {
		return false
	}
	if y.id < 0 {
		if x.id == y.id {
			b.merge(n, m)
			return true
		}
		if m == b.nodes[0].prev && !closing {
			return false
		}
	}
	h := hash(x.id, x.count, y.id, y.count)
	f := b.index.enter(b.nodes, h, n)
	if f == n {
		x.hash = h
		return false
	}
	if b.nodes[f].next == n || m == f {
		return false // a restored grammar may contain a a a, whose digrams overlap
	}
	if may := b.mode == collecting && !closing || b.mode == looking && closing; !may || b.plain || b.undoing || len(b.dirty) > 0 || !b.resume(n, f) {
		b.match(n, f)
	}
	return true
}

// unindex removes the digram that begins at n from the index, before one of its symbols changes.
func (b *Builder) unindex(n int32) {
	if h := b.nodes[n].hash; h != 0 {
		b.index.remove(b.nodes, h, n)
		b.nodes[n].hash = 0
	}
}

// merge adds the count of m to its left neighbour n, which names the same rule.
func (b *Builder) merge(n, m int32) {
	p, q := b.nodes[n].prev, b.nodes[m].next
	b.unindex(p)
	b.unindex(m)
	b.unuse(b.nodes[m].id)
	b.nodes[n].count += b.nodes[m].count
	b.nodes[n].next, b.nodes[q].prev = q, n
	b.freeNode(m)
	b.dirty = append(b.dirty, p, n)
}

// body returns the rule whose whole body is the digram at n; 0 if there is no such rule.
func (b *Builder) body(n int32) int32 {
	g := b.nodes[n].prev
	if b.nodes[g].count != 0 || b.nodes[b.nodes[n].next].next != g {
		return 0
	}
	return -b.nodes[g].id
}

// match replaces the digram at n and the equal one at f, which is in the index, by a rule: an existing rule if the
// digram is its whole body.
func (b *Builder) match(n, f int32) {
	r := b.body(f)
	if r != 0 {
		b.replace(n, r)
	} else if r = b.body(n); r != 0 {
		b.replace(f, r)
		b.dirty = append(b.dirty, n) // n replaces f in the index
	} else {
		r = b.newRule()
		g := b.rules[r].guard
		x, y := b.nodes[n], b.nodes[b.nodes[n].next]
		i, j := b.newNode(x.id, x.count), b.newNode(y.id, y.count)
		b.link(g, i)
		b.link(i, j)
		b.use(x.id)
		b.use(y.id)
		if x.id < 0 {
			b.rules[r].first = b.rules[-x.id].first
		} else {
			b.rules[r].first = uint32(x.id)
		}
		h := b.nodes[f].hash
		b.replace(f, r)
		b.replace(n, r)
		b.nodes[i].hash = h
		b.index.enter(b.nodes, h, i)
	}
	g := b.rules[r].guard
	b.inline(b.nodes[g].next)
	b.inline(b.nodes[g].prev)
}

// replace replaces the digram at n by rule r.
func (b *Builder) replace(n, r int32) {
	x := &b.nodes[n]
	m, p := x.next, x.prev
	q := b.nodes[m].next
	b.unindex(p)
	b.unindex(n)
	b.unindex(m)
	b.unuse(x.id)
	b.unuse(b.nodes[m].id)
	x.id, x.count = -r, 1
	b.rules[r].uses++
	x.next, b.nodes[q].prev = q, n
	b.freeNode(m)
	b.dirty = append(b.dirty, p, n)
}

// inline replaces n by the body of its rule, if this is the rule's only use.
func (b *Builder) inline(n int32) {
	x := b.nodes[n]
	if x.id >= 0 || x.count != 1 || b.rules[-x.id].uses != 1 {
		return
	}
	b.unindex(x.prev)
	b.unindex(n)
	g := b.rules[-x.id].guard
	i, j := b.nodes[g].next, b.nodes[g].prev
	b.nodes[x.prev].next, b.nodes[i].prev = i, x.prev
	b.nodes[j].next, b.nodes[x.next].prev = x.next, j
	b.freeNode(n)
	b.freeRule(-x.id)
	b.dirty = append(b.dirty, x.prev, j)
}
