package insn

// An x86Value is what is known about the content of a register.
type x86Value struct {
	kind  valueKind
	addr  uint64 // a constant's value, the address of an entry's or target's table, or the address of a pointer
	base  uint64 // of a target: the constant to which the entry is added
	size  uint8  // of an entry, in bytes
	from  byte   // register that the table's address was guessed from, or noReg
	plain bool   // of an entry: it was extended with zeros
}

// An x86Machine is x86-64's Decoder.
//
// Instructions are taken in address order instead of execution order: a register keeps its value until a later
// instruction writes to it. The result is a guess, and the reader of a jump table checks that its entries are in the
// function.
type x86Machine struct {
	x        operation
	regs     [16]x86Value
	last     [16]uint64   // the last address of data or code that the register was given, 0 if none
	before   [16]x86Value // value before a pop overwrote it, which usually happens at the end of a path
	count    int          // instructions decoded
	compared int64        // number with which an index was compared last, or -1
	bound    int          // number of table entries that the last comparison allows; 0: unknown
	boundAt  int          // value of count at that comparison
}

// NewX86 returns a decoder of x86-64's instructions.
func NewX86() Decoder {
	m := new(x86Machine)
	m.Reset()
	return m
}

func (m *x86Machine) InstructionAlignment() int { return 1 }

func (m *x86Machine) Reset() {
	m.regs, m.last, m.before = [16]x86Value{}, [16]uint64{}, [16]x86Value{}
	m.compared, m.bound = -1, 0
}

func (m *x86Machine) Next(code []byte, addr uint64) (*Instruction, bool) {
	x := &m.x
	if !x.decode(code, addr) {
		return nil, false
	}
	m.count++
	switch x.Kind {
	case KindIndirectJump:
		m.via()
		m.elsewhere()
	case KindIndirectCall:
		m.via()
		m.called()
	case KindJump, KindReturn:
		m.elsewhere()
	case KindCall:
		m.called()
	case KindBranch:
		m.branched()
	case KindPlain:
		m.follow()
	}
	return &x.Instruction, true
}

// called forgets the registers that a callee may change.
func (m *x86Machine) called() {
	for _, r := range [...]int{0, 1, 2, 6, 7, 8, 9, 10, 11} {
		m.regs[r] = x86Value{}
	}
}

// elsewhere restores the registers as they were before the path that ends here popped the caller's values: the
// following code is on another path.
func (m *x86Machine) elsewhere() {
	for r, v := range m.before {
		if v.kind != unknown && m.regs[r].kind == unknown {
			m.regs[r] = v
		}
	}
	m.before = [16]x86Value{}
}

// branched sets the number of table entries that the last comparison allows, if this branch's condition is unsigned.
func (m *x86Machine) branched() {
	if m.compared < 0 {
		return
	}
	n := 0
	switch m.x.op & 15 {
	case 2, 3: // below, not below
		n = int(m.compared)
	case 6, 7: // not above, above
		n = int(m.compared) + 1
	}
	if n > 0 {
		m.bound, m.boundAt = n, m.count
	}
	m.compared = -1
}

// via determines how an indirect jump or call gets its target.
func (m *x86Machine) via() {
	x := &m.x
	v := m.operandValue(8, false)
	switch v.kind {
	case pointer:
		x.IndirectTarget = IndirectTarget{Origin: TargetFromSlot, SlotAddr: v.addr}
	case entry, target:
		x.IndirectTarget = IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: v.addr, EntryBytes: int(v.size), SignedEntries: !v.plain, Base: v.base}}
		if v.kind == entry && v.size < 8 {
			// Entries that are addresses of fewer than 8 bytes are unsigned.
			x.IndirectTarget.Table.SignedEntries = false
		}
		if m.bound > 0 && m.count-m.boundAt <= recent {
			x.IndirectTarget.Table.EntryCount = m.bound
		}
	case lost:
		x.IndirectTarget.Origin = TargetFromUnknownTable
	}
}

