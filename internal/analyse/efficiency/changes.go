package efficiency

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// stepSeen is how many iterations a finding names after the iteration from which on all take longer: enough to see it.
const stepSeen = 10

// IterationFindings describes in sentences what package when found about iterations of a run: which take longer, and
// since when. called names a call site. Without findings, w may be nil.
func IterationFindings(r *trace.Reader, w *trace.When, called func(function string, s trace.Site) string) ([]Finding, error) {
	if w == nil || w.Loop == nil || len(w.Findings) == 0 {
		return nil, nil
	}
	x, err := waits.NewPlaces(r)
	if err != nil {
		return nil, err
	}
	var list []Finding
	for i := range w.Findings {
		f := &w.Findings[i]
		out := Finding{Share: float64(f.CostNs) / float64(max(1, w.RunNs())), Text: changeText(w, f, r.Ranks()), Rank: -1, EvidenceKind: "iterations"}
		if f.RankCount == 1 {
			out.Rank = f.Ranks[0]
		}
		switch out.FirstIteration = f.FirstIteration; when.Kind(f.Kind) {
		case when.KindSlow:
			out.LastIteration = f.FirstIteration + 1
		case when.KindStep:
			out.LastIteration = f.FirstIteration + stepSeen
		case when.KindPeriod:
			out.LastIteration = f.FirstIteration + 2*f.Period
		}
		if f.EndingCall.FunctionIndex >= 0 {
			at := x.Site(f.EndingCall)
			out.Function, out.Place = at.Function, called(at.Function, at.Site)
			out.Text += fmt.Sprintf(", before %s at %s", out.Function, out.Place)
		}
		list = append(list, out)
	}
	return list, nil
}

// FirstCallFindings describes in sentences what took long only once: before or in the first call from a call site. rep
// is the run's report. called names a call site.
func FirstCallFindings(r *trace.Reader, rep *Report, called func(function string, s trace.Site) string) (list []Finding, err error) {
	calls, err := r.UnusualFirstCalls()
	if err != nil {
		return nil, err
	}
	whole := float64(rep.Efficiency.RuntimeNs) * float64(rep.Ranks)
	for i := range calls {
		c := &calls[i]
		f := Finding{Function: c.Function, Place: called(c.Function, c.Site), Rank: -1, EvidenceKind: "first"}
		first, later := show.FormatDuration(c.FirstAndLaterGapNs[0]), show.FormatDuration(c.FirstAndLaterGapNs[1])
		what, n := "calls of", c.MaxCallsPerRank
		if c.LoopEntries > 1 {
			what, n = "entries of the loop that begins with", c.LoopEntries
		}
		before := f
		before.Share = (c.FirstAndLaterGapNs[0] - c.FirstAndLaterGapNs[1]) * float64(c.Ranks) / max(1, whole)
		before.Text = fmt.Sprintf("ranks compute %s before the first of %s %s %s at %s, %s before later ones", first, show.FormatGrouped(n), what, f.Function, f.Place, later)
		f.Share = (c.FirstAndLaterDurationNs[0] - c.FirstAndLaterDurationNs[1]) * float64(c.Ranks) / max(1, whole)
		f.Text = fmt.Sprintf("the first of %s calls of %s at %s takes %s, later ones %s", show.FormatGrouped(c.MaxCallsPerRank), f.Function, f.Place, show.FormatDuration(c.FirstAndLaterDurationNs[0]), show.FormatDuration(c.FirstAndLaterDurationNs[1]))
		list = append(list, before, f)
	}
	return list, err
}

// mostOfDelays is the share of the cost of all delays that the longest one must have. If it has less, the cost of all
// delays is reported, too.
const mostOfDelays = 0.9

func changeText(w *trace.When, f *trace.WhenFinding, ranks int) string {
	who, verb := "iterations", "take"
	switch {
	case f.RankCount == 1:
		who, verb = fmt.Sprintf("rank %d", f.Ranks[0]), "computes"
	case f.RankCount == ranks:
		who, verb = "ranks", "compute"
	case f.RankCount == len(f.Ranks) && f.RankCount > 0:
		who, verb = "ranks "+show.FormatRanges(f.Ranks), "compute"
	case f.RankCount > 0:
		who, verb = fmt.Sprintf("%d of %d ranks", f.RankCount, ranks), "compute"
	}
	before, after, per := show.FormatDuration(float64(f.BeforeNs)), show.FormatDuration(float64(f.AfterNs)), ""
	if f.RankCount > 0 {
		per = " an iteration"
	}
	switch when.Kind(f.Kind) {
	case when.KindSlow:
		s := fmt.Sprintf("iteration %d of %d takes %s instead of %s", f.FirstIteration, w.Loop.Iterations, after, before)
		if f.RankCount > 0 {
			s += fmt.Sprintf(": %s computes %s longer", who, show.FormatDuration(float64(f.LongerNs)))
		}
		return s
	case when.KindStep:
		if f.AfterNs < f.BeforeNs {
			return fmt.Sprintf("before iteration %d of %d, %s %s %s instead of %s%s", f.FirstIteration, w.Loop.Iterations, who, verb, before, after, per)
		}
		return fmt.Sprintf("from iteration %d of %d on, %s %s %s instead of %s%s", f.FirstIteration, w.Loop.Iterations, who, verb, after, before, per)
	case when.KindDrift:
		return fmt.Sprintf("over %d iterations, what %s %s goes from %s to %s%s", w.Loop.Iterations, who, verb, before, after, per)
	case when.KindPeriod:
		every := fmt.Sprintf("every %s iteration, from %d on,", ordinal(f.Period), f.FirstIteration)
		if f.RankCount == 0 {
			return fmt.Sprintf("%s takes %s instead of %s", every, after, before)
		}
		return fmt.Sprintf("in %s %s %s %s instead of %s", every, who, verb, after, before)
	case when.KindWaitingForCPU:
		s := fmt.Sprintf("the machine: %s was ready to run and had no processor for %s in iteration %d of %d", who, show.FormatDuration(float64(f.LongerNs)), f.FirstIteration, w.Loop.Iterations)
		if float64(f.LongerNs) < mostOfDelays*float64(f.CostNs) {
			s += fmt.Sprintf("; in all that costs the run %s", show.FormatDuration(float64(f.CostNs)))
		}
		return s
	}
	return fmt.Sprintf("%s %s between %s and far more an iteration, %s on average; others vary less", who, verb, before, after)
}

// ordinal returns a number as an ordinal (e.g. 3rd).
func ordinal(n uint64) string {
	end := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprint(n, end)
}
