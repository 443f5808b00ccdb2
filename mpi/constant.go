package mpi

// A Constant is a named value of the standard: a predefined handle or a number.
type Constant struct {
	Kind  Kind
	Name  string
	Value int64 // in the standard ABI

	raw [flavourEnd]raw
}

// raw is what a constant is in one flavour.
type raw struct {
	known  bool
	value  int64
	symbol string // exported object whose address is the value
}

// Constants returns the named constants of a kind.
func Constants(kind Kind) []Constant { return nil }
