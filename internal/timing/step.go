// Package timing says what a recorder measures of each call, and what of it is kept. It does not decide which
// calls belong together.
package timing

import (
	"sort"
	"sync"
)

// A Step is a time in nanoseconds, rounded to half a percent: numbers up to 100 are themselves, and from there on each
// step is 1 % more than the one before. The zero value is no time at all.
type Step uint16

const (
	linearSteps = 100
	// MaxStep is that of the longest times, from 576 years on.
	MaxStep = 4094
)

// stepTimes has the time of each step from linearSteps on. Products of two numbers come
// out the same on every machine.
var stepTimes = sync.OnceValue(func() *[MaxStep - linearSteps + 2]float64 {
	var list [MaxStep - linearSteps + 2]float64
	list[0] = linearSteps
	for i := range list[1:] {
		list[i+1] = list[i] * 1.01
	}
	return &list
})

// StepOf returns the step of a time.
func StepOf(ns uint64) Step {
	if ns <= linearSteps {
		return Step(ns)
	}
	f, times := float64(ns), stepTimes()
	return linearSteps + Step(min(sort.Search(len(times), func(i int) bool { return times[i]*1.005 >= f }), MaxStep-linearSteps))
}

// Ns is the time that the step encodes.
func (s Step) Ns() float64 {
	if s <= linearSteps {
		return float64(s)
	}
	return stepTimes()[min(s, MaxStep)-linearSteps]
}

// StepNs is the time of a step, or between two of them, in nanoseconds.
func StepNs(step float64) float64 {
	s := Step(max(0, min(step, MaxStep)))
	share := step - float64(s)
	if share <= 0 {
		return s.Ns()
	}
	return s.Ns()*(1-share) + (s+1).Ns()*share
}

// An Entry is the times of one call, in ticks.
//
// Statistics count durations and gaps. Their sum is the time at which a call began, except for calls made by callbacks,
// and after what was not recorded: there Jump is the difference between the call's beginning and that sum.
type Entry struct {
	Duration, Gap uint64
	Jump          int64 // nearly always 0
}

// Advance moves a place on the time line over a call.
func (e Entry) Advance(at int64) (begin, end int64) {
	begin = at + int64(e.Gap) + e.Jump
	return begin, begin + int64(e.Duration)
}

// An Attached is a number that a plugin or a counter attached to a call of a stream.
type Attached struct {
	Call  uint64 // its position
	Name  int    // number of the name, which is stored elsewhere
	Value int64
}
