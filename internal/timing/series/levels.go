package series

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Levels divide the numbers from 0 to 2^64-1 into ranges, called cells. One value represents all numbers in a cell,
// with an error within the bound. Cells are as wide as the bound allows.
//
// With small relative bounds their widths are powers of two instead, which needs no table and costs at most one bit.
// With an absolute bound, values are first divided by the step, and the quotient is kept exactly.
type levels struct {
	value []uint64 // by cell: the value that represents it; nil: levels without tables
	top   []uint64 // by cell: the highest number in it
	// By exponent and first bits of a number: the first cell that may contain it, to start a search.
	start []uint32

	mantissa uint // without tables: number of bits below the leading one that determine a number's cell
	exact    bool // the bits of a number that its cell does not determine are stored, too

	step uint64 // if not 0: numbers are divided by this first
}

// Relative bounds below smallBound use cells whose widths are powers of two, without tables.
const smallBound = 1.0 / 1024

// exactMantissa is levels.mantissa for a relative bound of 0 or nearly so, where bits below the cell are stored as
// they are. stepMantissa is that for an absolute bound. It is larger: divided by the step, times scatter little, so
// that more of their bits can be predicted.
const (
	exactMantissa = 3
	stepMantissa  = 16
)

var levelCache sync.Map // by relative bound, a float64: its *levels

// levelsOf returns the levels for an error bound.
func levelsOf(b Bound) *levels {
	if b.Absolute > 0 {
		// The step is such that its middle is at most the bound away from both ends.
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
	if bound >= smallBound { // levels without tables are cheap to compute, and a user may try many bounds
		levelCache.Store(bound, l)
	}
	return l
}

// split returns the cell of a number. If the lower bits are stored, rest is the position within the cell, a number of
// width bits.
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

// open returns the number of stored bits for a position within the cell.
func (l *levels) open(cell int32) uint {
	if !l.exact {
		return 0
	}
	_, width := l.cell(cell)
	return width
}

// join returns the number for a cell and a position in it: the reverse of split.
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
		return math.MaxUint64 // beyond the last step: rounded up, or damaged input
	}
	return lo
}

func newLevels(bound float64) *levels {
	if bound < smallBound {
		if bound < 1.0/(1<<24) {
			return &levels{mantissa: exactMantissa, exact: true}
		}
		// Half a cell's width is at most 2^-(mantissa+1) of its lower end.
		m := uint(math.Ilogb(1 / bound))
		if math.Ldexp(1, -int(m)-1) > bound {
			m++
		}
		return &levels{mantissa: m}
	}
	l := &levels{value: []uint64{0}, top: []uint64{0}}
	// The bound is slightly reduced, so that rounding errors can't exceed it.
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

// saturate returns x plus the integer part of more, at most 2^64-1.
func saturate(x uint64, more float64) uint64 {
	if more >= 1<<64 || x > math.MaxUint64-uint64(more) {
		return math.MaxUint64
	}
	return x + uint64(more)
}

// of returns the cell of a number that was divided by the step already.
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

// count returns the number of cells.
func (l *levels) count() int32 {
	if l.value == nil {
		return int32(65-l.mantissa) << l.mantissa
	}
	return int32(len(l.value))
}

// cell returns the lowest number in cell i of levels without tables, and the logarithm of the cell's width.
func (l *levels) cell(i int32) (from uint64, width uint) {
	shift := i >> l.mantissa
	if shift <= 1 {
		return uint64(i), 0
	}
	shift--
	return uint64(i-shift<<l.mantissa) << uint(shift), uint(shift)
}

// at returns the value that represents a cell.
func (l *levels) at(i int32) uint64 {
	if l.value == nil {
		from, width := l.cell(i)
		return from + 1<<width>>1
	}
	return l.value[i]
}

// A cells is a list of times as numbers of cells, with the lower bits of the times if these are stored.
type cells struct {
	list []int32
	rest wire.BitWriter
}

// cellsOf converts times to cells. keys has the index of each time's key, byKey the levels of each key.
func cellsOf(values []uint64, keys []uint32, byKey []*levels) *cells {
	c := &cells{list: make([]int32, len(values))}
	for i, x := range values {
		cell, rest, width := byKey[keys[i]].split(x)
		c.list[i] = cell
		c.rest.Put(rest, width)
	}
	return c
}

// timesOf reverses cellsOf; rest is the lower bits of the times.
func timesOf(list []int32, keys []uint32, byKey []*levels, rest []byte) ([]uint64, error) {
	r := wire.BitReader{Input: rest}
	values := make([]uint64, len(list))
	for i, n := range list {
		l := byKey[keys[i]]
		if n < 0 || n >= l.count() {
			return nil, fmt.Errorf("time %d: no cell %d", i, n)
		}
		values[i] = l.join(n, r.Get(l.open(n)))
	}
	if r.ReadPastEnd() {
		return nil, errShort
	}
	return values, nil
}

// A cellCodec is a codec that first converts times to cells of levels. Such codecs differ only in how they encode a
// list of cells.
type cellCodec struct {
	name   string
	append func(dst []byte, list []int32, p *planned) []byte
	decode func(src []byte, p *planned) ([]int32, error)
	// clustered codecs put all times of a key together, and the keys in the order of first use.
	clustered bool
}

// Name implements Codec.
func (f cellCodec) Name() string { return f.name }

// Append implements Codec.
//
//	for gaps and for durations: blob of cells, blob of the times' lower bits
func (f cellCodec) Append(dst []byte, b Batch, c *CallInfo) ([]byte, error) {
	if _, err := b.lists(c); err != nil {
		return nil, err
	}
	p := plan(c, f.clustered)
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		if list == nil {
			continue
		}
		cells := cellsOf(p.permute(list), p.keys, p.levels)
		dst = appendBlob(dst, f.append(nil, cells.list, p))
		dst = appendBlob(dst, cells.rest.Finish())
	}
	return dst, nil
}

