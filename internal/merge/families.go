package merge

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// minLaned is from how many distinct calls on a family is worth a look. Below, it
// has little to gain, and each call keeps times of its own.
const minLaned = 8

// A family is terminals of a class that differ in values only that may be in a lane.
type family struct {
	terminals []int
	layout    *signature.Layout
	values    []int // those that differ
	calls     uint64
	first     int // terminal of the first call
	steps     *grammar.Grammar
	by        [][]column.Column // by step, by value
}

// families returns the families with enough terminals for a lane. There may be a
// million terminals in as many families, so that no more than numbers are kept of each
// until they are known.
func (c *class) families(sh *shape) []*family {
	inLane := make([]bool, len(sh.skeletons))
	for _, l := range sh.lanes {
		inLane[l.terminal] = true
	}
	// Most have too few terminals to begin with.
	members := make([]int32, len(sh.skeletons))
	most := int32(0)
	for t, first := range sh.like {
		if !inLane[t] {
			members[first]++
			most = max(most, members[first])
		}
	}
	if most < minLaned {
		return nil
	}
	k := kinship{c: c, sh: sh, of: make([]int32, len(sh.skeletons)), moves: make(map[int]*moves)}
	for t, first := range sh.like {
		k.of[t] = -1
		if members[first] < minLaned || inLane[t] {
			continue
		}
		m, ok := k.movable(t)
		if !ok {
			return nil
		}
		if len(m.Values) > 0 {
			k.add(t, m)
		}
	}
	large := make([]*family, len(k.first))
	var list []*family
	for t, n := range k.of {
		if n < 0 || k.members[n] < minLaned {
			continue
		}
		x := large[n]
		if x == nil {
			m := k.moves[sh.like[t]]
			x = &family{layout: m.layout}
			large[n] = x
			list = append(list, x)
		}
		x.terminals = append(x.terminals, t)
	}
	return slices.DeleteFunc(list, func(x *family) bool {
		if !c.alike(sh, x.terminals[0], x) {
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

// kinship puts terminals into families.
type kinship struct {
	c       *class
	sh      *shape
	moves   map[int]*moves // by first terminal of a skeleton
	of      []int32        // by terminal: its family, -1 for none
	first   []int32        // by family: its first terminal
	members []int32        // by family
	slots   []uint32       // open addressing: 1 + family
	vals    []int64
}

// moves is which values of a terminal may be in a lane, and what that follows from: it
// is the same of most terminals with one skeleton.
type moves struct {
	signature.Moves
	layout *signature.Layout // nil: the function has nothing that moves
	vals   []int64           // what it was found out of; nil: nothing so far
}

// find looks at the values of a signature.
func (m *moves) find(vals []int64) {
	m.Moves, m.vals = signature.Moves{}, nil
	if m.layout == nil {
		return
	}
	if spans, err := m.layout.Spans(nil, vals); err == nil {
		m.Find(m.layout, spans, vals)
		m.vals = append(m.vals, vals...)
	}
}

// fits reports whether the same values of a signature may move.
func (m *moves) fits(vals []int64) bool {
	if m.vals == nil {
		return false
	}
	for _, i := range m.Forms {
		if vals[i] != m.vals[i] {
			return false
		}
	}
	for _, i := range m.Segments {
		if signature.SegClass(vals[i]) != signature.SegClass(m.vals[i]) {
			return false
		}
	}
	return true
}

// movable returns which values of a terminal may move; false if nobody knows its function.
func (k *kinship) movable(t int) (*moves, bool) {
	s := &k.sh.skeletons[t]
	m := k.moves[k.sh.like[t]]
	if m == nil {
		call, ok := mpi.ByID(s.call)
		if !ok {
			return nil, false
		}
		m = &moves{}
		if !call.Binds() {
			l := signature.LayoutOf(call)
			m.layout = &l
		}
		k.moves[k.sh.like[t]] = m
	}
	k.vals = k.vals[:0]
	for i := range s.width {
		k.vals = append(k.vals, k.c.values.cols[k.c.values.nums[k.sh.at(t, i)]].At(0))
	}
	if !m.fits(k.vals) {
		m.find(k.vals)
	}
	return m, true
}

// add puts a terminal into the family of those that differ from it in nothing but
// values that may move.
func (k *kinship) add(t int, m *moves) {
	if 2*len(k.first) >= len(k.slots) {
		k.grow()
	}
	at := k.slot(t, m.Values)
	n := k.slots[at]
	if n == 0 {
		k.first, k.members = append(k.first, int32(t)), append(k.members, 0)
		n = uint32(len(k.first))
		k.slots[at] = n
	}
	k.of[t] = int32(n - 1)
	k.members[n-1]++
}

// slot returns where the number of a terminal's family is, or would be.
func (k *kinship) slot(t int, movable []int32) uint64 {
	const factor = 0x9fb21c651e98df25
	h := uint64(k.sh.like[t]+1) * factor
	next := 0
	for i := range k.sh.skeletons[t].width {
		v := uint64(i) << 32 // which these are is told by values, so perhaps not the same everywhere
		if next < len(movable) && movable[next] == int32(i) {
			next++
		} else {
			v = uint64(k.c.values.nums[k.sh.at(t, i)]) + 1
		}
		h = (bits.RotateLeft64(h, 25) ^ v) * factor
	}
	mask := uint64(len(k.slots) - 1)
	at := h >> 20 & mask
	for k.slots[at] > 0 && !k.kin(t, int(k.first[k.slots[at]-1]), movable) {
		at = (at + 1) & mask
	}
	return at
}

// kin reports whether two terminals differ in nothing but values that may move.
func (k *kinship) kin(t, first int, movable []int32) bool {
	if k.sh.like[t] != k.sh.like[first] {
		return false
	}
	next := 0
	for i := range k.sh.skeletons[t].width {
		if next < len(movable) && movable[next] == int32(i) {
			next++
		} else if k.c.values.nums[k.sh.at(t, i)] != k.c.values.nums[k.sh.at(first, i)] {
			return false
		}
	}
	// What tells which values move is the same, so these are.
	return true
}

func (k *kinship) grow() {
	k.slots = make([]uint32, max(64, 2*len(k.slots)))
	for n, t := range k.first {
		m, _ := k.movable(int(t))
		k.slots[k.slot(int(t), m.Values)] = uint32(n) + 1
	}
}

// alike reports whether the same values of a terminal may move on all ranks: what
// tells where they stand is the same.
func (c *class) alike(sh *shape, t int, x *family) bool {
	of := func(i int) *column.Column { return &c.values.cols[c.values.nums[sh.at(t, i)]] }
	vals := make([]int64, sh.skeletons[t].width)
	for i := range vals {
		vals[i] = of(i).At(0)
	}
	m := moves{layout: x.layout}
	m.find(vals)
	for _, i := range m.Forms {
		if _, same := of(int(i)).Same(); !same {
			return false
		}
	}
	for _, i := range m.Segments {
		for _, r := range of(int(i)).Runs() {
			if signature.SegClass(r.Start) != signature.SegClass(vals[i]) || r.Count > 1 && signature.SegClass(r.Stride) != 0 {
				return false
			}
		}
	}
	return true
}
