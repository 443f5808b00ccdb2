package bysite

import (
	"errors"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// Ways in which a column can be given.
const (
	constant = iota // one number, and that plus the rank
	ofRank
	counted // by how many rounds of something around it are over, and how many there are
	looked  // by a table of how many are over
	like    // by a column that stands before
	kept
	together // as the call before in the loop
)

// A formula gives a column of all ranks.
//
//	formula = way uint8, 0 and 1: a varint; 2: around uvarint, a, b, c varint; 3: around uvarint, size uvarint, number varint…;
//	        4: back uvarint, a varint, b varint; 5: bits uvarint; 6: nothing
//
// As bytes it says of others where they are from the column: around is how many nodes are between, back how many stand behind the other column and before
// this one, bit 0 is that of the innermost node. So sites whose calls are alike have the same bytes.
type formula struct {
	way     int
	a, b, c int64 // a + b·index + c·count, a + b·other
	of      int   // the how manieth around it, or the other column
	table   []int64
	same    []bool // by node around it, outermost first: the same in all rounds, so only the first is kept
}

// A fitter finds formulas of the columns of a tree.
type fitter struct{ t *tree }

// all goes through a column of all ranks.
func (f *fitter) all(n int, ok func(rank, i int, v int64) bool) bool {
	for rank := range f.t.nodes[n].cols {
		c := &f.t.nodes[n].cols[rank]
		if c.list == nil {
			if c.n > 0 && !ok(rank, 0, c.v) {
				return false
			}
			continue
		}
		for i, v := range c.list {
			if !ok(rank, i, v) {
				return false
			}
		}
	}
	return true
}

// fit finds a formula, of columns that are complete.
func (f *fitter) fit(n int) formula {
	first, at, some := int64(0), 0, false
	f.all(n, func(rank, _ int, v int64) bool { first, at, some = v, rank, true; return false })
	if !some || f.all(n, func(_, _ int, v int64) bool { return v == first }) {
		return formula{way: constant, a: first}
	}
	if f.all(n, func(rank, _ int, v int64) bool { return v-int64(rank) == first-int64(at) }) {
		return formula{way: ofRank, a: first - int64(at)}
	}
	if before := f.t.nodes[n].before; before >= 0 {
		if m, ok := f.likeThat(n, before); ok && m.a == 0 && m.b == 1 {
			return formula{way: together}
		}
	}
	m := formula{way: kept, same: make([]bool, len(f.t.nodes[n].path))}
	repeats := make([]bool, len(m.same))
	for i := range repeats {
		repeats[i] = f.repeats(n, i)
	}
	for around := len(m.same) - 1; around >= 0; around-- {
		if repeats[around] {
			if m, ok := f.countedBy(n, around); ok {
				return m
			}
		}
	}
	if m, ok := f.like(n); ok {
		return m
	}
	for i := range m.same {
		if m.same[i] = repeats[i]; m.same[i] && !f.holds(n, m.same) {
			m.same[i] = false
		}
	}
	return m
}

// indexes tells, for each number of a column, how many rounds of a node around it are over, and how many there are.
func (f *fitter) indexes(n, around, rank int, each func(i int, index, count int64) bool) bool {
	t := f.t
	path := t.nodes[n].path
	next := 0
	// inner goes through what is in the i-th of the node at a depth.
	var inner func(depth, i int, index, count int64) bool
	inner = func(depth, i int, index, count int64) bool {
		from, to := t.start(path[depth], rank, i), t.start(path[depth], rank, i+1)
		for q := from; q < to; q++ {
			if depth == around {
				index, count = int64(q-from), int64(to-from)
			}
			if depth == len(path)-1 {
				if !each(next, index, count) {
					return false
				}
				next++
			} else if !inner(depth+1, q, index, count) {
				return false
			}
		}
		return true
	}
	return inner(0, 0, 0, 0)
}

// mostTable is how many numbers a table has at most.
const mostTable = 64

// countedBy finds a formula by rounds of a node around.
func (f *fitter) countedBy(n, around int) (formula, bool) {
	m := formula{way: counted, of: around}
	type point struct{ index, count, v int64 }
	var points []point
	table := make(map[int64]int64)
	listed := true
	for rank := range f.t.nodes[n].cols {
		c := &f.t.nodes[n].cols[rank]
		on := f.indexes(n, around, rank, func(i int, index, count int64) bool {
			p := point{index, count, c.at(i)}
			switch len(points) {
			case 0:
				points = append(points, p)
			case 1: // with another index
				if p.index != points[0].index && p.count == points[0].count {
					points = append(points, p)
					m.b = (p.v - points[0].v) / (p.index - points[0].index)
				}
			case 2: // with another count
				if p.count != points[0].count {
					points = append(points, p)
					m.c = (p.v - points[0].v - m.b*(p.index-points[0].index)) / (p.count - points[0].count)
				}
			}
			if w, ok := table[p.index]; ok && w != p.v || p.index >= mostTable {
				listed = false
			}
			if listed {
				table[p.index] = p.v
			}
			// With as many rounds as the first it is on a line through that and the second.
			line := p.count != points[0].count || (len(points) > 1 || p.index == points[0].index) && p.v == points[0].v+m.b*(p.index-points[0].index)
			return listed || len(points) < 3 && line
		})
		if !on {
			break
		}
	}
	if len(points) > 1 && (m.b != 0 || m.c != 0) {
		m.a = points[0].v - m.b*points[0].index - m.c*points[0].count
		linear := true
		for rank := range f.t.nodes[n].cols {
			c := &f.t.nodes[n].cols[rank]
			linear = linear && f.indexes(n, around, rank, func(i int, index, count int64) bool { return c.at(i) == m.a+m.b*index+m.c*count })
		}
		if linear {
			return m, true
		}
	}
	if !listed || len(table) < 2 {
		return formula{}, false
	}
	m = formula{way: looked, of: around, table: make([]int64, len(table))}
	for i := range m.table {
		v, ok := table[int64(i)]
		if !ok { // the first are never there
			return formula{}, false
		}
		m.table[i] = v
	}
	return m, true
}

// like finds a column that stands before and has as many numbers, which give these.
func (f *fitter) like(n int) (formula, bool) {
	for other := n - 1; other >= 0; other-- {
		if f.t.nodes[other].kind.column() {
			if m, ok := f.likeThat(n, other); ok {
				return m, true
			}
		}
	}
	return formula{}, false
}

func (f *fitter) likeThat(n, other int) (formula, bool) {
	cols, others := f.t.nodes[n].cols, f.t.nodes[other].cols
	for rank := range cols {
		if cols[rank].n != others[rank].n {
			return formula{}, false
		}
	}
	m := formula{way: like, of: other, b: 1}
	first, second := true, true
	var v0, w0 int64
	for rank := range cols {
		c, o := &cols[rank], &others[rank]
		size := c.n
		if c.list == nil && o.list == nil {
			size = min(size, 1)
		}
		for i := range size {
			v, w := c.at(i), o.at(i)
			switch {
			case first:
				v0, w0, first = v, w, false
				m.a = v - w
			case second && w != w0:
				m.b, second = (v-v0)/(w-w0), false
				m.a = v0 - m.b*w0
			}
			if v != m.a+m.b*w {
				return m, false
			}
		}
	}
	return m, !second && m.b != 0
}

// repeats reports whether there ever are several rounds of a node around.
func (f *fitter) repeats(n, around int) bool {
	x := &f.t.nodes[f.t.nodes[n].path[around]]
	for _, s := range x.starts {
		for i := 1; i < len(s); i++ {
			if s[i]-s[i-1] > 1 {
				return true
			}
		}
	}
	return x.each > 1
}

// first returns, for each number of a column, the one that stands for it; false if there is none. Nil: each for itself.
func (f *fitter) first(n, rank int, same []bool) ([]int32, bool) {
	some := false
	for _, s := range same {
		some = some || s
	}
	if !some {
		return nil, true
	}
	list := []int32{0}
	for i, in := range f.t.nodes[n].path {
		next := make([]int32, f.t.start(in, rank, len(list)))
		for at, rep := range list {
			from, to, first, end := f.t.start(in, rank, at), f.t.start(in, rank, at+1), f.t.start(in, rank, int(rep)), f.t.start(in, rank, int(rep)+1)
			for q := from; q < to; q++ {
				x := first
				if !same[i] {
					x += q - from
				}
				if x >= end {
					return nil, false
				}
				next[q] = int32(x)
			}
		}
		list = next
	}
	return list, true
}

// holds reports whether all numbers are those that stand for them.
func (f *fitter) holds(n int, same []bool) bool {
	for rank := range f.t.nodes[n].cols {
		list, ok := f.first(n, rank, same)
		if !ok {
			return false
		}
		c := &f.t.nodes[n].cols[rank]
		for i, at := range list {
			if c.at(i) != c.at(int(at)) {
				return false
			}
		}
	}
	return true
}

// lists are the numbers of a column that are kept, by rank.
func (f *fitter) lists(n int, m *formula) [][]int64 {
	out := make([][]int64, f.t.ranks)
	for rank := range f.t.nodes[n].cols {
		c := &f.t.nodes[n].cols[rank]
		first, _ := f.first(n, rank, m.same)
		for i := range c.n {
			if first == nil || int(first[i]) == i {
				out[rank] = append(out[rank], c.at(i))
			}
		}
	}
	return out
}

// append writes the formula of the n-th node, with so many around it, without the numbers that are kept.
func (m *formula) append(b []byte, n, depth int) []byte {
	b = append(b, byte(m.way))
	switch m.way {
	case constant, ofRank:
		b = wire.AppendVarint(b, m.a)
	case counted:
		b = wire.AppendUvarint(b, uint64(depth-1-m.of))
		b = wire.AppendVarint(wire.AppendVarint(wire.AppendVarint(b, m.a), m.b), m.c)
	case looked:
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(depth-1-m.of)), uint64(len(m.table)))
		for _, v := range m.table {
			b = wire.AppendVarint(b, v)
		}
	case like:
		b = wire.AppendVarint(wire.AppendVarint(wire.AppendUvarint(b, uint64(n-1-m.of)), m.a), m.b)
	case kept:
		bits := uint64(0)
		for i, s := range m.same {
			if s {
				bits |= 1 << (depth - 1 - i)
			}
		}
		b = wire.AppendUvarint(b, bits)
	}
	return b
}

