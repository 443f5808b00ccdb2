package model

import (
	"cmp"
	"slices"
)

// A When says when in a run ranks computed and waited, and which iterations of its loop differ from others.
type When struct {
	Loop *WhenLoop // nil: the run shows none
	// Columns are stretches of the run, the same for all ranks: Before of equal times, those of the loop, After of equal times. In the
	// loop an iteration has Parts columns of equal times, or each column has Each iterations. Without a loop all columns are Before.
	ColumnsBeforeLoop, ColumnsAfterLoop, ColumnsPerIteration int
	IterationsPerColumn                                      uint64
	WidthNs                                                  []int64 // of each column; the mean of the ranks
	Rows                                                     []WhenRow
	LevelNs                                                  int64 // of a level of the planes
	Outliers                                                 []WhenOutlier
	Findings                                                 []WhenFinding
	Exemplars                                                []WhenExemplar // the first is a typical one
}

// A WhenLoop is the loop whose iterations a When is about. An iteration of a rank begins with a call from Begins that
// enters the loop, or that goes back in the order of call sites. How far back it must go is set so that the loop has
// this number of iterations.
type WhenLoop struct {
	BeginsAt     WaitPlace
	Iterations   uint64
	RanksWithout int // ranks that have other numbers of iterations, or none
}

// A WhenRow is what neighbouring ranks do, in the mean. Ranks that differ much from their neighbours have rows of their own, after all others.
type WhenRow struct {
	First, Ranks int
	Planes       [WhenStates]WhenPlane
}

// What a thread does, besides what a row doesn't say: it is in MPI, and waits for nobody.
const (
	WhenComputing = iota
	WhenWaiting
	WhenFiles // in calls that work on files
	WhenOther // in the recorder, or tracing was switched off
	WhenReady // ready to compute, without a processor
	WhenStates
)

// A WhenPlane is times of a row in one state, by column: in levels, which in columns of the loop count from Base tenths of one.
type WhenPlane struct {
	Base        int64
	LevelCounts []int64
}

// A WhenOutlier is a column in which a rank computes that much longer than its row says.
type WhenOutlier struct {
	Column, Rank int
	Ns           int64
}

// WhenSlow is the kind of findings of one iteration that takes longer; package when has all kinds.
const WhenSlow = 0

// WhenMaxSingleIterations is up to how many iterations of a loop are looked at one by one.
const WhenMaxSingleIterations = 4096

// A WhenFinding is iterations that differ from others.
type WhenFinding struct {
	Kind                   int
	FirstIteration, Period uint64 // iteration, and after how many the next one is
	Ranks                  []int  // that compute longer, the first of them; none: iterations take longer
	IterationCount         int    // how many there are
	// BeforeNs and AfterNs are what an iteration takes, or what ranks compute in one: of a slow one usually and then, of a step before and
	// after it, of a drift at first and at last, of a period else and then, of a noisy rank usually, and on average.
	BeforeNs, AfterNs int64
	LongerNs          int64     // by how much the rank of a slow iteration computes longer
	CostNs            int64     // of the run
	Place             WaitPlace // before the call from there; Function -1: not known
}

// A WhenExemplar is an iteration for which the times of all calls are kept, of all ranks that run the loop or of none.
type WhenExemplar struct {
	Iteration uint64
	Ranks     []WhenTimes
}

// WhenTimes are those of a rank's calls in an iteration, in ns. Each call begins one of Gaps after the one before has ended, the first after
// FromNs, which counts from when the iteration begins in the mean of the ranks.
type WhenTimes struct {
	Rank            int
	StartNs         int64
	Gaps, Durations []int64
}

// InLoop reports whether a column is one of the loop.
func (w *When) InLoop(column int) bool {
	return w.Loop != nil && column >= w.ColumnsBeforeLoop && column < len(w.WidthNs)-w.ColumnsAfterLoop
}

// RowOf returns the row of a rank: its own one, if it has one; -1 if no row has it.
func (w *When) RowOf(rank int) int {
	for i := len(w.Rows) - 1; i >= 0; i-- {
		if r := &w.Rows[i]; rank >= r.First && rank-r.First < r.Ranks {
			return i
		}
	}
	return -1
}

// StateNs is how long ranks of a row are in a state in a column. It may be a little below 0.
func (w *When) StateNs(row, state, column int) int64 {
	p := &w.Rows[row].Planes[state]
	ns := p.LevelCounts[column] * w.LevelNs
	if w.InLoop(column) || w.Loop == nil {
		ns += p.Base * w.LevelNs / WhenBaseUnits
	}
	return ns
}

// WhenBaseUnits is how many parts of a level the base of a plane counts.
const WhenBaseUnits = 10

// RunNs is how long the run took, in the mean of the ranks.
func (w *When) RunNs() (sum int64) {
	for _, ns := range w.WidthNs {
		sum += ns
	}
	return sum
}

// Iterations returns the first iteration of a column of the loop, and the one after its last.
func (w *When) Iterations(column int) (from, end uint64) {
	i := uint64(column - w.ColumnsBeforeLoop)
	if w.ColumnsPerIteration > 1 {
		i /= uint64(w.ColumnsPerIteration)
		return i, i + 1
	}
	return i * w.IterationsPerColumn, min((i+1)*w.IterationsPerColumn, w.Loop.Iterations)
}

// WhenIterations are iterations that one or more columns are of, and what each takes, in the mean.
type WhenIterations struct {
	First, Count uint64
	Ns           int64
}

// BeginNs is when an iteration of the loop begins, after the run has, in the mean of the ranks.
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

// IterationTimes lists all iterations of the loop.
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
