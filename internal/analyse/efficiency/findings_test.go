package efficiency

import (
	"math"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/trace"
)

// findingsSpread is how a time lies over four ranks, of which the last has most or least.
func findingsSpread(others, last float64) RankTimeDistribution {
	d := RankTimeDistribution{Ranks: 4, MeanNs: (3*others + last) / 4, Exact: true}
	low, high := Extreme{Ns: others, Rank: 0}, Extreme{Ns: last, Rank: 3}
	if last < others {
		low, high = high, low
	}
	d.Min, d.Max = low, high
	return d
}

func report(calls ...CallSite) *Report {
	return &Report{Ranks: 4, TimesKind: "exact", Efficiency: Efficiency{RuntimeNs: 1000}, UsefulTime: findingsSpread(500, 500), Calls: calls}
}

func TestFindings(t *testing.T) {
	wait := CallSite{Function: "MPI_Allreduce", Place: "step f.c:7", IsCollective: true, Count: 40, RankDurations: findingsSpread(200, 8), RankGaps: findingsSpread(300, 500)}
	even := wait
	even.RankGaps = findingsSpread(400, 400)
	send := CallSite{Function: "MPI_Send", Place: "halo f.c:3", Count: 10, RankDurations: findingsSpread(100, 300)}
	busy := CallSite{Function: "MPI_Waitall", Place: "halo f.c:4", CompletesRequests: true, Count: 10, RankDurations: findingsSpread(100, 100)}
	small := CallSite{Function: "MPI_Wait", Place: "f", CompletesRequests: true, Count: 1, RankDurations: findingsSpread(49, 49)}
	lone, loneWait := wait, busy
	lone.IsLocal, loneWait.IsLocal = true, true
	unequal := report()
	unequal.UsefulTime = findingsSpread(400, 800)
	unsure := report()
	unsure.UsefulTime = findingsSpread(400, 800)
	unsure.UsefulTime.ErrorNs = 200
	start := report()
	start.InitTime, start.FinalizeTime = findingsSpread(300, 300), findingsSpread(100, 100)
	recorded := report()
	recorded.InitTime, recorded.FinalizeTime = findingsSpread(398, 398), findingsSpread(2, 2)
	threads := report(busy)
	threads.MaxThreads, threads.ThreadRunNs = 2, 5000
	timeless := report(wait)
	timeless.TimesKind = "none"
	for _, c := range []struct {
		name  string
		rep   *Report
		share float64
		rank  int
		text  string
	}{
		{"a late rank", report(wait), 0.144, 3, "ranks wait in MPI_Allreduce at step f.c:7 for rank 3, which computes 1.4 × as long before it as ranks do on average"},
		{"nobody is late", report(even), 0.144, -1, "ranks wait for each other in MPI_Allreduce at step f.c:7, 152 ns a rank on average"},
		{"a function that does not wait", report(send), 0.15, 3, "ranks are in MPI_Send at halo f.c:3: 10 calls of 60 ns on average, rank 3 2.0 × the mean"},
		{"one that does", report(busy), 0.1, -1, "ranks wait in MPI_Waitall at halo f.c:4: 10 calls of 40 ns on average"},
		{"one that does, in threads", threads, 0.08, -1, "ranks wait in MPI_Waitall at halo f.c:4: 10 calls of 40 ns on average"},
		{"nobody to wait for", report(loneWait), 0.1, -1, "ranks are in MPI_Waitall at halo f.c:4: 10 calls of 40 ns on average"},
		{"a collective call of one", report(lone), 0.152, 0, "ranks are in MPI_Allreduce at step f.c:7: 40 calls of 15.2 ns on average, rank 0 1.3 × the mean"},
		{"more work", unequal, 0.3, 3, "rank 3 computes 1.6 × as long as ranks do on average: 800 ns against 500 ns"},
		{"the start", start, 0.4, -1, "MPI_Init takes 300 ns per rank, MPI_Finalize 100 ns"},
		{"an end that is not known", recorded, 0.4, -1, "MPI_Init takes 398 ns per rank"},
		{"perhaps more work", unsure, 0, 0, ""},
		{"less than a twentieth", report(small), 0, 0, ""},
		{"no times", timeless, 0, 0, ""},
	} {
		got := Findings(c.rep, nil)
		if c.text == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v, want nothing", c.name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Text != c.text || got[0].Rank != c.rank || got[0].Share < c.share-1e-9 || got[0].Share > c.share+1e-9 {
			t.Errorf("%s: %+v, want %.3f: %q of rank %d", c.name, got, c.share, c.text, c.rank)
		}
	}
	many := report(wait, send, busy, even, busy, busy)
	if got := Findings(many, nil); len(got) != most || got[0].Function != "MPI_Send" || !strings.Contains(got[4].Text, "Waitall") {
		t.Errorf("of many: %+v", got)
	}
}

func TestFindingsOfPath(t *testing.T) {
	path := &waits.CriticalPath{LengthNs: 1000, Sites: []waits.PathSite{
		{Function: "MPI_Recv", Place: "a", ComputeNs: 500, MPINs: 10, MeanOverRanksNs: 490, ImbalanceNs: 20, MaxRank: 0},
		{Function: "MPI_Send", Place: "b f.c:9", ComputeNs: 300, MPINs: 20, MeanOverRanksNs: 100, ImbalanceNs: 220, MaxRank: 2},
	}}
	want := "critical path: rank 2 computes 320 ns before MPI_Send at b f.c:9, 220 ns more than the average rank"
	got := Findings(report(), &waits.Report{Path: path})
	if len(got) != 1 || got[0].Text != want || got[0].Rank != 2 || got[0].Share != 0.22 || got[0].EvidenceKind != "path" {
		t.Errorf("%+v, want %q", got, want)
	}
	path.Sites = path.Sites[:1]
	if got := Findings(report(), &waits.Report{Path: path}); len(got) != 0 {
		t.Errorf("%+v of a path that is even", got)
	}
}

