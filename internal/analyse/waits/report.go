package waits

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// ErrNoSingleTimes is returned for a trace that has neither wait states nor times of single calls.
var ErrNoSingleTimes = errors.New("the trace has no wait states and no time for every call; record it without --waits never, or see spoor efficiency; a part of a run needs --timing lossless")

// A Report is who waited for whom. Times are in ns, sums over ranks.
type Report struct {
	Ranks     int    `json:"ranks"`
	OnlyRanks []int  `json:"of_ranks,omitempty"` // the ranks selected by RestrictTo; nil: all
	TimesKind string `json:"times"`              // accuracy of the times (e.g. exact)
	// AnalysedShare is the analysed share of the run, up to the run's end. 1: all of it.
	AnalysedShare       float64              `json:"part"`
	MaxThreads          int                  `json:"threads"` // largest number of threads of a rank
	ThreadRunNs         int64                `json:"run_ns"`  // sum over threads, each from its first call to the end of its last
	MPINs               int64                `json:"mpi_ns"`
	WaitedNs            int64                `json:"waited_ns"`
	Messages            uint64               `json:"messages"`  // messages with both ends known
	BackwardMessages    uint64               `json:"backwards"` // messages whose times say that they were received before they were sent
	ClockErrorNs        int64                `json:"off_ns"`    // largest time by which a message seems received before it was sent: the error of clocks
	Kinds               []KindSum            `json:"kinds"`
	Sites               []Site               `json:"sites"`
	ByRank              []RankSum            `json:"by_rank"`
	UnanalysedFunctions []UnanalysedFunction `json:"not_looked_at"` // longest time first
	Omissions           []ops.Loss           `json:"left_out"`
	Path                *CriticalPath        `json:"path,omitempty"` // nil: not asked for, or there are too many waits
}

// A KindSum is the number of waits of one kind, and their total time.
type KindSum struct {
	Kind     Kind   `json:"kind"`
	Count    uint64 `json:"count"`
	WaitedNs int64  `json:"waited_ns"`
}

// A Site is the waits of one kind at one call site.
type Site struct {
	Function     string             `json:"function"`
	Place        string             `json:"place"`
	FunctionSite trace.FunctionSite `json:"-"`
	Kind         Kind               `json:"kind"`
	WaitCount    uint64             `json:"count"`
	WaitedNs     int64              `json:"waited_ns"`
	Ranks        []RankNs           `json:"ranks"`  // ranks that waited, longest time first
	Causes       []Cause            `json:"causes"` // calls in which late ranks arrived, longest wait first
	LateRanks    []RankNs           `json:"late"`   // ranks that arrived last, longest wait first
	// WaitingRankCount is the number of ranks that waited. Ranks lists all of them unless the analysis ran at the end of a
	// run.
	WaitingRankCount int `json:"waiting"`
	// LateRankCount is the number of late ranks. LateRanks lists all of them unless the analysis ran at the end of a
	// run.
	LateRankCount    int `json:"awaited"`
	RanksOmitted     int `json:"ranks_left_out"` // number of ranks missing in Ranks
	LateRanksOmitted int `json:"late_left_out"`  // number of ranks missing in LateRanks
}

// MainLateRank is the rank with more than half of the waiting time due to it; -1: none.
func (s *Site) MainLateRank() int {
	if len(s.LateRanks) > 0 && 2*s.LateRanks[0].WaitNs > s.WaitedNs {
		return s.LateRanks[0].Rank
	}
	return -1
}

// LateComputeShare is the share of the waiting time in which late ranks computed. known is false if no cause is known.
func (s *Site) LateComputeShare() (share float64, known bool) {
	var waited, compute int64
	for _, c := range s.Causes {
		waited, compute = waited+c.WaitedNs, compute+c.LateComputeNs
	}
	return float64(compute) / float64(max(1, waited)), waited > 0
}

// A Cause is a call at which ranks arrived late.
type Cause struct {
	Function      string `json:"function"`
	Place         string `json:"place"`
	WaitedNs      int64  `json:"waited_ns"`
	LateComputeNs int64  `json:"compute_ns"` // part of WaitedNs during which the late rank was outside of MPI
}

// A RankNs is a rank with the time that it waited, or that others waited for it.
type RankNs struct {
	Rank   int   `json:"rank"`
	WaitNs int64 `json:"waited_ns"`
}

