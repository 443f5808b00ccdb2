package model

import (
	"cmp"
	"slices"
)

// A When is the time that ranks computed and waited by parts of the run, and the iterations of its loop that differ
// from others.
type When struct {
	Loop *WhenLoop // nil: no loop was found
	// Columns are intervals of the run, the same for all ranks. First are ColumnsBeforeLoop columns of equal
	// duration, then those of the loop, then ColumnsAfterLoop columns of equal duration. In the loop either an
	// iteration has ColumnsPerIteration columns of equal duration, or a column has IterationsPerColumn iterations.
	// Without a loop all columns are ColumnsBeforeLoop.
	ColumnsBeforeLoop, ColumnsAfterLoop, ColumnsPerIteration int
	IterationsPerColumn                                      uint64
	WidthNs                                                  []int64 // by column; mean over the ranks
	Rows                                                     []WhenRow
	LevelNs                                                  int64 // ns of one level of the planes
	Outliers                                                 []WhenOutlier
	Findings                                                 []WhenFinding
	Exemplars                                                []WhenExemplar // the first one is a typical iteration
}

// WhenLoop is the loop whose iterations a When describes. An iteration begins with a call from BeginsAt that enters
// the loop, or that goes back in the order of call sites. The minimal step back is chosen such that the loop has this
// number of iterations.
type WhenLoop struct {
	BeginsAt     WaitPlace
	Iterations   uint64
	RanksWithout int // ranks with another number of iterations, or none
}

// A WhenRow is the mean over neighbouring ranks. Ranks that differ much from their neighbours have rows of their
// own, after all others.
type WhenRow struct {
	First, Ranks int
	Planes       [WhenStates]WhenPlane
}

// What a thread does, as the index in WhenRow.Planes. The remaining time is in MPI without waiting.
const (
	WhenComputing = iota
	WhenWaiting
	WhenFiles // in I/O calls
	WhenOther // in the recorder, or tracing was switched off
	WhenReady // runnable, but without a processor
	WhenStates
)

// A WhenPlane is the times of a row in one state, by column, in levels. In columns of the loop they are relative
// to Base, which is in tenths of a level.
type WhenPlane struct {
	Base        int64
	LevelCounts []int64
}

// A WhenOutlier is a column in which a rank computes longer than the mean of its row, by Ns.
type WhenOutlier struct {
	Column, Rank int
	Ns           int64
}

// WhenSlow is the kind of finding for one iteration that takes longer; package when has all kinds.
const WhenSlow = 0

// WhenMaxSingleIterations is the largest number of iterations of a loop that are analysed one by one.
const WhenMaxSingleIterations = 4096

// A WhenFinding is iterations that differ from others.
type WhenFinding struct {
	Kind                   int
	FirstIteration, Period uint64 // the first iteration, and the distance to the next one
	Ranks                  []int  // the first of the ranks that compute longer; none: whole iterations take longer
	RankCount              int    // number of ranks that compute longer
	// BeforeNs and AfterNs are durations of an iteration, or computation times of ranks in one. For a slow iteration:
	// the usual one and the slow one. For a step: before and after. For a drift: first and last. For a period: the
	// other iterations and the periodic ones. For a noisy rank: the usual time and the mean.
	BeforeNs, AfterNs int64
	LongerNs          int64     // how much longer the rank of a slow iteration computes
	CostNs            int64     // time that the finding cost the run
	Place             WaitPlace // the call that ends the longer computation; Function -1: not known
}

// A WhenExemplar is an iteration with the times of all calls, either of all ranks that run the loop or of none.
type WhenExemplar struct {
	Iteration uint64
	Ranks     []WhenTimes
}

// WhenTimes is the times of a rank's calls in an iteration, in ns. Each call begins its element of Gaps after the end
// of the previous call, the first call its element after StartNs. StartNs is relative to the mean beginning of the
// iteration over the ranks.
type WhenTimes struct {
	Rank            int
	StartNs         int64
	Gaps, Durations []int64
}

// InLoop reports whether a column belongs to the loop.
func (w *When) InLoop(column int) bool {
	return w.Loop != nil && column >= w.ColumnsBeforeLoop && column < len(w.WidthNs)-w.ColumnsAfterLoop
}

// RowOf returns the row of a rank, its own one if it has one; -1 if no row covers the rank.
func (w *When) RowOf(rank int) int {
	for i := len(w.Rows) - 1; i >= 0; i-- {
		if r := &w.Rows[i]; rank >= r.First && rank-r.First < r.Ranks {
			return i
		}
	}
	return -1
}

// StateNs is the time in a state of a row's ranks in a column. Rounding may make it slightly negative.
func (w *When) StateNs(row, state, column int) int64 {
	p := &w.Rows[row].Planes[state]
	ns := p.LevelCounts[column] * w.LevelNs
	if w.InLoop(column) || w.Loop == nil {
		ns += p.Base * w.LevelNs / WhenBaseUnitsPerLevel
	}
	return ns
}

// WhenBaseUnitsPerLevel is the number of units of WhenPlane.Base in a level.
const WhenBaseUnitsPerLevel = 10

// RunNs is the duration of the run, mean over the ranks.
func (w *When) RunNs() (sum int64) {
	for _, ns := range w.WidthNs {
		sum += ns
	}
	return sum
}

// Iterations returns the first iteration of a column of the loop, and the one after the column's last.
func (w *When) Iterations(column int) (from, end uint64) {
	i := uint64(column - w.ColumnsBeforeLoop)
	if w.ColumnsPerIteration > 1 {
		i /= uint64(w.ColumnsPerIteration)
		return i, i + 1
	}
	return i * w.IterationsPerColumn, min((i+1)*w.IterationsPerColumn, w.Loop.Iterations)
}

// WhenIterations is a range of iterations that share columns, and the mean duration of one.
type WhenIterations struct {
	First, Count uint64
	Ns           int64
}

// BeginNs is when an iteration of the loop begins after the beginning of the run, mean over the ranks.
func (w *When) BeginNs(iteration uint64) (ns int64) {
	for i, width := range w.WidthNs {
		if w.InLoop(i) {
			if from, end := w.Iterations(i); iteration < end {
				return ns + int64(float64(width)*float64(iteration-min(from, iteration))/float64(end-from))
			}
		}
		ns += width
	}
	return ns
}

// IterationTimes lists all iterations of the loop with their durations.
func (w *When) IterationTimes() (list []WhenIterations) {
	for i, ns := range w.WidthNs {
		if !w.InLoop(i) {
			continue
		}
		from, end := w.Iterations(i)
		if n := len(list); n > 0 && list[n-1].First == from {
			list[n-1].Ns += ns
			continue
		}
		list = append(list, WhenIterations{from, end - from, ns / int64(end-from)})
	}
	return list
}

// IterationNs is the quantile of iteration times at share; 0 without a loop.
func (w *When) IterationNs(share float64) int64 {
	list := w.IterationTimes()
	slices.SortFunc(list, func(a, b WhenIterations) int { return cmp.Compare(a.Ns, b.Ns) })
	left := share
	for _, x := range list {
		if left -= float64(x.Count) / float64(w.Loop.Iterations); left <= 1e-9 {
			return x.Ns
		}
	}
	return 0
}
