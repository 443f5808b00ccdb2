package merge

import (
	"cmp"
	"slices"

	"spoor/internal/column"
	"spoor/internal/grammar"
	"spoor/internal/signature"
	"spoor/internal/track"
	"spoor/internal/wire"
	"spoor/trace"
)

// unite returns what becomes one class in place of several with the same sequence of
// calls, or nil if there is too much to go through or the sequences differ after all.
// Its class lacks what was measured until finish, which takes most of the time: there
// is enough to tell how much room it takes.
func unite(list []*class) *united {
	u := &united{}
	for _, c := range list {
		plain := c.unlaned()
		if plain == nil {
			return nil
		}
		for _, d := range plain {
			parts := d.parts()
			if parts == nil {
				return nil
			}
			u.list = append(u.list, parts...)
		}
	}
	if !u.walk() {
		return nil
	}
	u.class = &class{split: true}
	j := u.class
	u.ranks(j)
	t := track.Track{}
	for _, b := range u.streams {
		t.Streams = append(t.Streams, track.Stream{Grammar: b.Grammar()})
	}
	for _, from := range u.terminals {
		k := u.list[0].skeletons[from[0]]
		t.Sigs = append(t.Sigs, signature.Signature{Call: k.call, Site: k.site, Vals: make([]int64, k.width)})
	}
	j.take(&t)
	j.values = u.values(j.decoded)
	return u
}

// finish adds what was measured.
func (u *united) finish() *class {
	u.times(u.class)
	return u.class
}

// united is what unite goes by.
type united struct {
	class     *class // what they become
	list      []part
	streams   []*grammar.Builder
	terminals [][]uint32 // per terminal of the united class, that of each part
	calls     []uint64   // how often each terminal occurs
	members   []member
	inOrder   bool
}

type member struct {
	rank     int64
	part, at int
}

// walk goes through the sequences of all parts, one after the other, and tells
// places apart at which a part calls different terminals.
func (u *united) walk() bool {
	first, ends := u.expand(0)
	if first == nil {
		return false
	}
	at := slices.Clone(first) // by place: terminal as told apart so far
	for i := 1; i < len(u.list); i++ {
		seq, to := u.expand(i)
		if seq == nil || !slices.Equal(to, ends) {
			return false
		}
		pairs := make(map[uint64]uint32)
		for k, t := range seq {
			if u.list[i].skeletons[t] != u.list[0].skeletons[first[k]] {
				return false
			}
			p := uint64(at[k])<<32 | uint64(t)
			n, ok := pairs[p]
			if !ok {
				n = uint32(len(pairs))
				pairs[p] = n
			}
			at[k] = n
		}
	}
	var places []int // by terminal: where it is first called
	number := make(map[uint32]uint32)
	for k, t := range at {
		n, ok := number[t]
		if !ok {
			n = uint32(len(places))
			number[t] = n
			places = append(places, k)
			u.calls = append(u.calls, 0)
		}
		at[k] = n
		u.calls[n]++
	}
	begin := uint64(0)
	for _, end := range ends {
		b := grammar.NewBuilder()
		for _, t := range at[begin:end] {
			b.Append(t)
		}
		u.streams = append(u.streams, b)
		begin = end
	}
	u.terminals = make([][]uint32, len(places))
	for i := range u.list {
		seq := first
		if i > 0 {
			seq, _ = u.expand(i)
		}
		for n, k := range places {
			u.terminals[n] = append(u.terminals[n], seq[k])
		}
	}
	return true
}

// expand returns the terminals that a part calls, all streams in a row, and where each
// of these ends; nil if there are too many.
func (u *united) expand(part int) (seq []uint32, ends []uint64) {
	streams := u.list[part].repeated()
	sum := uint64(0)
	for _, g := range streams {
		if sum += g.Len(); sum > maxExpanded/uint64(len(u.list)) {
			return nil, nil
		}
		ends = append(ends, sum)
	}
	seq = make([]uint32, 0, sum)
	for _, g := range streams {
		seq = slices.AppendSeq(seq, g.All())
	}
	return seq, ends
}

