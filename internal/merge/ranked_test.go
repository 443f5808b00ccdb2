package merge_test

import (
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// spent is what a rank spends on a call, other on every rank and at every place.
type spent func(rank int, site uint64, i int) (gap, duration uint64)

// keepTimes gives the distinct calls of tracks known times.
func keepTimes(tracks []*track.Track, of spent) {
	for _, tr := range tracks {
		for i := range tr.Times {
			n := tr.Times[i].Duration.Count
			gap, duration := of(tr.Rank, tr.Sites[tr.Signatures[i].Site].Offset, i)
			tr.Times[i] = track.Times{}
			for range n {
				tr.Times[i].Gap.Add(gap)
				tr.Times[i].Duration.Add(duration)
			}
		}
	}
}

// What each rank spends in all and at each call site is known of it, in classes whose ranks
// are interleaved and in refined ones with and without lanes too.
func TestRankTotals(t *testing.T) {
	interleaved := func(r *tracktest.Recorder) {
		r.Begin()
		for range 5 {
			r.Send(10, 100, 1, 0)
			if r.Rank%3 == 1 {
				r.Recv(11, 100, 1, 0)
			}
		}
		r.Allreduce(12, 1)
		r.End()
	}
	withLanes := func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 2 + r.Rank%4 {
			for range 12 {
				r.LaneOn(0, "MPI_Send", 10, []int{6}, 0, 257, 0, int64(100+(r.Rank*i)%3), tracktest.IntType, 1, int64(i), tracktest.World)
			}
			r.Allreduce(11, 4)
		}
		r.End()
	}
	for name, program := range map[string]func(*tracktest.Recorder){
		"interleaved": interleaved, "refined": sweeps, "lanes": withLanes, "uneven": uneven, "stencil": tracktest.Stencil(20), "counting": tracktest.Counting(40),
	} {
		for _, size := range []int{2, 16, 30} {
			tracks := tracktest.RunAll(size, program)
			keepTimes(tracks, func(rank int, site uint64, i int) (gap, duration uint64) {
				return 50_000 * uint64(1+rank*7%5) * (1 + site%7), 1_000 + 997*uint64(rank*rank)*(1+site%3)
			})
			b := file(t, throughTree(t, tracks))
			r, err := readerOf(b)
			if err != nil {
				t.Fatal(err)
			}
			if err := trace.Check(r); err != nil {
				t.Errorf("%s on %d ranks: %v", name, size, err)
			}
			for rank, tr := range tracks {
				k, err := r.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				sameTotals(t, name, k, tr)
			}
		}
	}
}

// sameTotals compares a rank's totals with those of its track, and asks that nothing that
// matters is unknown.
func sameTotals(t *testing.T, name string, k *trace.Rank, tr *track.Track) {
	t.Helper()
	got, err := k.Totals()
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		call   uint16
		offset uint64
	}
	of := make(map[place]*track.Times)
	var all track.Times
	for i := range tr.Signatures {
		p := place{tr.Signatures[i].FunctionID, tr.Sites[tr.Signatures[i].Site].Offset}
		if of[p] == nil {
			of[p] = new(track.Times)
		}
		for _, to := range []*track.Times{of[p], &all} {
			to.Gap.Merge(tr.Times[i].Gap)
			to.Duration.Merge(tr.Times[i].Duration)
		}
	}
	check := func(what string, total, part trace.BoundedTime, truth model.Stat) {
		if math.Abs(part.Ns-float64(truth.Sum)) > part.ErrorBoundNs+1 {
			t.Errorf("%s, rank %d, %s: %.0f ± %.0f, truth %d", name, tr.Rank, what, part.Ns, part.ErrorBoundNs, truth.Sum)
		}
		if part.ErrorBoundNs > max(0.0102*part.Ns, 0.0102*total.Ns, 10) && (part == total || part.Ns > 0.25*(got.Gap.Ns+got.Duration.Ns)) {
			t.Errorf("%s, rank %d, %s: known to %.0f of %.0f only, in all %.0f", name, tr.Rank, what, part.ErrorBoundNs, part.Ns, total.Ns)
		}
	}
	check("all gaps", got.Gap, got.Gap, all.Gap)
	check("all durations", got.Duration, got.Duration, all.Duration)
	if len(got.Sites) != len(of) {
		t.Errorf("%s, rank %d: %d sites, want %d", name, tr.Rank, len(got.Sites), len(of))
	}
	for _, s := range got.Sites {
		c, err := k.Terminal(s.FirstTerminal)
		if err != nil {
			t.Fatal(err)
		}
		p := place{c.Func.ID, c.Site.Offset}
		if of[p] == nil {
			t.Fatalf("%s: no calls of %s", name, c.Name())
		}
		check(c.Name()+" gap", got.Gap, s.Gap, of[p].Gap)
		check(c.Name()+" duration", got.Duration, s.Duration, of[p].Duration)
	}
}

// Sums of what was attached are known for each rank and call site, also where some ranks attach nothing
// under a name, and of either sign.
func TestRankValues(t *testing.T) {
	for name, program := range map[string]func(*tracktest.Recorder){"uneven": uneven, "refined": sweeps, "counting": tracktest.Counting(40)} {
		tracks := tracktest.RunAll(16, program)
		type key struct {
			rank  int
			value string
			call  uint16
			place uint64
		}
		want := make(map[key]float64)
		for _, tr := range tracks {
			tr.AttachedStats = make(map[string][]model.AttachedStat)
			for _, value := range []string{"flops", "balance"} {
				if value == "balance" && tr.Rank%5 == 3 {
					continue
				}
				list := make([]model.AttachedStat, len(tr.Signatures))
				for i := range list {
					v := int64(1e6 * (tr.Rank + 1) * (1 + int(tr.Signatures[i].FunctionID)%3))
					if value == "balance" && (tr.Rank+int(tr.Signatures[i].FunctionID))%2 == 0 {
						v = -v
					}
					for range tr.Times[i].Duration.Count {
						list[i].Add(v)
						want[key{tr.Rank, value, tr.Signatures[i].FunctionID, tr.Sites[tr.Signatures[i].Site].Offset}] += float64(v)
						want[key{tr.Rank, value, 0, 0}] += float64(v)
					}
				}
				tr.AttachedStats[value] = list
			}
		}
		r, err := readerOf(file(t, throughTree(t, tracks)))
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Check(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		known := 0
		for rank := range tracks {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.AttachedTotals()
			if err != nil {
				t.Fatal(err)
			}
			for value, v := range got {
				// The parts above and below zero are known to a percent.
				slack := 0.0102 * math.Abs(v.Sum)
				if value == "balance" {
					slack = v.ErrorBound
				}
				if w := want[key{rank, value, 0, 0}]; !v.IsOfRank() || math.Abs(v.Sum-w) > slack {
					t.Errorf("%s, rank %d, %s: %+v, want %.0f", name, rank, value, v.AttachedSum, w)
				}
				for _, s := range v.Sites {
					c, err := k.Terminal(s.FirstTerminal)
					if err != nil {
						t.Fatal(err)
					}
					if w := want[key{rank, value, c.Func.ID, c.Site.Offset}]; s.IsOfRank() && math.Abs(s.Sum-w) > s.ErrorBound+1 {
						t.Errorf("%s, rank %d, %s of %s: %+v, want %.0f", name, rank, value, c.Name(), s.AttachedSum, w)
					} else if s.IsOfRank() {
						known++
					}
				}
			}
		}
		if known < 16 {
			t.Errorf("%s: %d sums of call sites are known", name, known)
		}
	}
}
