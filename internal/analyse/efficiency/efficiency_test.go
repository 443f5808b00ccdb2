package efficiency

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Max(math.Abs(a), math.Abs(b)) }

// Four ranks, of which one computes twice as long as the others.
func TestEfficiencies(t *testing.T) {
	tracks := tracktest.RunAll(4, func(r *tracktest.Recorder) {
		r.Begin()
		r.Allreduce(3, 1)
		r.End()
	})
	for i, tr := range tracks {
		tr.Process.Host = fmt.Sprintf("node%d", i/2)
		tr.Process.SpanNs = 1000 << 20
		inMPI := uint64(600 << 20)
		if i == 2 {
			inMPI = 200 << 20
		}
		for k := range tr.Times {
			tr.Times[k].Duration, tr.Times[k].Gap = trace.Stat{}, trace.Stat{}
			if k == 1 {
				tr.Times[k].Gap.Add(1000<<20 - inMPI)
				inMPI -= 2 // one in each of the others
			} else {
				tr.Times[k].Duration.Add(1)
			}
		}
		tr.Times[1].Duration.Add(inMPI)
	}
	rep, err := Analyse(mergetest.Open(t, tracks, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := rep.Efficiency
	if b := e.LoadBalance; math.Abs(b.Value-500.0/800) > 0.003 || b.Low > 500.0/800 || b.High < 500.0/800 || math.Abs(e.Communication.Value-0.8) > 0.004 || !near(e.Parallel.Value, 0.5) {
		t.Errorf("efficiencies %+v", e)
	}
	u := rep.UsefulTime
	if u.Max.Rank != 2 || u.Max.Host != "node1" || math.Abs(u.Max.Ns-800<<20) > u.ErrorNs || u.Min.Rank == 2 || u.ErrorNs > 0.02*u.MeanNs {
		t.Errorf("useful time %+v", u)
	}
	if len(u.Groups) != 2 || u.Groups[0].Ranks != 3 || u.Groups[1].Ranks != 1 || u.Groups[1].SomeRanks[0] != 2 {
		t.Errorf("groups %+v", u.Groups)
	}
	var names []string
	for _, c := range rep.Calls {
		names = append(names, c.Function)
		if c.Count != 4 || c.RankDurations.Ranks != 4 {
			t.Errorf("%s: %d calls of %d ranks", c.Function, c.Count, c.RankDurations.Ranks)
		}
	}
	if len(names) != 2 { // MPI_Allreduce, MPI_Finalize
		t.Errorf("calls %v", names)
	}
}

// Useful time is what gaps add up to, not what is left of two large numbers: 4 and 64 ranks
// that compute for half a millisecond of a second, alike but for some percent.
func TestLittleUsefulTime(t *testing.T) {
	for _, n := range []int{4, 64} {
		tracks := tracktest.RunAll(n, func(r *tracktest.Recorder) {
			r.Begin()
			for range 10 {
				r.Send(3, 1, int64((r.Rank+1)%r.Size), 1)
				r.Recv(4, 1, int64((r.Rank+r.Size-1)%r.Size), 1)
			}
			r.End()
		})
		sum, most := 0.0, 0.0
		for i, tr := range tracks {
			useful := uint64(0)
			for k := range tr.Times {
				calls := tr.Times[k].Duration.Count
				tr.Times[k].Duration, tr.Times[k].Gap = trace.Stat{}, trace.Stat{}
				for range calls {
					d, gap := uint64(1_000_000_000/22), uint64(20_000+i*7919%2000)
					tr.Times[k].Duration.Add(d)
					tr.Times[k].Gap.Add(gap)
					useful += gap
					tr.Process.SpanNs += int64(d + gap)
				}
			}
			tr.Process.SpanNs -= 5_000_000_000 + int64(i)*977
			sum += float64(useful)
			most = max(most, float64(useful))
		}
		rep, err := Analyse(mergetest.Open(t, tracks, nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		mean := sum / float64(n)
		u, e := rep.UsefulTime, rep.Efficiency
		if !near(u.MeanNs, mean) {
			t.Errorf("%d ranks: useful %v, want %v", n, u.MeanNs, mean)
		}
		for name, x := range map[string]struct {
			got  BoundedShare
			want float64
		}{
			"parallel": {e.Parallel, mean / float64(e.RuntimeNs)}, "load balance": {e.LoadBalance, mean / most},
			"communication": {e.Communication, most / float64(e.RuntimeNs)},
		} {
			if off := 1e-3 * x.want; x.want < x.got.Low-off || x.want > x.got.High+off || math.Abs(x.want-x.got.Value) > 0.05*x.want {
				t.Errorf("%d ranks: %s %+v, want %v", n, name, x.got, x.want)
			}
			if n == 4 && !x.got.IsPrecise() {
				t.Errorf("%d ranks: %s %+v is as good as unknown", n, name, x.got)
			}
		}
		if u.Exact || u.ErrorNs <= 0 {
			t.Errorf("%d ranks: useful time %+v is said to be exact", n, u)
		}
	}
}

// Each thread is a stream of its own: four that spend half of their time in MPI do as one does.
func TestThreadsCountTogether(t *testing.T) {
	tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
		for thread := range 4 {
			for range 10 {
				r.CallOn(thread, "MPI_Barrier", 5+thread, 0, tracktest.World)
			}
		}
	})
	for _, tr := range tracks {
		tr.Process.SpanNs, tr.Process.Threads = 1_000_000_000, 4
		for k := range tr.Times {
			tr.Times[k].Duration, tr.Times[k].Gap = trace.Stat{}, trace.Stat{}
			for range 10 {
				tr.Times[k].Duration.Add(60_000_000)
				tr.Times[k].Gap.Add(40_000_000)
			}
		}
	}
	rep, err := Analyse(mergetest.Open(t, tracks, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := rep.Efficiency; !near(e.Parallel.Value, 0.4) || !near(e.LoadBalance.Value, 1) || rep.MaxThreads != 4 {
		t.Errorf("%d threads: %+v", rep.MaxThreads, e)
	}
	if !near(rep.MPITime.MeanNs, 600_000_000) || !near(rep.UsefulTime.MeanNs, 400_000_000) {
		t.Errorf("useful %+v, in MPI %+v", rep.UsefulTime, rep.MPITime)
	}
}

// Ranks that each are a class of their own have exact totals; those that share
// one have the right mean and extremes.
func TestClasses(t *testing.T) {
	for _, name := range []string{"alone", "together"} {
		tracks := tracktest.RunAll(4, func(r *tracktest.Recorder) {
			r.Begin()
			if name == "alone" {
				r.Call("MPI_Comm_set_name", 9+r.Rank, tracktest.World, r.String("x"))
			}
			for range 10 {
				r.Allreduce(3, 1)
			}
			r.End()
		})
		totals := make([]float64, 4)
		var mean float64
		for i, tr := range tracks {
			for k, s := range tr.Signatures {
				if len(s.Values) > 8 { // MPI_Allreduce
					totals[i] += float64(tr.Times[k].Duration.Sum)
				}
			}
			mean += totals[i] / 4
		}
		rep, err := Analyse(mergetest.Open(t, tracks, nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range rep.Calls {
			if c.Function != "MPI_Allreduce" {
				continue
			}
			d := c.RankDurations
			if c.Count != 40 || !near(d.MeanNs, mean) || d.Exact != (name == "alone") {
				t.Errorf("%s: %+v, want mean %v", name, c, mean)
			}
			for _, e := range []Extreme{d.Min, d.Max} {
				if !near(e.Ns, totals[e.Rank]) && math.Abs(e.Ns-totals[e.Rank]) > 100 {
					t.Errorf("%s: rank %d has %v, not %v", name, e.Rank, totals[e.Rank], e.Ns)
				}
			}
		}
	}
}

func dist(vals ...float64) RankTimeDistribution {
	list := make([]rankNs, len(vals))
	for i, v := range vals {
		list[i] = rankNs{v, i}
	}
	return exact(list, func(int) string { return "h" })
}

func TestGroups(t *testing.T) {
	even := make([]float64, 100)
	for i := range even {
		even[i] = float64(1000 + i)
	}
	for name, c := range map[string]struct {
		vals []float64
		want int // size of the first group, 0: no groups
	}{
		"two":       {[]float64{1000, 1100, 1000, 5000, 5100, 4900, 5200}, 3},
		"one apart": {[]float64{1000, 1000, 1000, 1000, 9000}, 4},
		"equal":     {[]float64{5, 5, 5, 5, 5}, 0},
		"even":      {even, 0},
		"three":     {[]float64{1, 1, 50, 50, 100, 100}, 0},
		"few":       {[]float64{1, 100}, 0},
		"noise":     {[]float64{10, 11, 10, 50, 51, 49, 52}, 0},
		"tiny":      {[]float64{1000, 1000, 1001, 1001}, 0},
		"none":      {nil, 0},
	} {
		d := dist(c.vals...)
		got := 0
		if len(d.Groups) == 2 {
			got = d.Groups[0].Ranks
		}
		if got != c.want {
			t.Errorf("%s: groups %+v, want the first of %d", name, d.Groups, c.want)
		}
	}
}

// Whatever the times, all ranks are in the histogram and in the groups, and the
// numbers are finite and in order.
func TestDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dist(rapid.SliceOfN(rapid.Float64Range(0, 1e12), 1, 50).Draw(t, "times")...)
		if d.Min.Ns > d.MeanNs*1.000001+1e-9 || d.MeanNs > d.Max.Ns*1.000001+1e-9 || math.IsNaN(d.DeviationNs) || d.DeviationNs < 0 {
			t.Fatalf("%+v", d)
		}
		sum := 0
		for _, n := range d.RankHistogram {
			sum += n
		}
		if d.RankHistogram != nil && sum != d.Ranks {
			t.Fatalf("%d ranks in bins of %d", sum, d.Ranks)
		}
		if len(d.Groups) == 2 && d.Groups[0].Ranks+d.Groups[1].Ranks != d.Ranks {
			t.Fatalf("groups %+v of %d ranks", d.Groups, d.Ranks)
		}
	})
}
