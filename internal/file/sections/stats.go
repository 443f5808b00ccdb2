package sections

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/trace/model"
)

// The times of a class in a file. All are rounded. Means keep FineMantissaBits bits after the leading one, so that their sums
// over the pools of a class stay equal. Extremes and deviations keep CoarseMantissaBits, or FineMantissaBits if each rank has one time.
// They are written as differences of their numbers to that of the mean, which are small whatever the unit of the times.
//
// Each pool has a mean of its own. Extremes and the deviation are of a row: all pools of a call site, and if
// other classes refer to this one, theirs as well.
//
//	times = base uvarint, stats of durations, stats of gaps,
//	        if the class has more than one rank: spreads of durations, spreads of gaps
//	stats = per pool: (count - calls) varint,
//	        per pool with count > 0: high bits of mean, then per such pool: its low 7 bits uint8;
//	        per row that has them: (mean - min); then per such row: (max - mean), (max - deviation),
//	        rank of min uvarint, rank of max uvarint
//	spreads = per group that is one pool with as many times as there are ranks: apart uint8,
//	        then per group, unless that is 0: (mean - (max - mean));
//	        of two ranks: rank of max uvarint,
//	        else ((max - mean) - (mean - min)); ((max - mean) - deviation); rank of max uvarint; rank of min uvarint
//
// With a base of 0 or 1 numbers are absolute; 1 says that other classes refer to them: high bits of mean are a uint8,
// or 255 and a uvarint if larger, the others uvarint, those of spreads varint. Else it is 2 + the number of another
// class. Means and spreads are then differences to those of the pool or group with the same signature there, as varint,
// means without their low bits apart; missing pools count as without deviation. That class has base 1, so that two
// pieces are all that is read for one.
//
// apart is 0 where the extremes of the ranks' totals are those of the pool's times. Sums are counts times means.
const (
	CoarseMantissaBits = 5
	commonBits         = 6 // bits of extremes that several classes share: finer, as each class's total has to agree with them
	FineMantissaBits   = 10
	meanParts          = 64 // means are counted in units of 1/64 ns
	lowBits            = 7
)

// MaxRelativeSumError is the largest relative error of the sum in a Stat or a Spread that was read from a file. It comes from
// rounding the mean. The error of the sum over all calls of a class is smaller.
const MaxRelativeSumError = 1.0 / (1 << FineMantissaBits)

// A statCode is what a file has about the times of one pool alone: their number (also as count - calls) and the code of
// their mean.
type statCode struct {
	count   uint64
	missing int64
	mean    int
}

// TimeCodes are the times of a class as their numbers in a file.
type TimeCodes struct {
	PoolCodes [2][]statCode
	extremes  [2][]extremeCode // by row: its extremes, rounded
	spreads   [2][]spreadCode
	rows      [2][]callRow // by row: sums over its pools
	// The following fields are set only for classes to whose times other classes refer.
	byKey  map[PoolKey]int
	byRow  map[any]int
	bySite map[any]int
	means  [2][]int
	common [2][]SiteExtremes // by row: its extremes over all classes that refer to this one, and this one
}

func newTimeCodes(p *ClassPools) *TimeCodes {
	c := &TimeCodes{}
	for k := range c.PoolCodes {
		c.PoolCodes[k] = make([]statCode, len(p.Calls))
		c.extremes[k] = make([]extremeCode, p.ExtremesRowCount)
		if p.Ranks > 1 {
			c.spreads[k] = make([]spreadCode, len(p.OnlyPoolOfGroup))
		}
	}
	return c
}

// Encode rounds the times of a class that no other class refers to. index has the index in the class of each rank; nil
// if the class has only one rank.
func (p *ClassPools) Encode(index map[int32]uint64) *TimeCodes {
	c := newTimeCodes(p)
	for k, stats := range p.Stats {
		p.roundMeans(c.PoolCodes[k], stats)
		c.rows[k] = p.rowsOf(c.PoolCodes[k])
		p.exact[k] = p.SiteExtremes(stats)
		for i := range p.exact[k] {
			c.extremes[k][i] = p.extremeCode(&c.rows[k][i], &p.exact[k][i], false, index)
		}
		if p.Ranks < 2 {
			continue
		}
		own := p.decodeStats(c, k, nil, func(int) int32 { return 0 })
		for i := range p.spreads[k] {
			c.spreads[k][i] = p.spread(i, &p.spreads[k][i], stats, own, index)
		}
	}
	return c
}

// roundMeans rounds the means of the pools, those with the largest sums first. What rounding takes from one sum, it
// adds to the next, as far as the mean of the next moves by at most one step of rounding.
func (p *ClassPools) roundMeans(codes []statCode, stats []model.Stat) {
	order := make([]int, len(stats))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(stats[b].Sum, stats[a].Sum) })
	lost := 0.0
	for _, i := range order {
		s, x := &stats[i], &codes[i]
		x.count, x.missing = s.Count, int64(s.Count-p.Calls[i])
		if s.Count == 0 {
			continue
		}
		n := float64(s.Count)
		own := s.Mean() * meanParts
		x.mean = RoundToFloatCode(own+lost/n*meanParts, FineMantissaBits)
		nearest := RoundToFloatCode(own, FineMantissaBits)
		switch low := unrounded(nearest, FineMantissaBits); {
		case low == own:
			x.mean = nearest // it is exact: readers would notice a corrected value
		case low > own:
			x.mean = min(max(x.mean, nearest-1), nearest)
		default:
			x.mean = min(max(x.mean, nearest), nearest+1)
		}
		lost += float64(s.Sum) - x.MeanNs()*n
	}
}

