// NewA64 decodes instructions of arm64 (A64): how control continues after each. For jump tables it follows
// constants through registers. It ignores all other computation.
//
// Encodings are those of the Arm Architecture Reference Manual for A-profile, chapter C4.

package insn

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// An a64Value is what is known about the content of a register.
type a64Value struct {
	kind valueKind
	// addr is a constant's value, the address of an entry's or target's table, or the address of a pointer.
	addr   uint64
	base   uint64 // of a target: the constant to which the entry is added
	size   int    // of an entry, in bytes
	signed bool   // of an entry: it is signed
	shift  uint   // of a target: by how much the entry is shifted
}

const (
	a64Size = 4  // of an instruction, in bytes
	a64Zero = 31 // number of the zero register and of the stack pointer
)

// An a64Machine is arm64's Decoder. Like x86Machine it processes instructions in address order.
type a64Machine struct {
	inst     Instruction
	word     uint32
	regs     [32]a64Value
	last     [32]uint64   // the last address that the register was given, 0 if none
	before   [32]a64Value // value before a load from the stack overwrote it, which usually happens at the end of a path
	count    int          // number of instructions decoded
	compared int          // number with which an index was compared last, or -1
	bound    int          // number of table entries that the last comparison allows; 0: unknown
	boundAt  int          // value of count at that comparison
}

// NewA64 returns a decoder of arm64's instructions.
func NewA64() Decoder {
	m := new(a64Machine)
	m.Reset()
	return m
}

func (m *a64Machine) InstructionAlignment() int { return a64Size }

func (m *a64Machine) Reset() {
	m.regs, m.last, m.before = [32]a64Value{}, [32]uint64{}, [32]a64Value{}
	m.compared, m.bound = -1, 0
}

// signedBits is the number in bits from to from+n-1, with its sign.
func signedBits(w uint32, from, n uint) uint64 {
	return uint64(int64(uint64(w)<<(64-from-n)) >> (64 - n))
}

func (m *a64Machine) Next(code []byte, addr uint64) (*Instruction, bool) {
	if len(code) < a64Size {
		return nil, false
	}
	w := binary.LittleEndian.Uint32(code)
	m.count++
	x := &m.inst
	m.word = w
	*x = Instruction{Addr: addr, Len: a64Size}
	switch {
	case w&0x7c000000 == 0x14000000: // B, BL
		x.Kind = KindJump
		if w>>31 != 0 {
			x.Kind = KindCall
		}
		x.Target = addr + signedBits(w, 0, 26)<<2
	case w&0xff000000 == 0x54000000: // B.cond, BC.cond
		x.Kind = KindBranch
		x.Target = addr + signedBits(w, 5, 19)<<2
		m.branched(w & 15)
	case w&0x7e000000 == 0x34000000: // CBZ, CBNZ
		x.Kind = KindBranch
		x.Target = addr + signedBits(w, 5, 19)<<2
	case w&0x7e000000 == 0x36000000: // TBZ, TBNZ
		x.Kind = KindBranch
		x.Target = addr + signedBits(w, 5, 14)<<2
	case w&0xfe000000 == 0xd6000000: // branch to a register's value
		m.register(w)
	case w&0xffe0001f == 0xd4200000, w&0xffe0001f == 0xd4400000, w&0xffff0000 == 0: // BRK, HLT, UDF
		x.Kind = KindTrap
	default:
		m.follow(w, addr)
	}
	switch x.Kind {
	case KindJump, KindReturn, KindIndirectJump:
		// The following code is on another path, on which these loads from the stack have not happened.
		for r, v := range m.before {
			if v.kind != unknown && m.regs[r].kind == unknown {
				m.regs[r] = v
			}
		}
		m.before = [32]a64Value{}
	}
	if x.Kind == KindCall || x.Kind == KindIndirectCall {
		for r := range 19 {
			m.regs[r] = a64Value{}
		}
		m.regs[30] = a64Value{}
	}
	return x, true
}

// register decodes a branch to a register's value, with or without authentication.
func (m *a64Machine) register(w uint32) {
	x := &m.inst
	switch w >> 21 & 7 {
	case 0:
		x.Kind = KindIndirectJump
	case 1:
		x.Kind = KindIndirectCall
	case 2, 4, 5: // RET, ERET, DRPS
		x.Kind = KindReturn
		return
	default:
		return
	}
	switch v := m.regs[w>>5&31]; v.kind {
	case pointer:
		x.IndirectTarget = IndirectTarget{Origin: TargetFromSlot, SlotAddr: v.addr}
	case entry, target:
		x.IndirectTarget = IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: v.addr, EntryBytes: v.size, SignedEntries: v.signed, Base: v.base, Shift: v.shift}}
		if m.bound > 0 && m.count-m.boundAt <= recent {
			x.IndirectTarget.Table.EntryCount = m.bound
		}
	case lost:
		x.IndirectTarget.Origin = TargetFromUnknownTable
	}
}

