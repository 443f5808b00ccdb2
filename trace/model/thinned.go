package model

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
	if len(t.Functions) > 0 {
		return false
	}
	for _, x := range t.Tags {
		if x == tag {
			return true
		}
	}
	return t.Tags == nil
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
