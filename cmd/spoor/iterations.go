package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// whenOf returns the times of the main loop's iterations that ranks summed up at the end of the run. The flags'
// iterations are those from first up to, but without, end. x is nil if the flags don't select iterations of the main
// loop, if the trace has no such sums, or if it has times of these iterations' single calls.
func (w *windowFlags) whenOf(r *trace.Reader) (x *trace.When, first, end uint64, err error) {
	if w.iteration == "" || w.from+w.until+w.phase != "" || w.inner || w.loop != "" && w.loop != reduce.MainLoop {
		return nil, 0, 0, nil
	}
	kind, err := r.TimeKind()
	if err != nil || kind.OfTheCallItself() {
		return nil, 0, 0, err
	}
	if x, err = r.When(); err != nil || x == nil || x.Loop == nil {
		return nil, 0, 0, err
	}
	if first, end, err = parseSpan(w.iteration); err != nil {
		return nil, 0, 0, fmt.Errorf("--iteration: %w", err)
	}
	if first >= x.Loop.Iterations {
		return nil, 0, 0, fmt.Errorf("%s: iteration %d of %d", r.Name(), first, x.Loop.Iterations)
	}
	if when.ExemplarIn(x, first, end) != nil {
		return nil, 0, 0, nil
	}
	// Times are known only of whole columns, IterationsPerColumn iterations each: first is rounded down, end up.
	end = min((max(end, first+1)-1)/x.IterationsPerColumn*x.IterationsPerColumn+x.IterationsPerColumn, x.Loop.Iterations)
	return x, first / x.IterationsPerColumn * x.IterationsPerColumn, end, nil
}

// iterationTable returns a table of how ranks spent their time in iterations, with a row for each rank or group of
// ranks.
func iterationTable(rows []when.RowTimes) show.Table[when.RowTimes] {
	ns := func(name, doc string, of func(p when.RowTimes) int64) show.Column[when.RowTimes] {
		return show.Column[when.RowTimes]{Name: name, Unit: show.UnitNs, Doc: doc, Value: func(p when.RowTimes) any { return of(p) }}
	}
	state := func(i int) func(p when.RowTimes) int64 { return func(p when.RowTimes) int64 { return p.NsByState[i] } }
	return show.Table[when.RowTimes]{Rows: rows, Columns: show.Columns[when.RowTimes]{
		{Name: "ranks", Unit: show.UnitWord, Doc: "a rank, or some in the mean", Value: func(p when.RowTimes) any {
			if p.Ranks == 1 {
				return fmt.Sprint(p.FirstRank)
			}
			return fmt.Sprintf("%d-%d", p.FirstRank, p.FirstRank+p.Ranks-1)
		}},
		ns("computing", "outside of MPI, with a processor", state(trace.WhenStateComputing)),
		ns("waiting", "for other ranks", state(trace.WhenStateWaiting)),
		ns("in MPI", "otherwise", func(p when.RowTimes) int64 { return p.MPINs }),
		ns("files", "in calls on files", state(trace.WhenStateFileIO)),
		ns("no processor", "ready to compute", state(trace.WhenStateRunnable)),
		ns("other", "in the recorder, or while tracing was off", state(trace.WhenStateAside)),
	}}
}

// printIterations prints how ranks spent their time in the iterations from first up to, but without, end, and the
// findings about these iterations.
func printIterations(cmd *cobra.Command, r *trace.Reader, o *output, where *places, x *trace.When, first, end uint64) error {
	rows, whole := when.SumRows(x, first, end)
	changes, err := efficiency.IterationFindings(r, x, where.atCall)
	if err != nil {
		return err
	}
	here := []efficiency.Finding{}
	for i := range changes {
		if when.FindingConcernsIterations(&x.Findings[i], first, end) {
			here = append(here, changes[i])
		}
	}
	table := iterationTable(rows)
	return o.print(cmd, struct {
		First    uint64                    `json:"first"`
		End      uint64                    `json:"end"`
		Ns       int64                     `json:"ns"`
		UsualNs  int64                     `json:"usual_ns"`  // (end − first) × the median duration of an iteration
		WithinNs int64                     `json:"within_ns"` // largest error of the times in rows
		Rows     show.Table[when.RowTimes] `json:"rows"`
		Findings []efficiency.Finding      `json:"findings"`
	}{first, end, whole, int64(end-first) * x.IterationQuantileNs(0.5), x.LevelNs, table, here}, func(w io.Writer) {
		which := fmt.Sprintf("iteration %d", first)
		if end-first > 1 {
			which = fmt.Sprintf("iterations %d to %d", first, end-1)
		}
		fmt.Fprintf(w, "%s of %s: %s; %s in the median\n", which, show.FormatGrouped(x.Loop.Iterations), show.FormatDuration(float64(whole)),
			show.FormatDuration(float64(int64(end-first)*x.IterationQuantileNs(0.5))))
		together := ""
		if x.IterationsPerColumn > 1 {
			together = fmt.Sprintf(", kept for %d iterations at a time", x.IterationsPerColumn)
		}
		fmt.Fprintf(w, "times are within %s%s; --timing lossless has those of each call\n", show.FormatDuration(float64(x.LevelNs)), together)
		for _, f := range here {
			fmt.Fprintln(w, f.TextLine(""))
		}
		fmt.Fprintln(w)
		_ = table.Print(w, o.tableView()) // can't fail: the flags choose no columns
	}, table.Print)
}

// iterationsText describes how long iterations of the main loop take; "": not known.
func iterationsText(x *trace.When) string {
	if x == nil || x.Loop == nil {
		return ""
	}
	var parts []string
	for i, s := range when.IterationSegments(x) {
		part := fmt.Sprintf("%s to %s %s", show.FormatGrouped(s.FirstIteration), show.FormatGrouped(s.EndIteration-1), show.FormatDuration(float64(s.MedianNs)))
		if i == 0 {
			part = fmt.Sprintf("%s to %s take %s each", show.FormatGrouped(s.FirstIteration), show.FormatGrouped(s.EndIteration-1), show.FormatDuration(float64(s.MedianNs)))
		}
		parts = append(parts, part)
	}
	worst := when.SlowestIterations(x)
	which := show.FormatGrouped(worst.First)
	if worst.Count > 1 {
		which += " to " + show.FormatGrouped(worst.First+worst.Count-1)
	}
	return fmt.Sprintf("%s; slowest %s, %s", strings.Join(parts, ", "), which, show.FormatDuration(float64(worst.MeanNs)))
}
