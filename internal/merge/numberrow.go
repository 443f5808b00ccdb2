package merge

import "slices"

// numberRow has a number for each place. Values that are the same in many calls are one number in a row, and a block of one number
// alone takes no more.
type numberRow struct {
	blocks []numberBlock
	n      int
}

type numberBlock struct {
	each []uint32 // nil: all are one
	one  uint32
}

const (
	blockSize = 1 << 8
	unset     = ^uint32(0)
)

// newNumberRow returns n numbers that are not set.
func newNumberRow(n int) numberRow {
	return numberRow{slices.Repeat([]numberBlock{{one: unset}}, (n+blockSize-1)/blockSize), n}
}

func (v *numberRow) at(i int) uint32 {
	if b := &v.blocks[i/blockSize]; b.each != nil {
		return b.each[i%blockSize]
	} else {
		return b.one
	}
}

// set sets a number once.
func (v *numberRow) set(i int, x uint32) {
	switch b := &v.blocks[i/blockSize]; {
	case b.each != nil:
		b.each[i%blockSize] = x
	case b.one == unset:
		b.one = x
	case b.one != x:
		b.each = slices.Repeat([]uint32{b.one}, min(blockSize, v.n-i/blockSize*blockSize))
		b.each[i%blockSize] = x
	}
}

// change puts f's result in place of each number, in order.
func (v *numberRow) change(f func(at int, x uint32) uint32) {
	for k := range v.blocks {
		b := &v.blocks[k]
		old := *b
		*b = numberBlock{one: unset}
		if old.each != nil {
			b.each = old.each
		}
		for i := k * blockSize; i < min(v.n, (k+1)*blockSize); i++ {
			x := old.one
			if old.each != nil {
				x = old.each[i%blockSize]
			}
			v.set(i, f(i, x))
		}
	}
}

// held is how many bytes they take.
func (v *numberRow) held() (n int) {
	for i := range v.blocks {
		n += 32 + 4*len(v.blocks[i].each)
	}
	return n
}
