// Package timeline puts the calls of a stream on the run's one time line, given what a trace has of their times. Each
// call has its own (Series), or those of calls like it: means, or values drawn from histograms. A block
// of calls with such times is stretched to where means have it.
//
// Invariants:
//
//  1. A line opened at a position goes on as one that came there from the beginning.
//  2. What is drawn follows from rank, stream and position alone.
//  3. How far a call may be from where it is placed is said, or that it isn't known.
//
// It reads no section of a file: package trace does, and has the lines' callers.
package timeline

import "github.com/spoor-hpc/spoor/trace/model"

// A Line gives the times of one stream's calls, in order.
type Line interface {
	// Next returns the times of the next call, and where it is. terminal is that of the call.
	Next(terminal int) (model.Timing, When, error)
}

// When says where on the run's time line a call is; see trace.TimedCall.
type When struct {
	Start, End int64
	Within     uint64
}

// A Clock is where a rank's clock is on the run's time line.
type Clock struct {
	model.Clock
	Origin int64
}

// Common is the time line at a time of the clock.
func (c Clock) Common(ns int64) int64 { return c.Clock.Common(ns) - c.Origin }

// Own is the time of the clock at one of the time line.
func (c Clock) Own(ns int64) int64 { return c.Clock.Own(ns + c.Origin) }
