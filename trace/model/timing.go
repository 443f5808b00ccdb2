package model

import (
	"math"
	"slices"
)

// A SampleKind says how accurately a time is known. Higher kinds are more accurate.
type SampleKind uint8

// The kinds of times of a call, from the least to the most accurate.
const (
	NoSample        SampleKind = iota // unknown: no times were recorded
	MeanSample                        // the mean time of similar calls
	HistogramSample                   // drawn from the histogram of similar calls; all together have its distribution
	BoundedSample                     // the call's own time, within ErrorBoundNs
	ExactSample                       // the call's own time
)

func (k SampleKind) String() string {
	return [...]string{"unknown", "mean", "histogram", "bounded", "exact"}[k]
}

// OfTheCallItself reports whether a time of this kind is that of the call itself, exactly or within a bound. Otherwise
// it is that of similar calls, or unknown.
func (k SampleKind) OfTheCallItself() bool { return k == BoundedSample || k == ExactSample }

// A Sample is a call's duration or gap. The true time differs from Ns by at most ErrorBoundNs.
type Sample struct {
	Ns           uint64
	Kind         SampleKind
	ErrorBoundNs uint64
}

// A Timing is how long a call took, and how long its thread was outside MPI
// before it. The gap before a thread's first call is 0.
type Timing struct {
	Duration, Gap Sample
	// RecorderNs and TracingOffNs are ns between the previous call and this one that the gap does not include: the time
	// of the recorder or a plugin, and the time in which tracing was switched off. See Aside.
	RecorderNs, TracingOffNs uint64
	AsidesBeforeGap          bool // whether these two times lie before the gap; else they lie between gap and call
}

