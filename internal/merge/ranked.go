package merge

import (
	"cmp"
	"slices"

	"spoor/internal/timing"
	"spoor/internal/wire"
	"spoor/trace"
)

// ranked is what each rank of a class spent, in steps of a percent: a list over the ranks
// in order for each of these, nil where it is not kept. First stand the gaps and durations
// of all calls, then those of each skeleton's.
type ranked [][]timing.Step

// What stands where in ranked.
const (
	allGaps      = 0
	allDurations = 1
	firstSite    = 2
)

// maxRanked bounds the steps that are kept of a class: of very many ranks those of
// the call sites that take least time are given up.
const maxRanked = 1 << 22

// rankwise returns what is known of each rank. Of a single one that is what its totals are.
func (c *class) rankwise() ranked {
	if c.ranked != nil || c.ranks.Len() != 1 {
		return c.ranked
	}
	var gap, duration uint64
	list := make(ranked, firstSite, firstSite+2*len(c.totals))
	steps := make([]timing.Step, firstSite+2*len(c.totals))
	for i, t := range c.totals {
		gap, duration = gap+t.gap.Sum, duration+t.duration.Sum
		at := firstSite + 2*i
		steps[at], steps[at+1] = timing.StepOf(t.gap.Sum), timing.StepOf(t.duration.Sum)
		list = append(list, steps[at:at+1:at+1], steps[at+1:at+2:at+2])
	}
	steps[allGaps], steps[allDurations] = timing.StepOf(gap), timing.StepOf(duration)
	list[allGaps], list[allDurations] = steps[:1:1], steps[1:2:2]
	return list
}

// joinRanked puts the ranks of another class behind those of this one, before anything else
// of both is joined.
func (c *class) joinRanked(o *class) {
	mine, other := c.rankwise(), o.rankwise()
	for i := range mine {
		if mine[i] != nil && other[i] != nil {
			mine[i] = append(mine[i], other[i]...)
		} else {
			mine[i] = nil
		}
	}
	c.ranked = mine
}

// boundRanked gives up call sites of which too much would have to be kept.
func (c *class) boundRanked() {
	n := c.ranks.Len()
	kept := 0
	for _, list := range c.ranked {
		if list != nil {
			kept++
		}
	}
	if kept <= firstSite || n*kept <= maxRanked {
		return
	}
	order := make([]int, 0, kept)
	for i := firstSite; i < len(c.ranked); i++ {
		if c.ranked[i] != nil {
			order = append(order, i)
		}
	}
	sum := func(i int) uint64 {
		if t := &c.totals[(i-firstSite)/2]; i%2 == 0 {
			return t.gap.Sum
		} else {
			return t.duration.Sum
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sum(b), sum(a)) })
	for _, i := range order[max(0, maxRanked/n-firstSite):] {
		c.ranked[i] = nil
	}
}

// dealRanked gives each part of a class what its members spent.
func (c *class) dealRanked(list []*class, parts []part) {
	all := c.rankwise()
	for k, d := range list {
		d.ranked = make(ranked, len(all))
		for i, steps := range all {
			if steps == nil {
				continue
			}
			d.ranked[i] = make([]timing.Step, len(parts[k].members))
			for at, m := range parts[k].members {
				d.ranked[i][at] = steps[m]
			}
		}
	}
}

// ranked gives the united class what its members spent.
func (u *united) ranked(j *class) {
	known := make(map[*class]ranked)
	of := make([]ranked, len(u.list))
	for i := range u.list {
		c := u.list[i].class
		if known[c] == nil {
			known[c] = c.rankwise()
		}
		of[i] = known[c]
	}
	j.ranked = make(ranked, len(of[0]))
	for i := range j.ranked {
		if slices.ContainsFunc(of, func(r ranked) bool { return r[i] == nil }) {
			continue
		}
		j.ranked[i] = make([]timing.Step, len(u.members))
		for at, m := range u.members {
			j.ranked[i][at] = of[m.part][i][m.at]
		}
	}
	j.boundRanked()
}

// appendRanked and decodeRanked: what each rank spent, in messages; of a single rank
// nothing, as its totals say it.
//
//	ranked = per list: 1 if it is kept, per rank the difference to the rank before varint
func (c *class) appendRanked(b []byte) []byte {
	if c.ranks.Len() == 1 {
		return b
	}
	for _, list := range c.ranked {
		if list == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		last := int64(0)
		for _, s := range list {
			b = wire.AppendVarint(b, int64(s)-last)
			last = int64(s)
		}
	}
	return b
}

func (c *class) decodeRanked(r *wire.Reader) {
	n := c.ranks.Len()
	if n == 1 {
		return
	}
	c.ranked = make(ranked, firstSite+2*len(c.totals))
	for i := range c.ranked {
		if r.Byte() == 0 || r.Err() != nil {
			continue
		}
		if n > r.Rest() {
			r.Fail("times of %d ranks in %d bytes", n, r.Rest())
			return
		}
		c.ranked[i] = make([]timing.Step, n)
		last := int64(0)
		for k := range c.ranked[i] {
			if last += r.Varint(); last < 0 || last > timing.MaxStep {
				r.Fail("time of step %d", last)
				return
			}
			c.ranked[i][k] = timing.Step(last)
		}
	}
}

// rankColumns returns what a file has of the ranks; a single one's times are its class's.
func (c *class) rankColumns(sh *shape) trace.RankColumns {
	if c.ranks.Len() == 1 || c.ranked == nil {
		return trace.RankColumns{}
	}
	out := trace.RankColumns{Gap: c.ranked[allGaps], Duration: c.ranked[allDurations]}
	next := 0
	for t, first := range sh.like {
		if t != first {
			continue
		}
		at := firstSite + 2*next
		next++
		if gap, duration := c.ranked[at], c.ranked[at+1]; gap != nil || duration != nil {
			out.Sites = append(out.Sites, trace.RankSite{Terminal: t, Gap: gap, Duration: duration})
		}
	}
	return out
}
