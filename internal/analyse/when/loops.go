package when

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Loop is a loop that ranks run in a thread. Its iterations begin with calls from one site.
type Loop struct {
	BeginPlace trace.FunctionSiteNumbers // the call that begins an iteration on most ranks
	Iterations uint64
	Ranks      int // number of ranks that run it
	FirstRank  int // the lowest of these ranks
}

// Limits of what counts as a loop.
const (
	leastRounds = 2
	mostKeys    = 8 // candidate loops of a rank
	mostSlots   = model.WhenMaxSingleIterations
	sampled     = 256  // iterations from which the time of a loop is estimated
	longRound   = 10   // an iteration counts with at most longRound times the median time
	nearlyAll   = 0.85 // a loop within the largest loop is chosen if it has this share of that loop's time
	mostVotes   = 64
)

// A siteOrder numbers the call sites of a thread in order of their first calls.
type siteOrder struct {
	*trace.SiteNumbering
	k      *trace.Rank
	stream int
	x      *waits.Places
	number []int // by terminal: the number of its site
	places []trace.FunctionSiteNumbers
}

func orderOf(k *trace.Rank, stream int, x *waits.Places) *siteOrder {
	o := &siteOrder{SiteNumbering: k.SiteNumbering(stream), k: k, stream: stream, x: x}
	o.number = o.SiteOfTerminal
	for _, t := range o.FirstTerminals {
		c := k.CallWithoutParams(t)
		o.places = append(o.places, x.PlaceOf(c.Func, c.Site))
	}
	return o
}

// A cycle is a candidate loop: the transitions back to call site number to, from sites whose numbers are at least
// from. It is a loop of the program if the transitions from sites with lower numbers belong to nested loops.
type cycle struct {
	to, from int
	rounds   uint64
	share    float64 // share of the thread's time
}

// begins returns a function that reports whether a call begins an iteration.
func (c *cycle) begins(o *siteOrder) func(before, terminal int) bool {
	return o.BeginsIteration(c.to, c.from)
}

// cycles returns the loops with most time. mean is, by terminal, the mean time of a call and of the computation before
// it; nil: all calls count the same.
func (o *siteOrder) cycles(mean []float64) []cycle {
	weigh := o.k.PrefixWeights(o.stream, func(t int) int64 {
		if mean == nil {
			return 1
		}
		return int64(mean[t])
	})
	total := float64(max(1, weigh(math.MaxUint64)))
	var list []cycle
	for to, sources := range o.StepsBackFrom {
		entered := uint64(0)
		if to == 0 {
			entered = 1
		}
		for s, n := range o.StepCounts {
			if s[1] == to && s[0] < to {
				entered += n
			}
		}
		rounds := entered
		for i := len(sources) - 1; i >= 0; i-- {
			if rounds += o.StepCounts[[2]int{sources[i], to}]; rounds >= leastRounds {
				list = append(list, cycle{to: to, from: sources[i], rounds: rounds})
			}
		}
	}
	slices.SortFunc(list, func(a, b cycle) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
	var leaves *trace.Occurrences
	for i := range list {
		c := &list[i]
		if i == 0 || list[i-1].to != c.to {
			leaves = o.k.OccurrencesAfter(o.stream, func(before, t int) bool {
				return before != trace.NoPreviousTerminal && o.number[before] >= c.to && o.number[t] < c.to
			})
		}
		outer := cycle{to: c.to, from: math.MaxInt}
		if i+1 < len(list) && list[i+1].to == c.to {
			outer.from = list[i+1].from
		}
		c.share = c.time(o.k.OccurrencesAfter(o.stream, c.begins(o)), o.k.OccurrencesAfter(o.stream, outer.begins(o)), leaves, weigh, o.k.CallCount(o.stream)) / total
	}
	slices.SortStableFunc(list, func(a, b cycle) int { return cmp.Compare(b.share, a.share) })
	// Cycles to the same site with equally many iterations are the same loop.
	var out []cycle
	for _, c := range list {
		if len(out) < mostKeys && !slices.ContainsFunc(out, func(d cycle) bool { return d.to == c.to && d.rounds == c.rounds }) {
			out = append(out, c)
		}
	}
	return out
}

// time is the time of the iterations. Much longer iterations count only in part. Otherwise a loop that reads commands
// would be chosen in every program that has one, as one of its iterations runs nearly everything. An iteration ends
// where the next begins, or at a call from a site before the loop's. The last iteration before the next one of the
// outer loop may include much of the outer loop's time, so it counts like the others.
func (c *cycle) time(begins, outer, leaves *trace.Occurrences, weigh func(uint64) int64, calls uint64) float64 {
	n := min(c.rounds, sampled)
	took, last := make([]float64, n), make([]bool, n)
	for i := range n {
		at := c.rounds * i / n
		from, _ := begins.Nth(at)
		to := calls
		if at+1 < c.rounds {
			to, _ = begins.Nth(at + 1)
			last[i] = outer.CountBefore(to+1) > outer.CountBefore(to)
		}
		if l := leaves.CountBefore(from + 1); l < leaves.Total() {
			end, _ := leaves.Nth(l)
			to = min(to, end)
		}
		took[i] = float64(weigh(to) - weigh(from))
	}
	usual, sum := median(took), 0.0
	for i, t := range took {
		if last[i] {
			sum += min(t, usual)
		} else {
			sum += min(t, longRound*usual)
		}
	}
	return sum * float64(c.rounds) / float64(n)
}

// A key identifies a loop across ranks: by the call that begins an iteration, and the number of iterations.
type key struct {
	at     trace.FunctionSiteNumbers
	rounds uint64
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.rounds, o.rounds), cmp.Compare(k.at.FunctionIndex, o.at.FunctionIndex), cmp.Compare(k.at.SiteNumber, o.at.SiteNumber))
}

