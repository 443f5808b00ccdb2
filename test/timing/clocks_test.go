package timing

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/trace"
)

// Ranks whose clocks are seconds apart and drift are put on one time line: nobody
// leaves a barrier before all have come.
func TestSkewedClocks(t *testing.T) {
	a := build(t, "barriers.c", 4)
	skews := []skew{{}, {3e9, 800, time.Now().UnixNano()}, {-5e6, -700, time.Now().UnixNano()}}
	t.Setenv("SPOOR_CLOCK_SKEW", fmt.Sprintf("1:%v,2:%v", skews[1], skews[2]))
	r := a.trace("--timing", "lossless")
	clocks, err := r.Clocks()
	if err != nil || len(clocks) != 3 {
		t.Fatalf("clocks %v, error %v", clocks, err)
	}
	bounds := int64(0)
	for i, l := range clocks {
		bounds += l.ErrorNs
		skews[i].check(t, i, l)
	}
	// Each process has calibrated its ticks with what error a look at two clocks has.
	room := bounds + 20_000
	var last, first []int64 // of each barrier: the last start, the first end
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Name() != "MPI_Barrier" {
				continue
			}
			if rank == 0 {
				last, first = append(last, c.StartNs), append(first, c.EndNs())
			}
			last[n], first[n] = max(last[n], c.StartNs), min(first[n], c.EndNs())
			n++
			m, err := k.MomentAt(0, (c.StartNs+c.EndNs())/2)
			if err != nil || !(m.State == trace.StateInCall) || m.LastBegunCall.Index != c.Index {
				t.Errorf("rank %d: call %d is not found at its time but %+v, error %v", rank, c.Index, m, err)
			}
		}
		if n != 150 {
			t.Fatalf("rank %d: %d barriers", rank, n)
		}
	}
	worst := int64(math.MinInt64)
	for i := range last {
		worst = max(worst, last[i]-first[i])
	}
	t.Logf("the worst barrier is left %d ns before all have come, %d allowed", worst, room)
	if worst > room {
		t.Errorf("a barrier is left %d ns before all have come, more than %d", worst, room)
	}
	// Without the comparison, rank 1 would be 3 s late.
	if raw := starts(t, r, false); raw[1]-raw[0] < 2e9 {
		t.Errorf("processes start at %v: no skew", raw)
	}
	if s := starts(t, r, true); slices.Max(s)-slices.Min(s) > 1e9 {
		t.Errorf("ranks start at %v", s)
	}
	// Means are on the same time line.
	r = a.trace()
	if s := starts(t, r, true); slices.Max(s)-slices.Min(s) > 1e9 {
		t.Errorf("with means, ranks start at %v", s)
	}
}

// A skew is how a clock was told to differ from rank 0's.
type skew struct {
	by    int64 // ns
	ppm   float64
	since int64 // when it began to drift, ns since 1970
}

// String is what SPOOR_CLOCK_SKEW has behind the rank.
func (s skew) String() string { return fmt.Sprintf("%d:%g:%d", s.by, s.ppm, s.since) }

// offset is how far rank 0's clock is ahead of this one when this one reads at.
func (s skew) offset(at int64) float64 {
	drift := s.ppm * 1e-6
	return -float64(s.by) - drift/(1+drift)*float64(at-s.by-s.since)
}

// check holds what was found of clock n against the truth. Readings of clocks by ticks may
// be off by as much as a look at two clocks takes.
func (s skew) check(t *testing.T, n int, l trace.Clock) {
	t.Helper()
	t.Logf("clock %d: offsets %v, drift %.2f ppm, within %d ns", n, l.Rank0MinusThisNs, 1e6*l.Drift(), l.ErrorNs)
	if n == 0 {
		if l != (trace.Clock{}) {
			t.Errorf("rank 0's clock is %+v", l)
		}
		return
	}
	for i, at := range l.ComparedAtNs {
		if want := s.offset(at); math.Abs(float64(l.Rank0MinusThisNs[i])-want) > float64(l.ErrorNs)+20_000 {
			t.Errorf("clock %d: offset %d, want %.0f within %d", n, l.Rank0MinusThisNs[i], want, l.ErrorNs)
		}
	}
	want := -s.ppm / (1 + s.ppm*1e-6)
	room := 2*float64(l.ErrorNs)/float64(l.ComparedAtNs[1]-l.ComparedAtNs[0])*1e6 + 2
	if d := 1e6 * l.Drift(); math.Abs(d-want) > room {
		t.Errorf("clock %d drifts by %.1f ppm, want %.1f, give or take %.1f", n, d, want, room)
	}
}

// starts returns the starts of ranks, by the time line or by their own clocks.
func starts(t *testing.T, r *trace.Reader, line bool) []int64 {
	t.Helper()
	var list []int64
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		at, err := k.StartNs()
		if err != nil {
			t.Fatal(err)
		}
		if !line {
			p, err := k.Process()
			if err != nil {
				t.Fatal(err)
			}
			at = p.InitWallClockNs
		}
		list = append(list, at)
	}
	return list
}

// Ranks of one machine have one clock: nothing is estimated, nothing stored.
func TestOneClock(t *testing.T) {
	r := build(t, "wavefront.c", 2).trace()
	if clocks, err := r.Clocks(); err != nil || clocks != nil {
		t.Errorf("clocks %v, error %v", clocks, err)
	}
}
