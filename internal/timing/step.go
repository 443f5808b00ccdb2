// Package timing says what a recorder measures of each call, and what of it is kept. It does not decide which
// calls belong together.
package timing

import (
	"sort"
	"sync"
)

// A LogTime is a time in ns, rounded to half a percent. Steps up to 100 are that many ns; each further step is 1 %
// longer than the one before. 0 also means no time at all.
type LogTime uint16

const (
	linearSteps = 100
	// MaxLogTime is the step of the longest times: 576 years and more.
	MaxLogTime = 4094
)

// stepTimes is the time in ns of each step from linearSteps on. It is computed by multiplication alone, which has the
// same result on every machine.
var stepTimes = sync.OnceValue(func() *[MaxLogTime - linearSteps + 2]float64 {
	var list [MaxLogTime - linearSteps + 2]float64
	list[0] = linearSteps
	for i := range list[1:] {
		list[i+1] = list[i] * 1.01
	}
	return &list
})

// LogTimeOf returns the step nearest to a time.
func LogTimeOf(ns uint64) LogTime {
	if ns <= linearSteps {
		return LogTime(ns)
	}
	f, times := float64(ns), stepTimes()
	return linearSteps + LogTime(min(sort.Search(len(times), func(i int) bool { return times[i]*1.005 >= f }), MaxLogTime-linearSteps))
}

// Ns returns the step's time in ns.
func (s LogTime) Ns() float64 {
	if s <= linearSteps {
		return float64(s)
	}
	return stepTimes()[min(s, MaxLogTime)-linearSteps]
}

// LogTimeNs returns the time of a step in ns. A fraction interpolates between two steps.
func LogTimeNs(step float64) float64 {
	s := LogTime(max(0, min(step, MaxLogTime)))
	share := step - float64(s)
	if share <= 0 {
		return s.Ns()
	}
	return s.Ns()*(1-share) + (s+1).Ns()*share
}

// A CallTicks is the times of one call, in ticks.
//
// A call begins after the sum of all earlier durations and gaps, and its own gap. There are exceptions: calls made by
// callbacks, and calls after something that was not recorded. For these BeginOffset is the call's begin minus that sum.
type CallTicks struct {
	Duration, Gap uint64
	BeginOffset   int64 // nearly always 0
}

// Advance returns begin and end of the call in ticks, if the stream's previous call ended at at.
func (e CallTicks) Advance(at int64) (begin, end int64) {
	begin = at + int64(e.Gap) + e.BeginOffset
	return begin, begin + int64(e.Duration)
}

// An AttachedNumber is a number that a plugin or a counter attached to a call of a stream.
type AttachedNumber struct {
	CallIndex uint64 // index of the call in its stream
	NameIndex int    // index of the name in the list of attached names, e.g. of series.Reader.Names
	Value     int64
}
