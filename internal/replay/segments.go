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
	alloc  func(size int64) (uint64, error)
	layout *mpi.Layout
	base   map[reissue.Place]uint64 // address of offset 0
	seed   uint64
}

// Around each segment some room is left: an MPI may look at a whole word.
const (
	margin = 64
	spare  = 1 << 12 // of a place that the plan does not have
)

// newSegments allocates what the plan says and fills it.
func newSegments(plan *reissue.Plan, l *mpi.Layout, seed uint64, alloc func(int64) (uint64, error)) (*segments, error) {
	g := &segments{alloc: alloc, layout: l, base: make(map[reissue.Place]uint64), seed: seed}
	for i := range plan.Segments {
		s := &plan.Segments[i]
		low := min(s.Low, 0)
		size := s.High - low + 2*margin
		at, err := alloc(size)
		if err != nil {
			return nil, fmt.Errorf("%d bytes for buffers: %w", size, err)
		}
		if !s.Given {
			g.fill(bytesAt(at, int(size)))
		}
		g.base[s.Place] = at + margin - uint64(low)
	}
	return g, nil
}

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
	base, ok := g.base[placeOf(l)]
	if !ok {
		at, err := g.alloc(spare)
		if err != nil {
			return 0, err
		}
		base = at - uint64(l.Offset)
		g.base[placeOf(l)] = base
	}
	return base + uint64(l.Offset), nil
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
