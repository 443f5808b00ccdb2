package model

// A Partners is messages whose partners, sizes and tags were given up when the trace was made smaller: what they were is a
// distribution each, and what stands in the trace was drawn from these. The messages are those of intervals, which lie between two
// collective calls of all ranks; intervals in which messages are sent from the same places are one family. In each interval stand
// exchanges in their place, in which all ranks do the same: the k-th message of each goes by one distance, has one size and one tag.
type Partners struct {
	Seed      uint64
	Intervals uint64
	Rounds    uint64 // exchanges in these intervals
	Exchanges int    // how many of them are different
	Ring      bool   // the last rank is next to the first one; else nothing is sent beyond them
	// Segments of memory, on all ranks, from which what is drawn is sent and in which it is received, and nothing else.
	Sent, Received int64

	Relative Distribution // the receiver's rank in the communicator less the sender's
	Sizes    Distribution // bytes
	Tags     Distribution
	Numbers  Distribution // messages that a rank sent in an interval
}

// A Distribution is how often values were what. Bins are in rising order, and have all of them unless it is said that they don't.
type Distribution struct {
	Least, Most Extreme
	Bins        []Bin
}

// Count is how many values there were.
func (d *Distribution) Count() (n uint64) {
	for i := range d.Bins {
		n += d.Bins[i].Count
	}
	return n
}
