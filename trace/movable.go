package trace

import (
	"slices"
	"strings"
)

// Movable returns which values of a signature may go into a lane: tags, offsets
// into memory, windows, files and packed data, and tags of statuses. Nothing that is
// computed from distinct calls depends on these. There are none where a call makes or
// frees what has a name, or memory.
func Movable(f *Function, vals []int64) []int {
	list, _, _ := MovableBy(f, vals)
	return list
}

// MovableBy returns as well what that follows from: values that say which others there
// are, and segments of addresses, of which the class does.
func MovableBy(f *Function, vals []int64) (list, forms, segments []int) {
	name := strings.TrimSuffix(f.Name, "_c")
	if len(vals) == 0 || f.Attrs&(Persistent|CreatesComm|CreatesType|CreatesWin) != 0 ||
		strings.HasPrefix(name, "MPI_T_") || strings.HasPrefix(name, "MPI_Win_") || strings.HasSuffix(name, "_mem") {
		return nil, nil, nil
	}
	for i := range f.Params {
		p := &f.Params[i]
		if p.Dir == DirFree || p.Out && (p.Type == Handle || p.Type == Object) {
			return nil, nil, nil
		}
	}
	if f.haveSums() {
		vals = slices.Clone(vals)
		f.fillIn(vals)
	}
	var m movable
	d := valueReader{vals: vals, pos: 1, find: &lookup{}, movable: &m}
	d.call(f, vals[0] == 0 || vals[0] == errInStatus)
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

// moves reports whether a scalar parameter may.
func (p *ParamDef) moves() bool {
	switch p.Kind {
	case "tag", "offset":
		return p.Dims == 0
	case "aint", "disp":
		return p.Dims == 0 && (p.Name == "target_disp" || p.Name == "position")
	}
	return false
}

// distant reports whether offsets of an address are distances.
func distant(c AddressClass) bool {
	switch c {
	case Heap, DeviceMemory, Static, Stack, MPIMemory:
		return true
	}
	return false
}
