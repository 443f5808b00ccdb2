// Package findings says in plain sentences where a run's time is lost, if it is: what a reader of
// the numbers would say first. Each finding has its share of all ranks' run time (of calls in ranks with several threads:
// of all threads' time) and the place to look at; below a twentieth of the run nothing is worth a sentence.
package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/imbalance"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/mpi"
)

// A Finding is one thing that takes much of the run.
type Finding struct {
	Share    float64 `json:"share"` // of the run time of all ranks, or threads
	Text     string  `json:"text"`
	Function string  `json:"function,omitempty"`
	Place    string  `json:"site,omitempty"`
	Rank     int     `json:"rank"`               // the one to look at, -1: none more than others
	Evidence string  `json:"evidence,omitempty"` // "path": the critical path; else the calls themselves
}

const (
	most  = 5    // findings
	least = 0.05 // share of the run
	apart = 1.2  // by so much a rank must differ from the mean to be named
)

// Of draws findings from a report on all calls (imbalance.Options.All), those of most time first. There are none of a run without
// times, or in which little is lost. path may be nil.
func Of(rep *imbalance.Report, path *waits.Path) []Finding {
	runtime := float64(rep.Efficiency.RuntimeNs)
	whole := runtime * float64(rep.Ranks)
	list := []Finding{}
	if whole <= 0 || rep.Timing == "none" {
		return list
	}
	add := func(f Finding) {
		if f.Share >= least {
			list = append(list, f)
		}
	}
	if x := rep.Useful; x.Ranks > 1 && x.Mean > 0 && x.Most.Ns-x.Within > apart*(x.Mean+x.Within) {
		add(Finding{(x.Most.Ns - x.Mean) / runtime, fmt.Sprintf("rank %d computes %.1f × as long as ranks do on average: %s against %s",
			x.Most.Rank, x.Most.Ns/x.Mean, units.Duration(x.Most.Ns), units.Duration(x.Mean)), "", "", x.Most.Rank, ""})
	}
	start := "MPI_Init takes a rank " + units.Duration(rep.Init.Mean)
	if rep.FinalizeTold() {
		start += ", MPI_Finalize " + units.Duration(rep.Finalize.Mean)
	}
	add(Finding{(rep.Init.Mean + rep.Finalize.Mean) / runtime, start, "MPI_Init", "", -1, ""})
	for i := range rep.Calls {
		c := &rep.Calls[i]
		if def, known := mpi.Lookup(c.Function); known && (def.Has(mpi.Begins) || def.Has(mpi.Ends)) {
			continue
		}
		add(call(c, max(whole, rep.ThreadNs)))
	}
	if path != nil {
		add(critical(path))
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(b.Share, a.Share) })
	return list[:min(most, len(list))]
}

// critical is what there is to say of the critical path: where it spends most beyond what ranks do on average.
func critical(p *waits.Path) Finding {
	worst := waits.PathSite{}
	for _, s := range p.Sites {
		if s.ImbalanceNs > worst.ImbalanceNs {
			worst = s
		}
	}
	what := "what rank %d computes before"
	if worst.MPINs > worst.ComputeNs {
		what = "rank %d in"
	}
	return Finding{
		float64(worst.ImbalanceNs) / float64(max(1, p.RunNs)),
		fmt.Sprintf("the run's end depends on "+what+" %s at %s: %s of the critical path, %s more than ranks spend there on average", worst.Rank, worst.Function, worst.Place,
			units.Duration(float64(worst.ComputeNs+worst.MPINs)), units.Duration(float64(worst.ImbalanceNs))),
		worst.Function, worst.Place, worst.Rank, "path",
	}
}

// call is what there is to say of the calls from one place.
func call(c *imbalance.Call, whole float64) Finding {
	f := Finding{Function: c.Function, Place: c.Place, Rank: -1}
	total := c.Duration.Mean * float64(c.Duration.Ranks)
	lost, gap := c.Lost(), &c.Gap
	if c.Collective && !c.Alone && lost > total/2 {
		f.Share = lost / whole
		f.Text = fmt.Sprintf("ranks wait for each other in %s at %s, %s a rank on average", c.Function, c.Place, units.Duration(c.Duration.Mean))
		if gap.Ranks > 1 && gap.Most.Ns > apart*gap.Mean && gap.Most.Rank == c.Duration.Least.Rank {
			f.Rank = gap.Most.Rank
			f.Text = fmt.Sprintf("ranks wait in %s at %s for rank %d, which computes %.1f × as long before it as ranks do on average",
				c.Function, c.Place, f.Rank, gap.Most.Ns/gap.Mean)
		}
		return f
	}
	f.Share = total / whole
	what := "are"
	if c.Completion && !c.Alone {
		what = "wait"
	}
	f.Text = fmt.Sprintf("ranks %s in %s at %s: %s of %s on average", what, c.Function, c.Place, units.Plural(c.Count, "call"), units.Duration(total/float64(max(1, c.Count))))
	if d := &c.Duration; d.Ranks > 1 && d.Most.Ns > apart*d.Mean {
		f.Rank = d.Most.Rank
		f.Text += fmt.Sprintf(", rank %d %.1f × as long as ranks do on average", f.Rank, d.Most.Ns/d.Mean)
	}
	return f
}
