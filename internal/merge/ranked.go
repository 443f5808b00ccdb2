package merge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// ranked is the times of each rank of a class, or its sums of attached values, in steps of a percent. Each list is
// over the ranks in order, nil if it is not kept. The first lists are the gaps and durations of all calls; those of
// each place follow.
type ranked [][]timing.LogTime

// Indices in ranked.
const (
	allGaps      = 0
	allDurations = 1
	firstSite    = 2
)

// maxRanked is the largest number of times kept for a class in ranked: with very many ranks, those of the call sites
// with the least time are discarded.
const maxRanked = 1 << 22

// rankwise returns the times of each rank. For a class of a single rank they follow from its totals.
func (c *class) rankwise() ranked {
	if c.ranked != nil || c.ranks.Len() != 1 {
		return c.ranked
	}
	return rankedOf(len(c.totals), func(site int) (gap, duration uint64) {
		t := &c.totals[site]
		return t.gap.Sum, t.duration.Sum
	})
}

// rankedOf returns the times of a single rank at its call sites.
func rankedOf(sites int, of func(site int) (gap, duration uint64)) ranked {
	list := make(ranked, firstSite, firstSite+2*sites)
	steps := make([]timing.LogTime, firstSite+2*sites)
	var all [2]uint64
	for i := range sites {
		gap, duration := of(i)
		all[0], all[1] = all[0]+gap, all[1]+duration
		at := firstSite + 2*i
		steps[at], steps[at+1] = timing.LogTimeOf(gap), timing.LogTimeOf(duration)
		list = append(list, steps[at:at+1:at+1], steps[at+1:at+2:at+2])
	}
	steps[allGaps], steps[allDurations] = timing.LogTimeOf(all[0]), timing.LogTimeOf(all[1])
	list[allGaps], list[allDurations] = steps[:1:1], steps[1:2:2]
	return list
}

// joined returns the times of the ranks of two adjacent blocks.
func (r ranked) joined(o ranked) ranked {
	for i := range r {
		if r[i] != nil && o[i] != nil {
			r[i] = append(r[i], o[i]...)
		} else {
			r[i] = nil
		}
	}
	return r
}

// bounded discards the lists of the call sites with the least time, until at most maxRanked times are left. sum returns
// the sum of a site's list: of gaps for kind 0, of durations for 1.
func (r ranked) bounded(sum func(site, kind int) uint64) {
	kept := 0
	for _, list := range r {
		if list != nil {
			kept++
		}
	}
	if kept <= firstSite {
		return
	}
	n := len(r[allGaps])
	if n*kept <= maxRanked {
		return
	}
	order := make([]int, 0, kept)
	for i := firstSite; i < len(r); i++ {
		if r[i] != nil {
			order = append(order, i)
		}
	}
	of := func(i int) uint64 { return sum((i-firstSite)/2, i%2) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of(b), of(a)) })
	for _, i := range order[max(0, maxRanked/n-firstSite):] {
		r[i] = nil
	}
}

// of returns the times of the given members.
func (r ranked) of(members []int) ranked {
	out := make(ranked, len(r))
	for i, steps := range r {
		if steps == nil {
			continue
		}
		out[i] = make([]timing.LogTime, len(members))
		for at, m := range members {
			out[i][at] = steps[m]
		}
	}
	return out
}

// code codes the times of each rank in messages. It returns what it wrote or read.
//
//	ranked = per list: 1 if it is kept, per rank the difference to the rank before varint
func (r ranked) code(c *wire.Coder, ranks, sites int) ranked {
	if c.Reader != nil {
		r = make(ranked, firstSite+2*sites)
	}
	for i := range r {
		kept := r[i] != nil
		if c.Bool(&kept); !kept || c.Failed() {
			continue
		}
		if c.Reader != nil {
			if ranks > c.Reader.RemainingLen() {
				c.Reader.Fail("times of %d ranks in %d bytes", ranks, c.Reader.RemainingLen())
				return nil
			}
			r[i] = make([]timing.LogTime, ranks)
		}
		last := int64(0)
		for k, s := range r[i] {
			step := int64(s)
			if wire.CodeRelative(c, &step, last); step < 0 || step > timing.MaxLogTime {
				c.RefuseIf(true, "time of step %d", step)
				return nil
			}
			last, r[i][k] = step, timing.LogTime(step)
		}
	}
	c.RefuseIf(r[allGaps] == nil || r[allDurations] == nil, "ranks without totals")
	return r
}

// columns returns the times of the ranks as a file has them.
func (r ranked) columns(sh *classShape) timing.TotalColumns {
	out := timing.TotalColumns{Gap: r[allGaps], Duration: r[allDurations]}
	next := 0
	for t := range sh.of {
		if t != sh.place(t) {
			continue
		}
		at := firstSite + 2*next
		next++
		if gap, duration := r[at], r[at+1]; gap != nil || duration != nil {
			out.Sites = append(out.Sites, timing.SiteTotals{FirstTerminal: t, Gap: gap, Duration: duration})
		}
	}
	return out
}

// joinRanked appends the times and the attached values of o's ranks to those of c's. It must be called before o's
// ranks, totals and attachments are joined to c's.
func (c *class) joinRanked(o *class) {
	c.ranked = c.rankwise().joined(o.rankwise())
	c.valued = c.joinedValues(o)
}

