package efficiency

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace"
)

// A CallTimeDistribution is the distribution of the times of all ranks' single calls: the histogram of Ratn et al.,
// Preserving Time in Large-Scale Communication Traces, section 5.7.
type CallTimeDistribution struct {
	Calls        uint64          `json:"calls"`
	MeanNs       float64         `json:"mean_ns"`
	Min          Extreme         `json:"least"`
	Max          Extreme         `json:"most"`
	LogHistogram []uint64        `json:"steps"` // number of calls in 16 intervals from Min to Max, equal in the logarithm
	Bins         []CallTimeBin   `json:"bins"`
	Groups       []CallTimeGroup `json:"groups,omitempty"` // the two groups that the calls form; nil: they form none
}

// A CallTimeBin is a bin of a histogram: the number of calls with similar times, their extremes, and the ranks that had
// these.
type CallTimeBin struct {
	Calls  uint64  `json:"calls"`
	MeanNs float64 `json:"mean_ns"`
	Min    Extreme `json:"least"`
	Max    Extreme `json:"most"`
}

// A CallTimeGroup is one of the two groups of calls that a CallTimeDistribution has.
type CallTimeGroup struct {
	Calls  uint64  `json:"calls"`
	MeanNs float64 `json:"mean_ns"`
	Min    Extreme `json:"least"`
	Max    Extreme `json:"most"`
}

// ownBins is the number of bins of a histogram made from a trace that has a time for each call.
const ownBins = 24

// fewestCalls is the least share of the calls that a group has: fewer calls are outliers.
const fewestCalls = 0.03

// sampleOf returns the distribution that a histogram has; nil if that is of fewer than two calls. hosts returns the
// host of a rank.
func sampleOf(h *hist.Hist, hosts func(int) string) *CallTimeDistribution {
	if h == nil || h.Count() < 2 {
		return nil
	}
	extreme := func(ns uint64, rank int32) Extreme {
		x := Extreme{Ns: float64(ns), Rank: int(rank)}
		if rank >= 0 {
			x.Host = hosts(int(rank))
		}
		return x
	}
	all := h.Total()
	s := &CallTimeDistribution{Calls: all.Count, MeanNs: all.Mean, Min: extreme(all.Min, all.MinRank), Max: extreme(all.Max, all.MaxRank)}
	var parts []rankGroup
	for _, b := range h.Bins() {
		s.Bins = append(s.Bins, CallTimeBin{b.Count, b.Mean, extreme(b.Min, b.MinRank), extreme(b.Max, b.MaxRank)})
		parts = append(parts, rankGroup{
			ranks: int(b.Count), mean: b.Mean, deviation: math.Sqrt(b.Variance()),
			least: rankNs{float64(b.Min), int(b.MinRank)}, most: rankNs{float64(b.Max), int(b.MaxRank)},
		})
	}
	if two := groups(parts); two != nil && float64(min(two[0].Ranks, two[1].Ranks)) >= fewestCalls*float64(s.Calls) {
		at := 0
		for _, g := range two {
			x := CallTimeGroup{Calls: uint64(g.Ranks), MeanNs: g.MeanNs}
			for n := 0; n < g.Ranks; at++ {
				b := &s.Bins[at]
				if n == 0 {
					x.Min = b.Min
				}
				x.Max = b.Max
				n += int(b.Calls)
			}
			s.Groups = append(s.Groups, x)
		}
	}
	s.LogHistogram = steps(h, all)
	return s
}

// steps returns how many calls of histogram h are in each of bins intervals that have equal widths in the logarithm.
// all is the bin that h's bins make together.
func steps(h *hist.Hist, all hist.Bin) []uint64 {
	low, high := math.Max(float64(all.Min), 1), float64(all.Max)
	if high <= low {
		return nil
	}
	list := make([]uint64, bins)
	before := uint64(0)
	for i := range list {
		upto := all.Count
		if i < bins-1 {
			share := h.ShareBelow(low * math.Pow(high/low, float64(i+1)/bins))
			upto = max(before, min(all.Count, uint64(share*float64(all.Count)+0.5)))
		}
		list[i] = upto - before
		before = upto
	}
	return list
}

// merged adds histogram h to sum and returns sum. Either may be nil: an empty histogram. It doesn't change h.
func merged(sum, h *hist.Hist) *hist.Hist {
	switch {
	case h == nil:
		return sum
	case sum == nil:
		return h.Clone()
	}
	sum.Merge(h)
	return sum
}

// parts splits a class's ranks into smaller groups as far as the spread of their total times shows them. Of up to three
// ranks, each total follows from mean and extremes. Of more, nearly all totals are at the extremes if the variance is
// near the largest that the extremes allow (Bhatia and Davis). Then there are two groups, whose sizes follow from the
// mean.
func (p rankGroup) parts(totals trace.Spread, members []int) []rankGroup {
	n := p.ranks
	if n < 2 || totals.Ranks != n || p.most.ns <= p.least.ns {
		return []rankGroup{p}
	}
	if n <= 3 {
		// The trace has the extremes as distances from the mean, rounded to six significant bits.
		off := trace.MaxRelativeSumError * p.mean
		low, high := off+(p.mean-p.least.ns)/64, off+(p.most.ns-p.mean)/64
		list := []rankGroup{single(p.least.ns, p.least.rank), single(p.most.ns, p.most.rank)}
		list[0].within, list[1].within = low, high
		for _, rank := range members {
			if n == 3 && rank != p.least.rank && rank != p.most.rank {
				third := single(max(p.least.ns, min(p.most.ns, 3*p.mean-p.least.ns-p.most.ns)), rank)
				third.within = off + low + high
				list = append(list, third)
			}
		}
		return list
	}
	above, below := p.most.ns-p.mean, p.mean-p.least.ns
	if square(p.deviation) < explained*above*below {
		return []rankGroup{p}
	}
	high := int(math.Round(float64(n) * below / (above + below)))
	high = max(1, min(n-1, high))
	low := n - high
	a := rankGroup{ranks: low, mean: p.mean - p.deviation*math.Sqrt(float64(high)/float64(low)), least: p.least}
	b := rankGroup{ranks: high, mean: p.mean + p.deviation*math.Sqrt(float64(low)/float64(high)), most: p.most}
	a.mean, b.mean = max(a.mean, p.least.ns), min(b.mean, p.most.ns)
	a.most, b.least = rankNs{a.mean, p.least.rank}, rankNs{b.mean, p.most.rank}
	a.lone, b.lone, a.known, b.known = true, true, p.least.rank, p.most.rank
	return []rankGroup{a, b}
}
