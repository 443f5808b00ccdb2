package replay

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// bytesAt returns the n bytes at an address outside of Go's memory.
func bytesAt(addr uint64, n int) []byte {
	return unsafe.Slice((*byte)(pointer(addr)), n)
}

// pointer converts an address to a pointer. The address must be outside of Go's heap.
func pointer(addr uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// store writes the low width bytes (4 or 8) of a word.
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

// An arena allocates memory for the arguments of one call.
type arena struct {
	alloc func(size int64) (uint64, error)
	base  uint64
	size  int64
	used  int64
	err   error
}

const arenaSize = 1 << 20

// take returns n uninitialised bytes, aligned for any type. After a failure it returns 0 and sets err.
func (a *arena) take(n int64) uint64 {
	n = (n + 15) &^ 15
	if a.used+n > a.size {
		size := max(arenaSize, 2*a.size, 2*n)
		base, err := a.alloc(size)
		if err != nil {
			a.err = err
			return 0
		}
		// The old block of memory stays allocated: it holds arguments of this call.
		a.base, a.size, a.used = base, size, 0
	}
	p := a.base + uint64(a.used)
	a.used += n
	return p
}

const (
	cellBlock = 1 << 16
	cellSize  = 8
	imageSize = 64 // bytes; no MPI's status is larger
)

// cell returns memory for one handle, whose address stays the same while the handle lives. A tracer identifies
// requests by their variable's address, and an MPI may fill in a communicator later.
func (p *Process) cell() (uint64, error) {
	at, err := p.blocks.take(cellSize)
	if err == nil {
		store(at, cellSize, 0)
	}
	return at, err
}

// blocks allocates memory in sizes of powers of two. Small blocks are cut from large ones, as each Alloc takes whole
// pages.
type blocks struct {
	alloc func(size int64) (uint64, error)
	free  [48][]uint64
	next  uint64
	left  int64
}

func (b *blocks) take(n int) (uint64, error) {
	class := classOf(n)
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
	class := classOf(n)
	b.free[class] = append(b.free[class], p)
}

func classOf(n int) int { return bits.Len(uint(max(n, cellSize) - 1)) }

// segments maps the trace's segments to memory of this process. Memory that the MPI allocated keeps the MPI's
// address.
type segments struct {
	host    MPIHost
	layout  *mpi.Layout
	planned map[reissue.MemorySegment]*reissue.TouchedSegment
	base    map[reissue.MemorySegment]uint64 // address of the segment's offset 0
	rooms   map[reissue.MemorySegment]room   // memory of the segments that this process allocated
	given   map[reissue.MemorySegment]bool   // the MPI has allocated it since the segment last began
	seed    uint64
	version uint64 // incremented at each change of base

	spare      []room
	spareBytes int64
}

// margin is the padding in bytes at both ends of a segment: an MPI may read whole words.
const (
	margin   = 64
	leastFor = 1 << 12 // bytes for a segment that the plan lacks, or that a call uses before it is allocated
)

// newSegments allocates and fills the plan's segments, except those that are allocated and freed during the replay.
func newSegments(plan *reissue.ResourcePlan, l *mpi.Layout, seed uint64, h MPIHost, known *allocs) (*segments, error) {
	g := &segments{
		host: h, layout: l, seed: seed, base: make(map[reissue.MemorySegment]uint64), rooms: make(map[reissue.MemorySegment]room), given: make(map[reissue.MemorySegment]bool),
		planned: make(map[reissue.MemorySegment]*reissue.TouchedSegment),
	}
	for i := range plan.Segments {
		s := &plan.Segments[i]
		g.planned[s.MemorySegment] = s
		size, ok := known.largest[s.MemorySegment]
		if ok && known.follow {
			continue
		}
		if !ok {
			size = mostContent
		}
		if err := g.take(s, size); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// take maps a segment: address space for all bytes that calls reach, and memory for the segment's size.
//
// Calls may reach beyond the segment, as a datatype can span several pieces of memory. They may also seem to, if one
// number meant a small datatype and a large one. Address space that is not touched takes no memory.
func (g *segments) take(s *reissue.TouchedSegment, size int64) error {
	low, high := max(min(s.Low, 0), -mostSpace), min(max(s.High, 0), mostSpace)
	r, used, err := g.room(high - low + 2*margin)
	if err != nil {
		return fmt.Errorf("%d bytes for buffers: %w", high-low, err)
	}
	g.rooms[s.MemorySegment] = r
	g.version++
	g.base[s.MemorySegment] = r.at + margin - uint64(low)
	if !s.FromMPI && !used {
		g.fill(bytesAt(g.base[s.MemorySegment], int(min(size, high, mostContent))))
	}
	return nil
}

const (
	mostContent = 1 << 28 // bytes that are filled in a segment of unknown size, and at most in any segment
	mostSpace   = 1 << 40 // bytes: the largest reach of calls on either side of a segment's beginning
)

// fill writes random bytes that are doubles from 1 to 2: sums neither overflow nor become slow.
func (g *segments) fill(b []byte) {
	x := g.seed*0x9e3779b97f4a7c15 + 1
	for ; len(b) >= 8; b = b[8:] {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(b, x>>12|0x3ff<<52)
	}
	g.seed = x
}

// bind sets the address of a segment that the MPI allocated.
func (g *segments) bind(l trace.SymbolicAddress, addr uint64) {
	p := reissue.SegmentOf(&l)
	g.version++
	g.base[p], g.given[p] = addr-uint64(l.Offset), true
}

// address returns this process's address of a location.
func (g *segments) address(l trace.SymbolicAddress) (uint64, error) {
	if l.Class == trace.AddressSpecial {
		return g.special(l.Offset)
	}
	p := reissue.SegmentOf(&l)
	if base, ok := g.base[p]; ok {
		return base + uint64(l.Offset), nil
	}
	if s := g.planned[p]; s != nil {
		err := g.take(s, leastFor)
		return g.base[p] + uint64(l.Offset), err
	}
	at, err := g.host.Alloc(leastFor)
	if err != nil {
		return 0, err
	}
	g.version++
	g.base[p] = at - uint64(l.Offset)
	return at, nil
}

func (g *segments) special(offset int64) (uint64, error) {
	s := &g.layout.CSentinels.Bottom
	switch offset {
	case trace.SpecialInPlace:
		s = &g.layout.CSentinels.InPlace
	case trace.SpecialBufferAutomatic:
		s = &g.layout.CSentinels.BufferAutomatic
	}
	if s.Form != mpi.SentinelValue {
		return 0, fmt.Errorf("this MPI has no special address %d", offset)
	}
	return uint64(s.Value), nil
}

// allocs reads the allocation events of a rank. Threads of a replay advance differently than the program's. Memory of
// ranks with several threads therefore stays for the whole replay, and the events give only sizes.
type allocs struct {
	largest map[reissue.MemorySegment]int64 // by segment: its largest size in bytes
	follow  bool
	next    func() (uint64, trace.AllocEvent, bool)
	at      uint64 // number of calls before the next event, which is alloc
	alloc   trace.AllocEvent
	more    bool
}

// newAllocs returns the allocation events of a rank.
func newAllocs(k *trace.Rank) (*allocs, error) {
	l := &allocs{largest: make(map[reissue.MemorySegment]int64)}
	r, err := k.Allocs()
	if err != nil || r == nil {
		return l, err
	}
	for i := range r.List {
		x := &r.List[i]
		p := reissue.SegmentOf(&x.Segment)
		l.largest[p] = max(l.largest[p], int64(x.Size))
	}
	if r.Truncated || k.Streams() > 1 {
		if r.Truncated {
			clear(l.largest) // events are missing, so a segment may have been larger
		}
		return l, nil
	}
	l.follow = true
	l.next, _ = iter.Pull2(r.All(0))
	l.at, l.alloc, l.more = l.next()
	return l, nil
}

// pending reports whether segments are allocated or freed before a call.
func (l *allocs) pending(index uint64) bool { return l.follow && l.more && l.at <= index }

// until allocates and frees segments as the program did before a call.
func (l *allocs) until(index uint64, g *segments) error {
	for l.more && l.at <= index {
		if l.alloc.IsFree {
			g.end(reissue.SegmentOf(&l.alloc.Segment))
		} else if err := g.begin(reissue.SegmentOf(&l.alloc.Segment), int64(l.alloc.Size)); err != nil {
			return err
		}
		l.at, l.alloc, l.more = l.next()
	}
	return nil
}

// A room is the memory of a segment.
type room struct {
	at   uint64
	size int64
}

// begin allocates a segment of its recorded size.
func (g *segments) begin(p reissue.MemorySegment, size int64) error {
	s, ok := g.planned[p]
	if !ok || g.given[p] {
		return nil // no call touches it, or the MPI has just allocated it
	}
	g.end(p)
	return g.take(s, size)
}

// end frees a segment.
func (g *segments) end(p reissue.MemorySegment) {
	g.version++
	if g.given[p] {
		delete(g.given, p)
		delete(g.base, p)
	}
	if r, ok := g.rooms[p]; ok {
		delete(g.rooms, p)
		delete(g.base, p)
		g.giveBack(r)
	}
}

// At most mostSpare freed rooms, of spareBytes in all, are kept for segments that a loop allocates in each iteration.
const (
	mostSpare  = 16
	spareBytes = 32 << 20
)

func (g *segments) giveBack(r room) {
	g.spare = append(g.spare, r)
	g.spareBytes += r.size
	for len(g.spare) > mostSpare || g.spareBytes > spareBytes {
		old := g.spare[0]
		g.spare = slices.Delete(g.spare, 0, 1)
		g.spareBytes -= old.size
		g.host.Free(old.at, old.size)
	}
}

// room returns memory of a size in bytes. used: it has the content of an earlier segment.
func (g *segments) room(size int64) (r room, used bool, err error) {
	for i, r := range g.spare {
		if r.size >= size && r.size/2 <= size {
			g.spare = slices.Delete(g.spare, i, i+1)
			g.spareBytes -= r.size
			return r, true, nil
		}
	}
	at, err := g.host.Alloc(size)
	return room{at, size}, false, err
}
