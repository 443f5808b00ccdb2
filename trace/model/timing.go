package model

import (
	"math"
	"slices"
)

// A SampleKind is how accurately a time is known, in rising order.
type SampleKind uint8

// The kinds of samples.
const (
	NoSample        SampleKind = iota // nothing was recorded
	MeanSample                        // the mean of similar calls
	HistogramSample                   // a value drawn from the histogram of similar calls: the samples together have its shape
	BoundedSample                     // the call's own time, within ErrorBound
	ExactSample                       // the call's own time
)

func (k SampleKind) String() string {
	return [...]string{"unknown", "mean", "histogram", "bounded", "exact"}[k]
}

// OfTheCallItself reports whether the time is that of the call itself, exactly or within a bound. Otherwise it is
// representative of similar calls.
func (k SampleKind) OfTheCallItself() bool { return k == BoundedSample || k == ExactSample }

// A Sample is a time in nanoseconds. The call's true time differs from Ns by at most ErrorBound, whatever the kind.
type Sample struct {
	Ns         uint64
	Kind       SampleKind
	ErrorBound uint64
}

// A Timing is how long a call took, and how long its thread was outside MPI
// before it. The gap before a thread's first call is 0.
type Timing struct {
	Duration, Gap Sample
	// RecorderNs and TracingOffNs are ns between the previous call and this one that belong to neither: the time of
	// the recorder or a plugin, and the time in which tracing was switched off. See Aside.
	RecorderNs, TracingOffNs uint64
	AsidesBeforeGap          bool // both times directly follow the previous call instead of directly preceding this one
}

// Asides returns the intervals between a call and the previous one of the same thread. The call began at start, the
// previous one ended at last.
func (t *Timing) Asides(index uint64, last, start int64) (list []PlacedAside) {
	at := start - int64(t.RecorderNs) - int64(t.TracingOffNs)
	if t.AsidesBeforeGap {
		at = min(at, last) // the end may be a sample of a histogram
	}
	if t.TracingOffNs > 0 {
		list = append(list, PlacedAside{at, Aside{BeforeCall: index, Ns: int64(t.TracingOffNs), TracingOff: true}})
		at += int64(t.TracingOffNs)
	}
	if t.RecorderNs > 0 {
		list = append(list, PlacedAside{at, Aside{BeforeCall: index, Ns: int64(t.RecorderNs), TracingOff: false}})
	}
	return list
}

// A PlacedAside is an Aside on the run's time line.
type PlacedAside struct {
	Start int64
	Aside
}

// LeafTimes sums up the times of the calls at a leaf, in nanoseconds.
type LeafTimes struct {
	Calls                   uint64
	SumGapNs, SumDurationNs float64
	// Of a leaf at the beginning of a loop: the calls that entered the loop, and the gaps before these.
	Entries       uint64
	SumEntryGapNs float64
	// OuterEntries has the same for those entries that also entered the next enclosing loop, then for those that entered
	// the one around that, and so on, as far as known.
	OuterEntries []LoopEntries
	// RanksWithFirst is how many ranks' first call at the leaf, or the gap before it, took far longer than the rest.
	// SumFirstGapNs and SumFirstDurationNs sum up the gaps before these first calls and their durations. SumGapNs and
	// SumDurationNs include both.
	RanksWithFirst                    uint64
	SumFirstGapNs, SumFirstDurationNs float64
	// SharedTimes: only the sum with calls at other leaves is known. The times are the leaf's share of it, in proportion
	// to the calls.
	SharedTimes bool
}

// LoopEntries are calls by which a loop was entered, and the gaps before these, in nanoseconds.
type LoopEntries struct {
	Calls    uint64
	SumGapNs float64
}

// EnteringAtLeast returns the calls that entered at least the given number of loops, counted from the innermost outwards; all
// calls for 0. If fewer loops are known it returns those of the outermost known one.
func (t *LeafTimes) EnteringAtLeast(loops int) LoopEntries {
	switch loops = min(loops, 1+len(t.OuterEntries)); {
	case loops == 0 || t.Entries == 0:
		return LoopEntries{t.Calls, t.SumGapNs}
	case loops == 1:
		return LoopEntries{t.Entries, t.SumEntryGapNs}
	}
	return t.OuterEntries[loops-2]
}

// MeanGapBefore is the mean gap before the calls that entered exactly a given number of loops.
func (t *LeafTimes) MeanGapBefore(loops int) float64 {
	x := t.EnteringAtLeast(loops)
	if known := min(loops, len(t.OuterEntries)); t.Entries > 0 && loops <= known {
		if more := t.EnteringAtLeast(loops + 1); more.Calls < x.Calls {
			x.Calls -= more.Calls
			x.SumGapNs = max(0, x.SumGapNs-more.SumGapNs)
		}
	}
	return x.SumGapNs / float64(max(1, x.Calls))
}

