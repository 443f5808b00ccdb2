package waits

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// A CriticalPath is the critical path of a run: the intervals that its end depends on. The path goes backwards from
// the thread that ended last. Where a thread had waited, it continues on the late thread, from that thread's arrival.
// Its intervals add up to the run time. Times are in ns.
type CriticalPath struct {
	LengthNs     int64      `json:"run_ns"`
	OutsideMPINs int64      `json:"outside_ns"` // part of LengthNs outside of MPI
	AsideNs      int64      `json:"spoor_ns"`   // part of LengthNs in the recorder, or with tracing off
	Hops         int        `json:"hops"`
	EndRank      int        `json:"rank"`  // the rank on which the path ends
	Sites        []PathSite `json:"sites"` // longest time first
	Loops        []PathLoop `json:"loops"` // longest time first
	Ranks        []PathRank `json:"ranks"` // longest time first, without ranks that the path never touches
}

// A PathLoop is the path's time in a loop of the program, nested loops included. Calls outside of loops are a
// PathLoop without a first call.
type PathLoop struct {
	show.Loop
	ComputeNs int64 `json:"compute_ns"`
	MPINs     int64 `json:"mpi_ns"`
}

// A PathSite is the path's time in the calls of one function from one place, and in the computation before them.
type PathSite struct {
	Function  string `json:"function"`
	Place     string `json:"place"`
	ComputeNs int64  `json:"compute_ns"`
	MPINs     int64  `json:"mpi_ns"`
	// MeanOverRanksNs is the mean of all ranks' time at this site, without waiting. ImbalanceNs is the path's time beyond that:
	// with balanced work the run would end that much earlier, if nothing else delayed it.
	MeanOverRanksNs int64 `json:"mean_ns"`
	ImbalanceNs     int64 `json:"imbalance_ns"`
	MaxRank         int   `json:"rank"` // the rank with the largest part of ComputeNs + MPINs
}

// A PathRank is a rank's time on the path.
type PathRank struct {
	Rank      int   `json:"rank"`
	ComputeNs int64 `json:"compute_ns"`
	MPINs     int64 `json:"mpi_ns"`
}

// maxPathWaits is the largest number of waits, over all ranks, from which the path is found.
const maxPathWaits = 1 << 23

// A hop leads from a thread that waited to the thread that it waited for, at the time when that thread arrived.
type hop struct {
	at     int64
	rank   int32
	stream int32
}

// A thread identifies a thread by its rank and its number among the rank's streams.
type thread struct{ rank, stream int32 }

// A pathInterval is an interval on the path of one thread, in ns.
type pathInterval struct{ from, to int64 }

// hops keeps the waits of a rank, by stream.
type hops struct {
	of   map[int32][]hop
	n    int
	many bool
}

func (h *hops) add(b *blocked) {
	if h.n++; h.n > maxPathWaits {
		h.many, h.of = true, nil
		return
	}
	h.of[b.stream] = append(h.of[b.stream], hop{b.at + b.waited, b.by.rank, b.by.stream})
}

// A way is the input of the search for the critical path: begin and end of each thread, and its hops. Hops before since
// are missing.
type way struct {
	spans map[thread]span
	hops  map[thread][]hop
	since int64
}

// way returns the rank's part of the input for the search of the critical path.
func (w *rankAnalysis) way(since int64) *way {
	y := &way{make(map[thread]span), make(map[thread][]hop), since}
	for stream, x := range w.Threads {
		if w.threads[stream].n > 0 {
			y.spans[thread{int32(w.Rank()), int32(stream)}] = x
		}
	}
	for stream, list := range w.hops.of {
		slices.SortFunc(list, func(x, y hop) int { return cmp.Compare(x.at, y.at) })
		i, _ := slices.BinarySearchFunc(list, since, func(h hop, at int64) int { return cmp.Compare(h.at, at) })
		y.hops[thread{int32(w.Rank()), stream}] = list[i:]
	}
	return y
}

