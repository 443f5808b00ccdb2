package waits

import (
	"errors"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// AllAt is At for all ranks in one process. logs has their times, by rank.
func AllAt(r *trace.Reader, logs []*track.TimeLog, always bool) (*trace.Waits, error) {
	list := LocalTransports(r.Ranks())
	out, errs := allAt(list, r, logs, always, list[0].(*virtual).close)
	return out, errors.Join(errs...)
}

// allAt returns rank 0's answer and the errors by rank.
func allAt(ranks []Transport, r *trace.Reader, logs []*track.TimeLog, always bool, failed func()) (out *trace.Waits, errs []error) {
	errs = together(ranks, func(t Transport) error {
		w, err := AnalyseRun(t, RunEndInput{Trace: r, Log: logs[t.Rank()], NoTimeLimit: always})
		if t.Rank() == 0 {
			out = w
		}
		return err
	}, failed)
	return out, errs
}

// Windows sets the number of calls of a window until the returned function is called.
func Windows(calls uint64) func() {
	before := windowCalls
	windowCalls = calls
	return func() { windowCalls = before }
}

// Everybody is up to how many ranks each talks to every other one.
const Everybody = everybody

// Many sets how many calls are many until the returned function is called.
func Many(calls int64) func() {
	before := many
	many = calls
	return func() { many = before }
}
