package merge

import (
	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/prefix"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/wire"
)

const (
	// maxLaned bounds the calls of a family, maxLanedCalls those of all families of a
	// class, which are looked at one by one, and maxLanedWork what of a class is: values
	// of all members.
	maxLaned      = 1 << 12
	maxLanedCalls = 1 << 20
	maxLanedWork  = 1 << 22
	// maxStepRuns is from where a step is another on too many ranks to be one.
	maxStepRuns = 64
	// maxLaneSymbols bounds the symbols of a grammar that are appended anew.
	maxLaneSymbols = 1 << 20
)

// laned returns the class with lanes in place of what families there are, nil if
// there are none.
func (c *class) laned() *class {
	if !c.even() {
		return nil
	}
	sh := c.shape()
	list := c.families(sh)
	if len(list) == 0 {
		return nil
	}
	streams, orders, ok := c.unfolded()
	if !ok {
		return nil
	}
	r := &relaning{c: c, sh: sh, streams: streams, orders: orders, work: maxLanedWork}
	for _, g := range r.streams {
		r.calls = append(r.calls, g.Counts(len(sh.skeletons)))
	}
	r.follow(list)
	if len(r.list) == 0 {
		return nil
	}
	return r.run()
}

// relaning is what laned goes by.
type relaning struct {
	c       *class
	sh      *shape
	streams []*grammar.Grammar // as all members repeat them
	orders  []*grammar.Grammar // of the lanes that there are
	calls   [][]uint64         // by stream, by terminal
	list    []*family
	work    int
	id      []byte  // of the step at hand
	moved   []moved // by it
}

// A follower goes through the calls of a family in order and tells the steps between
// them apart.
type follower struct {
	*family
	begun bool
	last  uint32            // terminal of the call before
	order []uint32          // of the steps: nothing is made of them until all are there
	kinds map[string]uint32 // steps by what they add
}

// follow finds the steps of families, of all in a walk through each stream, and keeps
// those that are a matter for a lane.
func (r *relaning) follow(list []*family) {
	of := make([]*follower, len(r.sh.skeletons))
	left := uint64(maxLanedCalls)
	for _, f := range list {
		if !r.oneStream(f) || f.calls > left {
			continue
		}
		left -= f.calls
		x := &follower{family: f}
		for _, t := range f.terminals {
			of[t] = x
		}
	}
	out := make(map[*follower]bool)
	for _, g := range r.streams {
		sums := prefix.New(g, func(t uint32) int64 {
			if of[t] != nil {
				return 1
			}
			return 0
		})
		for k := range sums.Total() {
			_, t := sums.Nth(k)
			if x := of[t]; !out[x] && !r.next(x, t) {
				out[x], x.order, x.kinds, x.by = true, nil, nil, nil
			}
		}
	}
	for _, f := range list {
		if x := of[f.terminals[0]]; x != nil && !out[x] {
			order := grammar.NewBuilder()
			for _, n := range x.order {
				order.Append(n)
			}
			f.steps = order.Grammar()
			r.list = append(r.list, f)
		}
	}
}

// oneStream counts the calls of a family; false if they are too many, or of several
// streams, whose order nobody knows.
func (r *relaning) oneStream(f *family) bool {
	stream := -1
	for s, counts := range r.calls {
		for _, t := range f.terminals {
			n := counts[t]
			if n == 0 {
				continue
			}
			if stream >= 0 && stream != s || n > maxLaned-f.calls {
				return false
			}
			stream = s
			f.calls += n
		}
	}
	return stream >= 0
}

// next takes the next call of a family; false if the family has too many kinds of steps.
func (r *relaning) next(x *follower, t uint32) bool {
	last := x.last
	x.last = t
	if !x.begun {
		x.begun, x.first = true, int(t)
		return true
	}
	if !r.step(x.family, last, t) {
		return false
	}
	n, known := x.kinds[string(r.id)]
	if !known {
		// Values in no order are no lane.
		if n = uint32(len(x.kinds)); 2*uint64(n+1) > x.calls {
			return false
		}
		if x.kinds == nil {
			x.kinds = make(map[string]uint32)
		}
		x.kinds[string(r.id)] = n
		x.by = append(x.by, r.columns())
	}
	x.order = append(x.order, n)
	return true
}