// branched sets the number of table entries that the last comparison allows, if this branch's condition is unsigned.
func (m *a64Machine) branched(condition uint32) {
	if m.compared < 0 {
		return
	}
	n := 0
	switch condition {
	case 2, 3: // not below, below
		n = m.compared
	case 8, 9: // above, not above
		n = m.compared + 1
	}
	if n > 0 {
		m.bound, m.boundAt = n, m.count
	}
	m.compared = -1
}

// follow updates what is known of registers after an instruction that continues at the next one, as far as jump tables
// need it.
func (m *a64Machine) follow(w uint32, addr uint64) {
	rd, rn, rm := w&31, w>>5&31, w>>16&31
	switch {
	case w&0x1f000000 == 0x10000000: // ADR, ADRP
		n := signedBits(w, 5, 19)<<2 | uint64(w>>29&3)
		if w>>31 != 0 {
			m.set(rd, a64Value{kind: constant, addr: addr&^0xfff + n<<12})
		} else {
			m.set(rd, a64Value{kind: constant, addr: addr + n})
		}
	case w&0xff800000 == 0x91000000: // ADD, a constant
		v := m.regs[rn]
		n := uint64(w >> 10 & 0xfff)
		if w>>22&1 != 0 {
			n <<= 12
		}
		if v.kind == constant && rn != a64Zero {
			m.set(rd, a64Value{kind: constant, addr: v.addr + n})
		} else {
			m.set(rd, a64Value{})
		}
	case w&0x7fc0001f == 0x7100001f: // CMP with a constant
		m.compared = int(w >> 10 & 0xfff)
	case w&0x7fe0ffe0 == 0x2a0003e0: // MOV
		m.set(rd, m.regs[rm])
	case w&0xffe00000 == 0x8b200000: // ADD, extended
		option, shift := w>>13&7, uint(w>>10&7)
		m.set(rd, m.sum(rn, rm, shift, option < 4, option >= 4))
	case w&0xffe00000 == 0x8b000000: // ADD, shifted left
		m.set(rd, m.sum(rn, rm, uint(w>>10&63), false, false))
	case w>>25&5 == 4: // loads and stores
		m.load(w, addr, rd, rn)
	case w>>25&7 == 7: // floating point and vectors
		general := w&0x5f20fc00 == 0x1e200000 || w&0xbfe0fc00 == 0x0e003c00 || w&0xbfe0fc00 == 0x0e002c00
		if general {
			m.set(rd, a64Value{})
		}
	case w>>25&0xe == 8, w>>25&7 == 5: // arithmetic
		m.set(rd, a64Value{})
	}
}

func (m *a64Machine) set(r uint32, v a64Value) {
	if r == a64Zero {
		return
	}
	m.regs[r] = v
	if v.kind == constant {
		m.last[r] = v.addr
	}
}

// restore forgets a register that a load from the stack writes: usually a path ends with such loads.
func (m *a64Machine) restore(r uint32) {
	if r != a64Zero {
		m.before[r] = m.regs[r]
	}
	m.set(r, a64Value{})
}

// address returns the constant that a register holds. If the register was written since, which may be on another
// path, it is the constant that the register got last.
func (m *a64Machine) address(r uint32) (uint64, bool) {
	if v := m.regs[r]; v.kind == constant {
		return v.addr, true
	}
	return m.last[r], m.last[r] != 0
}

// sum is the value of rn added to that of rm, which is shifted left and may be extended: with zeros, or by its
// sign.
func (m *a64Machine) sum(rn, rm uint32, shift uint, unsign, sign bool) a64Value {
	if m.regs[rn].kind == entry && shift == 0 {
		rn, rm = rm, rn
	}
	a, b := m.regs[rn], m.regs[rm]
	base, ok := m.address(rn)
	switch {
	case a.kind == lost || b.kind == lost, b.kind == entry && !ok:
		return a64Value{kind: lost}
	case b.kind != entry:
		return a64Value{}
	}
	b.kind, b.base, b.shift = target, base, shift
	b.signed = sign || b.signed && !unsign
	return b
}

