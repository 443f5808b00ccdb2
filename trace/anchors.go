package trace

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
	"github.com/spoor-hpc/spoor/trace/model"
)

// anchor shifts the calls of the first thread on the time line m to fit section when: to its columns, and to the
// computation time in each. rounds are the rank's iterations of the loop in the section; nil if it has none. p is the
// rank's process. own says that m is made from means of this rank instead of its class.
func (k *Rank) anchor(m *timeline.MeanTimes, rounds *LoopIterations, p *Process, own bool) error {
	w, err := k.r.When()
	if err != nil || w == nil || len(w.ColumnWidthNs) == 0 {
		return err
	}
	row := w.RowOf(k.number)
	if row < 0 {
		return nil
	}
	columns := make([]timeline.ComputeTimes, len(w.ColumnWidthNs))
	for i := range columns {
		columns[i] = timeline.ComputeTimes{ComputingNs: float64(w.StateNs(row, model.WhenStateComputing, i) + max(0, w.StateNs(row, model.WhenStateRunnable, i))), FileIONs: float64(w.StateNs(row, model.WhenStateFileIO, i))}
	}
	for _, h := range w.Outliers {
		switch c, others := &columns[h.Column], w.Rows[row].RankCount-1; {
		case h.Rank == k.number:
			c.ComputingNs += float64(h.ExcessNs)
		case others > 0 && w.RowOf(h.Rank) == row: // the row's mean includes this other rank's excess
			c.ComputingNs -= float64(h.ExcessNs) / float64(others)
		}
	}
	spans, slack := []timeline.Span{{EqualParts: columns}}, int64(-1)
	if rounds != nil {
		began, err := k.r.start()
		if err != nil {
			return err
		}
		at := began - float64(m.StartNs)
		slack = 2*sections.ProcessRoundingErrorNs(p.FirstThreadNs, k.r.Ranks()) + endRounded
		spans[0].EqualParts = columns[:w.ColumnsBeforeLoop]
		for i := range w.ColumnsBeforeLoop {
			at += float64(w.ColumnWidthNs[i])
		}
		begin := func(iteration uint64) uint64 {
			if iteration == 0 { // computation before the loop does not belong to the first iteration
				return 2*rounds.BeginPosition(0) + 1
			}
			return 2 * rounds.BeginPosition(iteration)
		}
		for i := w.ColumnsBeforeLoop; i < len(columns)-w.ColumnsAfterLoop; i += w.ColumnsPerIteration {
			first, last := w.Iterations(i)
			span := timeline.Span{BeginStep: begin(first), BeginNs: at, EqualParts: columns[i : i+w.ColumnsPerIteration]}
			for _, ns := range w.ColumnWidthNs[i : i+w.ColumnsPerIteration] {
				at += float64(ns)
			}
			spans = k.apart(w, rounds, spans, span, at, begin, first, last)
		}
		spans = append(spans, timeline.Span{BeginStep: 2 * rounds.EndPosition, BeginNs: at, EqualParts: columns[len(columns)-w.ColumnsAfterLoop:]})
		for i := range spans[1:] {
			if e := spans[i].ExactTimes; e != nil { // the next span begins where this rank's exact times end
				gaps, durations := e.TotalNs()
				spans[i+1].BeginNs = spans[i].BeginNs + float64(gaps+durations)
			}
		}
	}
	files := func(terminal int) bool { return k.CallWithoutParams(terminal).Func.Has(AttrPosix) }
	short, err := k.short()
	if err != nil {
		return err
	}
	m.AnchorAt(spans, files, short, slack, anchorLevels*float64(w.LevelNs), own)
	return nil
}

// Limits of the method short. A short call takes, on average, less than 1/farShorter of the mean of long calls. A
// terminal with fewer than leastLong calls doesn't count in this mean.
const (
	farShorter = 20
	leastLong  = 8
)

// short returns a function that reports whether the calls of a terminal are short: whether they take far less, on
// average, than the calls in which the rank spends most time. Short calls are taken to include no waiting.
func (k *Rank) short() (func(terminal int) bool, error) {
	times, err := k.ClassTimes()
	if err != nil {
		return nil, err
	}
	sum, weighted := 0.0, 0.0
	for t, n := range k.TerminalCounts(0) {
		if mean := times[t].Duration.Mean(); n >= leastLong && !k.CallWithoutParams(t).Func.Has(AttrPosix) {
			sum += float64(n) * mean
			weighted += float64(n) * mean * mean
		}
	}
	return func(t int) bool { return sum > 0 && times[t].Duration.Mean() < weighted/sum/farShorter }, nil
}

