// Package insn decodes instructions of x86-64 and arm64, and says of each what control flow needs to know, whatever the machine.
package insn

// A Kind is how control continues after an instruction.
type Kind uint8

// The kinds.
const (
	KindPlain        Kind = iota // to the next instruction
	KindBranch                   // to Target or to the next
	KindJump                     // to Target
	KindCall                     // to Target, and from there to the next
	KindReturn                   // to the caller
	KindIndirectJump             // to the target that IndirectTarget describes
	KindIndirectCall             // to the target that IndirectTarget describes, and from there to the next
	KindTrap                     // nowhere: a trap
)

// An Instruction is a decoded instruction.
type Instruction struct {
	Addr           uint64 // of its first byte
	Len            int    // in bytes
	Kind           Kind
	Target         uint64         // address, of a KindBranch, KindJump or KindCall
	IndirectTarget IndirectTarget // of a KindIndirectJump or KindIndirectCall
}

// End is the address after the instruction; for a call, the return address.
func (i *Instruction) End() uint64 { return i.Addr + uint64(i.Len) }

// A TargetOrigin is how an indirect jump or call gets its target.
type TargetOrigin uint8

// The origins of targets.
const (
	TargetFromPointer      TargetOrigin = iota // a value that the code alone does not determine
	TargetFromSlot                             // a pointer at a fixed place, Slot, as the linker's tables of functions are
	TargetFromTable                            // an entry of Table
	TargetFromUnknownTable                     // an entry of a table that was not found
)

// IndirectTarget is how one indirect jump or call gets its target.
type IndirectTarget struct {
	Origin   TargetOrigin
	SlotAddr uint64 // of a TargetFromSlot: address of the pointer
	Table    JumpTable
}

// A JumpTable is a jump table: entry k leads to Base + entry << Shift.
type JumpTable struct {
	Addr          uint64 // of the first entry
	EntryBytes    int    // size of an entry: 1, 2, 4 or 8 bytes
	SignedEntries bool
	Base          uint64
	Shift         uint
	EntryCount    int // number of entries; 0 if it isn't known
}

// A Decoder decodes the instructions of one architecture in address order, and follows values through registers as far
// as indirect jumps need that.
type Decoder interface {
	// Reset forgets the contents of registers, as another function begins.
	Reset()
	// Next decodes the first instruction of code, which is at addr. It returns false if it is invalid: then the next
	// place to try is Step bytes on. The result is valid until the next call.
	Next(code []byte, addr uint64) (*Instruction, bool)
	// Effect returns the effect of the last decoded instruction on registers and memory.
	Effect() Effect
	// Convention returns what calls preserve.
	Convention() CallingConvention
	// InstructionAlignment is the distance between places at which instructions may begin.
	InstructionAlignment() int
}

// An Operand is a register, or the memory at a register's value plus an offset.
type Operand struct {
	Reg      int // as the architecture numbers it
	IsMemory bool
	Disp     int64
}

// An Effect is what an instruction does to registers and memory, as far as it moves values or adds constants. The
// Convention determines the effect of calls.
type Effect struct {
	// IsMoveOrAdd: Destination gets the value of Source plus AddedConstant.
	IsMoveOrAdd         bool
	Destination, Source Operand
	AddedConstant       int64
	ClobberedRegisters  uint32 // registers that get another value, a bit for each; Destination is not among them
	// StoresOther: something other than Source plus AddedConstant is written at StoredAt. AddressTaken: a register gets
	// the address StoredAt.
	StoresOther, AddressTaken bool
	StoredAt                  Operand
	StoredSize                int64 // largest number of bytes written to memory
}

// A CallingConvention is what an architecture's calls preserve.
type CallingConvention struct {
	StackPointer     int      // the stack pointer's number
	CFAOffsetAtEntry int64    // bytes between the stack pointer where a function begins and its frame's address
	CalleeSaved      uint32   // registers that a function gives back as they were, a bit for each
	RegisterNames    []string // of registers
}

func register[R int | byte | uint32](r R) Operand { return Operand{Reg: int(r)} }

func step(to, from Operand, add int64) Effect {
	return Effect{IsMoveOrAdd: true, Destination: to, Source: from, AddedConstant: add}
}

// A valueKind is what is known about the content of a register.
type valueKind uint8

const (
	unknown  valueKind = iota
	constant           // a known number, such as an address
	pointer            // the content of memory at an address
	entry              // an entry of a jump table
	target             // an entry of a jump table plus a constant
	lost               // an entry of an unknown jump table

	// untouched is the value that a register had before the instruction.
	untouched valueKind = 255
)

// recent is how many instructions may lie between the comparison of an index with the length of its table
// and the jump.
const recent = 24
