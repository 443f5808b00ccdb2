package efficiency

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// TestOtherSite: rank 0 comes late to two barriers of all, each from a call site of its own. Each barrier is one call of all ranks,
// and what the others waited for is in it. A third is that of a communicator which only half of the ranks have.
func TestOtherSite(t *testing.T) {
	for _, ranks := range []int{4, 16, 1024} {
		tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
			const own = trace.FirstCreatedHandle
			r.Begin()
			r.Call("MPI_Comm_split", 3, tracktest.World, int64(r.Rank%2), 0, own, 0, int64(r.Rank%2), int64(r.Rank/2), int64(r.Size/2), -1, 0, 0)
			at := func(site int) int {
				if r.Rank == 0 {
					return site + 10
				}
				return site
			}
			for range 10 {
				r.Call("MPI_Barrier", at(4), tracktest.World)
				if r.Rank%2 == 1 {
					r.Call("MPI_Barrier", 6, own)
				}
				r.Call("MPI_Barrier", at(5), tracktest.World)
			}
			r.End()
		})
		for rank, tr := range tracks {
			for i := range tr.Times {
				n := tr.Times[i].Duration.Count
				tr.Times[i].Duration = trace.Stat{}
				for range n {
					if rank == 0 {
						tr.Times[i].Duration.Add(1000)
					} else {
						tr.Times[i].Duration.Add(50_000)
					}
				}
			}
		}
		rep, err := Analyse(mergetest.Open(t, tracks, nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var barriers []CallSite
		for _, c := range rep.Calls {
			if c.Function == "MPI_Barrier" {
				barriers = append(barriers, c)
			}
		}
		if len(barriers) != 3 {
			t.Fatalf("%d ranks: %+v", ranks, barriers)
		}
		for _, c := range barriers[:2] {
			want := 490_000 * float64(ranks-1)
			if c.RankDurations.Ranks != ranks || c.Count != uint64(10*ranks) || c.ExcessOverMinNs() < 0.97*want || c.ExcessOverMinNs() > 1.03*want || len(c.OtherPlaces) != 1 {
				t.Errorf("%d ranks: %+v, lost %.0f of %.0f", ranks, c, c.ExcessOverMinNs(), want)
			}
		}
		if !slices.Equal([]int{barriers[2].RankDurations.Ranks, len(barriers[2].OtherPlaces)}, []int{ranks / 2, 0}) {
			t.Errorf("%d ranks: %+v", ranks, barriers[2])
		}
	}
}
