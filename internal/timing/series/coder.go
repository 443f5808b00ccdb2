package series

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A binary arithmetic coder, 32 bits, without carries. Probabilities are those
// of a one, in 1/65536. Bits whose probability nobody knows go beside it.

// A coder writes or reads: its methods return the bits and numbers that they
// code, which only a writing one has to be told.
type coder struct {
	reading   bool
	low, high uint32

	out []byte // of a writing one
	put wire.BitWriter

	in  []byte // of a reading one
	x   uint32
	get wire.BitReader
}

func newWriter() *coder { return &coder{high: ^uint32(0)} }

func newReader(src []byte) (*coder, error) {
	coded, n := binary.Uvarint(src)
	if n <= 0 || coded > uint64(len(src)-n) {
		return nil, errShort
	}
	end := n + int(coded)
	c := &coder{reading: true, high: ^uint32(0), in: src[n:end], get: wire.BitReader{In: src[end:]}}
	for range 4 {
		c.take()
	}
	return c, nil
}

// take reads a byte, zeros behind the end.
func (c *coder) take() {
	b := byte(0)
	if len(c.in) > 0 {
		b, c.in = c.in[0], c.in[1:]
	}
	c.x = c.x<<8 | uint32(b)
}

// code codes one bit.
func (c *coder) code(bit uint32, p int32) uint32 {
	mid := c.low + uint32(uint64(c.high-c.low)*uint64(p)>>16)
	if c.reading {
		bit = b2u(c.x <= mid)
	}
	if bit != 0 {
		c.high = mid
	} else {
		c.low = mid + 1
	}
	for (c.low^c.high)>>24 == 0 {
		if c.reading {
			c.take()
		} else {
			c.out = append(c.out, byte(c.high>>24))
		}
		c.low, c.high = c.low<<8, c.high<<8|255
	}
	return bit
}

// raw codes the low n bits of v, which has no others.
func (c *coder) raw(v uint64, n uint) uint64 {
	if c.reading {
		return c.get.Get(n)
	}
	c.put.Put(v, n)
	return v
}

// finish appends all that was written to dst.
//
//	coded uvarint, arithmetic code, bits
func (c *coder) finish(dst []byte) []byte {
	// A reader takes zeros behind the end. A byte between the bounds, which
	// differ in it, is as good as all of it.
	if c.low > 0 {
		c.out = append(c.out, byte(c.high>>24))
	}
	for len(c.out) > 0 && c.out[len(c.out)-1] == 0 {
		c.out = c.out[:len(c.out)-1]
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.out)))
	return append(append(dst, c.out...), c.put.Finish()...)
}

func appendBlob(dst, data []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(data))), data...)
}

// blob reads what appendBlob wrote, and returns what is behind it.
func blob(src []byte) (data, rest []byte, err error) {
	n, rest, err := uvarint(src)
	if err != nil || n > uint64(len(rest)) {
		return nil, nil, errShort
	}
	return rest[:n], rest[n:], nil
}

func uvarint(src []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, src[n:], nil
}

// zigzag makes small numbers of numbers near 0, unzigzag the reverse.
func zigzag(v int32) uint32   { return uint32(v)<<1 ^ uint32(v>>31) }
func unzigzag(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }

func appendUint(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }
