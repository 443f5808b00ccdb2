package trace

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A SiteNumbering is the call sites of a thread, numbered from 0 by first occurrence. A site is a pair of function and
// site here. A call from the same site as the previous call, or from one with a lower number, is a step back: it begins
// an iteration of a loop.
type SiteNumbering struct {
	SiteOfTerminal []int         // by terminal: number of its site; -1: the thread makes no call of it
	FirstTerminals []int         // by site: the terminal of its first call
	StepsBackFrom  map[int][]int // by site: the sites from which steps lead back to it, ascending

	// StepCounts is by pair of sites: how often a call from the second directly follows one from the first.
	StepCounts map[[2]int]uint64

	k      *Rank
	stream int
	firsts []uint64 // by site: index of its first call in the stream
}

// SiteNumbering returns the numbering of a thread's call sites. It takes time in proportion to the stream's grammar.
func (k *Rank) SiteNumbering(stream int) *SiteNumbering {
	o := &SiteNumbering{k: k, stream: stream, SiteOfTerminal: make([]int, k.Terminals()), StepsBackFrom: make(map[int][]int), StepCounts: make(map[[2]int]uint64)}
	type place struct {
		f *Function
		s Site
	}
	known := make(map[place]int)
	firsts := k.FirstPositions(stream)
	var by []int
	for t, at := range firsts {
		if o.SiteOfTerminal[t] = -1; at < math.MaxUint64 {
			by = append(by, t)
		}
	}
	slices.SortFunc(by, func(a, b int) int { return cmp.Compare(firsts[a], firsts[b]) })
	for _, t := range by {
		c := k.CallWithoutParams(t)
		n, fresh := once.NumberOf(known, place{c.Func, c.Site})
		if fresh {
			o.FirstTerminals, o.firsts = append(o.FirstTerminals, t), append(o.firsts, firsts[t])
		}
		o.SiteOfTerminal[t] = n
	}
	for pair, n := range k.Transitions(stream) {
		if pair[0] != NoPreviousTerminal {
			o.StepCounts[[2]int{o.SiteOfTerminal[pair[0]], o.SiteOfTerminal[pair[1]]}] += n
		}
	}
	for s := range o.StepCounts {
		if s[1] <= s[0] {
			o.StepsBackFrom[s[1]] = append(o.StepsBackFrom[s[1]], s[0])
		}
	}
	for _, list := range o.StepsBackFrom {
		slices.Sort(list)
	}
	return o
}

// BeginsIteration returns a function that reports whether a call, given by the thread's previous terminal and its own,
// begins an iteration of the loop that begins with site to. That is a call from this site in two cases: it is a step
// back from site from or a higher one, or it enters the loop from a lower site.
func (o *SiteNumbering) BeginsIteration(to, from int) func(before, terminal int) bool {
	return func(before, terminal int) bool {
		if o.SiteOfTerminal[terminal] != to {
			return false
		}
		return before == NoPreviousTerminal || o.SiteOfTerminal[before] >= from || o.SiteOfTerminal[before] < to
	}
}

// LoopIterations are the iterations of a loop on one rank, as indices of calls in a stream.
type LoopIterations struct {
	Count          uint64
	EndPosition    uint64 // index of the first call after the last iteration
	FromOtherRanks bool   // whether they were derived from the iterations of another rank
	begin          func(n uint64) uint64
}

// NewLoopIterations returns iterations that begin at the calls in begins. end is the index of the first call after the last
// iteration.
func NewLoopIterations(begins *Occurrences, end uint64) *LoopIterations {
	return &LoopIterations{Count: begins.Total(), EndPosition: end, begin: func(n uint64) uint64 {
		at, _ := begins.Nth(n)
		return at
	}}
}

// BeginPosition returns the index of the first call of iteration n, counted from 0. Begin(Count) is End.
func (r *LoopIterations) BeginPosition(n uint64) uint64 {
	if n >= r.Count {
		return r.EndPosition
	}
	return r.begin(n)
}

// LoopIterations returns the iterations of the loop that begins with a site. It returns nil if no loop that begins there has
// this number of iterations.
func (o *SiteNumbering) LoopIterations(site int, iterations uint64) *LoopIterations {
	sources := o.StepsBackFrom[site]
	for i := len(sources) - 1; i >= 0; i-- {
		x := o.k.OccurrencesAfter(o.stream, o.BeginsIteration(site, sources[i]))
		if x.Total() != iterations || iterations == 0 {
			continue
		}
		last, _ := x.Nth(iterations - 1)
		return NewLoopIterations(x, o.end(last, site))
	}
	return nil
}

// mostLoopsEnd is the largest number of calls that are searched for the end of a loop's last iteration. If it isn't
// found, the iteration lasts to the end of the stream.
const mostLoopsEnd = 1 << 16

