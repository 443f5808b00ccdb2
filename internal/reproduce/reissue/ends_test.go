package reissue

import (
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// crashed is a trace of ranks that did not finish.
func crashed(t *testing.T, ranks int, program func(r *tracktest.Recorder)) *trace.Reader {
	t.Helper()
	tracks := tracktest.RunAll(ranks, program)
	for _, tr := range tracks {
		tr.Process.EndState = track.EndCrashed
	}
	return mergetest.Open(t, tracks, nil)
}

func TestEnds(t *testing.T) {
	const pair, file = 1024, trace.FirstCreatedHandle // pair is of ranks 0 and 1, or 2 and 3
	split := func(r *tracktest.Recorder) {
		color := int64(r.Rank / 2)
		size := min(2, int64(r.Size)-2*color)
		r.Call("MPI_Comm_split", 3, tracktest.World, color, 0, pair, 2*color, 0, int64(r.Rank%2), size, -1, 0, 0)
	}
	recv := func(r *tracktest.Recorder, from int64) {
		r.Call("MPI_Recv", 9, 1<<8|1, 0, 1, tracktest.IntType, from, 9, tracktest.World, 1, from, 9, 4, 0)
	}
	send := func(r *tracktest.Recorder, to int64) {
		r.Call("MPI_Send", 8, 0<<8|1, 0, 1, tracktest.IntType, to, 9, tracktest.World)
	}
	for _, x := range []struct {
		what    string
		program func(r *tracktest.Recorder)
		want    StreamEnds
	}{
		{"a collective call that one doesn't come to, and what comes after it", func(r *tracktest.Recorder) {
			r.Begin()
			for range 3 {
				r.Allreduce(4, 1)
			}
			if r.Rank == 2 {
				return
			}
			r.Allreduce(4, 1)
			send(r, int64(1-r.Rank))
			recv(r, int64(1-r.Rank))
		}, StreamEnds{{4}, {4}, {4}}},
		{"a call that never returned", func(r *tracktest.Recorder) {
			r.Begin()
			r.Allreduce(4, 1)
			if r.Rank == 0 {
				r.CallOn(0, "MPI_Barrier", 5, trace.ReturnCodeNeverReturned, tracktest.World)
				return
			}
			r.Call("MPI_Barrier", 5, tracktest.World)
			r.Call("MPI_Comm_rank", 6, tracktest.World, int64(r.Rank))
		}, StreamEnds{{2}, {2}, {2}}},
		{"messages of one that ended, whoever else waits", func(r *tracktest.Recorder) {
			r.Begin()
			switch r.Rank {
			case 0:
				send(r, 1)
				r.CallOn(0, "MPI_Send", 8, trace.ReturnCodeNeverReturned, 0<<8|1, 0, 1, tracktest.IntType, 1, 9, tracktest.World)
			case 1:
				recv(r, 0)
				recv(r, 0)
				send(r, 2)
			case 2:
				recv(r, 1)
				r.Call("MPI_Comm_rank", 6, tracktest.World, 2)
			}
		}, StreamEnds{{2}, {2}, {1}}},
		{"communicators that have nothing to do with it", func(r *tracktest.Recorder) {
			r.Begin()
			split(r)
			for range 3 + 2*(r.Rank/2) {
				r.Call("MPI_Barrier", 5, pair)
			}
			if r.Rank == 1 {
				r.Call("MPI_Barrier", 5, pair)
			}
		}, StreamEnds{{5}, {5}, {7}, {7}}},
		{"files, each of its communicator, under one number", func(r *tracktest.Recorder) {
			r.Begin()
			split(r)
			open := func(comm int64) { r.Call("MPI_File_open", 11, comm, 0, 2, 0, file) }
			open(tracktest.World)
			r.Call("MPI_File_close", 12, file)
			open(pair)
			for range 1 + r.Rank%2*(1-r.Rank/2) { // rank 1 once more than rank 0
				r.Call("MPI_File_sync", 13, file)
			}
		}, StreamEnds{{6}, {6}, {6}, {6}}},
		{"MPI_Abort", func(r *tracktest.Recorder) {
			r.Begin()
			if r.Rank == 1 {
				r.CallOn(0, "MPI_Abort", 7, trace.ReturnCodeNeverReturned, tracktest.World, 3)
			}
			r.Call("MPI_Comm_rank", 6, tracktest.World, int64(r.Rank))
		}, StreamEnds{{2}, {1}}},
	} {
		got, err := FindStreamEnds(crashed(t, len(x.want), x.program))
		if err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s: %v, %v, want %v", x.what, got, err, x.want)
		}
	}
	if got, err := FindStreamEnds(mergetest.Run(t, 2, func(r *tracktest.Recorder) { r.Begin(); r.End() })); err != nil || got != nil {
		t.Errorf("of ranks that finished: %v, %v", got, err)
	}
}
