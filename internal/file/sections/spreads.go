package sections

import (
	"math"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A spreadCode is a model.Spread as the numbers that a file has of it.
type spreadCode struct {
	alone            bool
	most, least, dev int
	maxRank, minRank int
}

// spread rounds the totals of the ranks in the i-th group. stats are the times by pool, own the same times as a reader
// decodes them.
func (p *ClassPools) spread(i int, s *model.Spread, stats, own []model.Stat, index map[int32]uint64) (x spreadCode) {
	if p.mayBeAlone(i, stats) {
		t, read, mean := &stats[p.OnlyPoolOfGroup[i]], &own[p.OnlyPoolOfGroup[i]], s.Mean()
		// The error must be no larger than that of a separate spread, which is a part of the distance to the mean.
		near := func(got, want uint64) bool {
			return math.Abs(float64(got)-float64(want)) <= 1+math.Abs(float64(want)-mean)/(2<<CoarseMantissaBits)
		}
		x.alone = t.Min == s.Min && t.Max == s.Max && t.MinRank == s.MinRank && t.MaxRank == s.MaxRank && t.Sum == s.Sum &&
			near(read.Min, t.Min) && near(read.Max, t.Max)
		if x.alone {
			return x
		}
	}
	return p.spreadApart(s, index)
}

// spreadApart rounds the ranks' totals where they do not equal the times of single calls.
func (p *ClassPools) spreadApart(s *model.Spread, index map[int32]uint64) (x spreadCode) {
	mean := s.Mean()
	x.most = RoundToFloatCode(float64(s.Max)-mean, CoarseMantissaBits)
	x.least = RoundToFloatCode(mean-float64(s.Min), CoarseMantissaBits)
	x.dev = RoundToFloatCode(s.Deviation(), CoarseMantissaBits)
	x.maxRank, x.minRank = int(index[s.MaxRank]), int(index[s.MinRank])
	if p.Ranks == 2 {
		x.followed()
	}
	return x
}

// atLeast makes the largest total, as a reader decodes it, no less than ns, the time of a call.
func (x *spreadCode) atLeast(ns uint64, p *ClassPools, sum uint64) {
	for x.most < maxCode && float64(ns) > (model.Spread{Ranks: p.Ranks, Sum: sum}).Mean()+unrounded(x.most, CoarseMantissaBits)+0.5 {
		x.most++
	}
	if p.Ranks == 2 {
		x.followed()
	}
}

// followed sets the least total and the deviation, which follow from the largest total if there are two ranks.
func (x *spreadCode) followed() {
	x.least, x.dev, x.minRank = x.most, x.most, 1-x.maxRank
	if x.most == 0 {
		x.minRank = x.maxRank
	}
}

// mayBeAlone reports whether a group is one pool with as many times as there are ranks.
func (p *ClassPools) mayBeAlone(i int, stats []model.Stat) bool {
	return p.OnlyPoolOfGroup[i] >= 0 && stats[p.OnlyPoolOfGroup[i]].Count == uint64(p.Ranks)
}

// spreadOf returns the spread of the i-th group, decoded from x. member returns the rank of a member of the class.
func (x *spreadCode) spreadOf(p *ClassPools, i int, sum uint64, stats []model.Stat, member func(i int) int32) model.Spread {
	s := model.Spread{Ranks: p.Ranks, Sum: sum}
	if x.alone {
		t := &stats[p.OnlyPoolOfGroup[i]]
		s.Min, s.Max, s.MinRank, s.MaxRank, s.Squares = t.Min, t.Max, t.MinRank, t.MaxRank, t.Squares
		return s
	}
	s.Max = uint64(math.Min(s.Mean()+unrounded(x.most, CoarseMantissaBits)+0.5, math.MaxInt64))
	s.Min = uint64(math.Max(s.Mean()-unrounded(x.least, CoarseMantissaBits)+0.5, 0))
	s.SetDeviation(unrounded(x.dev, CoarseMantissaBits))
	s.MaxRank, s.MinRank = member(x.maxRank), member(x.minRank)
	return s
}