// operandValue is the value of ModRM's operand, of size bytes if it is in memory.
func (m *x86Machine) operandValue(size uint8, plain bool) x86Value {
	x := &m.x
	if !x.memory {
		return m.regs[x.rm]
	}
	if a, ok := x.address(); ok {
		return x86Value{kind: pointer, addr: a}
	}
	disp := uint64(int64(x.disp))
	v := x86Value{size: size, from: noReg, plain: plain}
	switch {
	case x.index == noReg:
		if b := m.regs[x.base]; b.kind == constant {
			v.kind, v.addr = pointer, b.addr+disp
		}
	case x.base == noReg:
		v.kind, v.addr = entry, disp
	case m.regs[x.base].kind == constant:
		v.kind, v.addr = entry, m.regs[x.base].addr+disp
	case x.scale == 0 && m.regs[x.index].kind == constant:
		v.kind, v.addr = entry, m.regs[x.index].addr+disp
	case x.scale != 0 && m.last[x.base] != 0:
		// Something wrote to the register since, maybe on another path.
		v.kind, v.addr, v.from = entry, m.last[x.base]+disp, x.base
	default:
		v.kind = lost
	}
	return v
}

// sum returns the sum of two registers' values if one is an entry of a table and the other a constant; else it is
// unknown or lost.
func (m *x86Machine) sum(ra, rb byte) x86Value {
	a, b := m.regs[ra], m.regs[rb]
	if a.kind != entry {
		a, b, rb = b, a, ra
	}
	if a.kind == lost || b.kind == lost {
		return x86Value{kind: lost}
	}
	if a.kind != entry {
		return x86Value{}
	}
	switch {
	case b.kind == constant:
		a.base = b.addr
	case a.from == rb:
		a.base = m.last[rb]
	default:
		return x86Value{kind: lost}
	}
	a.kind = target
	return a
}

// follow updates what is known of registers after an instruction that continues at the next one, as far as jump tables
// need it.
func (m *x86Machine) follow() {
	x := &m.x
	if x.vector {
		m.followVector()
		return
	}
	switch x.opmap {
	case mapOne:
		m.followOne()
	case map0F:
		m.followTwo()
	case map0F38:
		if x.op >= 0xf0 {
			m.regs[x.reg] = x86Value{}
		}
	case map0F3A:
		if x.op >= 0x14 && x.op <= 0x17 {
			m.written()
		}
	}
}

// written forgets the register that is ModRM's operand, as the instruction writes it.
func (m *x86Machine) written() {
	if !m.x.memory {
		m.regs[m.x.rm] = x86Value{}
	}
}

func (m *x86Machine) followOne() {
	x := &m.x
	switch op := x.op; {
	case op < 0x40:
		m.arithmetic()
	case op >= 0x58 && op <= 0x5f: // POP
		m.before[x.low], m.regs[x.low] = m.regs[x.low], x86Value{}
	case op >= 0xb0 && op <= 0xb7, op >= 0x90 && op <= 0x97:
		if op == 0x90 && x.low == 0 {
			return // a NOP
		}
		m.regs[x.low] = x86Value{}
		if op >= 0x90 && op <= 0x97 {
			m.regs[0] = x86Value{}
		}
	case op == 0x63:
		m.regs[x.reg] = m.operandValue(4, false)
	case op == 0x69, op == 0x6b, op == 0x8a:
		m.regs[x.reg] = x86Value{}
	case op == 0x80, op == 0x81, op == 0x83:
		if x.middle != 7 {
			m.written()
		} else {
			m.compared = compared(x.imm)
		}
	case op == 0x86, op == 0x87:
		m.regs[x.reg] = x86Value{}
		m.written()
	case op == 0x89:
		if !x.memory {
			m.regs[x.rm] = m.regs[x.reg]
		}
	case op == 0x8b:
		size := uint8(4)
		if x.wide {
			size = 8
		}
		m.regs[x.reg] = m.operandValue(size, size == 4)
	case op == 0x8d:
		m.regs[x.reg] = m.effective()
		if x.relative {
			m.last[x.reg] = m.regs[x.reg].addr
		}
	case op == 0x98: // extends the sign of EAX
		m.regs[0].plain = false
	case op == 0x99:
		m.regs[2] = x86Value{}
	case op >= 0xb8 && op <= 0xbf:
		m.regs[x.low] = x86Value{kind: constant, addr: uint64(x.imm)}
	case op == 0x88, op == 0x8c, op == 0x8f, op == 0xc0, op == 0xc1, op == 0xc6, op >= 0xd0 && op <= 0xd3, op >= 0xfe:
		m.written()
	case op == 0xc7:
		if !x.memory {
			m.regs[x.rm] = x86Value{kind: constant, addr: uint64(x.imm)}
		}
	case op == 0xc9:
		m.regs[5] = x86Value{}
	case op >= 0xa4 && op <= 0xa7, op >= 0xaa && op <= 0xaf, op >= 0x6c && op <= 0x6f:
		m.regs[0], m.regs[1], m.regs[6], m.regs[7] = x86Value{}, x86Value{}, x86Value{}, x86Value{}
	case op == 0xf6, op == 0xf7:
		switch {
		case x.middle >= 4:
			m.regs[0], m.regs[2] = x86Value{}, x86Value{}
		case x.middle >= 2:
			m.written()
		}
	case op >= 0xa0 && op <= 0xa3, op == 0x9f, op >= 0xe4 && op <= 0xed, op == 0xd7:
		m.regs[0] = x86Value{}
	}
}

