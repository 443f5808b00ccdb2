package main

import (
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
)

// A model gives a column of all ranks.
type model struct {
	way     int
	a, b, c int64 // a + b·index + c·count, a + b·other
	of      int   // the node around it, or the other column
	table   []int64
	whether []bool // by node around it, outermost first: the same in all rounds, so only the first is kept
}

// A fitter finds models of the columns of a tree.
type fitter struct {
	t      *tree
	give   options
	starts [][][]int // by node, by rank: where its rounds begin, and end
}

// options are what is looked for besides the shape.
type options struct{ rounds, likes, requests bool }

func newFitter(t *tree, give options) *fitter {
	return &fitter{t: t, give: give, starts: make([][][]int, len(t.nodes))}
}

// known has a node's column be known from now on.
func (f *fitter) known(n int) {
	f.starts[n] = make([][]int, f.t.ranks)
	if f.t.nodes[n].kind == value {
		return
	}
	for rank := range f.t.ranks {
		list := make([]int, 1, 16)
		for _, c := range f.t.counts(n, rank) {
			list = append(list, list[len(list)-1]+int(c))
		}
		f.starts[n][rank] = list
	}
}

// length is how many numbers a column has, as what is around it says.
func (f *fitter) length(n, rank int) int {
	in := f.t.nodes[n].around
	if in < 0 {
		return 1
	}
	s := f.starts[in][rank]
	return s[len(s)-1]
}

// all goes through a column of all ranks.
func (f *fitter) all(n int, ok func(rank, i int, v int64) bool) bool {
	for rank, col := range f.t.nodes[n].cols {
		for i, v := range col {
			if !ok(rank, i, v) {
				return false
			}
		}
	}
	return true
}

// fit finds a model, of columns that are complete.
func (f *fitter) fit(n int) model {
	m := model{way: kept, whether: make([]bool, len(f.t.nodes[n].path))}
	first, some := int64(0), false
	at := 0
	f.all(n, func(rank, _ int, v int64) bool { first, at, some = v, rank, true; return false })
	if !some || f.all(n, func(_, _ int, v int64) bool { return v == first }) {
		return model{way: constant, a: first}
	}
	if f.all(n, func(rank, _ int, v int64) bool { return v-int64(rank) == first-int64(at) }) {
		return model{way: ofRank, a: first - int64(at)}
	}
	if f.give.likes {
		for around := len(m.whether) - 1; around >= 0; around-- {
			if m, ok := f.countedBy(n, around); ok {
				return m
			}
		}
		if m, ok := f.like(n); ok {
			return m
		}
	}
	if f.give.rounds {
		for i := range m.whether {
			m.whether[i] = true
			if !f.repeats(n, i) || !f.holds(n, m.whether) {
				m.whether[i] = false
			}
		}
	}
	return m
}

// indexes returns, for each number of a column, how many rounds of a node around it are over, and how many there are.
func (f *fitter) indexes(n, around, rank int) (index, count []int64) {
	path := f.t.nodes[n].path
	list := make([][2]int64, 1)
	for i, in := range path {
		s := f.starts[in][rank]
		var next [][2]int64
		for at, x := range list {
			for q := s[at]; q < s[at+1]; q++ {
				if i == around {
					x = [2]int64{int64(q - s[at]), int64(s[at+1] - s[at])}
				}
				next = append(next, x)
			}
		}
		list = next
	}
	for _, x := range list {
		index, count = append(index, x[0]), append(count, x[1])
	}
	return index, count
}

// mostTable is how many numbers a table has at most.
const mostTable = 64

// countedBy finds a model by rounds of a node around.
func (f *fitter) countedBy(n, around int) (model, bool) {
	if !f.repeats(n, around) {
		return model{}, false
	}
	m := model{way: counted, of: around}
	type point struct{ index, count, v int64 }
	var points []point
	table := make(map[int64]int64)
	linear, listed := true, true
	for rank, col := range f.t.nodes[n].cols {
		index, count := f.indexes(n, around, rank)
		for i, v := range col {
			p := point{index[i], count[i], v}
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
			if w, ok := table[p.index]; ok && w != v || p.index >= mostTable {
				listed = false
			}
			if listed {
				table[p.index] = v
			}
		}
		if len(points) == 3 && !listed {
			break
		}
	}
	if len(points) < 2 || m.b == 0 && m.c == 0 {
		linear = false
	}
	if linear {
		m.a = points[0].v - m.b*points[0].index - m.c*points[0].count
	}
	for rank, col := range f.t.nodes[n].cols {
		if !linear {
			break
		}
		index, count := f.indexes(n, around, rank)
		for i, v := range col {
			linear = linear && v == m.a+m.b*index[i]+m.c*count[i]
		}
	}
	switch {
	case linear:
		return m, true
	case listed && len(table) > 1:
		m = model{way: looked, of: around, table: make([]int64, len(table))}
		for i := range m.table {
			v, ok := table[int64(i)]
			if !ok { // the first are never there
				return model{}, false
			}
			m.table[i] = v
		}
		return m, true
	}
	return model{}, false
}

