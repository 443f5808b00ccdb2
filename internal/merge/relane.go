package merge

import (
	"slices"

	"spoor/internal/column"
	"spoor/internal/grammar"
	"spoor/internal/prefix"
	"spoor/internal/signature"
	"spoor/internal/track"
	"spoor/internal/wire"
	"spoor/mpi"
	"spoor/trace"
)

// Whether values that go on from call to call take less room as lanes or as
// distinct calls shows when all ranks are together. Then both are written, and
// what is shorter is kept: recorders make lanes of long sequences only, and do not
// know of each other. A distinct call weighs a little, too, since who reads the trace
// has to go through them.

const (
	// minLaned is from how many distinct calls on a family is worth a look. Below, it
	// has little to gain, and each call keeps times of its own.
	minLaned = 8
	// maxLaned bounds the calls of a family, which are looked at one by one, and
	// maxLanedWork what of a class is: values of all members.
	maxLaned     = 1 << 12
	maxLanedWork = 1 << 22
	// callsAByte is how many distinct calls less are worth a byte more.
	callsAByte = 64
	// maxStepRuns is from where a step is another on too many ranks to be one.
	maxStepRuns = 64
	// maxLaneSymbols bounds the symbols of a grammar that are appended anew.
	maxLaneSymbols = 1 << 20
)

// chosen returns the classes in the form, with the lanes that were recorded,
// without, or with as many as there may be, that makes the file shortest.
func (s *State) chosen() []*class {
	if s.pinned {
		return s.classes
	}
	without, more := slices.Clone(s.classes), slices.Clone(s.classes)
	fewer, any := false, false
	for i, c := range s.classes {
		if len(c.shape().lanes) > 0 {
			if list := c.unlaned(); len(list) == 1 {
				without[i], fewer = list[0], true
			}
			c.plain = nil
		}
		if d := c.laned(); d != nil {
			more[i], any = d, true
		}
	}
	best := s.classes
	if !fewer && !any {
		return best
	}
	least, err := s.weight(best)
	if err != nil {
		return best
	}
	try := func(list []*class) {
		if n, err := s.weight(list); err == nil && n < least {
			best, least = list, n
		}
	}
	if fewer {
		try(without)
	}
	if any {
		try(more)
	}
	return best
}

// weight is what the choice goes by: bytes and distinct calls.
func (s *State) weight(list []*class) (int, error) {
	n, err := s.size(list)
	n *= callsAByte
	for _, c := range list {
		n += len(c.shape().skeletons)
	}
	return n, err
}

// size is what the classes take in the file.
func (s *State) size(list []*class) (int, error) {
	c, err := s.contentOf(list)
	if err != nil {
		return 0, err
	}
	return trace.Size(c)
}

// A family is terminals that differ in values only that may be in a lane.
type family struct {
	terminals []int
	stream    int
	function  *trace.Function
	values    []int // those that differ
	calls     uint64
	first     int // terminal of the first call
	steps     *grammar.Grammar
	by        [][]column.Column // by step, by value
}

// laned returns the class with lanes in place of what families there are, nil if
// there are none.
func (c *class) laned() *class {
	sh := c.shape()
	for i := range c.counts {
		if _, ok := c.counts[i].Same(); !ok {
			return nil
		}
	}
	list := c.families(sh)
	if len(list) == 0 {
		return nil
	}
	all := slices.Clone(sh.streams)
	for _, l := range sh.lanes {
		all = append(all, l.steps)
	}
	all = c.repeated(all, 0)
	r := &relaning{c: c, sh: sh, streams: all[:len(sh.streams)], orders: all[len(sh.streams):], work: maxLanedWork}
	for _, g := range r.streams {
		r.calls = append(r.calls, g.Counts(len(sh.skeletons)))
	}
	for _, f := range list {
		if r.follow(f) {
			r.list = append(r.list, f)
		}
	}
	if len(r.list) == 0 {
		return nil
	}
	return r.run()
}

