// Package timing says what a recorder measures of each call, and what of it is kept. It does not decide which
// calls belong together.
package timing

import (
	"sort"
	"sync"
)

// A LogStep is a time in nanoseconds, rounded to half a percent: numbers up to 100 are themselves, and from there on each
// step is 1 % more than the one before. The zero value is no time at all.
type LogStep uint16

const (
	linearSteps = 100
	// MaxLogStep is that of the longest times, from 576 years on.
	MaxLogStep = 4094
)

// stepTimes has the time of each step from linearSteps on. Products of two numbers come
// out the same on every machine.
var stepTimes = sync.OnceValue(func() *[MaxLogStep - linearSteps + 2]float64 {
	var list [MaxLogStep - linearSteps + 2]float64
	list[0] = linearSteps
	for i := range list[1:] {
		list[i+1] = list[i] * 1.01
	}
	return &list
})

// LogStepOf returns the step of a time.
func LogStepOf(ns uint64) LogStep {
	if ns <= linearSteps {
		return LogStep(ns)
	}
	f, times := float64(ns), stepTimes()
	return linearSteps + LogStep(min(sort.Search(len(times), func(i int) bool { return times[i]*1.005 >= f }), MaxLogStep-linearSteps))
}

// Ns is the time that the step encodes.
func (s LogStep) Ns() float64 {
	if s <= linearSteps {
		return float64(s)
	}
	return stepTimes()[min(s, MaxLogStep)-linearSteps]
}

// LogStepNs is the time of a step, or between two of them, in nanoseconds.
func LogStepNs(step float64) float64 {
	s := LogStep(max(0, min(step, MaxLogStep)))
	share := step - float64(s)
	if share <= 0 {
		return s.Ns()
	}
	return s.Ns()*(1-share) + (s+1).Ns()*share
}

// An CallEntry is the times of one call, in ticks.
//
// Statistics count durations and gaps. Their sum is the time at which a call began, except for calls made by callbacks,
// and after what was not recorded: there Jump is the difference between the call's beginning and that sum.
type CallEntry struct {
	Duration, Gap uint64
	Jump          int64 // nearly always 0
}

// Advance moves a place on the time line over a call.
func (e CallEntry) Advance(at int64) (begin, end int64) {
	begin = at + int64(e.Gap) + e.Jump
	return begin, begin + int64(e.Duration)
}

// An AttachedNumber is a number that a plugin or a counter attached to a call of a stream.
type AttachedNumber struct {
	Call  uint64 // its position
	Name  int    // number of the name, which is stored elsewhere
	Value int64
}
