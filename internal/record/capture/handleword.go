package capture

import (
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// A handleWord is a word of a call's records that is compared by its meaning instead of its value.
type handleWord struct {
	at      int32 // index of the word in ENTER and LEAVE, concatenated
	act     act
	kind    mpi.Kind
	handles *symbol.Handles
	name    int64 // name of the handle
}

// An act is what a call does to a handle.
type act uint8

const (
	handleNamed  act = iota // the call passes it
	handleShared            // the call returns one that already has a name: a further reference to its object
	handleMade              // the call returns a new one
	handleFreed             // the call releases a reference to its object
	noHandle                // the word is no handle: it always differs, and nothing depends on it
)

// changes reports whether the call changes the names of handles.
func (m *handleWord) changes() bool {
	return m.act == handleShared || m.act == handleMade || m.act == handleFreed
}

// noteHandle records a handle at p of the current record. It skips predefined handles, as their names never change.
func (f *frame) noteHandle(p int, a act, k mpi.Kind, h *symbol.Handles, name int64) {
	switch {
	case name >= mpi.FirstUserHandleID:
		f.handleWords = append(f.handleWords, handleWord{int32(f.entered + p), a, k, h, name})
	case name == symbol.UnknownHandle:
		f.opaque = true // the handle may have a name in the next equal call, so this one is not cached
	}
}

// The ways in which calls use handles, as far as the cache needs them.
type handleUse uint8

const (
	usesNoHandles  handleUse = iota
	namesHandles             // no names change
	changesHandles           // names change, or a word is ignored
)

// handleUse returns how a call uses handles. late reports whether its LEAVE record has handles or its end frees some.
// ok is false if several names change: each change depends on the one before, which the cache cannot handle.
func (f *frame) handleUse() (how handleUse, late, ok bool) {
	changes, references := 0, 0
	for i := range f.handleWords {
		m := &f.handleWords[i]
		how = max(how, namesHandles)
		switch m.act {
		case handleMade, handleFreed:
			changes++
			how = changesHandles
		case handleShared:
			references++
			how = changesHandles
		case noHandle:
			how = changesHandles
		}
		late = late || int(m.at) >= f.entered && m.act != noHandle || m.act == handleFreed // frees take effect at the end
	}
	return how, late, changes == 0 || changes == 1 && references == 0
}

// sameHandles reports whether records equal cached ones, except for handles with other values but the same meaning.
func (c *Capture) sameHandles(e *cached, rec []uint64) bool {
	enter := int(e.enter)
	from, end := 2, int(e.inEnd)
	for i := range e.handleWords {
		m := &e.handleWords[i]
		at := int(m.at)
		if at >= enter && from <= enter {
			if !sameWords(e.words[from:end], rec[from:end]) {
				return false
			}
			from, end = enter+2, int(e.outEnd)
		}
		if !sameWords(e.words[from:at], rec[from:at]) {
			return false
		}
		switch m.act {
		case handleMade:
			if m.handles.NextName(rec[at]) != m.name {
				return false
			}
		case noHandle:
		default:
			if m.act == handleShared && m.handles.IsBeingFreed(rec[at]) {
				return false // the MPI has freed it already, so it is a new object
			}
			if rec[at] != e.words[at] || e.handles != c.renamed {
				if m.handles.NameOf(rec[at]) != m.name {
					return false
				}
			}
		}
		from = at + 1
	}
	if from <= enter {
		if !sameWords(e.words[from:end], rec[from:end]) {
			return false
		}
		from, end = enter+2, int(e.outEnd)
	}
	return sameWords(e.words[from:end], rec[from:end])
}

// stillNamed reports whether the handles in cached words still have the same names.
func (c *Capture) stillNamed(e *cached) bool {
	for i := range e.handleWords {
		if m := &e.handleWords[i]; m.handles.NameOf(e.words[m.at]) != m.name {
			return false
		}
	}
	e.handles = c.renamed
	return true
}

// renew updates cached words of handles to the values in the records that matched.
func (c *Capture) renew(e *cached, rec []uint64) {
	for i := range e.handleWords {
		e.words[e.handleWords[i].at] = rec[e.handleWords[i].at]
	}
	e.handles = c.renamed
}

// rename updates names as a cached call does.
func (c *Capture) rename(e *cached, rec []uint64, place making) {
	for i := range e.handleWords {
		m := &e.handleWords[i]
		switch m.act {
		case handleShared:
			m.handles.NameNew(rec[m.at])
		case handleMade:
			m.handles.NameNew(rec[m.at])
			c.renamed++
			c.madeAt(m.kind, m.name-mpi.FirstUserHandleID, place)
		case handleFreed:
			c.release(m.kind, m.handles, rec[m.at])
		}
	}
}
