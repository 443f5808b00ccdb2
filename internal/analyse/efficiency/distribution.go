package efficiency

import (
	"cmp"
	"math"
	"slices"
)

// A RankTimeDistribution is how the times of ranks are distributed, in ns. A rank's time is a sum over calls or gaps.
type RankTimeDistribution struct {
	Ranks       int     `json:"ranks"`
	MeanNs      float64 `json:"mean_ns"`
	DeviationNs float64 `json:"deviation_ns"`
	Min         Extreme `json:"least"`
	Max         Extreme `json:"most"`
	// Exact reports that each rank's time is known exactly. Else times are known to within ErrorNs, or, if that is 0,
	// each rank counts in Bins and Groups with the mean of its class.
	Exact         bool            `json:"exact"`
	RankHistogram []int           `json:"bins,omitempty"`   // histogram: number of ranks in each of 16 equal steps from Min to Max
	Groups        []RankTimeGroup `json:"groups,omitempty"` // the two groups that the ranks form; nil: they form none
	// ErrorNs is the largest error of a rank's time; 0: times are exact, or their errors aren't known.
	ErrorNs float64 `json:"within_ns,omitempty"`
}

// An Extreme is the least or the largest time of a rank, and that rank with its host.
type Extreme struct {
	Ns   float64 `json:"ns"`
	Rank int     `json:"rank"`
	Host string  `json:"host"`
}

// A RankTimeGroup is one of two groups of ranks: the times within a group are similar.
type RankTimeGroup struct {
	Ranks     int     `json:"ranks"`
	MeanNs    float64 `json:"mean_ns"`
	MinNs     float64 `json:"least_ns"`
	MaxNs     float64 `json:"most_ns"`
	SomeRanks []int   `json:"some_ranks"` // ranks of the group that are known, at most maxNamed, in rising order

	// IsRankCountEstimated reports that the number of ranks was computed from the mean, deviation and extremes of a class.
	IsRankCountEstimated bool `json:"estimated,omitempty"`
}

// maxNamed is how many ranks of a group are listed at most.
const maxNamed = 8

// bins is the number of bins of a Distribution's histogram.
const bins = 16

// A rankNs is a rank with its time in ns.
type rankNs struct {
	ns   float64
	rank int
}

// A rankGroup summarises the times of one or several ranks, in ns.
type rankGroup struct {
	ranks           int
	mean, deviation float64
	least, most     rankNs
	within          float64 // largest error of a rank's time; 0: times are exact, or their errors aren't known

	lone  bool // the group is one of two estimated for a class: only one of its ranks is known
	known int  // that rank if lone is set
}

func single(ns float64, rank int) rankGroup {
	return rankGroup{ranks: 1, mean: ns, least: rankNs{ns, rank}, most: rankNs{ns, rank}}
}

// exact returns the distribution of times that are known exactly. hosts returns the host of a rank.
func exact(list []rankNs, hosts func(int) string) RankTimeDistribution {
	parts := make([]rankGroup, len(list))
	for i, s := range list {
		parts[i] = single(s.ns, s.rank)
	}
	return combine(parts, hosts)
}

// combine returns the distribution over the ranks of all parts. hosts returns the host of a rank.
func combine(parts []rankGroup, hosts func(int) string) RankTimeDistribution {
	var d RankTimeDistribution
	if len(parts) == 0 {
		return d
	}
	each := true
	var sum float64
	least, most := parts[0].least, parts[0].most
	for _, p := range parts {
		d.Ranks += p.ranks
		sum += p.mean * float64(p.ranks)
		each = each && p.ranks == 1
		d.ErrorNs = max(d.ErrorNs, p.within)
		if p.least.ns < least.ns || p.least.ns == least.ns && p.least.rank < least.rank {
			least = p.least
		}
		if p.most.ns > most.ns || p.most.ns == most.ns && p.most.rank < most.rank {
			most = p.most
		}
	}
	d.MeanNs = sum / float64(d.Ranks)
	var variance float64
	for _, p := range parts {
		variance += float64(p.ranks) * (square(p.mean-d.MeanNs) + square(p.deviation))
	}
	d.DeviationNs = math.Sqrt(variance / float64(d.Ranks))
	d.Min = Extreme{least.ns, least.rank, hosts(least.rank)}
	d.Max = Extreme{most.ns, most.rank, hosts(most.rank)}
	d.Exact = each && d.ErrorNs < 1
	if each || len(parts) > 1 {
		d.RankHistogram = histogram(parts, least.ns, most.ns)
		if g := groups(parts); g != nil && g[1].MeanNs-g[0].MeanNs >= leastApart {
			d.Groups = g
		}
	}
	return d
}

