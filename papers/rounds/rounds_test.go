package rounds_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/papers/rounds"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

const ranks, steps = 6, 16

// iterations is what the data of a step wants, depth what that of a rank does.
func iterations(step int) int { return 10 + step*step%17 }

func depth(rank, step int) int { return 1 + (rank*7+step*5+rank*step)%9 }

func sendrecv(r *tracktest.Recorder, site int, peer int64) {
	r.Call("MPI_Sendrecv", site, 1<<8|1, 0, 10, tracktest.IntType, peer, 5, 2<<8|1, 0, 10, tracktest.IntType, peer, 5, tracktest.World, 1, peer, 5, 40, 0)
}

// solver has two loops whose rounds depend on data in a loop of steps: one that all ranks run together, and one of each
// rank with its neighbour.
func solver(r *tracktest.Recorder) {
	r.Begin()
	left, right := int64((r.Rank+ranks-1)%ranks), int64((r.Rank+1)%ranks)
	for step := range steps {
		for range iterations(step) {
			r.Irecv(10, 100, left, 1)
			r.Isend(11, 100, right, 1)
			r.Waitall(12, 2)
			r.Allreduce(13, 1)
		}
		r.Allreduce(14, 1)
		near := []int{r.Rank - 1, r.Rank + 1}
		for i, n := range near {
			if n < 0 || n >= ranks {
				continue
			}
			for range max(depth(r.Rank, step), depth(n, step)) {
				sendrecv(r, 15+i, int64(n))
			}
		}
	}
	r.End()
}

func drawn(t *testing.T, r *trace.Reader, o reduce.Options, seed uint64) (*trace.Reader, *rounds.TripCountDrawer, []byte) {
	t.Helper()
	o.NewTripCountDrawer = func(r *trace.Reader) reduce.TripCountDrawer {
		return rounds.New(r, rounds.Options{PrecisionPercent: o.PrecisionPercent, Seed: seed})
	}
	x, err := reduce.ReduceTrace(r, o, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	d, _ := x.TripCountDrawer.(*rounds.TripCountDrawer) // nil: sizes were enough
	out, b := mergetest.Written(t, x)
	return out, d, b
}

// exact are the calls of a rank that are in no drawn loop, with requests by distance.
func exact(t *testing.T, r, of *trace.Reader, rank int) (list []string) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	in := make(map[string]bool)
	d, err := of.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for n := range d.Terminals() {
		c, err := d.Terminal(n)
		if err != nil {
			t.Fatal(err)
		}
		in[fmt.Sprint(c.Site, c.Text())] = d.SyntheticLoopsIndex(n) >= 0
	}
	for n := range k.Sequence(0) {
		c, err := k.Terminal(n)
		if err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprint(c.Site, c.Text()); !in[s] {
			list = append(list, s)
		}
	}
	return list
}

// TestEnds: ranks that run fewer rounds together still end together, though one that began late took less time for each.
func TestEnds(t *testing.T) {
	tracks := tracktest.RunAll(8, func(r *tracktest.Recorder) {
		data := rand.New(rand.NewPCG(1, 2))
		r.Begin()
		for range 100 {
			for range 10 + data.IntN(8) {
				sendrecv(r, 10, int64(r.Rank^1))
				r.Allreduce(13, 1)
			}
			r.Allreduce(14, 1)
		}
		r.End()
	})
	for rank, x := range tracks {
		late := int64(3e8 * rank)
		x.Process.StartNs, x.Process.SpanNs = x.Process.StartNs+late, 5e9-late
	}
	r := mergetest.Open(t, tracks, nil)
	out, _, _ := drawn(t, r, reduce.Options{PrecisionPercent: 0}, 1)
	if calls(t, out, 0) == calls(t, r, 0) {
		t.Fatal("no other number of rounds")
	}
	end := int64(0)
	for rank := range out.Ranks() {
		k, err := out.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Process()
		if err != nil {
			t.Fatal(err)
		}
		if rank == 0 {
			end = p.InitWallClockNs + p.FirstThreadNs
		}
		if off := p.InitWallClockNs + p.FirstThreadNs - end; off < -1e6 || off > 1e6 {
			t.Errorf("rank %d ends %d ns after rank 0", rank, off)
		}
	}
}

// TestDrawn: whatever is drawn, the ranks come to the end, without a message left, and all else is as it was.
func TestDrawn(t *testing.T) {
	r := mergetest.Run(t, ranks, solver)
	for _, precision := range []int{99, 90, 50, 0} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%d/%d", precision, seed), func(t *testing.T) {
				out, d, file := drawn(t, r, reduce.Options{PrecisionPercent: precision}, seed)
				list, err := out.SyntheticLoops()
				if err != nil || len(list) != 2 {
					t.Fatalf("drawn %+v, error %v, kept %v", list, err, d.KeptReasons())
				}
				for _, x := range list {
					want := uint64(steps)
					if x.Most.Value < 10 {
						want *= ranks - 1
					}
					if x.LoopRuns != want || precision == 0 && len(x.Bins) != 1 || precision == 99 && len(x.Bins) < 7 {
						t.Errorf("%+v", x)
					}
				}
				if !meet(t, out) {
					t.Error("the ranks don't come to the end")
				}
				for rank := range ranks {
					if a, b := exact(t, r, out, rank), exact(t, out, out, rank); !slices.Equal(a, b) {
						t.Errorf("rank %d: %d other calls, were %d", rank, len(b), len(a))
					}
					a, b := calls(t, r, rank), calls(t, out, rank)
					if low, high := float64(a)*0.9, float64(a)*1.1; float64(b) < low || float64(b) > high {
						t.Errorf("rank %d: %d calls, were %d", rank, b, a)
					}
				}
				if _, _, again := drawn(t, r, reduce.Options{PrecisionPercent: precision}, seed); !bytes.Equal(file, again) {
					t.Error("the same seed gives another trace")
				}
			})
		}
	}
	out, _, _ := drawn(t, r, reduce.Options{PrecisionPercent: 100}, 1)
	if list, err := out.SyntheticLoops(); list != nil || err != nil {
		t.Errorf("at 100: drawn %v, error %v", list, err)
	}
}

