package waits_test

import (
	"math"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Threads wait side by side: of two ranks with two threads, each of which waits for the greater part of the run, both
// together wait for no more than their threads were there, and no share is more than the whole.
func TestThreadsTogether(t *testing.T) {
	const run, late = 10_000, 9000
	var tracks []*track.Track
	for rank := range int64(2) {
		w := trackwriter.NewWriter(int(rank), 0)
		defer w.Close()
		call := func(thread int, name string, site uint64, start, end uint64, vals ...int64) {
			def, ok := mpi.CallNamed(name)
			if !ok {
				t.Fatal(name)
			}
			n, err := w.AddCall(thread, def.ID, site, append([]int64{0}, vals...))
			if err != nil {
				t.Fatal(err)
			}
			w.SetLastCallTimes(thread, n, start, end)
		}
		const bytes = 2
		for thread := range 2 {
			tag, from := int64(thread), uint64(100+thread)
			if rank == 0 {
				call(thread, "MPI_Recv", 20, from, run, 1, 0, 4, bytes, 1, tag, tracktest.World, 1, 1, tag, 4, 0)
			} else {
				call(thread, "MPI_Send", 10, from+late, run, 1, 0, 4, bytes, 0, tag, tracktest.World)
			}
		}
		tr, err := w.Finish(timing.Options{Mode: timing.ModeLossless})
		if err != nil {
			t.Fatal(err)
		}
		tr.Process = track.Process{SpanNs: run - 100, EndState: "MPI_Finalize"}
		tracks = append(tracks, tr)
	}
	r := mergetest.Open(t, tracks, nil)
	rep, err := waits.Analyse(r, waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Kinds) != 1 || rep.Kinds[0].Kind != waits.LateSender {
		t.Errorf("%v: what another thread received says nothing of the order", rep.Kinds)
	}
	if rep.MaxThreads != 2 || rep.WaitedNs != 2*late {
		t.Errorf("%d threads wait for %d, want 2 and %d", rep.MaxThreads, rep.WaitedNs, 2*late)
	}
	if want := int64(2*(run-100) - 1 + 2*(run-100-late) - 1); rep.ThreadRunNs != want {
		t.Errorf("all threads were there for %d, want %d", rep.ThreadRunNs, want)
	}
	all, err := efficiency.Analyse(r, efficiency.Options{AllFunctions: true})
	if err != nil {
		t.Fatal(err)
	}
	flat, err := profile.CallSiteTableOf(r, sites.NamingByAddress(func(string, trace.Site) symbolise.Place { return symbolise.Place{} }), nil)
	if err != nil {
		t.Fatal(err)
	}
	near := func(got int64, want float64) bool { return math.Abs(float64(got)-want) <= want/100 }
	if of := flat.RankRows[0]; !near(of.ThreadTimeNs, 2*(run-100)) || of.MPINs > of.ThreadTimeNs || !near(flat.TotalSpanNs, 2*(run-100)) || !near(flat.ThreadTimeNs, all.ThreadRunNs) {
		t.Errorf("of the profile: rank 0 %+v, all %d of threads, %d of ranks; want %v", of, flat.ThreadTimeNs, flat.TotalSpanNs, all.ThreadRunNs)
	}
	received := float64(2*(run-100) - 1)
	if whole := 2 * float64(all.Efficiency.RuntimeNs); all.ThreadRunNs < 1.2*whole {
		t.Errorf("threads were there for %v, ranks for %v", all.ThreadRunNs, whole)
	}
	list := efficiency.Findings(all, nil)
	if i := slices.IndexFunc(list, func(f efficiency.Finding) bool { return f.Function == "MPI_Recv" }); i < 0 || math.Abs(list[i].Share-received/all.ThreadRunNs) > 1e-9 {
		t.Errorf("%+v, want %v of %v", list, received, all.ThreadRunNs)
	}
}
