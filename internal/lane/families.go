package lane

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// minFamily is from how many distinct calls on a family is worth a look. Below, it
// has little to gain, and each call keeps times of its own.
const minFamily = 8

// A Class is what Find looks at: terminals of a class whose ranks all repeat everything
// equally often.
type Class struct {
	Like    []int           // by terminal: the first one of the same call and site, with as many values
	Laned   []bool          // by terminal: it has a lane
	Columns []column.Column // all different, of so many Ranks
	Ranks   int

	// Of tells the function of a terminal and how many values it has, Num which of Columns one is.
	Of  func(terminal int) (call uint16, width int)
	Num func(terminal, value int) uint32
}

// width is how many values a terminal has.
func (c *Class) width(t int) int {
	_, n := c.Of(t)
	return n
}

// A Family is terminals of a class that differ in values only that may be in a lane.
type Family struct {
	Terminals []int
	Values    []int // those that differ
	First     int   // terminal of the first call
	Calls     uint64
	Steps     *grammar.Grammar
	By        [][]column.Column // by step, by value

	layout *signature.Layout
}

// families returns the families with enough terminals for a lane. There may be a
// million terminals in as many families, so that no more than numbers are kept of each
// until they are known.
func (c *Class) families() []*Family {
	// Most have too few terminals to begin with.
	members := make([]int32, len(c.Like))
	most := int32(0)
	for t, first := range c.Like {
		if !c.Laned[t] {
			members[first]++
			most = max(most, members[first])
		}
	}
	if most < minFamily {
		return nil
	}
	k := kinship{Class: c, of: make([]int32, len(c.Like)), moves: make(map[int]*moves)}
	for t, first := range c.Like {
		k.of[t] = -1
		if members[first] < minFamily || c.Laned[t] {
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
	large := make([]*Family, len(k.first))
	var list []*Family
	for t, n := range k.of {
		if n < 0 || k.members[n] < minFamily {
			continue
		}
		x := large[n]
		if x == nil {
			x = &Family{layout: k.moves[c.Like[t]].layout}
			large[n] = x
			list = append(list, x)
		}
		x.Terminals = append(x.Terminals, t)
	}
	return slices.DeleteFunc(list, func(x *Family) bool {
		first := x.Terminals[0]
		if !c.alike(first, x.layout) {
			return true
		}
		for i := range c.width(first) {
			num := c.Num(first, i)
			if slices.ContainsFunc(x.Terminals, func(t int) bool { return c.Num(t, i) != num }) {
				x.Values = append(x.Values, i)
			}
		}
		return len(x.Values) == 0
	})
}

// kinship puts terminals into families.
type kinship struct {
	*Class
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
	Moves
	layout *signature.Layout // nil: the function has nothing that moves
	vals   []int64           // what it was found out of; nil: nothing so far
}

// find looks at the values of a signature.
func (m *moves) find(vals []int64) {
	m.Moves, m.vals = Moves{}, nil
	if m.layout == nil {
		return
	}
	if spans, err := m.layout.Spans(nil, vals); err == nil {
		m.Find(m.layout, spans, vals)
		m.vals = append(m.vals, vals...)
	}
}

// movable returns which values of a terminal may move; false if nobody knows its function.
func (k *kinship) movable(t int) (*moves, bool) {
	m := k.moves[k.Like[t]]
	if m == nil {
		id, _ := k.Of(t)
		call, ok := mpi.ByID(id)
		if !ok {
			return nil, false
		}
		m = &moves{}
		if !call.Binds() {
			l := signature.LayoutOf(call)
			m.layout = &l
		}
		k.moves[k.Like[t]] = m
	}
	k.vals = k.vals[:0]
	for i := range k.width(t) {
		k.vals = append(k.vals, k.Columns[k.Num(t, i)].At(0))
	}
	if m.vals == nil || !m.Fits(m.vals, k.vals) {
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
	h := uint64(k.Like[t]+1) * factor
	next := 0
	for i := range k.width(t) {
		v := uint64(i) << 32 // which these are is told by values, so perhaps not the same everywhere
		if next < len(movable) && movable[next] == int32(i) {
			next++
		} else {
			v = uint64(k.Num(t, i)) + 1
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
	if k.Like[t] != k.Like[first] {
		return false
	}
	next := 0
	for i := range k.width(t) {
		if next < len(movable) && movable[next] == int32(i) {
			next++
		} else if k.Num(t, i) != k.Num(first, i) {
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
func (c *Class) alike(t int, l *signature.Layout) bool {
	of := func(i int32) *column.Column { return &c.Columns[c.Num(t, int(i))] }
	vals := make([]int64, c.width(t))
	for i := range vals {
		vals[i] = of(int32(i)).At(0)
	}
	m := moves{layout: l}
	m.find(vals)
	for _, i := range m.Forms {
		if _, same := of(i).Same(); !same {
			return false
		}
	}
	for _, i := range m.Segments {
		for _, r := range of(i).Runs() {
			if signature.SegClass(r.Start) != signature.SegClass(vals[i]) || r.Count > 1 && signature.SegClass(r.Stride) != 0 {
				return false
			}
		}
	}
	return true
}
