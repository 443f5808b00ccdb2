package column

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A Kind is a closed form of a value as a function of the rank.
type Kind uint8

// The kinds. The numbers are part of the file format.
const (
	KindConst           Kind = 0 // c on all ranks
	KindRankPlus        Kind = 1 // rank + c
	KindRing            Kind = 2 // (rank + c) mod P, the number of ranks of the world
	KindXor             Kind = 3 // rank xor c
	KindMixedRadix      Kind = 4 // two digits of a mixed-radix number, each linear in two digits of the rank
	KindAsStored        Kind = 5 // no closed form: the class stores a Seq for it
	KindOtherColumn     Kind = 6 // refers to another stored column of the class: scaled, or of a shifted rank
	KindBlockRing       Kind = 7 // (rank + c) mod p within its block of p ranks
	KindBlockProduct    Kind = 8 // a product of two block sizes, where the first blocks are larger by one
	KindOwnRankInColumn Kind = 9 // (own rank + c) mod size, both taken from stored columns of the class
	kinds                    = 10

	// KindFlagEdge is added to a kind that holds except at one end of each block of ranks, such as the border of a
	// grid; see edge.go.
	KindFlagEdge Kind = 16

	// KindFlagMasked is added to a kind that holds for most ranks only. The class stores a Seq for it: 0 where the form
	// holds, else the value plus one, or the value itself if that is negative.
	KindFlagMasked Kind = 32
)

// coefficients is the number of coefficients, by kind.
var coefficients = [...]int{1, 1, 1, 1, 10, 0, 8, 2, 7, 4, KindLinear: 2, KindScaledRing: 3, KindPlane: 4}

// Coefficients are the numbers of a form; its kind determines how many are used.
type Coefficients [7 + edgeCoefficients]int64

// A Form is a kind with its coefficients.
type Form struct {
	Kind         Kind
	Coefficients Coefficients
}

// Indices of the coefficients of KindMixedRadix. With rank = x + d·y, the value is
// base + (a1·x + b1·y + c1 mod m1) + m1·(a2·x + b2·y + c2 mod m2).
const (
	cD = iota
	cBase
	cM1
	cA1
	cB1
	cC1
	cM2
	cA2
	cB2
	cC2
)

// String names the kind for people.
func (k Kind) String() string {
	if !k.ExistsInFiles() {
		return "?"
	}
	name := [...]string{"constant", "rank + c", "(rank + c) mod P", "rank xor c", "grid", "column", "like a column",
		"(rank + c) mod p", "block sizes", "(own rank + c) mod size"}[k.base()]
	switch {
	case k&KindFlagMasked != 0:
		name += ", with exceptions"
	case k&KindFlagEdge != 0:
		name += ", but for an edge"
	}
	return name
}

// CoefficientCount returns how many coefficients a form of the kind has.
func (k Kind) CoefficientCount() int {
	if k&KindFlagEdge != 0 {
		return coefficients[k.base()] + edgeCoefficients
	}
	return coefficients[k.base()]
}

// IsClosedForm reports whether Eval gives the values of all ranks, without a stored column.
func (k Kind) IsClosedForm() bool {
	return !k.NeedsColumn() && k != KindOtherColumn && k != KindOwnRankInColumn
}

// base returns the kind without KindFlagMasked and KindFlagEdge.
func (k Kind) base() Kind { return k &^ (KindFlagMasked | KindFlagEdge) }

// ExistsInFiles reports whether files may contain the kind.
func (k Kind) ExistsInFiles() bool {
	b := k.base()
	closed := b < kinds && b.IsClosedForm()
	switch k - b {
	case 0:
		return b < kinds
	case KindFlagMasked:
		return closed
	case KindFlagEdge:
		return closed && b != KindMixedRadix
	}
	return false
}

// NeedsColumn reports whether the class keeps a Seq for a form of the kind.
func (k Kind) NeedsColumn() bool { return k == KindAsStored || k&KindFlagMasked != 0 }

// bounds returns the least and the largest value of coefficient c with which Eval cannot fail.
func (k Kind) bounds(c int) (lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	if k&KindFlagEdge != 0 {
		switch c - coefficients[k.base()] {
		case eBlock:
			return 0, hi
		case eSide:
			return 0, maxSide
		}
	}
	switch k.base() {
	case KindOtherColumn:
		if c == lD || c == lDiv {
			return 1, hi
		} else if c == lRef {
			return 0, hi
		}
	case KindOwnRankInColumn:
		if c == oOwn || c == oSize {
			return 0, hi
		}
	case KindMixedRadix:
		if c == cD || c == cM1 || c == cM2 {
			return 1, hi
		}
	case KindBlockRing:
		if c == wBlock {
			return 1, hi
		}
	case KindBlockProduct:
		if c == sBlock1 || c == sBlock2 {
			return 0, hi
		}
	}
	return lo, hi
}

