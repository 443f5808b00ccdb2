package when

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Loop is one that ranks run in a thread. Its iterations begin with calls from one place.
type Loop struct {
	Begins     trace.WaitPlace // the call that begins an iteration on most ranks
	Iterations uint64
	Ranks      int // that have it
	First      int // the lowest of them
}

// Limits of what counts as a loop.
const (
	leastRounds  = 2
	mostKeys     = 8    // of a rank
	mostSlots    = 4096 // iterations that are looked at one by one
	sampled      = 256  // iterations that the time of a loop is estimated from
	longRound    = 10   // times the median: what an iteration counts for at most
	nearlyAll    = 0.85 // of the time of the loop with most: a loop within is the finer choice
	mostVotes    = 64
	mostLoopsEnd = 1 << 16 // calls that are looked at for the end of the last iteration
)

// An order is the call sites of a rank's thread, numbered as they first come. A call at or before the site of the one
// before it is a step back: the beginning of an iteration.
type order struct {
	k      *trace.Rank
	stream int
	x      *waits.Places
	number []int // by terminal: of its site; -1: the thread has none such
	places []trace.WaitPlace
	firsts []uint64      // by site: where it is first
	back   map[int][]int // by site: those from which steps lead back to it, ascending
	steps  map[[2]int]uint64
}

func orderOf(k *trace.Rank, stream int, x *waits.Places) *order {
	o := &order{k: k, stream: stream, x: x, number: make([]int, k.Terminals()), back: make(map[int][]int), steps: make(map[[2]int]uint64)}
	known := make(map[trace.WaitPlace]int)
	firsts := k.Firsts(stream)
	var by []int
	for t, at := range firsts {
		if o.number[t] = -1; at < math.MaxUint64 {
			by = append(by, t)
		}
	}
	slices.SortFunc(by, func(a, b int) int { return cmp.Compare(firsts[a], firsts[b]) })
	for _, t := range by {
		c := k.Called(t)
		n, fresh := once.Number(known, x.Of(c.Func, c.Site))
		if fresh {
			o.places, o.firsts = append(o.places, x.Of(c.Func, c.Site)), append(o.firsts, firsts[t])
		}
		o.number[t] = n
	}
	for pair, n := range k.Transitions(stream) {
		if pair[0] != trace.NoTerminal {
			o.steps[[2]int{o.number[pair[0]], o.number[pair[1]]}] += n
		}
	}
	for s := range o.steps {
		if s[1] <= s[0] {
			o.back[s[1]] = append(o.back[s[1]], s[0])
		}
	}
	for _, list := range o.back {
		slices.Sort(list)
	}
	return o
}

// A cycle is steps back to a site from others: from number from on. It is a loop of the program if those from lower numbers are of
// loops within.
type cycle struct {
	to, from int
	rounds   uint64
	share    float64 // of the thread's time
}

// begins says whether a call begins a round: it comes after one far enough behind, or the loop is entered.
func (c *cycle) begins(o *order) func(before, terminal int) bool {
	return func(before, terminal int) bool {
		if o.number[terminal] != c.to {
			return false
		}
		return before == trace.NoTerminal || o.number[before] >= c.from || o.number[before] < c.to
	}
}

// cycles finds the loops of the order with most time. mean is the time of a terminal's call, with what it computes before; nil: all
// calls count the same.
func (o *order) cycles(mean []float64) []cycle {
	weigh := o.k.Weighed(o.stream, func(t int) int64 {
		if mean == nil {
			return 1
		}
		return int64(mean[t])
	})
	total := float64(max(1, weigh(math.MaxUint64)))
	var list []cycle
	for to, sources := range o.back {
		entered := uint64(0)
		if to == 0 {
			entered = 1
		}
		for s, n := range o.steps {
			if s[1] == to && s[0] < to {
				entered += n
			}
		}
		rounds := entered
		for i := len(sources) - 1; i >= 0; i-- {
			if rounds += o.steps[[2]int{sources[i], to}]; rounds >= leastRounds {
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
				return before != trace.NoTerminal && o.number[before] >= c.to && o.number[t] < c.to
			})
		}
		outer := cycle{to: c.to, from: math.MaxInt}
		if i+1 < len(list) && list[i+1].to == c.to {
			outer.from = list[i+1].from
		}
		c.share = c.time(o.k.OccurrencesAfter(o.stream, c.begins(o)), o.k.OccurrencesAfter(o.stream, outer.begins(o)), leaves, weigh, o.k.Len(o.stream)) / total
	}
	slices.SortStableFunc(list, func(a, b cycle) int { return cmp.Compare(b.share, a.share) })
	// Steps to the same site with as many rounds are the same rounds.
	var out []cycle
	for _, c := range list {
		if len(out) < mostKeys && !slices.ContainsFunc(out, func(d cycle) bool { return d.to == c.to && d.rounds == c.rounds }) {
			out = append(out, c)
		}
	}
	return out
}

