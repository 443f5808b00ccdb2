package reissue

import (
	"fmt"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// phases is a program whose calls all look alike: a warm-up, a main loop and a loop with
// another gap at its entry. Ranks compute unequally, and every tenth round of the main
// loop is long. It returns which part each call is of and the gap before it.
func phases(r *tracktest.Recorder, unequal uint64) (names []string, gaps []uint64) {
	slow := 1 + unequal*uint64(r.Rank%3)
	call := func(name string, gap uint64) {
		r.Allreduce(3, 1)
		names, gaps = append(names, name), append(gaps, gap*slow)
	}
	fence := func(site int) {
		r.Call("MPI_Barrier", site, tracktest.World)
		names, gaps = append(names, ""), append(gaps, 0)
	}
	r.Begin()
	names, gaps = append(names, ""), append(gaps, 0)
	for i := range 50 {
		call("warm-up", 80_000+uint64(i%5)*100)
		fence(4)
	}
	fence(5)
	for i := range 1000 {
		gap := uint64(2_000)
		if i%10 == 3 {
			gap = 30_000
		}
		call("main", gap)
		fence(4)
	}
	fence(6)
	for range 40 {
		call("entry", 400_000)
		for range 11 {
			call("round", 5_000)
		}
		fence(7)
	}
	r.End()
	return append(names, ""), append(gaps, 0)
}

const ranks = 6

// recorded is a trace of phases, and which part each call is of, and the gaps by rank.
func recorded(t *testing.T, mode timing.Mode, unequal uint64) (r *trace.Reader, names []string, gaps [ranks][]uint64) {
	t.Helper()
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) { names, gaps[r.Rank] = phases(r, unequal) })
	for rank, tr := range tracks {
		tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) { return gaps[rank][i], 1500 })
	}
	return mergetest.Open(t, tracks, nil), names, gaps
}

func sums(names []string, gap func(i int) float64) map[string]float64 {
	m := make(map[string]float64)
	for i, name := range names {
		m[name] += gap(i)
	}
	return m
}

// What a rank computes in each part of the program, and in sum, is what it computed there.
func TestPlacesOfRanks(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist, timing.ModeLossless} {
		r, names, truth := recorded(t, mode, 2)
		for rank := range ranks {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			want := sums(names, func(i int) float64 { return float64(truth[rank][i]) })
			leaves := k.Leaves(0)
			list, own, err := LeafGapsOf(r, k, leaves)
			if err != nil || own != (mode == timing.ModeLossless) {
				t.Fatalf("%s: %v, own %v", mode, err, own)
			}
			var each []float64
			for leaf, enters := range leaves.Visits(k) {
				if enters && list[leaf].Entries > 0 {
					each = append(each, list[leaf].MeanEntryGapNs)
				} else {
					each = append(each, list[leaf].MeanGapNs)
				}
			}
			same(t, fmt.Sprintf("%s, rank %d", mode, rank), sums(names, func(i int) float64 { return each[i] }), want, 0.02)
			line, err := NewCallTimeEstimator(r, k, 0)
			if err != nil || (line == nil) != own {
				t.Fatalf("%s: %v, %v", mode, err, line)
			}
			if own {
				continue
			}
			var drawn []float64
			var span int64
			at := int64(math.MinInt64)
			for c, err := range k.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				x := trace.TimedCall{Call: c}
				line.SetNextTimes(&x)
				drawn = append(drawn, float64(x.Timing.Gap.Ns))
				if x.StartNs < at {
					t.Fatalf("%s: call %d begins at %d, the one before ended at %d", mode, c.Index, x.StartNs, at)
				}
				at = line.LastCallEndNs()
			}
			for _, gap := range truth[rank] {
				span += int64(gap) + 1500
			}
			if start, _ := k.StartNs(); math.Abs(float64(at-start-span)) > 0.002*float64(span) {
				t.Errorf("%s, rank %d: the line ends after %d ns, not %d", mode, rank, at-start, span)
			}
			same(t, fmt.Sprintf("%s, rank %d, drawn", mode, rank), sums(names, func(i int) float64 { return drawn[i] }), want, 0.02)
		}
	}
}

// Where ranks are alike, gaps have the shape that the histograms have.
func TestShape(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeHist} {
		r, names, _ := recorded(t, mode, 0)
		k, err := r.Rank(1)
		if err != nil {
			t.Fatal(err)
		}
		line, err := NewCallTimeEstimator(r, k, 0)
		if err != nil {
			t.Fatal(err)
		}
		long := 0
		for c := range k.Calls(0) {
			x := trace.TimedCall{Call: c}
			line.SetNextTimes(&x)
			if names[c.Index] == "main" && x.Timing.Gap.Ns > 15_000 {
				long++
			}
		}
		if long < 30 || long > 170 { // five bins have much else to tell apart
			t.Errorf("%s: %d of 1000 gaps are long, want about 100", mode, long)
		}
	}
}

// Ranks that compute as much as others in sum, but before other calls.
func TestUnequalSites(t *testing.T) {
	tracks := tracktest.RunAll(4, func(r *tracktest.Recorder) {
		r.Begin()
		for range 100 {
			r.Allreduce(3, 1)
			r.Call("MPI_Barrier", 4, tracktest.World)
		}
		r.End()
	})
	want := func(rank, site int) uint64 { return uint64(1000 * (1 + 3*((rank+site)%2))) }
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeStats, func(i int) (gap, duration uint64) {
			if i == 0 || i == 201 {
				return 0, 100
			}
			return want(rank, (i-1)%2), 100
		})
	}
	r := mergetest.Open(t, tracks, nil)
	for rank := range 4 {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		leaves := k.Leaves(0)
		list, _, err := LeafGapsOf(r, k, leaves)
		if err != nil {
			t.Fatal(err)
		}
		for leaf := range list {
			c, err := k.Terminal(leaves.Terminal(leaf))
			if err != nil {
				t.Fatal(err)
			}
			site := map[string]int{"MPI_Allreduce": 0, "MPI_Barrier": 1}
			at, ok := site[c.Name()]
			if ns := float64(want(rank, at)); ok && math.Abs(list[leaf].MeanGapNs/ns-1) > 0.02 {
				t.Errorf("rank %d, %s: %.0f ns, want %.0f", rank, c.Name(), list[leaf].MeanGapNs, ns)
			}
		}
	}
}

func same(t *testing.T, what string, got, want map[string]float64, within float64) {
	t.Helper()
	var all, sum float64
	for _, ns := range want {
		all += ns
	}
	for name, ns := range want {
		// Of all time, a recorder may keep a thousandth or two at a wrong place.
		if math.Abs(got[name]-ns) > within*ns+all/500 {
			t.Errorf("%s: %s comes to %.0f, want %.0f", what, name, got[name], ns)
		}
		sum += got[name]
	}
	if math.Abs(sum-all) > within*all {
		t.Errorf("%s: in sum %.0f, want %.0f", what, sum, all)
	}
}

func TestFactor(t *testing.T) {
	for _, x := range []struct{ known, off, sum, alike, want float64 }{
		{600, 0, 300, 2, 2},
		{600, 0, 1200, 2, 0.5},
		{600, 10, 595, 2, 1}, // within what the number may be off
		{600, 10, 300, 2, 590. / 300},
		{10, 50, 300, 2, 0.2}, // no more is known than that it is little
		{600, 0, 0, 2, 1},
		{601, 0, 200, 2, 1}, // more than all ranks together
	} {
		if got := gapFactor(x.known, x.off, x.sum, x.alike); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%+v: %g", x, got)
		}
	}
}
