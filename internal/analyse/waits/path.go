package waits

import (
	"cmp"
	"iter"
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

// A way is what the path is found in: when threads were there, and what they waited for.
type way struct {
	spans map[thread]span
	hops  map[thread][]hop
}

// paths finds the critical path of a trace whose ranks have gone through all their calls; nil if too much was waited to keep it.
func paths(list []*local, r *trace.Reader, rep *Report, o *Options) (*Path, error) {
	y, many := &way{make(map[thread]span), make(map[thread][]hop)}, 0
	for rank, w := range list {
		if many += w.hops.n; w.hops.many || many > maxPathWaits {
			return nil, nil
		}
		for stream, x := range w.Threads {
			if w.threads[stream].n > 0 {
				y.spans[thread{int32(rank), int32(stream)}] = x
			}
		}
		for stream, hops := range w.hops.of {
			y.hops[thread{int32(rank), stream}] = hops
		}
	}
	p := &Path{Sites: []PathSite{}, Loops: []PathLoop{}, Ranks: []PathRank{}}
	on := y.stretches(p)
	if on == nil {
		return p, nil
	}
	loops := calltree.NewLoops(r, o.Tree)
	all := newPathSums()
	for rank, w := range list {
		for stream := range w.Threads {
			x := thread{int32(rank), int32(stream)}
			var chains [][]int
			if len(on[x]) > 0 {
				var err error
				if chains, err = loops.Of(rank, stream); err != nil {
					return nil, err
				}
			}
			if err := all.thread(w, x, on[x], chains); err != nil {
				return nil, err
			}
		}
	}
	all.report(p, rep, list[0].waited(), list[0].places, o.Name)
	all.byLoop(p, loops)
	return p, nil
}

// stretches goes the path backwards. It returns nil if no rank did anything.
func (y *way) stretches(p *Path) map[thread][]stretch {
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
	for _, list := range y.hops {
		slices.SortFunc(list, func(x, y hop) int { return cmp.Compare(x.at, y.at) })
	}
	p.RunNs, p.Rank = end-first, int(s.rank)
	on := make(map[thread][]stretch)
	for to := end; to > first; {
		list := y.hops[s]
		i := sort.Search(len(list), func(i int) bool { return list[i].at >= to })
		began := y.spans[s].start
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

func compareThreads(a, b thread) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.stream, b.stream))
}

// siteSums is what a place has: of the path, and of all ranks.
type siteSums struct {
	compute, mpi int64
	all          int64
	ranks        map[int32]int64
}

// pathSums adds up what lies on the path.
type pathSums struct {
	in    map[int]*PathLoop // by number of the loop; -1: in none
	sites map[place]*siteSums
	ranks map[int32]*PathRank
	spoor int64
}

func newPathSums() *pathSums {
	return &pathSums{in: make(map[int]*PathLoop), sites: make(map[place]*siteSums), ranks: make(map[int32]*PathRank)}
}

func (x *pathSums) site(at place) *siteSums {
	s := x.sites[at]
	if s == nil {
		s = &siteSums{ranks: make(map[int32]int64)}
		x.sites[at] = s
	}
	return s
}

// A step is one call on a thread's way.
type step struct {
	terminal   int
	start, end int64
	own        int64 // ns in the call, and outside of MPI and the recorder before
	asides     []trace.Stretch
}

// steps goes through the calls of a thread once more.
func (w *local) steps(stream int, before func() int64) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		offset := w.s.First
		for c, err := range w.k.Timings(stream) {
			if err != nil {
				yield(step{}, err)
				return
			}
			s := step{c.Terminal, c.Start - offset, c.End() - offset, int64(c.Timing.Gap.Ns + c.Timing.Duration.Ns), nil}
			if c.Timing.Spoor > 0 || c.Timing.Off > 0 {
				s.asides = c.Timing.Asides(c.Index, before()+offset, c.Start)
				for i := range s.asides {
					s.asides[i].Start -= offset
				}
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// thread goes through the calls of a thread, on the path or not.
func (x *pathSums) thread(w *local, of thread, list []stretch, chains [][]int) error {
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
			call, err := w.k.Terminal(c.terminal)
			if err != nil {
				return err
			}
			s = x.site(w.places.place(call.Func, call.Site))
			sites[c.terminal] = s
		}
		s.all += c.own
		for len(list) > 0 && list[0].to <= before && began {
			list = list[1:]
		}
		if !began && len(list) > 0 {
			before = min(list[0].from, c.start) // what came before the first call, if that is on the path
		}
		if len(list) > 0 {
			gap, call := on(before, c.start), on(max(before, c.start), c.end)
			for _, aside := range c.asides {
				own := on(aside.Start, aside.Start+aside.Ns)
				x.spoor += min(own, gap)
				gap -= min(own, gap)
			}
			if gap > 0 || call > 0 {
				s.compute += gap
				s.mpi += call
				s.ranks[of.rank] += gap + call
				if chains != nil {
					x.inLoops(chains[c.terminal], gap, call)
				}
				r := x.ranks[of.rank]
				if r == nil {
					r = &PathRank{Rank: int(of.rank)}
					x.ranks[of.rank] = r
				}
				r.ComputeNs += gap
				r.MPINs += call
			}
		}
		before, began = max(before, c.end), true
	}
	return nil
}

func (x *pathSums) report(p *Path, rep *Report, waited map[place]int64, of *places, called func(function string, s trace.Site) string) {
	for at, s := range x.sites {
		if s.compute+s.mpi == 0 {
			continue
		}
		place := of.at(at)
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
func (x *pathSums) byLoop(p *Path, loops *calltree.Loops) {
	for _, n := range slices.Sorted(maps.Keys(x.in)) {
		l := *x.in[n]
		if n >= 0 {
			l.Loop = loops.List[n]
		}
		p.Loops = append(p.Loops, l)
	}
	slices.SortStableFunc(p.Loops, func(x, y PathLoop) int { return cmp.Compare(y.ComputeNs+y.MPINs, x.ComputeNs+x.MPINs) })
}