// decodeFormula reads what append wrote.
func decodeFormula(r *wire.Reader, n, depth int) (m formula) {
	around := func() int {
		if depth == 0 {
			r.Fail("rounds of nothing")
		}
		return depth - 1 - r.Int(depth-1)
	}
	switch m.way = int(r.Byte()); m.way {
	case constant, ofRank:
		m.a = r.Varint()
	case counted:
		m.of = around()
		m.a, m.b, m.c = r.Varint(), r.Varint(), r.Varint()
	case looked:
		m.of = around()
		m.table = make([]int64, r.Int(mostTable))
		for i := range m.table {
			m.table[i] = r.Varint()
		}
	case like:
		m.of = n - 1 - r.Int(n-1)
		m.a, m.b = r.Varint(), r.Varint()
	case kept:
		bits := r.Uvarint()
		if bits>>depth != 0 {
			r.Fail("more than %d nodes around", depth)
		}
		m.same = make([]bool, depth)
		for i := range m.same {
			m.same[i] = bits>>(depth-1-i)&1 != 0
		}
	case together:
	default:
		r.Fail("way %d", m.way)
	}
	return m
}

// walked takes off the budget what it takes to go through all that is around a column.
func (t *tree) walked(n, rank int) error {
	for _, in := range t.nodes[n].path {
		if err := take(&t.room.numbers, int64(t.length(in, rank))); err != nil {
			return err
		}
	}
	return nil
}