// Decode implements Codec.
func (f cellCodec) Decode(src []byte, want TimeLists, c *CallInfo) (b Batch, err error) {
	if err := c.check(); err != nil {
		return Batch{}, err
	}
	p, r := plan(c, f.clustered), wire.NewReader(src, "times")
	for i, to := range []*[]uint64{&b.Gaps, &b.Durations} {
		if want>>i&1 == 0 {
			continue
		}
		coded, rest := r.Blob(), r.Blob()
		if err := r.Err(); err != nil {
			return Batch{}, err
		}
		list, err := f.decode(coded, p)
		if err != nil {
			return Batch{}, err
		}
		values, err := timesOf(list, p.keys, p.levels, rest)
		if err != nil {
			return Batch{}, err
		}
		*to = p.restore(values)
	}
	return b, nil
}

// A planned is the order in which a cellCodec codes the times of a batch, with their keys.
type planned struct {
	keys   []uint32 // key of each time as a number of dense, in the order of coding
	groups []uint32 // by number of the key: its group, as of groupsOf
	levels []*levels
	order  []int32 // by position in the order of coding: position in the batch; nil: both orders are equal

	bins, sample int // from CallInfo.Bins and CallInfo.SampleCalls
}

func plan(c *CallInfo, clustered bool) *planned {
	keys, first := dense(c.Keys)
	p := &planned{keys: keys, bins: c.Bins, sample: c.SampleCalls}
	p.groups, p.levels = groupsOf(c, first)
	if !clustered {
		return p
	}
	next := make([]int32, len(first)+1)
	for _, k := range keys {
		next[k+1]++
	}
	for k := range first {
		next[k+1] += next[k]
	}
	p.order, p.keys = make([]int32, len(keys)), make([]uint32, len(keys))
	for i, k := range keys {
		p.order[next[k]], p.keys[next[k]] = int32(i), k
		next[k]++
	}
	return p
}

// permute returns a list of the batch in the order of coding, restore reverses it.
func (p *planned) permute(list []uint64) []uint64 {
	if p.order == nil {
		return list
	}
	out := make([]uint64, len(list))
	for i, at := range p.order {
		out[i] = list[at]
	}
	return out
}

func (p *planned) restore(list []uint64) []uint64 {
	if p.order == nil {
		return list
	}
	out := make([]uint64, len(list))
	for i, at := range p.order {
		out[at] = list[i]
	}
	return out
}
