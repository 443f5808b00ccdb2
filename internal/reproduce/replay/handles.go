package replay

import (
	"fmt"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// handles maps the trace's numbers of one kind of handle to this process's.
type handleTable struct {
	kind  mpi.Kind
	width int
	table *mpi.PredefinedHandles
	null  uint64
	cell  []map[int64]uint64 // by stream that made it: where the value is

	// Where an MPI gives out a handle once more, a trace made under it has the same
	// number again, and the MPI at hand may give another handle. By cell: those that
	// have its number too, and whether the one in it was not freed.
	beneath map[uint64][]uint64
	alive   map[uint64]bool
}

// mostBeneath bounds what is kept of handles that nobody frees.
const mostBeneath = 64

// again makes a cell ready for another handle of its number.
func (h *handleTable) again(cell uint64) {
	if h.alive[cell] && len(h.beneath[cell]) < mostBeneath {
		h.beneath[cell] = append(h.beneath[cell], load(cell, h.width))
	}
	h.alive[cell] = true
}

// freed notes that the handle in a cell is gone.
func (h *handleTable) freed(cell uint64) {
	list := h.beneath[cell]
	if len(list) == 0 {
		delete(h.alive, cell)
		return
	}
	store(cell, h.width, list[len(list)-1])
	if h.beneath[cell] = list[:len(list)-1]; len(list) == 1 {
		delete(h.beneath, cell)
	}
}

func newHandles(kind mpi.Kind, f mpi.Flavour, streams int, symbol func(string) (uint64, bool)) *handleTable {
	h := &handleTable{kind: kind, width: 8, cell: make([]map[int64]uint64, streams), beneath: make(map[uint64][]uint64), alive: make(map[uint64]bool)}
	for i := range h.cell {
		h.cell[i] = make(map[int64]uint64)
	}
	if kind.IsHandle() {
		h.width = mpi.LayoutOf(f).HandleSize(kind)
		h.table = mpi.NewPredefinedHandles(f, kind, symbol)
		if n, ok := mpi.NullHandle(kind); ok {
			h.null, _ = h.table.Raw(n)
		}
	}
	return h
}

// find returns the stream that made the handle which a number means to a
// stream, -1 if nobody did yet. Which number a handle got depends on what other
// threads had freed by then; here they may be late, so that two handles can have
// one number at a time, and a stream means its own.
func (h *handleTable) find(stream int, number int64) int {
	if _, ok := h.cell[stream][number]; ok {
		return stream
	}
	for i := range h.cell {
		if _, ok := h.cell[i][number]; ok {
			return i
		}
	}
	return -1
}

// raw returns the value of a handle. ok is false if it is one of the program's
// that has not been made yet.
func (h *handleTable) raw(stream int, number int64) (v uint64, ok bool, err error) {
	switch {
	case number >= trace.FirstLocal:
		i := h.find(stream, number)
		if i < 0 {
			return 0, false, nil
		}
		return load(h.cell[i][number], h.width), true, nil
	case number == trace.UnknownHandle || h.table == nil:
		return h.null, true, nil
	}
	v, ok = h.table.Raw(number)
	if !ok {
		return 0, true, fmt.Errorf("this MPI has no predefined %s %d", h.kind.Name(), number)
	}
	return v, true, nil
}
