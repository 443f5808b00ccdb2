package symbol

import "github.com/spoor-hpc/spoor/internal/record/signature"

// A RequestKind is the kind of a request's operation, as far as its status depends on it.
type RequestKind uint8

// The kinds of request.
const (
	RequestReceive    RequestKind = iota // the status has source, tag and count
	RequestSend                          // the status says only whether it was cancelled
	RequestFileAccess                    // file access: the status has a count
)

// NoRequestIndex is the index that means "no request".
const NoRequestIndex = -1

// Requests names requests. A one-shot request's name is how many creations ago its thread made it, so that the
// order of completion does not affect names. A persistent request's name is a number from a pool.
//
// A handle value alone does not identify a request: MPICH gives the same one to all operations that complete at
// once. If several requests share a handle, the address of the program's variable identifies the request, until the
// program copies it. Then the oldest request with the handle is taken.
type Requests struct {
	entries []request
	unused  []int32    // free indices in entries
	handles Map        // raw handle → 1 + index of the oldest entry
	places  Map        // variable's address → 1 + index; only for shared handles
	pool    NumberPool // numbers of persistent requests
	made    []int64    // by thread: one-shot requests made so far
	null    uint64
	round   uint32 // number of the current call, see BeginSearch
	cursor  int32  // index at which the current call's search by age stopped; NoRequestIndex: no such search yet

	alive   int    // number of unfinished one-shot requests
	Version uint64 // Version counts creations and completions of requests.
}

type request struct {
	handle, place uint64
	older, newer  int32  // neighbours among the requests with the same handle, or NoRequestIndex
	newest        int32  // newest request with the same handle; valid in the oldest
	thread        int32  // the thread that made it; noThread: not recorded, see MakeUnseen
	number        int64  // one-shot: number, from 1, in the thread's order of creation; persistent: -1 - number in pool
	round         uint32 // Requests.round of the last call that found it
	kind          RequestKind
	live          bool
	posted        signature.ReceiveEnvelope // envelope if it is a receive
}

// Init sets the null handle's raw value.
func (q *Requests) Init(null uint64) { q.null = null }

// threadBits is how many low bits of the name of another thread's request contain that thread's number; see Name.
const threadBits = 10

const noThread = -1

// Make adds a new one-shot request and returns its name. posted is its envelope if it is a receive.
func (q *Requests) Make(thread int, handle, place uint64, kind RequestKind, posted signature.ReceiveEnvelope) int64 {
	if handle == q.null {
		return 0
	}
	for thread >= len(q.made) {
		q.made = append(q.made, 0)
	}
	q.made[thread]++
	q.alive++
	q.add(handle, place, int32(thread), q.made[thread], kind, posted)
	return 2
}

// MakeUnseen adds a one-shot request of a call that is not recorded. It has no name and does not affect the names
// of others.
func (q *Requests) MakeUnseen(handle, place uint64, kind RequestKind) {
	if handle != q.null {
		q.alive++
		q.add(handle, place, noThread, 0, kind, signature.UnknownEnvelope)
	}
}

// MakePersistent adds a new persistent request and returns its name.
func (q *Requests) MakePersistent(thread int, handle, place uint64, kind RequestKind, posted signature.ReceiveEnvelope) int64 {
	if handle == q.null {
		return 0
	}
	id := int64(q.pool.Take())
	q.add(handle, place, int32(thread), -1-id, kind, posted)
	return 2*id + 1
}

// PersistentNumber returns the number of the persistent request with a name; -1 if the name is of another kind.
func PersistentNumber(name int64) int64 {
	if name < 0 || name&1 == 0 {
		return -1
	}
	return name >> 1
}

// NextPersistentName returns the name that the next MakePersistent will return.
func (q *Requests) NextPersistentName() int64 { return 2*int64(q.pool.Peek()) + 1 }

func (q *Requests) add(handle, place uint64, thread int32, number int64, kind RequestKind, posted signature.ReceiveEnvelope) {
	q.Version++
	var i int32
	if n := len(q.unused); n > 0 {
		i = q.unused[n-1]
		q.unused = q.unused[:n-1]
	} else {
		i = int32(len(q.entries))
		q.entries = append(q.entries, request{})
	}
	e := &q.entries[i]
	e.handle, e.place, e.thread, e.number, e.kind = handle, place, thread, number, kind
	e.older, e.newer, e.newest, e.round, e.live, e.posted = NoRequestIndex, NoRequestIndex, i, 0, true, posted
	known := q.handles.Slot(handle)
	if *known == 0 {
		*known = int64(i) + 1
		return
	}
	first := int32(*known) - 1
	oldest := &q.entries[first]
	if oldest.older == NoRequestIndex && oldest.newer == NoRequestIndex && oldest.place != 0 {
		q.places.Set(oldest.place, int64(first)+1) // until now, the handle alone identified it
	}
	e.older = oldest.newest
	q.entries[oldest.newest].newer = i
	oldest.newest = i
	if place != 0 {
		q.places.Set(place, int64(i)+1)
	}
}

