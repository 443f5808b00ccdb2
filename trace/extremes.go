package trace

import "math"

// A callRow is what has extremes in common, as far as it is known before them: the pools of one call site.
type callRow struct {
	count   uint64  // of times
	mean    float64 // ns
	pools   int     // that have times
	repeats bool    // some pool has more than one
}

// two reports whether the row is two times of one pool.
func (r *callRow) two() bool { return r.pools == 1 && r.count == 2 }

func (p *pooled) rowsOf(codes []statCode) []callRow {
	rows := make([]callRow, p.rows)
	for i := range codes {
		if x := &codes[i]; x.count > 0 {
			r := &rows[p.row[i]]
			r.count += x.count
			r.mean += float64(x.meanNs() * float64(x.count)) // apart, so that all machines round alike
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
		if r := &rows[p.row[i]]; codes[i].count > 0 && r.pools == 1 {
			r.mean = codes[i].meanNs()
		}
	}
	return rows
}

// extremes are those of a row: of all of its times, and how far the times of pools are from their means.
type extremes struct {
	min, max         uint64
	minRank, maxRank int32 // the lowest ones
	deviation        float64
	repeated         uint64 // times in pools of several, which the deviation is of
	count            uint64
	common           bool // of several classes
}

// extremes returns what the stats of pools come to.
func (p *pooled) extremes(stats []Stat) []extremes {
	list := make([]extremes, p.rows)
	for i := range stats {
		s := &stats[i]
		x := extremes{s.Min, s.Max, s.MinRank, s.MaxRank, 0, 0, s.Count, false}
		if s.Count > 1 {
			x.deviation, x.repeated = s.Deviation(), s.Count
		}
		list[p.row[i]].merge(&x)
	}
	return list
}

func (e *extremes) merge(x *extremes) {
	if x.count == 0 {
		return
	}
	if e.count == 0 {
		*e = *x
		return
	}
	if x.min < e.min || x.min == e.min && x.minRank < e.minRank {
		e.min, e.minRank = x.min, x.minRank
	}
	if x.max > e.max || x.max == e.max && x.maxRank < e.maxRank {
		e.max, e.maxRank = x.max, x.maxRank
	}
	if n := e.repeated + x.repeated; n > 0 {
		e.deviation = math.Sqrt((e.deviation*e.deviation*float64(e.repeated) + x.deviation*x.deviation*float64(x.repeated)) / float64(n))
		e.repeated = n
	}
	e.count += x.count
}

// An extremeCode is the extremes of a row as their numbers in a file.
type extremeCode struct {
	least, most, dev int
	minRank, maxRank int
}

// kept is what a file has of the extremes of a row.
type kept struct{ least, most, minRank, maxRank bool }

// keeps tells what a file has of a row. The rest follows from the means.
func (p *pooled) keeps(r *callRow, common bool) kept {
	several := p.ranks > 1
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

// bits is how many bits extremes keep. Where each rank made one call, they are two ranks' own times.
func (p *pooled) bits(r *callRow, common bool) int {
	switch {
	case common:
		return commonBits
	case p.ranks > 1 && r.count == uint64(p.ranks):
		return fineBits
	}
	return coarseBits
}

// around are the numbers of the mean that those of extremes are differences to.
func (r *callRow) around(keep int, common bool) (below, above int) {
	if below = rounded(math.Floor(r.mean), keep); common {
		return below, roundedDown(math.Floor(r.mean), keep)
	}
	return below, rounded(math.Ceil(r.mean), keep)
}

// roundedDown is the number of the greatest that is not above one: totals are held against what is longest in several classes.
func roundedDown(f float64, keep int) int {
	n := rounded(f, keep)
	if n > 0 && unrounded(n, keep) > f {
		n--
	}
	return n
}

// extremeCode rounds extremes, those of several classes if they are common: then ranks are those of the run.
func (p *pooled) extremeCode(r *callRow, e *extremes, common bool, index map[int32]uint64) (x extremeCode) {
	has, keep := p.keeps(r, common), p.bits(r, common)
	below, above := r.around(keep, common)
	if has.least {
		x.least = max(below-rounded(float64(e.min), keep), 0)
	}
	if has.most {
		most := rounded(float64(e.max), keep)
		if common {
			most = roundedDown(float64(e.max), keep)
		}
		x.most = max(most-above, 0)
		x.dev = max(above+x.most-rounded(e.deviation, keep), 0)
	}
	if common {
		x.minRank, x.maxRank = int(e.minRank), int(e.maxRank)
		return x
	}
	if has.minRank {
		x.minRank = int(index[e.minRank])
	}
	if has.maxRank {
		x.maxRank = int(index[e.maxRank])
	}
	return x
}

// atMost makes the longest call, as it is read, no longer than what calls come to.
func (x *extremeCode) atMost(sum uint64, p *pooled, r *callRow) {
	for x.most > 0 && x.read(p, r, true, ownNumber).max > sum {
		x.most, x.dev = x.most-1, max(x.dev-1, 0)
	}
}

// read is the reverse.
func (x *extremeCode) read(p *pooled, r *callRow, common bool, member func(i int) int32) extremes {
	has, keep := p.keeps(r, common), p.bits(r, common)
	below, above := r.around(keep, common)
	e := extremes{min: math.MaxUint64, common: common, minRank: member(x.minRank)}
	if e.maxRank = e.minRank; has.maxRank {
		e.maxRank = member(x.maxRank)
	}
	if has.least {
		e.min = whole(unrounded(below-x.least, keep))
	}
	if has.most {
		e.max = whole(unrounded(above+x.most, keep))
		e.deviation = unrounded(above+x.most-x.dev, keep)
	}
	return e
}

// read returns the extremes of the rows of a class. Those that its base has stand there.
func (p *pooled) read(c *timeCodes, k int, base *timeCodes, member func(i int) int32) []extremes {
	if c.common[k] != nil {
		return c.common[k]
	}
	list, sums := make([]extremes, p.rows), p.sums(c.stats[k])
	for i := range list {
		if at, ok := base.commonRow(p, k, i); ok {
			list[i] = base.common[k][at]
			continue
		}
		list[i] = c.extremes[k][i].read(p, &c.rows[k][i], false, member)
		if p.ranks == 1 && !p.former { // none is longer than what the calls of the rank come to
			list[i].max = min(list[i].max, sums[i])
		}
	}
	return list
}

// commonRow tells which row of a base a class's row has its extremes in common with.
func (c *timeCodes) commonRow(p *pooled, k, i int) (int, bool) {
	if c == nil || p.former {
		return 0, false
	}
	at, ok := c.byRow[p.rowKey(i)]
	return at, ok && c.rows[k][at].count > 0
}

// readCommon sets what others refer to: ranks are those of the run.
func (c *timeCodes) readCommon(p *pooled) {
	for k := range c.common {
		c.common[k] = make([]extremes, p.rows)
		for i := range c.common[k] {
			c.common[k][i] = c.extremes[k][i].read(p, &c.rows[k][i], true, func(i int) int32 { return int32(i) })
		}
	}
}

// agree makes what is told twice agree: extremes of single calls are rounded in another way than those of
// ranks' totals. No rank's total is less than its longest call; where each rank
// made one call, that is its total. apart tells of which sites extremes are those of other classes, too: the writer held
// totals against them, and what is known of the class's own calls is what they took in the mean.
func agree(times []Times, groups []int32, ranks int, apart [2][]bool) {
	if ranks < 2 {
		return
	}
	first, sites := firsts(groups, func(n int) Times { return times[n] })
	own := [2][]uint64{make([]uint64, len(first)), make([]uint64, len(first))}
	number := make([]int, countGroups(groups))
	for i, t := range first {
		number[groups[t]] = i
	}
	for t := range times {
		for k, s := range []*Stat{&times[t].Duration, &times[t].Gap} {
			at := &own[k][number[groups[t]]]
			*at = max(*at, uint64(s.Mean()))
		}
	}
	for i, t := range first {
		agreed(&sites[i].Duration, &times[t].DurationTotals, apart[0] != nil && apart[0][i], own[0][i])
		agreed(&sites[i].Gap, &times[t].GapTotals, apart[1] != nil && apart[1][i], own[1][i])
	}
}

func agreed(s *Stat, totals *Spread, apart bool, own uint64) {
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