// anchored reports whether the calls of a thread are placed on the time line by section when. They are not if the
// thread's last call never returned: it lasts until the process died, and only a time line from means has that time.
// Nor are they if iterations take less than half of the run: then the means of leaves place calls better.
func (k *Rank) anchored(stream int, p *Process) (bool, error) {
	n := k.CallCount(stream)
	if stream > 0 || p.FirstThreadNs == 0 || n == 0 {
		return false, nil
	}
	w, err := k.r.When()
	if err != nil || w == nil {
		return false, err
	}
	inside := int64(0)
	for i, ns := range w.ColumnWidthNs {
		if w.InLoop(i) {
			inside += ns
		}
	}
	if w.Loop != nil && 2*inside < w.RunNs() {
		return false, nil
	}
	last, err := k.Terminal(timeline.TerminalAt(k.streams[stream], n-1))
	return err == nil && last.Return != ReturnCodeNeverReturned, err
}

// KeepsIterationTimes reports whether the calls of an iteration have their recorded times on the time line, not means.
// The iteration is of the loop in When, counted from 0, on the rank's first thread.
func (k *Rank) KeepsIterationTimes(iteration uint64) (bool, error) {
	rounds, err := k.WhenLoopIterations()
	if err != nil || rounds == nil {
		return false, err
	}
	m, err := k.means(0)
	return err == nil && m.IsExactStep(2*rounds.BeginPosition(iteration)+1), err
}

// spreadAsides distributes the recorder's time inside the loop by section when. The table of processes has only the
// sums, without the positions of their parts.
func (k *Rank) spreadAsides(list []Aside, rounds *LoopIterations) ([]Aside, error) {
	w, err := k.r.When()
	if err != nil {
		return nil, err
	}
	row, first := w.RowOf(k.number), rounds.BeginPosition(0)
	if row < 0 {
		return list, nil
	}
	inLoop := func(a Aside) bool { return !a.TracingOff && a.BeforeCall > first && a.BeforeCall < rounds.EndPosition }
	sum, whole := 0.0, 0.0
	for _, a := range list {
		if inLoop(a) {
			sum += float64(a.Ns)
		}
	}
	other := func(column int) float64 { return float64(max(0, w.StateNs(row, model.WhenStateAside, column))) }
	for i := range w.ColumnWidthNs {
		if w.InLoop(i) {
			whole += other(i)
		}
	}
	if sum > 2*whole || sum == 0 { // per column the time is mostly too short for the section, which rounds to levels
		return list, nil
	}
	out := slices.DeleteFunc(slices.Clone(list), inLoop)
	for i := range w.ColumnWidthNs {
		if w.InLoop(i) && other(i) > 0 {
			iteration, _ := w.Iterations(i)
			out = append(out, Aside{BeforeCall: max(first+1, rounds.BeginPosition(iteration)), Ns: int64(sum * other(i) / whole)})
		}
	}
	slices.SortStableFunc(out, sections.CompareAsides)
	return out, nil
}

// A single is an iteration whose times are known better than as a part of its column's times.
type single struct {
	iteration uint64
	ns        float64 // duration in ns, mean over the ranks
	from      float64 // ns by which it begins later on this rank than in the mean over the ranks
	more      float64 // ns by which the rank computes longer in it than in other iterations
	computing float64 // the rank's computation time in ns if exact is not nil
	exact     *timeline.ExactTimes
}

// singles returns the iterations from first up to, but without, last whose times are known better than as a part of
// their column, in order. These are the ones with recorded times, and slow ones in columns of several iterations.
func (k *Rank) singles(w *When, rounds *LoopIterations, first, last uint64) (list []single) {
	has := func(i uint64) bool {
		return i < first || i >= last || slices.ContainsFunc(list, func(s single) bool { return s.iteration == i })
	}
	for i := range w.Exemplars {
		e := &w.Exemplars[i]
		if has(e.Iteration) {
			continue
		}
		s := single{iteration: e.Iteration}
		for j := range e.Ranks {
			t := &e.Ranks[j]
			exact := timeline.ExactTimes{GapsNs: t.Gaps, DurationsNs: t.Durations}
			gaps, durations := exact.TotalNs()
			s.ns += float64(gaps+durations) / float64(len(e.Ranks))
			if t.Rank == k.number && uint64(len(t.Gaps)) == rounds.BeginPosition(e.Iteration+1)-rounds.BeginPosition(e.Iteration) {
				s.exact, s.from, s.computing = &exact, float64(t.RelativeStartNs), float64(gaps)
			}
		}
		if s.exact != nil {
			list = append(list, s)
		}
	}
	for i := range w.Findings {
		if f := &w.Findings[i]; w.IterationsPerColumn > 1 && w.Loop.Iterations <= model.WhenMaxSingleIterations && f.Kind == model.WhenFindingSlow && !has(f.FirstIteration) {
			list = append(list, single{iteration: f.FirstIteration, ns: float64(f.AfterNs), more: k.longer(w, f)})
		}
	}
	slices.SortFunc(list, func(a, b single) int { return cmp.Compare(a.iteration, b.iteration) })
	return list
}

