package merge

import (
	"github.com/spoor-hpc/spoor/internal/counts"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/lane"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

// withLanes returns the class with lanes in place of what families there are, nil if
// there are none.
func (c *class) withLanes() *class {
	if !c.even() {
		return nil
	}
	sh := c.shape()
	of := &lane.Class{
		Like: sh.like, Columns: c.values.cols, Ranks: c.ranks.Len(), Laned: make([]bool, len(sh.skeletons)),
		Of:  func(t int) (call uint16, width int) { return sh.skeletons[t].call, sh.skeletons[t].width },
		Num: func(t, i int) uint32 { return c.values.nums[sh.at(t, i)] },
	}
	for _, l := range sh.lanes {
		of.Laned[l.terminal] = true
	}
	r := &laneMaker{c: c, sh: sh}
	r.list = of.Find(func() []*grammar.Grammar {
		r.streams, r.orders, _ = c.repeatedAlike()
		return r.streams
	})
	if len(r.list) == 0 {
		return nil
	}
	return r.class()
}

// laneMaker is what withLanes goes by.
type laneMaker struct {
	c       *class
	sh      *shape
	streams []*grammar.Grammar // as all members repeat them
	orders  []*grammar.Grammar // of the lanes that there are
	list    []*lane.Family
}

// class writes the class with the lanes.
func (r *laneMaker) class() *class {
	streams, old, ok := r.renumbered()
	if !ok {
		return nil
	}
	of := make(map[uint32]*lane.Family) // by the terminal that stands for it
	for _, f := range r.list {
		of[uint32(f.First)] = f
	}
	c := r.c
	d := &class{ranks: c.ranks, totals: c.totals, ranked: c.ranked, valued: c.valued, attached: c.attached, split: true}
	before, times := c.byTerminal(), make([]summary, len(old))
	t := track.Track{Inner: r.sh.inner()}
	for _, g := range streams {
		t.Streams = append(t.Streams, track.Stream{Grammar: g})
	}
	recorded, at := make(map[uint32]int), 0 // terminals with a lane: its number, and where its steps stand
	firsts := make([]int, len(r.sh.lanes))
	for i, l := range r.sh.lanes {
		recorded[uint32(l.terminal)], firsts[i] = i, at
		at += l.kinds * len(l.values)
	}
	like, calls := make([]int, len(old)), make([]uint64, len(old))
	ranks, often := uint64(c.ranks.Len()), counts.Occurrences(r.streams, len(r.sh.skeletons))
	for n, from := range old {
		k := r.sh.skeletons[from]
		like[n] = r.sh.like[from]
		t.Sigs = append(t.Sigs, signature.Signature{Call: k.call, Site: k.site, Vals: make([]int64, k.width)})
		if f := of[from]; f != nil {
			l := lane.Lane{Terminal: n, Values: f.Values, Steps: f.Steps}
			for _, step := range f.By {
				l.By = append(l.By, make([]int64, len(step)))
				d.steps = append(d.steps, step...)
			}
			t.Lanes = append(t.Lanes, l)
			calls[n] = f.Calls * ranks
			for _, m := range f.Terminals {
				times[n].merge(&before[m])
			}
			continue
		}
		times[n] = before[from]
		calls[n] = often[from] * ranks
		if i, ok := recorded[from]; ok {
			l := &r.sh.lanes[i]
			t.Lanes = append(t.Lanes, lane.Lane{Terminal: n, Values: l.values, Steps: r.orders[i], By: make([][]int64, l.kinds)})
			d.steps = append(d.steps, c.steps[firsts[i]:firsts[i]+l.kinds*len(l.values)]...)
		}
	}
	c.unpool(times, like, calls)
	d.setShape(&t)
	d.setTimes(times)
	d.values = r.values(d.decoded, old)
	d.uniteHists([]*class{c})
	d.uniteCourses([]*class{c})
	d.takeOwn(c)
	return d
}

// renumbered returns the streams with one terminal for each family, its first, numbered
// anew by first occurrence, and what the terminals were before.
func (r *laneMaker) renumbered() (streams []*grammar.Grammar, old []uint32, ok bool) {
	into := make([]uint32, len(r.sh.skeletons))
	for t := range into {
		into[t] = uint32(t)
	}
	for _, f := range r.list {
		for _, t := range f.Terminals {
			into[t] = uint32(f.First)
		}
	}
	number := make(map[uint32]uint32)
	for _, g := range r.streams {
		b := grammar.NewBuilder()
		if !b.AppendAll(g, func(t uint32) uint32 { return into[t] }, lane.MaxSymbols) {
			return nil, nil, false
		}
		g := b.Grammar()
		for _, t := range g.Terminals() {
			if _, known := number[t]; !known {
				number[t] = uint32(len(old))
				old = append(old, t)
			}
		}
		streams = append(streams, g.Renumber(func(t uint32) uint32 { return number[t] }))
	}
	return streams, old, true
}

// values returns the values of the terminals that are left.
func (r *laneMaker) values(sh *shape, old []uint32) values {
	v := values{nums: make([]uint32, sh.width)}
	number := make(map[uint32]uint32)
	for at, p := range sh.places() {
		num := r.c.values.nums[r.sh.at(int(old[p.terminal]), p.value)]
		n, ok := number[num]
		if !ok {
			n = uint32(len(v.cols))
			number[num] = n
			v.cols = append(v.cols, r.c.values.cols[num])
		}
		v.nums[at] = n
	}
	return v
}
