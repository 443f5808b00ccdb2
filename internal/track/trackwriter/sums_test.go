package trackwriter

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// TestLeaveOut: displacements that are sums of the counts before them are left out, others stay.
func TestLeaveOut(t *testing.T) {
	def, ok := mpi.CallNamed("MPI_Alltoallv")
	if !ok {
		t.Fatal("no MPI_Alltoallv")
	}
	//                 buffer  counts       displacements
	vals := []int64{0, 257, 0, 3, 10, 20, 5, 3, 4, 14, 34, 15, 513, 0, 3, 1, 1, 1, 3, 0, 1, 9, 15, 257}
	leaveOut := func(function uint16, vals []int64) []int64 {
		w := NewWriter(0, 0)
		return w.leaveOut(nil, w.stream(0), w.layout(function), vals)
	}
	before := slices.Clone(vals)
	want := slices.Clone(vals)
	copy(want[7:], []int64{-9, 4, 0, 0})
	if got := leaveOut(def.ID, vals); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !slices.Equal(vals, before) {
		t.Error("the caller's values were changed")
	}
	send, _ := mpi.CallNamed("MPI_Send")
	for _, id := range []uint16{send.ID, 60000} {
		if got := leaveOut(id, []int64{0, 1}); !slices.Equal(got, []int64{0, 1}) {
			t.Errorf("function %d: %v", id, got)
		}
	}
}
