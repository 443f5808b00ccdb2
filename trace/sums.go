package trace

import (
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// Displacements that are the sums of counts are left out of signatures (see
// signature.LeaveOut), and filled in wherever values leave this package.

// maySum reports whether a parameter may be filled in: an array of integers right
// behind another one.
func (f *Function) maySum(i int) bool {
	return i > 0 && f.Params[i].isNumbers() && f.Params[i-1].isNumbers()
}

func (p *ParamDef) isNumbers() bool { return p.Type == Int && p.Dims == 1 && p.In && !p.Out }

func (f *Function) haveSums() bool {
	for i := range f.Params {
		if f.maySum(i) {
			return true
		}
	}
	return false
}

// arrays says where the arrays of a signature are: of those that may be filled in also
// where the one before it begins.
type arrays struct {
	lengths []int
	sums    []sumOf
}

// A sumOf is an array that follows from the one between counts and at, where it begins.
type sumOf struct {
	counts, at, n int
	summed        bool
}

// fillIn fills in displacements that were left out. Values that don't fit the
// function stay as they are: who reads them finds that.
func (f *Function) fillIn(vals []int64) {
	if len(vals) == 0 || !f.haveSums() {
		return
	}
	a, ok := f.arrays(vals)
	if !ok {
		return
	}
	for _, s := range a.sums {
		if s.summed && !signature.FillIn(vals[s.counts:s.at], vals[s.at:s.at+1+s.n]) {
			return
		}
	}
}

// arrays finds the arrays of a signature, whether or not what they hold was left out.
func (f *Function) arrays(vals []int64) (arrays, bool) {
	outputs := vals[0] == 0 || vals[0] == mpi.ErrInStatus
	for range 2 {
		var a arrays
		d := valueReader{vals: vals, pos: 1, find: &lookup{}, arrays: &a}
		if d.call(f, outputs); d.err == nil {
			return a, true
		}
		outputs = !outputs
	}
	return arrays{}, false
}

// array notes an array of integers that begins at a position, with its length as it
// stands there, and passes over its elements.
func (d *valueReader) array(at int, length int64) {
	n, summed := signature.Length(length)
	if summed && d.counts < 0 || n > int64(len(d.vals)-d.pos) {
		d.err = errShape
		return
	}
	n = max(n, 0)
	if d.counts >= 0 {
		d.arrays.sums = append(d.arrays.sums, sumOf{d.counts, at, int(n), summed})
	}
	d.arrays.lengths = append(d.arrays.lengths, at)
	d.pos += int(n)
}

// A summed says which values of a terminal have no column of their own, because they
// may be left out on some ranks.
type summed struct {
	arrays []sumOf
	all    bool // arrays are elsewhere on other ranks
}

// has reports whether a value is one of them.
func (s *summed) has(value int) bool {
	if s == nil || s.all {
		return s != nil
	}
	for _, a := range s.arrays {
		if value >= a.at && value <= a.at+a.n {
			return true
		}
	}
	return false
}

// summedOf looks at the terminal on the class's first rank.
func (x *Columns) summedOf(f *Function, terminal int) *summed {
	a, ok := f.arrays(x.rowOf(terminal, 0))
	if !ok || len(a.sums) == 0 {
		return nil
	}
	s := &summed{arrays: a.sums}
	for _, at := range a.lengths {
		s.all = s.all || !x.constant(terminal, at)
	}
	return s
}

// A row is all values of a terminal on a rank.
type row struct {
	terminal, member int
	vals             []int64
}

// rowOf evaluates a row unless it is the one that was asked for last.
func (x *Columns) rowOf(terminal, member int) []int64 {
	if r := x.row.Load(); r != nil && r.terminal == terminal && r.member == member {
		return r.vals
	}
	vals := x.c.terminals[terminal].vals(x.c, member, x.ranks[member], int(x.size))
	x.row.Store(&row{terminal, member, vals})
	return vals
}
