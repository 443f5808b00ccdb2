package timing

import (
	"cmp"
	"math/bits"
	"slices"
)

// A bits128 is a product of two counts.
type bits128 struct{ hi, lo uint64 }

func times(a, b uint64) bits128 {
	hi, lo := bits.Mul64(a, b)
	return bits128{hi, lo}
}

// over divides by a count, rounded to the nearest; the quotient is a count again.
func (x bits128) over(n uint64) uint64 {
	lo, carry := bits.Add64(x.lo, n/2, 0)
	q, _ := bits.Div64(x.hi+carry, lo, n)
	return q
}

func sortEnds(list []bits128) {
	slices.SortFunc(list, func(a, b bits128) int {
		return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
	})
}
