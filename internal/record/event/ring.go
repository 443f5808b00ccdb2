package event

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
)

// A Ring is one thread's records. Positions count bytes from the start of the
// run and never wrap.
type Ring struct {
	header []uint64
	data   []uint64
	mask   uint64 // len(data) - 1, which is all ones: word i of the run is data[i&mask]
}

// OpenRing checks a ring's header. mem is the whole ring, header page included; it
// may be longer than the ring.
func OpenRing(mem []uint64) (*Ring, error) {
	if len(mem) < HeaderPageSize/8 {
		return nil, fmt.Errorf("ring: %d bytes are too short for a header", len(mem)*8)
	}
	if mem[0] != RingMagic {
		return nil, fmt.Errorf("ring: bad magic %#x", mem[0])
	}
	if v := uint32(mem[OffVersion/8]); v != RingVersion {
		return nil, fmt.Errorf("ring: version %d, want %d", v, RingVersion)
	}
	capacity := mem[OffCapacity/8]
	if bits.OnesCount64(capacity) != 1 || capacity < 64 || capacity > 1<<40 {
		return nil, fmt.Errorf("ring: bad capacity %d", capacity)
	}
	if uint64(len(mem)-HeaderPageSize/8) < capacity/8 {
		return nil, fmt.Errorf("ring: capacity %d, but only %d bytes of data", capacity, (len(mem)-HeaderPageSize/8)*8)
	}
	r := &Ring{header: mem[:HeaderPageSize/8], data: mem[HeaderPageSize/8 : HeaderPageSize/8+capacity/8], mask: capacity/8 - 1}
	if _, err := r.Head(); err != nil {
		return nil, err
	}
	return r, nil
}

// RingSize returns the size in bytes of the ring with this header, for callers that have only a pointer to it. It
// is 0 if the header is invalid.
func RingSize(header []uint64) uint64 {
	capacity := header[OffCapacity/8]
	if header[0] != RingMagic || capacity > 1<<40 {
		return 0
	}
	return HeaderPageSize + capacity
}

// Thread is the number of the thread the ring belongs to.
func (r *Ring) Thread() int { return int(uint32(r.header[OffThread/8] >> 32)) }

// Capacity is the size of the data area in bytes.
func (r *Ring) Capacity() uint64 { return uint64(len(r.data)) * 8 }

// Head returns the position up to which records are complete.
func (r *Ring) Head() (uint64, error) {
	head, kept := atomic.LoadUint64(&r.header[OffHead/8]), r.Released()
	if head%8 != 0 || kept%8 != 0 || kept > head || head-kept > r.Capacity() {
		return 0, fmt.Errorf("ring: head %d and kept %d can't be in a ring of %d", head, kept, r.Capacity())
	}
	return head, nil
}

// Released is the position up to which records may be overwritten.
func (r *Ring) Released() uint64 { return atomic.LoadUint64(&r.header[OffReleased/8]) }

// AlmostFull reports whether the owner thread would have too little room if everything up to pos were read, but
// nothing more released: less than it waits for, or less than an eighth of the ring.
func (r *Ring) AlmostFull(pos uint64) bool {
	wanted := atomic.LoadUint64(&r.header[OffSpaceWanted/8])
	return pos-r.Released() > r.Capacity()-min(max(wanted, r.Capacity()/8), r.Capacity())
}

// SetDrained publishes the reader's position to the owner thread.
func (r *Ring) SetDrained(pos uint64) { atomic.StoreUint64(&r.header[OffDrained/8], pos) }

// SetReleased lets the owner thread overwrite everything before pos.
func (r *Ring) SetReleased(pos uint64) { atomic.StoreUint64(&r.header[OffReleased/8], pos) }

// Stack is the address range of the thread's stack and a place in it that is
// the same in every run: the frame of the first MPI call.
func (r *Ring) Stack() (lo, hi, ref uint64) {
	return r.header[OffStackLo/8], r.header[OffStackHi/8], r.header[OffStackRef/8]
}

// ErrCorrupt is wrapped by the errors of Check for an invalid record.
var ErrCorrupt = errors.New("corrupt record")

// Record returns the record at pos, or nil if none is valid there; Check says why. head is what Head returned.
func (r *Ring) Record(pos, head uint64) Record {
	i := pos / 8 & r.mask
	if i >= uint64(len(r.data)) || pos >= head {
		return nil
	}
	rest := r.data[i:]
	word0 := rest[0]
	words := uint64(uint32(word0))
	least := uint64(minWords[uint8(word0>>48)])
	if words > uint64(len(rest)) || words > (head-pos)/8 || words < least || least == 0 {
		return nil
	}
	return Record(rest[:words:words])
}

// WordsBetween returns the words from pos to head, or to the end of the ring if that comes first. Callers know the lengths
// of the records in it.
func (r *Ring) WordsBetween(pos, head uint64) []uint64 {
	i := pos / 8 & r.mask
	if i >= uint64(len(r.data)) || pos >= head {
		return nil
	}
	return r.data[i:][:min((head-pos)/8, uint64(len(r.data))-i)]
}

// Check returns an error if the record at pos is invalid.
func (r *Ring) Check(pos, head uint64) error {
	if pos >= head {
		return fmt.Errorf("ring: no record at %d, head is %d: %w", pos, head, ErrCorrupt)
	}
	i := pos / 8 & r.mask
	word0 := r.data[i]
	words, kind := uint64(uint32(word0)), Kind(word0>>48)
	switch {
	case kind == 0 || kind >= kindEnd:
		return fmt.Errorf("ring: record at %d has kind %d: %w", pos, kind, ErrCorrupt)
	case words < uint64(minWords[kind]):
		return fmt.Errorf("ring: record at %d of kind %d has %d words: %w", pos, kind, words, ErrCorrupt)
	case words > (head-pos)/8:
		return fmt.Errorf("ring: record at %d has %d words, beyond the head: %w", pos, words, ErrCorrupt)
	case words > uint64(len(r.data))-i:
		return fmt.Errorf("ring: record at %d has %d words, beyond the ring's end: %w", pos, words, ErrCorrupt)
	}
	return nil
}
