package capture

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A handle means one object after the other. A thread's own calls determine which one, as long as it made the object
// itself. If another thread did, a handover names that thread's call. Readers of the trace then need no times of calls
// to resolve handles.

// A making is the call that made an object, or the later one by which its maker prepared it for use.
type making struct {
	stream int32 // -1: the call is not in the trace
	index  uint64
	ready  bool
	handed bool // another thread has the object: the index must not change
}

var unseenMaking = making{stream: -1}

// handovers are the objects that threads received from each other, in the form of allocation events. Each is the
// begin of a segment that packs maker and object. Its size is the index of the making call, relative to that of the
// last handover from the same maker.
type handovers struct {
	events allocs
	makers [][]making // by kind and number of the handle
}

// A handoverStream is the objects that one thread received.
type handoverStream struct {
	events allocStream
	told   [][]making // by kind and number of the handle: the last recorded object
	from   []uint64   // by maker: index of the last recorded call
}

// at returns the element for a kind and a number, which it adds if necessary.
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

// of returns the element for a kind and a number; unseenMaking if the list lacks it.
func of(list [][]making, k mpi.Kind, number int64) making {
	if int(k) >= len(list) || uint64(number) >= uint64(len(list[k])) {
		return unseenMaking
	}
	return list[k][number]
}

// madeAt records the call that made the object to which a number now refers.
func (c *Capture) madeAt(k mpi.Kind, number int64, m making) {
	if number >= 0 && !k.IsFile() {
		*at(&c.handovers.makers, k, number) = m
	}
}

// gets records that a thread's call, given by its index, uses the handle of a kind with a number. It is called for
// each use of a handle, so it is fast for known objects.
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
			c.gets(s, m.kind, m.name-mpi.FirstHandleID, index)
		}
	}
}

// prepares records that a call changes an object it is given. The first such call, MPI_Type_commit, precedes the
// use by other threads.
func (c *Capture) prepares(s *stream, words []handleWord, enter int, index uint64) {
	for i := range words {
		w := &words[i]
		number := w.name - mpi.FirstHandleID
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

// codeNames codes the makers of objects, and what is recorded for threads.
func (h *handovers) codeNames(x *wire.Coder, streams []*stream) {
	codeMakings(x, &h.makers, len(streams))
	for _, s := range streams {
		codeMakings(x, &s.handovers.told, len(streams))
		wire.CodeList(x, &s.handovers.from, 1, func(_ int, index *uint64) { wire.CodeUints(x, index) })
	}
}
