// Package insn decodes instructions of x86-64 and arm64, and says of each what control flow needs to know, whatever the machine.
package insn

// A Kind says where an instruction leads.
type Kind uint8

// The kinds.
const (
	Plain        Kind = iota // to the next instruction
	Branch                   // to Target or to the next
	Jump                     // to Target
	Call                     // to Target, and from there to the next
	Return                   // to the caller
	IndirectJump             // to where Via says
	IndirectCall             // to where Via says, and from there to the next
	Stop                     // nowhere: a trap
)

// An Inst is a decoded instruction.
type Inst struct {
	Addr   uint64 // of its first byte
	Len    int    // in bytes
	Kind   Kind
	Target uint64 // address, of a Branch, Jump or Call
	Via    Via    // of an IndirectJump or IndirectCall
}

// End is the address of what follows the instruction: of a call, the return address.
func (i *Inst) End() uint64 { return i.Addr + uint64(i.Len) }

// A Way says how an indirect jump or call gets its target.
type Way uint8

// The ways.
const (
	ByPointer      Way = iota // a value that the code alone does not determine
	BySlot                    // a pointer at a fixed place, Slot, as the linker's tables of functions are
	ByTable                   // an entry of Table
	ByUnknownTable            // an entry of a table that was not found
)

// Via is the way of one indirect jump or call.
type Via struct {
	Way   Way
	Slot  uint64 // address of the pointer
	Table Table
}

// A Table is a jump table: entry k leads to Base + entry << Shift.
type Table struct {
	Addr   uint64 // of the first entry
	Size   int    // of an entry: 1, 2, 4 or 8 bytes
	Signed bool
	Base   uint64
	Shift  uint
	Count  int // of entries; 0 if it isn't known
}

// A Machine decodes the instructions of one architecture in address order, and follows values through registers as far
// as indirect jumps need that.
type Machine interface {
	// Reset forgets what is in registers: another function begins.
	Reset()
	// Next decodes the first instruction of code, which is at addr. It returns false if it is invalid: then the next
	// place to try is Step bytes on. The result is valid until the next call.
	Next(code []byte, addr uint64) (*Inst, bool)
	// Effect is what the instruction decoded last does to places.
	Effect() Effect
	// Convention is what calls keep.
	Convention() Convention
	// Step is the distance between places at which instructions may begin.
	Step() int
}

// A Place is a register, or what is in memory at a register's value and a distance from it.
type Place struct {
	Reg    int // as the architecture numbers it
	Memory bool
	Disp   int64
}

// An Effect is what an instruction does to places, as far as it is moves and steps by a constant. What a call does follows
// from the Convention.
type Effect struct {
	// Step: To gets what From has, and Add.
	Step     bool
	To, From Place
	Add      int64
	Changed  uint32 // registers that get another value, a bit for each; To is not among them
	// Stored: something else is written at Where. Taken: it is an address that a register gets.
	Stored, AddressTaken bool
	Where                Place
	Size                 int64 // of what is written to memory in bytes, at most
}

// A Convention is what an architecture's calls keep.
type Convention struct {
	StackPointer int      // the stack pointer's number
	Pushed       int64    // bytes between the stack pointer where a function begins and its frame's address
	CalleeSaved  uint32   // registers that a function gives back as they were, a bit for each
	Names        []string // of registers
}

func register[R int | byte | uint32](r R) Place { return Place{Reg: int(r)} }

func step(to, from Place, add int64) Effect { return Effect{Step: true, To: to, From: from, Add: add} }

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