// histogram returns the number of ranks in each of bins equal steps from least to most. A part's ranks count at its
// mean.
func histogram(parts []rankGroup, least, most float64) []int {
	if most <= least {
		return nil
	}
	list := make([]int, bins)
	for _, p := range parts {
		i := int((p.mean - least) / (most - least) * bins)
		list[max(0, min(i, bins-1))] += p.ranks
	}
	return list
}

// Ranks form two groups if these conditions hold, and if the gap between the groups is at least half as wide as the
// range of times in the wider group.
const (
	explained  = 0.85 // least share of the variance that is between the groups; evenly spread times would have 0.75
	difference = 0.02 // least difference between the groups' means, as a share of the larger mean
	leastApart = 1000 // least difference between the groups' means, in ns: caches and clocks explain smaller ones
	fewest     = 4    // least number of ranks in both groups together
)

// groups splits ranks into two groups; nil: they don't form two. It splits the sorted times where the variance within
// the two groups is least, which is the best clustering in one dimension.
func groups(parts []rankGroup) []RankTimeGroup {
	list := slices.Clone(parts)
	slices.SortStableFunc(list, func(a, b rankGroup) int {
		return cmp.Or(cmp.Compare(a.mean, b.mean), cmp.Compare(a.least.rank, b.least.rank))
	})
	var n, sum float64
	for _, p := range list {
		n += float64(p.ranks)
		sum += p.mean * float64(p.ranks)
	}
	if n < fewest || len(list) < 2 {
		return nil
	}
	mean := sum / n
	var total float64
	for _, p := range list {
		total += float64(p.ranks) * (square(p.mean-mean) + square(p.deviation))
	}
	best, at := 0.0, 0
	var left, leftSum float64
	for i, p := range list[:len(list)-1] {
		left += float64(p.ranks)
		leftSum += p.mean * float64(p.ranks)
		if list[i+1].mean == p.mean {
			continue
		}
		right := n - left
		// The split with the largest variance between the groups has the least within them.
		if between := left * right / n * square(leftSum/left-(sum-leftSum)/right); between > best {
			best, at = between, i+1
		}
	}
	if at == 0 || total == 0 || best < explained*total {
		return nil
	}
	a, b := group(list[:at]), group(list[at:])
	apart := b.MinNs - a.MaxNs
	if b.MeanNs-a.MeanNs < difference*b.MeanNs || apart < max(a.MaxNs-a.MinNs, b.MaxNs-b.MinNs)/2 {
		return nil
	}
	return []RankTimeGroup{a, b}
}

func group(list []rankGroup) RankTimeGroup {
	g := RankTimeGroup{MinNs: list[0].mean, MaxNs: list[len(list)-1].mean}
	var sum float64
	for _, p := range list {
		g.Ranks += p.ranks
		sum += p.mean * float64(p.ranks)
		switch {
		case p.ranks == 1:
			g.SomeRanks = append(g.SomeRanks, p.least.rank)
		case p.lone:
			g.IsRankCountEstimated = true
			g.SomeRanks = append(g.SomeRanks, p.known)
		}
	}
	g.MeanNs = sum / float64(g.Ranks)
	slices.Sort(g.SomeRanks)
	g.SomeRanks = g.SomeRanks[:min(len(g.SomeRanks), maxNamed)]
	return g
}
