package sections

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// The sites with the same caller are calls in one function. Where this function is called again from the caller's
// place, it mostly makes the same calls. So sites with stacks are written as lists: for each site, the places of the
// calls that the function called there makes. A body is all places from one with which some list begins up to the next
// such one; mostly they are one function. A list mostly has all places of a body, or those of the latest list with it:
//
//	stacks = stacks uvarint, bodies uvarint, per body: places behind the beginning of that before uvarint,
//	         per site, these too: list uvarint, per new list: body uvarint, per new list: extent
//	list   = 0: a new list; n: the n-th last list of its place, each counted once, at first an empty one
//	body   = 0: the list is empty; 2n + 2: the n-th last of the 64 bodies with which new lists began lately;
//	         2n + 1: the body at this distance from the one after the last such, zigzag, only others counted
//	extent = 0: as with the new list before that began there, at first up to the next body; else places uvarint,
//	         per place but the first: (place - the one behind that before) varint
//
// The resulting sites are numbered in this order, after the places.

// childLists are, by place, the distinct lists that sites with this place had lately, the latest one last.
type childLists map[int][][]int

func (x childLists) of(place int) [][]int {
	if l := x[place]; l != nil {
		return l
	}
	return [][]int{nil}
}

// came makes a list the latest one of a place. n is the list's previous position among the place's lists, counted from
// the end, from 0. If the place has at most n lists, the list is new.
func (x childLists) came(place, n int, list []int) {
	l := x.of(place)
	if at := len(l) - 1 - n; at >= 0 {
		l = slices.Delete(l, at, at+1)
	} else if len(l) == recent {
		l = slices.Delete(l, 0, 1)
	}
	x[place] = append(l, list)
}

// bodies numbers the bodies from 0 in order of their first places, and records those with which recent lists began.
type bodies struct {
	starts []int
	end    int     // number of places, where the last body ends
	lists  [][]int // by body: the latest list that began there
	lately []int   // the bodies of the latest new lists, each once, the latest one last
	others *fenwick
	at     int
}

func newBodies(starts []int, places int) *bodies {
	return &bodies{starts: starts, end: places, lists: make([][]int, len(starts)), others: newOrder(len(starts))}
}

// code returns the number by which the file refers to a body.
func (x *bodies) code(body int) int {
	if i := slices.Index(x.lately, body); i >= 0 {
		return 2*(len(x.lately)-i) + 2
	}
	return 2*zigzag(x.others.before(body)-x.others.before(x.at)) + 1
}

// body returns the body for which code returned a number; -1 if the number is invalid.
func (x *bodies) body(code int) int {
	if code%2 == 0 {
		if n := code/2 - 1; n > 0 && n <= len(x.lately) {
			return x.lately[len(x.lately)-n]
		}
		return -1
	}
	return x.others.at(x.others.before(x.at) + unzigzag(code/2))
}

// came makes list the latest one that begins at a body, and the body the latest one in lately.
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

// usual returns the list that is expected to begin at a body: the latest one that did, else all places up to the next
// body.
func (x *bodies) usual(body int) []int {
	list := x.lists[body]
	if list != nil {
		return list
	}
	end := x.end
	if body+1 < len(x.starts) {
		end = x.starts[body+1]
	}
	for p := x.starts[body]; p < end; p++ {
		list = append(list, p)
	}
	return list
}

// codeExtent codes a new list of at most most places that begins at a body.
func (x *bodies) codeExtent(c *wire.Coder, body int, list *[]int, most int) {
	usual, n := x.usual(body), 0
	if c.Reader == nil && !slices.Equal(*list, usual) {
		n = len(*list)
	}
	wire.CodeBounded(c, &n, most)
	if c.Reader != nil {
		if *list = usual; n > 0 {
			*list = append(make([]int, 0, min(n, c.Reader.RemainingLen()+1)), x.starts[body])
		}
	}
	for i := 1; i < n && !c.Failed(); i++ {
		after := (*list)[i-1] + 1
		if c.Reader != nil {
			*list = append(*list, 0)
		}
		codeFurther(c, &(*list)[i], after, x.end)
	}
	x.came(body, *list)
}

// A stackCode is the encoded stacks up to the extents.
type stackCode struct {
	stacks int
	starts []int // numbers of the first places of the bodies, ascending
	lists  []int // by site: the code of its list, as list above
	bodies []int // by new list: the code of its body, as body above
}

