package replay

import (
	"encoding/binary"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// segments gives the trace's addresses memory of this process. What the MPI
// allocated itself is where it says.
type segments struct {
	host    Host
	layout  *mpi.Layout
	planned map[reissue.Place]*reissue.Segment
	base    map[reissue.Place]uint64 // address of offset 0
	rooms   map[reissue.Place]room   // of those that begin and end
	given   map[reissue.Place]bool   // the MPI handed it out, since the segment last began
	seed    uint64
	version uint64 // counts what changes base

	spare      []room
	spareBytes int64
}

// Around each segment some room is left: an MPI may look at a whole word.
const (
	margin   = 64
	leastFor = 1 << 12 // of a place that the plan does not have
)

// newSegments allocates what the plan says and fills it, save segments that begin and
// end as the replay goes on.
func newSegments(plan *reissue.Plan, l *mpi.Layout, seed uint64, h Host, known *allocs) (*segments, error) {
	g := &segments{
		host: h, layout: l, seed: seed, base: make(map[reissue.Place]uint64), rooms: make(map[reissue.Place]room), given: make(map[reissue.Place]bool),
		planned: make(map[reissue.Place]*reissue.Segment),
	}
	for i := range plan.Segments {
		s := &plan.Segments[i]
		g.planned[s.Place] = s
		size, ok := known.largest[s.Place]
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

// take gives a segment memory: address space for all that calls reach, content as far
// as the segment's size.
//
// Calls may reach beyond the segment, as a datatype can go from one piece of memory to
// the next. They may also seem to, where the number of a datatype stood for a small one
// and a large one. What is not touched is no memory.
func (g *segments) take(s *reissue.Segment, size int64) error {
	low, high := max(min(s.Low, 0), -mostSpace), min(max(s.High, 0), mostSpace)
	r, used, err := g.room(high - low + 2*margin)
	if err != nil {
		return fmt.Errorf("%d bytes for buffers: %w", high-low, err)
	}
	g.rooms[s.Place] = r
	g.version++
	g.base[s.Place] = r.at + margin - uint64(low)
	if !s.Given && !used {
		g.fill(bytesAt(g.base[s.Place], int(min(size, high, mostContent))))
	}
	return nil
}

const (
	mostContent = 1 << 28 // of a segment of unknown size
	mostSpace   = 1 << 40 // to either side of a segment's beginning
)

// fill writes random bytes. Whoever takes them for doubles finds numbers from 1
// to 2: sums neither overflow nor get slow.
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

// bind says where a segment is that the MPI allocated.
func (g *segments) bind(l trace.Location, addr uint64) {
	p := reissue.PlaceOf(&l)
	g.version++
	g.base[p], g.given[p] = addr-uint64(l.Offset), true
}

// address returns the address that a location has here.
func (g *segments) address(l trace.Location) (uint64, error) {
	if l.Class == trace.Special {
		return g.special(l.Offset)
	}
	p := reissue.PlaceOf(&l)
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
	s := &g.layout.C.Bottom
	switch offset {
	case trace.SpecialInPlace:
		s = &g.layout.C.InPlace
	case trace.SpecialBufferAutomatic:
		s = &g.layout.C.BufferAutomatic
	}
	if s.Form != mpi.SentinelValue {
		return 0, fmt.Errorf("this MPI has no special address %d", offset)
	}
	return uint64(s.Value), nil
}
