package efficiency

import "github.com/spoor-hpc/spoor/trace"

// ownTotals is the totals of each rank of a class at one or more call sites.
type ownTotals struct{ duration, gap rankTimes }

// rankTimes is times of the ranks of a class, in order.
type rankTimes struct {
	ns, within []float64
	sites      int
	unknown    bool // some site's times are not known for each rank
}

func (o *ownTotals) begin(ranks int) {
	for _, x := range []*rankTimes{&o.duration, &o.gap} {
		x.ns, x.within = make([]float64, ranks), make([]float64, ranks)
	}
}

// add adds the totals of all ranks at a call site.
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
	x.within[i] += t.ErrorBound
	x.unknown = x.unknown || !t.Known()
}

// parts replaces a class's distribution by the ranks' own times, whose sums and extremes are more precise. It returns
// the class's distribution if the ranks differ by less than the error of their times.
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
	if x.sites > 1 { // the extremes of a sum over sites are not the sum of extremes
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
