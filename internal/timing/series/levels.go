package series

import (
	"math"
	"math/bits"
	"sort"
	"sync"
)

// Levels cut the numbers from 0 to 2^64-1 into cells. Each has one value that
// stands for all in it within the bound. Cells are as wide as the bound allows,
// except for small relative bounds, where they are powers of two wide, which needs
// no table and loses at most one bit. With an absolute bound all values are first
// divided into steps, whose number is kept exactly.
type levels struct {
	value []uint64 // of each cell
	top   []uint64 // the highest number in each
	start []uint32 // by leading bits, where to look

	mantissa uint // without tables: bits kept below the leading one
	exact    bool // the lower bits are kept elsewhere

	step uint64 // how many values are one; 0: each is its own
}

// Bounds below smallBound get cells without tables.
const smallBound = 1.0 / 1024

// exactMantissa is for a bound of 0, or as good as that: what the cells don't
// say is kept as bits. Of steps, which are about as wide as times scatter, more is
// in the cell.
const (
	exactMantissa = 3
	stepMantissa  = 16
)

var levelCache sync.Map // float64 → *levels

// levelsOf returns the levels for a bound.
func levelsOf(b Bound) *levels {
	if b.Absolute > 0 {
		// From the middle of a step it is that far to either end.
		step := b.Absolute
		if step < 1<<63 {
			step = 2*step + 1
		}
		return &levels{mantissa: stepMantissa, exact: true, step: step}
	}
	bound := b.Relative
	if l, ok := levelCache.Load(bound); ok {
		return l.(*levels)
	}
	l := newLevels(bound)
	if bound >= smallBound { // others are cheap, and somebody may try many
		levelCache.Store(bound, l)
	}
	return l
}

// split returns the cell of a number, and what it doesn't say of it in so many bits.
func (l *levels) split(x uint64) (cell int32, rest uint64, width uint) {
	if !l.exact {
		return l.of(x), 0, 0
	}
	if l.step > 1 {
		x /= l.step
	}
	cell = l.of(x)
	from, width := l.cell(cell)
	return cell, x - from, width
}

// open is how many bits a cell leaves open.
func (l *levels) open(cell int32) uint {
	if !l.exact {
		return 0
	}
	_, width := l.cell(cell)
	return width
}

// join returns the number that stands for what split made.
func (l *levels) join(cell int32, rest uint64) uint64 {
	if !l.exact {
		return l.at(cell)
	}
	from, _ := l.cell(cell)
	if l.step <= 1 {
		return from + rest
	}
	hi, lo := bits.Mul64(from+rest, l.step)
	lo, carry := bits.Add64(lo, l.step/2, 0)
	if hi != 0 || carry != 0 {
		return math.MaxUint64 // in the last step, or nothing that was written
	}
	return lo
}

func newLevels(bound float64) *levels {
	if bound < smallBound {
		if bound < 1.0/(1<<24) {
			return &levels{mantissa: exactMantissa, exact: true}
		}
		// Half a cell is 2^-(mantissa+1) of its lower end.
		m := uint(math.Ilogb(1 / bound))
		if math.Ldexp(1, -int(m)-1) > bound {
			m++
		}
		return &levels{mantissa: m}
	}
	l := &levels{value: []uint64{0}, top: []uint64{0}}
	// A little below the bound, so that rounding can't pass it.
	b := bound * (1 - 1.0/(1<<30))
	for from := uint64(1); ; {
		v := saturate(from, float64(from)*b)
		top := max(v, saturate(0, float64(v)/(1-b)))
		l.value = append(l.value, v)
		l.top = append(l.top, top)
		if top == math.MaxUint64 {
			break
		}
		from = top + 1
	}
	l.start = make([]uint32, 64<<leading)
	for i := range l.start {
		e := i >> leading
		x := (1<<leading | uint64(i)&(1<<leading-1)) << (63 - leading) >> (63 - e)
		l.start[i] = uint32(sort.Search(len(l.top), func(k int) bool { return l.top[k] >= x }))
	}
	return l
}

const leading = 4

// saturate is x plus the whole part of more, at most 2^64-1.
func saturate(x uint64, more float64) uint64 {
	if more >= 1<<64 || x > math.MaxUint64-uint64(more) {
		return math.MaxUint64
	}
	return x + uint64(more)
}

// of returns the cell of a number.
func (l *levels) of(x uint64) int32 {
	if l.value == nil {
		e := bits.Len64(x)
		if e <= int(l.mantissa)+1 {
			return int32(x)
		}
		shift := uint(e) - l.mantissa - 1
		return int32(shift<<l.mantissa) + int32(x>>shift)
	}
	if x == 0 {
		return 0
	}
	e := bits.Len64(x) - 1
	at := e<<leading | int(x<<(63-e)<<1>>(64-leading))
	i := l.start[at]
	for l.top[i] < x {
		i++
	}
	return int32(i)
}

// count is how many cells there are.
func (l *levels) count() int32 {
	if l.value == nil {
		return int32(65-l.mantissa) << l.mantissa
	}
	return int32(len(l.value))
}

// cell returns what a cell without table begins with, and how many bits wide it
// is.
func (l *levels) cell(i int32) (from uint64, width uint) {
	shift := i >> l.mantissa
	if shift <= 1 {
		return uint64(i), 0
	}
	shift--
	return uint64(i-shift<<l.mantissa) << uint(shift), uint(shift)
}

// at returns the value that stands for a cell.
func (l *levels) at(i int32) uint64 {
	if l.value == nil {
		from, width := l.cell(i)
		return from + 1<<width>>1
	}
	return l.value[i]
}
