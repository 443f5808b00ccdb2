package handles

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// passing has one thread make communicators of all ranks and of half of them, and types of two sizes, in turn, and another use them.
func passing(rounds int) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		r.Begin()
		for i := range rounds {
			members := []int{0, 1, 2, 3}
			if i%2 > 0 {
				members = []int{r.Rank &^ 1, r.Rank | 1}
			}
			made := r.Calls(0)
			split(r, 10+i%2, tracktest.World, int64(i%2*members[0]), local, int64(i), members)
			n := int64(1 + i%2)
			r.Call("MPI_Type_contiguous", 41, n, double, local, 8*n, 0, 8*n, 0, 8*n)
			r.Handover(1, mpi.KindComm, 0, 0, made)
			r.Handover(1, mpi.KindDatatype, 0, 0, made+1)
			r.CallOn(1, "MPI_Send", 40, 0, 1, 0, 1, local, int64((r.Rank+1)%len(members)), 1, local)
			r.CallOn(1, "MPI_Barrier", 43, 0, local)
			r.Call("MPI_Type_free", 42, local)
			r.Call("MPI_Comm_free", 12, local)
		}
		r.End()
	}
}

func TestHandedOver(t *testing.T) {
	const rounds = 6
	r := mergetest.Run(t, 4, passing(rounds))
	comms, err := TableOf(r).Comms()
	if err != nil {
		t.Fatal(err)
	}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			t.Fatal(err)
		}
		x, err := TableOf(r).Rank(k)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.Calls(1) {
			if err != nil {
				t.Fatal(err)
			}
			round := int(c.Index / 2)
			want := []int{0, 1, 2, 3}
			if round%2 > 0 {
				want = []int{k.Number() &^ 1, k.Number() | 1}
			}
			if got := comms.At(k.Number(), 1, c.Index, local); got == nil || !slices.Equal(got.Members(), want) {
				t.Errorf("rank %d, call %d is on %v, want %v", k.Number(), c.Index, got, want)
			}
			if c.Name() != "MPI_Send" {
				continue
			}
			if size, ok := x.TypeSize(local, 1, c.Index); !ok || size != int64(8+round%2*8) {
				t.Errorf("rank %d, call %d sends %d bytes", k.Number(), c.Index, size)
			}
			for _, p := range x.GroupOccurrences(1, c) {
				if at, _ := x.TypeSize(local, 1, p.ExampleIndex); p.Count != 1 && at != 8 && at != 16 {
					t.Errorf("rank %d: %d calls of one size, %d", k.Number(), p.Count, at)
				}
			}
		}
		turns, err := ThreadDependencies(k)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(rounds) {
			// The second thread's send comes after the communicator and the type were made, the free after its barrier.
			for stream, w := range []ThreadDependency{{4*i + 4, 1, 2*i + 1}, {2 * i, 0, 4*i + 1}} {
				if !slices.Contains(turns[stream], w) {
					t.Errorf("rank %d: thread %d lacks the turn %v: %v", k.Number(), stream, w, turns[stream])
				}
			}
		}
	}
	if same, err := r.SameHandovers([]int{0, 1, 2, 3}); err != nil || !same {
		t.Errorf("ranks have equal handovers: %t, %v", same, err)
	}
}

// A file whose handovers speak of calls that don't exist is read all the same.
func TestDamagedHandovers(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Handover(1, mpi.KindComm, 0, 0, 77)
		r.CallOn(1, "MPI_Barrier", 43, 0, local)
		r.Handover(1, mpi.KindComm, 5, 9, 0)
		r.CallOn(1, "MPI_Barrier", 43, 0, local+5)
		r.End()
	})
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			t.Fatal(err)
		}
		if list, err := k.Handovers(1); err != nil || len(list) > 0 {
			t.Errorf("%v, %v", list, err)
		}
		if _, err := ThreadDependencies(k); err != nil {
			t.Error(err)
		}
	}
}
