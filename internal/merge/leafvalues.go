package merge

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

const (
	unlikeValue     = 1e-3    // relative difference up to which means at a leaf and at its site count as equal
	maxPlacedValues = 1 << 14 // largest number of attached values of leaves that are stored for a class, over all names
	maxOwnQueries   = 1 << 25 // largest number of lookups of arrivals for a class, over all its ranks
)

// placeValues sets the values attached at leaves, of the class and of each of its ranks.
func (c *class) placeValues(out *sections.Class, sh *classShape) {
	if len(c.courses) == 0 || c.courses[len(c.courses)-1].name == "" {
		return // courses of attached values come last, and the last course is one of times
	}
	v := &valuePlaces{c: c, sh: sh, streams: make([]*placing, len(sh.streams))}
	v.site, _ = sh.sites()
	for i, g := range sh.streams {
		terminals := grammar.Unfold(g, grammar.UnfoldLimit).OriginalTerminal
		v.first = append(v.first, len(v.leaves))
		v.leaves = append(v.leaves, terminals...)
		if v.streams[i] = c.placing(sh, i, 0); v.streams[i] != nil {
			v.streams[i].queries, v.streams[i].some, v.streams[i].first = maxQueries, true, v.first[i]
		}
	}
	out.LeafAttachedSums = v.ofClass()
	v.ofRanks(out)
}

// valuePlaces is the data for finding the values attached at the leaves of all threads.
type valuePlaces struct {
	c       *class
	sh      *classShape
	streams []*placing // by stream: data of its leaves; nil: attached values cannot be assigned to them
	first   []int      // by stream: number of its first leaf; leaves of all streams are numbered in a row
	leaves  []int32    // by leaf: its terminal
	site    []int      // by terminal: number of its site, see skeletons.sites
}

// ofClass returns the values attached at leaves, by name, for leaves whose mean differs from that of their call
// site.
func (v *valuePlaces) ofClass() (out map[string][]sections.LeafAttachedSum) {
	room := maxPlacedValues
	for named := range alike(v.c.courses, func(x, y *course) bool { return x.name == y.name }) {
		name := named[0].name
		all := v.c.attached[name]
		if name == "" || all == nil {
			continue
		}
		bySite := make(map[int][]sections.LeafAttachedSum)
		for courses := range alike(named, (*course).sameTerminal) {
			if p := v.streams[courses[0].stream]; p != nil {
				site := v.site[courses[0].terminal]
				bySite[site] = append(bySite[site], p.values(courses)...)
			}
		}
		var list []sections.LeafAttachedSum
		for site, leaves := range bySite {
			mean, uneven := all[site].Mean(), false
			for _, x := range leaves {
				uneven = uneven || x.NumberCount != x.Calls
			}
			for _, x := range leaves {
				if uneven || math.Abs(float64(x.Sum)/float64(x.NumberCount)-mean) > unlikeValue*math.Abs(mean) {
					list = append(list, x)
				}
			}
		}
		if len(list) == 0 || len(list) > room {
			continue
		}
		room -= len(list)
		slices.SortFunc(list, func(a, b sections.LeafAttachedSum) int { return a.Leaf - b.Leaf })
		if out == nil {
			out = make(map[string][]sections.LeafAttachedSum)
		}
		out[name] = list
	}
	return out
}

// values returns the values attached at the leaves of one terminal; nil if unknown.
func (p *placing) values(courses []course) (list []sections.LeafAttachedSum) {
	leaves := p.byTerminal[courses[0].terminal]
	ways, _ := p.waysTo(leaves)
	below, above, count := make(map[at]*callShare), make(map[at]*callShare), make(map[at]*callShare)
	for i := range courses {
		x := &courses[i]
		from := ways[x.from]
		if len(from) == 0 || !p.deal(x.gap, from, below, false) || !p.deal(x.duration, from, above, false) || !p.deal(x.count, from, count, false) {
			return nil
		}
	}
	for _, leaf := range leaves {
		calls := 0.0
		for i := range p.arrivals[leaf] {
			calls += float64(p.arrivals[leaf][i].Count()) * p.ranks
		}
		x := sections.LeafAttachedSum{Leaf: p.first + leaf, Calls: uint64(calls)}
		if n := count[at{leaf, 0}]; n != nil {
			x.NumberCount = uint64(math.Round(n.time))
			x.Sum = int64(math.Round(above[at{leaf, 0}].time - below[at{leaf, 0}].time))
			if p.varies || n.calls > calls {
				x.Calls = uint64(math.Round(n.calls))
			}
		}
		list = append(list, x)
	}
	return list
}

// ofRanks adds columns of the ranks' sums at leaves to those at call sites, for sites with several leaves.
func (v *valuePlaces) ofRanks(out *sections.Class) {
	ranks := v.c.ranks.Len()
	if v.c.own.of == nil || ranks == 1 {
		return
	}
	bySite := make(map[int][]int)
	for leaf, t := range v.leaves {
		bySite[v.site[t]] = append(bySite[v.site[t]], leaf)
	}
	sums := make(map[string]map[int][]int64) // by name of the values and leaf: the sum of each rank
	for name, cols := range out.RankAttachedTotals {
		list, n := make(map[int][]int64), 0
		for site, leaves := range bySite {
			if v.c.valued[name][firstSite+2*site] != nil && len(leaves) > 1 {
				n += 2 * len(leaves)
				for _, leaf := range leaves {
					list[leaf] = nil
				}
			}
		}
		if n += len(cols.Sites); len(list) > 0 && n <= maxRanked/ranks {
			for leaf := range list {
				list[leaf] = make([]int64, ranks)
			}
			sums[name] = list
		}
	}
	if len(sums) == 0 {
		return
	}
	queries := maxOwnQueries
	for rank, courses := range v.c.own.of {
		v.rank(rank, courses, sums, &queries)
	}
	for name, list := range sums {
		v.columns(out, name, bySite, list)
	}
}

