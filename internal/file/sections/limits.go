package sections

// What a file can hold besides model.MaxRanks. Writer and reader both look here: the one refuses, or chooses
// another coding, where the other would refuse. All else is bounded by the bytes that are
// really there.
const (
	// maxSignatures bounds the numbers of signatures.
	maxSignatures = 1 << 31
	// maxStacked bounds the distinct calls of a trace with stacks.
	maxStacked = 1<<31 - 2

	// A call may have MaxValues values, and valuesPerByte more for each byte of the table
	// of signatures: one that has more is coded value by value. A reader of the call
	// takes memory for all of them.
	MaxValues     = 1 << 22
	valuesPerByte = 1 << 12
)
