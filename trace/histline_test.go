package trace_test

import (
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// What is drawn from histograms comes to what the calls of a part took, in modes with and
// without the call before, is the same wherever reading begins, and fits one behind the other.
func TestDrawnTimes(t *testing.T) {
	const ranks = 3
	var parts []string
	var times [][2]uint64 // gap and duration, of rank 0
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		parts, times = nil, nil
		call := func(part string, gap, duration uint64) {
			r.Allreduce(3, 1)
			parts, times = append(parts, part), append(times, [2]uint64{gap, duration})
		}
		fence := func(site int) {
			r.Call("MPI_Barrier", site, tracktest.World)
			parts, times = append(parts, "fence"), append(times, [2]uint64{200, 300})
		}
		r.Begin()
		parts, times = append(parts, "start"), append(times, [2]uint64{0, 900_000})
		call("once", 400_000, 90_000)
		fence(4)
		for i := range 1500 {
			call("loop", 2_000+uint64(i%7)*100, 700)
		}
		fence(5)
		for i := range 40 {
			call("entry", 100_000, 20_000+uint64(i)*10)
			for range 9 {
				call("round", 5_000, 1_000)
			}
			fence(6)
		}
		// A loop that is entered after a call from the same place, through another function.
		for range 40 {
			r.From(8)
			call("before", 100_000, 3_000)
			r.From(9)
			call("inner", 60_000, 1_000)
			for range 6 {
				call("inner", 5_000, 1_000)
			}
			r.From(0)
			fence(7)
		}
		r.End()
		parts, times = append(parts, "end"), append(times, [2]uint64{100, 100})
	})
	for _, mode := range []timing.Mode{timing.ModeHist} {
		for rank, tr := range tracks {
			tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) {
				return times[i][0] * uint64(rank+2) / 3, times[i][1]
			})
		}
		r := mergetest.Open(t, tracks, nil)
		want, got := make(map[string][2]float64), make(map[string][2]float64)
		for rank := range ranks {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			var drawn []trace.Timing
			for c, err := range k.TimedCalls(0) {
				if err != nil {
					t.Fatal(err)
				}
				name := parts[c.Index]
				if name == "round" || name == "entry" { // one place, which a histogram can't take apart
					name = "nested"
				}
				drawn = append(drawn, c.Timing)
				x, w := got[name], want[name]
				got[name] = [2]float64{x[0] + float64(c.Timing.Gap.Ns), x[1] + float64(c.Timing.Duration.Ns)}
				want[name] = [2]float64{w[0] + float64(times[c.Index][0])*float64(rank+2)/3, w[1] + float64(times[c.Index][1])}
				if c.Timing.Gap.Kind != trace.HistogramSample {
					t.Fatalf("%s: %+v", mode, c.Timing)
				}
			}
			for from := uint64(0); from < k.CallCount(0); from += 97 {
				n := from
				for c, err := range k.TimedCallsFrom(0, from) {
					if err != nil {
						t.Fatal(err)
					}
					if c.Timing != drawn[c.Index] {
						t.Fatalf("%s: from %d on call %d has %+v, else %+v", mode, from, c.Index, c.Timing, drawn[c.Index])
					}
					if n++; n > from+20 {
						break
					}
				}
			}
			start, err := k.StartNs()
			if err != nil {
				t.Fatal(err)
			}
			at, end := start, start
			for c, err := range k.TimedTerminals(0) {
				if err != nil {
					t.Fatal(err)
				}
				if c.StartNs < at || c.EndNs() < c.StartNs {
					t.Fatalf("%s: call %d is from %d to %d, the one before ended at %d", mode, c.Index, c.StartNs, c.EndNs(), at)
				}
				at = c.EndNs()
			}
			if end, err = k.EndNs(); err != nil || at > end || float64(end-at) > 0.001*float64(end-start) {
				t.Errorf("%s: rank %d ends at %d, its last call at %d; %v", mode, rank, end, at, err)
			}
		}
		for name, w := range want {
			for i, what := range []string{"gaps", "durations"} {
				if math.Abs(got[name][i]-w[i]) > 0.01*w[i]+1000*ranks {
					t.Errorf("%s: %s of %s come to %.0f, want %.0f", mode, what, name, got[name][i], w[i])
				}
			}
		}
	}
}
