package extrapolate

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/track/tracktest"
)

func TestCycle(t *testing.T) {
	var got []int32
	c := cycle{2, 3}
	for i := range int32(10) {
		got = append(got, c.of(i))
	}
	if want := []int32{0, 1, 2, 3, 4, 2, 3, 4, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	n := &node{}
	for _, x := range []struct {
		what func(i int32) int32
		want cycle
	}{
		{func(i int32) int32 { return 7 }, cycle{0, 1}},
		{func(i int32) int32 { return i % 2 }, cycle{0, 2}},
		{func(i int32) int32 { return max(0, 5-i) }, cycle{5, 1}},
		{func(i int32) int32 { return i/3%2 + max(0, 1-i) }, cycle{1, 6}},
		{func(i int32) int32 { return i / 150 % 2 }, cycle{}},
		{func(i int32) int32 { return i }, cycle{}},
	} {
		known := []map[[maxDepth + 1]int32]int32{{}}
		for i := range int32(1000) {
			known[0][[maxDepth + 1]int32{0, i}] = x.what(i)
		}
		if got := cycleOf(known, []*node{n}, 1); got != x.want {
			t.Errorf("%v, want %v", got, x.want)
		}
	}
}

// TestSwap: what is learned of a loop that swaps two buffers, and has a collective call every tenth time, does not grow with its length.
func TestSwap(t *testing.T) {
	rows := make(map[int]int)
	for _, steps := range []int{100, 5000} {
		m, err := Learn(known(t, func(r *tracktest.Recorder) {
			next, last := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
			r.Begin()
			for i := range steps {
				r.Irecv(10, int64(4+i%2), last, 1)
				r.Isend(11, int64(4+i%2), next, 1)
				r.Waitall(12, 2)
				if i%10 == 9 {
					r.Allreduce(13, 1)
				}
			}
			r.End()
		}, 4, 5, 6, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range m.m.rows {
			rows[steps] += len(list)
		}
		if _, err := m.At(12); err != nil {
			t.Errorf("%d iterations: %v", steps, err)
		}
	}
	if rows[100] != rows[5000] {
		t.Errorf("%d rows for 100 iterations, %d for 5000", rows[100], rows[5000])
	}
}