func (y *way) join(o *way) {
	maps.Copy(y.spans, o.spans)
	maps.Copy(y.hops, o.hops)
}

// paths finds the critical path of a trace whose ranks have processed all their calls; nil if there were too many
// waits to keep.
func paths(list []*rankAnalysis, rep *Report, o *Options) (*CriticalPath, error) {
	y, many := &way{spans: make(map[thread]span), hops: make(map[thread][]hop)}, 0
	for _, w := range list {
		if many += w.hops.n; w.hops.many || many > maxPathWaits {
			return nil, nil
		}
		y.join(w.way(math.MinInt64))
	}
	y.since = math.MinInt64
	p := &CriticalPath{Sites: []PathSite{}, Loops: []PathLoop{}, Ranks: []PathRank{}}
	on := y.stretches(p)
	if on == nil {
		return p, nil
	}
	all, in := newPathSums(), make(map[int]*PathLoop)
	for rank, w := range list {
		if w.k == nil {
			continue
		}
		x := newPathSums()
		x.loops = in
		for stream := range w.Threads {
			t := thread{int32(rank), int32(stream)}
			if len(on[t]) == 0 {
				continue
			}
			var chains [][]int
			if o.Loops != nil {
				var err error
				if chains, err = o.Loops.LoopsAround(rank, stream); err != nil {
					return nil, err
				}
			}
			if err := x.thread(w, t, on[t], chains); err != nil {
				return nil, err
			}
		}
		w.addOwn(x)
		all.join(x)
	}
	all.report(p, rep, list[0].waited(), list[0].places, o.NameSite)
	p.Loops = byLoop(in, o.Loops)
	return p, nil
}

// stretches follows the path backwards, and returns its intervals. It returns nil if no rank made a call.
func (y *way) stretches(p *CriticalPath) map[thread][]pathInterval {
	s, first, end := thread{rank: -1}, int64(0), int64(0)
	for _, x := range slices.SortedFunc(maps.Keys(y.spans), compareThreads) {
		at := y.spans[x]
		if s.rank < 0 || at.start < first {
			first = at.start
		}
		if s.rank < 0 || at.end > end {
			end, s = at.end, x
		}
	}
	if s.rank < 0 {
		return nil
	}
	first = max(first, y.since)
	p.LengthNs, p.EndRank = end-first, int(s.rank)
	on := make(map[thread][]pathInterval)
	for to := end; to > first; {
		list := y.hops[s]
		i := sort.Search(len(list), func(i int) bool { return list[i].at >= to })
		began := y.spans[s].start
		if i == 0 && s.stream > 0 && began > first && began < to {
			// The time before a later thread's first call is on the thread that initialised MPI.
			on[s] = append(on[s], pathInterval{began, to})
			s, to = thread{rank: s.rank}, began
			continue
		}
		if i == 0 {
			on[s] = append(on[s], pathInterval{first, to})
			break
		}
		h := list[i-1]
		on[s] = append(on[s], pathInterval{h.at, to})
		s, to = thread{h.rank, h.stream}, h.at
		p.Hops++
	}
	for _, list := range on {
		slices.Reverse(list)
	}
	return on
}

func compareThreads(a, b thread) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.stream, b.stream))
}

// siteSums is the times at a call site, in ns. compute and mpi are on the path; all is on all ranks.
type siteSums struct {
	compute, mpi int64
	all          int64 // ns in all ranks' calls and before them, on the path or not
	rank         int32 // the rank with the largest part of compute + mpi
	most         int64
}

// pathSums is the sums along the critical path: of one rank at first, of all ranks in the end.
type pathSums struct {
	sites map[callSite]*siteSums
	ranks []PathRank // ranks that the path touches, in rising order
	spoor int64
	loops map[int]*PathLoop // by number of the loop; -1: outside of loops
}

func newPathSums() *pathSums { return &pathSums{sites: make(map[callSite]*siteSums)} }