// compared is the number that an index is compared with, -1 if it can't be one.
func compared(imm int64) int64 {
	if imm < 0 || imm >= maxEntries {
		return -1
	}
	return imm
}

// maxEntries is the largest plausible length of a table.
const maxEntries = 1 << 16

// arithmetic follows add, or, adc, sbb, and, sub, xor and cmp.
func (m *x86Machine) arithmetic() {
	x := &m.x
	const add, cmp = 0, 7
	what := x.op >> 3
	switch form := x.op & 7; {
	case what == cmp:
		if form >= 4 {
			m.compared = compared(x.imm)
		} else {
			m.compared = -1
		}
	case what == add && form == 1 && !x.memory, what == add && form == 3 && !x.memory:
		v := m.sum(x.reg, x.rm)
		if form == 1 {
			m.regs[x.rm] = v
		} else {
			m.regs[x.reg] = v
		}
	case form <= 1:
		m.written()
	case form <= 3:
		m.regs[x.reg] = x86Value{}
	default:
		m.regs[0] = x86Value{}
	}
}

// effective is the address that LEA computes.
func (m *x86Machine) effective() x86Value {
	x := &m.x
	if a, ok := x.address(); ok {
		return x86Value{kind: constant, addr: a}
	}
	switch {
	case x.base != noReg && x.index == noReg:
		if b := m.regs[x.base]; b.kind == constant {
			return x86Value{kind: constant, addr: b.addr + uint64(int64(x.disp))}
		}
	case x.base != noReg && x.scale == 0 && x.disp == 0:
		return m.sum(x.base, x.index)
	}
	return x86Value{}
}

func (m *x86Machine) followTwo() {
	x := &m.x
	switch op := x.op; {
	case op >= 0x40 && op <= 0x4f, op == 0x2c, op == 0x2d, op == 0x50, op == 0xaf, op == 0xb2, op >= 0xb4 && op <= 0xb8,
		op >= 0xbc && op <= 0xbf, op == 0xc5, op == 0xd7, op == 0x02, op == 0x03:
		m.regs[x.reg] = x86Value{}
	case op >= 0x90 && op <= 0x9f, op == 0x7e, op == 0xab, op == 0xb3, op == 0xbb, op == 0xba, op == 0xa4, op == 0xa5, op == 0xac, op == 0xad,
		op == 0xc7, op == 0x00, op == 0x20, op == 0x21:
		m.written()
	case op == 0xb0, op == 0xb1, op == 0xc0, op == 0xc1:
		m.regs[0], m.regs[x.reg] = x86Value{}, x86Value{}
		m.written()
	case op >= 0xc8 && op <= 0xcf:
		m.regs[x.low] = x86Value{}
	case op == 0xa2, op == 0x01, op >= 0x30 && op <= 0x37, op == 0x05:
		for _, r := range [...]int{0, 1, 2, 3, 11} {
			m.regs[r] = x86Value{}
		}
	}
}

