// NewX86 decodes instructions of x86-64: how long each is, and where it leads. For jump tables it follows
// constants through registers. What instructions compute otherwise it doesn't know.
//
// Lengths follow Intel's manual, volume 2, chapter 2 and appendix A, and AMD's, volume 6, for XOP.

package insn

import "encoding/binary"

// maxLen is the length beyond which the processor refuses an instruction.
const maxLen = 15

// noReg means that an operand lacks a register.
const noReg = 0xff

// An operation is an instruction with everything about its operands that is in its encoding.
type operation struct {
	Instruction
	opmap    int  // opcode map
	op       byte // opcode
	vector   bool // has a VEX, EVEX or XOP prefix
	wide     bool // REX.W, VEX.W
	modrm    bool // has a ModRM byte
	memory   bool // ModRM's operand is in memory
	relative bool // the operand's address is relative to the next instruction
	middle   byte // ModRM's middle field without extension
	reg      byte // register that ModRM's middle field names
	rm       byte // register that ModRM's low field names, if ModRM's operand is not in memory
	base     byte // base register of the operand's address, or noReg
	index    byte // index register of the operand's address, or noReg
	scale    byte // factor of the index, as a shift
	low      byte // register that the opcode's low bits name, if they do
	second   byte // register that VEX's field vvvv names
	repeat   byte // prefix f2 or f3, or its equivalent in VEX
	disp     int32
	imm      int64
}

// prefixes of one instruction.
type prefixes struct {
	data16, address32 bool
	repeat            byte // f2 or f3
	rex               byte
	inverted          byte // R, X and B of VEX, EVEX and XOP, with the polarity of REX
}

// decode decodes the first instruction of code, at addr, into x. It returns false if it is invalid.
func (x *operation) decode(code []byte, addr uint64) bool {
	*x = operation{base: noReg, index: noReg, second: noReg}
	x.Addr = addr
	code = code[:min(len(code), maxLen)]
	var p prefixes
	at := 0
legacy:
	for ; at < len(code); at++ {
		switch c := code[at]; c {
		case 0x66:
			p.data16, p.rex = true, 0
		case 0x67:
			p.address32, p.rex = true, 0
		case 0xf2, 0xf3:
			p.repeat, p.rex = c, 0
		case 0xf0, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
			p.rex = 0
		default:
			if c&0xf0 != 0x40 {
				break legacy
			}
			p.rex = c
		}
	}
	at = x.opcode(code, at, &p)
	if at < 0 {
		return false
	}
	x.wide = x.wide || p.rex&8 != 0
	if !x.vector {
		x.repeat = p.repeat
	}
	x.low = x.op&7 | p.rex&1<<3
	f := form(x.opmap, x.op, x.vector)
	switch f {
	case 'x':
		return false
	case 'm', 'M', 'Z', 'g', 'G', 'R':
		if at = x.operand(code, at, &p); at < 0 {
			return false
		}
	}
	size := immediate(f, x, &p)
	if at+size > len(code) {
		return false
	}
	switch c := code[at:]; size {
	case 1:
		x.imm = int64(int8(c[0]))
	case 2:
		x.imm = int64(int16(binary.LittleEndian.Uint16(c)))
	case 4:
		x.imm = int64(int32(binary.LittleEndian.Uint32(c)))
	case 8:
		x.imm = int64(binary.LittleEndian.Uint64(c))
	}
	x.Len = at + size
	x.lead()
	return true
}

// opcode decodes what is between the legacy prefixes and the opcode, with the opcode. It returns the index after that;
// -1 if the bytes are invalid.
func (x *operation) opcode(code []byte, at int, p *prefixes) int {
	if at >= len(code) {
		return -1
	}
	rest := code[at:]
	first := rest[0]
	size := 1 // number of bytes up to the opcode, which is the last
	switch {
	case first == 0x0f:
		size, x.opmap = 2, map0F
		if len(rest) > 1 && (rest[1] == 0x38 || rest[1] == 0x3a) {
			size, x.opmap = 3, map0F38
			if rest[1] == 0x3a {
				x.opmap = map0F3A
			}
		}
	case first == 0xc5:
		size, x.opmap, x.vector = 3, map0F, true
	case first == 0xc4, first == 0x8f && len(rest) > 1 && rest[1]&0x1f >= 8:
		size, x.vector = 4, true
	case first == 0x62:
		size, x.vector = 5, true
	}
	if len(rest) < size {
		return -1
	}
	x.op = rest[size-1]
	switch {
	case size == 3 && x.vector:
		p.inverted = ^rest[1] >> 5 & 4
		x.second = ^rest[1] >> 3 & 15
		x.repeat = implied[rest[1]&3]
	case size >= 4:
		x.opmap = int(rest[1] & 0x1f)
		if size == 5 {
			if x.opmap = int(rest[1] & 7); x.opmap == 4 || x.opmap == 7 || rest[1]&8 != 0 || rest[2]&4 == 0 {
				return -1 // Intel's APX, which is not decoded
			}
		}
		p.inverted = ^rest[1] >> 5
		x.wide = rest[2]&0x80 != 0
		x.second = ^rest[2] >> 3 & 15
		x.repeat = implied[rest[2]&3]
		if x.opmap == 0 || (first == 0x8f) != (x.opmap >= 8) {
			return -1
		}
	}
	return at + size
}

// implied has the legacy prefix for each value of VEX's field pp, as far as operation.repeat distinguishes it.
var implied = [4]byte{2: 0xf3, 3: 0xf2}

// operand reads ModRM with its SIB byte and displacement, and returns the end; -1 if the code is too short.
func (x *operation) operand(code []byte, at int, p *prefixes) int {
	if at >= len(code) {
		return -1
	}
	m := code[at]
	at++
	ext := p.rex&7 | p.inverted
	x.modrm, x.middle = true, m>>3&7
	x.reg = x.middle | ext&4<<1
	x.rm = m&7 | ext&1<<3
	if m >= 0xc0 {
		return at
	}
	x.memory = true
	mode, low := m>>6, m&7
	if low == 4 {
		if at >= len(code) {
			return -1
		}
		sib := code[at]
		at++
		low = sib & 7
		x.scale = sib >> 6
		if i := sib>>3&7 | ext&2<<2; i != 4 {
			x.index = i
		}
		x.base = low | ext&1<<3
		if mode == 0 && low == 5 {
			x.base = noReg
		}
	} else if x.base = x.rm; mode == 0 && low == 5 {
		x.base, x.relative = noReg, true
	}
	size := 0
	switch {
	case mode == 1:
		size = 1
	case mode == 2, mode == 0 && low == 5:
		size = 4
	}
	if at+size > len(code) {
		return -1
	}
	switch size {
	case 1:
		x.disp = int32(int8(code[at]))
	case 4:
		x.disp = int32(binary.LittleEndian.Uint32(code[at:]))
	}
	return at + size
}

// immediate returns how many bytes follow the operand. f is what form returned for the opcode.
func immediate(f byte, x *operation, p *prefixes) int {
	z := 4
	if p.data16 && !x.wide {
		z = 2
	}
	switch f {
	case 'b', 'M':
		return 1
	case 'm':
		// SSE4a's moves of bit fields have two bytes for the field's length and position.
		if x.opmap == map0F && x.op == 0x78 && !x.vector && (p.data16 || p.repeat == 0xf2) {
			return 2
		}
	case 'z', 'Z':
		return z
	case 'w':
		return 2
	case 'e':
		return 3
	case 'r', 'R':
		return 4
	case 'g', 'G':
		if x.middle > 1 {
			return 0
		}
		if f == 'g' {
			return 1
		}
		return z
	case 'v':
		if x.wide {
			return 8
		}
		return z
	case 'o':
		if p.address32 {
			return 4
		}
		return 8
	}
	return 0
}

// lead sets Kind, and Target of a direct branch, jump or call.
func (x *operation) lead() {
	if x.vector {
		return
	}
	switch op := x.op; x.opmap {
	case mapOne:
		switch {
		case op&0xf0 == 0x70, op >= 0xe0 && op <= 0xe3:
			x.Kind = KindBranch
		case op == 0xe9, op == 0xeb:
			x.Kind = KindJump
		case op == 0xe8:
			x.Kind = KindCall
		case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb, op == 0xcf:
			x.Kind = KindReturn
		case op == 0xcc, op == 0xf4:
			x.Kind = KindTrap
		case op == 0xff && (x.middle == 2 || x.middle == 3):
			x.Kind = KindIndirectCall
		case op == 0xff && (x.middle == 4 || x.middle == 5):
			x.Kind = KindIndirectJump
		}
	case map0F:
		switch {
		case op&0xf0 == 0x80:
			x.Kind = KindBranch
		case op == 0x0b, op == 0xb9, op == 0xff:
			x.Kind = KindTrap
		}
	}
	if x.Kind == KindBranch || x.Kind == KindJump || x.Kind == KindCall {
		x.Target = x.End() + uint64(x.imm)
	}
}

