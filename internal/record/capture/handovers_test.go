package capture

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// passOn has thread 0 make a communicator under one number after the other, and thread 1 use each; both repeat themselves.
func passOn(t *testing.T, rounds int) *track.Track {
	a, b := newSynth(t, 0, 1<<20), newSynth(t, 1, 1<<20)
	now := uint64(2000)
	at := func(s *synth) *synth {
		now += 100
		s.w.NextTicks = now
		return s
	}
	for i := range rounds {
		raw := uint64(0x84000001 + i%2)
		at(a).enter("MPI_Comm_dup", commWorld)
		at(a).leave("MPI_Comm_dup", cat(raw, 0, 1, 4, -1, 0, 0)...)
		for range 3 {
			at(b).enter("MPI_Barrier", raw)
			at(b).leave("MPI_Barrier")
		}
		at(a).enter("MPI_Comm_free", raw)
		at(a).leave("MPI_Comm_free", uint64(commNull))
	}
	return tracked(t, a, b)
}

// Whose object a number stands for is noted once a handover, and takes no more room the longer this goes on.
func TestHandovers(t *testing.T) {
	got := passOn(t, 500)
	if got.Handovers == nil || len(got.Handovers.EventGrammars) != 2 {
		t.Fatalf("no handovers: %+v", got.Handovers)
	}
	index, made, n := uint64(0), uint64(0), uint64(0)
	for i := range got.Handovers.EventGrammars[1].All() {
		e := got.Handovers.DistinctEvents[i]
		kind, number, maker := track.UnpackHandover(e.PackedSegment)
		index += e.CallsSincePrevious
		made += e.Size
		if model.HandoverKinds[kind] != mpi.KindComm || number != 0 || maker != 0 || e.IsFree {
			t.Fatalf("handover %d is of %s %d by %d", n, model.HandoverKinds[kind], number, maker)
		}
		if index != 3*n || made != 2*n {
			t.Fatalf("handover %d: call %d uses what call %d made, want %d and %d", n, index, made, 3*n, 2*n)
		}
		n++
	}
	if n != 500 || got.Handovers.EventGrammars[0].Len() != 0 || len(got.Handovers.DistinctEvents) > 4 {
		t.Errorf("%d handovers, %d the other way, %d distinct", n, got.Handovers.EventGrammars[0].Len(), len(got.Handovers.DistinctEvents))
	}
}
