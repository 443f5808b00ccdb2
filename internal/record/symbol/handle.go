package symbol

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/mpi"
)

// UnknownHandle is the name of a handle that nobody was seen to make.
const UnknownHandle = -1

// Handles names the handles of one kind. Predefined ones have the standard
// ABI's numbers; those that the program makes get mpi.FirstHandleID and up,
// lowest free number first, counted by how often the MPI handed them out.
type Handles struct {
	names Map // raw handle → name+1
	pool  NumberPool
	refs  []int32  // by name-FirstHandleID
	dying []uint64 // raw handles that calls under way give back
}

// Predefine gives a raw handle the standard ABI's number. The first call for
// a raw handle counts.
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

// NameNew returns the name of a handle that the MPI handed out, and whether it
// is a new one.
func (h *Handles) NameNew(raw uint64) (name int64, made bool) {
	if len(h.dying) > 0 && h.EndDying(raw) {
		h.Release(raw) // the MPI has it back, though the call that frees it is under way in another thread
	}
	if v := h.names.Get(raw); v != 0 {
		if v > mpi.FirstHandleID {
			h.refs[v-1-mpi.FirstHandleID]++
		}
		return v - 1, false
	}
	name = h.ReserveName()
	h.names.Set(raw, name+1)
	return name, true
}

// NextName is the name that Acquire would give a handle, if that were a new one; else
// Unknown.
func (h *Handles) NextName(raw uint64) int64 {
	if len(h.dying) > 0 || h.names.Get(raw) != 0 {
		return UnknownHandle
	}
	return int64(h.pool.Peek()) + mpi.FirstHandleID
}

// ReserveName makes a name whose raw handle is still unknown; Bind adds it later.
func (h *Handles) ReserveName() int64 {
	id := h.pool.Take()
	for int(id) >= len(h.refs) {
		h.refs = append(h.refs, 0)
	}
	h.refs[id] = 1
	return int64(id) + mpi.FirstHandleID
}

// Bind gives a reserved name its raw handle.
func (h *Handles) Bind(raw uint64, name int64) { h.names.Set(raw, name+1) }

// BeginFree notes that a call begins which gives a handle back. Until it ends, the handle means what it did: callbacks use it.
func (h *Handles) BeginFree(raw uint64) { h.dying = append(h.dying, raw) }

// IsDying reports whether a call under way gives a handle back.
func (h *Handles) IsDying(raw uint64) bool { return len(h.dying) > 0 && slices.Contains(h.dying, raw) }

// EndDying reports whether a handle that a call gave back is still waiting for that to end, and ends it.
func (h *Handles) EndDying(raw uint64) bool {
	i := slices.Index(h.dying, raw)
	if i >= 0 {
		h.dying = slices.Delete(h.dying, i, i+1)
	}
	return i >= 0
}

// Release returns the name of a handle that the program gives back, and
// whether that was the last reference to it.
func (h *Handles) Release(raw uint64) (name int64, last bool) {
	v := h.names.Get(raw)
	if v <= mpi.FirstHandleID {
		return v - 1, false
	}
	id := v - 1 - mpi.FirstHandleID
	h.refs[id]--
	if h.refs[id] > 0 {
		return v - 1, false
	}
	h.names.Delete(raw)
	h.pool.Return(uint32(id))
	return v - 1, true
}

// Forget drops a handle that must have died unseen, because the MPI gave its
// value to a new object.
func (h *Handles) Forget(raw uint64) {
	if v := h.names.Get(raw); v > mpi.FirstHandleID {
		h.names.Delete(raw)
		h.pool.Return(uint32(v - 1 - mpi.FirstHandleID))
	}
}

// Code is the state, without predefined handles: it is read into a table that has them.
func (h *Handles) Code(c *wire.Coder) {
	h.pool.code(c)
	wire.CodeList(c, &h.refs, 1, func(_ int, n *int32) { wire.CodeIntegers(c, n) })
	wire.CodeList(c, &h.dying, 8, func(_ int, raw *uint64) { c.Uint64(raw) })
	h.names.codeAbove(c, mpi.FirstHandleID, func(_ uint64, v *int64) {
		wire.CodeAbove(c, v, 1+mpi.FirstHandleID, len(h.refs)-1)
	})
}
