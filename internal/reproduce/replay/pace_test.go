package replay

import (
	"math"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// On the line a call comes no sooner after MPI_Init than in the original; with gaps
// alone, calls that take less than they took let all that follows come sooner.
func TestPace(t *testing.T) {
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		r.Begin()
		for range 20 {
			r.Allreduce(3, 1)
		}
		r.End()
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeStats, func(i int) (gap, duration uint64) { return uint64(min(i, 1) * (300 + 500*rank)), 1000 })
	}
	r := mergetest.Open(t, tracks, nil)
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	starts := []int64{-1000} // since the end of MPI_Init
	for i := range int64(21) {
		starts = append(starts, 300+1300*i)
	}
	replayed := func(o Options) ([]int64, *Process) {
		f := &fake{now: 1e6}
		p, err := run(t, r, 0, f, mpi.FlavourMPICH, o)
		if err != nil {
			t.Fatal(err)
		}
		var list []int64
		for _, c := range f.calls {
			list = append(list, c.BeginNs-f.calls[0].EndNs)
		}
		return list, p
	}
	line, p := replayed(Options{})
	for i := range starts[1:] {
		if float64(line[i+1]) < 0.99*float64(starts[i+1]) { // the table of processes is rounded
			t.Errorf("call %d comes after %d ns, in the original after %d", i+1, line[i+1], starts[i+1])
		}
	}
	if held := p.Report().HeldNs; held <= 0 || p.Report().WallNs != p.Report().MPINs+p.Report().ComputeNs+held {
		t.Errorf("held for %d ns in %+v", held, p.Report())
	}
	last := len(line) - 1
	alone, p := replayed(Options{Pace: PaceGaps})
	if alone[last] >= line[last] || p.Report().HeldNs != 0 {
		t.Errorf("with gaps alone it took %d ns, on the line %d; held %d", alone[last], line[last], p.Report().HeldNs)
	}
	process, err := k.Process()
	if err != nil {
		t.Fatal(err)
	}
	if x, computed := p.Report(), process.FirstThreadNs-process.AllThreadsMPINs; math.Abs(float64(x.RecordedComputeNs)/float64(computed)-1) > 0.02 {
		t.Errorf("wanted %d ns, the rank computed for %d ns", x.RecordedComputeNs, computed)
	}
	fast, _ := replayed(Options{Speed: 2}) // what is faster is not held
	if fast[last] >= alone[last] {
		t.Errorf("at twice the speed it took %d ns, else %d", fast[last], alone[last])
	}
	none, _ := replayed(Options{NoCompute: true})
	if none[last] >= 100*int64(last) {
		t.Errorf("without gaps it took %d ns", none[last])
	}
}

// Gaps of a trace with histograms are drawn from them: with their shape, in another order
// on each rank, and the same in each replay ("Probabilistic Communication and I/O Tracing
// with Deterministic Replay at Scale", section 5).
func TestGapsFromHistograms(t *testing.T) {
	const calls, short, long = 2000, 100, 10_000
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		r.Begin()
		for range calls {
			r.Allreduce(3, 1)
		}
		r.End()
	})
	for _, tr := range tracks {
		tracktest.Timed(tr, timing.ModeHist, func(i int) (gap, duration uint64) {
			switch {
			case i == 0:
				return 0, 50
			case i%10 == 0:
				return long, 50
			}
			return short, 50
		})
	}
	r := mergetest.Open(t, tracks, nil)
	gaps := func(rank int) []int64 {
		f := &fake{now: 1e6}
		if _, err := run(t, r, rank, f, mpi.FlavourMPICH, Options{Pace: PaceGaps}); err != nil {
			t.Fatal(err)
		}
		var list []int64
		for i, c := range f.calls[1 : calls+1] {
			list = append(list, c.BeginNs-f.calls[i].EndNs)
		}
		return list
	}
	first := gaps(0)
	if !slices.Equal(first, gaps(0)) {
		t.Error("the gaps of two replays differ")
	}
	if slices.Equal(first, gaps(1)) {
		t.Error("both ranks have the same gaps")
	}
	n := 0
	for _, g := range first {
		switch {
		case math.Abs(float64(g)/long-1) < 0.01:
			n++
		case math.Abs(float64(g)/short-1) > 0.01:
			t.Fatalf("a gap of %d ns", g)
		}
	}
	if n < calls/10*8/10 || n > calls/10*12/10 {
		t.Errorf("%d of %d gaps are long, expected a tenth", n, calls)
	}
}