// MeanNs is the mean of the pool's times in ns, as a reader decodes it.
func (x *statCode) MeanNs() float64 { return unrounded(x.mean, FineMantissaBits) / meanParts }

// sum returns the sum of the pool's times in ns, as a reader decodes it.
func (x *statCode) sum() uint64 { return whole(x.MeanNs()*float64(x.count) + 0.5) }

func whole(f float64) uint64 { return uint64(math.Min(f, 1<<64-1<<12)) }

// stat returns the summary of a pool as a reader decodes it. r and e are the pool's row and the extremes of this row.
func (x *statCode) stat(r *callRow, e *SiteExtremes) (s model.Stat) {
	if s.Count = x.count; s.Count == 0 {
		return s
	}
	mean := x.MeanNs()
	s.Sum = x.sum()
	s.MinRank, s.MaxRank = e.MinRank, e.MaxRank
	dev := 0.0
	switch least, most := whole(math.Floor(mean)), whole(math.Ceil(mean)); {
	case s.Count == 1:
		s.Min, s.Max = s.Sum, s.Sum
	case r.two() && !e.common: // the maximum and the deviation follow from mean and minimum
		s.Min = min(least, e.Min)
		s.Max = max(most, s.Sum-min(s.Min, s.Sum))
		dev = float64(s.Max-s.Min) / 2
	default:
		s.Min, s.Max = min(least, e.Min), max(most, e.Max)
		// Times deviate most if each is one of the extremes, half of them each: by half the range.
		dev = min(e.DeviationFromPoolMeans, float64(s.Max-s.Min)/2)
	}
	s.SetDeviation(dev)
	return s
}

// decodeStats returns the summaries of the pools, of durations for k = 0 and of gaps for 1. base is the class that this
// one refers to, if any.
func (p *ClassPools) decodeStats(c *TimeCodes, k int, base *TimeCodes, member func(i int) int32) []model.Stat {
	read := p.read(c, k, base, member)
	stats := make([]model.Stat, len(c.PoolCodes[k]))
	for i := range stats {
		stats[i] = c.PoolCodes[k][i].stat(&c.rows[k][p.ExtremesRowOfPool[i]], &read[p.ExtremesRowOfPool[i]])
	}
	return stats
}

// sums returns, by group, the sum of the times of its calls in ns, as a reader decodes it.
func (p *ClassPools) sums(codes []statCode) []uint64 {
	sums := make([]uint64, len(p.OnlyPoolOfGroup))
	for i := range codes {
		if codes[i].count > 0 {
			sums[p.GroupOfPool[i]] += codes[i].sum()
		}
	}
	return sums
}

// means returns, by group, the code of the mean over the ranks of the total time in the group's calls.
func (p *ClassPools) means(codes []statCode) []int {
	sums := make([]float64, len(p.OnlyPoolOfGroup))
	for i := range codes {
		// The conversion keeps compilers from fusing product and sum, so that all machines round equally.
		sums[p.GroupOfPool[i]] += float64(codes[i].MeanNs() * float64(codes[i].count))
	}
	list := make([]int, len(sums))
	for i, s := range sums {
		list[i] = RoundToFloatCode(s/float64(p.Ranks), CoarseMantissaBits)
	}
	return list
}

// CheckStat returns an error if s cannot be a summary of times of this many calls. It may have fewer times: a call that
// was unfinished when the process died has no duration, and a thread's first call has no gap.
func CheckStat(s model.Stat, calls uint64) error {
	switch {
	case s.Count > calls:
		return fmt.Errorf("%d times of %d calls", s.Count, calls)
	case s.Min > s.Max:
		return fmt.Errorf("shortest time %d is longer than the longest, %d", s.Min, s.Max)
	case s.Count > 0 && s.Max < math.MaxUint32 && s.Count < math.MaxUint32/2:
		// Each time was separately rounded from ticks to nanoseconds, so the sum may be off by half a nanosecond for
		// each time.
		if s.Sum+s.Count < s.Min*s.Count || s.Sum > s.Max*s.Count+s.Count {
			return fmt.Errorf("%d times from %d to %d have the sum %d", s.Count, s.Min, s.Max, s.Sum)
		}
	}
	if d := s.Deviation(); s.Count > 0 && d > mostDeviation(s.Min, s.Max) {
		return fmt.Errorf("times from %d to %d deviate by %.0f", s.Min, s.Max, d)
	}
	return nil
}

// mostDeviation is the largest standard deviation that times with these extremes can have in a file. A set of times
// deviates most if half of them are at each extreme: by half of the range. But each step on the way to the reader
// rounds for itself:
//
//   - Ticks become nanoseconds: extremes move by half a nanosecond each, and the mean of a
//     rank by a quarter, as it is of two times at least if it isn't an extreme itself. Times
//     that are all 70 ns may so deviate by 0.75.
//   - Sums of squares are whole numbers and rounded up. That adds up to 1/n to the
//     variance of n times: 1/2 of a rank, 1 of a part that merging split off, and
//     1 when the deviation is read, and another 1 when pooled times are shared out.
//   - A deviation is written with six significant bits, or as a whole number.
func mostDeviation(least, most uint64) float64 {
	half := (float64(most-least) + 1.5) / 2
	written := math.Sqrt(half*half+0.5+1)*(1+1.0/64) + 0.5
	return math.Sqrt(written*written + 2)
}