// families returns the families with enough terminals for a lane.
func (c *class) families(sh *shape) []*family {
	inLane := make([]bool, len(sh.skeletons))
	for _, l := range sh.lanes {
		inLane[l.terminal] = true
	}
	// Most have too few terminals to begin with.
	members := make([]int, len(sh.skeletons))
	for t, first := range sh.like {
		if !inLane[t] {
			members[first]++
		}
	}
	functions := make(map[uint16]*trace.Function)
	by := make(map[string]*family)
	var list []*family
	var key []byte
	var vals []int64
	for t, first := range sh.like {
		if members[first] < minLaned || inLane[t] {
			continue
		}
		k := &sh.skeletons[t]
		f := functions[k.call]
		if f == nil {
			call, ok := mpi.ByID(k.call)
			if !ok {
				return nil
			}
			made := trace.FunctionOf(call)
			f = &made
			functions[k.call] = f
		}
		vals = vals[:0]
		for i := range k.width {
			vals = append(vals, c.values.cols[c.values.nums[sh.at(t, i)]].At(0))
		}
		movable := trace.Movable(f, vals)
		if len(movable) == 0 {
			continue
		}
		key = wire.AppendUvarint(key[:0], uint64(first))
		for i := range k.width {
			if !slices.Contains(movable, i) {
				key = wire.AppendUint32(key, c.values.nums[sh.at(t, i)])
			}
		}
		x := by[string(key)]
		if x == nil {
			x = &family{}
			by[string(key)] = x
			list = append(list, x)
			x.function = f
		}
		x.terminals = append(x.terminals, t)
	}
	return slices.DeleteFunc(list, func(x *family) bool {
		if len(x.terminals) < minLaned || !c.alike(sh, x.terminals[0], x.function) {
			return true
		}
		for i := range sh.skeletons[x.terminals[0]].width {
			num := c.values.nums[sh.at(x.terminals[0], i)]
			if slices.ContainsFunc(x.terminals, func(t int) bool { return c.values.nums[sh.at(t, i)] != num }) {
				x.values = append(x.values, i)
			}
		}
		return len(x.values) == 0
	})
}

// alike reports whether the same values of a terminal may move on all ranks: what
// tells where they stand is the same.
func (c *class) alike(sh *shape, t int, f *trace.Function) bool {
	of := func(i int) *column.Column { return &c.values.cols[c.values.nums[sh.at(t, i)]] }
	vals := make([]int64, sh.skeletons[t].width)
	for i := range vals {
		vals[i] = of(i).At(0)
	}
	_, forms, segments := trace.MovableBy(f, vals)
	for _, i := range forms {
		if _, same := of(i).Same(); !same {
			return false
		}
	}
	for _, i := range segments {
		for _, r := range of(i).Runs() {
			if (r.Start^vals[i])&7 != 0 || r.Count > 1 && r.Stride&7 != 0 {
				return false
			}
		}
	}
	return true
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
}

// follow finds the steps of a family; false if it is no matter for a lane.
func (r *relaning) follow(f *family) bool {
	f.stream = -1
	in := make(map[uint32]bool, len(f.terminals))
	for s, counts := range r.calls {
		for _, t := range f.terminals {
			if counts[t] == 0 {
				continue
			}
			if f.stream >= 0 && f.stream != s {
				return false
			}
			f.stream = s
			f.calls += counts[t]
			in[uint32(t)] = true
			if f.calls > maxLaned {
				return false
			}
		}
	}
	if f.stream < 0 {
		return false
	}
	sums := prefix.New(r.streams[f.stream], func(t uint32) int64 {
		if in[t] {
			return 1
		}
		return 0
	})
	order := grammar.NewBuilder()
	pairs := make(map[[2]uint32]uint32)
	kinds := make(map[string]uint32)
	last := uint32(0)
	for k := range int64(f.calls) {
		_, t := sums.Nth(k)
		if k == 0 {
			f.first, last = int(t), t
			continue
		}
		n, ok := pairs[[2]uint32{last, t}]
		if !ok {
			step, id, ok := r.step(f, last, t)
			if !ok {
				return false
			}
			if n, ok = kinds[id]; !ok {
				// Values in no order are no lane.
				if n = uint32(len(kinds)); 2*uint64(n+1) > f.calls {
					return false
				}
				kinds[id] = n
				f.by = append(f.by, step)
			}
			pairs[[2]uint32{last, t}] = n
		}
		order.Append(n)
		last = t
	}
	f.steps = order.Grammar()
	return true
}