// load follows loads of pointers and of entries of tables.
func (m *a64Machine) load(w uint32, addr uint64, rt, rn uint32) {
	if w>>26&1 != 0 { // loads and stores of vector registers
		if w&0x3b200c00 == 0x38000400 || w&0x3b200c00 == 0x38000c00 {
			m.set(rn, a64Value{})
		}
		return
	}
	base := m.regs[rn]
	switch {
	case w&0xff000000 == 0x58000000: // LDR, from beside the code
		m.set(rt, a64Value{kind: pointer, addr: addr + signedBits(w, 5, 19)<<2})
	case w&0xffc00000 == 0xf9400000: // LDR of eight bytes
		v := a64Value{}
		switch {
		case rn == a64Zero:
			m.restore(rt)
			return
		case base.kind == constant:
			v = a64Value{kind: pointer, addr: base.addr + uint64(w>>10&0xfff)<<3}
		}
		m.set(rt, v)
	case w&0x3f200c00 == 0x38200800 && w>>22&3 != 0: // LDR with an index
		v := a64Value{kind: lost}
		if table, ok := m.address(rn); ok {
			v = a64Value{kind: entry, addr: table, size: 1 << (w >> 30), signed: w>>22&3 != 1}
		}
		m.set(rt, v)
	case w&0x3b000000 == 0x39000000: // LDR and STR with a displacement
		if w>>22&3 != 0 {
			m.set(rt, a64Value{})
		}
	case w&0x3b000000 == 0x38000000:
		if w>>22&3 != 0 || w>>21&1 != 0 {
			m.set(rt, a64Value{})
		}
		if w>>21&1 == 0 && w>>10&1 != 0 { // the base register is updated
			m.set(rn, a64Value{})
		}
	case w&0x3a000000 == 0x28000000: // LDP and STP
		if w>>22&1 != 0 && rn == a64Zero {
			m.restore(rt)
			m.restore(w >> 10 & 31)
		} else if w>>22&1 != 0 {
			m.set(rt, a64Value{})
			m.set(w>>10&31, a64Value{})
		}
		if w>>23&1 != 0 {
			m.set(rn, a64Value{})
		}
	default: // exclusive, and rare ones
		m.set(rt, a64Value{})
		m.set(w>>16&31, a64Value{})
	}
}

var a64Names = sync.OnceValue(func() (list []string) {
	for r := range 31 {
		list = append(list, fmt.Sprintf("x%d", r))
	}
	return append(list, "sp")
})

// Convention returns the calling convention of the AAPCS64: x19 to x29 are callee-saved.
func (m *a64Machine) Convention() CallingConvention {
	return CallingConvention{StackPointer: a64Zero, CalleeSaved: 0x7ff << 19, RegisterNames: a64Names()}
}

func (m *a64Machine) Effect() Effect {
	w := m.word
	if m.inst.Kind != KindPlain {
		return Effect{}
	}
	rd, rn, rm := w&31, w>>5&31, w>>16&31
	n := int64(w >> 10 & 0xfff)
	if w>>22&1 != 0 {
		n <<= 12
	}
	changed := m.changed()
	at := func(disp int64) Operand { return Operand{Reg: int(rn), IsMemory: true, Disp: disp} }
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
			e.StoredSize = 1 << scale
			return e
		}
		return Effect{StoresOther: true, StoredAt: at(disp), StoredSize: 8}
	case w&0x3b200400 == 0x38000400, w&0x3a800000 == 0x28800000: // the base register is updated
		n = int64(signedBits(w, 12, 9))
		if w&0x3a000000 == 0x28000000 {
			n = int64(signedBits(w, 15, 7)) << pairScale(w)
		}
		e := step(register(rn), register(rn), n)
		e.ClobberedRegisters = changed &^ (1 << rn)
		return e
	case w>>25&5 == 4: // other loads and stores
		e := Effect{ClobberedRegisters: changed, StoredSize: 64}
		switch {
		case w&0x3b000000 == 0x39000000:
			e.StoresOther, e.StoredAt = !load || w>>26&1 != 0 && w>>22&1 == 0, at(int64(w>>10&0xfff)<<scale)
			if w>>26&1 != 0 && w>>23&1 != 0 {
				e.StoredAt = at(int64(w>>10&0xfff) << 4)
			}
		case w&0x3b200c00 == 0x38000000:
			e.StoresOther, e.StoredAt = !load || w>>26&1 != 0 && w>>22&1 == 0, at(int64(signedBits(w, 12, 9)))
		case w&0x3a000000 == 0x28000000:
			e.StoresOther, e.StoredAt = w>>22&1 == 0, at(int64(signedBits(w, 15, 7))<<pairScale(w))
		default:
			e.StoresOther, e.StoredAt = w&0x3f000000 != 0x18000000, at(0)
		}
		return e
	case w&0x1f000000 == 0x0b000000 && rn == a64Zero && w>>21&1 != 0: // an address on the stack, with an index
		return Effect{ClobberedRegisters: changed, AddressTaken: true, StoredAt: at(0)}
	}
	return Effect{ClobberedRegisters: changed}
}

// pairScale is by how much the displacement of a load or store of two registers is shifted.
func pairScale(w uint32) uint32 {
	if w>>26&1 != 0 { // vectors
		return 2 + w>>30
	}
	return 2 + w>>31
}

// changed returns the registers that the latest instruction writes, a bit for each, if it continues at the next one.
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