// A vote is the number of ranks that have a loop, the lowest of them, and the sum of the loop's shares of their times.
type vote struct {
	ranks, first int
	share        float64
}

// means returns by terminal the mean time of a call and of the computation before it; nil: the trace has no times.
func means(r *trace.Reader, class int) ([]float64, error) {
	if !r.HasTimes() {
		return nil, nil
	}
	times, err := r.Times(class)
	out := make([]float64, len(times))
	for t := range times {
		out[t] = times[t].Gap.Mean() + times[t].Duration.Mean()
	}
	return out, err
}

// propose returns a rank's candidate loops with its vote.
func (o *siteOrder) propose(mean []float64) map[key]vote {
	list := make(map[key]vote)
	for _, c := range o.cycles(mean) {
		list[key{o.places[c.to], c.rounds}] = vote{1, o.k.Number(), c.share}
	}
	return list
}

// join adds the votes of ranks with higher numbers.
func join(a, b map[key]vote) {
	for k, v := range b {
		x, ok := a[k]
		if !ok {
			x.first = v.first
		}
		a[k] = vote{x.ranks + v.ranks, min(x.first, v.first), x.share + v.share}
	}
	if len(a) > 2*mostVotes {
		list := sortedVotes(a)
		for _, k := range list[mostVotes:] {
			delete(a, k)
		}
	}
}

func sortedVotes(votes map[key]vote) []key {
	var list []key
	for k := range votes {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b key) int { return cmp.Or(cmp.Compare(votes[b].share, votes[a].share), a.compare(b)) })
	return list
}

// choose returns the loop of the run. It is a loop of the most ranks, with most of their time. Among loops with
// nearly as much time, it is the one with most iterations that can still be analysed individually. It returns nil if
// there is no loop.
func choose(votes map[key]vote, ranks int) *Loop {
	var list []key
	best := 0.0
	for _, k := range sortedVotes(votes) {
		if v := votes[k]; 2*v.ranks > ranks {
			list, best = append(list, k), max(best, v.share/float64(v.ranks))
		}
	}
	var out *Loop
	for _, k := range list {
		v := votes[k]
		if v.share/float64(v.ranks) < nearlyAll*best {
			continue
		}
		if out == nil || finer(k.rounds, out.Iterations) {
			out = &Loop{k.at, k.rounds, v.ranks, v.first}
		}
	}
	return out
}

func finer(a, b uint64) bool {
	if (a > mostSlots) != (b > mostSlots) {
		return b > mostSlots
	}
	return a <= mostSlots && a > b || a > mostSlots && a < b
}

// RankIterations are the iterations of a loop on one rank.
type RankIterations = trace.LoopIterations

// rounds returns the iterations of a loop; nil if the rank runs it from another site or with a different trip count.
func (o *siteOrder) rounds(l *Loop) *RankIterations {
	return o.LoopIterations(slices.Index(o.places, l.BeginPlace), l.Iterations)
}
