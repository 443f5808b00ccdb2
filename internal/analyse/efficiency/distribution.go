package efficiency

import (
	"cmp"
	"math"
	"slices"
)

// A Distribution is how times in nanoseconds are spread over ranks.
type Distribution struct {
	Ranks     int     `json:"ranks"`
	Mean      float64 `json:"mean_ns"`
	Deviation float64 `json:"deviation_ns"`
	Min       Extreme `json:"least"`
	Max       Extreme `json:"most"`
	// Exact: Bins and Groups are about the ranks' own totals. Else these are known to Within, or,
	// where that is 0, ranks of a class count at the mean of their class.
	Exact  bool    `json:"exact"`
	Bins   []int   `json:"bins,omitempty"` // ranks, from least to most in equal steps
	Groups []Group `json:"groups,omitempty"`
	// ErrorNs is how far from the truth a rank's time may be, where that is known of
	// each; 0 if it is exact.
	ErrorNs float64 `json:"within_ns,omitempty"`
}

// An Extreme is a rank's time.
type Extreme struct {
	Ns   float64 `json:"ns"`
	Rank int     `json:"rank"`
	Host string  `json:"host"`
}

// A Group is ranks with similar times.
type Group struct {
	Ranks     int     `json:"ranks"`
	MeanNs    float64 `json:"mean_ns"`
	MinNs     float64 `json:"least_ns"`
	MaxNs     float64 `json:"most_ns"`
	SomeRanks []int   `json:"some_ranks"` // up to maxNamed of them, in rising order

	// The size follows from mean, deviation and extremes of all.
	Estimated bool `json:"estimated,omitempty"`
}

// maxNamed bounds how many ranks of a group are listed.
const maxNamed = 8

// bins is how many steps a histogram has.
const bins = 16

// A rankNs is a rank with its time in ns.
type rankNs struct {
	ns   float64
	rank int
}

// A rankGroup summarises the times of some ranks.
type rankGroup struct {
	ranks           int
	mean, deviation float64
	least, most     rankNs
	within          float64 // how far the truth may be, of one rank

	lone  bool // half of two groups; the time of one rank is known
	known int
}

func single(ns float64, rank int) rankGroup {
	return rankGroup{ranks: 1, mean: ns, least: rankNs{ns, rank}, most: rankNs{ns, rank}}
}

// exact is the distribution of samples.
func exact(list []rankNs, hosts func(int) string) Distribution {
	parts := make([]rankGroup, len(list))
	for i, s := range list {
		parts[i] = single(s.ns, s.rank)
	}
	return combine(parts, hosts)
}

// combine is the distribution over the ranks of all parts.
func combine(parts []rankGroup, hosts func(int) string) Distribution {
	var d Distribution
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
	d.Mean = sum / float64(d.Ranks)
	var variance float64
	for _, p := range parts {
		variance += float64(p.ranks) * (square(p.mean-d.Mean) + square(p.deviation))
	}
	d.Deviation = math.Sqrt(variance / float64(d.Ranks))
	d.Min = Extreme{least.ns, least.rank, hosts(least.rank)}
	d.Max = Extreme{most.ns, most.rank, hosts(most.rank)}
	d.Exact = each && d.ErrorNs < 1
	if each || len(parts) > 1 {
		d.Bins = histogram(parts, least.ns, most.ns)
		if g := groups(parts); g != nil && g[1].MeanNs-g[0].MeanNs >= leastApart {
			d.Groups = g
		}
	}
	return d
}

// histogram counts ranks in equal steps.
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

// When two groups are two: the split explains nearly all of the variance, more
// than it would of an even spread (three quarters); the groups are apart by more
// than either is wide; and it is about a difference that matters.
const (
	explained  = 0.85
	difference = 0.02 // of the larger mean
	leastApart = 1000 // ns, of what ranks spent in sum: less is caches and clocks
	fewest     = 4    // ranks to speak of groups at all
)

// groups splits ranks into two if they fall into two: the split of the sorted
// times that leaves least variance within both sides, which is the best
// clustering in one dimension.
func groups(parts []rankGroup) []Group {
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
		// Variance between the sides.
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
	return []Group{a, b}
}

func group(list []rankGroup) Group {
	g := Group{MinNs: list[0].mean, MaxNs: list[len(list)-1].mean}
	var sum float64
	for _, p := range list {
		g.Ranks += p.ranks
		sum += p.mean * float64(p.ranks)
		switch {
		case p.ranks == 1:
			g.SomeRanks = append(g.SomeRanks, p.least.rank)
		case p.lone:
			g.Estimated = true
			g.SomeRanks = append(g.SomeRanks, p.known)
		}
	}
	g.MeanNs = sum / float64(g.Ranks)
	slices.Sort(g.SomeRanks)
	g.SomeRanks = g.SomeRanks[:min(len(g.SomeRanks), maxNamed)]
	return g
}
