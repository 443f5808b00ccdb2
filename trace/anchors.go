package trace

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
	"github.com/spoor-hpc/spoor/trace/model"
)

// anchor shifts the calls of the first thread to where section when has the run's columns. rounds are the rank's
// iterations, nil if it has none. p is the rank's process. own reports whether means are the rank's own instead of
// its class's.
func (k *Rank) anchor(m *timeline.MeanTimes, rounds *Rounds, p *Process, own bool) error {
	w, err := k.r.When()
	if err != nil || w == nil || len(w.WidthNs) == 0 {
		return err
	}
	row := w.RowOf(k.number)
	if row < 0 {
		return nil
	}
	columns := make([]timeline.ComputeTimes, len(w.WidthNs))
	for i := range columns {
		columns[i] = timeline.ComputeTimes{Computing: float64(w.StateNs(row, model.WhenComputing, i) + max(0, w.StateNs(row, model.WhenReady, i))), Files: float64(w.StateNs(row, model.WhenFiles, i))}
	}
	for _, h := range w.Outliers {
		switch c, others := &columns[h.Column], w.Rows[row].Ranks-1; {
		case h.Rank == k.number:
			c.Computing += float64(h.Ns)
		case others > 0 && w.RowOf(h.Rank) == row: // the row's mean includes this other rank's excess
			c.Computing -= float64(h.Ns) / float64(others)
		}
	}
	spans, slack := []timeline.Span{{Columns: columns}}, int64(-1)
	if rounds != nil {
		began, err := k.r.start()
		if err != nil {
			return err
		}
		at := began - float64(m.StartNs)
		slack = 2*sections.RoundingError(p.SpanNs, k.r.Ranks()) + endRounded
		spans[0].Columns = columns[:w.ColumnsBeforeLoop]
		for i := range w.ColumnsBeforeLoop {
			at += float64(w.WidthNs[i])
		}
		begin := func(iteration uint64) uint64 {
			if iteration == 0 { // computation before the loop does not belong to the first iteration
				return 2*rounds.Begin(0) + 1
			}
			return 2 * rounds.Begin(iteration)
		}
		for i := w.ColumnsBeforeLoop; i < len(columns)-w.ColumnsAfterLoop; i += w.ColumnsPerIteration {
			first, last := w.Iterations(i)
			span := timeline.Span{HalfStep: begin(first), BeginNs: at, Columns: columns[i : i+w.ColumnsPerIteration]}
			for _, ns := range w.WidthNs[i : i+w.ColumnsPerIteration] {
				at += float64(ns)
			}
			spans = k.apart(w, rounds, spans, span, at, begin, first, last)
		}
		spans = append(spans, timeline.Span{HalfStep: 2 * rounds.End, BeginNs: at, Columns: columns[len(columns)-w.ColumnsAfterLoop:]})
		for i := range spans[1:] {
			if e := spans[i].ExactTimes; e != nil { // the next span on this rank begins right where the exact times end
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

// Limits for short: how many times shorter a call must be than those in which ranks wait, and how often a terminal
// must be called for its time to count among the latter.
const (
	farShorter = 20
	leastLong  = 8
)

// short selects terminals whose calls on average take far less than those that account for most of the rank's time:
// such short calls include no waiting.
func (k *Rank) short() (func(terminal int) bool, error) {
	times, err := k.Times()
	if err != nil {
		return nil, err
	}
	sum, weighted := 0.0, 0.0
	for t, n := range k.Counts(0) {
		if mean := times[t].Duration.Mean(); n >= leastLong && !k.CallWithoutParams(t).Func.Has(AttrPosix) {
			sum += float64(n) * mean
			weighted += float64(n) * mean * mean
		}
	}
	return func(t int) bool { return sum > 0 && times[t].Duration.Mean() < weighted/sum/farShorter }, nil
}

// anchored reports whether calls of a thread can be placed by section when. They cannot if the thread's last call
// never returned: it lasts until the process died, and only a time line from means has that time. If iterations take
// less than half of the run, the means of leaves place calls better than columns of equal times do.
func (k *Rank) anchored(stream int, p *Process) (bool, error) {
	n := k.Len(stream)
	if stream > 0 || p.SpanNs == 0 || n == 0 {
		return false, nil
	}
	w, err := k.r.When()
	if err != nil || w == nil {
		return false, err
	}
	inside := int64(0)
	for i, ns := range w.WidthNs {
		if w.InLoop(i) {
			inside += ns
		}
	}
	if w.Loop != nil && 2*inside < w.RunNs() {
		return false, nil
	}
	last, err := k.Terminal(timeline.TerminalAt(k.streams[stream], n-1))
	return err == nil && last.Return != NeverReturned, err
}

// KeepsIterationTimes reports whether the calls of an iteration have their own times on the time line. The iteration is of the
// loop in When, on the rank's first thread.
func (k *Rank) KeepsIterationTimes(iteration uint64) (bool, error) {
	rounds, err := k.LoopIterations()
	if err != nil || rounds == nil {
		return false, err
	}
	m, err := k.means(0)
	return err == nil && m.IsExactStep(2*rounds.Begin(iteration)+1), err
}

// spreadAsides distributes the recorder's time inside the loop by section when. The table of processes has only the
// sums, without the positions of their parts.
func (k *Rank) spreadAsides(list []Aside, rounds *Rounds) ([]Aside, error) {
	w, err := k.r.When()
	if err != nil {
		return nil, err
	}
	row, first := w.RowOf(k.number), rounds.Begin(0)
	if row < 0 {
		return list, nil
	}
	inLoop := func(a Aside) bool { return !a.TracingOff && a.BeforeCall > first && a.BeforeCall < rounds.End }
	sum, whole := 0.0, 0.0
	for _, a := range list {
		if inLoop(a) {
			sum += float64(a.Ns)
		}
	}
	other := func(column int) float64 { return float64(max(0, w.StateNs(row, model.WhenOther, column))) }
	for i := range w.WidthNs {
		if w.InLoop(i) {
			whole += other(i)
		}
	}
	if sum > 2*whole || sum == 0 { // section when cannot resolve it: it is below the resolution of the levels
		return list, nil
	}
	out := slices.DeleteFunc(slices.Clone(list), inLoop)
	for i := range w.WidthNs {
		if w.InLoop(i) && other(i) > 0 {
			iteration, _ := w.Iterations(i)
			out = append(out, Aside{BeforeCall: max(first+1, rounds.Begin(iteration)), Ns: int64(sum * other(i) / whole)})
		}
	}
	slices.SortStableFunc(out, sections.CompareAsides)
	return out, nil
}

// A single is an iteration whose times are known better than those of its column.
type single struct {
	iteration uint64
	ns        float64 // duration, mean over the ranks
	from      float64 // how much later it begins on this rank than in the mean over the ranks
	more      float64 // how much longer the rank computes than in other iterations
	computing float64 // the rank's computation time, if exact
	exact     *timeline.ExactTimes
}

// singles returns the iterations of a range whose times are known better than those of their columns, in order: those
// whose times were kept, and slow ones in columns of several iterations.
func (k *Rank) singles(w *When, rounds *Rounds, first, last uint64) (list []single) {
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
			exact := timeline.ExactTimes{Gaps: t.Gaps, Durations: t.Durations}
			gaps, durations := exact.TotalNs()
			s.ns += float64(gaps+durations) / float64(len(e.Ranks))
			if t.Rank == k.number && uint64(len(t.Gaps)) == rounds.Begin(e.Iteration+1)-rounds.Begin(e.Iteration) {
				s.exact, s.from, s.computing = &exact, float64(t.StartNs), float64(gaps)
			}
		}
		if s.exact != nil {
			list = append(list, s)
		}
	}
	for i := range w.Findings {
		if f := &w.Findings[i]; w.IterationsPerColumn > 1 && w.Loop.Iterations <= model.WhenMaxSingleIterations && f.Kind == model.WhenSlow && !has(f.FirstIteration) {
			list = append(list, single{iteration: f.FirstIteration, ns: float64(f.AfterNs), more: k.longer(w, f)})
		}
	}
	slices.SortFunc(list, func(a, b single) int { return cmp.Compare(a.iteration, b.iteration) })
	return list
}

// apart appends the spans of a column's iterations, which end at the given time: one for each iteration that is
// known better, and one for each range between these.
func (k *Rank) apart(w *When, rounds *Rounds, spans []timeline.Span, s timeline.Span, end float64, begin func(iteration uint64) uint64, first, last uint64) []timeline.Span {
	list := k.singles(w, rounds, first, last)
	whole, known, longer, exact := timeline.ComputeTimes{}, 0.0, 0.0, 0.0
	for _, c := range s.Columns {
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
	rest := max(0, whole.Computing-exact)
	sure := min(1, rest/max(1, longer)) // consecutive slow iterations may have the same cause
	each := max(0, rest-longer) / max(1, others)
	at := s.BeginNs
	add := func(from, to uint64, x single) {
		if to <= from {
			return
		}
		c := timeline.ComputeTimes{Computing: each*float64(to-from) + sure*x.more, Files: whole.Files * float64(to-from) / float64(last-first)}
		if x.exact != nil {
			c.Computing = x.computing
		}
		spans = append(spans, timeline.Span{HalfStep: begin(from), BeginNs: at + x.from, Columns: []timeline.ComputeTimes{c}, ExactTimes: x.exact})
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

// longer is how much longer the rank computes in a slow iteration. The next iteration may be slow for the same
// reason.
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

// anchorLevels is by how many levels the sum of a column may be off.
const anchorLevels = 0.75

// endRounded is by how many ns a rank's end, and so its beginning, may be off in addition to anchorLevels.
const endRounded = 1_000_000

// meanStart returns when ranks began on average, in ns on the run's time line.
func (r *Reader) meanStart() (ns float64, err error) {
	table, err := r.procs()
	if err != nil {
		return 0, err
	}
	origin, err := r.origin()
	if err != nil {
		return 0, err
	}
	class, ranks := r.places().Class, 0.0
	for rank, p := range table.All() {
		if class[rank] < 0 {
			continue
		}
		clock, err := r.clockOf(rank)
		if err != nil {
			return 0, err
		}
		ranks++
		ns += (float64(timeline.Clock{Clock: clock, OriginNs: origin}.ToRunTime(p.StartNs)) - ns) / ranks
	}
	return ns, nil
}
