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
	// MaxLogStep is the step of the longest times, from 576 years on.
	MaxLogStep = 4094
)

// stepTimes is the time of each step from linearSteps on. It is computed by multiplying two numbers at a time,
// which has the same result on every machine.
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

// Ns is the step's time in nanoseconds.
func (s LogStep) Ns() float64 {
	if s <= linearSteps {
		return float64(s)
	}
	return stepTimes()[min(s, MaxLogStep)-linearSteps]
}

// LogStepNs is the time in nanoseconds of a step, or between two steps.
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
// The sum of all earlier durations and gaps, and this gap, is when the call began. There are exceptions: calls made
// by callbacks, and calls after something that was not recorded. For these Jump is the call's begin minus that sum.
type CallEntry struct {
	Duration, Gap uint64
	Jump          int64 // nearly always 0
}

// Advance returns begin and end of the call, if the previous one ended at at.
func (e CallEntry) Advance(at int64) (begin, end int64) {
	begin = at + int64(e.Gap) + e.Jump
	return begin, begin + int64(e.Duration)
}

// An AttachedNumber is a number that a plugin or a counter attached to a call of a stream.
type AttachedNumber struct {
	Call  uint64 // position of the call
	Name  int    // index of the name, which is stored elsewhere
	Value int64
}
