package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/event"
	"github.com/spoor-hpc/spoor/internal/track"
)

// livesOf expands the lives of each stream.
func livesOf(t *track.Track) [][]track.Life {
	if t.Lives == nil {
		return nil
	}
	all := make([][]track.Life, len(t.Lives.Streams))
	for i, g := range t.Lives.Streams {
		for n := range g.All() {
			all[i] = append(all[i], t.Lives.List[n])
		}
	}
	return all
}

// A block that is allocated and freed in each round of a loop leaves the loop of
// calls as it is, and is a loop of two lives itself.
func TestLives(t *testing.T) {
	const rounds, heap0 = 100, 1
	s := newSynth(t, 0, 1<<16)
	send := func(serial uint64) {
		s.enter("MPI_Send", cat(uint64(event.ClassHeap<<56)|serial, 8, 4, typeInt, 1, 3, commWorld)...)
		s.leave("MPI_Send")
	}
	for i := range uint64(rounds) {
		s.commRank()
		s.w.Write(0, event.Segment, 0, []uint64{1 + i, 4096, 0, event.ClassHeap})
		send(1 + i)
		send(1 + i)
		s.w.Write(0, event.Freed, 0, []uint64{1 + i})
	}
	s.w.Write(0, event.Freed, 0, []uint64{7}) // nobody used it
	got := tracked(t, s)
	if len(got.Sigs) != 2 || got.Streams[0].Grammar.Len() != 3*rounds || len(got.Lives.Streams[0].Rules) > 2 {
		t.Errorf("%d signatures, %d calls, %v", len(got.Sigs), got.Streams[0].Grammar.Len(), got.Lives.Streams[0])
	}
	want := []track.Life{{Calls: 1, Segment: heap0, Size: 4096}, {Calls: 2, Free: true, Segment: heap0}}
	if d := cmp.Diff(want, got.Lives.List); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if n := len(livesOf(got)[0]); n != 2*rounds {
		t.Errorf("%d lives", n)
	}
}

// Too many different ones are not kept.
func TestLivesCut(t *testing.T) {
	c := &Capture{}
	s := &stream{}
	s.grammar = newSequence()
	for i := range uint64(maxLives + 10) {
		c.life(s, track.Life{Size: 1024 + i})
	}
	if !c.lives.cut || len(c.lives.list) != maxLives {
		t.Errorf("%d lives, cut: %t", len(c.lives.list), c.lives.cut)
	}
}

// What a block costs that is allocated and freed in each round of a loop.
func BenchmarkLives(b *testing.B) {
	c, s := &Capture{}, &stream{grammar: newSequence()}
	b.ReportAllocs()
	for b.Loop() {
		c.life(s, track.Life{Segment: 1, Size: 4096})
		s.grammar.Append(1)
		c.life(s, track.Life{Free: true, Segment: 1})
	}
}
