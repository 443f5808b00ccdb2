package model

import "slices"

// A MergedSizes is a family of sizes some of which were merged to make the trace smaller. A family is all sizes of
// messages with some tags, or those of collective functions. Sizes are in bytes.
type MergedSizes struct {
	Functions     []uint16 // of collective calls; nil: messages
	Tags          []int64  // of messages, in rising order; nil: all
	Precision     int      // percent: merged sizes are within (100 − Precision) % of each other
	UnmergedCalls uint64   // number of calls whose sizes are original
	Distribution           // the extremes of all sizes, and bins of the merged ones
}

// An Extreme is the least or greatest of some values, and the lowest rank that had it.
type Extreme struct {
	Value int64
	Rank  int
}

// A Bin is a range of sizes that one size replaces.
type Bin struct {
	Low, High int64  // the least and greatest replaced size
	Value     int64  // the size that replaces them in the trace
	Count     uint64 // the number of calls whose sizes it replaces
}

// HasTag reports whether a family is of messages with a tag.
func (t *MergedSizes) HasTag(tag int64) bool {
	return len(t.Functions) == 0 && (t.Tags == nil || slices.Contains(t.Tags, tag))
}

// Bin returns the bin whose Value is a size of the trace; nil if the size is original.
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
	Precision int    // percent: trip counts in a bin are within (100 − Precision) % of each other, if that takes few enough bins
	LoopRuns  uint64 // how often the loops were run; ranks that run a loop together count once
	Distribution
}

// A SyntheticMessages is a family of messages with synthetic partners, sizes and tags, drawn from the stored distributions
// of the original ones. It covers intervals between two global collective calls; intervals that send from the same
// call sites are one family. In the trace each interval consists of exchanges in which all ranks do the same. The
// k-th message of each exchange has one distance between ranks, one size and one tag.
type SyntheticMessages struct {
	Seed              uint64
	Intervals         uint64
	ExchangeRounds    uint64 // exchanges in these intervals
	DistinctExchanges int    // number of different exchanges
	WrapsAround       bool   // rank distances wrap around at the last rank; else no message crosses the ends
	// Segments of memory, on all ranks, that the synthetic messages are sent from and received in. Nothing else
	// uses them.
	SendSegment, ReceiveSegment int64

	RankDistances       Distribution // the receiver's rank minus the sender's, in the communicator
	Sizes               Distribution // message sizes in bytes
	Tags                Distribution
	MessagesPerInterval Distribution // number of messages of a rank in an interval
}

// A Distribution counts how often each value occurred. Bins are in rising order and cover all values, unless the
// field's comment says otherwise.
type Distribution struct {
	Least, Most Extreme
	Bins        []Bin
}

// Count returns the number of values.
func (d *Distribution) Count() (n uint64) {
	for i := range d.Bins {
		n += d.Bins[i].Count
	}
	return n
}
