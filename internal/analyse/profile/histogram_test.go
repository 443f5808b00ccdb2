package profile

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// siteNames are those of the program below, in the order in which it gets there: function and place.
var siteNames = []string{"MPI_Init", "MPI_Send", "MPI_Allreduce", "MPI_Barrier", "MPI_Finalize"}

// calls is what a rank does, by site: in each round a send and two all-reduces, so that these come
// after each other as well as after a send. Rank 3 makes more rounds, and the barrier at
// another time.
func calls(rank int) []int {
	list, rounds := []int{0}, 40
	if rank == 3 {
		list, rounds = append(list, 3), 50
	}
	for range rounds {
		list = append(list, 1, 2, 2)
	}
	if rank != 3 {
		list = append(list, 3)
	}
	return append(list, 4)
}

func program(r *tracktest.Recorder) {
	for _, site := range calls(r.Rank) {
		switch site {
		case 0:
			r.Begin()
		case 1:
			r.Send(11, 4, 0, 1)
		case 2:
			r.Allreduce(12, 1)
		case 3:
			r.Call("MPI_Barrier", 13, tracktest.World)
		case 4:
			r.End()
		}
	}
}

// times differ between any two calls of any ranks; an all-reduce after a send takes
// much longer than one after another.
func times(rank, i int) (gap, duration uint64) {
	own := uint64(7*i + rank)
	gap, duration = 500+own, 2000+own
	if list := calls(rank); list[i] == 2 && list[i-1] == 1 {
		gap, duration = 90_000+3*own, 400_000+own*own
	}
	return gap, duration
}

// A truth is the times of some calls, with their ranks.
type truth []struct {
	ns   uint64
	rank int
}

func (t truth) within(least, most uint64) truth {
	return slices.DeleteFunc(slices.Clone(t), func(x struct {
		ns   uint64
		rank int
	}) bool {
		return x.ns < least || x.ns > most
	})
}

// bin works everything out anew, the deviation in a second round.
func (t truth) bin() (b HistogramBin) {
	b.MinNs = math.MaxUint64
	for _, x := range t {
		if x.ns < b.MinNs {
			b.MinNs, b.MinRank = x.ns, x.rank
		}
		if b.Count == 0 || x.ns > b.MaxNs {
			b.MaxNs, b.MaxRank = x.ns, x.rank
		}
		b.Count++
		b.MeanNs += float64(x.ns)
	}
	b.MeanNs /= float64(b.Count)
	for _, x := range t {
		b.DeviationNs += (float64(x.ns) - b.MeanNs) * (float64(x.ns) - b.MeanNs)
	}
	b.DeviationNs = math.Sqrt(b.DeviationNs / float64(b.Count))
	return b
}

func near(a, b, off float64) bool { return math.Abs(a-b) <= off*math.Abs(b)+1e-6 }

// like holds bins against each other; means and deviations may be off by a share.
func like(a, b HistogramBin, mean, deviation float64) bool {
	return a.Count == b.Count && a.MinNs == b.MinNs && a.MaxNs == b.MaxNs && a.MinRank == b.MinRank && a.MaxRank == b.MaxRank &&
		near(a.MeanNs, b.MeanNs, mean) && near(a.DeviationNs, b.DeviationNs, deviation)
}

