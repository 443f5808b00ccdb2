package sections

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AppendWhen and DecodeWhen: the section of when ranks computed and waited. Numbers are uvarints unless said otherwise.
//
//	when     = iterations, if that isn't 0: place, ranks without; before, after, parts, each, columns, Δwidth varint…, level step,
//	           rows, (first, ranks)…, per plane, per row: base varint, per plane, per row: levels, highest, (Δcolumn, rank, levels)…,
//	           findings, finding…, exemplars, exemplar…, the same of planes without a processor; what is nothing at the end is left out
//	width    = half a step, rounded up
//	levels   = (columns whose level is as that before, Δlevel varint)…: runs go on from row to row and from plane to plane, the last
//	           ends with the last column
//	finding  = kind, from, every, ranks, ranks here, rank…, before step, after step, longer step, cost step, place
//	exemplar = iteration, ranks, (rank, from varint in 1/16 of a level, calls, Δgap varint…, Δduration varint…)…
//	place    = function + 1, if that isn't 0: site
//
// The levels of a row begin with the difference from 0. Steps are as timing.LogTime. Gaps and durations are as widths; they differ from those of
// the same call in the rank's first exemplar if that has as many calls, else from the one before.
func AppendWhen(b []byte, w *model.When) []byte {
	x := whenCoder{waitCoder{Coder: wire.Coder{Buf: b}}}
	x.when(w)
	return x.Buf
}

// DecodeWhen reads the output of AppendWhen. n.Kinds is the number of kinds of findings.
func DecodeWhen(r *wire.Reader, n DecodingLimits) *model.When {
	x, w := whenCoder{waitCoder{Coder: wire.Coder{Reader: r}, n: n}}, &model.When{}
	x.when(w)
	return w
}

// Largest numbers of columns, rows and table cells in the section.
const (
	whenColumns = 4096
	whenRows    = 1024
	whenCells   = model.WhenStateCount << 18 // rows times columns, over the planes of all states
)

type whenCoder struct{ waitCoder }

// RoundWhenColumnWidth returns a column's width in ns as it will be decoded: rounded to a timing.LogTime with an even number.
func RoundWhenColumnWidth(ns float64) float64 {
	return (widthSteps(int64(max(0, ns))) * 2).Ns()
}

func widthSteps(ns int64) timing.LogTime { return (timing.LogTimeOf(uint64(max(0, ns))) + 1) / 2 }