// step returns what the values of a family move by from one terminal to another, and
// what tells that from other steps.
func (r *relaning) step(f *family, from, to uint32) (step []column.Column, id string, ok bool) {
	var b []byte
	for _, i := range f.values {
		x := &r.c.values.cols[r.c.values.nums[r.sh.at(int(from), i)]]
		y := &r.c.values.cols[r.c.values.nums[r.sh.at(int(to), i)]]
		var d column.Column
		v, same := x.Same()
		w, alike := y.Same()
		switch {
		case same && alike:
			d = column.Constant(int64(uint64(w)-uint64(v)), x.Len())
		default:
			if r.work -= x.Len(); r.work < 0 {
				return nil, "", false
			}
			below := x.Values()
			at := 0
			for w := range y.All() {
				d.Append(int64(uint64(w) - uint64(below[at])))
				at++
			}
		}
		if len(d.Runs()) > maxStepRuns {
			return nil, "", false
		}
		step = append(step, d)
		b = d.AppendRuns(b)
	}
	return step, string(b), true
}

func (r *relaning) run() *class {
	into := make(map[uint32]uint32)
	of := make(map[uint32]*family) // by the terminal that stands for it
	for _, f := range r.list {
		for _, t := range f.terminals {
			into[uint32(t)] = uint32(f.first)
		}
		of[uint32(f.first)] = f
	}
	stands := func(t uint32) uint32 {
		if n, ok := into[t]; ok {
			return n
		}
		return t
	}
	var streams []*grammar.Grammar
	var old []uint32 // by new terminal
	number := make(map[uint32]uint32)
	for _, g := range r.streams {
		b := grammar.NewBuilder()
		if !b.AppendAll(g, stands, maxLaneSymbols) {
			return nil
		}
		streams = append(streams, b.Grammar())
		for _, t := range streams[len(streams)-1].Terminals() {
			if _, ok := number[t]; !ok {
				number[t] = uint32(len(old))
				old = append(old, t)
			}
		}
	}
	t := track.Track{}
	for _, g := range streams {
		t.Streams = append(t.Streams, track.Stream{Grammar: g.Renumber(func(n uint32) uint32 { return number[n] })})
	}
	c := r.c
	d := &class{ranks: c.ranks, totals: c.totals, attached: c.attached, split: true, times: make([]trace.Times, len(old))}
	recorded, at := make(map[uint32]int), 0 // terminals with a lane: its number, and where its steps stand
	firsts := make([]int, len(r.sh.lanes))
	for i, l := range r.sh.lanes {
		recorded[uint32(l.terminal)], firsts[i] = i, at
		at += l.kinds * len(l.values)
	}
	like, calls := make([]int, len(old)), make([]uint64, len(old))
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
			calls[n] = f.calls * uint64(c.ranks.Len())
			for _, m := range f.terminals {
				d.times[n].Duration.Merge(c.times[m].Duration)
				d.times[n].Gap.Merge(c.times[m].Gap)
			}
			continue
		}
		d.times[n] = trace.Times{Duration: c.times[from].Duration, Gap: c.times[from].Gap}
		for _, of := range r.calls {
			calls[n] += of[from] * uint64(c.ranks.Len())
		}
		if i, ok := recorded[from]; ok {
			l := &r.sh.lanes[i]
			t.Lanes = append(t.Lanes, track.Lane{Terminal: n, Values: l.values, Steps: r.orders[i], By: make([][]int64, l.kinds)})
			d.steps = append(d.steps, c.steps[firsts[i]:firsts[i]+l.kinds*len(l.values)]...)
		}
	}
	c.unpool(d.times, like, calls)
	var counts []int64
	d.key, d.decoded, counts = key(&t)
	for _, n := range counts {
		d.counts = append(d.counts, column.Constant(n, d.ranks.Len()))
	}
	d.values = r.values(d.decoded, old)
	d.takeHists(c)
	return d
}

// values returns the values of the terminals that are left.
func (r *relaning) values(sh *shape, old []uint32) values {
	v := values{nums: make([]uint32, sh.width)}
	number := make(map[uint32]uint32)
	for n, from := range old {
		for i := range sh.skeletons[n].width {
			num := r.c.values.nums[r.sh.at(int(from), i)]
			k, ok := number[num]
			if !ok {
				k = uint32(len(v.cols))
				number[num] = k
				v.cols = append(v.cols, r.c.values.cols[num])
			}
			v.nums[sh.at(n, i)] = k
		}
	}
	return v
}
