package capture

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/track"
)

// left writes that n calls are under way, and those inside of them have been left.
func (s *synth) left(n uint64) {
	s.tb.Helper()
	if err := s.w.Write(0, event.KindLeftByJump, 0, []uint64{n}); err != nil {
		s.tb.Fatal(err)
	}
}

// Calls that were left end when the last thing happened inside of them, and what comes
// after them is outside.
func TestLeft(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.commRank()
	s.enter("MPI_Barrier", commWorld)
	s.enter("MPI_Barrier", commWorld)
	s.commRank()
	s.w.NextTicks += 1000
	s.left(1)
	s.commRank()
	s.left(2) // says nothing new
	s.leave("MPI_Barrier")
	s.enter("MPI_Barrier", commWorld)
	s.left(0)
	s.commRank()
	c := attach(t, testConfig(), s)
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	if n := c.streams[0]; n.depth != 0 || len(n.held) != 0 {
		t.Errorf("%d calls under way, %d terminals held", n.depth, len(n.held))
	}
	tr, err := c.Track(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	rank := []int64{0, abiWorld, 0}
	check(t, vals(tr, 0), [][]int64{rank, {0, abiWorld}, {ReturnCodeLeftByJump, abiWorld}, rank, rank, {ReturnCodeLeftByJump, abiWorld}, rank})
	// up to the end of the call inside, 20 ticks at 2 a ns, and one in which nothing happened
	times := tr.Times[2]
	if times.Duration.Count != 2 || times.Duration.Sum != 10 {
		t.Errorf("calls left have taken %+v ns", times.Duration)
	}
}
