package partners_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/papers/partners"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// TestKept: what can't be drawn so that all that is sent is received stays, and it is said why.
func TestKept(t *testing.T) {
	const ranks, intervals = 8, 10
	// Two partners that look random, whom the others have, too.
	exchange := func(r *tracktest.Recorder, interval int) {
		for i, with := range []int{interval*interval*3 + interval, interval*5 + 3} {
			r.Irecv(3, 10, int64(r.Rank^with%ranks), int64(10+i))
		}
		for i, with := range []int{interval*interval*3 + interval, interval*5 + 3} {
			r.Isend(4, 10, int64(r.Rank^with%ranks), int64(10+i))
		}
		r.Waitall(5, 4)
	}
	for _, x := range []struct {
		why     string
		program func(r *tracktest.Recorder, interval int)
	}{
		{"partners are regular", func(r *tracktest.Recorder, interval int) {
			r.Irecv(3, 10, int64(r.Rank^1), 1)
			r.Isend(4, 10, int64(r.Rank^1), 1)
			r.Waitall(5, 2)
		}},
		{"persistent requests are in it", func(r *tracktest.Recorder, interval int) {
			exchange(r, interval)
			if interval == 0 {
				r.Call("MPI_Send_init", 6, 1<<8|1, 0, 1, tracktest.IntType, int64(r.Rank^1), 2, tracktest.World, 1)
			}
			r.Call("MPI_Start", 7, 1)
			r.Recv(8, 1, int64(r.Rank^1), 2)
			r.Call("MPI_Wait", 9, 1, 4, 0)
		}},
		{"one-sided calls are in it", func(r *tracktest.Recorder, interval int) {
			exchange(r, interval)
			r.Call("MPI_Win_fence", 6, 0, trace.UnknownHandle)
		}},
		{"MPI_Ibarrier is in it", func(r *tracktest.Recorder, interval int) {
			r.Call("MPI_Ibarrier", 6, tracktest.World, 2)
			exchange(r, interval)
			r.Call("MPI_Wait", 7, 2*5, 3)
		}},
		{"not all ranks are members of", func(r *tracktest.Recorder, interval int) {
			if interval == 0 {
				r.Call("MPI_Comm_split", 6, tracktest.World, int64(r.Rank/4), int64(r.Rank), trace.FirstCreatedHandle, 0, int64(r.Rank&^3), int64(r.Rank&3), 4, -1, 0, int64(r.Rank/4))
			}
			exchange(r, interval)
			other := int64(r.Rank^interval%4) & 3
			r.Call("MPI_Irecv", 7, 1<<8|1, 0, 1, tracktest.IntType, other, 1, trace.FirstCreatedHandle, 2)
			r.Call("MPI_Isend", 8, 2<<8|1, 0, 1, tracktest.IntType, other, 1, trace.FirstCreatedHandle, 2)
			r.Waitall(9, 2)
		}},
		{"received in another", func(r *tracktest.Recorder, interval int) {
			exchange(r, interval)
			if interval%2 == 0 {
				r.Send(6, 1, int64(r.Rank^1), 2)
			} else {
				r.Recv(7, 1, int64(r.Rank^1), 2)
			}
		}},
		{"requests of one interval are used in another", func(r *tracktest.Recorder, interval int) {
			if interval%2 == 1 {
				r.Call("MPI_Wait", 6, 2, 4, 0)
			}
			exchange(r, interval)
			if interval%2 == 0 {
				r.Recv(7, 1, int64(r.Rank), 2)
			}
			if interval%2 == 0 {
				r.Isend(8, 1, int64(r.Rank), 2)
			}
		}},
		{"four times as many messages as others", func(r *tracktest.Recorder, interval int) {
			if r.Rank > 0 {
				r.Send(3, int64(1+interval), 0, int64(interval*7+r.Rank))
				return
			}
			for rank := range ranks - 1 {
				r.Recv(4, int64(1+interval), int64(rank+1), int64(interval*7+rank+1))
			}
		}},
	} {
		t.Run(x.why, func(t *testing.T) {
			r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
				r.Begin()
				for interval := range intervals {
					x.program(r, interval)
					r.Allreduce(30, 1)
				}
				r.End()
			})
			out, d, _ := drawn(t, r, reduce.Options{}, 1)
			if list, err := out.SyntheticMessages(); err != nil || list != nil {
				t.Errorf("drawn %+v, error %v", list, err)
			}
			if !slices.ContainsFunc(d.KeptReasons(), func(k reduce.KeptReason) bool { return strings.Contains(k.Why, x.why) && k.Count > 0 }) {
				t.Errorf("kept: %v", d.KeptReasons())
			}
		})
	}
	r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for interval := range intervals {
			exchange(r, interval)
			r.Allreduce(30, 1)
		}
		r.End()
	})
	d := partners.New(r, 1, func(int) {})
	if n, err := d.Families(); err != nil || n != 1 {
		t.Errorf("of what they have in common %d families can be drawn, error %v, kept %v", n, err, d.KeptReasons())
	}
}

// TestChance: in one interval some rank has five times as many random messages as the mean, which is drawn; with twenty times as many it is no
// rank among others.
func TestChance(t *testing.T) {
	const ranks = 64
	for _, x := range []struct{ busy, families int }{{5, 1}, {20, 0}} {
		to := rand.New(rand.NewPCG(1, 2)).Perm(ranks)
		for rank := range ranks {
			if rank < x.busy-1 { // beside the one that sends there anyway
				to[rank] = 0
			}
		}
		r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
			r.Begin()
			var sources []int64
			for rank := range ranks {
				if to[rank] == r.Rank {
					sources = append(sources, int64(rank))
				}
			}
			for _, from := range sources {
				r.Irecv(3, 10, from, 1)
			}
			r.Isend(4, 10, int64(to[r.Rank]), 1)
			r.Waitall(5, int64(len(sources)+1))
			r.Allreduce(30, 1)
			r.End()
		})
		d := partners.New(r, 1, func(int) {})
		if n, err := d.Families(); err != nil || n != x.families {
			t.Errorf("%d messages to one rank: %d families, want %d; error %v, kept %v", x.busy, n, x.families, err, d.KeptReasons())
		}
	}
}
