package when

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Drawn from means and from what ranks found out, a run looks as it was: which is compared in 512 parts of it.
func TestLines(t *testing.T) {
	one := func(m made) { m[len(m)-1][len(m[0])*7/10] += 10 * typicalNs }
	three := func(m made) { scale(m[len(m)/2], func(int) bool { return true }, 3) }
	for _, x := range []struct {
		name                 string
		plant                func(m made)
		ranks, rounds, noise int
		place                float64 // at most, in percent
	}{
		{"one rank computes three times as long", three, 4, 200, 0, 1.5},
		{"one rank computes three times as long", three, 64, 200, 0, 2},
		{"one rank computes three times as long", three, 256, 50, 0, 2},
		{"one rank computes three times as long", three, 1024, 20, 0, 2},
		{"one slow iteration", one, 4, 200, 0, 2},
		{"one slow iteration", one, 64, 100, 1, 12},
		{"a step", truths[1].plant, 4, 200, 0, 2},
		{"a drift", truths[4].plant, 4, 200, 0, 2},
		{"noise", func(made) {}, 64, 100, 2, 20},
	} {
		m := noisyRun(rand.New(rand.NewPCG(3, 4)), x.ranks, x.rounds, x.noise)
		x.plant(m)
		file := mergetest.File(t, m.tracks(), nil)
		all, err := trace.ReadBytes(file, mergetest.Name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := AnalyseUnlessStored(all)
		if err != nil {
			t.Fatal(err)
		}
		before, off := mergetest.Unlike(t, all, mergetest.WithoutTimes(t, file, nil))
		place, share := mergetest.Unlike(t, all, mergetest.WithoutTimes(t, file, w))
		t.Logf("%s, %d ranks, noise %d, %d columns: %.1f %% drawn elsewhere, shares %.2f %% off; without: %.1f %%, %.2f %%", x.name, x.ranks, x.noise, len(w.ColumnWidthNs), 100*place, 100*share, 100*before, 100*off)
		if 100*place > x.place || share > 0.01 {
			t.Errorf("%s, %d ranks: %.1f %% of the time is drawn elsewhere, shares of computing are %.2f %% off", x.name, x.ranks, 100*place, 100*share)
		}
	}
}

// Wherever reading begins a line with anchors is the same, calls are in order and found by their time, also where they are drawn from histograms or
// enter loops, and parts take what their calls take.
func TestAnchoredLine(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist} {
		random := rand.New(rand.NewPCG(5, 6))
		tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
			r.Begin()
			for i := range 60 {
				r.Allreduce(3, 1)
				for range 2 + i%5 {
					for range 3 {
						r.Call("MPI_Barrier", 4, tracktest.World)
					}
					r.Call("MPI_Comm_rank", 5, tracktest.World, int64(r.Rank))
				}
			}
			r.End()
		})
		times := make([][][2]uint64, len(tracks))
		for rank, tr := range tracks {
			for i := range tr.Streams[0].Grammar.Len() {
				x := [2]uint64{uint64(random.IntN(20_000)), uint64(random.IntN(20_000))}
				if i/100%3 == 1 {
					x[0] *= 10
				}
				times[rank] = append(times[rank], x)
			}
			tr.Process.Asides = []track.Aside{{BeforeCall: 1, Ns: 300_000}, {BeforeCall: 200, Ns: 500_000, TracingOff: true}}
		}
		timed := func(mode timing.Mode) []byte {
			for rank, tr := range tracks {
				tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) { return times[rank][i][0], times[rank][i][1] })
			}
			return mergetest.File(t, tracks, nil)
		}
		all, err := trace.ReadBytes(timed(timing.ModeLossless), mergetest.Name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := AnalyseUnlessStored(all)
		if err != nil || w.Loop == nil {
			t.Fatal(w.Loop, err)
		}
		r := mergetest.WithoutTimes(t, timed(mode), w)
		for k, err := range r.RanksWithTrack() {
			if err != nil {
				t.Fatal(err)
			}
			isAnchored(t, k)
		}
	}
}

func isAnchored(t *testing.T, k *trace.Rank) {
	end, err := k.EndNs()
	if err != nil {
		t.Fatal(err)
	}
	last, err := k.StartNs()
	if err != nil {
		t.Fatal(err)
	}
	calls := make([]float64, k.Terminals()) // ns, by terminal
	for c, err := range k.TimedCalls(0) {
		if err != nil || c.StartNs < last || c.EndNs() < c.StartNs || c.EndNs() > end+1 {
			t.Fatalf("rank %d: call %d is from %d to %d, the one before ended at %d, the rank ends at %d; %v", k.Number(), c.Index, c.StartNs, c.EndNs(), last, end, err)
		}
		calls[c.Terminal] += float64(c.EndNs() - c.StartNs)
		if last = c.EndNs(); c.Index%29 > 0 {
			continue
		}
		for sought, err := range k.TimedCallsFrom(0, c.Index) {
			if err != nil || sought.StartNs != c.StartNs || sought.EndNs() != c.EndNs() || sought.Timing != c.Timing || sought.StartErrorBoundNs != c.StartErrorBoundNs {
				t.Fatalf("call %d sought: %d to %d, walked: %d to %d; %v", c.Index, sought.StartNs, sought.EndNs(), c.StartNs, c.EndNs(), err)
			}
			break
		}
		m, err := k.MomentAt(0, c.StartNs)
		if err != nil || m.LastBegunCall.Call == nil || m.LastBegunCall.Index < c.Index || m.LastBegunCall.StartNs != c.StartNs {
			t.Fatalf("at %d: %+v, want call %d; %v", c.StartNs, m, c.Index, err)
		}
	}
	if float64(end-last) > 1e-3*float64(end) {
		t.Errorf("rank %d: the last call ends at %d, the rank at %d", k.Number(), last, end)
	}
	var kinds []int
	for i := range calls {
		kinds = append(kinds, i)
	}
	in := make([]float64, len(calls))
	at := int64(math.MinInt64)
	for p, err := range k.StreamParts(0, end/200, kinds, len(kinds)) {
		if err != nil || p.StartNs < at || p.EndNs < p.StartNs {
			t.Fatalf("a part from %d to %d after %d; %v", p.StartNs, p.EndNs, at, err)
		}
		at = p.EndNs
		for i, ns := range p.NsByKind {
			in[i] += ns
		}
	}
	for i := range in {
		if math.Abs(in[i]-calls[i]) > 0.03*float64(end) {
			t.Errorf("rank %d: terminal %d takes %.0f ns, parts say %.0f", k.Number(), i, calls[i], in[i])
		}
	}
}
