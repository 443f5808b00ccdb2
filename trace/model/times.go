package model

// Times summarises the calls of one terminal over all ranks of its class.
type Times struct {
	Duration, Gap Stat

	// What each rank of the class has of the sums, for all calls of the function
	// from the same place together: the first of their terminals has them, those of
	// the others are of no ranks.
	DurationTotals, GapTotals Spread
}

// FromStart is a Histogram's From where a thread's first call is; others are places.
const FromStart = -1
