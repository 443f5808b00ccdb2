package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
)

// Movable returns which values of a signature may go into a lane: tags, offsets
// into memory, windows, files and packed data, and tags of statuses. Nothing that is
// computed from distinct calls depends on these. There are none where a call makes or
// frees what has a name, or memory. f is FunctionOf(call).
//
// It returns as well what that follows from: values that say which others there are (none
// if nothing may move), and segments of addresses, of which the class does.
func Movable(call *mpi.Call, f *Function, vals []int64) (list, forms, segments []int) {
	if len(vals) == 0 || call.Binds() {
		return nil, nil, nil
	}
	if f.haveSums() {
		vals = slices.Clone(vals)
		f.fillIn(vals)
	}
	var m movable
	d := valueReader{vals: vals, pos: 1, find: &lookup{}, means: call, movable: &m}
	d.call(f, vals[0] == 0 || vals[0] == mpi.ErrInStatus)
	if d.err != nil {
		return nil, nil, nil
	}
	slices.Sort(m.list)
	return m.list, append(m.forms, 0), m.segments
}

// movable gathers positions of values.
type movable struct{ list, forms, segments []int }

// move notes the value at a position as one that may go into a lane, form as one
// that says what follows, segment as that of an address.
func (d *valueReader) move(at int) {
	if d.movable != nil {
		d.movable.list = append(d.movable.list, at)
	}
}

func (d *valueReader) form(at int) {
	if d.movable != nil {
		d.movable.forms = append(d.movable.forms, at)
	}
}

func (d *valueReader) segment(at int) {
	if d.movable != nil {
		d.movable.segments = append(d.movable.segments, at)
	}
}

// distant reports whether offsets of an address are distances.
func distant(c AddressClass) bool {
	switch c {
	case Heap, DeviceMemory, Static, Stack, MPIMemory:
		return true
	}
	return false
}
