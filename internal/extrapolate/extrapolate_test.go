package extrapolate

import (
	"errors"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// known are traces of a program on numbers of ranks.
func known(t *testing.T, program func(r *tracktest.Recorder), ranks ...int) (list []*trace.Reader) {
	for _, n := range ranks {
		tracks := tracktest.RunAll(n, program)
		for _, tr := range tracks {
			tracktest.Timed(tr, timing.ModeStats, func(int) (gap, duration uint64) { return 1e6 / uint64(n), 1000 })
		}
		list = append(list, mergetest.Open(t, tracks, nil))
	}
	return list
}

// extrapolated is the trace that a model gives for a number of ranks.
func extrapolated(t *testing.T, m *Model, ranks int) *trace.Reader {
	t.Helper()
	c, err := m.Extrapolate(ranks, Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.ReadBytes(file, "extrapolated")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Computation that ranks share takes less on more ranks, and what a call takes stays.
func TestTimes(t *testing.T) {
	m, err := Learn(known(t, tracktest.Stencil(10), 4, 9, 16, 25, 36), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := extrapolated(t, m, 100)
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for x, err := range k.TimedTerminals(0) {
			if err != nil {
				t.Fatal(err)
			}
			if gap, d := x.Timing.Gap.Ns, x.Timing.Duration.Ns; x.Index > 0 && (gap < 9900 || gap > 10100 || d < 990 || d > 1010) { // as well as sums are known
				t.Fatalf("rank %d, call %d: %d ns before it and %d in it, want 10000 and 1000", rank, x.Index, gap, d)
			}
		}
	}
	for _, far := range []bool{false, true} {
		if c, err := m.Extrapolate(36*farthest+36*4+9, Options{AllowDistantTimes: far}); err != nil || c.NoTimes == far { // a square
			t.Errorf("times far beyond what was run: want %v, %v", far, err)
		}
	}
}

// What is learned from longer runs takes no more memory.
func TestMemory(t *testing.T) {
	var took [2]uint64
	for i, steps := range []int{100, 2000} {
		list := known(t, tracktest.Stencil(steps), 4, 9, 16, 25)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Learn(list, nil); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		took[i] = after.TotalAlloc - before.TotalAlloc
	}
	if took[1] > took[0]*5/4 {
		t.Errorf("%d bytes for 2000 iterations, %d for 100", took[1], took[0])
	}
}

// Requests that complete one by one, in an order of their own, are extrapolated, and what is pending after that is known.
func TestChosen(t *testing.T) {
	program := func(steps int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			next, last := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
			r.Begin()
			for range steps {
				r.Irecv(10, 4, last, 1)
				r.Irecv(11, 4, last, 2)
				r.Send(12, 4, next, 1)
				r.Send(13, 4, next, 2)
				r.Call("MPI_Waitany", 14, 2, 2, 4, 2, 1, 1, last, 2, 16, 0)
				r.Call("MPI_Waitall", 15, 1, 1, 4, -5)
			}
			r.End()
		}
	}
	for _, steps := range []int{2, 50} {
		m, err := Learn(known(t, program(steps), 4, 5, 6, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := extrapolated(t, m, 12)
		for d, err := range diff.CompareTraces(r, mergetest.Run(t, 12, program(steps)), diff.Options{}) {
			t.Fatalf("%d steps: %+v, %v", steps, d, err)
		}
	}
}

// What has no form is refused by name. Where forms differ, a number of ranks is named at which they do.
func TestRefusals(t *testing.T) {
	data := func(r *tracktest.Recorder) {
		r.Begin()
		r.Allreduce(3, int64(r.Rank*r.Rank*7919%(r.Size+13)))
		r.End()
	}
	m, err := Learn(known(t, data, 4, 5, 6, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *Refusal
	if _, err = m.Extrapolate(20, Options{}); !errors.As(err, &refusal) || len(refusal.ReasonByValue) != 1 || len(refusal.HelpfulRankCounts) != 0 {
		t.Errorf("a count without a form: %v", err)
	}
	// On powers of two the partner half the ranks away is the rank with the highest bit the other way.
	half := func(r *tracktest.Recorder) {
		r.Begin()
		r.Send(3, 1, int64((r.Rank+r.Size/2)%r.Size), 1)
		r.Recv(4, 1, int64((r.Rank+(r.Size+1)/2)%r.Size), 1)
		r.Allreduce(5, int64(64/r.Size))
		r.End()
	}
	if m, err = Learn(known(t, half, 4, 8, 16), nil); err != nil {
		t.Fatal(err)
	}
	if _, err = m.Extrapolate(24, Options{}); !errors.As(err, &refusal) || !slices.ContainsFunc(refusal.HelpfulRankCounts, func(n int) bool { return n&(n-1) != 0 }) {
		t.Errorf("how 64 is shared by 24 ranks is not seen on powers of two, but: %v", err)
	}
}

// Forms that fit a few small numbers by chance give no value. These values were once given, and wrong.
func TestChance(t *testing.T) {
	for _, x := range []struct {
		of     func(ranks, rank int64) int64
		known  []int
		wanted int
	}{
		{func(n, _ int64) int64 { return n % 3 }, []int{8, 15, 18, 27, 36}, 50},
		{func(n, _ int64) int64 { return min(n, 16) }, []int{4, 10, 18, 24}, 49},
		{func(n, _ int64) int64 { return 1 << bits.Len64(uint64(n)) * 3 / 4 }, []int{8, 9, 10, 20, 24}, 38},
		{func(n, rank int64) int64 { return n * 7919 % 5 * max(0, rank-n+2) }, []int{6, 10, 16, 20}, 53},
	} {
		m, err := Learn(known(t, func(r *tracktest.Recorder) {
			r.Begin()
			r.Allreduce(3, x.of(int64(r.Size), int64(r.Rank)))
			r.End()
		}, x.known...), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Extrapolate(x.wanted, Options{}); err == nil {
			t.Errorf("there is a trace on %d ranks from ones on %v: %v", x.wanted, x.known, m.FittedValues())
		}
	}
}

// A receiver that is told of other sizes than senders sent is no run.
func TestSizes(t *testing.T) {
	for _, told := range []int64{8, 16} {
		r := mergetest.Open(t, tracktest.RunAll(2, func(r *tracktest.Recorder) {
			r.Begin()
			if r.Rank == 0 {
				r.Send(3, 8, 1, 0)
			} else {
				r.Recv(4, told, 0, 0)
			}
			r.End()
		}), nil)
		if err := sameSizes(r); (err == nil) != (told == 8) {
			t.Errorf("8 numbers sent, %d told: %v", told, err)
		}
	}
}

// Values that are refused alike in several iterations are one line, with their number.
func TestRefusalText(t *testing.T) {
	r := Refusal{TargetRanks: 20, ReasonByValue: map[string]string{
		"dest of MPI_Send at a.c:1 in iteration [0 0]": "no form fits",
		"dest of MPI_Send at a.c:1 in iteration [0 1]": "no form fits",
		"tag of MPI_Send at a.c:1":                     "no form fits",
	}}
	want := `3 values of a run on 20 ranks can't be determined from these traces:
  dest of MPI_Send at a.c:1, in 2 iterations that differ: no form fits
  tag of MPI_Send at a.c:1: no form fits`
	if r.Error() != want {
		t.Errorf("it says %s", r.Error())
	}
}

// A function that does not do what is expected of it is fitted.
func TestContradiction(t *testing.T) {
	program := func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Comm_rank", 3, tracktest.World, int64(r.Rank))
		r.Call("MPI_Comm_size", 4, tracktest.World, int64(2*r.Size+1))
		r.End()
	}
	m, err := Learn(known(t, program, 4, 5, 6, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := m.m.fitted; !f["MPI_Comm_size"] || f["MPI_Comm_rank"] {
		t.Errorf("fitted: %v", f)
	}
	for d, err := range diff.CompareTraces(extrapolated(t, m, 12), mergetest.Run(t, 12, program), diff.Options{}) {
		t.Fatalf("%+v, %v", d, err)
	}
}

// Faces of blocks in a grid have a total for each side.
func TestFaces(t *testing.T) {
	program := func(r *tracktest.Recorder) {
		share := func(total int64, d int) int64 {
			v, _ := expr.MustParse("share(%d, side(GRID_3D_BALANCED, %d), coordinate(GRID_3D_BALANCED, %[2]d))", total, d).Eval(&env{expr.VariableRankCount: int64(r.Size), expr.VariableRank: int64(r.Rank)})
			return v
		}
		r.Begin()
		r.Allreduce(3, share(80, 0)*share(96, 1))
		r.Allreduce(4, 8*(share(96, 1)+2)*(share(120, 2)+2))
		r.Allreduce(5, share(80, 0)*share(96, 1)*share(120, 2))
		r.End()
	}
	m, err := Learn(known(t, program, 12, 18, 24, 27, 36, 48), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Assumptions(64); len(got) != 2 || got[0] != "ranks are a grid of 4 × 4 × 4, as even as on the traced numbers" || !strings.Contains(got[1], "48 ranks") {
		t.Errorf("assumed: %q", got)
	}
	for d, err := range diff.CompareTraces(extrapolated(t, m, 64), mergetest.Run(t, 64, program), diff.Options{}) {
		t.Fatalf("%+v, %v", d, err)
	}
}

// Whose turn it is in an iteration is one form for all of them, also where iterations are alike at a distance.
func TestTurns(t *testing.T) {
	for _, rounds := range []int{40, 900} {
		program := func(r *tracktest.Recorder) {
			r.Begin()
			for k := range rounds {
				r.Call("MPI_Bcast", 3, 1<<40, 0, 8, tracktest.IntType, int64(k%r.Size), tracktest.World)
				if k%r.Size == r.Rank {
					r.Call("MPI_Wtime", 4)
				}
				r.Allreduce(5, 1)
			}
			r.End()
		}
		m, err := Learn(known(t, program, 4, 6, 8, 9), nil)
		if err != nil {
			t.Fatal(err)
		}
		for d, err := range diff.CompareTraces(extrapolated(t, m, 20), mergetest.Run(t, 20, program), diff.Options{}) {
			t.Fatalf("%d rounds: %+v, %v", rounds, d, err)
		}
	}
}
