package model

import (
	"cmp"
	"slices"
)

// A When says for how long ranks computed and waited in each part of the run, and which iterations of its main loop
// differ from others.
type When struct {
	Loop *WhenLoop // nil: no loop was found
	// Columns are intervals of the run, the same for all ranks. First are ColumnsBeforeLoop columns of equal
	// duration, then those of the loop, then ColumnsAfterLoop columns of equal duration. In the loop either an
	// iteration has ColumnsPerIteration columns of equal duration, or a column has IterationsPerColumn iterations.
	// Without a loop all columns are ColumnsBeforeLoop.
	ColumnsBeforeLoop, ColumnsAfterLoop, ColumnsPerIteration int
	IterationsPerColumn                                      uint64
	ColumnWidthNs                                            []int64 // by column: its duration, mean over the ranks
	Rows                                                     []WhenRow
	LevelNs                                                  int64 // ns of one level, the unit of WhenStateTimes.LevelCounts
	Outliers                                                 []WhenOutlier
	Findings                                                 []WhenFinding
	Exemplars                                                []WhenExemplar // single iterations; the first is typical
}

// WhenLoop is the loop whose iterations a When describes. An iteration begins with a call from BeginsAt that enters
// the loop, or that is a step back in the order of call sites (see trace.SiteNumbering). How far back a step has to
// lead is not stored: it follows from Iterations, the number of calls that begin an iteration.
type WhenLoop struct {
	BeginsAt     FunctionSiteNumbers
	Iterations   uint64
	RanksWithout int // number of ranks that don't run the loop, or run another number of iterations
}

// A WhenRow is the times of Ranks ranks from rank First on, as means over them. Ranks that differ much from their
// neighbours also have rows of their own, after the rows of all ranks.
type WhenRow struct {
	FirstRank, RankCount int
	StateTimes           [WhenStateCount]WhenStateTimes
}

// What a thread does: indices in WhenRow.StateTimes. The time that is in none of these states is in MPI without waiting.
const (
	WhenStateComputing = iota
	WhenStateWaiting
	WhenStateFileIO   // in I/O calls
	WhenStateAside    // in the recorder, or while tracing was switched off
	WhenStateRunnable // runnable, but without a processor
	WhenStateCount
)

// A WhenStateTimes is the times of a row in one state. LevelCounts is by column: the time, in levels of When.LevelNs. In
// columns of the loop it is relative to Base, which is in tenths of a level.
type WhenStateTimes struct {
	LoopBaseUnits int64
	LevelCounts   []int64
}

// A WhenOutlier is a column in which a rank computes longer than the mean of its row. Ns is by how much.
type WhenOutlier struct {
	Column, Rank int
	ExcessNs     int64
}

// WhenFindingSlow is the WhenFinding.Kind of a single iteration that takes longer than others. Package when defines the other
// kinds.
const WhenFindingSlow = 0

// WhenMaxSingleIterations is the largest number of iterations of a loop that are analysed one by one.
const WhenMaxSingleIterations = 4096

// A WhenFinding is iterations that differ from others.
type WhenFinding struct {
	Kind                   int
	FirstIteration, Period uint64 // number of the first such iteration, from 0; every how many iterations it recurs
	Ranks                  []int  // the lowest ranks that compute longer; empty if the whole iteration takes longer
	RankCount              int    // number of all ranks that compute longer
	// BeforeNs and AfterNs are durations of two kinds of iterations, or computation times of ranks in these. For a slow
	// iteration they are of the usual ones and of the slow one. For a step: of those before and after it. For a drift:
	// of the first and the last ones. For a period: of the other iterations and of the periodic ones. For a noisy rank:
	// the usual time and the mean.
	BeforeNs, AfterNs int64
	LongerNs          int64               // of a slow iteration: by how many ns the slow rank computes longer than usually
	CostNs            int64               // by how many ns the run takes longer because of the finding
	EndingCall        FunctionSiteNumbers // function and site of the call that ends the longer computation; Function -1: unknown
}

// A WhenExemplar is an iteration with the times of its calls. Ranks has all ranks that run the loop, or is empty.
type WhenExemplar struct {
	Iteration uint64
	Ranks     []WhenCallTimes
}

