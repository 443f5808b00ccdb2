package hang_test

import (
	"errors"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Calls that a trace lacks, as others prove them; and what proves nothing.
func TestMissing(t *testing.T) {
	begun := func(program func(r *tracktest.Recorder)) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) { r.Begin(); program(r); r.End() }
	}
	for _, c := range []struct {
		name    string
		program func(r *tracktest.Recorder)
		want    string // after the error's own text
		after   string // the same after a deadlock
	}{
		{"nothing", begun(func(r *tracktest.Recorder) {
			r.Irecv(3, 4, int64((r.Rank+r.Size-1)%r.Size), 7)
			r.Send(4, 4, int64((r.Rank+1)%r.Size), 7)
			r.Waitall(5, 1)
			r.Allreduce(6, 1)
		}), "", ""},
		{"a send", begun(func(r *tracktest.Recorder) {
			if r.Rank == 1 {
				for range 3 {
					r.Recv(3, 4, 0, 7)
				}
			} else if r.Rank == 0 {
				r.Send(4, 4, 1, 7)
			}
		}), "rank 0 sent 1 message with tag 7 to rank 1 on MPI_COMM_WORLD, which received 3",
			"rank 0 sent 1 message with tag 7 to rank 1 on MPI_COMM_WORLD, which received 3"},
		{"nonblocking", begun(func(r *tracktest.Recorder) {
			if r.Rank == 2 {
				r.Call("MPI_Irecv", 3, 1, 0, 1, tracktest.IntType, int64(mpi.AnySource), int64(mpi.AnyTag), tracktest.World, 2)
				r.Call("MPI_Wait", 4, 2, 1, 0, 9, 4, 0)
			}
		}), "rank 0 sent 0 messages with tag 9 to rank 2 on MPI_COMM_WORLD, which received 1",
			"rank 0 sent 0 messages with tag 9 to rank 2 on MPI_COMM_WORLD, which received 1"},
		{"a receive", begun(func(r *tracktest.Recorder) {
			if r.Rank == 0 {
				r.Send(4, 4, 1, 7)
			}
		}), "", "rank 0 sent 1 message with tag 7 to rank 1 on MPI_COMM_WORLD, which received 0"},
		{"a collective call", begun(func(r *tracktest.Recorder) {
			for range 5 - r.Rank/2 {
				r.Allreduce(3, 1)
			}
		}), "collective calls on MPI_COMM_WORLD: 5 by ranks 0-1, 4 by rank 2",
			"collective calls on MPI_COMM_WORLD: 5 by ranks 0-1, 4 by rank 2"},
		{"a program that did not end", func(r *tracktest.Recorder) {
			r.Begin()
			for range 5 - r.Rank/2 {
				r.Allreduce(3, 1)
			}
			if r.Rank == 0 {
				r.Send(4, 4, 1, 7)
			}
		}, "", ""},
		{"a call that failed", begun(func(r *tracktest.Recorder) {
			if r.Rank == 1 {
				r.Recv(3, 4, 0, 7)
			}
			if r.Rank == 0 {
				r.CallOn(0, "MPI_Send", 4, 15, 1, 0, 4, tracktest.IntType, 1, 7, tracktest.World)
				r.Send(4, 4, 2, 7)
			}
		}), "", ""},
	} {
		for after, want := range map[bool]string{false: c.want, true: c.after} {
			tracks := tracktest.RunAll(3, c.program)
			for _, tr := range tracks {
				if c.name == "a program that did not end" {
					tr.Process.EndState = "crashed"
				}
			}
			err := hang.CheckMissingCalls(mergetest.Open(t, tracks, nil), after, nil)
			if want == "" {
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			if !errors.Is(err, hang.ErrMissingCalls) || err.Error() != hang.ErrMissingCalls.Error()+": "+want {
				t.Errorf("%s: %v, want %s", c.name, err, want)
			}
		}
	}
}
