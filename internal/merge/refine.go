package merge

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"spoor/internal/column"
	"spoor/internal/grammar"
	"spoor/internal/signature"
	"spoor/internal/track"
	"spoor/internal/wire"
	"spoor/trace"
)

// Ranks may make the same calls in the same order and still have different
// grammars: where the size of a message depends on place and step, calls that
// are equal on one rank differ on another. Such classes are refined: two calls
// of the common sequence become one terminal only if they are equal on every
// rank. What was a difference in structure so becomes one in values, which
// columns hold well; terminals that are equal on some ranks only are the price.
const (
	// minFragments is from how many classes on it is worth looking, in blocks
	// of 16, 64, 256, … ranks.
	minFragments = 8
	minLevel     = 4
	everyLevel   = 2
	// sample is how many classes at most decide whether refining makes a file
	// smaller.
	sample = 128
	// maxExpanded bounds the calls that are looked at one by one.
	maxExpanded = 1 << 26
)

// refine joins classes whose ranks make the same calls in the same order.
func (s *State) refine() {
	if len(s.classes) < 2 || !s.mayRefine() {
		return
	}
	defer func() {
		for _, c := range s.classes {
			c.plain = nil
		}
	}()
	groups := make(map[uint64][]*class)
	var order []uint64
	refined := make(map[uint64]bool)
	for _, c := range s.classes {
		p := c.sequence()
		if p == 0 {
			continue
		}
		if groups[p] == nil {
			order = append(order, p)
		}
		groups[p] = append(groups[p], c)
		refined[p] = refined[p] || c.split
	}
	gone := make(map[*class]*class)
	for _, p := range order {
		g := groups[p]
		if len(g) < 2 {
			continue
		}
		var tried *class
		if !refined[p] {
			if len(g) < minFragments || !s.tries() {
				continue
			}
			if j, ok := s.worth(g[:min(len(g), sample)]); !ok {
				continue
			} else if len(g) <= sample {
				tried = j
			}
		}
		j := tried
		if j == nil {
			j = unite(g)
		}
		if j == nil {
			continue
		}
		gone[g[0]] = j
		for _, c := range g[1:] {
			gone[c] = nil
		}
	}
	if len(gone) == 0 {
		return
	}
	old := s.classes
	s.classes, s.index = nil, nil
	for _, c := range old {
		if j, ok := gone[c]; !ok {
			s.add(c)
		} else if j != nil {
			s.add(j)
		}
	}
}

// mayRefine reports whether there is any chance, without a look at the calls.
func (s *State) mayRefine() bool {
	for _, c := range s.classes {
		if c.split {
			return true
		}
	}
	return len(s.classes) >= minFragments && s.tries()
}

// tries reports whether the block is one in which to try.
func (s *State) tries() bool {
	level := bits.TrailingZeros(uint(s.ranks))
	return s.ranks == 1<<level && level >= minLevel && level%everyLevel == 0
}

// worth reports whether classes take less room as one, or hardly more: a few ranks
// show less of a pattern than all. Where there is none, one class takes twice the
// room from the start. It returns what they are as one.
func (s *State) worth(list []*class) (*class, bool) {
	j := unite(list)
	ranks := s.first + s.ranks
	return j, j != nil && 5*s.fileSize(ranks, j) <= 6*s.fileSize(ranks, list...)
}