func (x *whenCoder) when(w *model.When) {
	c := &x.Coder
	iterations := uint64(0)
	if w.Loop != nil {
		iterations = w.Loop.Iterations
	}
	if wire.CodeUints(c, &iterations); iterations > 0 {
		if w.Loop == nil {
			w.Loop = &model.WhenLoop{Iterations: iterations}
		}
		x.place(&w.Loop.BeginsAt)
		wire.CodeBounded(c, &w.Loop.RanksWithout, x.n.Ranks)
	}
	wire.CodeBounded(c, &w.ColumnsBeforeLoop, whenColumns)
	wire.CodeBounded(c, &w.ColumnsAfterLoop, whenColumns)
	wire.CodeBounded(c, &w.ColumnsPerIteration, whenColumns)
	wire.CodeUints(c, &w.IterationsPerColumn)
	columns := len(w.ColumnWidthNs)
	if wire.CodeBounded(c, &columns, whenColumns); x.Reader != nil {
		x.RefuseIf(columns > x.Reader.RemainingLen(), "%d columns in %d bytes", columns, x.Reader.RemainingLen())
		x.RefuseIf(w.ColumnsBeforeLoop+w.ColumnsAfterLoop > columns, "%d columns of %d are outside of the loop", w.ColumnsBeforeLoop+w.ColumnsAfterLoop, columns)
		if w.Loop != nil {
			x.inside(w, columns-w.ColumnsBeforeLoop-w.ColumnsAfterLoop)
		}
		if x.Failed() {
			return
		}
		w.ColumnWidthNs = make([]int64, columns)
	}
	before := timing.LogTime(0)
	for i := range w.ColumnWidthNs {
		d := int64(widthSteps(w.ColumnWidthNs[i])) - int64(before)
		wire.CodeIntegers(c, &d)
		to := int64(before) + d
		x.RefuseIf(to < 0 || to > timing.MaxLogTime/2, "a width of %d steps", to)
		if x.Failed() {
			return
		}
		if before = timing.LogTime(to); x.Reader != nil {
			w.ColumnWidthNs[i] = int64((2 * before).Ns())
		}
	}
	x.steps(&w.LevelNs)
	x.RefuseIf(w.LevelNs == 0, "levels of no time")
	rows := len(w.Rows)
	if wire.CodeBounded(c, &rows, whenRows); x.Reader != nil {
		x.RefuseIf(rows*columns*model.WhenStateCount > whenCells, "%d rows of %d columns", rows, columns)
		x.RefuseIf(rows > x.Reader.RemainingLen(), "%d rows in %d bytes", rows, x.Reader.RemainingLen())
		if x.Failed() {
			return
		}
		if rows > 0 {
			w.Rows = make([]model.WhenRow, rows)
		}
	}
	for i := range w.Rows {
		r := &w.Rows[i]
		x.rank(&r.FirstRank)
		wire.CodeAbove(c, &r.RankCount, 1, x.n.Ranks-r.FirstRank-1)
	}
	x.planes(w, columns, 0, model.WhenStateRunnable)
	column := 0
	wire.CodeList(c, &w.Outliers, 3, func(i int, h *model.WhenOutlier) {
		wire.CodeAbove(c, &h.Column, column, max(0, columns-1-column))
		x.RefuseIf(columns == 0 || i > 0 && h.Column == column, "column %d twice", column)
		column = h.Column
		x.rank(&h.Rank)
		x.levels(w, &h.ExcessNs)
	})
	wire.CodeList(c, &w.Findings, 11, func(_ int, f *model.WhenFinding) { x.finding(f) })
	ready := x.Reader == nil && hasReady(w)
	if x.Reader != nil && x.Reader.RemainingLen() == 0 || x.Reader == nil && len(w.Exemplars) == 0 && !ready {
		x.neverReady(w, columns)
		return
	}
	left := whenCells
	wire.CodeList(c, &w.Exemplars, 2, func(i int, e *model.WhenExemplar) {
		if wire.CodeUints(c, &e.Iteration); w.Loop != nil {
			x.RefuseIf(e.Iteration >= w.Loop.Iterations, "iteration %d of %d", e.Iteration, w.Loop.Iterations)
		}
		wire.CodeList(c, &e.Ranks, 3, func(j int, t *model.WhenCallTimes) {
			x.rank(&t.Rank)
			x.RefuseIf(j > 0 && t.Rank <= e.Ranks[j-1].Rank, "rank %d out of order", t.Rank)
			x.times(w, t, x.typical(w, i, t.Rank), &left)
		})
	})
	x.RefuseIf(len(w.Exemplars) > 0 && w.Loop == nil, "exemplars of no loop")
	if x.Reader != nil {
		ready = x.Reader.RemainingLen() > 0
		x.RefuseIf(len(w.Exemplars) == 0 && !ready, "no exemplars")
	}
	if !ready {
		x.neverReady(w, columns)
		return
	}
	x.planes(w, columns, model.WhenStateRunnable, model.WhenStateCount)
	x.RefuseIf(x.Reader != nil && !x.Failed() && !hasReady(w), "planes of nothing")
}

// hasReady reports whether ranks were runnable without a processor in any column.
func hasReady(w *model.When) bool {
	for i := range w.Rows {
		p := &w.Rows[i].StateTimes[model.WhenStateRunnable]
		if p.LoopBaseUnits != 0 || slices.ContainsFunc(p.LevelCounts, func(l int64) bool { return l != 0 }) {
			return true
		}
	}
	return false
}

// neverReady sets the planes of state model.WhenStateRunnable to zeros, as they are not stored if all are zero.
func (x *whenCoder) neverReady(w *model.When, columns int) {
	for i := range w.Rows {
		if x.Reader != nil && !x.Failed() {
			w.Rows[i].StateTimes[model.WhenStateRunnable].LevelCounts = make([]int64, columns)
		}
	}
}

// typical returns the times of a rank in the first exemplar; nil for the first exemplar itself.
func (x *whenCoder) typical(w *model.When, n, rank int) *model.WhenCallTimes {
	if n == 0 || len(w.Exemplars) == 0 {
		return nil
	}
	for i := range w.Exemplars[0].Ranks {
		if t := &w.Exemplars[0].Ranks[i]; t.Rank == rank {
			return t
		}
	}
	return nil
}

// partsOfLevel is the number of parts of a level in which an exemplar's StartNs is counted in the file.
const partsOfLevel = 16