func (x *pathSums) site(at callSite) *siteSums {
	return once.GetOrMake(x.sites, at, func() *siteSums { return &siteSums{rank: -1} })
}

// join adds the sums of ranks with higher numbers.
func (x *pathSums) join(o *pathSums) {
	for at, s := range o.sites {
		into := x.site(at)
		into.compute += s.compute
		into.mpi += s.mpi
		into.all += s.all
		if into.rank < 0 || s.most > into.most {
			into.rank, into.most = s.rank, s.most
		}
	}
	x.ranks = append(x.ranks, o.ranks...)
	x.spoor += o.spoor
}

// addOwn adds the rank's sums over all its calls, on the path or not.
func (w *rankAnalysis) addOwn(x *pathSums) {
	for t, ns := range w.ownNs {
		if w.known[t] {
			x.site(w.byTerminal[t]).all += ns
		}
	}
	r := PathRank{Rank: w.Rank()}
	for _, s := range x.sites {
		s.rank, s.most = int32(w.Rank()), s.compute+s.mpi
		r.ComputeNs += s.compute
		r.MPINs += s.mpi
	}
	if r.ComputeNs+r.MPINs > 0 {
		x.ranks = []PathRank{r}
	}
}

// A pathCall is a call of a thread, which may be on the path.
type pathCall struct {
	terminal   int
	start, end int64
	asides     []trace.PlacedAside
}