// A RankSum is the time that a rank waited, and the time that others waited for it.
type RankSum struct {
	Rank         int   `json:"rank"`
	ThreadRunNs  int64 `json:"run_ns"`
	MPINs        int64 `json:"mpi_ns"`
	WaitedNs     int64 `json:"waited_ns"`
	CausedWaitNs int64 `json:"caused_ns"`
}

// UnanalysedFunction is the time in a function that the analysis doesn't interpret.
type UnanalysedFunction struct {
	Function string `json:"function"`
	CallNs   int64  `json:"ns"`
}

// report makes the report from the sums of all ranks.
func (s *sums) report(ranks int, x *Places, called func(function string, s trace.Site) string) *Report {
	rep := &Report{
		Ranks: ranks, AnalysedShare: 1, MaxThreads: s.threads, Messages: s.Messages, BackwardMessages: s.Backwards, ClockErrorNs: s.OffNs, Omissions: s.losses.List(),
		Kinds: []KindSum{}, Sites: []Site{}, ByRank: []RankSum{}, UnanalysedFunctions: []UnanalysedFunction{},
	}
	name := func(p callSite) (function, text string) {
		at := x.at(p)
		return at.Function, called(at.Function, at.Site)
	}
	var sums [kinds]KindSum
	for _, key := range slices.SortedFunc(maps.Keys(s.rows), func(x, y rowKey) int {
		return cmp.Or(cmp.Compare(s.rows[y].waited, s.rows[x].waited), x.compare(y))
	}) {
		r := s.rows[key]
		if r.count == 0 {
			continue
		}
		sums[key.kind].Count += r.count
		sums[key.kind].WaitedNs += r.waited
		site := Site{Kind: key.kind, WaitCount: r.count, WaitedNs: r.waited, Ranks: most(r.ranks), LateRanks: most(r.late)}
		site.WaitingRankCount, site.LateRankCount = len(site.Ranks), len(site.LateRanks)
		site.Function, site.Place = name(key.place)
		site.FunctionSite = x.at(key.place)
		for _, at := range sorted(r.causes) {
			c := r.causes[at]
			if c.waited <= 0 {
				continue
			}
			x := Cause{WaitedNs: c.waited, LateComputeNs: c.compute}
			x.Function, x.Place = name(at)
			site.Causes = append(site.Causes, x)
		}
		slices.SortStableFunc(site.Causes, func(x, y Cause) int { return cmp.Compare(y.WaitedNs, x.WaitedNs) })
		rep.Sites = append(rep.Sites, site)
	}
	rep.addKinds(sums[:])
	for _, r := range s.ranks {
		r.CausedWaitNs = s.caused[int32(r.Rank)]
		rep.ByRank = append(rep.ByRank, r)
		rep.ThreadRunNs += r.ThreadRunNs
		rep.MPINs += r.MPINs
	}
	for _, f := range sorted(s.Other) {
		rep.UnanalysedFunctions = append(rep.UnanalysedFunctions, UnanalysedFunction{f, s.Other[f]})
	}
	slices.SortStableFunc(rep.UnanalysedFunctions, func(x, y UnanalysedFunction) int { return cmp.Compare(y.CallNs, x.CallNs) })
	return rep
}

// EachSite yields each call site's waiting time; sites occur once for each kind.
func (rep *Report) EachSite(yield func(at trace.FunctionSite, ns int64) bool) {
	for i := range rep.Sites {
		if !yield(rep.Sites[i].FunctionSite, rep.Sites[i].WaitedNs) {
			return
		}
	}
}

