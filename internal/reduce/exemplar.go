package reduce

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/trace"
)

// An exemplar is the times of every call of one main-loop iteration, which ranks kept at the end of the run. times has
// them by rank; begin is when the iteration begins, in ns of the time line.
type exemplar struct {
	times map[int]*trace.WhenCallTimes
	begin int64
}

// exemplar returns the kept times if the part is exactly an iteration whose times ranks kept; else nil.
func (x *cutter) exemplar() (*exemplar, error) {
	w := &x.w
	if x.ch != nil || w.Loop != MainLoop || w.FromNs != nil || w.UntilNs != nil || w.Phase != "" || w.WithoutInit {
		return nil, nil
	}
	kind, err := x.r.TimeKind()
	if err != nil || kind.OfTheCallItself() {
		return nil, err
	}
	known, err := x.r.When()
	e := when.ExemplarIn(known, w.FirstIteration, w.EndIteration)
	if err != nil || e == nil {
		return nil, err
	}
	out, ranks := &exemplar{times: make(map[int]*trace.WhenCallTimes)}, int64(0)
	for i := range e.Ranks {
		out.times[e.Ranks[i].Rank] = &e.Ranks[i]
	}
	for rank, streams := range x.spans {
		for stream, list := range streams {
			if len(list) == 0 {
				continue
			}
			t := out.times[rank]
			if stream > 0 || t == nil || len(list) != 1 || list[0].End-list[0].First != uint64(len(t.Gaps)) {
				return nil, nil
			}
			k, err := x.r.Rank(rank)
			if err != nil {
				return nil, err
			}
			start, err := k.StartNs()
			if err != nil {
				return nil, err
			}
			out.begin += start
			ranks++
		}
	}
	out.begin = out.begin/max(1, ranks) + known.BeginNs(w.FirstIteration)
	return out, nil
}

// timings yields the calls of a stream from a position on with their times: the exemplar's if there is one.
func (x *cutter) timings(k *trace.Rank, stream int, from uint64) iter.Seq2[trace.TimedTerminal, error] {
	if x.kept == nil {
		return k.TimedTerminalsFrom(stream, from)
	}
	return func(yield func(trace.TimedTerminal, error) bool) {
		t, first := x.kept.times[k.Number()], x.spans[k.Number()][stream][0].First
		at, n := x.kept.begin+t.RelativeStartNs, 0
		for terminal := range k.SequenceFrom(stream, first) {
			if n == len(t.Gaps) {
				return
			}
			start := at + t.Gaps[n]
			at = start + t.Durations[n]
			index := first + uint64(n)
			if index >= from && !yield(trace.NewTimedTerminal(index, terminal, t.Gaps[n], start, at), nil) {
				return
			}
			n++
		}
	}
}
