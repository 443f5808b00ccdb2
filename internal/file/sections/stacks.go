package sections

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// The sites that have one site around them are calls in one function, and where that is called from the same place again, it mostly
// makes the same ones. So sites with stacks are lists of places, one for each site. A list begins where the places of a function do, as
// a rule, and is all of these, or what it was where the function was called from elsewhere:
//
//	stacks = stacks uvarint, bodies uvarint, per body: places behind the beginning of that before uvarint,
//	         per site, these too: list uvarint, per new list: body uvarint, per new list: extent
//	list   = 0: a new one; n: the n-th last one of its place, each counted once, at first an empty one
//	body   = 0: the list is empty; 2n + 2: the n-th last of 64 that a new list began with;
//	         2n + 1: that so far from the one behind the last such, zigzag, each other one counted
//	extent = 0: as with the new list before that began there, at first up to the next body; else places uvarint,
//	         per place but the first: (place - the one behind that before) varint
//
// The sites that this makes are numbered as they come, behind the places.

// childLists are the lists at each place, the last one last.
type childLists map[int][][]int

func (x childLists) of(place int) [][]int {
	if l := x[place]; l != nil {
		return l
	}
	return [][]int{nil}
}

// came makes a list the last one of a place; it was n-th last, from 0, or is new if there are no so many.
func (x childLists) came(place, n int, list []int) {
	l := x.of(place)
	if at := len(l) - 1 - n; at >= 0 {
		l = slices.Delete(l, at, at+1)
	} else if len(l) == recent {
		l = slices.Delete(l, 0, 1)
	}
	x[place] = append(l, list)
}

// bodies are the places where functions begin, and which of them lists began with lately.
type bodies struct {
	starts []int
	end    int     // behind the last place
	lists  [][]int // the last one that began there
	lately []int   // the last one last
	others *order
	at     int
}

func newBodies(starts []int, places int) *bodies {
	return &bodies{starts: starts, end: places, lists: make([][]int, len(starts)), others: newOrder(len(starts))}
}

// code says which body it is.
func (x *bodies) code(body int) int {
	if i := slices.Index(x.lately, body); i >= 0 {
		return 2*(len(x.lately)-i) + 2
	}
	return 2*zigzag(x.others.before(body)-x.others.before(x.at)) + 1
}

// body is the reverse; -1: there is none.
func (x *bodies) body(code int) int {
	if code%2 == 0 {
		if n := code/2 - 1; n > 0 && n <= len(x.lately) {
			return x.lately[len(x.lately)-n]
		}
		return -1
	}
	return x.others.at(x.others.before(x.at) + unzigzag(code/2))
}

// came says that a list is what began there last.
func (x *bodies) came(body int, list []int) {
	x.lists[body] = list
	if i := slices.Index(x.lately, body); i >= 0 {
		x.lately = slices.Delete(x.lately, i, i+1)
	} else {
		x.at = body + 1
		x.others.set(body, false)
		if len(x.lately) == recent {
			x.others.set(x.lately[0], true)
			x.lately = slices.Delete(x.lately, 0, 1)
		}
	}
	x.lately = append(x.lately, body)
}

// whole is how many places there are up to the next body.
func (x *bodies) whole(body int) int {
	if body+1 < len(x.starts) {
		return x.starts[body+1] - x.starts[body]
	}
	return x.end - x.starts[body]
}

// expected reports whether a list is what it is if nothing is said.
func (x *bodies) expected(body int, list []int) bool {
	if was := x.lists[body]; was != nil {
		return slices.Equal(was, list)
	}
	return len(list) == x.whole(body) && list[len(list)-1]-list[0] == len(list)-1 && slices.IsSorted(list)
}

// appendStacks writes the sites with stacks.
func (t *siteTable) appendStacks(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(t.stacks)))
	known := make(childLists)
	var of []byte
	var lists [][]int
	var starts []int
	rest := t.stacks
	for i := range len(t.places) + len(t.stacks) {
		var list []int
		for len(rest) > 0 && rest[0].outer == i {
			list = append(list, rest[0].place)
			rest = rest[1:]
		}
		place := t.place(i)
		l := known.of(place)
		n := 0
		for n < len(l) && !slices.Equal(l[len(l)-1-n], list) {
			n++
		}
		known.came(place, n, list)
		if n++; n > len(l) {
			n = 0
			if lists = append(lists, list); len(list) > 0 {
				starts = append(starts, list[0])
			}
		}
		of = wire.AppendUvarint(of, uint64(n))
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	b = wire.AppendUvarint(b, uint64(len(starts)))
	last := 0
	for _, s := range starts {
		b = wire.AppendUvarint(b, uint64(s-last))
		last = s
	}
	b = append(b, of...)
	x := newBodies(starts, len(t.places))
	var extents []byte
	for _, list := range lists {
		if len(list) == 0 {
			b = append(b, 0)
			continue
		}
		body, _ := slices.BinarySearch(starts, list[0])
		b = wire.AppendUvarint(b, uint64(x.code(body)))
		if x.expected(body, list) {
			extents = append(extents, 0)
		} else {
			extents = wire.AppendUvarint(extents, uint64(len(list)))
			for i, p := range list[1:] {
				extents = wire.AppendVarint(extents, int64(p-list[i]-1))
			}
		}
		x.came(body, list)
	}
	return append(b, extents...)
}