// end returns the index of the first call after the last iteration, which begins at index from; to is the loop's first
// site. The call is from a site that precedes the loop, or that has no call in earlier iterations.
func (o *SiteNumbering) end(from uint64, to int) uint64 {
	known := to
	for n, t := range o.firsts {
		if t < from {
			known = max(known, n)
		}
	}
	i := from
	for t := range o.k.SequenceFrom(o.stream, from) {
		if n := o.SiteOfTerminal[t]; n < to || n > known {
			return i
		}
		if i++; i-from > mostLoopsEnd {
			break
		}
	}
	return o.k.CallCount(o.stream)
}

// together returns the positions of a thread's collective calls on MPI_COMM_WORLD.
func together(k *Rank, stream int) (*Occurrences, error) {
	is := make([]bool, k.Terminals())
	for t := range is {
		if !k.CallWithoutParams(t).Func.Has(AttrCollective) {
			continue
		}
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		comm := c.Param("comm")
		is[t] = comm != nil && comm.In.Type == TypeHandle && comm.In.Num == mpi.HandleCommWorld && c.Return == 0
	}
	return k.Occurrences(stream, func(t int) bool { return is[t] }), nil
}

// AlignLoopIterations returns the iterations of a rank in whose calls the loop isn't found, from the iterations r of another
// rank: they begin at the same collective calls on MPI_COMM_WORLD, or right after these. It returns nil if the two
// ranks make different numbers of such calls, or if there are iterations without one.
func (o *SiteNumbering) AlignLoopIterations(of *Rank, r *LoopIterations) (*LoopIterations, error) {
	theirs, err := together(of, o.stream)
	if err != nil {
		return nil, err
	}
	own, err := together(o.k, o.stream)
	if err != nil || own.Total() != theirs.Total() {
		return nil, err
	}
	at := func(n uint64) uint64 {
		position := r.BeginPosition(n)
		c := theirs.CountBefore(position)
		if c < theirs.Total() {
			if next, _ := theirs.Nth(c); next == position { // on the other rank, the iteration begins with that call
				p, _ := own.Nth(c)
				return p
			}
		}
		if c == 0 {
			return min(1, o.k.CallCount(o.stream)-1) // no such call precedes it: it begins after the first call, MPI_Init
		}
		p, _ := own.Nth(c - 1)
		return p + 1
	}
	out := &LoopIterations{Count: r.Count, EndPosition: o.end(at(r.Count-1), 0), FromOtherRanks: true, begin: at}
	before := theirs.CountBefore(r.BeginPosition(0))
	// Each iteration must have a collective call; of many iterations, groups are checked.
	for n := uint64(1); n <= min(r.Count, model.WhenMaxSingleIterations); n++ {
		i := n * r.Count / min(r.Count, model.WhenMaxSingleIterations)
		c := theirs.CountBefore(r.BeginPosition(i))
		if c <= before && i < r.Count {
			return nil, nil
		}
		before = c
	}
	return out, nil
}

// site returns the number of the pair of a function and a site; -1 if the thread doesn't call the function from there.
func (o *SiteNumbering) site(f *Function, s Site) int {
	return slices.IndexFunc(o.FirstTerminals, func(t int) bool {
		c := o.k.CallWithoutParams(t)
		return c.Func == f && c.Site == s
	})
}

// WhenLoopIterations returns the iterations of the loop in When on the rank's first thread. It returns nil if the trace has
// no such loop, or if the rank has no iterations of it.
func (k *Rank) WhenLoopIterations() (*LoopIterations, error) {
	w, err := k.r.When()
	if err != nil || w == nil || w.Loop == nil || k.CallCount(0) == 0 {
		return nil, err
	}
	type shared struct{ class int }
	type found struct {
		rounds *LoopIterations
		err    error
	}
	find := func() any {
		rounds, err := k.iterations(w)
		return found{rounds, err}
	}
	if k.ClassHasEqualCounts() {
		x := k.r.Memoize(shared{k.nclass}, find).(found)
		return x.rounds, x.err
	}
	x := find().(found)
	return x.rounds, x.err
}

func (k *Rank) iterations(w *When) (*LoopIterations, error) {
	own, o := k.runs(w)
	if own != nil {
		return own, nil
	}
	type first struct{}
	of, _ := k.r.Memoize(first{}, func() any { // the lowest rank in whose own calls the loop is found
		for k, err := range k.r.RanksWithTrack() {
			if err != nil {
				return nil
			}
			if rounds, _ := k.runs(w); rounds != nil {
				return k
			}
		}
		return nil
	}).(*Rank)
	if of == nil {
		return nil, nil
	}
	theirs, _ := of.runs(w)
	return o.AlignLoopIterations(of, theirs)
}

// runs returns the iterations of the loop in w as found in the rank's own calls, nil if they are not there. It also
// returns the numbering of the call sites of the rank's first thread.
func (k *Rank) runs(w *When) (*LoopIterations, *SiteNumbering) {
	o, at := k.SiteNumbering(0), w.Loop.BeginsAt
	sites := k.tables.sites.List
	if at.FunctionIndex < 0 || at.FunctionIndex >= len(k.r.Schema()) || at.SiteNumber >= len(sites) {
		return nil, o
	}
	return o.LoopIterations(o.site(k.r.Schema()[at.FunctionIndex], sites[at.SiteNumber]), w.Loop.Iterations), o
}
