package replay

import (
	"fmt"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// handleTable maps the trace's numbers of one kind of handle to this process's values.
type handleTable struct {
	kind  mpi.Kind
	width int
	table *mpi.PredefinedHandles
	null  uint64
	// By stream that made the handle, and by number: the address where the handle's value is stored.
	cell []map[int64]uint64

	// An MPI may return an existing handle again. A trace made under it then has the same number again, but this
	// run's MPI may return a new handle. beneath has the earlier handles of a number that are not freed yet. alive
	// reports whether the latest one is not freed yet. Both are by the address in cell.
	beneath map[uint64][]uint64
	alive   map[uint64]bool
}

// mostBeneath is the largest number of earlier handles that beneath has for one number of the trace. It matters if
// the program never frees them.
const mostBeneath = 64

// again prepares the memory of a handle's value, by its address, for the next handle of the same number.
func (h *handleTable) again(cell uint64) {
	if h.alive[cell] && len(h.beneath[cell]) < mostBeneath {
		h.beneath[cell] = append(h.beneath[cell], load(cell, h.width))
	}
	h.alive[cell] = true
}

// freed records that the handle stored at an address was freed. An earlier handle of its number replaces it.
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
			h.null, _ = h.table.FromABI(n)
		}
	}
	return h
}

// find returns the stream that made the handle which a number means in a stream; -1 if it is not made yet. A handle's
// number depended on what other threads had freed. In the replay these threads may be later, so that two live handles
// have one number. Then the number means the stream's own handle.
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

// raw returns the value of a handle. ok is false for a handle of the program that has not been made yet.
func (h *handleTable) raw(stream int, number int64) (v uint64, ok bool, err error) {
	switch {
	case number >= trace.FirstCreatedHandle:
		i := h.find(stream, number)
		if i < 0 {
			return 0, false, nil
		}
		return load(h.cell[i][number], h.width), true, nil
	case number == trace.UnknownHandle || h.table == nil:
		return h.null, true, nil
	}
	v, ok = h.table.FromABI(number)
	if !ok {
		return 0, true, fmt.Errorf("this MPI has no predefined %s %d", h.kind.Name(), number)
	}
	return v, true, nil
}