// step finds what the values of a family move by from one terminal to another, and
// what tells that from other steps; false if it is another on too many ranks.
func (r *relaning) step(f *family, from, to uint32) bool {
	r.id, r.moved = r.id[:0], r.moved[:0]
	for _, i := range f.values {
		x := &r.c.values.cols[r.c.values.nums[r.sh.at(int(from), i)]]
		y := &r.c.values.cols[r.c.values.nums[r.sh.at(int(to), i)]]
		v, constant := x.Same()
		w, both := y.Same()
		var d column.Column
		by := int64(uint64(w) - uint64(v))
		if both = both && constant; both {
			r.work--
		} else {
			r.work -= x.Len()
		}
		if r.work < 0 {
			return false
		}
		if !both {
			below := x.Values()
			at := 0
			for w := range y.All() {
				d.Append(int64(uint64(w) - uint64(below[at])))
				at++
			}
			by, both = d.Same()
		}
		if len(d.Runs()) > maxStepRuns {
			return false
		}
		if r.moved = append(r.moved, moved{by, d}); both {
			r.id = wire.AppendVarint(append(r.id, 0), by)
		} else {
			r.id = d.AppendRuns(append(r.id, 1))
		}
	}
	return true
}

// A moved value is what a step adds: the same on all ranks if the column is empty.
type moved struct {
	by int64
	on column.Column
}

// columns returns what the step that was found last adds.
func (r *relaning) columns() []column.Column {
	list := make([]column.Column, len(r.moved))
	for i, m := range r.moved {
		if list[i] = m.on; m.on.Len() == 0 {
			list[i] = column.Constant(m.by, r.c.ranks.Len())
		}
	}
	return list
}

// run writes the class with the lanes.
func (r *relaning) run() *class {
	streams, old, ok := r.renumbered()
	if !ok {
		return nil
	}
	of := make(map[uint32]*family) // by the terminal that stands for it
	for _, f := range r.list {
		of[uint32(f.first)] = f
	}
	c := r.c
	d := &class{ranks: c.ranks, totals: c.totals, ranked: c.ranked, valued: c.valued, attached: c.attached, split: true}
	before, times := c.byTerminal(), make([]summary, len(old))
	t := track.Track{}
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
	ranks := uint64(c.ranks.Len())
	for n, from := range old {
		k := r.sh.skeletons[from]
		like[n] = r.sh.like[from]
		t.Sigs = append(t.Sigs, signature.Signature{Call: k.call, Site: k.site, Vals: make([]int64, k.width)})
		if f := of[from]; f != nil {
			lane := track.Lane{Terminal: n, Values: f.values, Steps: f.steps}
			for _, step := range f.by {
				lane.By = append(lane.By, make([]int64, len(step)))
				d.steps = append(d.steps, step...)
			}
			t.Lanes = append(t.Lanes, lane)
			calls[n] = f.calls * ranks
			for _, m := range f.terminals {
				times[n].merge(&before[m])
			}
			continue
		}
		times[n] = before[from]
		for _, of := range r.calls {
			calls[n] += of[from] * ranks
		}
		if i, ok := recorded[from]; ok {
			l := &r.sh.lanes[i]
			t.Lanes = append(t.Lanes, track.Lane{Terminal: n, Values: l.values, Steps: r.orders[i], By: make([][]int64, l.kinds)})
			d.steps = append(d.steps, c.steps[firsts[i]:firsts[i]+l.kinds*len(l.values)]...)
		}
	}
	c.unpool(times, like, calls)
	d.take(&t)
	d.setTimes(times)
	d.values = r.values(d.decoded, old)
	d.uniteHists([]*class{c})
	d.uniteCourses([]*class{c})
	return d
}

// renumbered returns the streams with one terminal for each family, its first, numbered
// anew by first occurrence, and what the terminals were before.
func (r *relaning) renumbered() (streams []*grammar.Grammar, old []uint32, ok bool) {
	into := make([]uint32, len(r.sh.skeletons))
	for t := range into {
		into[t] = uint32(t)
	}
	for _, f := range r.list {
		for _, t := range f.terminals {
			into[t] = uint32(f.first)
		}
	}
	number := make(map[uint32]uint32)
	for _, g := range r.streams {
		b := grammar.NewBuilder()
		if !b.AppendAll(g, func(t uint32) uint32 { return into[t] }, maxLaneSymbols) {
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
func (r *relaning) values(sh *shape, old []uint32) values {
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
