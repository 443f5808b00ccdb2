package model

import "math"

// A Spread measures how unevenly a sum is distributed over ranks, from each rank's total. The zero value has no
// ranks.
type Spread struct {
	Ranks            int
	Sum              uint64 // of the totals
	Min, Max         uint64
	MinRank, MaxRank int32   // the lowest ranks that have Min and Max
	Squares          Uint128 // sum of the totals' squares
}

// SpreadOf is the spread of a single rank's total.
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

// Merge adds the totals of other ranks.
func (s *Spread) Merge(t Spread) {
	a := s.stat()
	a.Merge(t.stat())
	*s = fromStat(a)
}

// SetDeviation sets the squares so that the deviation is about d.
func (s *Spread) SetDeviation(d float64) { s.Squares = squares(uint64(s.Ranks), s.Sum, d*d) }

// Mean is the average total in nanoseconds, 0 without ranks.
func (s Spread) Mean() float64 { return s.stat().Mean() }

// Deviation is the standard deviation of the totals in nanoseconds.
func (s Spread) Deviation() float64 { return s.stat().Deviation() }

// Imbalance is (max − mean) / max over the totals: the share of the slowest rank's time that the others do not need
// on average. 0 is perfect balance.
func (s Spread) Imbalance() float64 {
	if s.Max == 0 {
		return 0
	}
	return math.Max(0, 1-s.Mean()/float64(s.Max))
}

// Times summarises the calls of one terminal over all ranks of its class.
type Times struct {
	Duration, Gap Stat

	// Distribution of the sums over the ranks of the class, for all calls of the function from the same site
	// together. The first of their terminals has these Spreads, those of the other terminals have no ranks.
	DurationTotals, GapTotals Spread
}

// NoPreviousPlace is the value of Histogram.PreviousPlace for a thread's first call; other values are places.
const NoPreviousPlace = -1
