package merge

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

// The values of a class are columns, and most of these occur many times: in several parameters of a call, or in
// several calls. A class stores each distinct column once, and its number for each value. So the cost of a merge
// grows with the distinct columns, not with the calls.

// A values holds the values of all terminals. The numbers of their columns are ordered by kin, then by position of
// the value, then by terminal. So a value that all calls of a function share is a run of equal numbers. Columns are
// numbered in the order of their first use.
type values struct {
	cols []column.Column
	ones []int64   // of a single rank: its distinct values, instead of cols; nil: cols is used
	nums numberRow // by position in the layout: number of the column
}

// columns returns all columns. For a single rank it first makes them from the values.
func (v *values) columns() []column.Column {
	if v.ones != nil {
		v.cols, v.ones = column.ColumnsOfOneValue(v.ones), nil
	}
	return v.cols
}

// A kin identifies the terminals whose values are adjacent, by function and number of values.
type kin uint64

func (k skeleton) kin() kin { return kin(k.call)<<48 | kin(k.width) }

// A valueLayout gives the index in values.nums of each value of each terminal.
type valueLayout struct {
	start []uint32 // by terminal: position of its value 0
	step  []uint32 // by kind of skeleton: distance between two values of a terminal
	kind  []uint32 // by terminal: its kind of skeleton
}

func layoutOf(s *skeletons) valueLayout {
	number := make(map[kin]int)
	kin := make([]int, len(s.kinds)) // by kind of skeleton: number of its kin
	var members, next []int          // by kin: number of terminals, next free position
	for k := range s.kinds {
		n, fresh := once.NumberOf(number, s.kinds[k].kin())
		if fresh {
			members, next = append(members, 0), append(next, s.kinds[k].width)
		}
		kin[k] = n
	}
	for _, k := range s.of {
		members[kin[k]]++
	}
	sum := 0
	for n, m := range members {
		next[n], sum = sum, sum+m*next[n]
	}
	l := valueLayout{make([]uint32, len(s.of)), make([]uint32, len(s.kinds)), s.of}
	for k, n := range kin {
		l.step[k] = uint32(members[n])
	}
	for i, k := range s.of {
		l.start[i] = uint32(next[kin[k]])
		next[kin[k]]++
	}
	return l
}

// at returns the index in values.nums of a terminal's value.
func (l *valueLayout) at(terminal, value int) int {
	return int(l.start[terminal]) + value*int(l.step[l.kind[terminal]])
}

// single returns the values of one rank.
func single(tr *track.Track, sh *classShape) (values, error) {
	v := values{nums: newNumberRow(sh.width)}
	var known column.Numbering
	calls := tr.AllDistinctCalls()
	var sig signature.Signature
	for i := range calls.Len() {
		if err := calls.Fill(i, &sig); err != nil {
			return values{}, err
		}
		for k, x := range sig.Values {
			n, _ := known.Number(x)
			v.nums.set(sh.at(i, k), n)
		}
	}
	// Renumber in the order of first use.
	const none = ^uint32(0)
	list := known.List
	known = column.Numbering{}
	number, ordered := slices.Repeat([]uint32{none}, len(list)), make([]int64, 0, len(list))
	v.nums.change(func(_ int, n uint32) uint32 {
		if number[n] == none {
			number[n] = uint32(len(ordered))
			ordered = append(ordered, list[n])
		}
		return number[n]
	})
	v.ones = ordered
	return v, nil
}

// join appends the values of the ranks of another block.
func (v *values) join(o *values) {
	type pair struct{ other, num uint32 }
	const none = ^uint32(0)
	v.columns()
	o.columns()
	// By column of v: the first column of o that it was joined with, and the number of the result.
	usual := slices.Repeat([]pair{{none, none}}, len(v.cols))
	rest := make(map[[2]uint32]uint32)
	cols := make([]column.Column, 0, max(len(v.cols), len(o.cols)))
	v.nums.change(func(i int, a uint32) uint32 {
		b := o.nums.at(i)
		if usual[a].other == b {
			return usual[a].num
		}
		n, ok := rest[[2]uint32{a, b}]
		if !ok {
			n = uint32(len(cols))
			cols = append(cols, column.JoinColumns(&v.cols[a], &o.cols[b]))
			if usual[a].other == none {
				usual[a] = pair{b, n}
			} else {
				rest[[2]uint32{a, b}] = n
			}
		}
		return n
	})
	v.cols = cols
}

