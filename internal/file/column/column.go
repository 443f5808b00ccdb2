// Package column holds the values that one parameter of one call takes over
// the ranks of a class, in rank order. While ranks merge, a column is a list
// of arithmetic runs; in a file it is the cheapest of several forms.
//
// The package does not know what the values mean.
package column

import (
	"iter"
	"math"
	"slices"
	"unsafe"
)

// A Run is count values start, start+stride, start+2*stride, ….
// A run of one value has stride 0. Sums wrap around.
type Run struct {
	Start, Stride int64
	Count         uint64
}

// At returns the i-th value.
func (r Run) At(i uint64) int64 { return int64(uint64(r.Start) + uint64(r.Stride)*i) }

// A Column is a sequence of values. Its runs are those of a greedy left-to-right pass over the values, no matter
// how the column was built. So equal columns have equal runs, and a merge is deterministic.
type Column struct {
	runs []Run
	n    uint64
}

// ColumnOf returns a column of the given values.
func ColumnOf(vals ...int64) Column {
	var c Column
	for _, v := range vals {
		c.Append(v)
	}
	return c
}

// ColumnOfFunc returns a column of n values; at returns a value by its index.
func ColumnOfFunc(n int, at func(int) uint32) Column {
	c := Column{n: uint64(n)}
	for i := 0; i < n; {
		r := Run{Start: int64(at(i)), Count: 1}
		if i++; i < n {
			last := int64(at(i))
			r.Stride = last - r.Start
			for more := true; more; {
				r.Count++
				if i++; i == n {
					break
				}
				next := int64(at(i))
				more, last = next-last == r.Stride, next
			}
		}
		c.runs = append(c.runs, r)
	}
	return c
}

// ColumnsOfOneValue returns a column for each of vals, which has this one value.
func ColumnsOfOneValue(vals []int64) []Column {
	runs, list := make([]Run, len(vals)), make([]Column, len(vals))
	for i, v := range vals {
		runs[i] = Run{Start: v, Count: 1}
		list[i] = Column{runs: runs[i : i+1 : i+1], n: 1}
	}
	return list
}

// ColumnOfOneValue returns a column of the one value v. r is the memory for its run.
func ColumnOfOneValue(r *Run, v int64) Column {
	*r = Run{Start: v, Count: 1}
	return Column{runs: unsafe.Slice(r, 1), n: 1}
}

// Constant returns a column of n values v.
func Constant(v int64, n int) Column {
	var c Column
	if n > 0 {
		c.push(Run{Start: v, Count: uint64(n)})
	}
	return c
}

// Len returns the number of values.
func (c *Column) Len() int { return int(c.n) }

// Runs returns the runs, which the caller must not change.
func (c *Column) Runs() []Run { return c.runs }

// Append adds one value at the end.
func (c *Column) Append(v int64) { c.push(Run{Start: v, Count: 1}) }

// Concat adds all values of d at the end.
func (c *Column) Concat(d Column) {
	for _, r := range d.runs {
		c.push(r)
	}
}

// JoinColumns returns a column of the values of a, then those of b.
func JoinColumns(a, b *Column) Column {
	c := Column{runs: make([]Run, len(a.runs), len(a.runs)+len(b.runs)), n: a.n}
	copy(c.runs, a.runs)
	c.Concat(*b)
	return c
}

// push appends a run; up to two of its values may join the previous run, as with single appends.
func (c *Column) push(r Run) {
	c.n += r.Count
	for r.Count > 0 {
		if len(c.runs) == 0 {
			break
		}
		last := &c.runs[len(c.runs)-1]
		if last.Count == 1 {
			last.Stride = int64(uint64(r.Start) - uint64(last.Start))
		} else if last.At(last.Count) != r.Start {
			break
		}
		if r.Count == 1 || r.Stride == last.Stride {
			last.Count += r.Count
			return
		}
		last.Count++
		r.Start, r.Count = r.At(1), r.Count-1
	}
	if r.Count == 1 {
		r.Stride = 0
	}
	c.runs = append(c.runs, r)
}

// At returns the i-th value; i must be below Len.
func (c *Column) At(i int) int64 {
	k := uint64(i)
	for _, r := range c.runs {
		if k < r.Count {
			return r.At(k)
		}
		k -= r.Count
	}
	panic("column: index out of range")
}

// A Reader looks up values of a column from front to back.
type Reader struct {
	runs []Run
	from uint64 // index in the column of the first value of runs[0]
}

// Reader returns a Reader of the values that the column has now.
func (c *Column) Reader() *Reader { return &Reader{runs: c.runs} }

// At returns the i-th value; i must be below Len, and not less than in the previous call.
func (r *Reader) At(i int) int64 {
	for uint64(i)-r.from >= r.runs[0].Count {
		r.from += r.runs[0].Count
		r.runs = r.runs[1:]
	}
	return r.runs[0].At(uint64(i) - r.from)
}

// All yields the values in order.
func (c *Column) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, r := range c.runs {
			for i := range r.Count {
				if !yield(r.At(i)) {
					return
				}
			}
		}
	}
}

// Values returns the values as a slice.
func (c *Column) Values() []int64 {
	vals := make([]int64, 0, c.n)
	for v := range c.All() {
		vals = append(vals, v)
	}
	return vals
}

// Equal reports whether both columns have the same values.
func (c *Column) Equal(d *Column) bool {
	if c.n != d.n || len(c.runs) != len(d.runs) {
		return false
	}
	return slices.Equal(c.runs, d.runs)
}

// Uniform returns the value that all values are equal to; false if they differ.
func (c *Column) Uniform() (int64, bool) {
	if len(c.runs) != 1 || c.runs[0].Stride != 0 {
		return 0, false
	}
	return c.runs[0].Start, true
}

// IsOverflowFree reports whether the run does not wrap around, so that its first and last value bound all of its values.
func (r Run) IsOverflowFree() bool {
	if r.Stride == 0 || r.Count < 2 {
		return true
	}
	stride, room := uint64(r.Stride), uint64(math.MaxInt64)-uint64(r.Start)
	if r.Stride < 0 {
		stride, room = -stride, uint64(r.Start)-1<<63
	}
	return r.Count-1 <= room/stride
}
