package replay

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// bytesAt returns the n bytes at an address outside of Go's memory.
func bytesAt(addr uint64, n int) []byte {
	return unsafe.Slice((*byte)(pointer(addr)), n)
}

// pointer turns an address into a pointer. It is never one of Go's memory, so
// the garbage collector has no say in it.
func pointer(addr uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// store writes the low bytes of a word.
func store(addr uint64, width int, v uint64) {
	b := bytesAt(addr, width)
	if width == 4 {
		binary.LittleEndian.PutUint32(b, uint32(v))
	} else {
		binary.LittleEndian.PutUint64(b, v)
	}
}

// load reads a word of 4 or 8 bytes, unsigned.
func load(addr uint64, width int) uint64 {
	b := bytesAt(addr, width)
	if width == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// textAt returns the string at an address.
func textAt(addr uint64) string {
	n := 0
	for *(*byte)(pointer(addr + uint64(n))) != 0 {
		n++
	}
	return string(bytesAt(addr, n))
}

// An arena hands out memory for the arguments of one call.
type arena struct {
	alloc func(size int64) (uint64, error)
	base  uint64
	size  int64
	used  int64
	err   error
}

const arenaSize = 1 << 20

func (a *arena) reset() { a.used = 0 }

// take returns n bytes, aligned for anything. What is in them is arbitrary.
// After a failure it returns 0, and err says why.
func (a *arena) take(n int64) uint64 {
	n = (n + 15) &^ 15
	if a.used+n > a.size {
		size := max(arenaSize, 2*a.size, 2*n)
		base, err := a.alloc(size)
		if err != nil {
			a.err = err
			return 0
		}
		// The old piece stays as it is: arguments of this call are in it.
		a.base, a.size, a.used = base, size, 0
	}
	p := a.base + uint64(a.used)
	a.used += n
	return p
}

// cells hands out places for one handle each, which stay where they are as long
// as the handle lives: a tracer tells requests apart by the variable that holds
// them, and an MPI may fill in a communicator later.
type cells struct {
	alloc func(size int64) (uint64, error)
	size  int
	free  []uint64
	next  uint64
	left  int
}

const (
	cellBlock = 1 << 16
	imageSize = 64 // no MPI's status is larger
)

func (c *cells) take() (uint64, error) {
	if n := len(c.free); n > 0 {
		p := c.free[n-1]
		c.free = c.free[:n-1]
		store(p, 8, 0)
		return p, nil
	}
	if c.left == 0 {
		p, err := c.alloc(cellBlock)
		if err != nil {
			return 0, err
		}
		c.next, c.left = p, cellBlock/c.size
	}
	p := c.next
	c.next += uint64(c.size)
	c.left--
	return p, nil
}

func (c *cells) give(p uint64) { c.free = append(c.free, p) }

// blocks hands out pieces of memory of any size, in powers of two. Small ones are cut
// from large ones: what Alloc returns has pages of its own.
type blocks struct {
	alloc func(size int64) (uint64, error)
	free  [48][]uint64
	next  uint64
	left  int64
}

func (b *blocks) take(n int) (uint64, error) {
	class := bits.Len(uint(max(n, 64) - 1))
	if list := b.free[class]; len(list) > 0 {
		b.free[class] = list[:len(list)-1]
		return list[len(list)-1], nil
	}
	size := int64(1) << class
	if size > cellBlock/4 {
		return b.alloc(size)
	}
	if b.left < size {
		p, err := b.alloc(cellBlock)
		if err != nil {
			return 0, err
		}
		b.next, b.left = p, cellBlock
	}
	p := b.next
	b.next, b.left = b.next+uint64(size), b.left-size
	return p, nil
}

func (b *blocks) give(p uint64, n int) {
	class := bits.Len(uint(max(n, 64) - 1))
	b.free[class] = append(b.free[class], p)
}
