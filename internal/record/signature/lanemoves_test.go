package signature

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// What may move: where a call reads a file, and where it says that one is read next; no size.
func TestMoves(t *testing.T) {
	for _, c := range []struct {
		name string
		vals []int64
		want []int32
	}{
		{"lseek", []int64{0, 4096, 100, 4096, 0}, []int32{1, 3}},
		{"ftell", []int64{0, 4096, 100}, []int32{1}},
		{"pread", []int64{0, 512, 100, 512, 4096}, []int32{4}},
		{"read", []int64{0, 512, 100, 512}, nil},
		{"MPI_Send", []int64{0, 1, 0, 5, 10, 3, 77, 0}, []int32{2, 6}},
	} {
		call, _ := mpi.CallNamed(c.name)
		l := LayoutOf(call)
		spans, err := l.Spans(nil, c.vals)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var m LaneCandidates
		m.FindIn(&l, spans, c.vals)
		slices.Sort(m.Positions)
		if !slices.Equal(m.Positions, c.want) {
			t.Errorf("%s: values %v may move, not %v", c.name, m.Positions, c.want)
		}
	}
}
