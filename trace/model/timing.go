package model

import (
	"math"
	"slices"
)

// A SampleKind says how well a time is known. The order is from nothing to all.
type SampleKind uint8

// The kinds of samples.
const (
	NoSample        SampleKind = iota // nothing was recorded
	MeanSample                        // the mean of calls like it
	HistogramSample                   // a value of the histogram of calls like it: many of them have its shape
	BoundedSample                     // the call's own time, within Bound
	ExactSample                       // the call's own time
)

func (k SampleKind) String() string {
	return [...]string{"unknown", "mean", "histogram", "bounded", "exact"}[k]
}

// OfTheCallItself reports whether the time is that of the call itself, exactly or within a bound.
// If not, it is representative: of calls like it.
func (k SampleKind) OfTheCallItself() bool { return k == BoundedSample || k == ExactSample }

// A Sample is a time in nanoseconds. The call's own time is at most Bound away
// from it, whatever the kind.
type Sample struct {
	Ns         uint64
	Kind       SampleKind
	ErrorBound uint64
}

// A Timing is how long a call took, and how long its thread was outside MPI
// before it. The gap before a thread's first call is 0.
type Timing struct {
	Duration, Gap Sample
	// RecorderNs and Off are ns between the call before and this one that are in neither: what the recorder or a
	// plugin took, and for how long tracing was switched off. See Aside.
	RecorderNs, TracingOffNs uint64
	AsidesBeforeGap          bool // these directly follow the call before, not precede this one
}