// FirstCallsDiffer reports whether a first call is shown separately: it takes at least twice as long as later ones, and the
// difference exceeds a hundredth of all time. All are nanoseconds on one rank.
func FirstCallsDiffer(first, later, all float64) bool {
	return first >= 2*later && first-later > all/100
}

// MeanFirst returns the mean gap and duration of the first call at the leaf on each of a number of ranks. It returns 0
// if these are unknown.
func (t *LeafTimes) MeanFirst(ranks uint64) (gap, duration float64) {
	n := float64(ranks)
	if t.RanksWithFirst == ranks {
		return t.SumFirstGapNs / n, t.SumFirstDurationNs / n
	}
	if t.Calls == ranks {
		return t.SumGapNs / n, t.SumDurationNs / n
	}
	// The first call enters all loops that begin with the leaf, and perhaps it alone enters the outermost one.
	if x := t.EnteringAtLeast(1 + len(t.OuterEntries)); t.Entries > 0 && x.Calls == ranks {
		return x.SumGapNs / n, 0
	}
	return 0, 0
}

// RemoveFirst removes the first calls from the sums, if they are known separately.
func (t *LeafTimes) RemoveFirst() {
	n := t.RanksWithFirst
	t.Calls, t.SumGapNs, t.SumDurationNs = t.Calls-n, max(0, t.SumGapNs-t.SumFirstGapNs), max(0, t.SumDurationNs-t.SumFirstDurationNs)
	if t.Entries >= n { // the first call at the beginning of a loop enters that and all enclosing loops
		t.Entries, t.SumEntryGapNs = t.Entries-n, max(0, t.SumEntryGapNs-t.SumFirstGapNs)
	}
	t.OuterEntries = slices.Clone(t.OuterEntries)
	for i := range t.OuterEntries {
		if x := &t.OuterEntries[i]; x.Calls >= n {
			*x = LoopEntries{x.Calls - n, max(0, x.SumGapNs-t.SumFirstGapNs)}
		}
	}
	t.RanksWithFirst, t.SumFirstGapNs, t.SumFirstDurationNs = 0, 0, 0
}

// Add adds the times of the same leaf on another rank.
func (t *LeafTimes) Add(o *LeafTimes) {
	t.Calls += o.Calls
	t.SumGapNs += o.SumGapNs
	t.SumDurationNs += o.SumDurationNs
	t.Entries += o.Entries
	t.SumEntryGapNs += o.SumEntryGapNs
	for i, x := range o.OuterEntries {
		if i == len(t.OuterEntries) {
			t.OuterEntries = append(t.OuterEntries, LoopEntries{})
		}
		t.OuterEntries[i].Calls += x.Calls
		t.OuterEntries[i].SumGapNs += x.SumGapNs
	}
	t.RanksWithFirst += o.RanksWithFirst
	t.SumFirstGapNs += o.SumFirstGapNs
	t.SumFirstDurationNs += o.SumFirstDurationNs
	t.SharedTimes = t.SharedTimes || o.SharedTimes
}

// A Clock maps a clock that ranks read to the run's time line, which is rank 0's clock. For rank 0's clock it is
// the zero value.
type Clock struct {
	ComparedAtNs [2]int64 // reading of the clock at each of the two comparisons
	OffsetNs     [2]int64 // rank 0's clock minus this one
	ErrorNs      int64    // largest error of the offsets
}

// maxDrift is more than the clock of any hardware drifts.
const maxDrift = 1e-3

// Drift is by how much rank 0's clock runs faster, relative to this one. The comparisons may show more than any
// hardware drifts. If their errors explain that, as in short runs and on busy machines, Drift is limited to maxDrift.
// Otherwise somebody has set the clock, and Drift is 0.
func (c Clock) Drift() float64 {
	if c.ComparedAtNs[1] <= c.ComparedAtNs[0] {
		return 0
	}
	apart := float64(c.ComparedAtNs[1]) - float64(c.ComparedAtNs[0])
	d := (float64(c.OffsetNs[1]) - float64(c.OffsetNs[0])) / apart
	if math.Abs(d) <= maxDrift {
		return d
	}
	if math.Abs(d)-2*float64(c.ErrorNs)/apart > maxDrift {
		return 0
	}
	return math.Copysign(maxDrift, d)
}

// base returns a reading of the clock and the offset at that time.
func (c Clock) base() (at, offset int64) {
	half := func(v [2]int64) int64 { return v[0] + (v[1]-v[0])/2 }
	return half(c.ComparedAtNs), half(c.OffsetNs)
}

// ToRunTime converts a reading of the clock to the time line, both in ns.
func (c Clock) ToRunTime(ns int64) int64 {
	at, offset := c.base()
	return ns + offset + int64(math.Round(c.Drift()*float64(ns-at)))
}

// FromRunTime converts a time of the time line to a reading of the clock: the inverse of ToRunTime.
func (c Clock) FromRunTime(ns int64) int64 {
	at, offset := c.base()
	since := ns - offset - at
	d := c.Drift()
	return at + since - int64(math.Round(float64(since)*d/(1+d)))
}
