package merge

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

// unite returns one class in place of several with the same sequence of calls. It returns nil if there are too many
// calls, or if the sequences differ although their hashes are equal. The class lacks times and values until finish,
// which takes most of the time: its size can be estimated without them.
func unite(list []*class) *united {
	u := &united{}
	for _, c := range list {
		plain := c.withoutLanes()
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
	t := track.Track{SiteWithoutStack: u.list[0].inner()}
	for _, b := range u.streams {
		t.Streams = append(t.Streams, track.Stream{Grammar: b.Grammar()})
	}
	for _, from := range u.from[0] {
		k := u.list[0].skeleton(int(from))
		t.Signatures = append(t.Signatures, signature.Signature{FunctionID: k.call, Site: k.site, Values: make([]int64, k.width)})
	}
	j.setShape(&t)
	j.values = u.values(j.decoded)
	return u
}

// finish adds times, histograms and attached values.
func (u *united) finish() *class {
	u.times(u.class)
	return u.class
}

// united is the state of unite.
type united struct {
	class   *class // the united class
	list    []subclass
	streams []*grammar.Builder
	from    [][]uint32 // by part (index in list) and united terminal: the part's terminal
	calls   []uint64   // by united terminal: how often it occurs on each rank
	members []member
	inOrder bool
}

type member struct {
	rank     int64
	part, at int
}

// walk goes through the sequences of all parts in parallel, and separates positions where some part calls different
// terminals.
func (u *united) walk() bool {
	at, ends := u.expand(0, nil) // at: by position in the sequence, the united terminal of the parts walked so far
	if at == nil {
		return false
	}
	kinds := make([]skeleton, 0, u.list[0].terminals()) // by united terminal of the parts walked so far
	for t := range u.list[0].of {
		kinds = append(kinds, *u.list[0].skeleton(t))
	}
	// Each part may divide united terminals into several new ones. By part and new terminal, before has the united
	// terminal that was divided, and from has the part's own terminal.
	before, from := make([][]uint32, len(u.list)), make([][]uint32, len(u.list))
	var seq []uint32
	var pairs pairing
	for i := 1; i < len(u.list); i++ {
		var to []uint64
		seq, to = u.expand(i, seq[:0])
		if seq == nil || !slices.Equal(to, ends) {
			return false
		}
		pairs.reset()
		var now []skeleton
		for k, t := range seq {
			n, known := pairs.number(at[k], t)
			if !known {
				skeleton := *u.list[i].skeleton(int(t))
				if skeleton != kinds[at[k]] {
					return false
				}
				now = append(now, skeleton)
				before[i], from[i] = append(before[i], at[k]), append(from[i], t)
			}
			at[k] = n
		}
		kinds = now
	}
	// As pairs are numbered by first occurrence, the united terminals are, too.
	u.calls = make([]uint64, len(kinds))
	for _, t := range at {
		u.calls[t]++
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
	u.from = make([][]uint32, len(u.list))
	last := make([]uint32, len(kinds))
	for n := range last {
		last[n] = uint32(n)
	}
	for i := len(u.list) - 1; i > 0; i-- {
		u.from[i] = make([]uint32, len(last))
		for n, t := range last {
			u.from[i][n] = from[i][t]
			last[n] = before[i][t]
		}
	}
	u.from[0] = last
	return true
}

// expand appends the terminals that a part calls, its streams one after the other, and returns the end of each
// stream; nil if there are too many.
func (u *united) expand(part int, seq []uint32) ([]uint32, []uint64) {
	streams := u.list[part].repeated()
	sum := uint64(0)
	var ends []uint64
	for _, g := range streams {
		if sum += g.Len(); sum > maxExpanded/uint64(len(u.list)) {
			return nil, nil
		}
		ends = append(ends, sum)
	}
	seq = slices.Grow(seq, int(sum))
	if seq == nil { // nil means failure, so it must not be nil for a part without calls
		seq = []uint32{}
	}
	for _, g := range streams {
		seq = g.Expand(seq)
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
func (u *united) values(sh *classShape) values {
	places := sh.places()
	// nums has, by position in the layout, a number that is equal where the columns of all parts so far are equal.
	v := values{nums: newNumberRow(sh.width)}
	v.nums.change(func(int, uint32) uint32 { return 0 })
	var pairs pairing
	for k := range u.list {
		part, from := &u.list[k], u.from[k]
		pairs.reset()
		v.nums.change(func(at int, x uint32) uint32 {
			p := &places[at]
			n, _ := pairs.number(x, part.class.values.nums.at(part.at(int(from[p.terminal]), p.value)))
			return n
		})
	}
	cols := make([]uint32, len(u.list)) // by part: number of its column
	for at, p := range places {
		if int(v.nums.at(at)) < len(v.cols) {
			continue
		}
		for k := range u.list {
			part := &u.list[k]
			cols[k] = part.class.values.nums.at(part.at(int(u.from[k][p.terminal]), p.value))
		}
		v.cols = append(v.cols, u.column(cols))
	}
	return v
}

// column combines columns of all parts, one of each, into a column over all members.
func (u *united) column(from []uint32) column.Column {
	of := func(k int) *column.Column { return &u.list[k].class.values.columns()[from[k]] }
	first, same := of(0).Uniform()
	for k := 1; same && k < len(from); k++ {
		v, ok := of(k).Uniform()
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
	// Members of a class come in rank order, even if it has several parts: one reader per column suffices.
	readers := make([]*column.Reader, len(from))
	known := make(map[*column.Column]*column.Reader)
	for k := range readers {
		x := of(k)
		readers[k] = once.GetOrMake(known, x, x.Reader)
	}
	for _, m := range u.members {
		c.Append(readers[m.part].At(m.at))
	}
	return c
}

// times distributes the times of terminals that were split, in proportion to the calls; the last part gets the
// remainder. A summary of many terminals is not divided.
func (u *united) times(j *class) {
	sh := j.shape()
	j.times = make([]summary, sh.summaries)
	shared := make([]int, sh.summaries) // by summary: number of terminals that share it
	for _, n := range sh.summary {
		shared[n]++
	}
	type share struct{ part, terminal int }
	parts := make(map[*class][]int)
	var order []*class
	for i := range u.list {
		c := u.list[i].class
		if parts[c] == nil {
			order = append(order, c)
		}
		parts[c] = append(parts[c], i)
	}
	for _, c := range order {
		own := c.shape()
		shares := make([][]share, own.summaries)
		whole := make([]int32, own.summaries) // by summary of c: 1 + the united summary that gets all of it; 0: none
		for _, i := range parts[c] {
			for n, t := range u.from[i] {
				from, into := own.summary[t], sh.summary[n]
				if shared[into] > 1 {
					whole[from] = into + 1
					continue
				}
				shares[from] = append(shares[from], share{i, n})
			}
		}
		for from, into := range whole {
			if into > 0 {
				j.times[into-1].merge(&c.times[from])
			}
		}
		weight := func(s share) uint64 { return u.calls[s.terminal] * uint64(len(u.list[s.part].members)) }
		for t, list := range shares {
			left, calls := c.times[t], uint64(0)
			for _, s := range list {
				calls += weight(s)
			}
			for i, s := range list {
				p := left
				if i < len(list)-1 {
					p = c.times[t].part(weight(s), calls, &left)
				}
				j.times[sh.summary[s.terminal]].merge(&p)
			}
		}
	}
	j.uniteHists(order)
	j.uniteCourses(order)
	for _, c := range order {
		j.attached = j.attached.merge(c.attached)
	}
	j.totals = slices.Clone(order[0].totals)
	for _, c := range order[1:] {
		j.totals.merge(c.totals)
	}
	u.ranked(j)
	u.own(j)
}
