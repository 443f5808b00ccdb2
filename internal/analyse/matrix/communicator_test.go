package matrix

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/tracktest"
)

// comms splits the world into halves, then gives the same name to a reversal.
func comms(r *tracktest.Recorder) {
	r.Begin()
	half := (r.Size + 1) / 2
	rank, size, leader := r.Rank, half, 0
	if r.Rank >= half {
		rank, size, leader = r.Rank-half, r.Size-half, half
	}
	split := func(color, key, ordinal, leader, rank, size int) {
		r.Call("MPI_Comm_split", 60, tracktest.World, int64(color), int64(key), own,
			int64(ordinal), int64(leader), int64(rank), int64(size), -1, 0, 0)
	}
	split(r.Rank/half, 0, 0, leader, rank, size)
	for range 4 {
		sendOf(r, 1, double, int64((rank+1)%size), own)
		r.Call("MPI_Allgather", 61, heap, 0, 2, double, heap, 0, 2, double, own)
	}
	r.Call("MPI_Comm_free", 62, own)
	split(0, -r.Rank, 1, r.Size-1, r.Size-1-r.Rank, r.Size)
	for range 2 {
		sendOf(r, 1, double, 0, own)
		r.Call("MPI_Bcast", 63, heap, 0, 3, double, 0, own)
	}
	r.End()
}

func TestComms(t *testing.T) {
	m := compute(t, run(t, 4, comms), everything)
	got := m.Dense()
	ring := Cell{4 + 4, 4*8 + 4*16}
	last := Cell{2, 16}
	want := [][]Cell{
		{{}, ring, {}, last},
		{ring, {}, {}, last},
		{{}, {}, {}, {ring.Messages + last.Messages, ring.Bytes + last.Bytes}},
		{{2, 48}, {2, 48}, {ring.Messages + 2, ring.Bytes + 48}, last},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m.Total.Bytes != m.SizeHistogram[4].Bytes+m.SizeHistogram[5].Bytes {
		t.Errorf("sizes are %v, the total is %v", m.SizeHistogram, m.Total)
	}
}

// threads has a second thread that sends with a type the first one made.
func threads(r *tracktest.Recorder) {
	r.Begin()
	newType(r, 3)
	for range 3 {
		r.CallOn(1, "MPI_Send", 40, 0, heap, 0, 1, own, 0, 1, tracktest.World)
	}
	r.End()
}

// neighbourhood exchanges in a grid that is periodic in its second dimension.
func neighbourhood(r *tracktest.Recorder) {
	r.Begin()
	r.Call("MPI_Cart_create", 70, tracktest.World, 2, 2, 2, int64(r.Size/2), 2, 0, 1, 0, own,
		0, 0, int64(r.Rank), int64(r.Size/2*2), -1, 0, 0)
	if r.Rank < r.Size/2*2 {
		r.Call("MPI_Neighbor_alltoall", 71, heap, 0, 2, double, heap, 0, 2, double, own)
	}
	r.End()
}

func TestNeighbours(t *testing.T) {
	m := compute(t, run(t, 6, neighbourhood), everything)
	for i := range 6 {
		var got []int
		for _, e := range m.Row(i) {
			if e.Cell != (Cell{1, 16}) {
				t.Errorf("row %d has %+v", i, e)
			}
			got = append(got, e.Column)
		}
		row := i / 3 * 3
		want := []int{(i + 3) % 6, row + (i+1)%3, row + (i+2)%3}
		if len(got) != 3 || !subset(want, got) {
			t.Errorf("neighbours of %d are %v, want %v", i, got, want)
		}
	}
}

// distributed has a graph of which each rank gives the edges of the next one: to
// the two after that. Odd ranks ask for the order of their neighbours.
func distributed(r *tracktest.Recorder) {
	const unweighted, noInfo = -2, 0
	n := r.Size
	at := func(i int) int64 { return int64((r.Rank + i) % n) }
	r.Begin()
	r.Call("MPI_Dist_graph_create", 72, tracktest.World, 1, 1, at(1), 1, 2, 2, at(2), at(3), unweighted, noInfo, 0, own,
		0, 0, int64(r.Rank), int64(n), -1, 0, 0)
	r.Call("MPI_Neighbor_allgather", 73, heap, 0, 1, double, heap, 0, 1, double, own)
	if r.Rank%2 == 1 {
		r.Call("MPI_Dist_graph_neighbors", 74, own, 3, 3, at(n-1), at(n-2), -1, unweighted, 2, 2, at(2), at(1), unweighted)
	}
	r.Call("MPI_Neighbor_alltoallv", 75, heap, 0, 2, 3, 4, 2, 0, 3, double, heap, 0, 2, 3, 3, 2, 0, 3, double, own)
	r.Call("MPI_Comm_dup", 76, own, own+1, 0, 0, int64(r.Rank), int64(n), -1, 0, 0)
	r.Call("MPI_Neighbor_alltoallv", 77, heap, 0, 2, 5, 5, 2, 0, 3, double, heap, 0, 2, 5, 5, 2, 0, 3, double, own+1)
	r.End()
}

// Edges that several ranks gave are put together. The order of neighbours is known
// where the program asked, and does not matter where all get as much.
func TestDistributedGraph(t *testing.T) {
	m := compute(t, run(t, 6, distributed), everything)
	for i := range 6 {
		want := map[int]Cell{(i + 1) % 6: {2, 8 + 40}, (i + 2) % 6: {2, 8 + 40}}
		if i%2 == 1 {
			want[(i+1)%6], want[(i+2)%6] = Cell{3, 8 + 32 + 40}, Cell{3, 8 + 24 + 40}
		}
		got := make(map[int]Cell)
		for _, e := range m.Row(i) {
			got[e.Column] = e.Cell
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", i, d)
		}
	}
	if m.UnknownPartnerCalls != 3 {
		t.Errorf("%d calls with unknown partners, want the three whose order is", m.UnknownPartnerCalls)
	}
	// Where one rank's call is missing, nobody knows its edges.
	lost := run(t, 6, func(r *tracktest.Recorder) {
		if r.Rank != 4 {
			distributed(r)
		}
	})
	if m := compute(t, lost, everything); m.Total.Messages != 0 || m.UnknownPartnerCalls == 0 {
		t.Errorf("edges of a missing rank: %+v, %d unknown", m.Total, m.UnknownPartnerCalls)
	}
}
