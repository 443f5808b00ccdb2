package waits

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/trace"
)

// A Path is the critical path of a run: what its end depends on. It goes backwards from the thread that
// ended last; where that had waited, it goes on with the one that came last, from when that came. Its parts add up
// to the run time. Times are in ns.
type Path struct {
	RunNs     int64      `json:"run_ns"`
	OutsideNs int64      `json:"outside_ns"` // of MPI, on the path
	SpoorNs   int64      `json:"spoor_ns"`   // of the recorder, or with tracing off
	Hops      int        `json:"hops"`
	Rank      int        `json:"rank"`  // on which it ends
	Sites     []PathSite `json:"sites"` // by time
	Loops     []PathLoop `json:"loops"` // by time
	Ranks     []PathRank `json:"ranks"` // by time; those it never touches are left out
}

// A PathLoop is a loop of the program with all in it, loops in it as well. Calls that are in no loop are a PathLoop
// without a first call.
type PathLoop struct {
	calltree.Loop
	ComputeNs int64 `json:"compute_ns"`
	MPINs     int64 `json:"mpi_ns"`
}

// A PathSite is the calls of one function from one place, with what was computed before them.
type PathSite struct {
	Function  string `json:"function"`
	Place     string `json:"place"`
	ComputeNs int64  `json:"compute_ns"`
	MPINs     int64  `json:"mpi_ns"`
	// MeanNs is what ranks spend there on average, without what they wait. ImbalanceNs is what the path spends
	// there beyond that: were the work there equal, the run would end that much earlier, if nothing else then held it up.
	MeanNs      int64 `json:"mean_ns"`
	ImbalanceNs int64 `json:"imbalance_ns"`
	Rank        int   `json:"rank"` // that has most of it on the path
}

// A PathRank is a rank's part.
type PathRank struct {
	Rank      int   `json:"rank"`
	ComputeNs int64 `json:"compute_ns"`
	MPINs     int64 `json:"mpi_ns"`
}

// maxPathWaits bounds how many waits are kept to find the path.
const maxPathWaits = 1 << 23

// A hop leads from a thread at a time to the one that it had waited for, which came then.
type hop struct {
	at     int64
	rank   int32
	stream int32
}

// A thread is a thread of a rank.
type thread struct{ rank, stream int32 }

// A stretch is a part of the path on one thread.
type stretch struct{ from, to int64 }

// keeps the waits of a run.
type hops struct {
	of   map[thread][]hop
	n    int
	many bool
}

func (h *hops) add(b *blocked) {
	if h.n++; h.n > maxPathWaits {
		h.many, h.of = true, nil
		return
	}
	s := thread{b.rank, b.stream}
	h.of[s] = append(h.of[s], hop{b.at + b.waited, b.by.rank, b.by.stream})
}

// path finds the critical path; nil if too much was waited to keep it.
func (a *analysis) path(r *trace.Reader, rep *Report, o *Options) (*Path, error) {
	if a.hops.many {
		return nil, nil
	}
	for _, list := range a.hops.of {
		slices.SortFunc(list, func(x, y hop) int { return cmp.Compare(x.at, y.at) })
	}
	p := &Path{Sites: []PathSite{}, Loops: []PathLoop{}, Ranks: []PathRank{}}
	first, end, last := int64(0), int64(0), -1
	for rank, w := range a.ranks {
		if w == nil || !w.began {
			continue
		}
		if last < 0 || w.first < first {
			first = w.first
		}
		if last < 0 || w.last > end {
			end, last = w.last, rank
		}
	}
	if last < 0 {
		return p, nil
	}
	p.RunNs, p.Rank = end-first, last
	x := &pathSums{a: a, loops: calltree.NewLoops(r, o.Tree), in: make(map[int]*PathLoop), sites: make(map[int32]*siteSums), ranks: make(map[int32]*PathRank), on: a.stretches(p, last, first, end)}
	for rank, w := range a.ranks {
		if w == nil {
			continue
		}
		for stream := range w.k.Streams() {
			if err := x.thread(w.k, int32(rank), stream); err != nil {
				return nil, err
			}
		}
	}
	x.report(p, rep, o.Name)
	x.byLoop(p)
	return p, nil
}

// stretches goes the path backwards.
func (a *analysis) stretches(p *Path, rank int, first, end int64) map[thread][]stretch {
	on := make(map[thread][]stretch)
	s, to := thread{rank: int32(rank)}, end
	for i, last := range a.ranks[rank].ends {
		if last > a.ranks[rank].ends[s.stream] {
			s.stream = int32(i)
		}
	}
	for to > first {
		list := a.hops.of[s]
		i := sort.Search(len(list), func(i int) bool { return list[i].at >= to })
		began := a.ranks[s.rank].starts[s.stream]
		if i == 0 && s.stream > 0 && began > first && began < to {
			// A thread goes on from the one that initialised MPI.
			on[s] = append(on[s], stretch{began, to})
			s, to = thread{rank: s.rank}, began
			continue
		}
		if i == 0 {
			on[s] = append(on[s], stretch{first, to})
			break
		}
		h := list[i-1]
		on[s] = append(on[s], stretch{h.at, to})
		s, to = thread{h.rank, h.stream}, h.at
		p.Hops++
	}
	for _, list := range on {
		slices.Reverse(list)
	}
	return on
}

