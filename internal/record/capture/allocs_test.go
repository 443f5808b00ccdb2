package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/track"
)

// allocsOf expands the allocation events of each stream.
func allocsOf(t *track.Track) [][]track.AllocEvent {
	if t.Allocs == nil {
		return nil
	}
	all := make([][]track.AllocEvent, len(t.Allocs.EventGrammars))
	for i, g := range t.Allocs.EventGrammars {
		for n := range g.All() {
			all[i] = append(all[i], t.Allocs.DistinctEvents[n])
		}
	}
	return all
}

// A block that is allocated and freed in each round of a loop leaves the loop of
// calls as it is, and is a loop of two allocation events itself.
func TestAllocs(t *testing.T) {
	const rounds, heap0 = 100, 1
	s := newSynth(t, 0, 1<<16)
	send := func(serial uint64) {
		s.enter("MPI_Send", cat(uint64(event.AddressClassHeap<<56)|serial, 8, 4, typeInt, 1, 3, commWorld)...)
		s.leave("MPI_Send")
	}
	for i := range uint64(rounds) {
		s.commRank()
		s.w.Write(0, event.KindSegment, 0, []uint64{1 + i, 4096, 0, event.AddressClassHeap})
		send(1 + i)
		send(1 + i)
		s.w.Write(0, event.KindSegmentFreed, 0, []uint64{1 + i})
	}
	s.w.Write(0, event.KindSegmentFreed, 0, []uint64{7}) // nobody used it
	got := tracked(t, s)
	if len(got.Signatures) != 2 || got.Streams[0].Grammar.Len() != 3*rounds || len(got.Allocs.EventGrammars[0].Rules) > 2 {
		t.Errorf("%d signatures, %d calls, %v", len(got.Signatures), got.Streams[0].Grammar.Len(), got.Allocs.EventGrammars[0])
	}
	want := []track.AllocEvent{{CallsSincePrevious: 1, PackedSegment: heap0, Size: 4096}, {CallsSincePrevious: 2, IsFree: true, PackedSegment: heap0}}
	if d := cmp.Diff(want, got.Allocs.DistinctEvents); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if n := len(allocsOf(got)[0]); n != 2*rounds {
		t.Errorf("%d allocation events", n)
	}
}

// Too many different ones are not kept.
func TestAllocsCut(t *testing.T) {
	c := &Capture{}
	s := &stream{}
	s.grammar = newSequence("", MaxGrammarBytes)
	for i := range uint64(maxAllocs + 10) {
		c.alloc(s, track.AllocEvent{Size: 1024 + i})
	}
	if !c.allocs.cut || len(c.allocs.list) != maxAllocs {
		t.Errorf("%d allocation events, cut: %t", len(c.allocs.list), c.allocs.cut)
	}
}

// What a block costs that is allocated and freed in each round of a loop.
func BenchmarkAllocs(b *testing.B) {
	c, s := &Capture{}, &stream{grammar: newSequence("", MaxGrammarBytes)}
	b.ReportAllocs()
	for b.Loop() {
		c.alloc(s, track.AllocEvent{PackedSegment: 1, Size: 4096})
		s.grammar.Append(1)
		c.alloc(s, track.AllocEvent{IsFree: true, PackedSegment: 1})
	}
}
