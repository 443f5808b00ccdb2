package grammar

import "unsafe"

// An index finds the position of a digram in the grammar. The first digram that ends with a certain terminal has a
// slot by that terminal. Of the others, the first one that begins with a certain terminal has one, too. As
// terminals of new calls are numbered consecutively, these slots are adjacent in memory. All other digrams are in a
// hash table with open addressing and linear probing. Removing an entry moves later ones back, so that there are no
// tombstones.
type index struct {
	ends, begins digramTable
	slots        []slot // the hash table; its length is a power of two
	used         int    // number of used slots of the hash table
}

// A slot holds the node where the digram begins; node 0 (the guard of the start rule) marks an empty slot.
type slot struct {
	hash uint32
	node int32
}

// digramTable has slots indexed by terminals. A slot with a hash but with node 0 was used before; it is not used again.
type digramTable struct {
	slots []slot
	used  int
	far   bool // a terminal was much larger than all before: the table does not grow any more
}

const (
	slotSize   = int(unsafe.Sizeof(slot{}))
	firstSlots = 64
)

func (t *index) init() { t.slots = make([]slot, firstSlots) }

// hash mixes a digram into a number that is never 0.
func hash(id1 int32, count1 uint64, id2 int32, count2 uint64) uint32 {
	h := (uint64(uint32(id1))<<32 | uint64(uint32(id2))) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h += count1*0xbf58476d1ce4e5b9 ^ count2*0x94d049bb133111eb
	h *= 0xd6e8feb86659fd93
	return uint32(h>>32) | 1<<31
}

// enter returns the node where the digram of node n already occurs, or enters n and returns it.
func (t *index) enter(nodes []node, h uint32, n int32) int32 {
	x, y := &nodes[n], &nodes[nodes[n].next]
	if s := t.ends.at(y.id); s != nil {
		if s.hash == 0 {
			return t.ends.take(s, h, n)
		}
		if s.hash == h && s.node != 0 && same(nodes, s.node, x, y) {
			return s.node
		}
		if s = t.begins.at(x.id); s != nil {
			if s.hash == 0 {
				return t.begins.take(s, h, n)
			}
			if s.hash == h && s.node != 0 && same(nodes, s.node, x, y) {
				return s.node
			}
		}
	}
	mask := uint32(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.node == 0 {
			*s = slot{h, n}
			t.used++
			if t.used*3 > len(t.slots)*2 {
				t.grow()
			}
			return n
		}
		if s.hash == h && same(nodes, s.node, x, y) {
			return s.node
		}
	}
}

// at returns the slot of a terminal, or nil if id is a rule or a terminal without a slot. The table grows as long
// as terminals are numbered consecutively.
func (p *digramTable) at(id int32) *slot {
	if have := len(p.slots); int(id) >= have {
		if p.far = p.far || int(id) > 2*have+firstSlots; p.far {
			return nil
		}
		p.slots = append(p.slots, make([]slot, max(int(id)+1, 2*have)-have)...)
	} else if id < 0 {
		return nil
	}
	return &p.slots[id]
}

func (p *digramTable) take(s *slot, h uint32, n int32) int32 {
	*s = slot{h, n}
	p.used++
	return n
}

// leave removes node n if it is in the slot of terminal id. It reports whether it was there.
func (p *digramTable) leave(id, n int32) bool {
	if id < 0 || int(id) >= len(p.slots) || p.slots[id].node != n {
		return false
	}
	p.slots[id].node = 0
	p.used--
	return true
}

// same reports whether the digram at a node equals that of x and y.
func same(nodes []node, at int32, x, y *node) bool {
	f := &nodes[at]
	g := &nodes[f.next]
	return f.id == x.id && f.count == x.count && g.id == y.id && g.count == y.count
}

// remove removes node n, entered under hash h.
func (t *index) remove(nodes []node, h uint32, n int32) {
	if t.ends.leave(nodes[nodes[n].next].id, n) || t.begins.leave(nodes[n].id, n) {
		return
	}
	mask := uint32(len(t.slots) - 1)
	i := h & mask
	for t.slots[i].node != n {
		i = (i + 1) & mask
	}
	for j := i; ; {
		j = (j + 1) & mask
		s := t.slots[j]
		if s.node == 0 {
			break
		}
		// s may move back to i unless its home slot is in (i, j]
		if (j-s.hash)&mask >= (j-i)&mask {
			t.slots[i] = s
			i = j
		}
	}
	t.slots[i] = slot{}
	t.used--
}

func (t *index) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.node == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].node != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}