// RestrictTo keeps only the waits of some ranks: their call sites and times. Causes, late ranks and numbers of waits
// remain those of all ranks that waited at these sites.
func (rep *Report) RestrictTo(ranks []int) {
	chosen := func(rank int) bool { return slices.Contains(ranks, rank) }
	rep.OnlyRanks, rep.Ranks, rep.ThreadRunNs, rep.MPINs, rep.WaitedNs, rep.Kinds = ranks, 0, 0, 0, 0, []KindSum{}
	rep.ByRank = slices.DeleteFunc(rep.ByRank, func(r RankSum) bool { return !chosen(r.Rank) })
	for _, r := range rep.ByRank {
		rep.Ranks, rep.ThreadRunNs, rep.MPINs = rep.Ranks+1, rep.ThreadRunNs+r.ThreadRunNs, rep.MPINs+r.MPINs
	}
	var sums [kinds]KindSum
	for i := range rep.Sites {
		s := &rep.Sites[i]
		s.Ranks = slices.DeleteFunc(s.Ranks, func(r RankNs) bool { return !chosen(r.Rank) })
		s.WaitedNs, s.WaitingRankCount = 0, len(s.Ranks)
		for _, r := range s.Ranks {
			s.WaitedNs += r.WaitNs
		}
		if s.WaitingRankCount > 0 {
			sums[s.Kind].Count += s.WaitCount
			sums[s.Kind].WaitedNs += s.WaitedNs
		}
	}
	rep.Sites = slices.DeleteFunc(rep.Sites, func(s Site) bool { return s.WaitingRankCount == 0 })
	slices.SortStableFunc(rep.Sites, func(x, y Site) int { return cmp.Compare(y.WaitedNs, x.WaitedNs) })
	rep.addKinds(sums[:])
}

// MergeSites merges call sites whose function and place have equal names. They differ in their callers, or the compiler
// copied the call.
func (rep *Report) MergeSites() {
	type key struct {
		function, place string
		kind            Kind
	}
	at, list := make(map[key]int), rep.Sites[:0]
	for _, s := range rep.Sites {
		k := key{s.Function, s.Place, s.Kind}
		i, known := at[k]
		if !known {
			at[k] = len(list)
			causes := s.Causes
			s.Causes = nil
			s.add(causes)
			list = append(list, s)
			continue
		}
		into := &list[i]
		into.WaitCount += s.WaitCount
		into.WaitedNs += s.WaitedNs
		into.Ranks, into.LateRanks = united(into.Ranks, s.Ranks), united(into.LateRanks, s.LateRanks)
		into.WaitingRankCount, into.LateRankCount = max(into.WaitingRankCount, s.WaitingRankCount, len(into.Ranks)), max(into.LateRankCount, s.LateRankCount, len(into.LateRanks))
		into.add(s.Causes)
	}
	rep.Sites = list
	slices.SortStableFunc(rep.Sites, func(x, y Site) int { return cmp.Compare(y.WaitedNs, x.WaitedNs) })
	if rep.Path != nil {
		rep.Path.unite()
	}
}

// add adds causes, and merges those with equal names.
func (s *Site) add(list []Cause) {
	for _, c := range list {
		j := slices.IndexFunc(s.Causes, func(x Cause) bool { return x.Function == c.Function && x.Place == c.Place })
		if j < 0 {
			s.Causes = append(s.Causes, c)
			continue
		}
		s.Causes[j].WaitedNs += c.WaitedNs
		s.Causes[j].LateComputeNs += c.LateComputeNs
	}
	slices.SortStableFunc(s.Causes, func(x, y Cause) int { return cmp.Compare(y.WaitedNs, x.WaitedNs) })
}

// united adds up the times of two lists by rank.
func united(a, b []RankNs) []RankNs {
	of := make(map[int32]int64)
	for _, list := range [][]RankNs{a, b} {
		for _, r := range list {
			of[int32(r.Rank)] += r.WaitNs
		}
	}
	return most(of)
}

// addKinds adds the waits of each kind to the report. The index in sums is the kind.
func (rep *Report) addKinds(sums []KindSum) {
	for k, s := range sums {
		if s.Count > 0 {
			s.Kind = Kind(k)
			rep.Kinds = append(rep.Kinds, s)
			rep.WaitedNs += s.WaitedNs
		}
	}
	slices.SortStableFunc(rep.Kinds, func(x, y KindSum) int { return cmp.Compare(y.WaitedNs, x.WaitedNs) })
}

// most lists the ranks of a map, with their times, longest first, without zeros.
func most(of map[int32]int64) []RankNs {
	list := []RankNs{}
	for _, rank := range slices.Sorted(maps.Keys(of)) {
		if of[rank] > 0 {
			list = append(list, RankNs{int(rank), of[rank]})
		}
	}
	slices.SortStableFunc(list, func(x, y RankNs) int { return cmp.Compare(y.WaitNs, x.WaitNs) })
	return list
}
