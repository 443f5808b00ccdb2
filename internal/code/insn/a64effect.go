package insn

import (
	"fmt"
	"sync"
)

var a64Names = sync.OnceValue(func() (list []string) {
	for r := range 31 {
		list = append(list, fmt.Sprintf("x%d", r))
	}
	return append(list, "sp")
})

// Convention is that of the AAPCS64: x19 to x29.
func (m *a64Machine) Convention() Convention {
	return Convention{Stack: a64Zero, Kept: 0x7ff << 19, Names: a64Names()}
}

func (m *a64Machine) Effect() Effect {
	w := m.word
	if m.inst.Kind != Plain {
		return Effect{}
	}
	rd, rn, rm := w&31, w>>5&31, w>>16&31
	n := int64(w >> 10 & 0xfff)
	if w>>22&1 != 0 {
		n <<= 12
	}
	changed := m.changed()
	at := func(disp int64) Place { return Place{Reg: int(rn), Memory: true, Disp: disp} }
	load := w>>22&3 != 0
	switch scale := w >> 30; {
	case w&0x1f800000 == 0x11000000: // ADD and SUB, a constant
		if w>>30&1 != 0 {
			n = -n
		}
		if w>>29&1 != 0 && rd == a64Zero { // CMP, CMN
			return Effect{}
		}
		return step(register(rd), register(rn), n)
	case w&0x7fe0ffe0 == 0x2a0003e0 && rm != a64Zero: // MOV
		return step(register(rd), register(rm), 0)
	case w&0x3f000000 == 0x39000000 && scale >= 2, w&0x3f200c00 == 0x38000000 && scale >= 2: // a word or two, with a displacement
		disp := int64(w>>10&0xfff) << scale
		if w>>24&1 == 0 {
			disp = int64(signedBits(w, 12, 9))
		}
		switch {
		case load:
			return step(register(rd), at(disp), 0)
		case rd != a64Zero:
			e := step(at(disp), register(rd), 0)
			e.Size = 1 << scale
			return e
		}
		return Effect{Stored: true, Where: at(disp), Size: 8}
	case w&0x3b200400 == 0x38000400, w&0x3a800000 == 0x28800000: // the address changes
		n = int64(signedBits(w, 12, 9))
		if w&0x3a000000 == 0x28000000 {
			n = int64(signedBits(w, 15, 7)) << pairScale(w)
		}
		e := step(register(rn), register(rn), n)
		e.Changed = changed &^ (1 << rn)
		return e
	case w>>25&5 == 4: // other loads and stores
		e := Effect{Changed: changed, Size: 64}
		switch {
		case w&0x3b000000 == 0x39000000:
			e.Stored, e.Where = !load || w>>26&1 != 0 && w>>22&1 == 0, at(int64(w>>10&0xfff)<<scale)
			if w>>26&1 != 0 && w>>23&1 != 0 {
				e.Where = at(int64(w>>10&0xfff) << 4)
			}
		case w&0x3b200c00 == 0x38000000:
			e.Stored, e.Where = !load || w>>26&1 != 0 && w>>22&1 == 0, at(int64(signedBits(w, 12, 9)))
		case w&0x3a000000 == 0x28000000:
			e.Stored, e.Where = w>>22&1 == 0, at(int64(signedBits(w, 15, 7))<<pairScale(w))
		default:
			e.Stored, e.Where = w&0x3f000000 != 0x18000000, at(0)
		}
		return e
	case w&0x1f000000 == 0x0b000000 && rn == a64Zero && w>>21&1 != 0: // an address on the stack, with an index
		return Effect{Changed: changed, Taken: true, Where: at(0)}
	}
	return Effect{Changed: changed}
}

// pairScale is by how much the displacement of a load or store of two registers is shifted.
func pairScale(w uint32) uint32 {
	if w>>26&1 != 0 { // vectors
		return 2 + w>>30
	}
	return 2 + w>>31
}

// changed has the registers that a plain instruction writes.
func (m *a64Machine) changed() (set uint32) {
	var s a64Machine
	for r := range s.regs {
		s.regs[r] = a64Value{kind: untouched, addr: uint64(r)}
	}
	s.follow(m.word, m.inst.Addr)
	for r := range s.regs[:a64Zero] {
		if s.regs[r] != (a64Value{kind: untouched, addr: uint64(r)}) {
			set |= 1 << r
		}
	}
	return set
}
