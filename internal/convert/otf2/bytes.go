package otf2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A byteReader reads from bytes. After an error it yields zeros.
type byteReader struct {
	b     []byte
	at    int
	order binary.ByteOrder
	err   error
}

var (
	errShort  = errors.New("ends in the middle of a record")
	errLength = errors.New("an integer of more bytes than it can have")
)

func (r *byteReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.b)
}

// take returns the next n bytes, nil if there are fewer.
func (r *byteReader) take(n int) []byte {
	if n < 0 || n > len(r.b)-r.at {
		r.fail(errShort)
		return nil
	}
	b := r.b[r.at : r.at+n]
	r.at += n
	return b
}

func (r *byteReader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *byteReader) full32() uint32 {
	if b := r.take(4); b != nil {
		return r.order.Uint32(b)
	}
	return 0
}

func (r *byteReader) full64() uint64 {
	if b := r.take(8); b != nil {
		return r.order.Uint64(b)
	}
	return 0
}

// compressed reads an integer of at most `most` bytes. Its first byte is the number of the bytes that follow; 255: all
// bits are set.
func (r *byteReader) compressed(most int) uint64 {
	n := int(r.u8())
	switch {
	case n == 255:
		return 1<<(8*most) - 1
	case n > most:
		r.fail(errLength)
		return 0
	}
	v := uint64(0)
	for i, x := range r.take(n) {
		if r.order == binary.ByteOrder(binary.BigEndian) {
			v = v<<8 | uint64(x)
		} else {
			v |= uint64(x) << (8 * i)
		}
	}
	return v
}

func (r *byteReader) u32() uint32 { return uint32(r.compressed(4)) }

func (r *byteReader) u64() uint64 { return r.compressed(8) }

func (r *byteReader) i64() int64 { return int64(r.compressed(8)) }

// text reads a string terminated by a zero.
func (r *byteReader) text() string {
	for i := r.at; i < len(r.b); i++ {
		if r.b[i] == 0 {
			s := string(r.b[r.at:i])
			r.at = i + 1
			return s
		}
	}
	r.fail(errShort)
	return ""
}

// length reads the length of a record, and checks that the bytes exist.
func (r *byteReader) length() int {
	n := uint64(r.u8())
	if n == 255 {
		n = r.full64()
	}
	if n > uint64(len(r.b)-r.at) {
		r.fail(errShort)
		return 0
	}
	return int(n)
}

// orderOf decodes a byte order.
func orderOf(b byte) (binary.ByteOrder, error) {
	switch b {
	case LittleEndian:
		return binary.LittleEndian, nil
	case BigEndian:
		return binary.BigEndian, nil
	}
	return nil, fmt.Errorf("byte order %#x: neither little nor big endian", b)
}

// number converts the bits of a measured value: signed (8), unsigned (4) or a double.
func number(kind byte, bits uint64) float64 {
	switch kind {
	case 4:
		return float64(bits)
	case 8:
		return float64(int64(bits))
	case TypeDouble:
		return math.Float64frombits(bits)
	}
	return math.NaN()
}
