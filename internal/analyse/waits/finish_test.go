package waits_test

import (
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// near reports whether times are the same within what a trace keeps.
func near(a, b int64) bool { return math.Abs(float64(a-b)) <= 2+0.012*float64(max(a, b)) }

// keptAs compares what a trace keeps of the end of a run with the report of all its times.
func keptAs(t interface {
	Helper()
	Errorf(string, ...any)
}, want, got *waits.Report) {
	t.Helper()
	if want.Messages != got.Messages || want.BackwardMessages != got.BackwardMessages || want.MaxThreads != got.MaxThreads || !near(want.ClockErrorNs, got.ClockErrorNs) ||
		!near(want.ThreadRunNs, got.ThreadRunNs) || !near(want.MPINs, got.MPINs) || !near(want.WaitedNs, got.WaitedNs) || len(want.Sites) < len(got.Sites) {
		t.Errorf("want %+v\ngot %+v", want, got)
		return
	}
	kind := func(list []waits.KindSum) map[waits.Kind]uint64 {
		m := make(map[waits.Kind]uint64)
		for _, k := range list {
			m[k.Kind] = k.Count
		}
		return m
	}
	if d := cmp.Diff(kind(want.Kinds), kind(got.Kinds)); d != "" {
		t.Errorf("calls by kind: %s", d)
	}
	for i, w := range want.Sites {
		if i >= len(got.Sites) {
			if w.WaitedNs*1000 > want.ThreadRunNs {
				t.Errorf("left out: %+v", w)
			}
			continue
		}
		g := got.Sites[i]
		if w.Function != g.Function || w.Place != g.Place || w.Kind != g.Kind || w.WaitCount != g.WaitCount || w.WaitingRankCount != g.WaitingRankCount || w.LateRankCount != g.LateRankCount || !near(w.WaitedNs, g.WaitedNs) {
			t.Errorf("want %+v\ngot %+v", w, g)
			continue
		}
		for j, c := range g.Causes {
			if x := w.Causes[j]; math.Abs(float64(x.WaitedNs-c.WaitedNs)) > 2+0.02*float64(w.WaitedNs) {
				t.Errorf("cause: want %+v, got %+v", x, c)
			}
		}
		for j, r := range g.LateRanks {
			if x := w.LateRanks[j]; math.Abs(float64(x.WaitNs-r.WaitNs)) > 2+0.02*float64(w.WaitedNs) {
				t.Errorf("late: want %+v, got %+v", w.LateRanks, g.LateRanks)
			}
		}
	}
	for i, w := range want.ByRank {
		if g := got.ByRank[i]; w.Rank != g.Rank || !near(w.ThreadRunNs, g.ThreadRunNs) || !near(w.MPINs, g.MPINs) || !near(w.WaitedNs, g.WaitedNs) || !near(w.CausedWaitNs, g.CausedWaitNs) {
			t.Errorf("rank: want %+v, got %+v", w, g)
		}
	}
	p, q := want.Path, got.Path
	if p == nil || q == nil || !near(p.LengthNs, q.LengthNs) || p.Hops != q.Hops || p.EndRank != q.EndRank || !near(p.OutsideMPINs, q.OutsideMPINs) {
		t.Errorf("path: want %+v, got %+v", p, q)
		return
	}
	for _, s := range q.Sites {
		w := p.Sites[slices.IndexFunc(p.Sites, func(w waits.PathSite) bool { return w.Function == s.Function })]
		if !near(w.ComputeNs+w.MPINs, s.ComputeNs+s.MPINs) || !near(w.MeanOverRanksNs, s.MeanOverRanksNs) {
			t.Errorf("path: want %+v, got %+v", w, s)
		}
	}
}

// opened reads a file whole.
func opened(t mergetest.TB, name string) *trace.Reader {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.ReadBytes(b, name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What ranks find out at the end of a run is what is found in a trace with all their times.
func TestEndOfRun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.spoor")
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.OneOf(rapid.IntRange(2, 4), rapid.IntRange(waits.Everybody+1, 2*waits.Everybody)).Draw(rt, "ranks")
		list := drawn(rt, ranks)
		tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
			r.Begin()
			for i := range list[r.Rank] {
				list[r.Rank][i].record(r)
			}
		})
		logs := make([]*track.TimeLog, ranks)
		for rank, tr := range tracks {
			times := make([][2]uint64, len(list[rank])+1)
			for i := range times {
				times[i] = [2]uint64{rapid.Uint64Range(0, 60).Draw(rt, "gap"), rapid.Uint64Range(1, 90).Draw(rt, "took")}
			}
			tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return times[i][0], times[i][1] })
			logs[rank] = tr.TimeLog
		}
		want, err := waits.Analyse(mergetest.Open(t, tracks, nil), waits.Options{WithPath: true})
		if err != nil {
			rt.Fatal(err)
		}
		for _, tr := range tracks {
			tr.TimeLog = nil
		}
		if err := os.WriteFile(name, mergetest.File(t, tracks, nil), 0o600); err != nil {
			rt.Fatal(err)
		}
		kept, err := waits.AllAt(opened(rt, name), logs, true)
		if err != nil {
			rt.Fatal(err)
		}
		if err := trace.AddWaits(name, kept); err != nil {
			rt.Fatal(err)
		}
		got, err := waits.FromTrace(opened(rt, name), func(string, trace.Site) string { return "" })
		if err != nil {
			rt.Fatal(err)
		}
		for i := range want.Sites {
			want.Sites[i].Place = ""
		}
		keptAs(rt, want, got)
	})
}

