package replay

import (
	"fmt"

	"spoor/mpi"
	"spoor/trace"
)

// handles maps the trace's numbers of one kind of handle to this process's.
type handles struct {
	kind  mpi.Kind
	width int
	table *mpi.Handles
	null  uint64
	cell  map[int64]uint64 // of those that the program made: where the value is
}

func newHandles(kind mpi.Kind, f mpi.Flavour, symbol func(string) (uint64, bool)) *handles {
	h := &handles{kind: kind, width: 8, cell: make(map[int64]uint64)}
	if kind.IsHandle() {
		h.width = mpi.LayoutOf(f).HandleSize(kind)
		h.table = mpi.NewHandles(f, kind, symbol)
		if n, ok := mpi.NullHandle(kind); ok {
			h.null, _ = h.table.Raw(n)
		}
	}
	return h
}

// raw returns the value of a handle. ok is false if it is one of the program's
// that has not been made yet.
func (h *handles) raw(number int64) (v uint64, ok bool, err error) {
	switch {
	case number >= trace.FirstLocal:
		p, ok := h.cell[number]
		if !ok {
			return 0, false, nil
		}
		return load(p, h.width), true, nil
	case number == trace.UnknownHandle || h.table == nil:
		return h.null, true, nil
	}
	v, ok = h.table.Raw(number)
	if !ok {
		return 0, true, fmt.Errorf("this MPI has no predefined %s %d", h.kind.Name(), number)
	}
	return v, true, nil
}