func calls(t *testing.T, r *trace.Reader, rank int) uint64 {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	return k.CallCount(0)
}

// TestBudget: no more is drawn than a budget takes, and nothing if sizes are enough.
func TestBudget(t *testing.T) {
	r := mergetest.Run(t, ranks, solver)
	_, _, all := drawn(t, r, reduce.Options{}, 1)
	_, _, none := drawn(t, r, reduce.Options{PrecisionPercent: 100}, 1)
	if len(all) >= len(none) {
		t.Fatalf("%d bytes, %d with all numbers of rounds", len(all), len(none))
	}
	for _, budget := range []int{len(none), (len(all) + len(none)) / 2, len(all)} {
		out, _, b := drawn(t, r, reduce.Options{BudgetBytes: int64(budget)}, 1)
		list, err := out.SyntheticLoops()
		if err != nil || len(b) > budget || (list == nil) != (budget == len(none)) {
			t.Errorf("budget %d: %d bytes, drawn %v, error %v", budget, len(b), list, err)
		}
	}
	drawer := func(r *trace.Reader) reduce.TripCountDrawer { return rounds.New(r, rounds.Options{}) }
	if _, err := reduce.ReduceTrace(r, reduce.Options{BudgetBytes: 10, NewTripCountDrawer: drawer}, func(int) {}); err == nil || !strings.Contains(err.Error(), "all trip counts synthetic") {
		t.Errorf("ten bytes: error %v", err)
	}
}

// TestKept: what can't be drawn so that ranks agree stays, and it is said why.
func TestKept(t *testing.T) {
	other := func(r *tracktest.Recorder) int64 { return int64(r.Rank ^ 1) }
	for _, x := range []struct {
		why     string
		program func(r *tracktest.Recorder, step, n int)
	}{
		{"requests of one iteration are waited for in another", func(r *tracktest.Recorder, step, n int) {
			for range n {
				r.Isend(3, 1, other(r), 1)
				r.Irecv(4, 1, other(r), 1)
			}
			r.Waitall(5, int64(2*n))
		}},
		{"receives take any source or tag", func(r *tracktest.Recorder, step, n int) {
			for range n {
				if r.Rank%2 == 0 {
					r.Send(3, 1, other(r), 1)
				} else {
					r.Call("MPI_Recv", 4, 1<<8|1, 0, 1, tracktest.IntType, mpi.AnySource, 1, tracktest.World, 1, other(r), 1, 4, 0)
				}
			}
		}},
		{"not all received or sent in one run", func(r *tracktest.Recorder, step, n int) {
			for i := range n + 1 {
				switch {
				case r.Rank%2 == 0:
					r.Send(3, 1, other(r), 1)
				case i == 0: // which the loop that sends has in it
					r.Recv(5, 1, other(r), 1)
				default:
					r.Recv(4, 1, other(r), 1)
				}
			}
		}},
		{"requests are under way when the loop begins", func(r *tracktest.Recorder, step, n int) {
			r.Isend(3, 1, other(r), 1)
			for range n {
				r.Irecv(4, 1, other(r), 2)
				r.Isend(5, 1, other(r), 2)
				r.Waitall(6, 2)
			}
			r.Irecv(7, 1, other(r), 1)
			r.Call("MPI_Waitall", 8, 2, 2, 2, 2*int64(2+2*n), -5)
		}},
		{"MPI_Win_fence is in it", func(r *tracktest.Recorder, step, n int) {
			for range n {
				r.Call("MPI_Win_fence", 3, 0, trace.UnknownHandle)
			}
		}},
	} {
		t.Run(x.why, func(t *testing.T) {
			r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
				r.Begin()
				for step := range 20 {
					x.program(r, step, 3+step*step%7)
					r.Allreduce(30, 1)
				}
				r.End()
			})
			out, d, _ := drawn(t, r, reduce.Options{}, 1)
			if list, err := out.SyntheticLoops(); err != nil || list != nil {
				t.Errorf("drawn %+v, error %v", list, err)
			}
			if !slices.ContainsFunc(d.KeptReasons(), func(k reduce.KeptReason) bool { return strings.Contains(k.Why, x.why) && k.Count > 0 }) {
				t.Errorf("kept: %v", d.KeptReasons())
			}
			for rank := range 2 {
				if a, b := calls(t, r, rank), calls(t, out, rank); a != b {
					t.Errorf("rank %d: %d calls, were %d", rank, b, a)
				}
			}
		})
	}
}
