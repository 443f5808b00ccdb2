package insn

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
	Changed  uint32 // registers that get another value, a bit for each; To is none of them
	// Stored: something else is written at Where. Taken: it is an address that a register gets.
	Stored, Taken bool
	Where         Place
	Size          int64 // of what is written to memory in bytes, at most
}

// A Convention is what an architecture's calls keep.
type Convention struct {
	Stack  int      // the stack pointer's number
	Pushed int64    // bytes between the stack pointer where a function begins and its frame's address
	Kept   uint32   // registers that a function gives back as they were, a bit for each
	Names  []string // of registers
}

func register[R int | byte | uint32](r R) Place { return Place{Reg: int(r)} }

func step(to, from Place, add int64) Effect { return Effect{Step: true, To: to, From: from, Add: add} }