// rank sets in sums the sums of the values attached at leaves on one rank of the class.
func (v *valuePlaces) rank(rank int, courses []course, sums map[string]map[int][]int64, queries *int) {
	streams := make([]*placing, len(v.streams))
	for i, p := range v.streams {
		if p != nil && p.varies {
			p = v.c.placing(v.sh, i, rank)
		}
		if p != nil {
			own := *p
			own.ranks, own.some, own.first, own.varies = 1, true, v.first[i], false
			streams[i] = &own
		}
	}
	for list := range alike(courses, (*course).sameTerminal) {
		x := &list[0]
		p := streams[x.stream]
		if p == nil || sums[x.name] == nil {
			continue
		}
		p.queries = *queries
		for _, leaf := range p.values(list) {
			if of := sums[x.name][leaf.Leaf]; of != nil {
				of[rank] = leaf.Sum
			}
		}
		*queries = p.queries
	}
}

// columns adds the columns of a site's leaves if they add up to each rank's total at the call site. Otherwise the
// courses lack some of the values.
func (v *valuePlaces) columns(out *sections.Class, name string, bySite map[int][]int, sums map[int][]int64) {
	cols := out.RankAttachedTotals[name]
	for site, leaves := range bySite {
		known := sums[leaves[0]] != nil
		for rank := 0; known && rank < v.c.ranks.Len(); rank++ {
			sum, size := 0.0, 0.0
			for _, leaf := range leaves {
				x := float64(sums[leaf][rank])
				sum, size = sum+x, size+math.Abs(x)
			}
			below, above := v.c.valued[name][firstSite+2*site][rank], v.c.valued[name][firstSite+2*site+1][rank]
			known = math.Abs(sum-(above.Ns()-below.Ns())) <= 0.011*size
		}
		if !known {
			continue
		}
		for _, leaf := range leaves {
			x := timing.SiteTotals{FirstTerminal: len(v.site) + leaf, Gap: make([]timing.LogTime, len(sums[leaf])), Duration: make([]timing.LogTime, len(sums[leaf]))}
			for rank, sum := range sums[leaf] {
				below, above := parts(sum)
				x.Gap[rank], x.Duration[rank] = timing.LogTimeOf(below), timing.LogTimeOf(above)
			}
			cols.Sites = append(cols.Sites, x)
		}
	}
	slices.SortFunc(cols.Sites, func(a, b timing.SiteTotals) int { return cmp.Compare(a.FirstTerminal, b.FirstTerminal) })
	out.RankAttachedTotals[name] = cols
}

var errAttached = errors.New("signatures and attached values differ in number")

// attachments are statistics of the values that plugins and counters attached to calls, by name of the values and
// number of the calls' site (see skeletons.sites). Refining a class does not change them.
type attachments map[string][]model.AttachedStat

func (a attachments) merge(o attachments) attachments {
	for name, list := range o {
		mine := a[name]
		if mine == nil {
			if a == nil {
				a = make(attachments)
			}
			a[name] = slices.Clone(list)
			continue
		}
		for i := range list {
			mine[i].Merge(list[i])
		}
	}
	return a
}

// leafAttached takes over the attached values of a single rank's track.
func (c *class) leafAttached(tr *track.Track) error {
	if len(tr.AttachedStats) == 0 {
		return nil
	}
	of, n := c.shape().sites()
	c.attached = make(attachments, len(tr.AttachedStats))
	for name, list := range tr.AttachedStats {
		if len(list) != len(of) {
			return errAttached
		}
		sums := make([]model.AttachedStat, n)
		for i, s := range list {
			sums[of[i]].Merge(s)
		}
		c.attached[name] = sums
	}
	return nil
}

// inFile returns the statistics by name and terminal: the first terminal of each site has those of the site.
func (a attachments) inFile(sh *classShape) map[string][]model.AttachedStat {
	if len(a) == 0 {
		return nil
	}
	of, _ := sh.sites()
	m := make(map[string][]model.AttachedStat, len(a))
	for name, list := range a {
		out := make([]model.AttachedStat, len(of))
		next := 0
		for i, n := range of {
			if n == next {
				out[i] = list[n]
				next++
			}
		}
		m[name] = out
	}
	return m
}

// code codes the statistics of all sites, by name.
func (a *attachments) code(c *wire.Coder, sites int) {
	names := slices.Sorted(maps.Keys(*a))
	wire.CodeList(c, &names, 1, func(_ int, name *string) {
		c.String(name)
		list := (*a)[*name]
		if c.Reader != nil {
			list = make([]model.AttachedStat, sites)
		}
		for i := range list {
			if s := &list[i]; !c.Failed() {
				if wire.CodeUints(c, &s.Count); s.Count > 0 {
					wire.CodeIntegers(c, &s.Sum, &s.Min, &s.Max)
				}
			}
		}
		if c.Reader != nil && *a == nil {
			*a = make(attachments)
		}
		if c.Reader != nil {
			(*a)[*name] = list
		}
	})
}
