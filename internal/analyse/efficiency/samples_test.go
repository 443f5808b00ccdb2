package efficiency

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// spreadOf is the spread of ranks' totals, and a part that has no more.
func spreadOf(totals ...uint64) (rankGroup, trace.Spread, []int) {
	var s trace.Spread
	var members []int
	for rank, v := range totals {
		s.Merge(spreadOfOne(v, rank))
		members = append(members, rank)
	}
	p := rankGroup{ranks: len(totals), mean: s.Mean(), deviation: s.Deviation(),
		least: rankNs{float64(s.Min), int(s.MinRank)}, most: rankNs{float64(s.Max), int(s.MaxRank)}}
	return p, s, members
}

func spreadOfOne(v uint64, rank int) trace.Spread {
	var s trace.Stat
	s.Add(v)
	s = s.OfRank(rank)
	return trace.Spread{Ranks: 1, Sum: s.Sum, Min: s.Min, Max: s.Max, MinRank: s.MinRank, MaxRank: s.MaxRank, Squares: s.Squares}
}

func here(int) string { return "h" }

// What follows of ranks' totals from their mean, deviation and extremes.
func TestTotalsOfClasses(t *testing.T) {
	for name, c := range map[string]struct {
		totals []uint64
		each   bool // known to what rounding leaves
		groups [2]int
	}{
		"two ranks":   {[]uint64{100, 300}, true, [2]int{}},
		"three ranks": {[]uint64{100, 400, 300}, true, [2]int{}},
		"two groups":  {[]uint64{1000, 1010, 5000, 1005, 5010, 1000, 5000, 1002}, false, [2]int{5, 3}},
		"one apart":   {[]uint64{1000, 1000, 1000, 1000, 1000, 9000}, false, [2]int{5, 1}},
		"even":        {[]uint64{100, 200, 300, 400, 500, 600, 700, 800}, false, [2]int{}},
		"one mode":    {[]uint64{100, 400, 410, 420, 400, 405, 800, 410}, false, [2]int{}},
		"all equal":   {[]uint64{50, 50, 50, 50}, false, [2]int{}},
	} {
		p, s, members := spreadOf(c.totals...)
		d := combine(p.parts(s, members), here)
		if d.Exact || d.ErrorNs > 0 != c.each || d.ErrorNs > 6 || d.Ranks != len(c.totals) || !near(d.MeanNs, s.Mean()) || !near(d.DeviationNs, s.Deviation()) {
			t.Errorf("%s: %+v of mean %v, deviation %v", name, d, s.Mean(), s.Deviation())
		}
		if uint64(d.Min.Ns) != s.Min || uint64(d.Max.Ns) != s.Max {
			t.Errorf("%s: from %v to %v", name, d.Min, d.Max)
		}
		var got [2]int
		for i, g := range d.Groups {
			got[i] = g.Ranks
			if got[i] > 1 && !g.IsRankCountEstimated {
				t.Errorf("%s: group %+v as if it were known", name, g)
			}
		}
		if got != c.groups {
			t.Errorf("%s: groups %v, want %v", name, d.Groups, c.groups)
		}
	}
}

// Whatever the totals: all ranks are there, and no estimate lies beyond the extremes.
func TestTotalsOfAnyClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s, members := spreadOf(rapid.SliceOfN(rapid.Uint64Max(1<<40), 1, 20).Draw(t, "totals")...)
		n := 0
		for _, x := range p.parts(s, members) {
			n += x.ranks
			if math.IsNaN(x.mean) || x.mean < p.least.ns-1 || x.mean > p.most.ns+1 || x.ranks < 1 {
				t.Fatalf("%+v of %+v", x, p)
			}
		}
		if n != len(members) {
			t.Fatalf("%d ranks of %d", n, len(members))
		}
	})
}

// A histogram whose calls fall into two groups, as at the barrier of UMT2k.
func TestSample(t *testing.T) {
	h := hist.New(5, 0)
	for i := range 90 {
		h.Add(uint64(1000 + i%7))
	}
	other := hist.New(5, 3)
	for i := range 30 {
		other.Add(uint64(50_000 + 10*i))
	}
	h.Merge(other)
	s := sampleOf(h, here)
	if s == nil || s.Calls != 120 || len(s.Groups) != 2 || s.Groups[0].Calls != 90 || s.Groups[1].Calls != 30 {
		t.Fatalf("%+v", s)
	}
	if s.Max.Rank != 3 || s.Min.Rank != 0 || s.Groups[1].Min.Rank != 3 || s.Groups[1].Min.Ns != 50_000 {
		t.Errorf("extremes %+v", s)
	}
	sum := uint64(0)
	for _, n := range s.LogHistogram {
		sum += n
	}
	if sum != 120 || s.LogHistogram[0] != 90 {
		t.Errorf("steps %v", s.LogHistogram)
	}
	// One outlier is no group.
	h = hist.New(5, 0)
	for range 99 {
		h.Add(10)
	}
	h.Add(1000)
	if s := sampleOf(h, here); s.Groups != nil {
		t.Errorf("groups %+v", s.Groups)
	}
	if sampleOf(nil, here) != nil || sampleOf(hist.New(5, 0), here) != nil {
		t.Error("a sample of nothing")
	}
}

// Histograms of a class show with its calls; a trace without has none.
func TestHistograms(t *testing.T) {
	tracks := tracktest.RunAll(4, func(r *tracktest.Recorder) {
		r.Begin()
		r.Allreduce(3, 1)
		r.Allreduce(3, 1)
		r.End()
	})
	for name, with := range map[string]bool{"with": true, "without": false} {
		for rank, tr := range tracks {
			tr.Hists = nil
			if !with {
				continue
			}
			d, g := hist.New(5, int32(rank)), hist.New(5, int32(rank))
			for i := range uint64(2) {
				d.Add(1000 + 2*uint64(rank)*i)
				g.Add(7)
			}
			tr.Hists = []track.Hist{{Terminal: 1, PreviousTerminal: trace.NoPreviousFunctionSite, Duration: d, Gap: g}}
		}
		rep, err := Analyse(mergetest.Open(t, tracks, nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := rep.Calls[0]
		if c.Function != "MPI_Allreduce" || (c.CallDurations != nil) != with || (c.CallGaps != nil) != with {
			t.Fatalf("%s: %+v", name, c)
		}
		if with && (c.CallDurations.Calls != 8 || c.CallDurations.Max.Rank != 3 || c.CallDurations.Max.Ns != 1006) {
			t.Errorf("%s: %+v", name, c.CallDurations)
		}
	}
}
