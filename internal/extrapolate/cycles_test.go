package extrapolate

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
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

// What is learned of a loop that swaps two buffers, and has a collective call every tenth time, does not grow with its length, and gives
// the calls of the program. Iterations that all differ are too many at some length.
func TestSwap(t *testing.T) {
	swap := func(steps, often int, count func(i int) int64) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			next, last := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
			r.Begin()
			for i := range steps {
				r.Irecv(10, count(i), last, 1)
				r.Isend(11, count(i), next, 1)
				r.Waitall(12, 2)
				if i%often == often-1 {
					r.Allreduce(13, 1)
				}
			}
			r.End()
		}
	}
	two := func(i int) int64 { return int64(4 + i%2) }
	rows := make(map[int]int)
	for _, steps := range []int{100, 5000} {
		m, err := Learn(known(t, swap(steps, 10, two), 4, 5, 6, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range m.m.rows {
			rows[steps] += len(list)
		}
		for d, err := range diff.CompareTraces(extrapolated(t, m, 12), mergetest.Run(t, 12, swap(steps, 10, two)), diff.Options{}) {
			t.Fatalf("%d iterations: %+v, %v", steps, d, err)
		}
	}
	if rows[100] != rows[5000] {
		t.Errorf("%d rows for 100 iterations, %d for 5000", rows[100], rows[5000])
	}
	m, err := Learn(known(t, swap(mostGroups+10, 2*mostGroups, func(i int) int64 { return int64(i) }), 4, 5, 6), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Extrapolate(12, Options{}); err == nil || !strings.Contains(err.Error(), "more than 4,096 iterations differ") {
		t.Errorf("iterations that all differ: %v", err)
	}
}