// apart divides span s, of the iterations from first up to last, which ends at end. It appends a span for each
// iteration whose times are known better (singles), and a span for each range of iterations between these.
func (k *Rank) apart(w *When, rounds *LoopIterations, spans []timeline.Span, s timeline.Span, end float64, begin func(iteration uint64) uint64, first, last uint64) []timeline.Span {
	list := k.singles(w, rounds, first, last)
	whole, known, longer, exact := timeline.ComputeTimes{}, 0.0, 0.0, 0.0
	for _, c := range s.EqualParts {
		whole.Add(c)
	}
	others := float64(last - first) // iterations whose computation time is known only as a sum
	for i := range list {
		known += list[i].ns
		longer += list[i].more
		if exact += list[i].computing; list[i].exact != nil {
			others--
		}
	}
	between := int(last-first) - len(list)
	usual := (end - s.BeginNs - known) / float64(max(1, between))
	if len(list) == 0 || usual < 0 && between > 0 {
		return append(spans, s)
	}
	rest := max(0, whole.ComputingNs-exact)
	sure := min(1, rest/max(1, longer)) // if the slow iterations' excess is above the column's time, it is scaled down
	each := max(0, rest-longer) / max(1, others)
	at := s.BeginNs
	add := func(from, to uint64, x single) {
		if to <= from {
			return
		}
		c := timeline.ComputeTimes{ComputingNs: each*float64(to-from) + sure*x.more, FileIONs: whole.FileIONs * float64(to-from) / float64(last-first)}
		if x.exact != nil {
			c.ComputingNs = x.computing
		}
		spans = append(spans, timeline.Span{BeginStep: begin(from), BeginNs: at + x.from, EqualParts: []timeline.ComputeTimes{c}, ExactTimes: x.exact})
		at += x.ns
	}
	for _, x := range list {
		add(first, x.iteration, single{ns: usual * float64(x.iteration-first)})
		add(x.iteration, x.iteration+1, x)
		first = x.iteration + 1
	}
	add(first, last, single{ns: usual * float64(last-first)})
	return spans
}

// longer returns the ns by which the rank computes longer in slow iteration f than usually. It is 0 unless this rank
// alone is slow. It is also 0 if the iteration before was equally slow, as both may then have one cause.
func (k *Rank) longer(w *When, f *model.WhenFinding) float64 {
	of := func(f *model.WhenFinding) bool {
		return f.RankCount == 1 && len(f.Ranks) == 1 && f.Ranks[0] == k.number
	}
	same := func(o model.WhenFinding) bool {
		return o.Kind == f.Kind && o.FirstIteration+1 == f.FirstIteration && o.LongerNs == f.LongerNs && of(&o)
	}
	if !of(f) || slices.ContainsFunc(w.Findings, same) {
		return 0
	}
	return float64(min(f.LongerNs, f.AfterNs))
}

// anchorLevels is the largest error of a column's time in section when, in levels (the unit of the section's times).
const anchorLevels = 0.75

// endRounded is the largest error in ns of the time at which a rank ends, apart from the rounding of its process's
// duration.
const endRounded = 1_000_000

// meanStart returns the mean over the ranks of when their processes began, in ns on the time line.
func (r *Reader) meanStart() (ns float64, err error) {
	table, err := r.procs()
	if err != nil {
		return 0, err
	}
	origin, err := r.origin()
	if err != nil {
		return 0, err
	}
	class, ranks := r.places().ClassOfRank, 0.0
	for rank, p := range table.All() {
		if class[rank] < 0 {
			continue
		}
		clock, err := r.clockOf(rank)
		if err != nil {
			return 0, err
		}
		ranks++
		ns += (float64(timeline.Clock{Clock: clock, OriginNs: origin}.ToRunTime(p.InitWallClockNs)) - ns) / ranks
	}
	return ns, nil
}
