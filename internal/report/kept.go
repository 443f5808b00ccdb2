package report

import (
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// KeptIteration is an iteration whose calls have their own times in the trace. It is shown with its neighbours, from
// StartNs to EndNs.
type KeptIteration struct {
	Iteration       uint64          `json:"iteration"`
	Reason          string          `json:"why"`
	PreviousStartNs int64           `json:"from"` // ns on the timeline at which the shown window begins
	EndNs           int64           `json:"to"`
	Window          *TimelineWindow `json:"window,omitempty"` // nil: the timeline shows single calls anyway, or there are too many
}

// kept returns the iterations for which the trace has the time of every call, painted if they have few calls.
func (t *Timeline) kept(r *trace.Reader, w *trace.When, d *Data, o Options) ([]KeptIteration, error) {
	if w == nil || t.own || !eachAlone(t.rows) {
		return nil, nil
	}
	x, err := when.NewIterationFinder(r)
	if err != nil {
		return nil, err
	}
	var list []KeptIteration
	for i, e := range w.Exemplars {
		k := KeptIteration{Iteration: e.Iteration, Reason: "slow", PreviousStartNs: t.EndNs - t.StartNs}
		switch {
		case i == 0:
			k.Reason = "typical"
		case e.Iteration == 0:
			k.Reason = "the first"
		case w.Loop.Iterations > model.WhenMaxSingleIterations: // the slow one is known only as one of a group
			k.Reason = "near a slow one"
		}
		for _, times := range e.Ranks {
			rank, err := r.Rank(times.Rank)
			if err != nil {
				return nil, err
			}
			if exact, err := rank.KeepsIterationTimes(e.Iteration); err != nil || !exact {
				return nil, err
			}
			_, ns, err := x.BeginTimes(times.Rank, e.Iteration-min(e.Iteration, 1), e.Iteration+2)
			if err != nil || len(ns) < 2 {
				return nil, err
			}
			k.PreviousStartNs, k.EndNs = min(k.PreviousStartNs, ns[0]-t.StartNs), max(k.EndNs, ns[1]-t.StartNs)
		}
		list = append(list, k)
	}
	if v := NewViewer(r, d, o); v != nil && t.SingleCalls == nil && v.calls*uint64(len(list)) <= wholeCalls {
		for i := range list {
			if list[i].Window, err = v.Window(list[i].PreviousStartNs, list[i].EndNs); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}
