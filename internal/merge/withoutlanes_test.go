package merge_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Sweeps over cells have tags that wrap around in their middle on most ranks. Where
// they go on for long enough the recorder makes a lane of them, elsewhere distinct
// calls: the ranks are one class all the same, call by call.
func TestLanesOfSome(t *testing.T) {
	const cells, ranks = 24, 64
	values := func(rank, i int) []int64 { return laneOfSomeValues(rank, ranks, i, cells) }
	tracks := tracktest.RunAll(ranks, laneOfSome(cells))
	s := throughTree(t, tracks)
	if s.Classes() != 1 {
		t.Errorf("%d classes", s.Classes())
	}
	b := file(t, s)
	r, err := trace.ReadBytes(b, "test")
	if err != nil {
		t.Fatal(err)
	}
	for rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for terminal, vals := range k.Signatures(0) {
			c, err := k.Terminal(terminal)
			if err != nil {
				t.Fatal(err)
			}
			if c.Name() != "MPI_Send" {
				continue
			}
			if want := values(rank, i%cells); !slices.Equal(vals, want) {
				t.Fatalf("rank %d, call %d: %v, want %v", rank, i, vals, want)
			}
			i++
		}
		if i != 3*cells {
			t.Errorf("rank %d: %d calls", rank, i)
		}
		times, err := k.ClassTimes()
		if err != nil {
			t.Fatal(err)
		}
		calls := uint64(0)
		for _, x := range times {
			calls += x.Duration.Count
		}
		if want := k.CallCount(0) * ranks; s.Classes() == 1 && calls != want {
			t.Errorf("times of %d calls, %d were made", calls, want)
		}
	}
	all, err := merge.MergeAll(tracks, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file(t, all), b) {
		t.Error("merged at once, they make another file")
	}
}

func laneOfSomeValues(rank, ranks, i, cells int) []int64 {
	n := int64(1)
	if (i*i+5*rank*rank)%23 < 9 {
		n = 2
	}
	return []int64{0, 1<<8 | 1, 0, n, tracktest.IntType, int64(rank+1) % int64(ranks), int64(100 + (i+5*rank)%cells), tracktest.World}
}

func laneOfSome(cells int) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		r.Begin()
		for range 3 {
			for i := range cells {
				// One call came before the lane is there, and is not in it later.
				if r.Rank%3 == 0 && i > 0 {
					r.LaneOn(0, "MPI_Send", 1, []int{6}, laneOfSomeValues(r.Rank, r.Size, i, cells)...)
				} else {
					r.CallOn(0, "MPI_Send", 1, laneOfSomeValues(r.Rank, r.Size, i, cells)...)
				}
			}
		}
		r.End()
	}
}
