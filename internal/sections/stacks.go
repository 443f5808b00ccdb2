package sections

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// The sites that have one site around them are calls in one function, and where that is called from the same place again, it mostly
// makes the same ones. So sites with stacks are lists of places, one for each site:
//
//	stacks = stacks uvarint, per site, these too: list uvarint,
//	         per place of a new list: (place - the one behind that before) varint
//	list   = n: the n-th last one of its place, each counted once, at first an empty one; n more than there are: a new one of n places
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

// came makes a list the last one of a place; it was n-th last, or is new if there are no so many.
func (x childLists) came(place, n int, list []int) {
	l := x.of(place)
	if at := len(l) - 1 - n; at >= 0 {
		l = slices.Delete(l, at, at+1)
	} else if len(l) == recent {
		l = slices.Delete(l, 0, 1)
	}
	x[place] = append(l, list)
}

// appendStacks writes the sites with stacks.
func (t *siteTable) appendStacks(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(t.stacks)))
	lists := make(childLists)
	var places []byte
	rest, behind := t.stacks, 0
	for i := range len(t.places) + len(t.stacks) {
		var list []int
		for len(rest) > 0 && rest[0].outer == i {
			list = append(list, rest[0].place)
			rest = rest[1:]
		}
		place := t.place(i)
		l := lists.of(place)
		n := 0
		for n < len(l) && !slices.Equal(l[len(l)-1-n], list) {
			n++
		}
		if n == len(l) {
			b = wire.AppendUvarint(b, uint64(n+len(list)-1))
			for _, p := range list {
				places = wire.AppendVarint(places, int64(p-behind))
				behind = p + 1
			}
		} else {
			b = wire.AppendUvarint(b, uint64(n))
		}
		lists.came(place, n, list)
	}
	return append(b, places...)
}

// decodeStacks reads them: the number of the site around each and its place, the sites that are places among them.
func decodeStacks(r *wire.Reader, places, version int) (outer, place []int) {
	stacks := r.Count(1)
	if version >= container.Paths && stacks > r.Rest()-places {
		r.Fail("%d places and %d stacks in %d bytes", places, stacks, r.Rest())
	}
	if r.Err() != nil {
		return nil, nil
	}
	outer, place = make([]int, places, places+stacks), make([]int, places, places+stacks)
	for i := range place {
		place[i] = i
	}
	if version < container.Paths {
		for range stacks {
			p := r.Int(places - 1)
			back := r.Int(len(place))
			if back == 0 {
				r.Fail("site around itself")
			}
			outer, place = append(outer, len(place)-back), append(place, p)
		}
		return outer, place
	}
	of := make([]int, places+stacks)
	for i := range of {
		of[i] = r.Int(places + stacks + recent)
	}
	lists := make(childLists)
	behind := 0
	for i := 0; i < len(place) && r.Err() == nil; i++ {
		l := lists.of(place[i])
		n := of[i]
		var list []int
		if n < len(l) {
			list = l[len(l)-1-n]
		} else {
			list = make([]int, 0, min(n+1-len(l), r.Rest()))
			for range n + 1 - len(l) {
				p := further(r, behind, places)
				if r.Err() != nil {
					return nil, nil
				}
				list, behind = append(list, p), p+1
			}
			n = len(l)
		}
		if len(list) > cap(place)-len(place) {
			r.Fail("more than %d stacks", stacks)
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
