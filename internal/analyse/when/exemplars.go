package when

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace"
)

// Limits of the exemplars: iterations whose single calls are kept.
const (
	mostExemplars     = 4
	exemplarRanks     = 8    // largest number of ranks; with more, no exemplar is kept
	exemplarCalls     = 4096 // largest number of a rank's calls in an iteration
	roomForExemplars  = 512  // largest size of all exemplars in bytes, if the user gives no size
	exemplarsOfOption = 8    // exemplars take 1/8 of the room that the user's option gives
)

// exemplars are the times of all ranks in some iterations.
type exemplars struct {
	iterations []uint64
	times      [][]trace.WhenCallTimes // by index in iterations: the times of the ranks that run them, in order
}

func (e *exemplars) code(c *wire.Coder) {
	wire.CodeList(c, &e.iterations, 1, func(_ int, i *uint64) { wire.CodeUints(c, i) })
	wire.CodeList(c, &e.times, 1, func(_ int, list *[]trace.WhenCallTimes) {
		wire.CodeList(c, list, 3, func(_ int, t *trace.WhenCallTimes) {
			wire.CodeNaturals(c, &t.Rank)
			wire.CodeIntegers(c, &t.RelativeStartNs)
			wire.CodeList(c, &t.Gaps, 1, func(_ int, ns *int64) { wire.CodeIntegers(c, ns) })
			wire.CodeList(c, &t.Durations, 1, func(_ int, ns *int64) { wire.CodeIntegers(c, ns) })
		})
	})
}

func (e *exemplars) join(o *exemplars) {
	if len(e.iterations) == 0 {
		e.iterations = o.iterations
	}
	for i := range min(len(e.times), len(o.times)) {
		e.times[i] = append(e.times[i], o.times[i]...)
	}
}

// wanted lists the iterations to keep: a typical one, the slowest that were found, and the first. For a slot of
// several iterations it is the slot's first.
func (x *RankAnalysis) wanted(w *trace.When) (list []uint64) {
	v, each := x.durations(), newGrid(x.loop, 0, 0, 0).each
	if len(v) == 0 {
		return nil
	}
	usual := median(v)
	at := 0
	for i, ns := range v {
		if math.Abs(ns-usual) < math.Abs(v[at]-usual) {
			at = i
		}
	}
	add := func(i uint64) {
		if len(list) < mostExemplars && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	add(uint64(at) * each)
	for i := range w.Findings {
		if f := &w.Findings[i]; Kind(f.Kind) == KindSlow && len(list) < mostExemplars-1 {
			add(f.FirstIteration)
		}
	}
	slowest := slices.Index(v, slices.Max(v))
	add(uint64(slowest) * each)
	add(0)
	return list
}

// exemplars adds the times of single iterations to rank 0's result, as far as there is room.
func (x *RankAnalysis) exemplars(w *trace.When) error {
	if x.Size() > exemplarRanks {
		return nil
	}
	var own exemplars
	x.try(func() error {
		if w != nil && w.Loop != nil {
			own.iterations = x.wanted(w)
		}
		return nil
	})
	told, err := x.Broadcast(x.all, x.Rank(), x.message(own.code))
	if err != nil {
		return err
	}
	x.read(told, own.code)
	x.try(func() error { return x.timesOf(&own) })
	if err := joined(x, x.all, x.Rank(), &own, false); err != nil || w == nil {
		return err
	}
	x.try(func() error {
		x.keep(w, &own)
		return nil
	})
	return nil
}

// timesOf reads the times of the rank's own calls in the iterations of e.
func (x *RankAnalysis) timesOf(e *exemplars) error {
	e.times = make([][]trace.WhenCallTimes, len(e.iterations))
	if x.rounds == nil || x.means == nil || len(e.iterations) == 0 {
		return nil
	}
	each := newGrid(x.loop, 0, 0, 0).each
	order := make([]int, len(e.iterations))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(e.iterations[a], e.iterations[b]) })
	next, passed, end := x.clock(0), uint64(0), int64(math.MinInt64)
	for _, i := range order {
		n := e.iterations[i]
		from, to := x.rounds.BeginPosition(n), x.rounds.BeginPosition(n+1)
		if to-from > exemplarCalls || from >= to {
			continue
		}
		if from > passed {
			until, err := next.Skip(from - passed)
			if err != nil {
				return err
			}
			end, passed = max(end, until), from
		}
		t := trace.WhenCallTimes{Rank: x.Rank()}
		for ; passed < to; passed++ {
			start, until, _, err := next.Next()
			if err != nil {
				return err
			}
			if passed == from {
				if n == 0 || end == math.MinInt64 { // the computation before the loop isn't the first iteration's
					end = start
				}
				t.RelativeStartNs = end - x.means[1+n/each]
			}
			t.Gaps = append(t.Gaps, max(0, start-end))
			t.Durations = append(t.Durations, max(0, until-max(start, end)))
			end = max(end, until)
		}
		e.times[i] = []trace.WhenCallTimes{t}
	}
	return nil
}

// keep adds the exemplars that fit.
func (x *RankAnalysis) keep(w *trace.When, e *exemplars) {
	most := roomForExemplars
	if x.size > 0 {
		most = int(x.size / exemplarsOfOption)
	}
	without := wire.EstimatePackedSize(sections.AppendWhen(nil, w))
	for i, iteration := range e.iterations {
		list := e.times[i]
		if len(list) < x.loop.Ranks {
			continue
		}
		w.Exemplars = append(w.Exemplars, trace.WhenExemplar{Iteration: iteration, Ranks: list})
		if wire.EstimatePackedSize(sections.AppendWhen(nil, w))-without > most {
			w.Exemplars = w.Exemplars[:len(w.Exemplars)-1]
		}
	}
}
