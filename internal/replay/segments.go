package replay

import (
	"encoding/binary"
	"fmt"

	"spoor/internal/reissue"
	"spoor/mpi"
	"spoor/trace"
)

// segments gives the trace's addresses memory of this process. What the MPI
// allocated itself is where it says.
type segments struct {
	host    Host
	layout  *mpi.Layout
	planned map[reissue.Place]*reissue.Segment
	base    map[reissue.Place]uint64 // address of offset 0
	rooms   map[reissue.Place]room   // of those that begin and end
	seed    uint64

	spare      []room
	spareBytes int64
}

// Around each segment some room is left: an MPI may look at a whole word.
const (
	margin   = 64
	leastFor = 1 << 12 // of a place that the plan does not have
)

// newSegments allocates what the plan says and fills it, save segments that begin and
// end as the replay goes on. The plan has how far calls may reach, which is too far
// where the number of a datatype stood for a small one and a large one.
func newSegments(plan *reissue.Plan, l *mpi.Layout, seed uint64, h Host, known *lives) (*segments, error) {
	g := &segments{
		host: h, layout: l, seed: seed, base: make(map[reissue.Place]uint64), rooms: make(map[reissue.Place]room),
		planned: make(map[reissue.Place]*reissue.Segment),
	}
	for i := range plan.Segments {
		s := &plan.Segments[i]
		g.planned[s.Place] = s
		if size, ok := known.largest[s.Place]; ok {
			s.Low, s.High = max(s.Low, 0), min(s.High, size)
			if known.follow {
				continue
			}
		}
		if err := g.take(s, s.High); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// take gives a segment memory up to an offset. What calls reach of it gets content.
func (g *segments) take(s *reissue.Segment, high int64) error {
	low := min(s.Low, 0)
	size := high - low + 2*margin
	r, used, err := g.room(size)
	if err != nil {
		return fmt.Errorf("%d bytes for buffers: %w", size, err)
	}
	if !s.Given && !used {
		g.fill(bytesAt(r.at, int(min(min(high, s.High)-low+2*margin, mostContent))))
	}
	g.rooms[s.Place] = r
	g.base[s.Place] = r.at + margin - uint64(low)
	return nil
}

// mostContent is how much of a segment is filled. How far calls reach may be known
// badly, and what is not touched takes no memory.
const mostContent = 1 << 28

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

func placeOf(l trace.Location) reissue.Place {
	return reissue.Place{Class: l.Class, Device: l.Device, ID: l.ID}
}

// bind says where a segment is that the MPI allocated.
func (g *segments) bind(l trace.Location, addr uint64) { g.base[placeOf(l)] = addr - uint64(l.Offset) }

// address returns the address that a location has here.
func (g *segments) address(l trace.Location) (uint64, error) {
	if l.Class == trace.Special {
		return g.special(l.Offset)
	}
	p := placeOf(l)
	if base, ok := g.base[p]; ok {
		return base + uint64(l.Offset), nil
	}
	if s := g.planned[p]; s != nil {
		err := g.take(s, s.High)
		return g.base[p] + uint64(l.Offset), err
	}
	at, err := g.host.Alloc(leastFor)
	if err != nil {
		return 0, err
	}
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
