// Package pack writes and reads the integers of a checkpoint: varints, one
// after the other, no field names. It is for state that the same build of the
// program reads back; traces have a format of their own.
package pack

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A Writer appends to B.
type Writer struct{ B []byte }

// Uint appends an unsigned number.
func (w *Writer) Uint(v uint64) { w.B = wire.AppendUvarint(w.B, v) }

// Int appends a signed number.
func (w *Writer) Int(v int64) { w.B = wire.AppendVarint(w.B, v) }

// Bool appends a truth value.
func (w *Writer) Bool(v bool) {
	var n uint64
	if v {
		n = 1
	}
	w.Uint(n)
}

// Fixed appends eight bytes; shorter than a varint for hashes and addresses.
func (w *Writer) Fixed(v uint64) { w.B = wire.AppendUint64(w.B, v) }

// String appends bytes and their number.
func (w *Writer) String(s string) { w.B = wire.AppendString(w.B, s) }

// Bytes writes what String writes for the same bytes.
func (w *Writer) Bytes(b []byte) {
	w.Uint(uint64(len(b)))
	w.B = append(w.B, b...)
}

// Ints appends a slice.
func (w *Writer) Ints(list []int64) {
	w.Uint(uint64(len(list)))
	for _, v := range list {
		w.Int(v)
	}
}

// A Reader takes off what a Writer appended. After the first error all values
// are zero.
type Reader struct{ *wire.Reader }

// NewReader returns a reader of what a Writer holds.
func NewReader(b []byte) *Reader { return &Reader{wire.NewReader(b, "checkpoint")} }

// Uint reads what Writer.Uint wrote.
func (r *Reader) Uint() uint64 { return r.Uvarint() }

// Int reads what Writer.Int wrote.
func (r *Reader) Int() int64 { return r.Varint() }

// Bool reads what Writer.Bool wrote.
func (r *Reader) Bool() bool { return r.Uvarint() != 0 }

// Fixed reads what Writer.Fixed wrote.
func (r *Reader) Fixed() uint64 { return r.Uint64() }

// Ints reads what Writer.Ints wrote.
func (r *Reader) Ints() []int64 {
	list := make([]int64, r.Count(1))
	for i := range list {
		list[i] = r.Int()
	}
	return list
}

// Index reads a number that must be below n.
func (r *Reader) Index(n int) int {
	if n <= 0 {
		r.Fail("index into nothing")
		return 0
	}
	return r.Reader.Int(n - 1)
}
