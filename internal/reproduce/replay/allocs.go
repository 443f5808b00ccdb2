package replay

import (
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/trace"
)

// allocs is what is known of where the segments of a rank's memory begin and end among
// its calls. Threads of a replay are not as far as each other as they were, so that
// memory of ranks with several stays as long as the replay, and only sizes are used.
type allocs struct {
	largest map[reissue.Place]int64 // by segment: the most memory it ever had
	follow  bool
	next    func() (uint64, trace.AllocEvent, bool)
	at      uint64 // calls that have begun before the event
	alloc   trace.AllocEvent
	more    bool
}

// newAllocs returns the allocation events of a rank.
func newAllocs(k *trace.Rank) (*allocs, error) {
	l := &allocs{largest: make(map[reissue.Place]int64)}
	r, err := k.Allocs()
	if err != nil || r == nil {
		return l, err
	}
	for i := range r.List {
		x := &r.List[i]
		p := reissue.PlaceOf(&x.Segment)
		l.largest[p] = max(l.largest[p], int64(x.Size))
	}
	if r.Cut || k.Streams() > 1 {
		if r.Cut {
			clear(l.largest) // segments that are not known may be larger
		}
		return l, nil
	}
	l.follow = true
	l.next, _ = iter.Pull2(r.All(0))
	l.at, l.alloc, l.more = l.next()
	return l, nil
}

// pending reports whether segments begin or end before a call.
func (l *allocs) pending(index uint64) bool { return l.follow && l.more && l.at <= index }

// until begins and ends segments as they did before a call.
func (l *allocs) until(index uint64, g *segments) error {
	for l.more && l.at <= index {
		if l.alloc.Free {
			g.end(reissue.PlaceOf(&l.alloc.Segment))
		} else if err := g.begin(reissue.PlaceOf(&l.alloc.Segment), int64(l.alloc.Size)); err != nil {
			return err
		}
		l.at, l.alloc, l.more = l.next()
	}
	return nil
}

// A room is the memory of a segment.
type room struct {
	at   uint64
	size int64
}

// begin gives a segment memory, of the size that it had.
func (g *segments) begin(p reissue.Place, size int64) error {
	s, ok := g.planned[p]
	if !ok || g.given[p] {
		return nil // no call touches it, or the MPI has just handed it out
	}
	g.end(p)
	return g.take(s, size)
}

// end takes a segment's memory away.
func (g *segments) end(p reissue.Place) {
	g.version++
	if g.given[p] {
		delete(g.given, p)
		delete(g.base, p)
	}
	if r, ok := g.rooms[p]; ok {
		delete(g.rooms, p)
		delete(g.base, p)
		g.giveBack(r)
	}
}

// Some rooms are kept for segments that come and go with every turn of a loop.
const (
	mostSpare  = 16
	spareBytes = 32 << 20
)

func (g *segments) giveBack(r room) {
	g.spare = append(g.spare, r)
	g.spareBytes += r.size
	for len(g.spare) > mostSpare || g.spareBytes > spareBytes {
		old := g.spare[0]
		g.spare = slices.Delete(g.spare, 0, 1)
		g.spareBytes -= old.size
		g.host.Free(old.at, old.size)
	}
}

// room returns memory of a size, and whether there is content in it already.
func (g *segments) room(size int64) (r room, used bool, err error) {
	for i, r := range g.spare {
		if r.size >= size && r.size/2 <= size {
			g.spare = slices.Delete(g.spare, i, i+1)
			g.spareBytes -= r.size
			return r, true, nil
		}
	}
	at, err := g.host.Alloc(size)
	return room{at, size}, false, err
}
