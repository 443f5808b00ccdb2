package replay_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

const (
	world = tracktest.World
	split = int64(trace.FirstCreatedHandle)
	heap0 = 1
)

// events goes through the order of a rank, so many calls at a time.
func events(t *testing.T, r *trace.Reader, rank, most int) (list []replay.Event) {
	t.Helper()
	o, err := replay.NewEventOrder(r, rank)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := o.Next(most)
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case replay.EndEvent:
			return list
		case replay.NoEvent:
		default:
			list = append(list, e)
		}
	}
}

// halves has ranks of even and odd numbers send among themselves, as often as they like, between collective calls of each and of all.
func halves(r *tracktest.Recorder) {
	color, own, size := int64(r.Rank%2), int64(r.Rank/2), int64(r.Size-r.Rank%2+1)/2
	r.Begin()
	r.Call("MPI_Comm_split", 2, world, color, 0, split, 2*color, 0, own, size, -1, 0, 0)
	for i := range 20 {
		for range (i*7 + r.Rank*r.Rank) % 5 {
			r.Call("MPI_Send", 3, heap0, 0, int64(i), tracktest.IntType, (own+1)%size, 1, split)
		}
		r.Call("MPI_Barrier", 4, split)
		if i%3 == 0 {
			r.Send(5, 1, int64((r.Rank+1)%r.Size), 2)
			r.Allreduce(6, 1)
		}
	}
	r.End()
}

// What a rank is told is that part of the one order that concerns it, however far it looks at a time.
func TestOneOrder(t *testing.T) {
	r := mergetest.Run(t, 7, halves)
	all := events(t, r, -1, 1<<20)
	if len(all) < 500 {
		t.Fatalf("%d events", len(all))
	}
	for rank := range r.Ranks() {
		var want []replay.Event
		for _, e := range all {
			if e.Rank == rank || e.Kind == replay.SendEvent && e.ToWorldRank == rank {
				want = append(want, e)
			}
		}
		for _, most := range []int{1, 5, 1 << 20} {
			if got := events(t, r, rank, most); !slices.Equal(got, want) {
				t.Errorf("rank %d, %d calls at a time: %d events, of all %d", rank, most, len(got), len(want))
			}
		}
	}
}

// Collective calls are where the last member comes to them, and who sends what to whom is as the receiver sees it.
func TestEvents(t *testing.T) {
	r := mergetest.Run(t, 7, halves)
	k, err := r.Rank(3)
	if err != nil {
		t.Fatal(err)
	}
	came := make(map[int]uint64) // how many own calls have a place so far
	for _, e := range events(t, r, -1, 1<<20) {
		if e.Rank == 3 && e.Index < came[3] {
			t.Errorf("call %d comes behind %d", e.Index, came[3])
		}
		came[e.Rank] = e.Index
		if e.Kind != replay.SendEvent || e.Rank != 3 {
			continue
		}
		c, err := k.Call(0, e.Index)
		if err != nil {
			t.Fatal(err)
		}
		to, source := 4, 3
		if c.Param("comm").In.Num == split {
			to, source = 5, 1
		}
		if e.ToWorldRank != to || e.SourceInComm != source || e.Tag != c.Param("tag").In.Num || e.Bytes != 4*c.Param("count").In.Num || (source == 3) != (e.Comm.Number == 0) {
			t.Errorf("%s: %+v", c.Text(), e)
		}
	}
}

// Where members don't come to the same collective calls there is no order.
func TestNoOrder(t *testing.T) {
	for name, x := range map[string]struct {
		program func(r *tracktest.Recorder)
		want    string
	}{
		"one is missing": {func(r *tracktest.Recorder) {
			r.Begin()
			if r.Rank != 1 {
				r.Call("MPI_Barrier", 3, world)
			}
		}, "MPI_Barrier on MPI_COMM_WORLD has 2 of 3 ranks, the first of them 0"},
		"another function": {func(r *tracktest.Recorder) {
			r.Begin()
			if r.Rank == 2 {
				r.Call("MPI_Barrier", 3, world)
			} else {
				r.Allreduce(3, 1)
			}
		}, "rank 2 calls MPI_Barrier where rank 0 calls MPI_Allreduce"},
		"a type of unknown size": {func(r *tracktest.Recorder) {
			r.Begin()
			r.Call("MPI_Send", 3, heap0, 0, 1, 5000, 0, 1, world)
		}, "rank 0: call 1, MPI_Send: the size of its datatype isn't known"},
	} {
		if _, err := replay.SummariseOrder(mergetest.Run(t, 3, x.program)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestObstacles(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Win_fence", 3, 0, split)
		r.Call("MPI_Barrier_init", 4, world, 0, 1)
		r.CallOn(0, "MPI_Send", 5, 6, heap0, 0, 1, tracktest.IntType, 9, 1, world) // returned MPI_ERR_RANK
		r.End()
	})
	list, err := replay.DerivedReceiveObstacles(r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range list {
		got = append(got, o.String())
	}
	want := []string{
		"MPI_Barrier_init: 2 calls on 2 ranks: it makes a persistent collective request",
		"MPI_Send: 2 calls on 2 ranks: it failed, and who took part isn't known",
		"MPI_Win_fence: 2 calls on 2 ranks: whom one-sided calls wait for doesn't follow from sends",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	threads := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.CallOn(1, "MPI_Barrier", 3, 0, world)
	})
	if list, err = replay.DerivedReceiveObstacles(threads); err != nil || len(list) != 1 || list[0].Calls != 2 || !strings.Contains(list[0].Reason, "several threads") {
		t.Errorf("%v, %v", list, err)
	}
}

// Every function has the role that its parameters say: none that waits for others is made as if it were a rank's own.
func TestRoles(t *testing.T) {
	program := func(r *tracktest.Recorder) {
		r.Begin()
		r.Isend(3, 4, int64(1-r.Rank), 1)
		r.Irecv(4, 4, int64(1-r.Rank), 1)
		r.Waitall(5, 2)
		r.Call("MPI_Iprobe", 6, -1, -2, world, 0, 0)
		r.Call("MPI_Barrier", 7, mpi.HandleCommSelf)
		r.Call("MPI_Barrier", 8, world)
		r.End()
	}
	r := mergetest.Run(t, 2, program)
	o, err := replay.NewEventOrder(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	want := []replay.Role{replay.RoleOwn, replay.RoleSends, replay.RoleDropped, replay.RoleDropped, replay.RoleDropped, replay.RoleOwn, replay.RoleMeets, replay.RoleMeets}
	i := 0
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if a, err := o.CallRolesOf(0).RoleOf(c); err != nil || a.Role != want[i] {
			t.Errorf("%s: role %d, expected %d; %v", c.Text(), a.Role, want[i], err)
		}
		i++
	}
}

// What a rank takes to go through the calls of all: processor time, as the machine may be busy.
func BenchmarkOrder(b *testing.B) {
	r := mergetest.Run(b, 16, tracktest.Stencil(2000))
	now := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	calls, began := uint64(0), now()
	for b.Loop() {
		s, err := replay.SummariseOrder(r)
		if err != nil {
			b.Fatal(err)
		}
		calls += s.Calls
	}
	b.ReportMetric(float64(now()-began)/float64(calls), "cpu-ns/call")
}