// siteSums is what a place has: of the path, and of all ranks.
type siteSums struct {
	compute, mpi int64
	all          int64
	ranks        map[int32]int64
}

// pathSums adds up what lies on the path.
type pathSums struct {
	a     *analysis
	loops *calltree.Loops
	in    map[int]*PathLoop // by number of the loop; -1: in none
	sites map[int32]*siteSums
	ranks map[int32]*PathRank
	on    map[thread][]stretch
	spoor int64
}

// thread goes through the calls of a thread, on the path or not.
func (x *pathSums) thread(k *trace.Rank, rank int32, stream int) error {
	var sites []*siteSums // by terminal
	list := x.on[thread{rank, int32(stream)}]
	var chains [][]int
	if len(list) > 0 {
		var err error
		if chains, err = x.loops.Of(int(rank), stream); err != nil {
			return err
		}
	}
	offset := x.a.s.First
	on := func(from, to int64) (sum int64) {
		for i := 0; i < len(list) && list[i].from < to; i++ {
			sum += max(0, min(to, list[i].to)-max(from, list[i].from))
		}
		return sum
	}
	before, began := int64(0), false
	for c, err := range k.Timings(stream) {
		if err != nil {
			return err
		}
		for len(sites) <= c.Terminal {
			sites = append(sites, nil)
		}
		s := sites[c.Terminal]
		if s == nil {
			call, err := k.Terminal(c.Terminal)
			if err != nil {
				return err
			}
			at := x.a.placeOf(call.FunctionSite())
			if s = x.sites[at]; s == nil {
				s = &siteSums{ranks: make(map[int32]int64)}
				x.sites[at] = s
			}
			sites[c.Terminal] = s
		}
		start, end := c.Start-offset, c.End()-offset
		s.all += int64(c.Timing.Gap.Ns + c.Timing.Duration.Ns)
		for len(list) > 0 && list[0].to <= before && began {
			list = list[1:]
		}
		if !began && len(list) > 0 {
			before = min(list[0].from, start) // what came before the first call, if that is on the path
		}
		if len(list) > 0 {
			gap, call := on(before, start), on(max(before, start), end)
			for _, aside := range c.Timing.Asides(c.Index, before+offset, c.Start) {
				own := on(aside.Start-offset, aside.Start-offset+aside.Ns)
				x.spoor += min(own, gap)
				gap -= min(own, gap)
			}
			if gap > 0 || call > 0 {
				s.compute += gap
				s.mpi += call
				s.ranks[rank] += gap + call
				x.inLoops(chains[c.Terminal], gap, call)
				r := x.ranks[rank]
				if r == nil {
					r = &PathRank{Rank: int(rank)}
					x.ranks[rank] = r
				}
				r.ComputeNs += gap
				r.MPINs += call
			}
		}
		before, began = max(before, end), true
	}
	return nil
}

func (x *pathSums) report(p *Path, rep *Report, called func(function string, s trace.Site) string) {
	waited := make(map[int32]int64)
	for key, row := range x.a.rows {
		waited[key.place] += row.waited
	}
	for at, s := range x.sites {
		if s.compute+s.mpi == 0 {
			continue
		}
		place := x.a.places[at]
		y := PathSite{
			Function: place.Function, Place: called(place.Function, place.Site), ComputeNs: s.compute, MPINs: s.mpi,
			MeanNs: max(0, s.all-waited[at]) / int64(max(1, len(rep.ByRank))), Rank: -1,
		}
		y.ImbalanceNs = max(0, s.compute+s.mpi-y.MeanNs)
		for rank, ns := range s.ranks {
			if y.Rank < 0 || ns > s.ranks[int32(y.Rank)] || ns == s.ranks[int32(y.Rank)] && int(rank) < y.Rank {
				y.Rank = int(rank)
			}
		}
		p.OutsideNs += s.compute
		p.Sites = append(p.Sites, y)
	}
	p.SpoorNs = x.spoor
	for _, r := range x.ranks {
		p.Ranks = append(p.Ranks, *r)
	}
	slices.SortFunc(p.Sites, func(x, y PathSite) int {
		return cmp.Or(cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Place, y.Place))
	})
	slices.SortFunc(p.Ranks, func(x, y PathRank) int {
		return cmp.Or(cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs), cmp.Compare(x.Rank, y.Rank))
	})
}

// inLoops adds to what the loops around a call have of the path.
func (x *pathSums) inLoops(chain []int, compute, mpi int64) {
	if len(chain) == 0 {
		chain = []int{-1}
	}
	for _, n := range chain {
		l := x.in[n]
		if l == nil {
			l = &PathLoop{Loop: calltree.Loop{Around: -1}}
			x.in[n] = l
		}
		l.ComputeNs += compute
		l.MPINs += mpi
	}
}

// byLoop lists the loops on the path.
func (x *pathSums) byLoop(p *Path) {
	for _, n := range slices.Sorted(maps.Keys(x.in)) {
		l := *x.in[n]
		if n >= 0 {
			l.Loop = x.loops.List[n]
		}
		p.Loops = append(p.Loops, l)
	}
	slices.SortStableFunc(p.Loops, func(x, y PathLoop) int { return cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs) })
}
