// Package pack writes and reads the integers of a checkpoint: varints, one
// after the other, no field names. It is for state that the same build of the
// program reads back; traces have a format of their own.
package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A Writer appends to B.
type Writer struct{ B []byte }

// Uint appends an unsigned number.
func (w *Writer) Uint(v uint64) { w.B = binary.AppendUvarint(w.B, v) }

// Int appends a signed number.
func (w *Writer) Int(v int64) { w.B = binary.AppendVarint(w.B, v) }

// Bool appends a truth value.
func (w *Writer) Bool(v bool) {
	var n uint64
	if v {
		n = 1
	}
	w.Uint(n)
}

// Float appends a number with a fraction.
func (w *Writer) Float(v float64) { w.Uint(math.Float64bits(v)) }

// Fixed appends eight bytes; shorter than a varint for hashes and addresses.
func (w *Writer) Fixed(v uint64) { w.B = binary.LittleEndian.AppendUint64(w.B, v) }

// String appends bytes and their number.
func (w *Writer) String(s string) {
	w.Uint(uint64(len(s)))
	w.B = append(w.B, s...)
}

// Ints appends a slice.
func (w *Writer) Ints(list []int64) {
	w.Uint(uint64(len(list)))
	for _, v := range list {
		w.Int(v)
	}
}

// ErrShort says that the bytes end too early.
var ErrShort = errors.New("unexpected end")

// A Reader takes values off B. After the first error all values are zero.
type Reader struct {
	B   []byte
	Err error
}

// Fail notes the first error.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err = err
	}
	r.B = nil
}

// Uint reads what Writer.Uint wrote.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Fail(ErrShort)
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Int reads what Writer.Int wrote.
func (r *Reader) Int() int64 {
	v, n := binary.Varint(r.B)
	if n <= 0 {
		r.Fail(ErrShort)
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Bool reads what Writer.Bool wrote.
func (r *Reader) Bool() bool { return r.Uint() != 0 }

// Float reads what Writer.Float wrote.
func (r *Reader) Float() float64 { return math.Float64frombits(r.Uint()) }

// Fixed reads what Writer.Fixed wrote.
func (r *Reader) Fixed() uint64 {
	if len(r.B) < 8 {
		r.Fail(ErrShort)
		return 0
	}
	v := binary.LittleEndian.Uint64(r.B)
	r.B = r.B[8:]
	return v
}

// String reads what Writer.String wrote.
func (r *Reader) String() string {
	n := r.Len(1)
	s := string(r.B[:n])
	r.B = r.B[n:]
	return s
}

// Ints reads what Writer.Ints wrote.
func (r *Reader) Ints() []int64 {
	list := make([]int64, r.Len(1))
	for i := range list {
		list[i] = r.Int()
	}
	return list
}

// Len reads the length of a list whose elements take at least size bytes each,
// so that a broken length can't make a reader allocate more than its input.
func (r *Reader) Len(size int) int {
	n := r.Uint()
	if n > uint64(len(r.B)/size) {
		r.Fail(fmt.Errorf("list of %d in %d bytes: %w", n, len(r.B), ErrShort))
		return 0
	}
	return int(n)
}

// Index reads a number that must be below n.
func (r *Reader) Index(n int) int {
	v := r.Uint()
	if v >= uint64(n) {
		r.Fail(fmt.Errorf("index %d of %d", v, n))
		return 0
	}
	return int(v)
}

// Close reports the first error, or that bytes are left.
func (r *Reader) Close() error {
	if r.Err == nil && len(r.B) > 0 {
		return fmt.Errorf("%d bytes too many", len(r.B))
	}
	return r.Err
}