// fileSize is what the classes take in a file of their own; their messages
// would say little about that.
func (s *State) fileSize(ranks int, list ...*class) int {
	c := trace.Content{Ranks: ranks, Sites: s.sites, Outer: s.outer}
	for range ranks {
		c.Processes.Append(trace.Process{})
	}
	for _, k := range list {
		out, err := k.content()
		if err != nil {
			return math.MaxInt
		}
		c.Classes = append(c.Classes, out)
	}
	n, err := trace.Estimate(&c)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// sequence returns a hash of the calls of the class's ranks in order, values
// left out; 0 if refining is no matter for it.
func (c *class) sequence() uint64 {
	if c.looked {
		return c.calls
	}
	c.looked = true
	c.calls = 0
	plain := c.unlaned()
	var parts []part
	for _, d := range plain {
		parts = append(parts, d.parts()...)
	}
	for i := range parts {
		h := uint64(1)
		for _, g := range parts[i].streams {
			if g.Len() > maxExpanded/minFragments {
				return 0
			}
			h = (h*0x9fb21c651e98df25 ^ hashOf(g, parts[i].skeletons)) | 1
		}
		if i > 0 && h != c.calls {
			c.calls = 0
			break
		}
		c.calls = h
	}
	return c.calls
}

// A part is the members of a class that repeat everything equally often.
type part struct {
	class *class
	shape
	members []int
}

// maxParts bounds the parts that a class is taken apart into.
const maxParts = 4096

// parts takes a class apart; nil if there are too many.
func (c *class) parts() []part {
	sh := c.shape()
	whole := part{class: c, shape: *sh}
	var varying []int
	var vals [][]int64
	for i := range c.counts {
		if _, ok := c.counts[i].Same(); !ok {
			varying = append(varying, i)
			vals = append(vals, c.counts[i].Values())
		}
	}
	by := make(map[string]int)
	var parts []part
	for m := range c.ranks.Len() {
		var id []byte
		for i := range varying {
			id = wire.AppendVarint(id, vals[i][m])
		}
		n, ok := by[string(id)]
		if !ok {
			if n = len(parts); n == maxParts {
				return nil
			}
			by[string(id)] = n
			p := whole
			p.streams = c.repeated(sh.streams, m)
			parts = append(parts, p)
		}
		parts[n].members = append(parts[n].members, m)
	}
	return parts
}

// repeated returns streams as a member repeats them.
func (c *class) repeated(streams []*grammar.Grammar, member int) []*grammar.Grammar {
	list := make([]*grammar.Grammar, len(streams))
	n := 0
	for i, g := range streams {
		list[i] = g.Renumber(func(t uint32) uint32 { return t })
		for _, body := range list[i].Rules {
			for k := range body {
				if body[k].Count > 1 {
					body[k].Count = uint64(c.counts[n].At(member))
					n++
				}
			}
		}
	}
	return list
}

// hashOf evaluates a polynomial over the sequence of a grammar, modulo 2^61-1,
// without expanding it.
func hashOf(g *grammar.Grammar, skeletons []skeleton) uint64 {
	type value struct{ sum, power uint64 }
	const base = 0x0f3c9a7d5be1482b
	append2 := func(a, b value) value { return value{add(mul(a.sum, b.power), b.sum), mul(a.power, b.power)} }
	rules := make([]value, len(g.Rules))
	done := make([]bool, len(g.Rules))
	type place struct{ rule, at int }
	stack := []place{{0, 0}}
	rules[0] = value{0, 1}
	for len(stack) > 0 {
		p := &stack[len(stack)-1]
		body := g.Rules[p.rule]
		if p.at == len(body) {
			done[p.rule] = true
			stack = stack[:len(stack)-1]
			continue
		}
		sym := body[p.at]
		var v value
		if sym.ID >= 0 {
			k := &skeletons[sym.ID]
			v = value{add(mul(mul(uint64(k.call)+1, base)^k.site>>3, base>>1), uint64(k.width)), base}
		} else if r := int(-sym.ID); done[r] {
			v = rules[r]
		} else {
			rules[r] = value{0, 1}
			stack = append(stack, place{r, 0})
			continue
		}
		for n := sym.Count; n > 0; n >>= 1 {
			if n&1 != 0 {
				rules[p.rule] = append2(rules[p.rule], v)
			}
			v = append2(v, v)
		}
		p.at++
	}
	return rules[0].sum
}

const prime = 1<<61 - 1

func mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a%prime, b%prime)
	return add(lo&prime, lo>>61|hi<<3)
}

func add(a, b uint64) uint64 { return (a%prime + b%prime) % prime }

// unite returns one class in place of several with the same sequence of calls,
// or nil if there is too much to go through or the sequences differ after all.
func unite(list []*class) *class {
	var u united
	for _, c := range list {
		for _, d := range c.unlaned() {
			u.list = append(u.list, d.parts()...)
		}
	}
	if !u.walk() {
		return nil
	}
	j := &class{split: true}
	u.ranks(j)
	t := track.Track{}
	for _, b := range u.streams {
		t.Streams = append(t.Streams, track.Stream{Grammar: b.Grammar()})
	}
	for _, from := range u.terminals {
		k := u.list[0].skeletons[from[0]]
		t.Sigs = append(t.Sigs, signature.Signature{Call: k.call, Site: k.site, Vals: make([]int64, k.width)})
	}
	var counts []int64
	j.key, j.decoded, counts = key(&t)
	j.values = u.values(j.decoded)
	for _, n := range counts {
		j.counts = append(j.counts, column.Constant(n, j.ranks.Len()))
	}
	u.times(j)
	return j
}

// united is what unite goes by.
type united struct {
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
	first := u.expand(0)
	if first == nil {
		return false
	}
	at := slices.Clone(first) // by place: terminal as told apart so far
	for i := 1; i < len(u.list); i++ {
		seq := u.expand(i)
		if len(seq) != len(first) || !slices.Equal(u.ends(i), u.ends(0)) {
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
	for _, end := range u.ends(0) {
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
			seq = u.expand(i)
		}
		for n, k := range places {
			u.terminals[n] = append(u.terminals[n], seq[k])
		}
	}
	return true
}

// ends returns where each stream of a part ends, if all are put in a row.
func (u *united) ends(part int) []uint64 {
	var ends []uint64
	sum := uint64(0)
	for _, g := range u.list[part].streams {
		sum += g.Len()
		ends = append(ends, sum)
	}
	return ends
}

// expand returns the terminals that a part calls, all streams in a row; nil if
// there are too many.
func (u *united) expand(part int) []uint32 {
	ends := u.ends(part)
	if len(ends) == 0 || ends[len(ends)-1] > maxExpanded/uint64(len(u.list)) {
		return nil
	}
	seq := make([]uint32, 0, ends[len(ends)-1])
	for _, g := range u.list[part].streams {
		seq = slices.AppendSeq(seq, g.All())
	}
	return seq
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
	places := make([]struct{ terminal, value int }, sh.width)
	for n, k := range sh.skeletons {
		for i := range k.width {
			p := &places[sh.at(n, i)]
			p.terminal, p.value = n, i
		}
	}
	v := values{nums: make([]uint32, sh.width)}
	known := make(map[string]uint32)
	cols := make([]uint32, len(u.list)) // of each part
	var key, before []byte
	for at, p := range places {
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
	// A part that is a small share of its class is looked up, not expanded.
	vals := make([][]int64, len(from))
	for k := range vals {
		if p := &u.list[k]; 4*len(p.members) >= p.class.ranks.Len() {
			vals[k] = of(k).Values()
		}
	}
	for _, m := range u.members {
		if v := vals[m.part]; v != nil {
			c.Append(v[m.at])
		} else {
			c.Append(of(m.part).At(m.at))
		}
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