// Eval returns the form's value for a rank of a world of this size.
func (f *Form) Eval(rank, size int64) int64 {
	if f.Kind&KindFlagEdge != 0 {
		if v, ok := f.atEdge(rank, size); ok {
			return v
		}
	}
	switch f.Kind.base() {
	case KindConst:
		return f.Coefficients[0]
	case KindRankPlus:
		return int64(uint64(rank) + uint64(f.Coefficients[0]))
	case KindRing:
		return mod(int64(uint64(rank)+uint64(f.Coefficients[0])), max(size, 1))
	case KindXor:
		return rank ^ f.Coefficients[0]
	case KindMixedRadix:
		x, y := rank%f.Coefficients[cD], rank/f.Coefficients[cD]
		lo := mod(linear(f.Coefficients[cA1], x, f.Coefficients[cB1], y, f.Coefficients[cC1]), f.Coefficients[cM1])
		hi := mod(linear(f.Coefficients[cA2], x, f.Coefficients[cB2], y, f.Coefficients[cC2]), f.Coefficients[cM2])
		return int64(uint64(f.Coefficients[cBase]) + uint64(lo) + uint64(f.Coefficients[cM1])*uint64(hi))
	case KindBlockRing:
		x := rank % f.Coefficients[wBlock]
		return rank - x + mod(int64(uint64(x)+uint64(f.Coefficients[wShift])), f.Coefficients[wBlock])
	case KindBlockProduct:
		return f.share(rank, size)
	case KindLinear:
		return linear(f.Coefficients[0], rank, 0, 0, f.Coefficients[1])
	case KindScaledRing:
		return linear(f.Coefficients[0], mod(rank+f.Coefficients[1], max(size, 1)), 0, 0, f.Coefficients[2])
	case KindPlane:
		return linear(f.Coefficients[1], rank%f.Coefficients[0], f.Coefficients[2], rank/f.Coefficients[0], f.Coefficients[3])
	}
	panic(fmt.Sprintf("column: values of form %d don't follow from the rank", f.Kind)) // callers check IsClosedForm
}

// linear returns a·x + b·y + c, wrapping around.
func linear(a, x, b, y, c int64) int64 {
	return int64(uint64(a)*uint64(x) + uint64(b)*uint64(y) + uint64(c))
}

// mod returns a modulo m: from 0 to m - 1.
func mod(a, m int64) int64 {
	if a %= m; a < 0 {
		a += m
	}
	return a
}

// A StoredValue is a form with the columns that it needs.
type StoredValue struct {
	Form Form
	// the stored values, the column that the form refers to, or the mask; nil: the form needs no column
	Column      *Seq
	SizesColumn *Seq // the column of sizes for KindOwnRankInColumn; nil if the form refers to none
}

// At returns the value of the i-th member of a class, which is the given rank of a world of the given size.
func (v *StoredValue) At(i int, rank, size int64) int64 {
	switch {
	case v.Form.Kind == KindAsStored:
		return v.Column.At(i, rank)
	case v.Form.Kind == KindOtherColumn:
		if v.Form.shifts() { // only classes of all ranks use shifts
			rank = v.Form.shifted(rank, size)
			i = int(rank)
		}
		return v.Form.like(v.Column.At(i, rank))
	case v.Form.Kind == KindOwnRankInColumn:
		size := int64(0)
		if v.SizesColumn != nil {
			size = v.SizesColumn.At(i, rank)
		}
		return v.Form.local(v.Column.At(i, rank), size)
	case v.Form.Kind&KindFlagMasked != 0:
		switch m := v.Column.At(i, rank); {
		case m < 0:
			return m
		case m > 0:
			return m - 1
		}
	}
	return v.Form.Eval(rank, size)
}

// AppendKey appends kind and coefficients, as a key for comparing.
func (f *Form) AppendKey(b []byte) []byte {
	b = append(b, byte(f.Kind))
	for _, c := range f.Coefficients[:f.Kind.CoefficientCount()] {
		b = wire.AppendVarint(b, c)
	}
	return b
}
