package model

import "math"

// A Clock relates a clock that ranks read to the time line of the run, which is rank 0's clock: of that one it is
// the zero value.
type Clock struct {
	AtNs     [2]int64 // the clock at each of the two comparisons
	OffsetNs [2]int64 // what it was behind rank 0's clock
	BoundNs  int64    // the offsets are at most so far from the truth
}

// maxDrift is more than any hardware drifts.
const maxDrift = 1e-3

// Drift is by how much rank 0's clock runs faster, relative to this one. The comparisons may say more than any
// hardware drifts. If their errors can account for that, as in short runs and on busy machines, it is the most that
// hardware drifts. Else somebody has set the clock, and it is 0.
func (c Clock) Drift() float64 {
	if c.AtNs[1] <= c.AtNs[0] {
		return 0
	}
	apart := float64(c.AtNs[1]) - float64(c.AtNs[0])
	d := (float64(c.OffsetNs[1]) - float64(c.OffsetNs[0])) / apart
	if math.Abs(d) <= maxDrift {
		return d
	}
	if math.Abs(d)-2*float64(c.BoundNs)/apart > maxDrift {
		return 0
	}
	return math.Copysign(maxDrift, d)
}

// base is a time of the clock with its offset.
func (c Clock) base() (at, offset int64) {
	half := func(v [2]int64) int64 { return v[0] + (v[1]-v[0])/2 }
	return half(c.AtNs), half(c.OffsetNs)
}

// Common is the time line at a time of the clock, both in ns.
func (c Clock) Common(ns int64) int64 {
	at, offset := c.base()
	return ns + offset + int64(math.Round(c.Drift()*float64(ns-at)))
}

// Own is the time of the clock at one of the time line: the inverse of Common.
func (c Clock) Own(ns int64) int64 {
	at, offset := c.base()
	since := ns - offset - at
	d := c.Drift()
	return at + since - int64(math.Round(float64(since)*d/(1+d)))
}
