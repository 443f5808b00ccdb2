// Package clock compares the clocks of a run's ranks, so that what they did can be
// put on one time line. Ranks that read the same clock are found first; of each clock
// one rank exchanges messages with another's, over a binomial tree of the clocks, once
// when the run begins and once when it ends.
//
// It is not about how a clock is read or calibrated, and it sets no clock.
//
//  1. Ranks with one clock send a message up a tree and get one back, no more, and
//     no offset is made up between them.
//  2. An offset is from the exchange with the least round trip, and off by half of
//     that at most, however unequal the ways there and back; along the tree
//     both add up. How far clocks drift apart in the milliseconds that a comparison
//     lasts is left out.
//  3. A time between the two comparisons is put on the time line with no more error than
//     theirs, if no clock drifts more than any hardware does.
//  4. All ranks make each call here together, or none of them does.
package clock

import "math"

// A Line says where the time line of a run is for one clock. Of rank 0's clock it is the
// zero value, since that one is the time line.
type Line struct {
	AtNs     [2]int64 // the clock at each of the two comparisons
	OffsetNs [2]int64 // what it was behind rank 0's clock
	BoundNs  int64    // the offsets are at most so far from the truth
}

// maxDrift is more than any hardware drifts.
const maxDrift = 1e-3

// Drift is by how much rank 0's clock runs faster, relative to this one. Where the
// comparisons say more than can be, it is what can be if their errors may account for the
// rest, as they do in short runs and on busy machines; else somebody has set the clock,
// and it is 0.
func (l Line) Drift() float64 {
	if l.AtNs[1] <= l.AtNs[0] {
		return 0
	}
	apart := float64(l.AtNs[1]) - float64(l.AtNs[0])
	d := (float64(l.OffsetNs[1]) - float64(l.OffsetNs[0])) / apart
	if math.Abs(d) <= maxDrift {
		return d
	}
	if math.Abs(d)-2*float64(l.BoundNs)/apart > maxDrift {
		return 0
	}
	return math.Copysign(maxDrift, d)
}

// base is a time of the clock with its offset.
func (l Line) base() (at, offset int64) {
	half := func(v [2]int64) int64 { return v[0] + (v[1]-v[0])/2 }
	return half(l.AtNs), half(l.OffsetNs)
}

// Common is the time line at a time of the clock, both in ns.
func (l Line) Common(ns int64) int64 {
	at, offset := l.base()
	return ns + offset + int64(math.Round(l.Drift()*float64(ns-at)))
}

// Own is the time of the clock at one of the time line: the inverse of Common.
func (l Line) Own(ns int64) int64 {
	at, offset := l.base()
	since := ns - offset - at
	d := l.Drift()
	return at + since - int64(math.Round(float64(since)*d/(1+d)))
}

// Lines joins two comparisons of the same clocks.
func Lines(first, last []Estimate) []Line {
	lines := make([]Line, min(len(first), len(last)))
	for i := range lines {
		a, b := first[i], last[i]
		lines[i] = Line{
			AtNs:     [2]int64{a.AtNs, b.AtNs},
			OffsetNs: [2]int64{a.OffsetNs, b.OffsetNs},
			BoundNs:  max(a.BoundNs, b.BoundNs),
		}
	}
	if len(lines) > 0 {
		lines[0] = Line{}
	}
	return lines
}