// check holds a spread against all times that are in it.
func (t truth) check(tb testing.TB, name string, s *Histogram, exact bool) {
	tb.Helper()
	mean, deviation := 1e-3, 0.25
	if exact {
		mean, deviation = 1e-9, 1e-6
	}
	if all := t.bin(); !like(s.HistogramBin, all, mean, deviation) {
		tb.Errorf("%s: %+v, want %+v", name, s.HistogramBin, all)
	}
	sum := uint64(0)
	for i, b := range s.Bins {
		sum += b.Count
		inside := t.within(b.MinNs, b.MaxNs)
		// Of recorded histograms bins were cut where half of their calls were thought to be.
		if upto := len(t.within(0, b.MaxNs)); exact && upto != int(sum) || math.Abs(float64(upto)-float64(sum)) > 0.1*float64(len(t)) {
			tb.Errorf("%s: %d calls up to %d, want %d", name, sum, b.MaxNs, upto)
		}
		if i > 0 && b.MinNs <= s.Bins[i-1].MaxNs {
			tb.Errorf("%s: bins %+v and %+v", name, s.Bins[i-1], b)
		}
		if exact && (len(inside) == 0 || !like(b, inside.bin(), mean, deviation)) {
			tb.Errorf("%s: bin %+v, want %+v", name, b, inside.bin())
		}
	}
	if sum != uint64(len(t)) || len(s.Bins) > MaxHistogramBins || len(t) > 10 && len(s.Bins) < 4 {
		tb.Errorf("%s: %d calls in %d bins, want %d", name, sum, len(s.Bins), len(t))
	}
	if n := len(s.Bins); s.Bins[0].MinNs != s.MinNs || s.Bins[n-1].MaxNs != s.MaxNs ||
		s.Bins[0].MinRank != s.MinRank || s.Bins[n-1].MaxRank != s.MaxRank {
		tb.Errorf("%s: bins from %+v to %+v of %+v", name, s.Bins[0], s.Bins[n-1], s.HistogramBin)
	}
}

// open has a trace of four virtual ranks in a timing mode.
func open(t testing.TB, mode timing.Mode) *trace.Reader {
	tracks := tracktest.RunAll(4, program)
	for rank, tr := range tracks {
		tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) { return times(rank, i) })
	}
	return mergetest.Open(t, tracks, nil)
}

// truths are the times of calls by site, of those after a site (or anywhere), of some ranks.
func truths(site, from int, ranks ...int) (gaps, durations truth) {
	for _, rank := range ranks {
		before := start
		for i, at := range calls(rank) {
			if at == site && (from == anywhere || from == before) {
				gap, duration := times(rank, i)
				gaps = append(gaps, truth{{gap, rank}}...)
				durations = append(durations, truth{{duration, rank}}...)
			}
			before = at
		}
	}
	return gaps, durations
}

// Histograms by call site, and by what came before, say what the calls' times were.
func TestSpreads(t *testing.T) {
	all := []int{0, 1, 2, 3}
	for _, c := range []struct {
		mode   timing.Mode
		paths  bool
		rank   int
		kind   string
		single []int // of a rank, or all
	}{
		{timing.ModeHist, false, -1, "histogram", all},
		{timing.ModeHist, true, -1, "histogram", all},
		{timing.ModeLossless, false, -1, "exact", all},
		{timing.ModeLossless, true, -1, "exact", all},
		{timing.ModeLossless, true, 2, "exact", []int{2}},
		{timing.ModeHist, false, 1, "histogram", []int{0, 1, 2}}, // its class
		{timing.ModeHist, false, 3, "histogram", []int{3}},
	} {
		rep, err := HistogramsOf(open(t, c.mode), HistogramOptions{OnlyRank: c.rank, ByPrecedingCall: c.paths})
		if err != nil {
			t.Fatal(c.mode, err)
		}
		if rep.TimesKind != c.kind || !slices.Equal(rep.Ranks, c.single) || len(rep.Sites) != len(siteNames) {
			t.Fatalf("%+v: %s, ranks %v, %d sites", c, rep.TimesKind, rep.Ranks, len(rep.Sites))
		}
		if rep.Sites[0].Function != "MPI_Allreduce" {
			t.Errorf("%s: most time in %s", c.mode, rep.Sites[0].Function)
		}
		for i := range rep.Sites {
			s := &rep.Sites[i]
			if s.Function != siteNames[s.Number-1] {
				t.Fatalf("%s: site %d is %s", c.mode, s.Number, s.Function)
			}
			gaps, durations := truths(s.Number-1, anywhere, c.single...)
			exact := c.kind == "exact"
			durations.check(t, string(c.mode)+" "+s.Function, &s.Duration, exact)
			gaps.check(t, string(c.mode)+" gaps of "+s.Function, &s.Gap, exact)
			apart := 0
			for j := range s.CallsAfterEach {
				a := &s.CallsAfterEach[j]
				gaps, durations := truths(s.Number-1, a.PrecedingSiteNumber-1, c.single...)
				if a.PrecedingSiteNumber > 0 && a.PrecedingFunction != siteNames[a.PrecedingSiteNumber-1] {
					t.Errorf("%s: %+v", c.mode, a)
				}
				durations.check(t, string(c.mode)+" "+s.Function+" after "+a.PrecedingFunction, &a.Duration, exact)
				gaps.check(t, string(c.mode)+" gaps of "+s.Function+" after "+a.PrecedingFunction, &a.Gap, exact)
				apart += len(durations)
			}
			if want := c.paths; want && apart != len(durations) || !want && apart > 0 {
				t.Errorf("%+v: %s: %d calls of %d by what came before", c, s.Function, apart, len(durations))
			}
		}
	}
}

