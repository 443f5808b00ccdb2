package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
	"github.com/spoor-hpc/spoor/trace/model"
)

// anchor has the calls of the first thread where the section when says that the run's columns are. rounds are the rank's iterations, nil if
// it has none; p is its process, and own whether means are the rank's own.
func (k *Rank) anchor(m *timeline.Means, rounds *Rounds, p *Process, own bool) error {
	w, err := k.r.When()
	if err != nil || w == nil || len(w.WidthNs) == 0 {
		return err
	}
	row := w.RowOf(k.number)
	if row < 0 {
		return nil
	}
	columns := make([]timeline.Column, len(w.WidthNs))
	for i := range columns {
		columns[i] = timeline.Column{Computing: float64(w.Ns(row, model.WhenComputing, i)), Files: float64(w.Ns(row, model.WhenFiles, i))}
	}
	for _, h := range w.Highest {
		if h.Rank == k.number {
			columns[h.Column].Computing += float64(h.Ns)
		}
	}
	spans, slack := []timeline.Span{{Columns: columns}}, int64(-1)
	if rounds != nil {
		began, err := k.r.start()
		if err != nil {
			return err
		}
		at := began - float64(m.Start)
		slack = 2*sections.RoundedBy(p.SpanNs, k.r.Ranks()) + endRounded
		spans[0].Columns = columns[:w.Before]
		for i := range w.Before {
			at += float64(w.WidthNs[i])
		}
		step := 2*rounds.Begin(0) + 1 // what is computed before the loop is not the first iteration's
		for i := w.Before; i < len(columns)-w.After; i += w.Parts {
			if first, _ := w.Iterations(i); i > w.Before {
				step = 2 * rounds.Begin(first)
			}
			spans = append(spans, timeline.Span{Step: step, Ns: at, Columns: columns[i : i+w.Parts]})
			for _, ns := range w.WidthNs[i : i+w.Parts] {
				at += float64(ns)
			}
		}
		spans = append(spans, timeline.Span{Step: 2 * rounds.End, Ns: at, Columns: columns[len(columns)-w.After:]})
	}
	m.Anchor(spans, func(terminal int) bool { return k.Called(terminal).Func.Has(Posix) }, slack, own)
	return nil
}

// endRounded is how far the end of a rank, and with that its beginning, may be off besides.
const endRounded = 1_000_000

// meanStart is when ranks began, in the mean: ns on the run's time line.
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
		ns += (float64(timeline.Clock{Clock: clock, Origin: origin}.Common(p.StartNs)) - ns) / ranks
	}
	return ns, nil
}
