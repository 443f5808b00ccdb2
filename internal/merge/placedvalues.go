package merge

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

const (
	unlikeValue     = 1e-3    // means this near are the same
	maxPlacedValues = 1 << 14 // of a class
)

// placedValues returns what was attached at leaves, by name, where that is not what was attached to all calls
// from the same site.
func (c *class) placedValues(p *placing, sh *shape) map[string][]trace.PlacedValue {
	if p == nil {
		return nil
	}
	of, _ := sh.sites()
	p.queries, p.some = maxQueries, true
	var out map[string][]trace.PlacedValue
	room := maxPlacedValues
	sameName := func(x, y *course) bool { return x.name == y.name }
	for named := range alike(c.courses, sameName) {
		name := named[0].name
		all := c.attached[name]
		if name == "" || all == nil {
			continue
		}
		bySite := make(map[int][]trace.PlacedValue)
		for courses := range alike(named, (*course).sameTerminal) {
			site := of[courses[0].terminal]
			bySite[site] = append(bySite[site], p.values(courses)...)
		}
		var list []trace.PlacedValue
		for site, leaves := range bySite {
			mean, uneven := all[site].Mean(), false
			for _, x := range leaves {
				uneven = uneven || x.Count != x.Calls
			}
			for _, x := range leaves {
				if uneven || math.Abs(float64(x.Sum)/float64(x.Count)-mean) > unlikeValue*math.Abs(mean) {
					list = append(list, x)
				}
			}
		}
		if len(list) == 0 || len(list) > room {
			continue
		}
		room -= len(list)
		slices.SortFunc(list, func(a, b trace.PlacedValue) int { return a.Leaf - b.Leaf })
		if out == nil {
			out = make(map[string][]trace.PlacedValue)
		}
		out[name] = list
	}
	return out
}

// values returns what was attached at the leaves of one terminal, nil if that can't be told.
func (p *placing) values(courses []course) (list []trace.PlacedValue) {
	leaves := p.byTerminal[courses[0].terminal]
	ways, _ := p.waysTo(leaves)
	below, above, count := make(map[int]*share), make(map[int]*share), make(map[int]*share)
	for i := range courses {
		x := &courses[i]
		from := ways[x.from]
		if len(from) == 0 || !p.deal(x.gap, from, below, nil) || !p.deal(x.duration, from, above, nil) || !p.deal(x.count, from, count, nil) {
			return nil
		}
	}
	for _, leaf := range leaves {
		calls := 0.0
		for i := range p.arrivals[leaf] {
			calls += float64(p.arrivals[leaf][i].Count()) * p.ranks
		}
		x := trace.PlacedValue{Leaf: leaf, Calls: uint64(calls)}
		if n := count[leaf]; n != nil {
			x.Count = uint64(math.Round(n.time))
			x.Sum = int64(math.Round(above[leaf].time - below[leaf].time))
			if p.varies || n.calls > calls {
				x.Calls = uint64(math.Round(n.calls))
			}
		}
		list = append(list, x)
	}
	return list
}
