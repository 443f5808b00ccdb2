package oracle

import (
	"fmt"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// pairs is a one-to-one relation between raw values and symbolic ids that
// changes as objects die and their values are used again.
type pairs struct {
	name  map[uint64]int64
	raw   map[int64]uint64
	stale map[uint64]bool // given back; may mean something else from now on
}

func newPairs() *pairs {
	return &pairs{name: map[uint64]int64{}, raw: map[int64]uint64{}, stale: map[uint64]bool{}}
}

// made relates what came out of a call.
func (p *pairs) made(raw uint64, name int64) string {
	if old, ok := p.name[raw]; ok && old != name && !p.stale[raw] {
		return fmt.Sprintf("%#x was %d, is %d now", raw, old, name)
	}
	if old, ok := p.raw[name]; ok && old != raw && !p.stale[old] {
		return fmt.Sprintf("%d was %#x, is %#x now", name, old, raw)
	}
	p.bind(raw, name)
	return ""
}

func (p *pairs) bind(raw uint64, name int64) {
	if old, ok := p.name[raw]; ok && p.raw[old] == raw {
		delete(p.raw, old)
	}
	if old, ok := p.raw[name]; ok {
		delete(p.name, old)
		delete(p.stale, old)
	}
	p.name[raw], p.raw[name] = name, raw
	delete(p.stale, raw)
}

// used tests what went into a call. It reports whether the value is a new one.
func (p *pairs) used(raw uint64, name int64) (fresh bool, wrong string) {
	old, ok := p.name[raw]
	if ok && old == name {
		return false, ""
	}
	if ok && !p.stale[raw] {
		return false, fmt.Sprintf("%#x was %d, is %d now", raw, old, name)
	}
	return true, p.made(raw, name)
}

func (c *comparer) pairsOf(kind mpi.Kind) *pairs {
	if c.handles[kind] == nil {
		c.handles[kind] = newPairs()
	}
	return c.handles[kind]
}

// handle tests an MPI handle or tool object.
func (c *comparer) handle(kind mpi.Kind, raw uint64, name int64, made bool) string {
	predefined := c.names.predefined(kind, raw)
	if len(predefined) > 0 || name >= 0 && name < trace.FirstCreatedHandle && kind.IsHandle() {
		for _, v := range predefined {
			if v == name {
				return ""
			}
		}
		return fmt.Sprintf("logged %#x, predefined as %v, trace has %d (%s)", raw, predefined, name, mpi.ConstantName(kind, name))
	}
	p := c.pairsOf(kind)
	if name == trace.UnknownHandle {
		if _, ok := p.name[raw]; ok && !p.stale[raw] {
			return fmt.Sprintf("%#x is known, but not to the trace", raw)
		}
		c.excuse(UnknownHandle)
		return ""
	}
	if made {
		return p.made(raw, name)
	}
	fresh, wrong := p.used(raw, name)
	if fresh {
		c.excuse(LateHandle)
	}
	return wrong
}

// place identifies a segment of memory.
type place struct {
	class  trace.AddressClass
	device int
	id     int64
}

// addresses tests that symbolic addresses name memory consistently: raw minus
// offset is the same for all uses of a segment while it lives.
type addresses struct {
	base  map[place]uint64
	owner map[uint64]place
}

func newAddresses() addresses {
	return addresses{map[place]uint64{}, map[uint64]place{}}
}

// free forgets the segment that began at an address.
func (m *addresses) free(base uint64) {
	if at, ok := m.owner[base]; ok && at.class == trace.AddressHeap {
		delete(m.base, at)
		delete(m.owner, base)
	}
}

// forgetStack says that another thread's calls follow in a stream.
func (m *addresses) forgetStack(stream int) {
	at := place{class: trace.AddressStack, id: int64(stream)}
	if base, ok := m.base[at]; ok {
		delete(m.base, at)
		delete(m.owner, base)
	}
}

var specials = map[int64][]string{
	trace.SpecialNull:            {"MPI_BOTTOM"},
	trace.SpecialInPlace:         {"MPI_IN_PLACE"},
	trace.SpecialBufferAutomatic: {"MPI_BUFFER_AUTOMATIC"},
}

func (c *comparer) address(raw uint64, a trace.SymbolicAddress) string {
	if a.Class == trace.AddressSpecial {
		if raw == 0 && a.Offset == trace.SpecialNull {
			return ""
		}
		for _, name := range specials[a.Offset] {
			if c.names.is(raw, name) {
				return ""
			}
		}
		return fmt.Sprintf("logged %#x, trace has special address %d", raw, a.Offset)
	}
	if raw == 0 || c.names.is(raw, "MPI_IN_PLACE") {
		return fmt.Sprintf("logged special address %#x, trace has %+v", raw, a)
	}
	at, base := place{a.Class, a.Device, a.ID}, raw-uint64(a.Offset)
	m := &c.addresses
	old, known := m.base[at]
	if known && old == base {
		return ""
	}
	owner, owned := m.owner[base]
	owned = owned && owner.class == a.Class
	switch {
	case a.Class == trace.AddressMPI && (known || owned):
		c.excuse(MPIMemory)
	case known:
		return fmt.Sprintf("%+v began at %#x, begins at %#x now", a, old, base)
	case owned:
		return fmt.Sprintf("%#x is the beginning of %+v already, not of %+v", base, owner, at)
	}
	if known && m.owner[old] == at {
		delete(m.owner, old)
	}
	m.base[at], m.owner[base] = base, at
	return ""
}