func (x *whenCoder) times(w *model.When, t, typical *model.WhenCallTimes, left *int) {
	c := &x.Coder
	unit := max(1, w.LevelNs/partsOfLevel)
	from := t.RelativeStartNs / unit
	wire.CodeIntegers(c, &from)
	x.RefuseIf(from < -mostLevel || from > mostLevel, "a beginning of %d", from)
	calls := len(t.Gaps)
	if wire.CodeBounded(c, &calls, *left); x.Reader != nil {
		if x.RefuseIf(calls > x.Reader.RemainingLen(), "%d calls in %d bytes", calls, x.Reader.RemainingLen()); x.Failed() {
			return
		}
		t.RelativeStartNs = from * unit
		t.Gaps, t.Durations = make([]int64, calls), make([]int64, calls)
	}
	*left -= calls
	if typical != nil && len(typical.Gaps) != calls {
		typical = nil
	}
	for k, list := range [2][]int64{t.Gaps, t.Durations} {
		before := timing.LogTime(0)
		for i := range list {
			if typical != nil {
				before = widthSteps([2][]int64{typical.Gaps, typical.Durations}[k][i])
			}
			step := widthSteps(list[i])
			d := int64(step) - int64(before)
			wire.CodeIntegers(c, &d)
			to := int64(before) + d
			if x.RefuseIf(to < 0 || to > timing.MaxLogTime/2, "a time of %d steps", to); x.Failed() {
				return
			}
			if before = timing.LogTime(to); x.Reader != nil {
				list[i] = int64((2 * before).Ns())
			}
		}
	}
}

// inside refuses columns of the loop that do not fit the iterations.
func (x *whenCoder) inside(w *model.When, columns int) {
	n := w.Loop.Iterations
	x.RefuseIf(w.ColumnsPerIteration < 1 || w.IterationsPerColumn < 1 || w.ColumnsPerIteration > 1 && w.IterationsPerColumn > 1, "%d parts of an iteration, %d iterations a column", w.ColumnsPerIteration, w.IterationsPerColumn)
	if !x.Failed() {
		want := (n-1)/w.IterationsPerColumn + 1
		x.RefuseIf(want > whenColumns || want*uint64(w.ColumnsPerIteration) != uint64(columns), "%d columns of %d iterations", columns, n)
	}
}

// levels codes a time as a number of levels.
func (x *whenCoder) levels(w *model.When, ns *int64) {
	n := *ns / max(1, w.LevelNs)
	wire.CodeNaturals(&x.Coder, &n)
	x.RefuseIf(n > math.MaxInt64/max(1, w.LevelNs), "%d levels", n)
	if x.Reader != nil {
		*ns = n * w.LevelNs
	}
}

// mostLevel limits levels, so that times fit into 64 bits.
const mostLevel = 1 << 40

// planes codes the planes of the states from first up to end, without end.
func (x *whenCoder) planes(w *model.When, columns, first, end int) {
	c := &x.Coder
	for p := first; p < end; p++ {
		for i := range w.Rows {
			plane := &w.Rows[i].StateTimes[p]
			wire.CodeIntegers(c, &plane.LoopBaseUnits)
			if x.RefuseIf(plane.LoopBaseUnits < -mostLevel || plane.LoopBaseUnits > mostLevel, "a base of %d", plane.LoopBaseUnits); x.Reader != nil && !x.Failed() {
				plane.LevelCounts = make([]int64, columns)
			}
		}
	}
	left := 0 // reading: rest of the current run; writing: number of equal levels so far
	if x.Reader != nil {
		wire.CodeBounded(c, &left, whenCells)
	}
	for p := first; p < end; p++ {
		for i := range w.Rows {
			level := int64(0)
			for j := range w.Rows[i].StateTimes[p].LevelCounts {
				if x.Failed() {
					return
				}
				v := &w.Rows[i].StateTimes[p].LevelCounts[j]
				d := *v - level
				switch {
				case x.Reader == nil && d == 0:
					left++
				case x.Reader == nil:
					wire.CodeBounded(c, &left, whenCells)
					wire.CodeIntegers(c, &d)
					level, left = *v, 0
				case left > 0:
					left--
					*v = level
				default:
					wire.CodeIntegers(c, &d)
					x.RefuseIf(d == 0, "a level that changes by nothing")
					level += d
					x.RefuseIf(level < -mostLevel || level > mostLevel, "a level of %d", level)
					*v = level
					wire.CodeBounded(c, &left, whenCells)
				}
			}
		}
	}
	if x.Reader == nil {
		wire.CodeBounded(c, &left, whenCells)
	} else {
		x.RefuseIf(left != 0, "%d levels too many", left)
	}
}

func (x *whenCoder) finding(f *model.WhenFinding) {
	c := &x.Coder
	wire.CodeBounded(c, &f.Kind, x.n.Kinds-1)
	wire.CodeUints(c, &f.FirstIteration, &f.Period)
	wire.CodeBounded(c, &f.RankCount, x.n.Ranks)
	wire.CodeList(c, &f.Ranks, 1, func(_ int, r *int) { x.rank(r) })
	x.steps(&f.BeforeNs, &f.AfterNs, &f.LongerNs, &f.CostNs)
	x.place(&f.EndingCall)
}
