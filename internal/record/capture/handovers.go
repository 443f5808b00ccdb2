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

// A making is the call that made an object, or the one by which its maker made it ready for use.
type making struct {
	stream int32 // -1: no call that is in the trace
	index  uint64
	ready  bool
	handed bool // somebody has it: the index stays
}

var unseenMaking = making{stream: -1}

// handovers are what threads got from each other, in the form of allocation events: a beginning, whose segment packs
// who made what, and whose size is how many of the maker's calls later that was than what the thread got from it before.
type handovers struct {
	events allocs
	makers [][]making // by kind and number of the handle
}

// A handoverStream is what one thread got.
type handoverStream struct {
	events allocStream
	told   [][]making // by kind and number of the handle: the last object announced
	from   []uint64   // by creator: index of the call last announced
}

// at returns the place for a kind and a number, which is made.
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

// of returns what at does without making anything.
func of(list [][]making, k mpi.Kind, number int64) making {
	if int(k) >= len(list) || uint64(number) >= uint64(len(list[k])) {
		return unseenMaking
	}
	return list[k][number]
}

// madeAt notes which call made the object that a number means from now on.
func (c *Capture) madeAt(k mpi.Kind, number int64, m making) {
	if number >= 0 && !k.IsFile() {
		*at(&c.handovers.makers, k, number) = m
	}
}

// gets notes that a call of a thread, with an index, uses a number. It is called for each such call: what is known
// already takes no time.
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
	c.note(&c.handovers.events, &h.events, max(index, h.events.last), track.AllocEvent{Segment: packed, Size: m.index - h.from[m.stream]})
	h.from[m.stream] = m.index
}

// getsAll does so for all handles that a call passes.
func (c *Capture) getsAll(s *stream, words []handleWord, enter int, index uint64) {
	for i := range words {
		if m := &words[i]; m.act != noHandle && int(m.at) < enter {
			c.gets(s, m.kind, m.name-mpi.FirstHandleID, index)
		}
	}
}

// prepares notes that a call gives a handle back changed: the first one, MPI_Type_commit, comes before others have the object.
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

// codeNames codes who made which object, and what was announced to threads.
func (h *handovers) codeNames(x *wire.Coder, streams []*stream) {
	codeMakings(x, &h.makers, len(streams))
	for _, s := range streams {
		codeMakings(x, &s.handovers.told, len(streams))
		wire.CodeList(x, &s.handovers.from, 1, func(_ int, index *uint64) { wire.CodeUints(x, index) })
	}
}
