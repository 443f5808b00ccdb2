package capture

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Over a run, one handle refers to several objects in turn. If a thread made the object itself, the order of its own
// calls determines which object a handle means. If another thread made the object, a handover names that thread's
// call. So readers of the trace can resolve handles without comparing times of calls of different threads.

// A making is the call that made an object, or the later one by which its maker prepared it for use.
type making struct {
	stream int32 // thread of the call; -1: the call is not in the trace
	index  uint64
	ready  bool
	handed bool // another thread uses the object: a recorded handover has the index, so it must not change
}

var unseenMaking = making{stream: -1}

// handovers records which objects threads received from each other. Each handover is stored as an allocation event
// that begins a segment; see track.PackHandover. The event's PackedSegment holds the object's handle and the thread
// that made it. Its Size is the index of the call that made it, minus that in the receiver's previous handover from
// that thread.
type handovers struct {
	events allocs
	makers [][]making // by kind and number of the handle: making of the object that it refers to now
}

// A handoverStream is the objects that one thread received from others.
type handoverStream struct {
	events allocStream
	told   [][]making // by kind and number of the handle: making in this thread's last handover of the handle
	from   []uint64   // by thread that made objects: index of the call in the last handover from it; 0: no handover yet
}

// at returns the making of the object whose handle has a kind and a number. It extends the list if necessary.
func at(list *[][]making, k mpi.Kind, number int64) *making {
	for len(*list) <= int(k) {
		*list = append(*list, nil)
	}
	of := &(*list)[k]
	for int64(len(*of)) <= number {
		*of = append(*of, unseenMaking)
	}
	return &(*of)[number]
}

// of returns the making of the object whose handle has a kind and a number; unseenMaking if it is not in the list.
func of(list [][]making, k mpi.Kind, number int64) making {
	if int(k) >= len(list) || uint64(number) >= uint64(len(list[k])) {
		return unseenMaking
	}
	return list[k][number]
}

// madeAt records that the handle of kind k with this number now refers to the object that call m made.
func (c *Capture) madeAt(k mpi.Kind, number int64, m making) {
	if number >= 0 && !k.IsPosix() {
		*at(&c.handovers.makers, k, number) = m
	}
}

// gets records a handover if the thread's call with this index is its first that uses an object of another thread. k
// and number are the handle's. It is called for each use of a handle, so it returns early for known objects.
func (c *Capture) gets(s *stream, k mpi.Kind, number int64, index uint64) {
	m := of(c.handovers.makers, k, number)
	h := &s.handovers
	if m.stream < 0 || int(m.stream) == s.thread || m.handed && of(h.told, k, number) == m {
		return
	}
	m.handed = true
	*at(&c.handovers.makers, k, number) = m
	*at(&h.told, k, number) = m
	kind := slices.Index(model.HandoverKinds[:], k)
	if kind < 0 {
		return
	}
	for len(h.from) <= int(m.stream) {
		h.from = append(h.from, 0)
	}
	packed := track.PackHandover(kind, number, int(m.stream))
	c.note(&c.handovers.events, &h.events, max(index, h.events.last), track.AllocEvent{PackedSegment: packed, Size: m.index - h.from[m.stream]})
	h.from[m.stream] = m.index
}

// getsAll calls gets for all handles that a call passes.
func (c *Capture) getsAll(s *stream, words []handleWord, enter int, index uint64) {
	for i := range words {
		if m := &words[i]; m.act != noHandle && int(m.at) < enter {
			c.gets(s, m.kind, m.name-mpi.FirstUserHandleID, index)
		}
	}
}

// prepares handles a call, such as MPI_Type_commit, that changes objects whose handles it is given. The first such call
// of an object's maker replaces the call that made it, as other threads use the object only afterwards.
func (c *Capture) prepares(s *stream, words []handleWord, enter int, index uint64) {
	for i := range words {
		w := &words[i]
		number := w.name - mpi.FirstUserHandleID
		if w.act != handleNamed || int(w.at) < enter {
			continue
		}
		if m := of(c.handovers.makers, w.kind, number); int(m.stream) == s.thread && !m.handed && !m.ready {
			c.madeAt(w.kind, number, making{stream: m.stream, index: index, ready: true})
		}
	}
}

func (m *making) code(x *wire.Coder, streams int) {
	wire.CodeAbove(x, &m.stream, -1, streams)
	wire.CodeUints(x, &m.index)
	x.Bool(&m.ready)
	x.Bool(&m.handed)
}

func codeMakings(x *wire.Coder, list *[][]making, streams int) {
	wire.CodeList(x, list, 1, func(_ int, of *[]making) {
		wire.CodeList(x, of, 4, func(_ int, m *making) { m.code(x, streams) })
	})
}

// codeNames codes the makings of objects, and for each thread its last handovers.
func (h *handovers) codeNames(x *wire.Coder, streams []*stream) {
	codeMakings(x, &h.makers, len(streams))
	for _, s := range streams {
		codeMakings(x, &s.handovers.told, len(streams))
		wire.CodeList(x, &s.handovers.from, 1, func(_ int, index *uint64) { wire.CodeUints(x, index) })
	}
}