// time is the time of the rounds. One that is far longer than others counts for less, as a command loop would be the loop of every
// program. A round ends where the next begins, or at a call before the loop. The last one before a round of the loop around may have much of
// that, and counts as the others.
func (c *cycle) time(begins, outer, leaves *trace.Occurrences, weigh func(uint64) int64, calls uint64) float64 {
	n := min(c.rounds, sampled)
	took, last := make([]float64, n), make([]bool, n)
	for i := range n {
		at := c.rounds * i / n
		from, _ := begins.Nth(at)
		to := calls
		if at+1 < c.rounds {
			to, _ = begins.Nth(at + 1)
			last[i] = outer.Before(to+1) > outer.Before(to)
		}
		if l := leaves.Before(from + 1); l < leaves.Total() {
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

// A key is what ranks with the same loop have in common.
type key struct {
	at     trace.WaitPlace
	rounds uint64
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.rounds, o.rounds), cmp.Compare(k.at.Function, o.at.Function), cmp.Compare(k.at.Site, o.at.Site))
}

// A vote is how many ranks have a loop, the lowest of them, and their shares of time together.
type vote struct {
	ranks, first int
	share        float64
}

// means are how long calls take, with what is computed before, by terminal; nil: the trace has no times.
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

// propose returns the loops of a rank.
func (o *order) propose(mean []float64) map[key]vote {
	list := make(map[key]vote)
	for _, c := range o.cycles(mean) {
		list[key{o.places[c.to], c.rounds}] = vote{1, o.k.Number(), c.share}
	}
	return list
}

// join adds the votes of higher ranks.
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

// choose returns the loop of most ranks that has most of their time: of those with nearly as much the one with most iterations that can
// still be looked at one by one. nil: there is none.
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

// Rounds are the iterations of a loop on one rank, as positions of the calls of a thread.
type Rounds struct {
	Count  uint64
	End    uint64 // of the last one
	Others bool   // they follow from those of other ranks
	begin  func(n uint64) uint64
}

// NewRounds are iterations that begin with some calls. end is where the last one ends.
func NewRounds(begins *trace.Occurrences, end uint64) *Rounds {
	return &Rounds{Count: begins.Total(), End: end, begin: func(n uint64) uint64 {
		at, _ := begins.Nth(n)
		return at
	}}
}

// Begin is where the n-th iteration begins, from 0; that of Count is End.
func (r *Rounds) Begin(n uint64) uint64 {
	if n >= r.Count {
		return r.End
	}
	return r.begin(n)
}

// rounds finds the iterations of a loop; nil if the rank runs it from elsewhere or another number of times.
func (o *order) rounds(l *Loop) *Rounds {
	to := slices.Index(o.places, l.Begins)
	if to < 0 {
		return nil
	}
	sources := o.back[to]
	for i := len(sources) - 1; i >= 0; i-- {
		c := cycle{to: to, from: sources[i]}
		x := o.k.OccurrencesAfter(o.stream, c.begins(o))
		if x.Total() != l.Iterations {
			continue
		}
		last, _ := x.Nth(x.Total() - 1)
		return NewRounds(x, o.end(last, to))
	}
	return nil
}

// end is where the last iteration ends: at a call from a site that is before the loop, or was in no other iteration.
func (o *order) end(from uint64, to int) uint64 {
	known := to
	for n, t := range o.firsts {
		if t < from {
			known = max(known, n)
		}
	}
	i := from
	for t := range o.k.SequenceFrom(o.stream, from) {
		if n := o.number[t]; n < to || n > known {
			return i
		}
		if i++; i-from > mostLoopsEnd {
			break
		}
	}
	return o.k.Len(o.stream)
}

// together are the collective calls of all ranks in a thread.
func together(k *trace.Rank, stream int) (*trace.Occurrences, error) {
	is := make([]bool, k.Terminals())
	for t := range is {
		if !k.Called(t).Func.Has(trace.Collective) {
			continue
		}
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		comm := c.Param("comm")
		is[t] = comm != nil && comm.In.Type == trace.Handle && comm.In.Num == mpi.CommWorld && c.Return == 0
	}
	return k.Occurrences(stream, func(t int) bool { return is[t] }), nil
}

// alongside finds the iterations of a rank by those of another one: they begin at the same collective calls of all ranks. It returns nil
// where there are no such.
func (r *Rounds) alongside(of *trace.Rank, o *order) (*Rounds, error) {
	theirs, err := together(of, o.stream)
	if err != nil {
		return nil, err
	}
	own, err := together(o.k, o.stream)
	if err != nil || own.Total() != theirs.Total() {
		return nil, err
	}
	at := func(n uint64) uint64 {
		position := r.Begin(n)
		c := theirs.Before(position)
		if c < theirs.Total() {
			if next, _ := theirs.Nth(c); next == position { // it begins with one
				p, _ := own.Nth(c)
				return p
			}
		}
		if c == 0 {
			return min(1, o.k.Len(o.stream)-1) // right after MPI_Init
		}
		p, _ := own.Nth(c - 1)
		return p + 1
	}
	out := &Rounds{Count: r.Count, End: o.end(at(r.Count-1), 0), Others: true, begin: at}
	before := theirs.Before(r.Begin(0))
	for n := uint64(1); n <= min(r.Count, mostSlots); n++ { // each has a collective call
		i := n * r.Count / min(r.Count, mostSlots)
		c := theirs.Before(r.Begin(i))
		if c <= before && i < r.Count {
			return nil, nil
		}
		before = c
	}
	return out, nil
}
