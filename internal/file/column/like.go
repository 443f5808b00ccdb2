package column

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/stats"
)

// Columns without a closed form are rarely unique: the size of a message is also in its status, in other units; and
// if a pattern moves over a grid of ranks, each step has the column of the previous one, shifted. Such a column
// refers to a stored one.

// Indices of the coefficients of KindOtherColumn. The value of rank x + d·y is
// add + mul/div · (v - sub), with v from the other column at rank (x+dx mod d) + d·(y+dy mod P/d).
const (
	lRef = iota // number, from 0, of the class's stored column that is referred to
	lD
	lDX
	lDY
	lSub
	lMul
	lDiv
	lAdd
)

// ReferencesValid reports whether a form of KindOtherColumn or KindOwnRankInColumn refers to stored columns that exist,
// and to ranks of the class.
func (f *Form) ReferencesValid(stored, ranks, size int) bool {
	if f.Kind == KindOwnRankInColumn {
		return f.Coefficients[oOwn] < int64(stored) && f.Coefficients[oSize] <= int64(stored)
	}
	return f.Coefficients[lRef] < int64(stored) && (!f.shifts() || ranks == size && f.Coefficients[lD] <= int64(size))
}

func (f *Form) shifts() bool { return f.Coefficients[lDX] != 0 || f.Coefficients[lDY] != 0 }

// shifted returns the rank whose value in the other column a form of KindOtherColumn takes.
func (f *Form) shifted(rank, size int64) int64 {
	d := f.Coefficients[lD]
	x, y := mod(rank%d+f.Coefficients[lDX], d), mod(rank/d+f.Coefficients[lDY], max(size/d, 1))
	return x + d*y
}

// like returns the value of a form of KindOtherColumn, given the value in the other column.
func (f *Form) like(v int64) int64 {
	v = int64(uint64(v) - uint64(f.Coefficients[lSub]))
	return int64(uint64(f.Coefficients[lAdd]) + uint64(v/f.Coefficients[lDiv])*uint64(f.Coefficients[lMul]))
}

// A base is a stored column that others may refer to.
type base struct {
	ref    int64
	off    int64 // least value of the column: its values are off + scale·vals
	scale  int64
	vals   []int64 // what function pattern returns for the column
	d      int64   // width of the grid for the last shift that matched; 0: no shift matched yet
	dx, dy int64   // the last shift that matched
}

// Short columns are always stored, and so are columns of a subset of ranks, as a reference to a column of one class
// would keep others from sharing the signature.
const (
	minLike      = 8  // least number of values of a column that may refer to another
	minLikeBytes = 14 // least number of bytes of its runs, as AppendRuns writes them
)

// maxBases is the largest number of stored columns whose patterns are kept for comparison.
const maxBases = 8

// pattern subtracts the least value and divides by the greatest common divisor. All columns with proportional
// differences then become equal.
func pattern(c *Column) (vals []int64, off, scale int64, ok bool) {
	vals = c.Values()
	off = vals[0]
	for _, v := range vals {
		off = min(off, v)
	}
	g := uint64(0)
	for i, v := range vals {
		vals[i] = int64(uint64(v) - uint64(off))
		if vals[i] < 0 {
			return nil, 0, 0, false // the difference is out of range
		}
		for a := uint64(vals[i]); a != 0; {
			g, a = a, g%a
		}
	}
	scale = int64(g)
	for i := range vals {
		vals[i] /= scale
	}
	return vals, off, scale, true
}

// findLike searches for a stored column from which the values follow by a factor and an offset, perhaps with the ranks
// shifted.
func (f *Fitter) findLike(vals []int64, off, scale int64) (Form, bool) {
	for i := len(f.bases) - 1; i >= 0; i-- {
		b := f.bases[i]
		d, dx, dy, ok := f.shift(b, vals)
		if !ok {
			continue
		}
		form := Form{Kind: KindOtherColumn}
		form.Coefficients[lRef], form.Coefficients[lD], form.Coefficients[lDX], form.Coefficients[lDY] = b.ref, d, dx, dy
		g := int64(stats.GCD(uint64(scale), uint64(b.scale)))
		form.Coefficients[lSub], form.Coefficients[lMul], form.Coefficients[lDiv], form.Coefficients[lAdd] = b.off, scale/g, b.scale/g, off
		copy(f.bases[i:], f.bases[i+1:])
		f.bases[len(f.bases)-1] = b
		return form, true
	}
	return Form{}, false
}

// shift finds a shift of the grid of ranks by which the pattern of b becomes vals.
func (f *Fitter) shift(b *base, vals []int64) (d, dx, dy int64, ok bool) {
	if f.same(b, vals, 1, 0, 0) {
		return 1, 0, 0, true
	}
	if int64(len(vals)) != f.size {
		return 0, 0, 0, false
	}
	radix := f.radix
	if b.d != 0 {
		radix = []int64{b.d}
	}
	for _, d := range radix {
		for _, s := range [...][2]int64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}, {0, 0}} {
			dx, dy := center(b.dx+s[0], d), center(b.dy+s[1], f.size/d)
			if f.same(b, vals, d, dx, dy) {
				b.d, b.dx, b.dy = d, dx, dy
				return d, dx, dy, true
			}
		}
	}
	return 0, 0, 0, false
}

// center returns the number nearest to 0 that equals v modulo m.
func center(v, m int64) int64 {
	if v = mod(v, m); 2*v > m {
		v -= m
	}
	return v
}

func (f *Fitter) same(b *base, vals []int64, d, dx, dy int64) bool {
	if dx == 0 && dy == 0 {
		return slices.Equal(b.vals[:len(vals)], vals)
	}
	form := Form{Kind: KindOtherColumn}
	form.Coefficients[lD], form.Coefficients[lDX], form.Coefficients[lDY] = d, dx, dy
	for i, v := range vals {
		if b.vals[form.shifted(int64(i), f.size)] != v {
			return false
		}
	}
	return true
}

// stored adds a stored column and its pattern to bases.
func (f *Fitter) stored(vals []int64, off, scale int64) {
	b := &base{ref: f.refs, off: off, scale: scale, vals: vals}
	f.refs++
	if len(f.bases) == maxBases {
		copy(f.bases, f.bases[1:])
		f.bases[maxBases-1] = b
		return
	}
	f.bases = append(f.bases, b)
}

// again returns a form for a column that equals the one stored last: a reference to that.
func (f *Fitter) again() fitted {
	return fitted{form: Form{Kind: KindOtherColumn, Coefficients: Coefficients{lRef: f.refs - 1, lD: 1, lMul: 1, lDiv: 1}}}
}