// like finds a column that stands before and has as many numbers, which give these.
func (f *fitter) like(n int) (model, bool) {
	cols := f.t.nodes[n].cols
	for other := range n {
		x := &f.t.nodes[other]
		if !x.kind.column() {
			continue
		}
		m := model{way: like, of: other, b: 1}
		first, second := true, true
		var v0, w0 int64
		ok := true
		for rank, col := range cols {
			if len(x.cols[rank]) != len(col) {
				ok = false
				break
			}
		}
		if !ok {
			continue
		}
		for rank, col := range cols {
			for i, v := range col {
				w := x.cols[rank][i]
				switch {
				case first:
					v0, w0, first = v, w, false
					m.a = v - w
				case second && w != w0:
					m.b, second = (v-v0)/(w-w0), false
					m.a = v0 - m.b*w0
				}
				if v != m.a+m.b*w {
					ok = false
					break
				}
			}
			if !ok {
				break
			}
		}
		if ok && !second && m.b != 0 {
			return m, true
		}
	}
	return model{}, false
}

// repeats reports whether there ever are several rounds of a node around.
func (f *fitter) repeats(n, around int) bool {
	for _, s := range f.starts[f.t.nodes[n].path[around]] {
		for i := 1; i < len(s); i++ {
			if s[i]-s[i-1] > 1 {
				return true
			}
		}
	}
	return false
}

// first returns, for each number of a column, the one that stands for it; false if there is none.
func (f *fitter) first(n, rank int, same []bool) ([]int, bool) {
	list := []int{0}
	for i, in := range f.t.nodes[n].path {
		s := f.starts[in][rank]
		next := make([]int, s[len(s)-1])
		for at, rep := range list {
			for q := s[at]; q < s[at+1]; q++ {
				next[q] = s[rep]
				if i >= len(same) || !same[i] {
					next[q] += q - s[at]
				}
				if next[q] >= s[rep+1] {
					return nil, false
				}
			}
		}
		list = next
	}
	return list, true
}

// holds reports whether all numbers are those that stand for them.
func (f *fitter) holds(n int, same []bool) bool {
	for rank, col := range f.t.nodes[n].cols {
		list, ok := f.first(n, rank, same)
		if !ok {
			return false
		}
		for i, v := range col {
			if v != col[list[i]] {
				return false
			}
		}
	}
	return true
}

// append writes a model without the numbers that are kept.
func (m *model) append(b []byte) []byte {
	b = append(b, byte(m.way))
	switch m.way {
	case constant, ofRank:
		b = wire.AppendVarint(b, m.a)
	case counted:
		b = wire.AppendUvarint(b, uint64(m.of))
		b = wire.AppendVarint(wire.AppendVarint(wire.AppendVarint(b, m.a), m.b), m.c)
	case looked:
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(m.of)), uint64(len(m.table)))
		for _, v := range m.table {
			b = wire.AppendVarint(b, v)
		}
	case like:
		b = wire.AppendVarint(wire.AppendVarint(wire.AppendUvarint(b, uint64(m.of)), m.a), m.b)
	case kept:
		bits := uint64(0)
		for i, s := range m.whether {
			if s {
				bits |= 1 << i
			}
		}
		b = wire.AppendUvarint(b, bits)
	}
	return b
}

// decodeModel reads what append wrote.
func decodeModel(r *wire.Reader, depth, nodes int) (m model) {
	switch m.way = int(r.Byte()); m.way {
	case constant, ofRank:
		m.a = r.Varint()
	case counted:
		m.of = r.Int(depth - 1)
		m.a, m.b, m.c = r.Varint(), r.Varint(), r.Varint()
	case looked:
		m.of = r.Int(depth - 1)
		m.table = make([]int64, r.Int(mostTable))
		for i := range m.table {
			m.table[i] = r.Varint()
		}
	case like:
		m.of = r.Int(nodes - 1)
		m.a, m.b = r.Varint(), r.Varint()
	case kept:
		bits := r.Uvarint()
		m.whether = make([]bool, depth)
		for i := range m.whether {
			m.whether[i] = bits>>i&1 != 0
		}
	default:
		r.Fail("way %d", m.way)
	}
	return m
}

// fill makes the column of a rank by a model that keeps nothing.
func (f *fitter) fill(n, rank int, m *model, r *wire.Reader) {
	size := f.length(n, rank)
	col := make([]int64, size)
	switch m.way {
	case constant:
		for i := range col {
			col[i] = m.a
		}
	case ofRank:
		for i := range col {
			col[i] = m.a + int64(rank)
		}
	case counted, looked:
		index, count := f.indexes(n, m.of, rank)
		for i := range col {
			if m.way == counted {
				col[i] = m.a + m.b*index[i] + m.c*count[i]
			} else if index[i] < int64(len(m.table)) {
				col[i] = m.table[index[i]]
			} else {
				r.Fail("index %d of %d", index[i], len(m.table))
			}
		}
	case like:
		other := f.t.nodes[m.of].cols[rank]
		if len(other) != size {
			r.Fail("column %d has %d numbers, not %d", m.of, len(other), size)
			return
		}
		for i, v := range other {
			col[i] = m.a + m.b*v
		}
	}
	f.t.nodes[n].cols[rank] = col
}
