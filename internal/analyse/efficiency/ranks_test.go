package efficiency

import (
	"fmt"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// late is a program whose even ranks come 30 ms late to each of ten barriers, and all of whose
// ranks spend most of their time in MPI_Waitall.
func late(ranks int) []*track.Track {
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for range 10 {
			r.Isend(3, 100, int64(r.Rank^1), 0)
			r.Irecv(4, 100, int64(r.Rank^1), 0)
			r.Waitall(5, 2)
			r.Call("MPI_Barrier", 6, tracktest.World)
		}
		r.End()
	})
	for _, tr := range tracks {
		for i := range tr.Times {
			calls := tr.Times[i].Duration.Count
			gap, duration := uint64(1000), uint64(2000)
			switch tr.Sites[tr.Signatures[i].Site].Offset {
			case 0x1000 + 12*5:
				duration = 300_000_000
			case 0x1000 + 12*6:
				gap, duration = 30_000_000, 50_000
				if tr.Rank%2 == 1 {
					gap, duration = 40_000, 30_000_000+uint64(tr.Rank)*1000
				}
			}
			tr.Times[i] = track.Times{}
			for range calls {
				tr.Times[i].Gap.Add(gap)
				tr.Times[i].Duration.Add(duration)
			}
		}
	}
	return tracks
}

// Groups of ranks are named though the trace has no times of single calls, and calls that
// complete messages are there as collectives are, by what they cost.
func TestGroupsAtBarrier(t *testing.T) {
	tracks := late(16)
	rep, err := Analyse(mergetest.Open(t, tracks, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range rep.Calls {
		names = append(names, c.Function)
	}
	if len(names) < 2 || names[0] != "MPI_Waitall" || names[1] != "MPI_Barrier" {
		t.Fatalf("calls %v", names)
	}
	if c := rep.Calls[0]; !c.CompletesRequests || !near(c.EstimatedWaitNs, 16*10*300e6) {
		t.Errorf("waited %v", c.EstimatedWaitNs)
	}
	b := rep.Calls[1]
	if b.CompletesRequests || b.EstimatedWaitNs <= 0 || b.EstimatedWaitNs != b.ExcessOverMinNs() {
		t.Errorf("lost %v of %v", b.EstimatedWaitNs, b.ExcessOverMinNs())
	}
	for what, d := range map[string]RankTimeDistribution{"[1 3 5 7 9 11 13 15] [0 2 4 6 8 10 12 14]": b.RankGaps, "[0 2 4 6 8 10 12 14] [1 3 5 7 9 11 13 15]": b.RankDurations} {
		if g := d.Groups; len(g) != 2 || g[0].IsRankCountEstimated || g[1].IsRankCountEstimated || fmt.Sprint(g[0].SomeRanks, g[1].SomeRanks) != what {
			t.Errorf("groups %+v, want %s", g, what)
		}
	}
}

// The table of ranks has what each rank spent, and says of what it does not know that it doesn't.
func TestEachRank(t *testing.T) {
	tracks := late(16)
	list, err := TotalsByRank(mergetest.Open(t, tracks, nil), Options{})
	if err != nil || len(list) != 16 {
		t.Fatal(len(list), err)
	}
	for i, r := range list {
		truth := make(map[string]track.Times)
		var all track.Times
		for k, s := range tracks[i].Signatures {
			x := truth[nameOf(s.FunctionID)]
			for _, to := range []*track.Times{&x, &all} {
				to.Gap.Merge(tracks[i].Times[k].Gap)
				to.Duration.Merge(tracks[i].Times[k].Duration)
			}
			truth[nameOf(s.FunctionID)] = x
		}
		same := func(what string, got RankTime, sum uint64) {
			if math.Abs(got.Ns-float64(sum)) > got.ErrorNs+1 || got.IsOfRank && got.ErrorNs > 0.0102*got.Ns+8 {
				t.Errorf("rank %d, %s: %+v, want %d", i, what, got, sum)
			}
		}
		same("compute", r.Compute, all.Gap.Sum)
		same("in MPI", r.MPI, all.Duration.Sum)
		if r.Rank != i || !r.Compute.IsOfRank || !r.MPI.IsOfRank || r.Sites[0].Function != "MPI_Waitall" || len(r.Sites) != 6 {
			t.Errorf("rank %d: %+v", i, r)
		}
		for _, s := range r.Sites {
			same(s.Function, s.Compute, truth[s.Function].Gap.Sum)
			same(s.Function, s.MPI, truth[s.Function].Duration.Sum)
			if s.Function == "MPI_Barrier" && !(s.Compute.IsOfRank && s.MPI.IsOfRank) {
				t.Errorf("rank %d: barrier %+v", i, s)
			}
		}
	}
}

func nameOf(call uint16) string {
	c, _ := mpi.CallByID(call)
	return c.Name
}
