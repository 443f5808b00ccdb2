package insn

const (
	x86Stack = 4
	x86Frame = 5
)

var x86Names = []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// Convention is that of the System V ABI.
func (m *x86Machine) Convention() Convention {
	return Convention{Stack: x86Stack, Pushed: 8, Kept: 1<<3 | 1<<5 | 1<<12 | 1<<13 | 1<<14 | 1<<15, Names: x86Names}
}

// operandPlace is where ModRM's operand is; false if that isn't told by one register.
func (x *operation) operandPlace() (Place, bool) {
	if !x.memory {
		return register(x.rm), true
	}
	return Place{Reg: int(x.base), Memory: true, Disp: int64(x.disp)}, x.base != noReg && x.index == noReg
}

func (m *x86Machine) Effect() Effect {
	x := &m.x
	if x.Kind != Plain {
		if x.opmap == mapOne && x.op&0xfc == 0xe0 { // LOOP
			return Effect{Changed: 1 << 1}
		}
		return Effect{}
	}
	if e, ok := x.step(); ok {
		if e.Size = 4; x.wide {
			e.Size = 8
		}
		return e
	}
	e := Effect{Changed: m.changed(), Size: x.size()}
	switch {
	case x.opmap == mapOne && !x.vector && x.op == 0x8d && x.base != noReg:
		e.Taken = true
	case x.memory && x.base != noReg && x.stores():
		e.Stored = true
	}
	e.Where = Place{Reg: int(x.base), Memory: true, Disp: int64(x.disp)}
	return e
}

// step is the effect of what moves a value, or adds a constant to one.
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
		e.Changed = 1 << x.low
		return e, true
	case op == 0x9d:
		return step(sp, sp, 8), true
	case op == 0xc9: // LEAVE
		e := step(sp, register(x86Frame), 8)
		e.Changed = 1 << x86Frame
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
	case x.opmap == map0F && x.op == 0xae: // all registers
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

// changed has the registers that a plain instruction writes.
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