var errFormula = errors.New("a column that its formula doesn't fit")

// fill makes a column by a formula that keeps nothing.
func (f *fitter) fill(n int, m *formula) error {
	t := f.t
	for rank := range t.ranks {
		c := &t.nodes[n].cols[rank]
		size := t.length(n, rank)
		if int64(size) > t.room.numbers {
			return errBudget
		}
		switch m.way {
		case constant:
			*c = column{n: size, v: m.a}
			continue
		case ofRank:
			*c = column{n: size, v: m.a + int64(rank)}
			continue
		case counted, looked:
			err := t.walked(n, rank)
			ok := err == nil && f.indexes(n, m.of, rank, func(i int, index, count int64) bool {
				v := m.a + m.b*index + m.c*count
				if m.way == looked {
					if index >= int64(len(m.table)) {
						return false
					}
					v = m.table[index]
				}
				err = c.put(v, t.room)
				return err == nil
			})
			if !ok {
				return errors.Join(err, errFormula)
			}
		case like, together:
			other, a, b := m.of, m.a, m.b
			if m.way == together {
				other, a, b = t.nodes[n].before, 0, 1
			}
			if other < 0 {
				return errFormula
			}
			x := &t.nodes[other]
			if !x.kind.column() || x.cols[rank].n != size {
				return errFormula
			}
			if o := &x.cols[rank]; o.list == nil {
				*c = column{n: size, v: a + b*o.v}
				continue
			}
			for i := range size {
				if err := c.put(a+b*x.cols[rank].at(i), t.room); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read makes a column of the numbers that are kept.
func (f *fitter) read(n int, m *formula, r *wire.Reader) {
	t := f.t
	firsts, sizes := make([][]int32, t.ranks), make([]int, t.ranks)
	for rank := range sizes {
		size := t.length(n, rank)
		if int64(size) > t.room.numbers {
			r.Check(errBudget)
			return
		}
		if err := t.walked(n, rank); err != nil {
			r.Check(err)
			return
		}
		var ok bool
		if firsts[rank], ok = f.first(n, rank, m.same); !ok {
			r.Fail("rounds of column %d differ", n)
			return
		}
		if firsts[rank] == nil {
			sizes[rank] = size
		}
		for i, at := range firsts[rank] {
			if i == int(at) {
				sizes[rank]++
			}
		}
	}
	lists := readKept(r, sizes, t.room)
	if r.Err() != nil {
		return
	}
	for rank, list := range lists {
		c := &t.nodes[n].cols[rank]
		if firsts[rank] == nil {
			*c = column{n: len(list), list: list}
			if len(list) == 0 {
				c.list = nil
			}
			continue
		}
		for i, at := range firsts[rank] {
			v := int64(0)
			if i == int(at) {
				v, list = list[0], list[1:]
			} else {
				v = c.at(int(at))
			}
			if err := c.put(v, t.room); err != nil {
				r.Check(err)
				return
			}
		}
	}
}
