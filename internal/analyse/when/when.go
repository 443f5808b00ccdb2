// Package when finds when ranks computed and waited in a run, and which iterations of its loop differ from others:
// slow ones, steps, drifts, every n-th one, and ranks whose times vary.
//
// The loop follows from the order of call sites, without machine code and without marks (loops.go). Each rank adds up
// the times of its calls by iteration (grid.go, rank.go), alongside the pass that finds who waited for whom, and
// looks for changes in its computation (series.go). Ranks then combine their results over a tree (conclude.go), and
// rank 0 makes the picture (picture.go). Ranks are goroutines for a trace with times (Analyse), or processes at the
// end of a run (AnalyseRun).
package when

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// AnalyseUnlessStored returns the result that the trace stores. Without one it analyses the trace if that has a time for every
// call; else it returns nil.
func AnalyseUnlessStored(r *trace.Reader) (*trace.When, error) {
	if w, err := r.When(); w != nil || err != nil || !r.HasTimes() {
		return w, err
	}
	return AnalyseTimes(r)
}

// AnalyseTimes analyses the times of single calls; nil if the trace has none.
func AnalyseTimes(r *trace.Reader) (*trace.When, error) {
	kind, err := r.TimeKind()
	if err != nil || !kind.OfTheCallItself() {
		return nil, err
	}
	clocks, err := clocksOf(r)
	if err != nil {
		return nil, err
	}
	return every(r, clocks, func(riders []waits.CallVisitor) error {
		_, err := waits.Analyse(r, waits.Options{Visitor: func(rank int) waits.CallVisitor { return riders[rank] }})
		return err
	})
}

// few is the largest number of calls that FromTraceOrAnalyse analyses: its callers need the result only as a small part
// of an answer.
const few = 200_000

// FromTraceOrAnalyse returns the result that the trace stores, or analyses a trace that has times for all of its few
// calls; nil if neither works.
func FromTraceOrAnalyse(r *trace.Reader, calls int64) (*trace.When, error) {
	if w, err := r.When(); w != nil || err != nil || calls > few {
		return w, err
	}
	return AnalyseUnlessStored(r)
}

// clocksOf returns the times of a trace's calls, by rank.
func clocksOf(r *trace.Reader) ([]ops.StreamCallTimes, error) {
	list := make([]ops.StreamCallTimes, r.Ranks())
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		list[k.Number()] = clockOf(k)
	}
	return list, nil
}

func clockOf(k *trace.Rank) ops.StreamCallTimes {
	return func(stream int) ops.CallTimeIterator {
		next, stop := iter.Pull2(k.TimedTerminals(stream))
		return &timings{k.Number(), k.CallCount(stream), next, stop}
	}
}

// timings is the times of a trace's thread, an ops.CallTimeIterator.
type timings struct {
	rank int
	left uint64
	next func() (trace.TimedTerminal, error, bool)
	stop func()
}

// Next returns the times of the next call.
func (x *timings) Next() (start, end, gap int64, err error) {
	t, err, ok := x.next()
	if x.left--; x.left == 0 || !ok {
		x.stop()
	}
	if !ok {
		err = errors.Join(err, fmt.Errorf("rank %d: no times left", x.rank))
	}
	return t.StartNs, t.EndNs(), int64(t.Timing.Gap.Ns), err
}

// Skip advances over calls. It returns the latest end of these calls.
func (x *timings) Skip(calls uint64) (int64, error) {
	last := int64(math.MinInt64)
	for range calls {
		_, end, _, err := x.Next()
		if err != nil {
			return 0, err
		}
		last = max(last, end)
	}
	return last, nil
}

// every runs the analysis with a goroutine for each rank. pass must report the calls of all ranks to riders, by rank.
func every(r *trace.Reader, clocks []ops.StreamCallTimes, pass func(riders []waits.CallVisitor) error) (w *trace.When, err error) {
	list, riders := make([]*RankAnalysis, r.Ranks()), make([]waits.CallVisitor, r.Ranks())
	err = waits.RunRanks(len(list), func(t waits.Transport) (err error) {
		i := t.Rank()
		list[i], err = BeginRankAnalysis(t, r, clocks[i])
		riders[i] = list[i]
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := pass(riders); err != nil {
		return nil, err
	}
	err = waits.RunRanks(len(list), func(t waits.Transport) error {
		x := list[t.Rank()]
		x.Transport = t
		found, err := x.Conclude()
		if t.Rank() == 0 {
			w = found
		}
		return err
	})
	return w, err
}

// AnalyseRun analyses a run at its end, as far as o asks for it: who waited for whom, and which iterations differ. All
// ranks call it at once, over one transport. Rank 0 gets the results for the trace. w is nil if it was not asked for;
// if there are no wait states, its Status says why. found is nil if it was not asked for, the ranks lack times, or a
// rank has failed. The error is of the transport.
func AnalyseRun(t waits.Transport, f waits.RunEndInput, o timing.Options) (w *trace.Waits, found *trace.When, err error) {
	f.NoTimeLimit = o.Waits == timing.WaitsAlways
	if o.WhenSectionBytes < 0 {
		w, err = waits.AnalyseRun(t, f)
		return w, nil, err
	}
	clock, zero, failed := f.Clock(t.Rank())
	x, err := begin(t, f.Trace, clock, failed)
	if err != nil {
		return nil, nil, err
	}
	x.zero = zero
	if f.Log != nil && len(f.Log.SchedulingDelays) > 0 {
		x.delays = f.Log.SchedulingDelays[0]
	}
	x.size = o.WhenSectionBytes
	f.Visitor = x
	if o.Waits == timing.WaitsNever {
		x.WalkCalls()
	} else if w, err = waits.AnalyseRun(t, f); err != nil {
		return nil, nil, err
	}
	if w != nil {
		switch w.Status {
		case trace.WaitsKnown:
		case trace.WaitsAnalysisTooLong: // a missing wait analysis doesn't exclude this one, which takes far less time
			x.WalkCalls()
		default:
			x.try(func() error { return errElsewhere })
		}
	}
	if found, err = x.Conclude(); err != nil && err == x.broken {
		err = nil
	}
	return w, found, err
}

// AnalyseLogs runs AnalyseRun for all ranks in one process, without a time limit. logs is their times, by rank.
func AnalyseLogs(r *trace.Reader, logs []*track.TimeLog) (w *trace.Waits, found *trace.When, err error) {
	err = waits.RunRanks(r.Ranks(), func(t waits.Transport) error {
		a, b, err := AnalyseRun(t, waits.RunEndInput{Trace: r, Log: logs[t.Rank()]}, timing.Options{Waits: timing.WaitsAlways})
		if t.Rank() == 0 {
			w, found = a, b
		}
		return err
	})
	return w, found, err
}
