package insn

// A valueKind is what is known of what a register holds.
type valueKind uint8

const (
	unknown  valueKind = iota
	constant           // an address
	pointer            // what is in memory at an address
	entry              // what is in a table
	target             // an entry, added to a constant
	lost               // what is in a table that is not known

	// untouched is what a register held before the instruction.
	untouched valueKind = 255
)

// recent is how many instructions may lie between the comparison of an index with the length of its table
// and the jump.
const recent = 24
