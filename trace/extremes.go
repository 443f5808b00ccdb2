package trace

// agree makes what is told twice agree: extremes of single calls are rounded in another way than those of
// ranks' totals. No rank's total is less than its longest call; where each rank
// made one call, that is its total.
func agree(times []Times, groups []int32, ranks int) {
	if ranks < 2 {
		return
	}
	first, sites := firsts(groups, func(n int) Times { return times[n] })
	for i, t := range first {
		agreed(&sites[i].Duration, &times[t].DurationTotals)
		agreed(&sites[i].Gap, &times[t].GapTotals)
	}
}

func agreed(s *Stat, totals *Spread) {
	switch {
	case totals.Ranks == 0 || s.Count == 0:
	case s.Count == uint64(totals.Ranks) && s.Sum == totals.Sum:
		totals.Min, totals.Max, totals.MinRank, totals.MaxRank = s.Min, s.Max, s.MinRank, s.MaxRank
	case totals.Max < s.Max:
		totals.Max = s.Max
	}
}
