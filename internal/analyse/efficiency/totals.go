package efficiency

import "github.com/spoor-hpc/spoor/trace"

// ownTotals is the total durations and gaps of each rank of a class at one or more call sites.
type ownTotals struct{ duration, gap rankTimes }

// rankTimes is the total times of the ranks of a class, by member.
type rankTimes struct {
	ns, within []float64 // the total in ns, and its largest error
	sites      int       // number of call sites that the totals are over
	unknown    bool      // for some call site, the ranks' own times aren't known
}

func (o *ownTotals) begin(ranks int) {
	for _, x := range []*rankTimes{&o.duration, &o.gap} {
		x.ns, x.within = make([]float64, ranks), make([]float64, ranks)
	}
}

// add adds the totals of all ranks of the class at a call site, which is an index in Totals.Sites.
func (o *ownTotals) add(ranks []*trace.Totals, site int) {
	o.duration.sites++
	o.gap.sites++
	for i, t := range ranks {
		o.duration.add(i, t.Sites[site].Duration)
		o.gap.add(i, t.Sites[site].Gap)
	}
}

func (x *rankTimes) add(i int, t trace.BoundedTime) {
	x.ns[i] += t.Ns
	x.within[i] += t.ErrorBoundNs
	x.unknown = x.unknown || !t.IsOfRank()
}

// parts returns the distribution of a class's total times. It consists of the ranks' own totals if these are known. If
// they differ by less than their errors, or aren't known, it is class, the distribution that the class's statistics
// give.
func (x *rankTimes) parts(class []rankGroup, members []int) []rankGroup {
	if x.unknown || len(members) < 2 || len(class) == len(members) {
		return class
	}
	least, most := class[0].least, class[0].most
	sum, own, within := 0.0, 0.0, 0.0
	for _, p := range class {
		if p.least.ns < least.ns {
			least = p.least
		}
		if p.most.ns > most.ns {
			most = p.most
		}
		sum += p.mean * float64(p.ranks)
	}
	for i := range x.ns {
		own += x.ns[i]
		within = max(within, x.within[i])
	}
	list := make([]rankGroup, len(members))
	if x.sites > 1 { // class's extremes may be wrong: those of a sum over sites are not the sums of the sites' extremes
		for i, rank := range members {
			list[i] = single(x.ns[i], rank)
			list[i].within = x.within[i]
		}
		return list
	}
	if own <= 0 || most.ns-least.ns < 2*within {
		return class
	}
	mean := sum / float64(len(members))
	rest, others := sum-least.ns-most.ns, own
	for i, rank := range members {
		if rank == least.rank || rank == most.rank {
			others -= x.ns[i]
		}
	}
	for i, rank := range members {
		ns, off := x.ns[i], x.within[i]
		switch {
		case rank == least.rank:
			ns, off = least.ns, (mean-least.ns)/64
		case rank == most.rank:
			ns, off = most.ns, (most.ns-mean)/64
		case others > 0:
			ns = max(least.ns, min(most.ns, ns*rest/others))
		}
		list[i] = single(ns, rank)
		list[i].within = off
	}
	return list
}