// followVector forgets the general registers that a few VEX instructions write.
func (m *x86Machine) followVector() {
	x := &m.x
	switch op := x.op; x.opmap {
	case map0F:
		switch op {
		case 0x2c, 0x2d, 0x50, 0x93, 0xc5, 0xd7:
			m.regs[x.reg] = x86Value{}
		case 0x7e:
			m.written()
		}
	case map0F38:
		if op >= 0xf0 {
			m.regs[x.reg], m.regs[x.second] = x86Value{}, x86Value{}
		}
	case map0F3A:
		if op == 0xf0 {
			m.regs[x.reg] = x86Value{}
		}
		if op >= 0x14 && op <= 0x17 {
			m.written()
		}
	case 9, 10:
		m.regs[x.reg], m.regs[x.second] = x86Value{}, x86Value{}
	}
}

const (
	x86Stack = 4
	x86Frame = 5
)

var x86Names = []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// Convention returns the calling convention of the System V ABI.
func (m *x86Machine) Convention() CallingConvention {
	return CallingConvention{StackPointer: x86Stack, CFAOffsetAtEntry: 8, CalleeSaved: 1<<3 | 1<<5 | 1<<12 | 1<<13 | 1<<14 | 1<<15, RegisterNames: x86Names}
}

// operandPlace is where ModRM's operand is; false if it depends on more than one register.
func (x *operation) operandPlace() (Operand, bool) {
	if !x.memory {
		return register(x.rm), true
	}
	return Operand{Reg: int(x.base), IsMemory: true, Disp: int64(x.disp)}, x.base != noReg && x.index == noReg
}

func (m *x86Machine) Effect() Effect {
	x := &m.x
	if x.Kind != KindPlain {
		if x.opmap == mapOne && x.op&0xfc == 0xe0 { // LOOP
			return Effect{ClobberedRegisters: 1 << 1}
		}
		return Effect{}
	}
	if e, ok := x.step(); ok {
		if e.StoredSize = 4; x.wide {
			e.StoredSize = 8
		}
		return e
	}
	e := Effect{ClobberedRegisters: m.changed(), StoredSize: x.size()}
	switch {
	case x.opmap == mapOne && !x.vector && x.op == 0x8d && x.base != noReg:
		e.AddressTaken = true
	case x.memory && x.base != noReg && x.stores():
		e.StoresOther = true
	}
	e.StoredAt = Operand{Reg: int(x.base), IsMemory: true, Disp: int64(x.disp)}
	return e
}

// step returns the effect of an instruction that moves a value, or adds a constant to one; false for any other.
func (x *operation) step() (Effect, bool) {
	if x.opmap != mapOne || x.vector {
		return Effect{}, false
	}
	rm, one := x.operandPlace()
	sp := register(x86Stack)
	switch op := x.op; {
	case op >= 0x50 && op <= 0x57, op == 0x68, op == 0x6a, op == 0x9c, op == 0xff && x.middle == 6: // PUSH
		return step(sp, sp, -8), true
	case op >= 0x58 && op <= 0x5f && x.low != x86Stack: // POP
		e := step(sp, sp, 8)
		e.ClobberedRegisters = 1 << x.low
		return e, true
	case op == 0x9d:
		return step(sp, sp, 8), true
	case op == 0xc9: // LEAVE
		e := step(sp, register(x86Frame), 8)
		e.ClobberedRegisters = 1 << x86Frame
		return e, true
	case op == 0x05, op == 0x2d:
		if op == 0x2d {
			x.imm = -x.imm
		}
		return step(register(0), register(0), x.imm), true
	case op == 0x98: // extends the sign of EAX
		return Effect{}, true
	case !one:
		return Effect{}, false
	case (op == 0x81 || op == 0x83) && x.middle == 0:
		return step(rm, rm, x.imm), true
	case (op == 0x81 || op == 0x83) && x.middle == 5:
		return step(rm, rm, -x.imm), true
	case op == 0xff && x.middle == 0:
		return step(rm, rm, 1), true
	case op == 0xff && x.middle == 1:
		return step(rm, rm, -1), true
	case op == 0x89:
		return step(rm, register(x.reg), 0), true
	case op == 0x8b, op == 0x63:
		return step(register(x.reg), rm, 0), true
	case op == 0x8d && x.base != noReg:
		return step(register(x.reg), register(x.base), int64(x.disp)), true
	}
	return Effect{}, false
}

