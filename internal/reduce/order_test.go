package reduce_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

const pollers, partners, polls = 8, 5, 12 // ranks, requests, rounds

// poll finishes requests in an order of the rank's own, by calls of a function.
func poll(r *tracktest.Recorder, random *rand.Rand, function string, between func()) {
	left := make([]int64, partners)
	for i := range left {
		left[i] = int64(2 * (partners - i))
	}
	status := func(i int) []int64 { return []int64{1, int64(r.Rank ^ 1), int64(i), 40, 0} }
	list := random.Perm(partners)
	for len(list) > 0 {
		n := 1
		switch function {
		case "MPI_Testsome":
			n = min(random.IntN(4), len(list))
		case "MPI_Waitsome":
			n = 1 + random.IntN(len(list))
		case "MPI_Testany":
			n = random.IntN(2)
		}
		now := list[:n]
		vals := append([]int64{partners, partners}, left...)
		switch function {
		case "MPI_Waitany":
			vals = append(append(vals, int64(now[0])), status(now[0])...)
		case "MPI_Testany":
			if n == 0 {
				vals = append(vals, -32766, 0, 0)
				break
			}
			vals = append(append(vals, int64(now[0]), 1), status(now[0])...)
		default:
			vals = append(vals, int64(n), int64(n))
			for _, i := range now {
				vals = append(vals, int64(i))
			}
			vals = append(vals, int64(n))
			for _, i := range now {
				vals = append(vals, status(i)...)
			}
		}
		r.Call(function, 12, vals...)
		for _, i := range now {
			left[i] = 0
			between()
		}
		list = list[n:]
	}
}

func program(function string, between func(r *tracktest.Recorder)) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		random := rand.New(rand.NewPCG(uint64(r.Rank), 1))
		r.Begin()
		for range polls {
			for i := range partners {
				r.Irecv(10, 10, int64(r.Rank^1), int64(i))
			}
			for i := range partners {
				r.Send(11, 10, int64(r.Rank^1), int64(i))
			}
			poll(r, random, function, func() {
				if between != nil {
					between(r)
				}
			})
			r.Allreduce(13, 1)
		}
		r.End()
	}
}

// spent is what a rank computed and spent in MPI.
func spent(t *testing.T, r *trace.Reader, rank int) (gap, duration float64, finishing int) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for x, err := range k.TimedTerminals(0) {
		if err != nil {
			t.Fatal(err)
		}
		gap, duration = gap+float64(x.Timing.Gap.Ns), duration+float64(x.Timing.Duration.Ns)
	}
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if def, _ := mpi.CallByID(c.Func.ID); meaning.WaitBehaviourOf(def).Completes {
			finishing++
		}
	}
	return gap, duration, finishing
}

// TestOrdered: ranks that finish the same requests in orders of their own are of one class, finish them all, and spent as much as before.
func TestOrdered(t *testing.T) {
	for function, want := range map[string]int{"MPI_Waitany": partners, "MPI_Testany": partners, "MPI_Waitsome": 1, "MPI_Testsome": 1} {
		t.Run(function, func(t *testing.T) {
			tracks := tracktest.RunAll(pollers, program(function, nil))
			for _, x := range tracks {
				x.Process.SpanNs = 0
				for i := range x.Times {
					x.Process.SpanNs += int64(x.Times[i].Gap.Sum + x.Times[i].Duration.Sum)
				}
			}
			before := mergetest.Open(t, tracks, nil)
			after, err := reduce.OrderCompletions(before, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			if err := trace.Check(after); err != nil {
				t.Fatal(err)
			}
			if before.Classes() != pollers || after.Classes() != 1 || after.Size() > before.Size()*2/3 {
				t.Errorf("%d classes in %d bytes, were %d in %d", after.Classes(), after.Size(), before.Classes(), before.Size())
			}
			for d, err := range diff.CompareTraces(before, after, diff.Options{AllowAnyCompletionOrder: true}) {
				t.Errorf("%v, %v", d, err)
			}
			var sums [2][2]float64
			for rank := range pollers {
				for i, r := range []*trace.Reader{before, after} {
					gap, duration, n := spent(t, r, rank)
					sums[i][0], sums[i][1] = sums[i][0]+gap, sums[i][1]+duration
					if i == 1 && n != want*polls {
						t.Errorf("rank %d finishes requests in %d calls, want %d", rank, n, want*polls)
					}
				}
			}
			for i := range sums[0] {
				if off := math.Abs(sums[1][i]/sums[0][i] - 1); off > 0.01 {
					t.Errorf("ranks computed and spent %v, were %v", sums[1], sums[0])
				}
			}
		})
	}
}

// TestOrderStays: where the program does something between, other ranks may see the order.
func TestOrderStays(t *testing.T) {
	before := mergetest.Run(t, pollers, program("MPI_Waitany", func(r *tracktest.Recorder) { r.Send(14, 1, int64(r.Rank), 9); r.Recv(15, 1, int64(r.Rank), 9) }))
	after, err := reduce.OrderCompletions(before, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range diff.CompareTraces(before, after, diff.Options{}) {
		t.Errorf("%v, %v", fmt.Sprint(d), err)
	}
}
