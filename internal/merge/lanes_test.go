package merge_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Ranks that count from other numbers, in other steps and unequally often are one
// class, and how far they count costs hardly anything.
func TestLanes(t *testing.T) {
	counting := func(steps int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Begin()
			for i := range steps + r.Rank%3 {
				tag := int64(1000*r.Rank + (1+r.Rank%2)*i)
				r.LaneOn(0, "MPI_Send", 1, []int{6}, 0, 1<<8|1, 0, 1, tracktest.IntType, int64(r.Rank+1)%int64(r.Size), tag, tracktest.World)
			}
			r.End()
		}
	}
	size := func(steps int) int {
		tracks := tracktest.RunAll(64, counting(steps))
		s := throughTree(t, tracks)
		if s.Classes() != 1 {
			t.Errorf("%d classes", s.Classes())
		}
		b := file(t, s)
		same(t, b, tracks)
		all, err := merge.MergeAll(tracks, 0)
		if err != nil {
			t.Fatal(err)
		}
		if string(file(t, all)) != string(b) {
			t.Error("merged at once, they make another file")
		}
		return len(b)
	}
	if short, long := size(10), size(2000); long > short+24 {
		t.Errorf("%d bytes for 10 steps, %d for 2000", short, long)
	}
}