// of appends the columns of a terminal to list. It uses room for the runs that it makes.
func (v *values) of(list []column.Column, room *[]column.Run, l *valueLayout, terminal, width int) []column.Column {
	if v.ones == nil {
		for i := range width {
			list = append(list, v.cols[v.nums.at(l.at(terminal, i))])
		}
		return list
	}
	*room = slices.Grow((*room)[:0], width)[:width]
	for i := range *room {
		list = append(list, column.ColumnOfOneValue(&(*room)[i], v.ones[v.nums.at(l.at(terminal, i))]))
	}
	return list
}

// append writes values: the distinct columns, then the numbers as one column.
//
//	values = columns uvarint, (constant, value varint | varies, runs | like, number uvarint, scale)…, runs,
//	         zeros: count uvarint, each a byte
const (
	constant = 0
	varies   = 1
	like     = 2
)

func (v *values) append(b []byte) []byte {
	begin := len(b)
	b = wire.AppendUvarint(b, uint64(len(v.cols)+len(v.ones)))
	for _, x := range v.ones {
		b = wire.AppendVarint(append(b, constant), x)
	}
	type pattern struct{ of, uses int }
	patterns := make(map[string]pattern)
	for i := range v.cols {
		if x, ok := v.cols[i].Uniform(); ok {
			b = wire.AppendVarint(append(b, constant), x)
			continue
		}
		if p, ok := column.AffinePatternOf(&v.cols[i]); ok {
			k := p.Key()
			if known, ok := patterns[k]; ok && known.uses < maxLike {
				b = p.AppendScale(wire.AppendUvarint(append(b, like), uint64(known.of)))
				known.uses++
				patterns[k] = known
				continue
			}
			patterns[k] = pattern{of: i}
		}
		b = v.cols[i].AppendRuns(append(b, varies))
	}
	nums := column.ColumnOfFunc(v.nums.n, v.nums.at)
	b = nums.AppendRuns(b)
	zeros := max(0, v.nums.n/maxPerByte+1-(len(b)-begin))
	return append(wire.AppendUvarint(b, uint64(zeros)), make([]byte, zeros)...)
}

// Limits of a message, for writer and reader. maxPerByte is the largest number of values per byte; zeros pad a
// message that has more. maxValues limits all values. maxLike limits how many columns may be coded relative to the
// same one, which itself must not be relative.
const (
	maxPerByte = 1 << 16
	maxValues  = 1 << 28
	maxLike    = 256
)

// decodeValues reads width values of n ranks.
func decodeValues(r *wire.Reader, width, n int) values {
	var v values
	if width > maxValues || width > r.RemainingLen()*maxPerByte {
		r.Fail("%d values in %d bytes", width, r.RemainingLen())
		return v
	}
	v.cols = make([]column.Column, r.Count(2))
	const none = -1
	uses := make([]int, len(v.cols)) // by column: how many columns are coded relative to it
	for i := range v.cols {
		uses[i] = none
		switch tag := r.Byte(); tag {
		case constant:
			v.cols[i] = column.Constant(r.Varint(), n)
		case varies:
			v.cols[i], uses[i] = column.DecodeRuns(r, n), 0
		case like:
			of := r.Int(max(i-1, 0))
			if r.Err() == nil && (uses[of] == none || uses[of] == maxLike) {
				r.Fail("column %d is like column %d", i, of)
			}
			if r.Err() == nil {
				uses[of]++
				v.cols[i] = column.DecodeScaled(r, &v.cols[of])
			}
		default:
			r.Fail("column of unknown form %d", tag)
		}
		if r.Err() != nil {
			return v
		}
	}
	nums := column.DecodeRuns(r, width)
	r.Skip(r.Count(1))
	if r.Err() != nil {
		return v
	}
	v.nums = newNumberRow(width)
	next, at := int64(0), 0
	for _, run := range nums.Runs() {
		x := run.Start
		for range run.Count {
			if x < 0 || x > next || x >= int64(len(v.cols)) {
				r.Fail("column %d of %d", x, len(v.cols))
				return v
			}
			next = max(next, x+1)
			v.nums.set(at, uint32(x))
			at++
			x += run.Stride
		}
	}
	if next != int64(len(v.cols)) {
		r.Fail("%d columns, %d of them used", len(v.cols), next)
	}
	return v
}

// numberRow is an array of numbers, in blocks. A block of equal numbers stores only one.
type numberRow struct {
	blocks []numberBlock
	n      int
}

type numberBlock struct {
	each []uint32 // nil: all numbers are equal to one
	one  uint32
}

const (
	blockSize = 1 << 8
	unset     = ^uint32(0)
)

// newNumberRow returns n numbers that are not yet set.
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

// set sets a number, which must not have been set before.
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

// change replaces each number by f's result, in order.
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

// held returns the memory of the array in bytes.
func (v *numberRow) held() (n int) {
	for i := range v.blocks {
		n += 32 + 4*len(v.blocks[i].each)
	}
	return n
}