// decodeStacks reads them: the number of the site around each and its place, the sites that are places among them.
func decodeStacks(r *wire.Reader, places int) (outer, place []int) {
	stacks := r.Count(1)
	if stacks > r.Rest()-places {
		r.Fail("%d places and %d stacks in %d bytes", places, stacks, r.Rest())
	}
	if r.Err() != nil {
		return nil, nil
	}
	outer, place = make([]int, places, places+stacks), make([]int, places, places+stacks)
	for i := range place {
		place[i] = i
	}
	starts, start := make([]int, r.Count(1)), 0
	for i := range starts {
		if start += r.Int(places - 1 - start); i > 0 && start == starts[i-1] {
			r.Fail("body %d begins where another does", i)
		}
		starts[i] = start
	}
	of, codes := make([]int, places+stacks), []int(nil)
	for i := range of {
		if of[i] = r.Int(recent); of[i] == 0 && r.Err() == nil {
			codes = append(codes, 0)
		}
	}
	for i := range codes {
		codes[i] = r.Int(4*len(starts) + 2*recent + 2)
	}
	lists, x := make(childLists), newBodies(starts, places)
	for i := 0; i < len(place) && r.Err() == nil; i++ {
		l := lists.of(place[i])
		n, room := of[i]-1, cap(place)-len(place)
		var list []int
		switch {
		case n < 0:
			list, codes = x.read(r, codes[0], room), codes[1:]
			n = len(l)
		case n < len(l):
			list = l[len(l)-1-n]
		default:
			r.Fail("list %d of %d", n, len(l))
		}
		if len(list) > room {
			r.Fail("more than %d stacks", stacks)
		}
		if r.Err() != nil {
			return nil, nil
		}
		for _, p := range list {
			outer, place = append(outer, i), append(place, p)
		}
		lists.came(place[i], n, list)
	}
	if len(place) < cap(place) {
		r.Fail("%d stacks of %d", len(place)-places, stacks)
		return nil, nil
	}
	return outer, place
}

// read reads a new list of at most so many places.
func (x *bodies) read(r *wire.Reader, code, most int) []int {
	if code == 0 {
		return nil
	}
	body := x.body(code)
	if body < 0 {
		r.Fail("no body by code %d", code)
		return nil
	}
	n := r.Int(most)
	list := x.lists[body]
	if n > 0 {
		list = append(make([]int, 0, min(n, r.Rest()+1)), x.starts[body])
		for range n - 1 {
			behind := list[len(list)-1] + 1
			p := further(r, behind, x.end)
			if r.Err() != nil {
				return nil
			}
			list = append(list, p)
		}
	} else if list == nil {
		if n = x.whole(body); n > most {
			r.Fail("%d places, but %d stacks are left", n, most)
			return nil
		}
		for i := range n {
			list = append(list, x.starts[body]+i)
		}
	}
	x.came(body, list)
	return list
}

// An order is a set of numbers below n, at first all of them, of which the k-th is found in logarithmic time: a Fenwick tree.
type order struct {
	sums []int32 // at i: of the i & -i numbers below i
	n    int
}

func newOrder(n int) *order {
	o := &order{sums: make([]int32, n+1), n: n}
	for i := 1; i <= n; i++ {
		o.sums[i] = int32(i & -i)
	}
	return o
}

// set puts a number in that isn't there, or takes one out that is.
func (o *order) set(i int, in bool) {
	by := int32(1)
	if !in {
		by = -1
	}
	o.n += int(by)
	for i++; i < len(o.sums); i += i & -i {
		o.sums[i] += by
	}
}

// before is how many of them are less than i.
func (o *order) before(i int) (n int) {
	for ; i > 0; i -= i & -i {
		n += int(o.sums[i])
	}
	return n
}

// at is the k-th, from 0; -1: there are no so many.
func (o *order) at(k int) int {
	if k < 0 || k >= o.n {
		return -1
	}
	i := 0
	for step := 1 << bits.Len(uint(len(o.sums))) >> 1; step > 0; step >>= 1 {
		if i+step < len(o.sums) && int(o.sums[i+step]) <= k {
			i += step
			k -= int(o.sums[i])
		}
	}
	return i
}
