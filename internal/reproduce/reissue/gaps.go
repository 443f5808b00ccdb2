package reissue

// LeafGaps are a rank's gaps before the calls at one place of the program's structure, for tools that make the calls
// again.
//
// A trace's statistics and histograms are over all ranks of a class. The trace also has statistics by place, and each
// rank's total computation; together they give the rank's computation at the place. If a trace has the times of each
// call, they are the rank's own.

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A LeafGaps is the mean times, in nanoseconds, before and in the calls at one place of the structure on one rank.
type LeafGaps struct {
	Calls, Entries         uint64    // all calls at the place; those of them by which a loop is entered
	MeanGapNs              float64   // mean gap before each call that enters no loop
	MeanEntryGapNs         float64   // mean gap before each call that enters a loop
	MeanEntryGapsNsByLoops []float64 // by number of loops that a call enters, less 1: the gap before it; nil if not known
	MeanDurationNs         float64

	// IsTerminalMean means that the trace has no times of the place, only of all calls of the terminal. RankFactor is the
	// factor from means of the class to this rank's times.
	IsTerminalMean bool
	RankFactor     float64
}

// TotalGapNs is the sum, in ns, of the gaps before all calls at the place.
func (l *LeafGaps) TotalGapNs() float64 {
	return l.MeanGapNs*float64(l.Calls-l.Entries) + l.MeanEntryGapNs*float64(l.Entries)
}

// LeafGapsOf returns the times at each leaf of a stream on rank k. They are means of the rank's own calls if own is
// true, else estimates from its class's. leaves are of the rank, or of another rank of its class.
func LeafGapsOf(r *trace.Reader, k *trace.Rank, leaves *trace.Leaves) (list []LeafGaps, own bool, err error) {
	return NewLeafGapsCache(r).LeafGapsOf(k, leaves)
}

// A LeafGapsCache caches what ranks of one class with the same leaves share.
type LeafGapsCache struct {
	r      *trace.Reader
	leaves *trace.Leaves
	times  []trace.LeafTimes // times at the leaves, set if they are the same on all ranks of the class
	stats  []trace.Times
	totals *trace.ClassTotals
	places []int
	ranks  []int
}

// NewLeafGapsCache returns an empty cache for the ranks of one class.
func NewLeafGapsCache(r *trace.Reader) *LeafGapsCache { return &LeafGapsCache{r: r} }

// timesOf returns the times at leaves on rank k, from the cache if they are the same on all ranks.
func (c *LeafGapsCache) timesOf(k *trace.Rank, leaves *trace.Leaves) ([]trace.LeafTimes, error) {
	if c.times != nil && c.leaves == leaves {
		return c.times, nil
	}
	times, _, err := leaves.Times(k)
	if err != nil {
		return nil, err
	}
	if c.stats == nil {
		if c.stats, err = k.ClassTimes(); err != nil {
			return nil, err
		}
		c.ranks = c.r.Members(k.Class())
	}
	own, err := k.HasTimeOfEachCall()
	if err != nil {
		return nil, err
	}
	if k.ClassHasEqualCounts() && !own {
		c.times, c.leaves = times, leaves
	}
	return times, nil
}

// LeafGapsOf does what the package's function LeafGapsOf does, with the cache.
func (c *LeafGapsCache) LeafGapsOf(k *trace.Rank, leaves *trace.Leaves) (list []LeafGaps, own bool, err error) {
	times, err := c.timesOf(k, leaves)
	if err != nil {
		return nil, false, err
	}
	list = make([]LeafGaps, len(times))
	var gaps, durations float64
	for i := range times {
		t := &times[i]
		gaps += t.SumGapNs
		durations += t.SumDurationNs
		x := &list[i]
		x.Calls, x.Entries, x.RankFactor = t.Calls, min(t.Entries, t.Calls), 1
		if t.Calls > 0 {
			x.MeanDurationNs = t.SumDurationNs / float64(t.Calls)
		}
		if rest := t.Calls - x.Entries; rest > 0 {
			x.MeanGapNs = max(0, t.SumGapNs-t.SumEntryGapNs) / float64(rest)
		}
		if x.Entries > 0 {
			x.MeanEntryGapNs = t.SumEntryGapNs / float64(x.Entries)
		}
		for loops := range len(t.OuterEntries) + 1 {
			if len(t.OuterEntries) > 0 {
				x.MeanEntryGapsNsByLoops = append(x.MeanEntryGapsNsByLoops, t.MeanGapEntering(loops+1))
			}
		}
		mean := c.stats[leaves.Terminal(i)].Gap.Mean()
		x.IsTerminalMean = x.Entries == 0 && math.Abs(x.MeanGapNs-mean) <= 1e-6*mean
	}
	if own, err = k.HasTimeOfEachCall(); err != nil || own {
		return list, own, err
	}
	f, d, err := c.factors(k, leaves, list, gaps, durations)
	if err != nil {
		return nil, false, err
	}
	for i := range list {
		x := &list[i]
		g, t := f[0], d[0]
		if len(f) > 1 {
			g, t = f[leaves.Terminal(i)], d[leaves.Terminal(i)]
		}
		x.MeanGapNs, x.MeanEntryGapNs, x.MeanDurationNs, x.RankFactor = x.MeanGapNs*g, x.MeanEntryGapNs*g, x.MeanDurationNs*t, g
		for k := range x.MeanEntryGapsNsByLoops {
			x.MeanEntryGapsNsByLoops[k] *= g
		}
	}
	return list, false, nil
}

