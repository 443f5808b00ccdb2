package capture

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
)

// A handle means what it did until the call that frees it ends: callbacks of that call use it. An MPI may hand its value out
// again before, to another thread; that is another object then.
func TestFreedAtTheEnd(t *testing.T) {
	const comm = 0x84000001
	x, y := newSynth(t, 0, 1<<16), newSynth(t, 1, 1<<16)
	x.enter("MPI_Comm_dup", commWorld)
	x.leave("MPI_Comm_dup", cat(comm, 0, 1, 4, -1, 0, 0)...)
	x.enter("MPI_Comm_free", comm)
	x.enter("MPI_Barrier", comm) // by a callback
	x.leave("MPI_Barrier")
	x.w.NextTicks += 1000
	y.w.NextTicks = x.w.NextTicks - 500
	y.enter("MPI_Comm_dup", commWorld)
	y.leave("MPI_Comm_dup", cat(comm, 0, 1, 4, -1, 0, 0)...)
	x.leave("MPI_Comm_free")
	x.enter("MPI_Barrier", comm) // the other thread's
	x.leave("MPI_Barrier")
	y.w.NextTicks = x.w.NextTicks + 100
	y.enter("MPI_Comm_free", comm)
	y.leave("MPI_Comm_free")
	y.enter("MPI_Barrier", comm)
	y.leave("MPI_Barrier")
	got := tracked(t, x, y)
	var barriers []int64
	for _, s := range got.Streams {
		for n := range s.Grammar.All() {
			if got.Signatures[n].FunctionID == id(t, "MPI_Barrier") {
				barriers = append(barriers, got.Signatures[n].Values[1])
			}
		}
	}
	check(t, barriers, []int64{mpi.FirstUserHandleID, mpi.FirstUserHandleID, symbol.UnknownHandle})
	if got.Handovers == nil || got.Handovers.EventGrammars[0].Len() != 1 {
		t.Errorf("the second object is not noted as the other thread's: %+v", got.Handovers)
	}
}

// MPI_Finalize lasts until all ranks have come, though its record ends before the recorder asks the others.
func TestFinalizeLasts(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.commRank()
	s.enter("MPI_Finalize")
	s.leave("MPI_Finalize")
	c := drained(t, s)
	c.SetAllArrivedTicks(s.w.NextTicks + 5000)
	got, err := c.Track(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	last := got.Times[len(got.Times)-1].Duration
	if got.Streams[0].Grammar.Len() != 2 || last.Sum < 2500 || last.Sum > 2600 {
		t.Errorf("%d calls, the last one of %d ns", got.Streams[0].Grammar.Len(), last.Sum)
	}
}
