package model

import "slices"

// A MergedSizes is a family of sizes some of which were merged to make the trace smaller. A family is the sizes of messages
// with some tags, at the sender, the receiver and in statuses, or those of collective functions. Sizes are in bytes.
type MergedSizes struct {
	Functions     []uint16 // of collective calls; nil: messages
	Tags          []int64  // of messages, in rising order; nil: all
	Precision     int      // percent: sizes were merged that differ by no more than what is missing to 100
	UnmergedCalls uint64   // how many sizes are as they were, calls counted
	Distribution           // the extremes of all sizes, and bins of those that were merged
}

// An Extreme is the least or greatest of some values, and the lowest rank that had it.
type Extreme struct {
	Value int64
	Rank  int
}

// A Bin is a range of sizes that one size replaces.
type Bin struct {
	Low, High int64  // the least and the greatest of them
	Value     int64  // the size that replaces them in the trace
	Count     uint64 // the number of calls whose sizes it replaces
}

// HasTag reports whether a family is of messages with a tag.
func (t *MergedSizes) HasTag(tag int64) bool {
	return len(t.Functions) == 0 && (t.Tags == nil || slices.Contains(t.Tags, tag))
}

// Bin returns the bin that a size in the trace replaces; nil if the size is original.
func (t *MergedSizes) Bin(size int64) *Bin {
	for i := range t.Bins {
		if t.Bins[i].Value == size {
			return &t.Bins[i]
		}
	}
	return nil
}

// A SyntheticLoops is a family of loops with synthetic trip counts: those in the trace were drawn from the stored distribution
// of the original ones. Loops that exchange messages with each other are one family.
type SyntheticLoops struct {
	Precision int    // percent: numbers of a bin differ by no more than what is missing to 100, where there are few enough of them
	LoopRuns  uint64 // how often the loops were run; ranks that run one together count once
	Distribution
}

// A SyntheticMessages is a family of messages with synthetic partners, sizes and tags: those in the trace were drawn from the
// stored distributions of the original ones. It covers intervals between two collective calls of all ranks; intervals
// that send messages from the same call sites are one family. In the trace each interval has exchanges instead, in
// which all ranks do the same. The k-th message of each exchange has one distance between ranks, one size and one tag.
type SyntheticMessages struct {
	Seed              uint64
	Intervals         uint64
	ExchangeRounds    uint64 // exchanges in these intervals
	DistinctExchanges int    // how many of them are different
	WrapsAround       bool   // the last rank is next to the first one; else nothing is sent beyond them
	// Segments of memory, on all ranks, from which what is drawn is sent and in which it is received, and nothing else.
	SendSegment, ReceiveSegment int64

	RankDistances       Distribution // the receiver's rank in the communicator less the sender's
	Sizes               Distribution // bytes
	Tags                Distribution
	MessagesPerInterval Distribution // messages that a rank sent in an interval
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
