package imbalance

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"spoor/internal/merge/mergetest"
	"spoor/internal/track/tracktest"
	"spoor/trace"
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
			tr.Times[k].Duration = trace.Stat{}
			if k == 1 {
				inMPI -= 2 // one in each of the others
			} else {
				tr.Times[k].Duration.Add(1)
			}
		}
		tr.Times[1].Duration.Add(inMPI)
	}
	rep, err := Of(mergetest.Open(t, tracks, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := rep.Efficiency
	if !near(e.LoadBalance, 500.0/800) || !near(e.Communication, 0.8) || !near(e.Parallel, 0.5) {
		t.Errorf("efficiencies %+v", e)
	}
	u := rep.Useful
	if u.Most.Rank != 2 || u.Most.Host != "node1" || !near(u.Most.Ns, 800<<20) || u.Least.Rank != 0 || !u.Exact {
		t.Errorf("useful time %+v", u)
	}
	if len(u.Groups) != 2 || u.Groups[0].Ranks != 3 || u.Groups[1].Ranks != 1 || u.Groups[1].Some[0] != 2 {
		t.Errorf("groups %+v", u.Groups)
	}
	var names []string
	for _, c := range rep.Calls {
		names = append(names, c.Function)
		if c.Count != 4 || c.Duration.Ranks != 4 {
			t.Errorf("%s: %d calls of %d ranks", c.Function, c.Count, c.Duration.Ranks)
		}
	}
	if len(names) != 2 { // MPI_Allreduce, MPI_Finalize
		t.Errorf("calls %v", names)
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
			for k, s := range tr.Sigs {
				if len(s.Vals) > 8 { // MPI_Allreduce
					totals[i] += float64(tr.Times[k].Duration.Sum)
				}
			}
			mean += totals[i] / 4
		}
		rep, err := Of(mergetest.Open(t, tracks, nil), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range rep.Calls {
			if c.Function != "MPI_Allreduce" {
				continue
			}
			d := c.Duration
			if c.Count != 40 || !near(d.Mean, mean) || d.Exact != (name == "alone") {
				t.Errorf("%s: %+v, want mean %v", name, c, mean)
			}
			for _, e := range []Extreme{d.Least, d.Most} {
				if !near(e.Ns, totals[e.Rank]) && math.Abs(e.Ns-totals[e.Rank]) > 100 {
					t.Errorf("%s: rank %d has %v, not %v", name, e.Rank, totals[e.Rank], e.Ns)
				}
			}
		}
	}
}

func dist(vals ...float64) Distribution {
	list := make([]sample, len(vals))
	for i, v := range vals {
		list[i] = sample{v, i}
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
		"two":       {[]float64{10, 11, 10, 50, 51, 49, 52}, 3},
		"one apart": {[]float64{10, 10, 10, 10, 90}, 4},
		"equal":     {[]float64{5, 5, 5, 5, 5}, 0},
		"even":      {even, 0},
		"three":     {[]float64{1, 1, 50, 50, 100, 100}, 0},
		"few":       {[]float64{1, 100}, 0},
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
		if d.Least.Ns > d.Mean*1.000001+1e-9 || d.Mean > d.Most.Ns*1.000001+1e-9 || math.IsNaN(d.Deviation) || d.Deviation < 0 {
			t.Fatalf("%+v", d)
		}
		sum := 0
		for _, n := range d.Bins {
			sum += n
		}
		if d.Bins != nil && sum != d.Ranks {
			t.Fatalf("%d ranks in bins of %d", sum, d.Ranks)
		}
		if len(d.Groups) == 2 && d.Groups[0].Ranks+d.Groups[1].Ranks != d.Ranks {
			t.Fatalf("groups %+v of %d ranks", d.Groups, d.Ranks)
		}
	})
}