// findingsKnown is a report of three ranks that wait for rank 3 at a barrier, and in two kinds for a message that rank 0 sends too late.
func findingsKnown() *waits.Report {
	at := trace.FunctionSite{Function: "MPI_Barrier", Site: trace.Site{Module: "a", Offset: 7}}
	four := func(ns ...int64) (list []waits.RankNs) {
		for i, n := range ns {
			list = append(list, waits.RankNs{Rank: i, WaitNs: n})
		}
		return list
	}
	return &waits.Report{Ranks: 4, ThreadRunNs: 4000, Sites: []waits.Site{
		{
			Function: "MPI_Barrier", Place: "f.c:7", FunctionSite: at, WaitedNs: 800, WaitingRankCount: 4, LateRankCount: 2, Ranks: four(300, 300, 180, 20),
			LateRanks: []waits.RankNs{{Rank: 3, WaitNs: 780}, {Rank: 1, WaitNs: 20}}, Causes: []waits.Cause{{Function: "MPI_Barrier", Place: "f.c:7", WaitedNs: 800, LateComputeNs: 720}},
		},
		{
			Function: "MPI_Wait", Place: "f.c:9", Kind: waits.LateSender, WaitedNs: 300, WaitingRankCount: 1, LateRankCount: 1, Ranks: []waits.RankNs{{Rank: 2, WaitNs: 300}},
			LateRanks: four(300), Causes: []waits.Cause{{Function: "MPI_Send", Place: "f.c:8", WaitedNs: 300, LateComputeNs: 30}},
		},
		{Function: "MPI_Wait", Place: "f.c:9", Kind: waits.WrongOrder, WaitedNs: 100, WaitingRankCount: 1, LateRankCount: 1, LateRanks: four(100)},
		{
			Function: "MPI_Recv", Place: "f.c:5", WaitedNs: 240, WaitingRankCount: 4, LateRankCount: 4, Ranks: four(60, 60, 60, 60), LateRanks: four(60, 60, 60, 60),
			Causes: []waits.Cause{{Function: "MPI_Send", Place: "f.c:4", WaitedNs: 240, LateComputeNs: 60}},
		},
		{Function: "MPI_Recv", Place: "f.c:1", WaitedNs: 199, WaitingRankCount: 4, LateRankCount: 4},
	}}
}

// What is known of waiting stands in place of what sums of times say of the same calls, ranks and places of the path.
func TestFindingsOfWaits(t *testing.T) {
	barrier := CallSite{Function: "MPI_Barrier", Place: "f.c:7", Site: trace.Site{Module: "a", Offset: 7}, IsCollective: true, Count: 40, RankDurations: findingsSpread(200, 8), RankGaps: findingsSpread(300, 500)}
	rep := report(barrier, CallSite{Function: "MPI_Bcast", Place: "f.c:6", IsCollective: true, Count: 40, RankDurations: findingsSpread(200, 8), RankGaps: findingsSpread(300, 300)})
	rep.UsefulTime = findingsSpread(400, 800)
	w := findingsKnown()
	w.Path = &waits.CriticalPath{LengthNs: 500, Sites: []waits.PathSite{{Function: "MPI_Barrier", Place: "f.c:7", ComputeNs: 450, MeanOverRanksNs: 50, ImbalanceNs: 400, MaxRank: 3}}}
	want := []struct {
		share float64
		rank  int
		text  string
	}{
		{0.2, 3, "3 of 4 ranks wait for rank 3 in MPI_Barrier at f.c:7; rank 3 computes 90.0 % of that time; in the whole run it computes 1.6 × the mean"},
		{0.152, 0, "ranks are in MPI_Bcast at f.c:6: 40 calls of 15.2 ns on average, rank 0 1.3 × the mean"},
		{0.1, 0, "rank 2 waits for rank 0 in MPI_Wait at f.c:9; rank 0 is in MPI for 90.0 % of that time, before MPI_Send at f.c:8"},
		{0.06, -1, "4 of 4 ranks wait for each other in MPI_Recv at f.c:5; the late ranks are in MPI for 75.0 % of that time, before MPI_Send at f.c:4"},
	}
	got := Findings(rep, w)
	for i, f := range want {
		if i >= len(got) || got[i].Text != f.text || got[i].Rank != f.rank || math.Abs(got[i].Share-f.share) > 1e-9 {
			t.Fatalf("%d: %+v, want %+v", i, got, f)
		}
	}
	if len(got) != len(want) {
		t.Errorf("more: %+v", got[len(want):])
	}
	w.UnanalysedFunctions = []waits.UnanalysedFunction{{Function: "MPI_Bcast"}}
	if got := Findings(rep, w); got[1].Text != "ranks wait for each other in MPI_Bcast at f.c:6, 152 ns a rank on average" {
		t.Errorf("%+v, want what sums of times say of a function of which waits aren't known", got)
	}
	w.Path.Sites[0].MaxRank = 2 // another rank: the path says something else, here of half of the run
	if got := Findings(rep, w); got[0].EvidenceKind != "path" || got[0].Share != 0.4 {
		t.Errorf("%+v, want the path", got)
	}
}