// code codes the stacks up to the extents; places is the number of places in the table of sites.
func (x *stackCode) code(c *wire.Coder, places int) {
	c.Count(&x.stacks, 1)
	if c.Reader != nil {
		if c.RefuseIf(x.stacks > c.Reader.RemainingLen()-places, "%d places and %d stacks in %d bytes", places, x.stacks, c.Reader.RemainingLen()); c.Failed() {
			return
		}
		x.lists = make([]int, places+x.stacks)
	}
	last, lists := 0, 0
	wire.CodeList(c, &x.starts, 1, func(i int, start *int) {
		wire.CodeAbove(c, start, last, places-1-last)
		if i > 0 && *start == last {
			c.RefuseIf(true, "body %d begins where another does", i)
		}
		last = *start
	})
	for i := range x.lists {
		if wire.CodeBounded(c, &x.lists[i], recent); x.lists[i] == 0 {
			lists++
		}
	}
	if c.Reader != nil && !c.Failed() {
		x.bodies = make([]int, lists)
	}
	for i := range x.bodies {
		wire.CodeBounded(c, &x.bodies[i], 4*len(x.starts)+2*recent+2)
	}
}

// appendStacks writes the sites with stacks.
func (t *siteTable) appendStacks(b []byte) []byte {
	code := stackCode{stacks: len(t.stacks), lists: make([]int, len(t.places)+len(t.stacks))}
	known := make(childLists)
	var lists [][]int
	rest := t.stacks
	for i := range code.lists {
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
		if n < len(l) {
			code.lists[i] = n + 1
		} else if lists = append(lists, list); len(list) > 0 {
			code.starts = append(code.starts, list[0])
		}
	}
	slices.Sort(code.starts)
	code.starts = slices.Compact(code.starts)
	code.bodies = make([]int, len(lists))
	x := newBodies(code.starts, len(t.places))
	extents := wire.AppendEncoded(nil, func(c *wire.Coder) {
		for i, list := range lists {
			if len(list) > 0 {
				body, _ := slices.BinarySearch(code.starts, list[0])
				code.bodies[i] = x.code(body)
				x.codeExtent(c, body, &list, 0)
			}
		}
	})
	return append(wire.AppendEncoded(b, func(c *wire.Coder) { code.code(c, len(t.places)) }), extents...)
}

// decodeStacks reads the sites with stacks. It returns, by number of a site, the numbers of its caller and of its
// place, also for the sites without a stack.
func decodeStacks(r *wire.Reader, places int) (outer, place []int) {
	var code stackCode
	c := &wire.Coder{Reader: r}
	if code.code(c, places); c.Failed() {
		return nil, nil
	}
	outer, place = make([]int, places, places+code.stacks), make([]int, places, places+code.stacks)
	for i := range place {
		place[i] = i
	}
	lists, x := make(childLists), newBodies(code.starts, places)
	for i := 0; i < len(place); i++ {
		l := lists.of(place[i])
		n, room := code.lists[i]-1, cap(place)-len(place)
		var list []int
		switch {
		case n < 0:
			if code.bodies[0] > 0 {
				if body := x.body(code.bodies[0]); body >= 0 {
					x.codeExtent(c, body, &list, room)
				} else {
					r.Fail("no body by code %d", code.bodies[0])
				}
			}
			code.bodies = code.bodies[1:]
			n = len(l)
		case n < len(l):
			list = l[len(l)-1-n]
		default:
			r.Fail("list %d of %d", n, len(l))
		}
		if len(list) > room {
			r.Fail("%d places, but %d stacks are left", len(list), room)
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
		r.Fail("%d stacks of %d", len(place)-places, code.stacks)
		return nil, nil
	}
	return outer, place
}

// A fenwick is a Fenwick tree: a set of numbers below n, initially all of them, with access to the k-th in
// logarithmic time.
type fenwick struct {
	sums []int32 // at i: count of the set's numbers among the i & -i numbers below i
	n    int
}

func newOrder(n int) *fenwick {
	o := &fenwick{sums: make([]int32, n+1), n: n}
	for i := 1; i <= n; i++ {
		o.sums[i] = int32(i & -i)
	}
	return o
}

// set adds a number that is not in the set, or removes one that is.
func (o *fenwick) set(i int, in bool) {
	by := int32(1)
	if !in {
		by = -1
	}
	o.n += int(by)
	for i++; i < len(o.sums); i += i & -i {
		o.sums[i] += by
	}
}

// before returns how many numbers of the set are less than i.
func (o *fenwick) before(i int) (n int) {
	for ; i > 0; i -= i & -i {
		n += int(o.sums[i])
	}
	return n
}

// at returns the k-th smallest number of the set, from 0; -1 if the set has at most k numbers.
func (o *fenwick) at(k int) int {
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
