package event

import (
	"fmt"
	"sync/atomic"
)

// A Writer fills a ring in the way of the shim. Tests, benchmarks and generators of synthetic runs use it.
type Writer struct {
	Ring           *Ring
	NextTicks      uint64 // ticks of the next record; each record adds Step
	TicksPerRecord uint64
	head           uint64
}

// NewWriter makes a ring in memory. The capacity is in bytes, a power of two.
func NewWriter(thread int, capacity uint64) (*Writer, error) {
	mem := make([]uint64, (HeaderPageSize+capacity)/8)
	mem[0] = RingMagic
	mem[OffVersion/8] = RingVersion | uint64(thread)<<32
	mem[OffCapacity/8] = capacity
	r, err := OpenRing(mem)
	if err != nil {
		return nil, err
	}
	return &Writer{Ring: r, TicksPerRecord: 10}, nil
}

// SetStack sets the header's stack fields.
func (w *Writer) SetStack(lo, hi, ref uint64) {
	w.Ring.header[OffStackLo/8], w.Ring.header[OffStackHi/8], w.Ring.header[OffStackRef/8] = lo, hi, ref
}

// Enter appends an Enter record.
func (w *Writer) Enter(call uint16, flags uint8, site uint64, parts ...uint64) error {
	return w.Write(call, KindEnter, flags, append([]uint64{site}, parts...))
}

// Leave appends a Leave record.
func (w *Writer) Leave(call uint16, flags uint8, parts ...uint64) error {
	return w.Write(call, KindLeave, flags, parts)
}

// Write appends a record: word 0 and ticks before the given rest.
func (w *Writer) Write(call uint16, kind Kind, flags uint8, rest []uint64) error {
	n := uint64(len(rest) + 2)
	left := uint64(len(w.Ring.data)) - w.head/8&w.Ring.mask
	need := n
	if left < n {
		need += left
	}
	if w.head+need*8-w.Ring.Released() > w.Ring.Capacity() {
		return fmt.Errorf("ring: no room for %d words", n)
	}
	if left < n {
		w.Ring.data[w.head/8&w.Ring.mask] = Word0(int(left), 0, KindSkip, 0)
		w.head += left * 8
	}
	at := w.Ring.data[w.head/8&w.Ring.mask:]
	at[0], at[1] = Word0(int(n), call, kind, flags), w.NextTicks
	copy(at[2:n], rest)
	w.NextTicks += w.TicksPerRecord
	w.head += n * 8
	atomic.StoreUint64(&w.Ring.header[OffHead/8], w.head)
	return nil
}

// Bytes returns the ring in its file form.
func (w *Writer) Bytes() []byte {
	b := make([]byte, 0, HeaderPageSize+w.Ring.Capacity())
	for _, part := range [][]uint64{w.Ring.header, w.Ring.data} {
		for _, word := range part {
			for s := 0; s < 64; s += 8 {
				b = append(b, byte(word>>s))
			}
		}
	}
	return b
}