// address returns the address of the operand in memory, if it is constant.
func (x *operation) address() (uint64, bool) {
	switch {
	case x.relative:
		return x.End() + uint64(int64(x.disp)), true
	case x.memory && x.base == noReg && x.index == noReg:
		return uint64(int64(x.disp)), true
	}
	return 0, false
}

// What follows an opcode, a letter for each of the 256: Intel's manual, volume 2, appendix A, in 64-bit mode.
//
//   - nothing               b  a byte
//     m  ModRM                 z  two bytes with prefix 66, else four
//     M  ModRM, a byte         w  two bytes
//     Z  ModRM, as z           e  three bytes
//     g  ModRM, and a byte if its middle field is 0 or 1
//     G  the same as z         v  as z, eight bytes with REX.W
//     o  an address            r  four bytes, whatever the prefix
//     x  no instruction
const oneByte = "" +
	"mmmmbzxxmmmmbzxx" + // 00; 0f leads to other tables
	"mmmmbzxxmmmmbzxx" + // 10
	"mmmmbzxxmmmmbzxx" + // 20; 26, 2e, 36 and 3e are prefixes
	"mmmmbzxxmmmmbzxx" + // 30
	"xxxxxxxxxxxxxxxx" + // 40: REX
	"----------------" + // 50
	"xxxmxxxxzZbM----" + // 60; 62 is EVEX
	"bbbbbbbbbbbbbbbb" + // 70
	"MZxMmmmmmmmmmmmm" + // 80; 8f may be XOP
	"----------x-----" + // 90
	"oooo----bz------" + // a0
	"bbbbbbbbvvvvvvvv" + // b0
	"MMw-xxMZe-w--bx-" + // c0; c4 and c5 are VEX
	"mmmmxxx-mmmmmmmm" + // d0
	"bbbbbbbbrrxb----" + // e0
	"x-xx--gG------mm" //   f0

const twoByte = "" +
	"mmmmx-----x-xm-M" + // 0f 00
	"mmmmmmmmmmmmmmmm" + // 0f 10
	"mmmmxxxxmmmmmmmm" + // 0f 20
	"------x-xxxxxxxx" + // 0f 30; 38 and 3a lead to other tables
	"mmmmmmmmmmmmmmmm" + // 0f 40
	"mmmmmmmmmmmmmmmm" + // 0f 50
	"mmmmmmmmmmmmmmmm" + // 0f 60
	"MMMMmmm-mmmmmmmm" + // 0f 70
	"rrrrrrrrrrrrrrrr" + // 0f 80
	"mmmmmmmmmmmmmmmm" + // 0f 90
	"---mMmmm---mMmmm" + // 0f a0
	"mmmmmmmmmmMmmmmm" + // 0f b0
	"mmMmMMMm--------" + // 0f c0
	"mmmmmmmmmmmmmmmm" + // 0f d0
	"mmmmmmmmmmmmmmmm" + // 0f e0
	"mmmmmmmmmmmmmmmm" //   0f f0

// An opcode map, as VEX, EVEX and XOP number them.
const (
	mapOne  = 0 // without 0f
	map0F   = 1
	map0F38 = 2
	map0F3A = 3
)

// form returns what follows an opcode of a map, as a letter of oneByte. vector says that VEX, EVEX or XOP named the
// map.
func form(m int, op byte, vector bool) byte {
	switch m {
	case mapOne:
		return oneByte[op]
	case map0F:
		f := twoByte[op]
		if vector && (f == 'r' || f == '-' && op != 0x77) {
			return 'm' // with VEX or EVEX all opcodes but 77, VZEROUPPER, have ModRM
		}
		return f
	case map0F38, 5, 6, 9:
		return 'm'
	case map0F3A, 8:
		return 'M'
	case 7, 10:
		return 'R' // ModRM, four bytes
	}
	return 'x'
}
