// Package wire reads and writes the primitive encodings that spoor's files and
// merge messages are made of: varints, fixed little-endian integers, counted
// bytes, bits, zstd frames of bounded size. It knows nothing of what they mean.
package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Reader decodes values from an untrusted byte slice. The first error is kept: afterwards every method returns
// zero. So a decoder needs to check Err only before it allocates or indexes, not after each value.
type Reader struct {
	buf  []byte
	pos  int
	err  error
	what string
}

// NewReader returns a reader of buf; what names the data in errors.
func NewReader(buf []byte, what string) *Reader { return &Reader{buf: buf, what: what} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail records an error unless there is one already.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: at byte %d: %s", r.what, r.pos, fmt.Sprintf(format, args...))
	}
}

// RecordError records err as the reader's error, unless it is nil or there is an error already.
func (r *Reader) RecordError(err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: at byte %d: %w", r.what, r.pos, err)
	}
}

// RemainingLen returns the number of unread bytes.
func (r *Reader) RemainingLen() int {
	if r.err != nil {
		return 0
	}
	return len(r.buf) - r.pos
}

// Remaining returns the unread bytes without taking them.
func (r *Reader) Remaining() []byte {
	if r.err != nil {
		return nil
	}
	return r.buf[r.pos:]
}

// Skip skips n bytes.
func (r *Reader) Skip(n int) { r.Bytes(n) }

// Finish records an error if bytes remain, and returns the reader's error.
func (r *Reader) Finish() error {
	if r.err == nil && r.pos != len(r.buf) {
		r.Fail("%d bytes left over", len(r.buf)-r.pos)
	}
	return r.err
}

// Uvarint reads an unsigned varint.
func (r *Reader) Uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.buf[r.pos:])
	if n <= 0 {
		r.Fail("bad varint")
		return 0
	}
	r.pos += n
	return v
}

// Varint reads a zigzag varint.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Int reads an unsigned varint of at most limit.
func (r *Reader) Int(limit int) int {
	v := r.Uvarint()
	if r.err == nil && v > uint64(max(limit, 0)) {
		r.Fail("%d is more than %d", v, limit)
		return 0
	}
	return int(v)
}

// Count reads how many items follow, each of at least size bytes, so that the size of the input limits what a caller
// allocates.
func (r *Reader) Count(size int) int {
	v := r.Uvarint()
	if r.err == nil && v > uint64(len(r.buf)-r.pos)/uint64(max(size, 1)) {
		r.Fail("%d items can't fit in %d bytes", v, len(r.buf)-r.pos)
		return 0
	}
	return int(v)
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	b := r.Bytes(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// Bytes reads n bytes; the result aliases the input.
func (r *Reader) Bytes(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.buf)-r.pos {
		r.Fail("%d bytes wanted, %d left", n, len(r.buf)-r.pos)
		return nil
	}
	b := r.buf[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return b
}

// Blob reads counted bytes; the result aliases the input.
func (r *Reader) Blob() []byte { return r.Bytes(r.Count(1)) }

// String reads counted bytes as a string.
func (r *Reader) String() string { return string(r.Blob()) }

// Uint64 reads eight bytes, least significant first.
func (r *Reader) Uint64() uint64 {
	b := r.Bytes(8)
	if len(b) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// Uint32 reads four bytes, least significant first.
func (r *Reader) Uint32() uint32 {
	b := r.Bytes(4)
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

// Uvarint16 reads a varint that fits in 16 bits.
func (r *Reader) Uvarint16() uint16 { return uint16(r.Int(math.MaxUint16)) }

// AppendUvarint appends an unsigned varint.
func AppendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendVarint appends a zigzag varint.
func AppendVarint(b []byte, v int64) []byte {
	return binary.AppendUvarint(b, uint64(v)<<1^uint64(v>>63))
}

// AppendString appends a string as counted bytes.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendUint64 appends eight bytes, least significant first.
func AppendUint64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// AppendUint32 appends four bytes, least significant first.
func AppendUint32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// UvarintLen returns how many bytes AppendUvarint takes.
func UvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// A BitWriter writes bits, least significant first, after the bytes in Output.
type BitWriter struct {
	Output []byte
	word   uint64
	n      uint
}

// Put writes the low n bits of v, whose other bits must be 0.
func (w *BitWriter) Put(v uint64, n uint) {
	if n > 32 {
		w.Put(v&(1<<32-1), 32)
		v, n = v>>32, n-32
	}
	w.word |= v << w.n
	w.n += n
	for w.n >= 8 {
		w.Output = append(w.Output, byte(w.word))
		w.word >>= 8
		w.n -= 8
	}
}

// Finish fills up the last byte and returns all.
func (w *BitWriter) Finish() []byte {
	if w.n > 0 {
		w.Output = append(w.Output, byte(w.word))
		w.word, w.n = 0, 0
	}
	return w.Output
}

// A BitReader reads what a BitWriter wrote, and zeros after the end.
type BitReader struct {
	Input []byte
	at    int
	word  uint64
	n     uint
}

// Get reads n bits.
func (r *BitReader) Get(n uint) uint64 {
	if n > 32 {
		low := r.Get(32)
		return low | r.Get(n-32)<<32
	}
	for r.n < n {
		if r.at < len(r.Input) {
			r.word |= uint64(r.Input[r.at]) << r.n
		}
		r.at++
		r.n += 8
	}
	v := r.word & (1<<n - 1)
	r.word >>= n
	r.n -= n
	return v
}

// BytesRead returns how many bytes were read.
func (r *BitReader) BytesRead() int { return r.at }

// ReadPastEnd reports whether more bits were read than exist.
func (r *BitReader) ReadPastEnd() bool { return r.at > len(r.Input) }
