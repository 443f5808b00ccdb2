package handles

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func reader(t *testing.T, size int, program func(r *tracktest.Recorder)) *trace.Reader {
	t.Helper()
	r := mergetest.Run(t, size, program)
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// split records a call of MPI_Comm_split: of a communicator, into members,
// given as ranks of the world, which this rank is one of.
func split(r *tracktest.Recorder, site int, parent, color, name, ordinal int64, members []int) {
	own := int64(slices.Index(members, r.Rank))
	r.Call("MPI_Comm_split", site, parent, color, own, name,
		ordinal, int64(members[0]), own, int64(len(members)), -1, 0, 0)
}

// Rows and columns of a grid have the same names in all ranks, yet are
// different communicators; names are used again after a free.
func TestCommsOfGrid(t *testing.T) {
	const side = 4
	r := reader(t, side*side, func(r *tracktest.Recorder) {
		x, y := r.Rank%side, r.Rank/side
		var row, column []int
		for i := range side {
			row = append(row, y*side+i)
		}
		slices.Reverse(row)
		for i := range side {
			column = append(column, i*side+x)
		}
		r.Begin()
		for i := range 3 {
			split(r, 10, tracktest.World, int64(y), 1024, int64(2*i), row)
			split(r, 11, tracktest.World, int64(x), 1025, int64(2*i+1), column)
			r.Call("MPI_Comm_free", 12, 1024)
			r.Call("MPI_Comm_free", 13, 1025)
		}
		r.End()
	})
	comms, err := TableOf(r).Comms()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(comms.List()); n != 1+3*2*side {
		t.Errorf("%d communicators, want %d", n, 1+3*2*side)
	}
	for rank := range side * side {
		x, y := rank%side, rank/side
		for i := range uint64(3) {
			at := 1 + 4*i // of the first split
			row := comms.At(rank, 0, at+2, 1024)
			col := comms.At(rank, 0, at+2, 1025)
			if row == nil || col == nil {
				t.Fatalf("rank %d: no communicators in round %d", rank, i)
			}
			if row.EqualCreationsBefore != int64(2*i) || col.EqualCreationsBefore != int64(2*i+1) || row.Parent != comms.World() {
				t.Errorf("rank %d: ordinals %d and %d in round %d", rank, row.EqualCreationsBefore, col.EqualCreationsBefore, i)
			}
			for k := range side {
				if got, want := row.WorldRank(k), y*side+side-1-k; got != want {
					t.Errorf("rank %d: member %d of its row is %d, want %d", rank, k, got, want)
				}
				if got, want := col.PeerWorldRank(k), k*side+x; got != want {
					t.Errorf("rank %d: member %d of its column is %d, want %d", rank, k, got, want)
				}
			}
		}
		if self := comms.At(rank, 0, 0, 0x102); self.Size != 1 || self.WorldRank(0) != rank {
			t.Errorf("rank %d: MPI_COMM_SELF is %v", rank, self.Members())
		}
	}
	if c := comms.At(0, 0, 0, 1027); c != nil {
		t.Errorf("a name never given means %v", c)
	}
}

// The sides of an intercommunicator know each other, and what is merged from
// it is one communicator again.
func TestIntercommunicator(t *testing.T) {
	r := reader(t, 5, func(r *tracktest.Recorder) {
		r.Begin()
		low := []int{0, 1}
		high := []int{2, 3, 4}
		mine, others := low, high
		if r.Rank >= 2 {
			mine, others = high, low
		}
		split(r, 10, tracktest.World, int64(mine[0]), 1024, 0, mine)
		own := int64(slices.Index(mine, r.Rank))
		r.Call("MPI_Intercomm_create", 11, 1024, 0, tracktest.World, int64(others[0]), 9, 1025,
			0, int64(mine[0]), own, int64(len(mine)), int64(others[0]), int64(len(others)), 0)
		r.Call("MPI_Intercomm_merge", 12, 1025, 0, 1026, 0, 0, int64(r.Rank), 5, -1, 0, 0)
		r.End()
	})
	comms, err := TableOf(r).Comms()
	if err != nil {
		t.Fatal(err)
	}
	a, b := comms.At(0, 0, 3, 1025), comms.At(4, 0, 3, 1025)
	if a == b || a.Remote != b || b.Remote != a {
		t.Fatalf("sides %+v and %+v", a, b)
	}
	if !slices.Equal(b.Members(), []int{2, 3, 4}) || a.PeerWorldRank(2) != 4 || b.PeerWorldRank(1) != 1 || a.PeerWorldRank(3) != -1 {
		t.Errorf("members %v and %v", a.Members(), b.Members())
	}
	m := comms.At(0, 0, 3, 1026)
	if m != comms.At(3, 0, 3, 1026) || !slices.Equal(m.Members(), []int{0, 1, 2, 3, 4}) {
		t.Errorf("merged: %v", m.Members())
	}
}

// Communicators of rows and columns, made anew in each of 200 rounds.
func BenchmarkComms(b *testing.B) {
	const side = 16
	r := mergetest.Run(b, side*side, func(r *tracktest.Recorder) {
		x, y := r.Rank%side, r.Rank/side
		var row, column []int
		for i := range side {
			row, column = append(row, y*side+i), append(column, i*side+x)
		}
		r.Begin()
		for i := range 200 {
			split(r, 10, tracktest.World, int64(y), 1024, int64(2*i), row)
			split(r, 11, 1024, int64(x), 1025, 0, row[:1+i%side])
			r.Call("MPI_Comm_free", 12, 1024)
			r.Call("MPI_Comm_free", 13, 1025)
		}
		r.End()
	})
	for b.Loop() {
		if _, err := newTable(r).Comms(); err != nil {
			b.Fatal(err)
		}
	}
}