// boundRanked applies bounded to the times and the attached values of each rank.
func (c *class) boundRanked() {
	c.ranked.bounded(func(site, kind int) uint64 {
		if t := &c.totals[site]; kind == 0 {
			return t.gap.Sum
		} else {
			return t.duration.Sum
		}
	})
	for name, r := range c.valued {
		r.bounded(func(site, _ int) uint64 {
			below, above := parts(c.attached[name][site].Sum)
			return below + above
		})
	}
}

// dealRanked gives each part of a class the times of its members.
func (c *class) dealRanked(list []*class, parts []subclass) {
	all, values, own := c.rankwise(), c.valuewise(), c.coursewise()
	for k, d := range list {
		d.own = own.some(parts[k].members)
		d.ranked = all.of(parts[k].members)
		for name, r := range values {
			if d.valued == nil {
				d.valued = make(map[string]ranked)
			}
			d.valued[name] = r.of(parts[k].members)
		}
	}
}

// ranked sets the times of the united class's members.
func (u *united) ranked(j *class) {
	known := make(map[*class]ranked)
	values := make(map[*class]map[string]ranked)
	names := make(map[string]bool)
	for i := range u.list {
		c := u.list[i].class
		if known[c] == nil {
			known[c], values[c] = c.rankwise(), c.valuewise()
			for name := range values[c] {
				names[name] = true
			}
		}
	}
	j.ranked = u.gathered(func(c *class) ranked { return known[c] })
	for name := range names {
		if j.valued == nil {
			j.valued = make(map[string]ranked)
		}
		j.valued[name] = u.gathered(func(c *class) ranked {
			if values[c][name] == nil {
				return noValues(len(j.totals), c.ranks.Len())
			}
			return values[c][name]
		})
	}
	j.boundRanked()
}

// gathered returns the times of the united class's members. from returns those of the ranks of a class in u.list.
func (u *united) gathered(from func(*class) ranked) ranked {
	of := make([]ranked, len(u.list))
	for i := range u.list {
		of[i] = from(u.list[i].class)
	}
	out := make(ranked, len(of[0]))
	for i := range out {
		if slices.ContainsFunc(of, func(r ranked) bool { return r[i] == nil }) {
			continue
		}
		out[i] = make([]timing.LogTime, len(u.members))
		for at, m := range u.members {
			out[i][at] = of[m.part][i][m.at]
		}
	}
	return out
}

// valuewise is rankwise for the sums of attached values, by name. The absolute negative sum takes the place of
// gaps, the positive sum that of durations.
func (c *class) valuewise() map[string]ranked {
	if c.valued != nil || c.ranks.Len() != 1 || len(c.attached) == 0 {
		return c.valued
	}
	m := make(map[string]ranked, len(c.attached))
	for name, list := range c.attached {
		m[name] = rankedOf(len(list), func(site int) (below, above uint64) { return parts(list[site].Sum) })
	}
	return m
}

// parts splits a sum into its absolute value if negative, and its value if positive.
func parts(sum int64) (below, above uint64) {
	if sum < 0 {
		return -uint64(sum), 0
	}
	return 0, uint64(sum)
}

// noValues returns the zero sums of ranks without attached values.
func noValues(sites, ranks int) ranked {
	r := make(ranked, firstSite+2*sites)
	for i := range r {
		r[i] = make([]timing.LogTime, ranks)
	}
	return r
}

func (c *class) joinedValues(o *class) map[string]ranked {
	mine, other := c.valuewise(), o.valuewise()
	if len(mine) == 0 && len(other) == 0 {
		return nil
	}
	out := make(map[string]ranked)
	for name, r := range mine {
		x := other[name]
		if x == nil {
			x = noValues(len(c.totals), o.ranks.Len())
		}
		out[name] = r.joined(x)
	}
	for name, r := range other {
		if mine[name] == nil {
			out[name] = noValues(len(c.totals), c.ranks.Len()).joined(r)
		}
	}
	return out
}

// codeRanked codes the times of each rank of a class; nothing for a single rank, as its times are the totals.
//
//	class = ranked, per name of attached values, in rising order: ranked
func (c *class) codeRanked(x *wire.Coder) {
	ranks, sites := c.ranks.Len(), len(c.totals)
	if ranks == 1 {
		return
	}
	c.ranked = c.ranked.code(x, ranks, sites)
	for _, name := range slices.Sorted(maps.Keys(c.attached)) {
		r := c.valued[name]
		if r == nil && x.Reader == nil {
			r = noValues(sites, ranks)
		}
		if r = r.code(x, ranks, sites); x.Reader != nil {
			if c.valued == nil {
				c.valued = make(map[string]ranked)
			}
			c.valued[name] = r
		}
	}
}

// rankColumns sets the ranks' times as a file has them. A single rank's times are those of its class.
func (c *class) rankColumns(out *sections.Class, sh *classShape) {
	if c.ranks.Len() == 1 || c.ranked == nil {
		return
	}
	out.RankTotals = c.ranked.columns(sh)
	for name, r := range c.valued {
		if out.RankAttachedTotals == nil {
			out.RankAttachedTotals = make(map[string]timing.TotalColumns)
		}
		out.RankAttachedTotals[name] = r.columns(sh)
	}
}
