// Package when finds when in a run ranks computed and waited, and which iterations of its loop differ from others: slow ones, steps,
// drifts, every n-th, and ranks whose times vary.
//
// The loop follows from the order of call sites, without machine code and without marks (loops.go). Each rank adds up the times of its calls
// by iteration (grid.go, rank.go), alongside the pass that finds who waited for whom, and looks for changes in what it computes
// (series.go). Ranks then join what they have over a tree (conclude.go), and rank 0 draws the picture (picture.go). Ranks may be goroutines,
// for a trace with times (Of), or processes at the end of a run.
package when

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// Of finds it in a trace with a time for every call; of any other it returns what the ranks found at the end of the run, nil if they were
// not asked.
func Of(r *trace.Reader) (*trace.When, error) {
	if w, err := r.When(); w != nil || err != nil || !r.HasTimes() {
		return w, err
	}
	kind, err := r.TimeKind()
	if err != nil || !kind.Own() {
		return nil, err
	}
	clocks, err := clocksOf(r)
	if err != nil {
		return nil, err
	}
	return every(r, clocks, func(riders []waits.Rider) error {
		_, err := waits.Of(r, waits.Options{Rider: func(rank int) waits.Rider { return riders[rank] }})
		return err
	})
}

// clocksOf are the times of a trace, by rank.
func clocksOf(r *trace.Reader) ([]ops.Clock, error) {
	list := make([]ops.Clock, r.Ranks())
	for k, err := range r.Tracks() {
		if err != nil {
			return nil, err
		}
		list[k.Number()] = clockOf(k)
	}
	return list, nil
}

func clockOf(k *trace.Rank) ops.Clock {
	return func(stream int) func() (start, end, gap int64, err error) {
		next, stop := iter.Pull2(k.Timings(stream))
		left := k.Len(stream)
		return func() (start, end, gap int64, err error) {
			t, err, ok := next()
			if left--; left == 0 || !ok {
				stop()
			}
			if !ok {
				err = errors.Join(err, fmt.Errorf("rank %d: no times left", k.Number()))
			}
			return t.Start, t.End(), int64(t.Timing.Gap.Ns), err
		}
	}
}

// every has a goroutine for each rank. pass goes through the calls of all.
func every(r *trace.Reader, clocks []ops.Clock, pass func(riders []waits.Rider) error) (w *trace.When, err error) {
	ranks := waits.Memory(r.Ranks())
	list, riders, errs := make([]*Rank, len(ranks)), make([]waits.Rider, len(ranks)), make([]error, len(ranks))
	all := func(do func(i int) error) error {
		var wait sync.WaitGroup
		for i := range ranks {
			wait.Go(func() { errs[i] = do(i) })
		}
		wait.Wait()
		return errors.Join(errs...)
	}
	err = all(func(i int) (err error) {
		list[i], err = Begin(ranks[i], r, clocks[i])
		riders[i] = list[i]
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := pass(riders); err != nil {
		return nil, err
	}
	err = all(func(i int) error {
		found, err := list[i].Conclude()
		if i == 0 {
			w = found
		}
		return err
	})
	return w, err
}