// AsidesBeforeCall returns the asides between the call with this index and the thread's previous call. The call began at start,
// the previous one ended at last, in ns on the time line.
func (t *Timing) AsidesBeforeCall(index uint64, last, start int64) (list []PlacedAside) {
	at := start - int64(t.RecorderNs) - int64(t.TracingOffNs)
	if t.AsidesBeforeGap {
		at = min(at, last) // a previous end that was drawn from a histogram may lie after at
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

// A PlacedAside is an Aside with its beginning, in ns on the time line.
type PlacedAside struct {
	StartNs int64
	Aside
}

// LeafTimes is the times of the calls at a leaf. All times are sums in nanoseconds.
type LeafTimes struct {
	Calls                   uint64
	SumGapNs, SumDurationNs float64
	// Entries is the number of calls that entered the innermost loop which begins with the leaf; 0 if no loop does.
	// SumEntryGapNs is the sum of the gaps before these calls.
	Entries       uint64
	SumEntryGapNs float64
	// OuterEntries is for the enclosing loops that begin with the leaf, too, outwards, as far as known. Element 0 is
	// the calls that also entered the loop around the innermost one.
	OuterEntries []LoopEntries
	// RanksWithSlowFirst is on how many ranks the first call at the leaf, or the gap before it, took far longer than later
	// ones. SumFirstGapNs and SumFirstDurationNs are the sums of the gaps before these first calls and of their
	// durations. SumGapNs and SumDurationNs include them.
	RanksWithSlowFirst                uint64
	SumFirstGapNs, SumFirstDurationNs float64
	// IsShareOfSum says that the trace has only a sum over this and other leaves. The times here are a part of it, in
	// proportion to the number of calls.
	IsShareOfSum bool
}

// LoopEntries is the number of calls by which a loop was entered, and the sum of the gaps before these in nanoseconds.
type LoopEntries struct {
	Calls    uint64
	SumGapNs float64
}

// EnteringAtLeast returns the calls that entered at least this number of loops, from the innermost outwards; for 0, all
// calls. If fewer loops are known, it returns the calls that entered all known ones.
func (t *LeafTimes) EnteringAtLeast(loops int) LoopEntries {
	switch loops = min(loops, 1+len(t.OuterEntries)); {
	case loops == 0 || t.Entries == 0:
		return LoopEntries{t.Calls, t.SumGapNs}
	case loops == 1:
		return LoopEntries{t.Entries, t.SumEntryGapNs}
	}
	return t.OuterEntries[loops-2]
}

// MeanGapEntering returns the mean gap, in ns, before the calls that entered exactly this number of loops.
func (t *LeafTimes) MeanGapEntering(loops int) float64 {
	x := t.EnteringAtLeast(loops)
	if known := min(loops, len(t.OuterEntries)); t.Entries > 0 && loops <= known {
		if more := t.EnteringAtLeast(loops + 1); more.Calls < x.Calls {
			x.Calls -= more.Calls
			x.SumGapNs = max(0, x.SumGapNs-more.SumGapNs)
		}
	}
	return x.SumGapNs / float64(max(1, x.Calls))
}

// FirstCallsDiffer reports whether a first call is kept separate from later ones: it takes at least twice as long, and
// the difference exceeds a hundredth of all. first is its duration or gap, later the mean of later calls, and all the
// sum of all durations and gaps, in nanoseconds on one rank.
func FirstCallsDiffer(first, later, all float64) bool {
	return first >= 2*later && first-later > all/100
}

// MeanFirstCallNs returns the means, over the ranks, of the duration of the first call at the leaf and of the gap before it,
// in ns. ranks is the number of ranks that the times are of. A mean is 0 if unknown.
func (t *LeafTimes) MeanFirstCallNs(ranks uint64) (gap, duration float64) {
	n := float64(ranks)
	if t.RanksWithSlowFirst == ranks {
		return t.SumFirstGapNs / n, t.SumFirstDurationNs / n
	}
	if t.Calls == ranks {
		return t.SumGapNs / n, t.SumDurationNs / n
	}
	// A rank's first call at the leaf enters all loops that begin there. If the outermost of these was entered once on
	// each rank, its gaps are those before the first calls.
	if x := t.EnteringAtLeast(1 + len(t.OuterEntries)); t.Entries > 0 && x.Calls == ranks {
		return x.SumGapNs / n, 0
	}
	return 0, 0
}

// RemoveSlowFirst removes the first calls of ranks from the sums and counts, as far as RanksWithSlowFirst counts them.
func (t *LeafTimes) RemoveSlowFirst() {
	n := t.RanksWithSlowFirst
	t.Calls, t.SumGapNs, t.SumDurationNs = t.Calls-n, max(0, t.SumGapNs-t.SumFirstGapNs), max(0, t.SumDurationNs-t.SumFirstDurationNs)
	if t.Entries >= n { // a rank's first call at the leaf enters all loops that begin there
		t.Entries, t.SumEntryGapNs = t.Entries-n, max(0, t.SumEntryGapNs-t.SumFirstGapNs)
	}
	t.OuterEntries = slices.Clone(t.OuterEntries)
	for i := range t.OuterEntries {
		if x := &t.OuterEntries[i]; x.Calls >= n {
			*x = LoopEntries{x.Calls - n, max(0, x.SumGapNs-t.SumFirstGapNs)}
		}
	}
	t.RanksWithSlowFirst, t.SumFirstGapNs, t.SumFirstDurationNs = 0, 0, 0
}

// Add adds the times o, which are of the same leaf on another rank.
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
	t.RanksWithSlowFirst += o.RanksWithSlowFirst
	t.SumFirstGapNs += o.SumFirstGapNs
	t.SumFirstDurationNs += o.SumFirstDurationNs
	t.IsShareOfSum = t.IsShareOfSum || o.IsShareOfSum
}

// A Clock relates a clock that ranks read to rank 0's clock, which is that of the time line. It was compared with rank
// 0's clock twice. For rank 0's clock, the Clock is the zero value.
type Clock struct {
	ComparedAtNs     [2]int64 // reading of this clock at each of the two comparisons
	Rank0MinusThisNs [2]int64 // reading of rank 0's clock minus that of this one at each comparison
	ErrorNs          int64    // largest error of the two values of OffsetNs
}

// maxDrift is above the drift of any hardware clock, in seconds per second.
const maxDrift = 1e-3

// Drift returns by how many seconds per second rank 0's clock runs faster than this one. The comparisons may show more
// than any hardware clock drifts. If their errors explain that, as in short runs and on busy machines, the result is
// limited to maxDrift. Otherwise somebody has set the clock, and Drift returns 0.
func (c Clock) Drift() float64 {
	if c.ComparedAtNs[1] <= c.ComparedAtNs[0] {
		return 0
	}
	apart := float64(c.ComparedAtNs[1]) - float64(c.ComparedAtNs[0])
	d := (float64(c.Rank0MinusThisNs[1]) - float64(c.Rank0MinusThisNs[0])) / apart
	if math.Abs(d) <= maxDrift {
		return d
	}
	if math.Abs(d)-2*float64(c.ErrorNs)/apart > maxDrift {
		return 0
	}
	return math.Copysign(maxDrift, d)
}

// base returns a reading of the clock between the two comparisons, and OffsetNs interpolated to that time.
func (c Clock) base() (at, offset int64) {
	half := func(v [2]int64) int64 { return v[0] + (v[1]-v[0])/2 }
	return half(c.ComparedAtNs), half(c.Rank0MinusThisNs)
}

// ToTimeLine converts a reading of the clock to the time line, both in ns.
func (c Clock) ToTimeLine(ns int64) int64 {
	at, offset := c.base()
	return ns + offset + int64(math.Round(c.Drift()*float64(ns-at)))
}

// FromTimeLine converts a time of the time line to a reading of the clock: the inverse of ToTimeLine.
func (c Clock) FromTimeLine(ns int64) int64 {
	at, offset := c.base()
	since := ns - offset - at
	d := c.Drift()
	return at + since - int64(math.Round(float64(since)*d/(1+d)))
}