// What calls are late is made up for in later gaps.
func TestLateCalls(t *testing.T) {
	s := &Stream{p: &Process{o: Options{Speed: 1}}, pace: &pacer{}, call: &Call{}, last: 1000}
	step := func(gap, begin, want int64) {
		t.Helper()
		due, _ := s.due(&trace.TimedCall{}, gap)
		if due != want {
			t.Errorf("due at %d, expected %d", due, want)
		}
		s.call.BeginNs = begin
		s.lag(due)
		s.last = begin + 10
	}
	step(100, 1130, 1100) // 30 late
	step(0, 1145, 0)      // 5 late: what it takes to make a call
	step(20, 1155, 1155)  // 20 are made up for
	step(100, 1250, 1250) // and the other 15
	step(100, 1360, 1360)
}

// Behind the line, less than 2 % of a gap may be left out, if its own length is known.
func TestCatchingUp(t *testing.T) {
	for _, x := range []struct {
		start, gap, want int64
		kind             trace.SampleKind
	}{
		{5000, 1000, 6000, trace.ExactSample},    // on the line, which began at 1000
		{4990, 1000, 5990, trace.ExactSample},    // a little behind
		{100, 1000, 5985, trace.MeanSample},      // far behind
		{100, 1000, 6000, trace.HistogramSample}, // the line knows nothing of this gap
		{7000, 1000, 8000, trace.ExactSample},    // ahead
		{100, 0, 5000, trace.ExactSample},        // no gap, nothing to leave out
	} {
		s := &Stream{p: &Process{origin: 1000}, pace: &pacer{line: true}, last: 5000}
		due, _ := s.due(&trace.TimedCall{StartNs: x.start, Timing: trace.Timing{Gap: trace.Sample{Kind: x.kind}}}, x.gap)
		if max(due, s.last) != x.want {
			t.Errorf("start %d, gap %d, %v: due at %d, expected %d", x.start, x.gap, x.kind, due, x.want)
		}
	}
	s := &Stream{p: &Process{origin: 1000}, number: 1, pace: &pacer{line: true}, last: 5000}
	for kind, want := range map[trace.SampleKind]int64{trace.MeanSample: 5010, trace.ExactSample: 8000} {
		if due, _ := s.due(&trace.TimedCall{StartNs: 7000, Timing: trace.Timing{Gap: trace.Sample{Kind: kind}}}, 10); due != want {
			t.Errorf("another thread, %v: due at %d, expected %d", kind, due, want)
		}
	}
}

// What a rank waits in MPI_Init for one that had more to prepare is no part of its time.
func TestUnprepared(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Allreduce(3, 1)
		r.End()
	})
	var reports []*Report
	for rank, init := range []int64{500_000, 2_000_000} { // the second was there 1.5 ms sooner
		f := &fake{now: 1e6}
		f.on = map[string]func(c *Call){"MPI_Init": func(c *Call) { f.now += init; c.EndNs = f.now }}
		p, err := run(t, r, rank, f, mpi.FlavourMPICH, Options{NoCompute: true})
		if err != nil {
			t.Fatal(err)
		}
		x := p.Report()
		reports = append(reports, &x)
	}
	SubtractInitWait(reports)
	for i, x := range reports {
		if x.WallNs != 500_000+30 || x.MPINs != 500_000+30 {
			t.Errorf("rank %d: %d ns, in MPI %d, expected 500030", i, x.WallNs, x.MPINs)
		}
	}
}