// size is how many bytes an instruction may write to its operand in memory.
func (x *operation) size() int64 {
	switch {
	case x.opmap == mapOne && !x.vector:
		if x.op >= 0xd8 && x.op <= 0xdf { // of the floating-point unit
			return 28
		}
		return 8
	case x.opmap == map0F && x.op == 0xae: // FXSAVE and XSAVE store all registers
		return 4096
	case x.opmap == map0F && x.op == 0x11 && x.repeat == 0xf2, x.opmap == map0F && (x.op == 0x13 || x.op == 0x17 || x.op == 0xd6 || x.op == 0x7e),
		x.opmap == map0F && !x.vector && x.op >= 0x90 && x.op <= 0xc3:
		return 8
	case x.opmap == map0F && x.op == 0x11 && x.repeat == 0xf3:
		return 4
	case !x.vector:
		return 16
	}
	return 64
}

// changed returns the registers that the latest instruction writes, a bit for each, if it continues at the next one.
func (m *x86Machine) changed() (set uint32) {
	s := x86Machine{x: m.x}
	for r := range s.regs {
		s.regs[r] = x86Value{kind: untouched, addr: uint64(r)}
	}
	s.follow()
	for r := range s.regs {
		if s.regs[r] != (x86Value{kind: untouched, addr: uint64(r)}) {
			set |= 1 << r
		}
	}
	if x := &m.x; x.opmap == mapOne && !x.vector && x.op == 0xc8 { // ENTER
		set |= 1<<x86Stack | 1<<x86Frame
	}
	return set
}

// stores reports whether an instruction writes to its operand in memory, for all that is known.
func (x *operation) stores() bool {
	switch op := x.op; x.opmap {
	case mapOne:
		switch {
		case op < 0x40:
			return op&7 <= 1 && op>>3 != 7
		case op == 0x80, op == 0x81, op == 0x83:
			return x.middle != 7
		case op == 0xf6, op == 0xf7:
			return x.middle == 2 || x.middle == 3
		case op == 0xfe, op == 0xff:
			return x.middle <= 1
		case op == 0xd9, op == 0xdb, op == 0xdd, op == 0xdf: // some of these
			return true
		case op == 0x63, op == 0x69, op == 0x6b, op == 0x84, op == 0x85, op == 0x8a, op == 0x8b, op == 0x8d, op == 0x8e, op >= 0xd8 && op <= 0xde:
			return false
		}
		return true
	case map0F:
		switch {
		case op == 0x11, op == 0x13, op == 0x17, op == 0x29, op == 0x2b, op == 0x7e, op == 0x7f, op == 0xae, op == 0xc3, op == 0xc7, op == 0xd6, op == 0xe7,
			op == 0xab, op == 0xb3, op == 0xbb, op == 0xba, op == 0xa4, op == 0xa5, op == 0xac, op == 0xad, op == 0xb0, op == 0xb1, op == 0xc0, op == 0xc1,
			op >= 0x90 && op <= 0x9f:
			return true
		}
		return false
	case map0F38:
		return op == 0x2e || op == 0x2f || op == 0x63 || op >= 0x8a && op <= 0x8f || op >= 0xa0 && op <= 0xa3 || op == 0xf1 || op == 0xf5 || op == 0xf6 || x.vector && op >= 0x10 && op <= 0x35
	case map0F3A:
		return op >= 0x14 && op <= 0x17 || op == 0x19 || op == 0x1b || op == 0x1d || op == 0x39 || op == 0x3b
	}
	return true
}
