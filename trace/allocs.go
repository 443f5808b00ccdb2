package trace

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// RankAllocs is the allocation events of a rank's segments.
type RankAllocs struct {
	List      []AllocEvent
	Truncated bool               // whether the recorder dropped later events because there were too many
	streams   []*grammar.Grammar // by stream: its events in order, as indices in List
}

// IndicesInOrder yields the allocation events of a stream in order, as indices in List.
func (l *RankAllocs) IndicesInOrder(stream int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if stream >= len(l.streams) {
			return
		}
		for n := range l.streams[stream].All() {
			if !yield(int(n)) {
				return
			}
		}
	}
}

// All yields the allocation events of a stream in order, each with the number of calls that the stream had begun
// before it.
func (l *RankAllocs) All(stream int) iter.Seq2[uint64, AllocEvent] {
	return func(yield func(uint64, AllocEvent) bool) {
		at := uint64(0)
		for n := range l.IndicesInOrder(stream) {
			at += l.List[n].CallsSincePrevious
			if !yield(at, l.List[n]) {
				return
			}
		}
	}
}

func (r *Reader) readAllocs() (t *sections.AllocTable, err error) {
	return r.allocTable(container.SectionAllocs)
}

// allocTable reads a section that has the format of the allocation events.
func (r *Reader) allocTable(section byte) (t *sections.AllocTable, err error) {
	t = &sections.AllocTable{SetAndIndexOfRank: make(map[int][2]int)}
	err = r.optional(section, func(w *wire.Reader) {
		for range w.Count(4) {
			l := sections.DecodeAllocs(w, r.ranks.Ranks)
			if w.Err() != nil {
				return
			}
			i := 0
			for rank := range l.Ranks.All() {
				if _, ok := t.SetAndIndexOfRank[int(rank)]; ok {
					w.Fail("rank %d has allocation events twice", rank)
					return
				}
				t.SetAndIndexOfRank[int(rank)] = [2]int{len(t.Sets), i}
				i++
			}
			t.Sets = append(t.Sets, l)
		}
	})
	return t, err
}

// Allocs returns before which calls the segments of the rank's memory begin and end. It returns nil if that is unknown,
// or if no call used a segment.
func (k *Rank) Allocs() (*RankAllocs, error) {
	t, err := k.r.allocs()
	if err != nil {
		return nil, err
	}
	at, ok := t.SetAndIndexOfRank[k.number]
	if !ok {
		return nil, nil
	}
	set := &t.Sets[at[0]]
	l := &RankAllocs{List: make([]AllocEvent, len(set.List)), streams: set.Streams, Truncated: set.Truncated}
	for i := range set.List {
		c := &set.List[i]
		seg := c.Segment.At(at[1])
		l.List[i] = AllocEvent{
			IsFree: c.IsFree, CallsSincePrevious: uint64(c.CallsSincePrevious.At(at[1])), Size: uint64(c.Size.At(at[1])),
			Segment: location(seg),
		}
	}
	return l, nil
}
