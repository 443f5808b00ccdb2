package sections

import (
	"math"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A callRow is the pools of one call site, which share extremes.
type callRow struct {
	count   uint64  // number of times in these pools
	mean    float64 // mean of these times, in ns
	pools   int     // number of pools with times
	repeats bool    // some pool has more than one time
}

// two reports whether the row is exactly two times, both of one pool.
func (r *callRow) two() bool { return r.pools == 1 && r.count == 2 }

func (p *ClassPools) rowsOf(codes []statCode) []callRow {
	rows := make([]callRow, p.ExtremesRowCount)
	for i := range codes {
		if x := &codes[i]; x.count > 0 {
			r := &rows[p.ExtremesRowOfPool[i]]
			r.count += x.count
			// A product of its own is not fused with the addition, so that all machines round equally.
			r.mean += float64(x.MeanNs() * float64(x.count))
			r.pools++
			r.repeats = r.repeats || x.count > 1
		}
	}
	for i := range rows {
		if rows[i].pools > 1 {
			rows[i].mean /= float64(rows[i].count)
		}
	}
	for i := range codes {
		if r := &rows[p.ExtremesRowOfPool[i]]; codes[i].count > 0 && r.pools == 1 {
			r.mean = codes[i].MeanNs()
		}
	}
	return rows
}

// SiteExtremes are the least and greatest times of a row, in ns, and the deviation of times from the means of their pools.
type SiteExtremes struct {
	Min, Max               uint64
	MinRank, MaxRank       int32 // the lowest ranks that had Min and Max
	DeviationFromPoolMeans float64
	repeated               uint64 // number of times in pools with more than one, to which the deviation refers
	Count                  uint64
	common                 bool // these are the extremes over several classes
}

// SiteExtremes returns the extremes of each row, given the statistics of each pool.
func (p *ClassPools) SiteExtremes(stats []model.Stat) []SiteExtremes {
	list := make([]SiteExtremes, p.ExtremesRowCount)
	for i := range stats {
		s := &stats[i]
		x := SiteExtremes{s.Min, s.Max, s.MinRank, s.MaxRank, 0, 0, s.Count, false}
		if s.Count > 1 {
			x.DeviationFromPoolMeans, x.repeated = s.Deviation(), s.Count
		}
		list[p.ExtremesRowOfPool[i]].Merge(&x)
	}
	return list
}

// Merge adds the extremes of other ranks or terminals to e.
func (e *SiteExtremes) Merge(x *SiteExtremes) {
	if x.Count == 0 {
		return
	}
	if e.Count == 0 {
		*e = *x
		return
	}
	if x.Min < e.Min || x.Min == e.Min && x.MinRank < e.MinRank {
		e.Min, e.MinRank = x.Min, x.MinRank
	}
	if x.Max > e.Max || x.Max == e.Max && x.MaxRank < e.MaxRank {
		e.Max, e.MaxRank = x.Max, x.MaxRank
	}
	if n := e.repeated + x.repeated; n > 0 {
		e.DeviationFromPoolMeans = math.Sqrt((e.DeviationFromPoolMeans*e.DeviationFromPoolMeans*float64(e.repeated) + x.DeviationFromPoolMeans*x.DeviationFromPoolMeans*float64(x.repeated)) / float64(n))
		e.repeated = n
	}
	e.Count += x.Count
}

// An extremeCode is the extremes of a row as encoded in a file.
type extremeCode struct {
	least, most, dev int
	minRank, maxRank int
}

// kept is which extremes of a row a file contains.
type kept struct{ least, most, minRank, maxRank bool }

// keeps returns which extremes of a row are stored. The others follow from the means.
func (p *ClassPools) keeps(r *callRow, common bool) kept {
	several := p.Ranks > 1
	switch {
	case r.count == 0:
		return kept{}
	case common:
		return kept{true, true, true, true}
	case r.pools > 1:
		return kept{r.repeats, r.repeats, several, several}
	}
	return kept{r.count > 1, r.count > 2, several, several && r.count > 1}
}

// bits returns the number of bits stored of extremes. If each rank made one call, the extremes are the times of
// single calls, so more bits are kept.
func (p *ClassPools) bits(r *callRow, common bool) int {
	switch {
	case common:
		return commonBits
	case p.Ranks > 1 && r.count == uint64(p.Ranks):
		return FineMantissaBits
	}
	return CoarseMantissaBits
}

// around returns the codes of the mean to which the extremes' codes are relative.
func (r *callRow) around(keep int, common bool) (below, above int) {
	if below = RoundToFloatCode(math.Floor(r.mean), keep); common {
		return below, roundedDown(math.Floor(r.mean), keep)
	}
	return below, RoundToFloatCode(math.Ceil(r.mean), keep)
}

// roundedDown returns the largest code whose value is at most f: totals are compared with the longest time of
// several classes.
func roundedDown(f float64, keep int) int {
	n := RoundToFloatCode(f, keep)
	if n > 0 && unrounded(n, keep) > f {
		n--
	}
	return n
}

// extremeCode rounds and encodes extremes. If common is set, e is of a site over several classes: then ranks are coded
// by their number in the run, else by their index in the class.
func (p *ClassPools) extremeCode(r *callRow, e *SiteExtremes, common bool, index map[int32]uint64) (x extremeCode) {
	has, keep := p.keeps(r, common), p.bits(r, common)
	below, above := r.around(keep, common)
	if has.least {
		x.least = max(below-RoundToFloatCode(float64(e.Min), keep), 0)
	}
	if has.most {
		most := RoundToFloatCode(float64(e.Max), keep)
		if common {
			most = roundedDown(float64(e.Max), keep)
		}
		x.most = max(most-above, 0)
		x.dev = max(above+x.most-RoundToFloatCode(e.DeviationFromPoolMeans, keep), 0)
	}
	if common {
		x.minRank, x.maxRank = int(e.MinRank), int(e.MaxRank)
		return x
	}
	if has.minRank {
		x.minRank = int(index[e.MinRank])
	}
	if has.maxRank {
		x.maxRank = int(index[e.MaxRank])
	}
	return x
}

// atMost lowers the longest time, as a reader decodes it, to at most the sum of the calls' times.
func (x *extremeCode) atMost(sum uint64, p *ClassPools, r *callRow) {
	for x.most > 0 && x.read(p, r, true, ownNumber).Max > sum {
		x.most, x.dev = x.most-1, max(x.dev-1, 0)
	}
}

// read decodes the extremes of a row. member returns the rank with an index in the class, or in the run for common
// extremes.
func (x *extremeCode) read(p *ClassPools, r *callRow, common bool, member func(i int) int32) SiteExtremes {
	has, keep := p.keeps(r, common), p.bits(r, common)
	below, above := r.around(keep, common)
	e := SiteExtremes{Min: math.MaxUint64, common: common, MinRank: member(x.minRank)}
	if e.MaxRank = e.MinRank; has.maxRank {
		e.MaxRank = member(x.maxRank)
	}
	if has.least {
		e.Min = whole(unrounded(below-x.least, keep))
	}
	if has.most {
		e.Max = whole(unrounded(above+x.most, keep))
		e.DeviationFromPoolMeans = unrounded(above+x.most-x.dev, keep)
	}
	return e
}

// read returns the extremes of the rows of a class, from the base where that has them.
func (p *ClassPools) read(c *TimeCodes, k int, base *TimeCodes, member func(i int) int32) []SiteExtremes {
	if c.common[k] != nil {
		return c.common[k]
	}
	list, sums := make([]SiteExtremes, p.ExtremesRowCount), p.sums(c.PoolCodes[k])
	for i := range list {
		if at, ok := base.commonRow(p, k, i); ok {
			list[i] = base.common[k][at]
			continue
		}
		list[i] = c.extremes[k][i].read(p, &c.rows[k][i], false, member)
		if p.Ranks == 1 { // no call is longer than the sum of the rank's calls
			list[i].Max = min(list[i].Max, sums[i])
		}
	}
	return list
}

// commonRow returns the index of the base's row whose extremes row i of a class shares; false if it shares no row's.
func (c *TimeCodes) commonRow(p *ClassPools, k, i int) (int, bool) {
	if c == nil {
		return 0, false
	}
	at, ok := c.byRow[p.rowKey(i)]
	return at, ok && c.rows[k][at].count > 0
}

// readCommon sets the extremes that other classes refer to: ranks are those of the run.
func (c *TimeCodes) readCommon(p *ClassPools) {
	for k := range c.common {
		c.common[k] = make([]SiteExtremes, p.ExtremesRowCount)
		for i := range c.common[k] {
			c.common[k][i] = c.extremes[k][i].read(p, &c.rows[k][i], true, func(i int) int32 { return int32(i) })
		}
	}
}

// ReconcileExtremes makes redundant numbers consistent: extremes of single calls are rounded otherwise than those of
// ranks' totals. No rank's total is less than its longest call; if each rank made one call, that is its total. apart
// marks the sites whose extremes include other classes': the writer compared totals with those, and of the class's own
// calls only the mean is known.
func ReconcileExtremes(times []model.Times, groups []int32, ranks int, apart [2][]bool) {
	if ranks < 2 {
		return
	}
	first, sites := SumGroups(groups, func(n int) model.Times { return times[n] })
	own := [2][]uint64{make([]uint64, len(first)), make([]uint64, len(first))}
	number := make([]int, countGroups(groups))
	for i, t := range first {
		number[groups[t]] = i
	}
	for t := range times {
		for k, s := range []*model.Stat{&times[t].Duration, &times[t].Gap} {
			at := &own[k][number[groups[t]]]
			*at = max(*at, uint64(s.Mean()))
		}
	}
	for i, t := range first {
		agreed(&sites[i].Duration, &times[t].SiteDurationTotals, apart[0] != nil && apart[0][i], own[0][i])
		agreed(&sites[i].Gap, &times[t].SiteGapTotals, apart[1] != nil && apart[1][i], own[1][i])
	}
}

func agreed(s *model.Stat, totals *model.Spread, apart bool, own uint64) {
	switch {
	case totals.Ranks == 0 || s.Count == 0:
	case apart:
		totals.Max = max(totals.Max, own)
	case s.Count == uint64(totals.Ranks) && s.Sum == totals.Sum:
		totals.Min, totals.Max, totals.MinRank, totals.MaxRank = s.Min, s.Max, s.MinRank, s.MaxRank
	case totals.Max < s.Max:
		totals.Max = s.Max
	}
}
