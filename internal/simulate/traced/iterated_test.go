package traced

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Where another rank has more work in each quarter of the run, all wait for it there: means of call paths don't show that, what ranks computed
// in each iteration does.
func TestMovingImbalance(t *testing.T) {
	const ranks, iterations, usual = 4, 80, 1_000_000
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for range iterations {
			r.Allreduce(21, 1)
		}
		r.End()
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
			switch {
			case i < 1 || i > iterations:
				return 0, took
			case (i-1)*ranks/iterations == rank:
				return 6 * usual, took
			}
			return usual, 5*usual + took // until that rank comes
		})
	}
	file := mergetest.File(t, tracks, nil)
	all, err := trace.ReadBytes(file, "all times")
	if err != nil {
		t.Fatal(err)
	}
	found, err := when.AnalyseTimes(all)
	if err != nil {
		t.Fatal(err)
	}
	kept := mergetest.WithoutTimes(t, file, found)
	want := float64(predict(t, all, Options{}).EndPs)
	got, means := predict(t, kept, Options{}), predict(t, kept, Options{UseMeanGaps: true})
	if share := float64(got.EndPs) / want; share < 0.95 || share > 1.05 || got.GapsKind != "means of call paths by iteration" {
		t.Errorf("by iteration (%s) it takes %.2f times as long as with the times of all calls", got.GapsKind, share)
	}
	if share := float64(means.EndPs) / want; share > 0.6 || means.GapsKind != "means of call paths" {
		t.Errorf("by place (%s) it takes %.2f times as long as with the times of all calls", means.GapsKind, share)
	}
}
