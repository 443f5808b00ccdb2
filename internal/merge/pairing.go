package merge

// A pairing numbers pairs of numbers by first occurrence. A merge does that for each call and each value of a block
// of ranks. For speed it is an open hash table: no pair is ever removed, except all at once.
type pairing struct {
	slots []slot // a power of two of them
	used  int
	last  slot // the pair of the last lookup: equal pairs often follow each other
}

type slot struct{ a, b, num uint32 } // num is the number plus 1; 0: the slot is free

const minSlots = 1 << 8

// reset forgets all pairs.
func (p *pairing) reset() {
	if p.slots == nil {
		p.slots = make([]slot, minSlots)
	}
	clear(p.slots)
	p.used, p.last = 0, slot{}
}

// number returns the number of a pair, and whether it was there before.
func (p *pairing) number(a, b uint32) (n uint32, known bool) {
	if p.last.a == a && p.last.b == b && p.last.num > 0 {
		return p.last.num - 1, true
	}
	if 3*p.used >= 2*len(p.slots) {
		p.grow()
	}
	s := p.find(a, b)
	if known = s.num > 0; !known {
		p.used++
		*s = slot{a, b, uint32(p.used)}
	}
	p.last = *s
	return s.num - 1, known
}

// find returns the slot of a pair, or the free slot for it.
func (p *pairing) find(a, b uint32) *slot {
	mask := len(p.slots) - 1
	h := (uint64(a)<<32 | uint64(b)) * 0x9fb21c651e98df25
	for i := int(h>>32) & mask; ; i = (i + 1) & mask {
		if s := &p.slots[i]; s.num == 0 || s.a == a && s.b == b {
			return s
		}
	}
}

func (p *pairing) grow() {
	old := p.slots
	p.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.num > 0 {
			*p.find(s.a, s.b) = s
		}
	}
}
