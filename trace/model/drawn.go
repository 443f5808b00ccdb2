package model

// A Drawn is a family of loops whose numbers of rounds were given up when the trace was made smaller: what they were is a
// distribution, and what stands in the trace is drawn from it. Loops that exchange messages are one family.
type Drawn struct {
	Precision int    // percent: numbers of a bin differ by no more than what is missing to 100, where there are few enough of them
	Runs      uint64 // how often the loops were run; ranks that run one together count once
	Distribution
}
