// Findings states in plain sentences where a run loses time, as an experienced reader would. Each finding has a share
// of all ranks' run time (for calls of ranks with several threads: of all threads' time) and a place to look at.
// Losses below a twentieth of the run are not reported.

package efficiency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Finding is a statement about one thing that takes much of the run's time.
type Finding struct {
	Share    float64 `json:"share"` // how much time it takes, as a share of the run time of all ranks or threads
	Text     string  `json:"text"`
	Function string  `json:"function,omitempty"`
	Place    string  `json:"site,omitempty"`
	Rank     int     `json:"rank"` // the rank to look at; -1: the finding is about several
	// EvidenceKind is what shows the finding: "path" (the critical path), "waiting", "iterations", or "first" (the first
	// call of a call site); "": the times of calls.
	EvidenceKind   string `json:"evidence,omitempty"`
	FirstIteration uint64 `json:"-"` // the first iteration that shows it
	LastIteration  uint64 `json:"-"` // the last iteration that shows it clearly; 0: the whole run shows it

	before string // the call site at which ranks arrive late, if Text names it; else ""
}

// TextLine returns lead followed by Text, with names of places shortened so that it fits one line.
func (f *Finding) TextLine(lead string) string {
	return show.ShortenPlaces(lead+f.Text, f.Place, f.before)
}

const (
	most  = 5    // largest number of findings that are returned
	least = 0.05 // least Share of a finding
	apart = 1.2  // a rank is named if its time is more than this factor × the mean
)

// Findings derives findings from a report on all calls (Options.AllFunctions), and adds others. The finding with the
// largest Share comes first. A run without times, or with small losses, has none. waited says which ranks waited for
// which; nil: not known. What it says on a call, a rank or the critical path replaces what sums of times suggest.
func Findings(rep *Report, waited *waits.Report, others ...Finding) []Finding {
	runtime := float64(rep.Efficiency.RuntimeNs)
	whole := runtime * float64(rep.Ranks)
	list := []Finding{}
	if whole <= 0 || rep.TimesKind == "none" {
		return list
	}
	add := func(f Finding) {
		if f.Share >= least {
			list = append(list, f)
		}
	}
	more := func(rank int) bool {
		x := &rep.UsefulTime
		return x.Ranks > 1 && x.MeanNs > 0 && x.Max.Rank == rank && x.Max.Ns-x.ErrorNs > apart*(x.MeanNs+x.ErrorNs)
	}
	told := make(map[int]bool) // ranks that a finding on waits already names as late because they compute
	var waiting []wait
	if waited != nil {
		waiting = waitsOf(waited)
	}
	known := func(function string) bool {
		return waited != nil && !slices.ContainsFunc(waited.UnanalysedFunctions, func(u waits.UnanalysedFunction) bool { return u.Function == function })
	}
	for i := range waiting {
		w := &waiting[i]
		if w.Share >= least && w.computes && w.Rank >= 0 && more(w.Rank) {
			w.Text += fmt.Sprintf("; in the whole run it computes %.1f × the mean", rep.UsefulTime.Max.Ns/rep.UsefulTime.MeanNs)
			told[w.Rank] = true
		}
		add(w.Finding)
	}
	if x := &rep.UsefulTime; more(x.Max.Rank) && !told[x.Max.Rank] {
		add(Finding{(x.Max.Ns - x.MeanNs) / runtime, fmt.Sprintf("rank %d computes %.1f × as long as ranks do on average: %s against %s",
			x.Max.Rank, x.Max.Ns/x.MeanNs, show.FormatDuration(x.Max.Ns), show.FormatDuration(x.MeanNs)), "", "", x.Max.Rank, "", 0, 0, ""})
	}
	start := "MPI_Init takes " + show.FormatDuration(rep.InitTime.MeanNs) + " per rank"
	if rep.FinalizeKnown() {
		start += ", MPI_Finalize " + show.FormatDuration(rep.FinalizeTime.MeanNs)
	}
	add(Finding{(rep.InitTime.MeanNs + rep.FinalizeTime.MeanNs) / runtime, start, "MPI_Init", "", -1, "", 0, 0, ""})
	for i := range rep.Calls {
		c := &rep.Calls[i]
		if def, known := mpi.CallNamed(c.Function); known && (def.Has(mpi.AttrInitialises) || def.Has(mpi.AttrFinalises)) {
			continue
		}
		if slices.ContainsFunc(waiting, func(w wait) bool { return w.Share >= least && w.of(c) }) {
			continue
		}
		f := call(c, max(whole, rep.ThreadRunNs), known(c.Function))
		if !slices.ContainsFunc(others, func(o Finding) bool {
			return o.EvidenceKind == "first" && o.Function == f.Function && o.Place == f.Place && o.Share > f.Share/2
		}) {
			add(f)
		}
	}
	if waited != nil && waited.Path != nil {
		f := critical(waited.Path, runtime)
		if !slices.ContainsFunc(waiting, func(w wait) bool { return w.Share >= least && w.Rank == f.Rank && w.late(f.Function, f.Place) }) {
			add(f)
		}
	}
	for _, f := range others {
		add(f)
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(b.Share, a.Share) })
	return list[:min(most, len(list))]
}

