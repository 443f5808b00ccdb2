package model

// A Round is a loop of the outermost sequence of a stream.
type Round struct {
	Symbol int32  // which of the sequence's parts it is
	Count  uint64 // rounds
	Length uint64 // calls in each
}