// ranks lists the members of the united class.
func (u *united) ranks(j *class) {
	u.inOrder = true
	for i := range u.list {
		p := &u.list[i]
		all := p.class.ranks.Values()
		u.inOrder = u.inOrder && len(p.members) == len(all)
		for _, at := range p.members {
			r := all[at]
			if n := len(u.members); n > 0 && u.members[n-1].rank > r {
				u.inOrder = false
			}
			u.members = append(u.members, member{r, i, at})
		}
	}
	slices.SortFunc(u.members, func(a, b member) int { return cmp.Compare(a.rank, b.rank) })
	for _, m := range u.members {
		j.ranks.Append(m.rank)
	}
}

// values returns the values of the united terminals for all members.
func (u *united) values(sh *shape) values {
	v := values{nums: make([]uint32, sh.width)}
	known := make(map[string]uint32)
	cols := make([]uint32, len(u.list)) // of each part
	var key, before []byte
	for at, p := range sh.places() {
		key = key[:0]
		for k := range u.list {
			part := &u.list[k]
			cols[k] = part.class.values.nums[part.at(int(u.terminals[p.terminal][k]), p.value)]
			key = wire.AppendUint32(key, cols[k])
		}
		if at > 0 && string(key) == string(before) {
			v.nums[at] = v.nums[at-1]
			continue
		}
		n, ok := known[string(key)]
		if !ok {
			n = uint32(len(v.cols))
			known[string(key)] = n
			v.cols = append(v.cols, u.column(cols))
		}
		v.nums[at] = n
		key, before = before, key
	}
	return v
}

// column puts columns of all parts together, those of their members.
func (u *united) column(from []uint32) column.Column {
	of := func(k int) *column.Column { return &u.list[k].class.values.cols[from[k]] }
	first, same := of(0).Same()
	for k := 1; same && k < len(from); k++ {
		v, ok := of(k).Same()
		same = ok && v == first
	}
	if same {
		return column.Constant(first, len(u.members))
	}
	var c column.Column
	if u.inOrder {
		for k := range from {
			c.Concat(*of(k))
		}
		return c
	}
	// Members of a class come in order, however many parts it has.
	readers := make([]*column.Reader, len(from))
	known := make(map[*column.Column]*column.Reader)
	for k := range readers {
		x := of(k)
		if known[x] == nil {
			known[x] = x.Reader()
		}
		readers[k] = known[x]
	}
	for _, m := range u.members {
		c.Append(readers[m.part].At(m.at))
	}
	return c
}

// times shares out what is known of the terminals that were split, in
// proportion to the calls. The last share is what is left.
func (u *united) times(j *class) {
	j.times = make([]trace.Times, len(u.terminals))
	type share struct{ part, terminal int }
	shares := make(map[*class][][]share)
	var order []*class
	for i := range u.list {
		c := u.list[i].class
		if shares[c] == nil {
			shares[c] = make([][]share, len(c.times))
			order = append(order, c)
		}
		for n, from := range u.terminals {
			shares[c][from[i]] = append(shares[c][from[i]], share{i, n})
		}
	}
	for _, c := range order {
		for t, list := range shares[c] {
			whole, left, calls := c.times[t], c.times[t], uint64(0)
			weight := func(s share) uint64 { return u.calls[s.terminal] * uint64(len(u.list[s.part].members)) }
			for _, s := range list {
				calls += weight(s)
			}
			for i, s := range list {
				d, g := left.Duration, left.Gap
				if i < len(list)-1 {
					d, g = whole.Duration.Part(weight(s), calls), whole.Gap.Part(weight(s), calls)
					left.Duration, left.Gap = left.Duration.Minus(d), left.Gap.Minus(g)
				}
				j.times[s.terminal].Duration.Merge(d)
				j.times[s.terminal].Gap.Merge(g)
			}
		}
	}
	j.uniteHists(order)
	for _, c := range order {
		j.attached = j.attached.merge(c.attached)
	}
	j.totals = slices.Clone(order[0].totals)
	for _, c := range order[1:] {
		j.totals.merge(c.totals)
	}
}