// Of ranks that have no longer the times of their first calls the rest is looked at, from when all have some.
func TestLastPart(t *testing.T) {
	const rounds, gone, wait, short = 10, 4, 300e6, 10e6
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		for range rounds {
			if r.Rank == 0 {
				r.Send(4, 4, 1, 7)
			} else {
				r.Recv(5, 4, 0, 7)
			}
		}
	})
	logs := make([]*track.TimeLog, 2)
	for rank, tr := range tracks {
		entry := func(i int) timing.CallTicks { // the receive begins first, and ends with the send
			if rank == 0 {
				return timing.CallTicks{Gap: wait + short, Duration: 4 * short}
			}
			return timing.CallTicks{Gap: short, Duration: wait + 4*short}
		}
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return entry(i).Gap, entry(i).Duration })
		skip := gone - 2*rank // ranks have given up different numbers of calls
		logs[rank] = &track.TimeLog{TicksPerNs: 1, StartNs: tr.Process.StartNs, DroppedTimes: []track.DroppedTimes{{Calls: uint64(skip), LastEndTick: int64(skip) * (wait + 5*short)}}}
		logs[rank].Streams = []iter.Seq2[[]timing.CallTicks, error]{func(yield func([]timing.CallTicks, error) bool) {
			for i := skip; i < rounds; i++ {
				if !yield([]timing.CallTicks{entry(i)}, nil) {
					return
				}
			}
		}}
		tr.TimeLog = nil
	}
	w, err := waits.AllAt(mergetest.Open(t, tracks, nil), logs, true)
	if err != nil {
		t.Fatal(err)
	}
	// The sender's first send with a time begins after the receive of that round.
	if len(w.Sites) != 1 || w.Sites[0].Count != rounds-gone-1 || !near(w.Sites[0].WaitedNs, (rounds-gone-1)*wait) || w.AnalysedShare < 0.5 || w.AnalysedShare > 0.7 {
		t.Errorf("%+v", w)
	}
}

// Of a long trace with all times the answer is what the ranks found, unless each call is asked for.
func TestSoon(t *testing.T) {
	const ranks = 3
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for range 20 {
			r.Allreduce(4, 1)
		}
		r.End()
	})
	logs := make([]*track.TimeLog, ranks)
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return uint64(10 * rank), uint64(100 - 10*rank) })
		logs[rank] = tr.TimeLog
	}
	name := filepath.Join(t.TempDir(), "app.spoor")
	if err := os.WriteFile(name, mergetest.File(t, tracks, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := waits.AllAt(opened(t, name), logs, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.AddWaits(name, found); err != nil {
		t.Fatal(err)
	}
	defer waits.Many(10)()
	called := func(string, trace.Site) string { return "" }
	for _, each := range []bool{false, true} {
		rep, kept, err := waits.AnalyseOrUseStored(opened(t, name), waits.Options{NameSite: called}, each)
		if err != nil || kept == each || rep.WaitedNs == 0 || (rep.TimesKind == "exact") != each {
			t.Errorf("each %t: %v, %t, %+v", each, err, kept, rep)
		}
	}
	waits.Many(1000)
	if _, kept, err := waits.AnalyseOrUseStored(opened(t, name), waits.Options{NameSite: called}, false); err != nil || kept {
		t.Errorf("few calls: %t, %v", kept, err)
	}
}