// What isn't wanted isn't there, and what a trace doesn't have is an error.
func TestOptions(t *testing.T) {
	rep, err := HistogramsOf(open(t, timing.ModeLossless), HistogramOptions{OnlyRank: -1, ByPrecedingCall: true, Wanted: func(s *HistogramSite) bool { return s.Number == 2 }})
	if err != nil || len(rep.Sites) != 1 || rep.Sites[0].Function != "MPI_Send" || len(rep.Sites[0].CallsAfterEach) != 3 {
		t.Errorf("%v of %+v", err, rep)
	}
	if _, err := HistogramsOf(open(t, timing.ModeStats), HistogramOptions{OnlyRank: -1}); !errors.Is(err, ErrNoHistograms) {
		t.Errorf("of statistics: %v", err)
	}
}

// Whatever the times, the tally's bins are exact.
func TestTally(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var tl tally
		var all truth
		for rank := range 3 {
			for _, bits := range rapid.SliceOfN(rapid.IntRange(0, 50), 1, 40).Draw(rt, "bits") {
				ns := rapid.Uint64Range(0, 1<<bits).Draw(rt, "ns")
				tl.add(ns, int32(rank))
				all = append(all, truth{{ns, rank}}...)
			}
		}
		s := tl.spread()
		sum := uint64(0)
		for i, b := range s.Bins {
			sum += b.Count
			in := all.within(b.MinNs, b.MaxNs)
			if len(in) == 0 || !like(b, in.bin(), 1e-9, 1e-6) || i > 0 && b.MinNs <= s.Bins[i-1].MaxNs {
				rt.Fatalf("bin %+v of %v", b, in)
			}
		}
		if sum != uint64(len(all)) || !like(s.HistogramBin, all.bin(), 1e-9, 1e-6) || len(s.Bins) > MaxHistogramBins {
			rt.Fatalf("%+v of %v", s, all)
		}
	})
}

// Steps are in order and touch, whatever times come, and bins of them are many.
func TestSteps(t *testing.T) {
	for fine := coarsest; fine <= finest; fine++ {
		x := tally{fine: fine}
		for _, at := range []uint64{1, 7, 8, 9, 15, 16, 17, 1000, 1023, 1024, 1 << 32, 1<<32 - 1, 1 << 40, 1<<40 - 1, math.MaxUint64} {
			if d := x.step(at) - x.step(at-1); d != 0 && d != 1 {
				t.Errorf("steps of %d and the one before are %d apart", at, d)
			}
		}
	}
	for name, step := range map[string]func(i uint64) uint64{
		"close": func(i uint64) uint64 { return 1<<40 + i }, "even": func(i uint64) uint64 { return 1000 * i },
		"far": func(i uint64) uint64 { return 1 << (i % 64) }, "down": func(i uint64) uint64 { return 1 << 50 / (i + 1) },
	} {
		x := &newTallies().gap
		for i := range uint64(1000) {
			x.add(step(i), 0)
		}
		if s := x.spread(); len(x.steps) > mostStep || len(s.Bins) < MaxHistogramBins/2 {
			t.Errorf("%s: %d steps, %d bins", name, len(x.steps), len(s.Bins))
		}
	}
}
