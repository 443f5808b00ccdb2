package when

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// few is how many calls of a trace with all times are looked at where this is a small part of an answer.
const few = 200_000

// Known is what the trace has, or of a trace with a time for each of a few calls what these say; nil if neither is there.
func Known(r *trace.Reader, calls int64) (*trace.When, error) {
	if w, err := r.When(); w != nil || err != nil || calls > few {
		return w, err
	}
	return Of(r)
}

// Findings says in sentences which iterations differ. called names a call site. w may be nil.
func Findings(r *trace.Reader, w *trace.When, called func(function string, s trace.Site) string) ([]efficiency.Finding, error) {
	if w == nil || w.Loop == nil || len(w.Findings) == 0 {
		return nil, nil
	}
	x, err := waits.NewPlaces(r)
	if err != nil {
		return nil, err
	}
	var list []efficiency.Finding
	for i := range w.Findings {
		f := &w.Findings[i]
		out := efficiency.Finding{Share: float64(f.CostNs) / float64(max(1, w.RunNs())), Text: text(w, f, r.Ranks()), Rank: -1, Evidence: "iterations"}
		if f.Of == 1 {
			out.Rank = f.Ranks[0]
		}
		if f.Place.Function >= 0 {
			at := x.At(f.Place)
			out.Function, out.Place = at.Function, called(at.Function, at.Site)
			out.Text += fmt.Sprintf(", before %s at %s", out.Function, out.Place)
		}
		list = append(list, out)
	}
	return list, nil
}

func text(w *trace.When, f *trace.WhenFinding, ranks int) string {
	who, verb := "iterations", "take"
	switch {
	case f.Of == 1:
		who, verb = fmt.Sprintf("rank %d", f.Ranks[0]), "computes"
	case f.Of == ranks:
		who, verb = "ranks", "compute"
	case f.Of == len(f.Ranks) && f.Of > 0:
		who, verb = "ranks "+show.Ranges(f.Ranks), "compute"
	case f.Of > 0:
		who, verb = fmt.Sprintf("%d of %d ranks", f.Of, ranks), "compute"
	}
	before, after, per := show.Duration(float64(f.BeforeNs)), show.Duration(float64(f.AfterNs)), ""
	if f.Of > 0 {
		per = " an iteration"
	}
	switch Kind(f.Kind) {
	case Slow:
		s := fmt.Sprintf("iteration %d of %d takes %s instead of %s", f.From, w.Loop.Iterations, after, before)
		if f.Of > 0 {
			s += fmt.Sprintf(": %s computes %s longer", who, show.Duration(float64(f.LongerNs)))
		}
		return s
	case Step:
		if f.AfterNs < f.BeforeNs {
			return fmt.Sprintf("before iteration %d of %d, %s %s %s instead of %s%s", f.From, w.Loop.Iterations, who, verb, before, after, per)
		}
		return fmt.Sprintf("from iteration %d of %d on, %s %s %s instead of %s%s", f.From, w.Loop.Iterations, who, verb, after, before, per)
	case Drift:
		return fmt.Sprintf("over %d iterations, what %s %s goes from %s to %s%s", w.Loop.Iterations, who, verb, before, after, per)
	case Period:
		every := fmt.Sprintf("every %s iteration, from %d on,", ordinal(f.Every), f.From)
		if f.Of == 0 {
			return fmt.Sprintf("%s takes %s instead of %s", every, after, before)
		}
		return fmt.Sprintf("in %s %s %s %s instead of %s", every, who, verb, after, before)
	}
	return fmt.Sprintf("%s %s between %s and far more an iteration, %s on average; others vary less", who, verb, before, after)
}

// ordinal is a number as in "every 3rd".
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
