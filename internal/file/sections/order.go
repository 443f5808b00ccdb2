package sections

import "math/bits"

// An order is a set of numbers below n, at first all of them, of which the k-th is found in logarithmic time: a Fenwick tree.
type order struct {
	sums []int32 // at i: of the i & -i numbers below i
	n    int
}

func newOrder(n int) *order {
	o := &order{sums: make([]int32, n+1), n: n}
	for i := 1; i <= n; i++ {
		o.sums[i] = int32(i & -i)
	}
	return o
}

// set puts a number in that isn't there, or takes one out that is.
func (o *order) set(i int, in bool) {
	by := int32(1)
	if !in {
		by = -1
	}
	o.n += int(by)
	for i++; i < len(o.sums); i += i & -i {
		o.sums[i] += by
	}
}

// before is how many of them are less than i.
func (o *order) before(i int) (n int) {
	for ; i > 0; i -= i & -i {
		n += int(o.sums[i])
	}
	return n
}

// at is the k-th, from 0; -1: there are no so many.
func (o *order) at(k int) int {
	if k < 0 || k >= o.n {
		return -1
	}
	i := 0
	for step := 1 << bits.Len(uint(len(o.sums))) >> 1; step > 0; step >>= 1 {
		if i+step < len(o.sums) && int(o.sums[i+step]) <= k {
			i += step
			k -= int(o.sums[i])
		}
	}
	return i
}
