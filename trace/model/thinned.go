package model

import "slices"

// A Thinned is a family of sizes that belong together, some of which were merged when the trace was
// made smaller: those of messages with some tags, at the sender, the receiver and in statuses, or those
// of collective functions. Sizes are in bytes.
type Thinned struct {
	Functions    []uint16 // of collective calls; nil: messages
	Tags         []int64  // of messages, in rising order; nil: all
	Precision    int      // percent: sizes were merged that differ by no more than what is missing to 100
	Kept         uint64   // how many sizes are as they were, calls counted
	Distribution          // the extremes of all sizes, and bins of those that were merged
}

// An Extreme is the least or greatest of some values, and the lowest rank that had it.
type Extreme struct {
	Value int64
	Rank  int
}

// A Bin is sizes of which one stands for all.
type Bin struct {
	Low, High int64  // the least and the greatest of them
	Value     int64  // what stands in the trace
	Count     uint64 // how many sizes it stands for, calls counted
}

// Has reports whether a family is of messages with a tag.
func (t *Thinned) Has(tag int64) bool {
	return len(t.Functions) == 0 && (t.Tags == nil || slices.Contains(t.Tags, tag))
}

// Bin returns the bin that a size in the trace stands for, nil if it is as it was.
func (t *Thinned) Bin(size int64) *Bin {
	for i := range t.Bins {
		if t.Bins[i].Value == size {
			return &t.Bins[i]
		}
	}
	return nil
}

// A Drawn is a family of loops whose numbers of rounds were given up when the trace was made smaller: what they were is a
// distribution, and what stands in the trace is drawn from it. Loops that exchange messages are one family.
type Drawn struct {
	Precision int    // percent: numbers of a bin differ by no more than what is missing to 100, where there are few enough of them
	Runs      uint64 // how often the loops were run; ranks that run one together count once
	Distribution
}

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
