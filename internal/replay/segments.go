package replay

import (
	"fmt"

	"spoor/mpi"
	"spoor/trace"
)

// A place identifies a segment of a trace's addresses.
type place struct {
	class  trace.AddressClass
	device int
	id     int64
}

// segments gives the trace's addresses memory of this process. What the MPI
// allocated itself is where it says.
type segments struct {
	reserve func(size int64) (uint64, error)
	layout  *mpi.Layout
	base    map[place]uint64 // address of offset 0
}

// Reserved is address space, not memory: only pages that something is written
// to take any.
const (
	reserveKnown   = 1 << 34
	reserveUnknown = 1 << 28
	below          = 1 << 30 // of a stack, where offsets may be negative
)

func newSegments(l *mpi.Layout, reserve func(int64) (uint64, error)) *segments {
	return &segments{reserve: reserve, layout: l, base: make(map[place]uint64)}
}

// bind says where a segment is that the MPI allocated.
func (g *segments) bind(l trace.Location, addr uint64) {
	g.base[place{l.Class, l.Device, l.ID}] = addr - uint64(l.Offset)
}

// address returns the address that a location has here.
func (g *segments) address(l trace.Location) (uint64, error) {
	if l.Class == trace.Special {
		return g.special(l.Offset)
	}
	key := place{l.Class, l.Device, l.ID}
	base, ok := g.base[key]
	if !ok {
		size, start := int64(reserveKnown), int64(0)
		switch l.Class {
		case trace.UnknownPlace:
			size = reserveUnknown
		case trace.Stack:
			start = below
		}
		p, err := g.reserve(size)
		if err != nil {
			return 0, fmt.Errorf("memory for %s: %w", l.Text(), err)
		}
		base = p + uint64(start)
		g.base[key] = base
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
