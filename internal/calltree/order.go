package calltree

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
)

// A Transition is two items, From and To, that a rank observed one directly after the other.
type Transition struct{ From, To int }

// An ObservedOrder is the order of calls, or of other numbered items, that a rank observed.
type ObservedOrder struct {
	Items       []int               // items in order of first occurrence
	Transitions map[Transition]bool // consecutive items
}

// A LoopOrder is the order of items in the program and its loops, derived from several ranks. A step back in the order
// begins another iteration of a loop. Loops are nested or disjoint.
type LoopOrder struct {
	Items    []int // all items, in the program's order
	Position []int // by item: its index in Items
	Loops    []PositionInterval
	// InnermostLoop is, by position in Items, the index of the innermost loop that contains it. OuterLoop is, by index
	// of a loop, the index of the next enclosing loop. Both are NoLoop if there is no such loop.
	InnermostLoop, OuterLoop []int
}

// NoLoop is the index that means "no loop".
const NoLoop = -1

// A PositionInterval is a range of positions in LoopOrder.Items, from First to Last inclusive.
type PositionInterval struct{ First, Last int }

// Has reports whether the interval contains a position.
func (i PositionInterval) Has(place int) bool { return i.First <= place && place <= i.Last }

// FindLoopOrder computes the order of items and the loops.
func FindLoopOrder(items int, courses []ObservedOrder) *LoopOrder {
	o := &LoopOrder{Items: merged(items, courses), Position: make([]int, items)}
	for place, c := range o.Items {
		o.Position[c] = place
	}
	o.Loops = o.loops(courses)
	o.InnermostLoop, o.OuterLoop = make([]int, len(o.Items)), make([]int, len(o.Loops))
	for i := range o.InnermostLoop {
		o.InnermostLoop[i] = NoLoop
	}
	for n, l := range o.Loops { // outer loops come before inner ones
		o.OuterLoop[n] = o.InnermostLoop[l.First]
		for place := l.First; place <= l.Last; place++ {
			o.InnermostLoop[place] = n
		}
	}
	return o
}

// CommonLoop returns the innermost loop that contains both positions.
func (o *LoopOrder) CommonLoop(a, b int) int {
	n := o.InnermostLoop[a]
	for n != NoLoop && !o.Loops[n].Has(b) {
		n = o.OuterLoop[n]
	}
	return n
}

// merged merges the ranks' orders of first occurrence, beginning with the rank that has most items.
func merged(items int, courses []ObservedOrder) (order []int) {
	var firsts [][]int
	seen := make(map[string]bool)
	for _, c := range courses {
		if key := fmt.Sprint(c.Items); !seen[key] {
			seen[key] = true
			firsts = append(firsts, c.Items)
		}
	}
	slices.SortStableFunc(firsts, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	known := make([]bool, items)
	for _, list := range firsts {
		if !slices.ContainsFunc(list, func(c int) bool { return !known[c] }) {
			continue
		}
		at := len(order) // new items are inserted before the next known one
		for _, c := range slices.Backward(list) {
			if known[c] {
				at = min(at, slices.Index(order, c))
				continue
			}
			order = slices.Insert(order, at, c)
			known[c] = true
		}
	}
	return order
}

// A siteSet is a set of items, with a bit for each position in LoopOrder.Items.
type siteSet []uint64

func (s siteSet) has(p int) bool { return s[p/64]>>(p%64)&1 != 0 }

func (s siteSet) add(o siteSet) {
	for i, w := range o {
		s[i] |= w
	}
}

// A span is a candidate for a loop, with the positions of all items of the ranks that observed it.
type span struct {
	PositionInterval
	has siteSet
}

// loops computes the loops from steps back. Overlapping loops are merged. A loop within another one is separate
// only if some rank that steps back in it has items of the outer loop outside of it; otherwise its ranks merely
// lack those items.
func (o *LoopOrder) loops(courses []ObservedOrder) (out []PositionInterval) {
	by := make(map[PositionInterval]*span)
	var list []*span
	for _, c := range courses {
		own := make(siteSet, len(o.Items)/64+1)
		for _, item := range c.Items {
			p := o.Position[item]
			own[p/64] |= 1 << (p % 64)
		}
		for s := range c.Transitions {
			if from, to := o.Position[s.From], o.Position[s.To]; to <= from {
				i := PositionInterval{to, from}
				once.GetOrAppend(by, i, &list, func() *span { return &span{i, make(siteSet, len(own))} }).has.add(own)
			}
		}
	}
	for again := true; again; {
		slices.SortFunc(list, func(a, b *span) int {
			return cmp.Or(cmp.Compare(a.Last-a.First, b.Last-b.First), cmp.Compare(a.First, b.First))
		})
		again = false
		for i, a := range list {
			k := slices.IndexFunc(list[i+1:], func(b *span) bool { return a.partOf(b) })
			if k < 0 {
				continue
			}
			b := list[i+1+k]
			b.First, b.Last = min(a.First, b.First), max(a.Last, b.Last)
			b.has.add(a.has)
			list = slices.Delete(list, i, i+1)
			again = true
			break
		}
	}
	for _, s := range list {
		out = append(out, s.PositionInterval)
	}
	slices.SortFunc(out, func(a, b PositionInterval) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(b.Last, a.Last))
	})
	return out
}

// partOf reports whether s and b, which is at least as large, are candidates for one loop.
func (s *span) partOf(b *span) bool {
	switch {
	case s.Last < b.First || b.Last < s.First:
		return false
	case s.PositionInterval == b.PositionInterval || b.First > s.First || s.Last > b.Last:
		return true
	}
	for p := b.First; p <= b.Last; p++ {
		if !s.Has(p) && s.has.has(p) {
			return false
		}
	}
	return true
}
