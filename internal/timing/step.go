// Package timing says what a recorder measures of each call, and what of it is kept. It does not decide which
// calls belong together.
package timing

import (
	"sort"
	"sync"
)

// A LogStep is a time in ns, rounded to half a percent. Steps up to 100 are that many ns; each further step is 1 %
// longer than the one before. 0 also means no time at all.
type LogStep uint16

const (
	linearSteps = 100
	// MaxLogStep is the step of the longest times: 576 years and more.
	MaxLogStep = 4094
)

// stepTimes is the time in ns of each step from linearSteps on. It is computed by multiplication alone, which has the
// same result on every machine.
var stepTimes = sync.OnceValue(func() *[MaxLogStep - linearSteps + 2]float64 {
	var list [MaxLogStep - linearSteps + 2]float64
	list[0] = linearSteps
	for i := range list[1:] {
		list[i+1] = list[i] * 1.01
	}
	return &list
})

// LogStepOf returns the step nearest to a time.
func LogStepOf(ns uint64) LogStep {
	if ns <= linearSteps {
		return LogStep(ns)
	}
	f, times := float64(ns), stepTimes()
	return linearSteps + LogStep(min(sort.Search(len(times), func(i int) bool { return times[i]*1.005 >= f }), MaxLogStep-linearSteps))
}

// Ns returns the step's time in ns.
func (s LogStep) Ns() float64 {
	if s <= linearSteps {
		return float64(s)
	}
	return stepTimes()[min(s, MaxLogStep)-linearSteps]
}

// LogStepNs returns the time of a step in ns. A fraction interpolates between two steps.
func LogStepNs(step float64) float64 {
	s := LogStep(max(0, min(step, MaxLogStep)))
	share := step - float64(s)
	if share <= 0 {
		return s.Ns()
	}
	return s.Ns()*(1-share) + (s+1).Ns()*share
}

// A CallEntry is the times of one call, in ticks.
//
// A call begins after the sum of all earlier durations and gaps, and its own gap. There are exceptions: calls made by
// callbacks, and calls after something that was not recorded. For these Jump is the call's begin minus that sum.
type CallEntry struct {
	Duration, Gap uint64
	Jump          int64 // nearly always 0
}

// Advance returns begin and end of the call in ticks, if the stream's previous call ended at at.
func (e CallEntry) Advance(at int64) (begin, end int64) {
	begin = at + int64(e.Gap) + e.Jump
	return begin, begin + int64(e.Duration)
}

// An AttachedNumber is a number that a plugin or a counter attached to a call of a stream.
type AttachedNumber struct {
	Call  uint64 // index of the call in its stream
	Name  int    // index of the name in the list of attached names, e.g. of series.Reader.Names
	Value int64
}
