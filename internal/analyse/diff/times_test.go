package diff

import (
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// phased makes the same calls at three places: alone, in a loop, and alone.
func phased(r *tracktest.Recorder) {
	r.Begin()
	r.Allreduce(3, 1)
	r.Call("MPI_Barrier", 4, tracktest.World)
	for range 50 {
		r.Allreduce(3, 1)
		r.Call("MPI_Barrier", 5, tracktest.World)
	}
	r.Call("MPI_Barrier", 6, tracktest.World)
	r.Allreduce(3, 1)
	r.End()
}

func timedPhases(t *testing.T, mode timing.Mode, slow uint64) *trace.Reader {
	tracks := tracktest.RunAll(2, phased)
	for _, tr := range tracks {
		tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) {
			switch {
			case i >= 3 && i < 103 && i%2 == 1:
				return 20_000 + slow, 1_000
			case i == 104:
				return 500_000, 7_000 + slow
			}
			return 500_000, 1_000
		})
	}
	return mergetest.Open(t, tracks, nil)
}

// The loop's calls have more computed before them, the last one takes longer; all others are as they were.
func TestTimesOfPlaces(t *testing.T) {
	for _, mode := range []timing.Mode{timing.Stats, timing.Lossless} {
		a, b := timedPhases(t, mode, 0), timedPhases(t, mode, 9_000)
		ranks := 0
		for d, err := range Traces(a, b, Options{CompareTimes: true}) {
			if err != nil {
				t.Fatal(err)
			}
			ranks++
			var compute, mpi float64
			for _, x := range d.Times {
				switch {
				case x.Index >= 3 && x.Index < 103 && x.Call.Name() == "MPI_Allreduce":
					compute += x.Compute[1] - x.Compute[0]
				case x.Index == 104 && x.Call.Name() == "MPI_Allreduce":
					mpi += x.MPI[1] - x.MPI[0]
				case x.off() > 0.01*(x.Compute[0]+x.MPI[0]):
					t.Errorf("%s, rank %d: %+v", mode, d.Rank, x)
				}
			}
			if math.Abs(compute-450_000) > 9_000 || math.Abs(mpi-9_000) > 180 {
				t.Errorf("%s, rank %d: %.0f ns more computed, %.0f more in MPI: %+v", mode, d.Rank, compute, mpi, d.Times)
			}
		}
		if ranks != 2 {
			t.Errorf("%s: %d ranks differ", mode, ranks)
		}
	}
}

// The first call of each leaf is where one comes by it first.
func TestFirst(t *testing.T) {
	tracks := tracktest.RunAll(4, tracktest.Stencil(20))
	for _, r := range []*trace.Reader{timedPhases(t, timing.Stats, 0), mergetest.Open(t, tracks, nil)} {
		for rank := range r.Ranks() {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			leaves := k.Leaves(0)
			first, seen, index := leaves.First(k), make([]bool, leaves.Len()), uint64(0)
			for leaf := range leaves.Visits(k) {
				if !seen[leaf] && first[leaf] != index {
					t.Errorf("rank %d: leaf %d comes first at %d, not %d", rank, leaf, index, first[leaf])
				}
				seen[leaf] = true
				index++
			}
		}
	}
}
