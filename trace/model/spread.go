package model

import "math"

// A Spread measures how unevenly a time is distributed over ranks. Its samples are the ranks' totals in nanoseconds,
// one for each rank. The zero value has no ranks.
type Spread struct {
	Ranks            int
	Sum              uint64 // sum of the totals; Min and Max are their extremes
	Min, Max         uint64
	MinRank, MaxRank int32   // the lowest rank whose total is Min, and the lowest whose total is Max
	Squares          Uint128 // sum of the totals' squares
}

// SpreadOf returns the Spread of one rank, from its total in nanoseconds.
func SpreadOf(total uint64, rank int) Spread {
	var s Stat
	s.Add(total)
	return fromStat(s.OfRank(rank))
}

func (s Spread) stat() Stat {
	return Stat{uint64(s.Ranks), s.Sum, s.Min, s.Max, s.Squares, s.MinRank, s.MaxRank}
}

func fromStat(s Stat) Spread {
	return Spread{int(s.Count), s.Sum, s.Min, s.Max, s.MinRank, s.MaxRank, s.Squares}
}

// Merge adds t, the Spread of other ranks.
func (s *Spread) Merge(t Spread) {
	a := s.stat()
	a.Merge(t.stat())
	*s = fromStat(a)
}

// SetDeviation sets Squares so that the standard deviation of the totals is about d ns.
func (s *Spread) SetDeviation(d float64) { s.Squares = squares(uint64(s.Ranks), s.Sum, d*d) }

// Mean returns the average total in nanoseconds, 0 without ranks.
func (s Spread) Mean() float64 { return s.stat().Mean() }

// Deviation returns the standard deviation of the totals in nanoseconds.
func (s Spread) Deviation() float64 { return s.stat().Deviation() }

// Imbalance returns (max − mean) / max of the totals: the fraction of the slowest rank's time by which the ranks are
// faster on average. 0 is perfect balance.
func (s Spread) Imbalance() float64 {
	if s.Max == 0 {
		return 0
	}
	return math.Max(0, 1-s.Mean()/float64(s.Max))
}

// Times summarises the calls of one terminal over all ranks of its class.
type Times struct {
	Duration, Gap Stat

	// The distributions, over the ranks of the class, of each rank's total duration and total gap in all calls of the
	// terminal's function and site. Of the terminals with that function and site, the first one has them. Those of the
	// others have no ranks.
	SiteDurationTotals, SiteGapTotals Spread
}

// NoPreviousFunctionSite is the value of Histogram.PreviousFunctionSite for a thread's first call. Other values number places.
const NoPreviousFunctionSite = -1
