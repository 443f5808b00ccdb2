package model

import "slices"

// A MergedSizes is a family of message sizes, in bytes. Similar ones were replaced by one size to make the trace
// smaller. The family is the sizes of messages with certain tags, or those in calls of certain collective functions.
type MergedSizes struct {
	Functions        []uint16 // IDs of collective functions; nil: the family is of messages
	Tags             []int64  // tags of messages, in rising order; nil: all tags
	PrecisionPercent int      // percent: merged sizes are within (100 − Precision) % of each other
	UnmergedCalls    uint64   // number of calls whose sizes were not replaced
	Distribution              // Least and Most of all sizes of the family; Bins of replaced sizes only
}

// An Extreme is the least or greatest of some values, and the lowest rank that had it.
type Extreme struct {
	Value int64
	Rank  int
}

// A Bin is a range of values (of message sizes, for instance) that one value replaces.
type Bin struct {
	Low, High      int64  // least and greatest of the replaced values
	ReplacingValue int64  // the value that replaces them
	Count          uint64 // how often any of the replaced values occurred
}

// HasTag reports whether the family is of messages, and includes those with this tag.
func (t *MergedSizes) HasTag(tag int64) bool {
	return len(t.Functions) == 0 && (t.Tags == nil || slices.Contains(t.Tags, tag))
}

// BinOfReplacingValue returns the bin whose Value is size; nil if size replaces no others in the trace.
func (t *MergedSizes) BinOfReplacingValue(size int64) *Bin {
	for i := range t.Bins {
		if t.Bins[i].ReplacingValue == size {
			return &t.Bins[i]
		}
	}
	return nil
}

// A SyntheticLoops is a family of loops with synthetic trip counts: those in the trace were drawn from Distribution,
// that of the recorded ones. Loops of different ranks that exchange messages with each other are one family.
type SyntheticLoops struct {
	// PrecisionPercent is in percent: trip counts in a bin are within (100 − Precision) % of each other, unless that would
	// take too many bins.
	PrecisionPercent int
	LoopRuns         uint64 // how often the loops were executed; ranks that execute a loop together count as one
	Distribution
}

// A SyntheticMessages is a family of messages with synthetic partners, sizes and tags, drawn from the distributions of
// the recorded ones. It has the messages of intervals between collective calls of all ranks; intervals whose messages
// are sent from the same call sites are one family. In the trace, an interval's messages are one or more exchanges. In
// an exchange, each rank sends the same list of messages: each has a distance to the receiver, a size and a tag.
type SyntheticMessages struct {
	Seed              uint64
	Intervals         uint64
	ExchangeCount     uint64 // number of exchanges in these intervals
	DistinctExchanges int    // number of different exchanges
	WrapsAround       bool   // whether rank distances wrap around from the last rank to rank 0, as on a ring
	// Numbers of the memory segments, the same on all ranks, that synthetic messages are sent from and received into.
	// No other calls use them.
	SendSegment, ReceiveSegment int64

	RankDistances       Distribution // the receiver's rank minus the sender's, in the communicator
	Sizes               Distribution // message sizes in bytes
	Tags                Distribution
	MessagesPerInterval Distribution // number of messages of a rank in an interval
}

// A Distribution says how often values occurred. Bins are in rising order and contain all values, unless the comment of
// a field of this type says otherwise.
type Distribution struct {
	Least, Most Extreme
	Bins        []Bin
}

// Count returns the number of values in all bins.
func (d *Distribution) Count() (n uint64) {
	for i := range d.Bins {
		n += d.Bins[i].Count
	}
	return n
}
