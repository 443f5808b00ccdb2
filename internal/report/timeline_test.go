package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

func TestArrange(t *testing.T) {
	for name, c := range map[string]struct {
		streams   []int
		rows, bin int
	}{
		"one":              {[]int{1}, 1, 1},
		"threads":          {[]int{3, 1, 2}, 6, 1},
		"missing":          {[]int{0, 1, 0, 2}, 3, 1},
		"many ranks":       {slices.Repeat([]int{1}, 16384), 256, 64},
		"ranks of threads": {slices.Repeat([]int{4}, 128), 256, 2},
		"many threads":     {[]int{300, 1}, 256, 2},
	} {
		tl := Timeline{}
		rows := tl.arrange(c.streams)
		if len(rows) != c.rows || len(tl.Rows) != c.rows || tl.RanksPerRow != c.bin {
			t.Errorf("%s: %d rows in bins of %d, want %d of %d", name, len(rows), tl.RanksPerRow, c.rows, c.bin)
		}
	}
}

// However many ranks and threads: rows are bounded, and each thread is in one.
func TestArrangeAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		streams := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 600).Draw(t, "streams")
		tl := Timeline{}
		rows := tl.arrange(streams)
		if len(rows) > maxRows {
			t.Fatalf("%d rows", len(rows))
		}
		seen := make([]int, len(streams))
		for i, list := range rows {
			r := tl.Rows[i]
			if len(list) == 0 || r.FirstRank != list[0].rank || r.LastRank != list[len(list)-1].rank {
				t.Fatalf("row %+v of %v", r, list)
			}
			for _, x := range list {
				if seen[x.rank]++; x.rank/tl.RanksPerRow != r.FirstRank/tl.RanksPerRow || x.stream < r.Thread || x.stream > r.Thread && !r.HasFurtherThreads {
					t.Fatalf("row %+v has %+v", r, x)
				}
			}
		}
		if !slices.Equal(seen, streams) {
			t.Fatalf("threads by rank %v, want %v", seen, streams)
		}
	})
}

// Lossy times have their places on a line that is stretched to where blocks end; what functions take are the times themselves, within
// their error.
func TestLossyTimesAreNotStretched(t *testing.T) {
	for _, seed := range []uint64{12, 19, 28, 34} {
		rnd := rand.New(rand.NewPCG(seed, 1))
		short, long, gap := 1000+rnd.Uint64N(1000), 100_000+rnd.Uint64N(100_000), 10+rnd.Uint64N(1000)
		tr := tracktest.Run(0, 1, func(r *tracktest.Recorder) {
			r.Begin()
			for range 50 {
				r.Call("MPI_Barrier", 2, tracktest.World)
				r.Call("MPI_Comm_rank", 3, tracktest.World, 0)
			}
			r.End()
		})
		tracktest.Timed(tr, timing.ModeSZ, func(i int) (uint64, uint64) {
			if i%2 == 1 && i <= 100 {
				return gap, short
			}
			return gap, long
		})
		want := map[string]uint64{"MPI_Barrier": 50 * short, "MPI_Comm_rank": 50 * long}
		d, err := CollectData(mergetest.Open(t, []*track.Track{tr}, nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Timeline.Functions {
			if w := float64(want[f.Name]); w > 0 && math.Abs(f.Ns-w) > 0.101*w {
				t.Errorf("seed %d: %s %.0f ns, want %.0f", seed, f.Name, f.Ns, w)
			}
		}
	}
}
