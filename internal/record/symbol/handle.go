package symbol

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/mpi"
)

// UnknownHandle is the name of a handle whose creation was not recorded.
const UnknownHandle = -1

// Handles names the handles of one kind. Predefined ones have the standard ABI's numbers; handles that the program
// makes get the lowest free number from mpi.FirstUserHandleID on. References are counted by how often the MPI returned
// the handle.
type Handles struct {
	names Map // raw handle → name+1
	pool  NumberPool
	refs  []int32  // by name-FirstUserHandleID: number of references
	dying []uint64 // raw handles that unfinished calls free
}

// Predefine sets the number of a predefined handle. Only the first call for a raw handle has an effect.
func (h *Handles) Predefine(raw uint64, number int64) {
	if h.names.Get(raw) == 0 {
		h.names.Set(raw, number+1)
	}
}

// NameOf returns the name of a handle that the program passes in.
func (h *Handles) NameOf(raw uint64) int64 {
	if v := h.names.Get(raw); v != 0 {
		return v - 1
	}
	return UnknownHandle
}

// NameNew returns the name of a handle that the MPI returned; made reports whether it is new.
func (h *Handles) NameNew(raw uint64) (name int64, made bool) {
	if len(h.dying) > 0 && h.ClearBeingFreed(raw) {
		h.Release(raw) // the MPI has freed it already, though the call that frees it is unfinished in another thread
	}
	if v := h.names.Get(raw); v != 0 {
		if v > mpi.FirstUserHandleID {
			h.refs[v-1-mpi.FirstUserHandleID]++
		}
		return v - 1, false
	}
	name = h.ReserveName()
	h.names.Set(raw, name+1)
	return name, true
}

// NextName returns the name that NameNew would give to a handle if it is new; else UnknownHandle.
func (h *Handles) NextName(raw uint64) int64 {
	if len(h.dying) > 0 || h.names.Get(raw) != 0 {
		return UnknownHandle
	}
	return int64(h.pool.Peek()) + mpi.FirstUserHandleID
}

// ReserveName returns a new name whose raw handle is not yet known; Bind sets it later.
func (h *Handles) ReserveName() int64 {
	id := h.pool.Take()
	for int(id) >= len(h.refs) {
		h.refs = append(h.refs, 0)
	}
	h.refs[id] = 1
	return int64(id) + mpi.FirstUserHandleID
}

// Bind gives a reserved name its raw handle.
func (h *Handles) Bind(raw uint64, name int64) { h.names.Set(raw, name+1) }

// BeginFree records that a call begins which frees a handle. Until it ends, the handle keeps its meaning for
// callbacks.
func (h *Handles) BeginFree(raw uint64) { h.dying = append(h.dying, raw) }

// IsBeingFreed reports whether an unfinished call frees a handle.
func (h *Handles) IsBeingFreed(raw uint64) bool {
	return len(h.dying) > 0 && slices.Contains(h.dying, raw)
}

// ClearBeingFreed reports whether a handle is still marked by BeginFree, and removes the mark.
func (h *Handles) ClearBeingFreed(raw uint64) bool {
	i := slices.Index(h.dying, raw)
	if i >= 0 {
		h.dying = slices.Delete(h.dying, i, i+1)
	}
	return i >= 0
}

// Release removes a reference to a handle. It returns the name, and whether the reference was the last.
func (h *Handles) Release(raw uint64) (name int64, last bool) {
	v := h.names.Get(raw)
	if v <= mpi.FirstUserHandleID {
		return v - 1, false
	}
	id := v - 1 - mpi.FirstUserHandleID
	h.refs[id]--
	if h.refs[id] > 0 {
		return v - 1, false
	}
	h.names.Delete(raw)
	h.pool.Return(uint32(id))
	return v - 1, true
}

// Forget discards a handle whose free was not recorded, as the MPI gave its value to a new object.
func (h *Handles) Forget(raw uint64) {
	if v := h.names.Get(raw); v > mpi.FirstUserHandleID {
		h.names.Delete(raw)
		h.pool.Return(uint32(v - 1 - mpi.FirstUserHandleID))
	}
}

// Code codes the state without predefined handles: the reading table must have them.
func (h *Handles) Code(c *wire.Coder) {
	h.pool.code(c)
	wire.CodeList(c, &h.refs, 1, func(_ int, n *int32) { wire.CodeIntegers(c, n) })
	wire.CodeList(c, &h.dying, 8, func(_ int, raw *uint64) { c.Uint64(raw) })
	h.names.codeAbove(c, mpi.FirstUserHandleID, func(_ uint64, v *int64) {
		wire.CodeAbove(c, v, 1+mpi.FirstUserHandleID, len(h.refs)-1)
	})
}