// factors returns the factors from means of a class to rank k's gaps and durations. The products sum up to the rank's
// computation and time in MPI. There is one factor for all leaves, or one for each terminal if the trace has sums by
// call site.
func (c *LeafGapsCache) factors(k *trace.Rank, leaves *trace.Leaves, list []LeafGaps, gaps, durations float64) (gap, duration []float64, err error) {
	alike := len(c.ranks)
	if alike == 1 || k.Streams() > 1 {
		// A class of one rank has that rank's times. If ranks have several threads, their sums are over all threads,
		// which says nothing of one stream.
		return []float64{1}, []float64{1}, nil
	}
	if c.totals == nil {
		if c.totals, err = c.r.Totals(k.Class()); err != nil {
			return nil, nil, err
		}
		if c.places, err = c.r.TerminalFunctionSites(k.Class()); err != nil {
			return nil, nil, err
		}
	}
	at, _ := slices.BinarySearch(c.ranks, k.Number())
	known := c.totals.ForMember(at)
	if known.Gap.IsOfRank() && known.Duration.IsOfRank() {
		gap = bySite(known, c.places, leaves, list, known.Gap.Ns, (*LeafGaps).TotalGapNs, func(s *trace.SiteTotals) float64 { return s.Gap.Ns })
		duration = bySite(known, c.places, leaves, list, known.Duration.Ns, (*LeafGaps).spent, func(s *trace.SiteTotals) float64 { return s.Duration.Ns })
		return gap, duration, nil
	}
	p, err := k.Process()
	if err != nil {
		return nil, nil, err
	}
	off := func(ns int64) float64 { return float64(trace.ProcessRoundingErrorNs(ns, c.r.Ranks())) }
	duration = []float64{gapFactor(float64(p.AllThreadsMPINs), off(p.AllThreadsMPINs), durations, float64(alike))}
	gap = []float64{gapFactor(float64(p.FirstThreadNs-p.AllThreadsMPINs), off(p.AllThreadsMPINs)+off(p.FirstThreadNs), gaps, float64(alike))}
	return gap, duration, nil
}

func (l *LeafGaps) spent() float64 { return l.MeanDurationNs * float64(l.Calls) }

// bySite returns, by terminal, the factors from the leaves' sums to those of the terminal's call site in known. They
// are scaled so that all sites together have total, in ns. of returns the sum of a leaf, site that of a site.
func bySite(known *trace.Totals, places []int, leaves *trace.Leaves, list []LeafGaps, total float64,
	of func(*LeafGaps) float64, site func(*trace.SiteTotals) float64) []float64 {
	want, have := make(map[int]float64), make(map[int]float64)
	for i := range known.Sites {
		s := &known.Sites[i]
		want[places[s.FirstTerminal]] += site(s)
	}
	for i := range list {
		have[places[leaves.Terminal(i)]] += of(&list[i])
	}
	sum := 0.0
	for place, ns := range have {
		if ns > 0 {
			sum += want[place]
		}
	}
	f := make([]float64, len(places))
	for t, place := range places {
		if f[t] = 1; have[place] > 0 && sum > 0 {
			f[t] = want[place] / have[place] * (total / sum)
		}
	}
	return f
}

// fine is the largest relative error of a known sum that gapFactor takes as exact.
const fine = 0.01

// gapFactor returns the factor from sum, which follows from means of a class, to the rank's known sum. All are in ns,
// and known may be wrong by off. alike is the number of ranks in the class. No rank has more than all of them
// together, so a larger known is ignored: the factor is 1.
func gapFactor(known, off, sum, alike float64) float64 {
	switch {
	case sum <= 0 || known-off > alike*sum*1.001:
		return 1
	case off <= fine*known:
		return known / sum
	}
	return min(max(sum, known-off), max(known+off, 0)) / sum
}