// WhenCallTimes is the times of a rank's calls in an iteration, in ns. Gaps and Durations are by call. The first gap begins
// at StartNs, which is relative to the mean over the ranks of when the iteration begins.
type WhenCallTimes struct {
	Rank            int
	RelativeStartNs int64
	Gaps, Durations []int64
}

// InLoop reports whether a column belongs to the loop.
func (w *When) InLoop(column int) bool {
	return w.Loop != nil && column >= w.ColumnsBeforeLoop && column < len(w.ColumnWidthNs)-w.ColumnsAfterLoop
}

// RowOf returns the index in Rows of a rank's row: its own one if it has one, else the one of its neighbours. It is -1
// if no row is for the rank.
func (w *When) RowOf(rank int) int {
	for i := len(w.Rows) - 1; i >= 0; i-- {
		if r := &w.Rows[i]; rank >= r.FirstRank && rank-r.FirstRank < r.RankCount {
			return i
		}
	}
	return -1
}

// StateNs returns the time in ns, mean over the ranks of a row, that they are in a state (e.g. WhenStateComputing) in a
// column. Rounding may make it slightly negative.
func (w *When) StateNs(row, state, column int) int64 {
	p := &w.Rows[row].StateTimes[state]
	ns := p.LevelCounts[column] * w.LevelNs
	if w.InLoop(column) || w.Loop == nil {
		ns += p.LoopBaseUnits * w.LevelNs / WhenBaseUnitsPerLevel
	}
	return ns
}

// WhenBaseUnitsPerLevel is the number of units of WhenStateTimes.LoopBaseUnits in a level.
const WhenBaseUnitsPerLevel = 10

// RunNs returns the duration of the run in ns, mean over the ranks.
func (w *When) RunNs() (sum int64) {
	for _, ns := range w.ColumnWidthNs {
		sum += ns
	}
	return sum
}

// Iterations returns which iterations, counted from 0, a column of the loop is in or contains: from from up to, but
// without, end.
func (w *When) Iterations(column int) (from, end uint64) {
	i := uint64(column - w.ColumnsBeforeLoop)
	if w.ColumnsPerIteration > 1 {
		i /= uint64(w.ColumnsPerIteration)
		return i, i + 1
	}
	return i * w.IterationsPerColumn, min((i+1)*w.IterationsPerColumn, w.Loop.Iterations)
}

// WhenIterations is a range of iterations that share columns: Count of them from First on. Ns is the mean duration of
// one.
type WhenIterations struct {
	First, Count uint64
	MeanNs       int64
}

// BeginNs returns when an iteration of the loop, counted from 0, begins: in ns after the beginning of the run, mean
// over the ranks.
func (w *When) BeginNs(iteration uint64) (ns int64) {
	for i, width := range w.ColumnWidthNs {
		if w.InLoop(i) {
			if from, end := w.Iterations(i); iteration < end {
				return ns + int64(float64(width)*float64(iteration-min(from, iteration))/float64(end-from))
			}
		}
		ns += width
	}
	return ns
}

// IterationTimes lists the durations of all iterations of the loop, as means over iterations that share a column.
func (w *When) IterationTimes() (list []WhenIterations) {
	for i, ns := range w.ColumnWidthNs {
		if !w.InLoop(i) {
			continue
		}
		from, end := w.Iterations(i)
		if n := len(list); n > 0 && list[n-1].First == from {
			list[n-1].MeanNs += ns
			continue
		}
		list = append(list, WhenIterations{from, end - from, ns / int64(end-from)})
	}
	return list
}

// IterationQuantileNs returns a quantile of the durations of iterations, in ns: a fraction share (0 to 1) of them isn't longer.
// It returns 0 without a loop.
func (w *When) IterationQuantileNs(share float64) int64 {
	list := w.IterationTimes()
	slices.SortFunc(list, func(a, b WhenIterations) int { return cmp.Compare(a.MeanNs, b.MeanNs) })
	left := share
	for _, x := range list {
		if left -= float64(x.Count) / float64(w.Loop.Iterations); left <= 1e-9 {
			return x.MeanNs
		}
	}
	return 0
}