// critical returns the finding about the critical path: the call site at which the path's rank takes longest in
// comparison with the average rank.
func critical(p *waits.CriticalPath, runtime float64) Finding {
	worst := waits.PathSite{}
	for _, s := range p.Sites {
		if s.ImbalanceNs > worst.ImbalanceNs {
			worst = s
		}
	}
	what := "computes %s before"
	if worst.MPINs > worst.ComputeNs {
		what = "spends %s in"
	}
	return Finding{
		float64(worst.ImbalanceNs) / max(1, float64(p.LengthNs), runtime), // the path may cover only the end of the run
		fmt.Sprintf("critical path: rank %d "+what+" %s at %s, %s more than the average rank", worst.MaxRank,
			show.FormatDuration(float64(worst.ComputeNs+worst.MPINs)), worst.Function, worst.Place, show.FormatDuration(float64(worst.ImbalanceNs))),
		worst.Function, worst.Place, worst.MaxRank, "path", 0, 0, "",
	}
}

// A wait is the finding that ranks wait at one call site.
type wait struct {
	Finding
	at       trace.FunctionSite
	cause    waits.Cause // the call to which late ranks come late
	computes bool        // late ranks compute, rather than call MPI, for most of the time that others wait
}

// of reports whether ranks wait at call site c.
func (w *wait) of(c *CallSite) bool {
	other := func(place string) bool { return strings.HasPrefix(w.Place+" < ", place+" < ") }
	return w.Function == c.Function && (w.at.Site == c.Site.WithoutCallers() || other(c.Place) || slices.ContainsFunc(c.OtherPlaces, other))
}

// late reports whether it is this call to which late ranks come late.
func (w *wait) late(function, place string) bool {
	return w.cause.Function == function && w.cause.Place == place
}

// waitsOf returns a wait for each call site: which ranks wait there, for which, and why. Its text is about the kind of
// wait with most time.
func waitsOf(rep *waits.Report) (list []wait) {
	for i := range rep.Sites {
		s := &rep.Sites[i]
		share := float64(s.WaitedNs) / float64(max(1, rep.ThreadRunNs))
		if j := slices.IndexFunc(list, func(w wait) bool { return w.Function == s.Function && w.Place == s.Place }); j >= 0 {
			list[j].Share += share
			continue
		}
		w := wait{at: s.FunctionSite.WithoutCallers(), Finding: Finding{Share: share, Function: s.Function, Place: s.Place, EvidenceKind: "waiting"}}
		n, of, late, computes, is := s.WaitingRankCount, "each other", "the late ranks", "compute", "are"
		if w.Rank = s.MainLateRank(); w.Rank >= 0 {
			n = min(n, rep.Ranks-1) // the late rank isn't one of them, even if it has waited at other times
			of = fmt.Sprintf("rank %d", w.Rank)
			late, computes, is = of, "computes", "is"
		}
		if n == 1 && len(s.Ranks) > 0 {
			w.Text = fmt.Sprintf("rank %d waits", s.Ranks[0].Rank)
		} else {
			w.Text = fmt.Sprintf("%d of %s wait", n, show.FormatPlural(rep.Ranks, "rank"))
		}
		if n == 1 && w.Rank < 0 {
			of = "several others"
		}
		w.Text += fmt.Sprintf(" for %s in %s at %s", of, s.Function, s.Place)
		if computed, ok := s.LateComputeShare(); ok {
			w.cause = s.Causes[0]
			if w.computes = computed >= 0.5; w.computes {
				w.Text += fmt.Sprintf("; %s %s %s of that time", late, computes, show.Percentage(computed, 1))
			} else {
				w.Text += fmt.Sprintf("; %s %s in MPI for %s of that time", late, is, show.Percentage(1-computed, 1))
			}
			if !w.late(s.Function, s.Place) {
				w.before = w.cause.Place
				w.Text += fmt.Sprintf(", before %s at %s", w.cause.Function, w.before)
			}
		}
		list = append(list, w)
	}
	return list
}

// call returns the finding about the time in a call site's calls. whole is the run time of all ranks. If known is set,
// waits are known from elsewhere, so the finding doesn't guess at them.
func call(c *CallSite, whole float64, known bool) Finding {
	f := Finding{Function: c.Function, Place: c.Place, Rank: -1}
	total := c.RankDurations.MeanNs * float64(c.RankDurations.Ranks)
	lost, gap := c.ExcessOverMinNs(), &c.RankGaps
	if c.IsCollective && !c.IsLocal && !known && lost > total/2 {
		f.Share = lost / whole
		f.Text = fmt.Sprintf("ranks wait for each other in %s at %s, %s a rank on average", c.Function, c.Place, show.FormatDuration(c.RankDurations.MeanNs))
		if gap.Ranks > 1 && gap.Max.Ns > apart*gap.MeanNs && gap.Max.Rank == c.RankDurations.Min.Rank {
			f.Rank = gap.Max.Rank
			f.Text = fmt.Sprintf("ranks wait in %s at %s for rank %d, which computes %.1f × as long before it as ranks do on average",
				c.Function, c.Place, f.Rank, gap.Max.Ns/gap.MeanNs)
		}
		return f
	}
	f.Share = total / whole
	what := "are"
	if c.CompletesRequests && !c.IsLocal && !known {
		what = "wait"
	}
	f.Text = fmt.Sprintf("ranks %s in %s at %s: %s of %s on average", what, c.Function, c.Place, show.FormatPlural(c.Count, "call"), show.FormatDuration(total/float64(max(1, c.Count))))
	if d := &c.RankDurations; d.Ranks > 1 && d.Max.Ns > apart*d.MeanNs {
		f.Rank = d.Max.Rank
		f.Text += fmt.Sprintf(", rank %d %.1f × the mean", f.Rank, d.Max.Ns/d.MeanNs)
	}
	return f
}
