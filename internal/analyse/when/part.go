package when

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// A RowTimes is the mean times, in ns, of the ranks of one row of the picture, summed over some iterations.
type RowTimes struct {
	FirstRank, Ranks int // lowest rank, and number of ranks
	NsByState        [trace.WhenStateCount]int64
	MPINs            int64 // in MPI without waiting
}

// SumRows adds up the iterations from number from up to, but without, number end. A column that also covers other
// iterations counts in proportion. whole is the iterations' duration in ns.
func SumRows(w *trace.When, from, end uint64) (rows []RowTimes, whole int64) {
	rows = make([]RowTimes, len(w.Rows))
	for i := range rows {
		rows[i].FirstRank, rows[i].Ranks = w.Rows[i].FirstRank, w.Rows[i].RankCount
	}
	for column, width := range w.ColumnWidthNs {
		if !w.InLoop(column) {
			continue
		}
		first, last := w.Iterations(column)
		if first >= end || last <= from {
			continue
		}
		share := float64(min(last, end)-max(first, from)) / float64(last-first)
		of := func(ns int64) int64 { return int64(share * float64(ns)) }
		whole += of(width)
		for i := range rows {
			left := width
			for state := range trace.WhenStateCount {
				ns := max(0, w.StateNs(i, state, column))
				rows[i].NsByState[state] += of(ns)
				left -= ns
			}
			rows[i].MPINs += of(max(0, left))
		}
	}
	return rows, whole
}

// FindingConcernsIterations reports whether a finding is about any of the iterations from up to, but without, end.
func FindingConcernsIterations(f *trace.WhenFinding, from, end uint64) bool {
	switch Kind(f.Kind) {
	case KindSlow, KindWaitingForCPU:
		return from <= f.FirstIteration && f.FirstIteration < end
	case KindPeriod:
		if f.FirstIteration >= end {
			return false
		}
		n := max(from, f.FirstIteration)
		return (n-f.FirstIteration+f.Period-1)/f.Period*f.Period+f.FirstIteration < end
	}
	return true
}

// An IterationSegment is the iterations between two steps: First included, end excluded, and the median time of one
// in ns.
type IterationSegment struct {
	FirstIteration uint64 `json:"from"`
	EndIteration   uint64 `json:"end"`
	MedianNs       int64  `json:"ns"`
}

// IterationSegments divides all iterations at the steps that were found.
func IterationSegments(w *trace.When) (list []IterationSegment) {
	edges := []uint64{0, w.Loop.Iterations}
	for i := range w.Findings {
		if f := &w.Findings[i]; Kind(f.Kind) == KindStep {
			edges = append(edges, f.FirstIteration)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	lasting := w.IterationTimes()
	for i, from := range edges[:len(edges)-1] {
		var each []float64
		for _, x := range lasting {
			if n := min(x.First+x.Count, edges[i+1]); x.First < edges[i+1] && n > from {
				each = append(each, float64(x.MeanNs))
			}
		}
		if len(each) > 0 {
			list = append(list, IterationSegment{from, edges[i+1], int64(stats.Median(each))})
		}
	}
	return list
}

// SlowestIterations returns the iterations of the picture's column with the longest time per iteration.
func SlowestIterations(w *trace.When) trace.WhenIterations {
	return slices.MaxFunc(w.IterationTimes(), func(a, b trace.WhenIterations) int { return cmp.Compare(a.MeanNs, b.MeanNs) })
}

// ExemplarIn returns the stored times of single calls in the iterations from up to, but without, end. It returns nil
// unless that is exactly one iteration and the trace stores its times.
func ExemplarIn(w *trace.When, from, end uint64) *trace.WhenExemplar {
	if w == nil || w.Loop == nil || end != from+1 {
		return nil
	}
	i := slices.IndexFunc(w.Exemplars, func(e trace.WhenExemplar) bool { return e.Iteration == from })
	if i < 0 {
		return nil
	}
	return &w.Exemplars[i]
}