// Asides returns what lies between a call and the one before in the same thread, which began
// at start and ended at last.
func (t *Timing) Asides(index uint64, last, start int64) (list []PlacedAside) {
	at := start - int64(t.RecorderNs) - int64(t.TracingOffNs)
	if t.AsidesBeforeGap {
		at = min(at, last) // the end may be drawn
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
	Calls         uint64
	Gap, Duration float64
	// Of a leaf at the beginning of a loop: the calls by which the loop was entered,
	// and the gaps before these.
	Entries   uint64
	EntryGaps float64
	// OuterEntries has the same of those entries that also entered the next loop around, then of the one around that, and so
	// on, as far as known.
	OuterEntries []LoopEntries
	// Of RanksWithFirst ranks: their first call at the leaf, and the gap before it, where these took far longer than the rest. They are in the sums
	// above, too.
	RanksWithFirst          uint64
	FirstGap, FirstDuration float64
	// SharedTimes: what calls at other places took is not known apart from these. The times are a
	// part of both, in proportion to the calls.
	SharedTimes bool
}

// LoopEntries are calls by which a loop was entered, and the gaps before these, in nanoseconds.
type LoopEntries struct {
	Calls uint64
	Gap   float64
}

// EnteringAtLeast returns the calls that entered at least the given number of loops, counted from the innermost outwards; all
// calls for 0. If fewer loops are known it returns those of the outermost known one.
func (t *LeafTimes) EnteringAtLeast(loops int) LoopEntries {
	switch loops = min(loops, 1+len(t.OuterEntries)); {
	case loops == 0 || t.Entries == 0:
		return LoopEntries{t.Calls, t.Gap}
	case loops == 1:
		return LoopEntries{t.Entries, t.EntryGaps}
	}
	return t.OuterEntries[loops-2]
}

// GapBefore is the mean gap before the calls that entered exactly a given number of loops.
func (t *LeafTimes) GapBefore(loops int) float64 {
	x := t.EnteringAtLeast(loops)
	if known := min(loops, len(t.OuterEntries)); t.Entries > 0 && loops <= known {
		if more := t.EnteringAtLeast(loops + 1); more.Calls < x.Calls {
			x.Calls -= more.Calls
			x.Gap = max(0, x.Gap-more.Gap)
		}
	}
	return x.Gap / float64(max(1, x.Calls))
}

// FirstCallsDiffer reports whether a first call is shown separately: it takes at least twice as long as later ones, and the
// difference exceeds a hundredth of all time. All are nanoseconds on one rank.
func FirstCallsDiffer(first, later, all float64) bool {
	return first >= 2*later && first-later > all/100
}

// MeanFirst returns the mean gap and duration of the first calls at the leaf, one on each of some ranks, where they are known apart; else 0.
func (t *LeafTimes) MeanFirst(ranks uint64) (gap, duration float64) {
	n := float64(ranks)
	if t.RanksWithFirst == ranks {
		return t.FirstGap / n, t.FirstDuration / n
	}
	if t.Calls == ranks {
		return t.Gap / n, t.Duration / n
	}
	// All loops that begin with the leaf are entered there first, and the outermost one perhaps only there.
	if x := t.EnteringAtLeast(1 + len(t.OuterEntries)); t.Entries > 0 && x.Calls == ranks {
		return x.Gap / n, 0
	}
	return 0, 0
}

// RemoveFirst takes the first calls out that are known apart.
func (t *LeafTimes) RemoveFirst() {
	n := t.RanksWithFirst
	t.Calls, t.Gap, t.Duration = t.Calls-n, max(0, t.Gap-t.FirstGap), max(0, t.Duration-t.FirstDuration)
	if t.Entries >= n { // the first call at the beginning of a loop enters it, and all around it
		t.Entries, t.EntryGaps = t.Entries-n, max(0, t.EntryGaps-t.FirstGap)
	}
	t.OuterEntries = slices.Clone(t.OuterEntries)
	for i := range t.OuterEntries {
		if x := &t.OuterEntries[i]; x.Calls >= n {
			*x = LoopEntries{x.Calls - n, max(0, x.Gap-t.FirstGap)}
		}
	}
	t.RanksWithFirst, t.FirstGap, t.FirstDuration = 0, 0, 0
}

// Add adds what another rank says of the same leaf.
func (t *LeafTimes) Add(o *LeafTimes) {
	t.Calls += o.Calls
	t.Gap += o.Gap
	t.Duration += o.Duration
	t.Entries += o.Entries
	t.EntryGaps += o.EntryGaps
	for i, x := range o.OuterEntries {
		if i == len(t.OuterEntries) {
			t.OuterEntries = append(t.OuterEntries, LoopEntries{})
		}
		t.OuterEntries[i].Calls += x.Calls
		t.OuterEntries[i].Gap += x.Gap
	}
	t.RanksWithFirst += o.RanksWithFirst
	t.FirstGap += o.FirstGap
	t.FirstDuration += o.FirstDuration
	t.SharedTimes = t.SharedTimes || o.SharedTimes
}

// A Clock relates a clock that ranks read to the time line of the run, which is rank 0's clock: of that one it is
// the zero value.
type Clock struct {
	ComparedAtNs [2]int64 // the clock at each of the two comparisons
	OffsetNs     [2]int64 // how much it was late against rank 0's clock
	ErrorNs      int64    // the offsets are at most so far from the truth
}

// maxDrift is more than any hardware drifts.
const maxDrift = 1e-3

// Drift is by how much rank 0's clock runs faster, relative to this one. The comparisons may say more than any
// hardware drifts. If their errors can account for that, as in short runs and on busy machines, it is the most that
// hardware drifts. Else somebody has set the clock, and it is 0.
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

// base is a time of the clock with its offset.
func (c Clock) base() (at, offset int64) {
	half := func(v [2]int64) int64 { return v[0] + (v[1]-v[0])/2 }
	return half(c.ComparedAtNs), half(c.OffsetNs)
}

// ToRunTime is the time line at a time of the clock, both in ns.
func (c Clock) ToRunTime(ns int64) int64 {
	at, offset := c.base()
	return ns + offset + int64(math.Round(c.Drift()*float64(ns-at)))
}

// FromRunTime is the time of the clock at one of the time line: the inverse of Common.
func (c Clock) FromRunTime(ns int64) int64 {
	at, offset := c.base()
	since := ns - offset - at
	d := c.Drift()
	return at + since - int64(math.Round(float64(since)*d/(1+d)))
}
