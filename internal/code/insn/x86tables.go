package insn

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

// form returns what follows an opcode of a map, coded as above; vector says that the map was named by VEX, EVEX or XOP.
func form(m int, op byte, vector bool) byte {
	switch m {
	case mapOne:
		return oneByte[op]
	case map0F:
		f := twoByte[op]
		if vector && (f == 'r' || f == '-' && op != 0x77) {
			return 'm' // moves of masks
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