// BeginSearch starts the search for the requests of one call, in which no request is found twice.
func (q *Requests) BeginSearch() {
	q.round++
	q.cursor = NoRequestIndex
}

// FindIndex returns the index of the request in the variable at place; NoRequestIndex if the
// handle is null or unknown.
func (q *Requests) FindIndex(handle, place uint64) int {
	first := int32(q.handles.Get(handle)) - 1
	if first == NoRequestIndex {
		return NoRequestIndex
	}
	i := first
	if q.entries[i].newer != NoRequestIndex {
		if i = q.at(handle, place); i == NoRequestIndex {
			i = first
			if q.cursor != NoRequestIndex && q.entries[q.cursor].handle == handle {
				i = q.cursor
			}
			for i != NoRequestIndex && q.entries[i].round == q.round {
				i = q.entries[i].newer
			}
			if i == NoRequestIndex {
				return NoRequestIndex
			}
			q.cursor = i
		}
	}
	q.entries[i].round = q.round
	return int(i)
}

// at returns the index of the request, among those that share the handle, that a call wrote into the variable at place.
// It is NoRequestIndex if that request does not exist, or was found for the current call already.
func (q *Requests) at(handle, place uint64) int32 {
	i := int32(q.places.Get(place)) - 1
	if i == NoRequestIndex || place == 0 {
		return NoRequestIndex
	}
	if e := &q.entries[i]; !e.live || e.handle != handle || e.round == q.round {
		return NoRequestIndex
	}
	return i
}

// Name returns the name that the request with index i has for a thread: odd
// for persistent ones, even and positive for the thread's own, below -1 for
// other threads', 0 for the null handle.
func (q *Requests) Name(i int, handle uint64, thread int) int64 {
	if i == NoRequestIndex {
		if handle == q.null {
			return 0
		}
		return UnknownHandle
	}
	e := &q.entries[i]
	if e.number < 0 {
		return 2*(-1-e.number) + 1
	}
	if e.thread == noThread {
		return UnknownHandle
	}
	ago := q.made[e.thread] - e.number
	if int(e.thread) == thread {
		return 2 * (ago + 1)
	}
	return -2 - (ago<<threadBits | int64(e.thread)&(1<<threadBits-1))
}

// ArrayRequest returns the request with index i as an element of signature.RequestArrayState.Requests. It returns false
// for a persistent or unknown request, and for one of another thread.
func (q *Requests) ArrayRequest(i int, handle uint64, thread int) (request int64, ok bool) {
	if i == NoRequestIndex {
		return 0, handle == q.null
	}
	e := &q.entries[i]
	return e.number, e.number > 0 && int(e.thread) == thread
}

// OneShotsMade returns how many one-shot requests a thread has made.
func (q *Requests) OneShotsMade(thread int) int64 {
	if thread >= len(q.made) {
		return 0
	}
	return q.made[thread]
}

// Kind is the kind of the request with index i.
func (q *Requests) Kind(i int) RequestKind { return q.entries[i].kind }

// PredictsStatus reports whether a status with these values follows from the receive of the request with index i, which the
// same thread must have posted.
func (q *Requests) PredictsStatus(i, thread int, source, tag, bytes, cancelled int64) bool {
	e := &q.entries[i]
	return int(e.thread) == thread && e.posted.PredictsStatus(source, tag, bytes, cancelled)
}

// CompleteOneShot removes the request with index i if it is a one-shot.
func (q *Requests) CompleteOneShot(i int) {
	if i != NoRequestIndex && q.entries[i].number >= 0 {
		q.remove(i)
	}
}

// Free removes the request with index i.
func (q *Requests) Free(i int) {
	if i == NoRequestIndex || !q.entries[i].live {
		return
	}
	if n := q.entries[i].number; n < 0 {
		q.pool.Return(uint32(-1 - n))
	}
	q.remove(i)
}

func (q *Requests) remove(i int) {
	e := &q.entries[i]
	if !e.live {
		return
	}
	q.Version++
	if e.number >= 0 {
		q.alive--
	}
	alone := e.older == NoRequestIndex && e.newer == NoRequestIndex
	switch {
	case alone:
		q.handles.Delete(e.handle)
	case e.older == NoRequestIndex:
		next := &q.entries[e.newer]
		next.older, next.newest = NoRequestIndex, e.newest
		q.handles.Set(e.handle, int64(e.newer)+1)
	default:
		q.entries[e.older].newer = e.newer
		if e.newer != NoRequestIndex {
			q.entries[e.newer].older = e.older
		} else {
			q.entries[q.handles.Get(e.handle)-1].newest = e.older
		}
	}
	if q.places.Len() > 0 && e.place != 0 && q.places.Get(e.place) == int64(i)+1 {
		q.places.Delete(e.place)
	}
	e.live = false
	q.unused = append(q.unused, int32(i))
}

// HasNoOneShots reports whether there is no unfinished one-shot request.
func (q *Requests) HasNoOneShots() bool { return q.alive == 0 }

// IndexCount returns how many indices there are, free ones included: all indices are below it.
func (q *Requests) IndexCount() int { return len(q.entries) }