// steps yields the calls of a thread, with their times, in a second pass. before returns the end of the previous call.
func (w *rankAnalysis) steps(stream int, before func() int64) iter.Seq2[pathCall, error] {
	return func(yield func(pathCall, error) bool) {
		if w.clock != nil {
			w.clockSteps(stream, before, yield)
			return
		}
		offset := w.s.StartNs
		for c, err := range w.k.TimedTerminals(stream) {
			if err != nil {
				yield(pathCall{}, err)
				return
			}
			s := pathCall{c.Terminal, c.StartNs - offset, c.EndNs() - offset, nil}
			if c.Timing.RecorderNs > 0 || c.Timing.TracingOffNs > 0 {
				s.asides = c.Timing.AsidesBeforeCall(c.Index, before()+offset, c.StartNs)
				for i := range s.asides {
					s.asides[i].StartNs -= offset
				}
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// clockSteps does what steps does, with times from the rank's log instead of the trace.
func (w *rankAnalysis) clockSteps(stream int, before func() int64, yield func(pathCall, error) bool) {
	walk, err := w.k.Walk(stream, 0)
	next := w.clock(stream)
	for err == nil && walk.Next() {
		s := pathCall{terminal: walk.Call().Terminal}
		gap := int64(0)
		if s.start, s.end, gap, err = next.Next(); err != nil {
			break
		}
		if at := before(); s.start-gap > at {
			s.asides = []trace.PlacedAside{{StartNs: at, Aside: trace.Aside{Ns: s.start - gap - at}}}
		}
		if !yield(s, nil) {
			return
		}
	}
	if err = cmp.Or(err, walk.Err()); err != nil {
		yield(pathCall{}, err)
	}
}

// thread adds a thread's time on the path to the sums of its call sites. list is the path's intervals on the thread,
// chains the loops around the calls, by terminal.
func (x *pathSums) thread(w *rankAnalysis, of thread, list []pathInterval, chains [][]int) error {
	sites := make([]*siteSums, w.k.Terminals())
	on := func(from, to int64) (sum int64) {
		for i := 0; i < len(list) && list[i].from < to; i++ {
			sum += max(0, min(to, list[i].to)-max(from, list[i].from))
		}
		return sum
	}
	before, began := int64(0), false
	for c, err := range w.steps(int(of.stream), func() int64 { return before }) {
		if err != nil {
			return err
		}
		s := sites[c.terminal]
		if s == nil {
			s = x.site(w.byTerminal[c.terminal])
			sites[c.terminal] = s
		}
		for len(list) > 0 && list[0].to <= before && began {
			list = list[1:]
		}
		if !began && len(list) > 0 {
			before, c.asides = min(list[0].from, c.start), nil // the path may include the time before the first call
		}
		if len(list) > 0 {
			gap, call := on(before, c.start), on(max(before, c.start), c.end)
			for _, aside := range c.asides {
				own := on(aside.StartNs, aside.StartNs+aside.Ns)
				x.spoor += min(own, gap)
				gap -= min(own, gap)
			}
			if gap > 0 || call > 0 {
				s.compute += gap
				s.mpi += call
				if chains != nil {
					x.inLoops(chains[c.terminal], gap, call)
				}
			}
		}
		before, began = max(before, c.end), true
	}
	return nil
}

func (x *pathSums) report(p *CriticalPath, rep *Report, waited map[callSite]int64, of *Places, called func(function string, s trace.Site) string) {
	for at, s := range x.sites {
		if s.compute+s.mpi == 0 {
			continue
		}
		place := of.at(at)
		y := PathSite{
			Function: place.Function, Place: called(place.Function, place.Site), ComputeNs: s.compute, MPINs: s.mpi,
			MeanOverRanksNs: rep.mean(s, waited[at]), MaxRank: int(s.rank),
		}
		y.ImbalanceNs = max(0, s.compute+s.mpi-y.MeanOverRanksNs)
		p.OutsideMPINs += s.compute
		p.Sites = append(p.Sites, y)
	}
	p.AsideNs = x.spoor
	p.Ranks = append(p.Ranks, x.ranks...)
	slices.SortFunc(p.Sites, func(x, y PathSite) int {
		return cmp.Or(cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Place, y.Place))
	})
	slices.SortFunc(p.Ranks, func(x, y PathRank) int {
		return cmp.Or(cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs), cmp.Compare(x.Rank, y.Rank))
	})
}

// unite merges call sites with equal names.
func (p *CriticalPath) unite() {
	list := p.Sites[:0]
	most := make(map[int]int64) // by index in list: the largest time of the sites merged into one
	for _, s := range p.Sites {
		i := slices.IndexFunc(list, func(x PathSite) bool { return x.Function == s.Function && x.Place == s.Place })
		if i < 0 {
			most[len(list)] = s.ComputeNs + s.MPINs
			list = append(list, s)
			continue
		}
		into := &list[i]
		if s.ComputeNs+s.MPINs > most[i] {
			most[i], into.MaxRank = s.ComputeNs+s.MPINs, s.MaxRank
		}
		into.ComputeNs += s.ComputeNs
		into.MPINs += s.MPINs
		into.MeanOverRanksNs += s.MeanOverRanksNs
		into.ImbalanceNs = max(0, into.ComputeNs+into.MPINs-into.MeanOverRanksNs)
	}
	p.Sites = list
	slices.SortStableFunc(p.Sites, func(x, y PathSite) int { return cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs) })
}

// mean returns the mean of the ranks' time at a site, without waiting.
func (rep *Report) mean(s *siteSums, waited int64) int64 {
	return max(0, s.all-waited) / int64(max(1, len(rep.ByRank)))
}

// inLoops adds times to the loops around a call.
func (x *pathSums) inLoops(chain []int, compute, mpi int64) {
	if len(chain) == 0 {
		chain = []int{-1}
	}
	for _, n := range chain {
		l := once.GetOrMake(x.loops, n, func() *PathLoop { return &PathLoop{Loop: show.Loop{OuterLoopIndex: -1}} })
		l.ComputeNs += compute
		l.MPINs += mpi
	}
}

// byLoop lists the loops on the path, longest time first.
func byLoop(in map[int]*PathLoop, loops LoopFinder) []PathLoop {
	list := []PathLoop{}
	for _, n := range sorted(in) {
		l := *in[n]
		if n >= 0 {
			l.Loop = loops.Loop(n)
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(x, y PathLoop) int { return cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs) })
	return list
}
