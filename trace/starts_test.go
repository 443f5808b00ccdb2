package trace_test

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

// Whatever is kept of times, each call begins within what is said of where it is placed, errors don't add up over
// the run, calls are in order, the last one ends with the rank, and what is found by time is what is walked by.
func TestStarts(t *testing.T) {
	const ranks, rounds = 2, 6000 // more than two blocks of calls
	random := rand.New(rand.NewPCG(7, 8))
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			for range 10 {
				r.Allreduce(3, 1)
			}
			r.Call("MPI_Barrier", 4, tracktest.World)
		}
		r.End()
	})
	var times [ranks][][2]uint64
	for rank := range times {
		for i := range 11*rounds + 2 {
			gap, duration := uint64(100+random.IntN(900)), uint64(2000+random.IntN(500))
			switch {
			case i == 0:
				gap = 0
			case i%11 == 1:
				gap += 40_000 + uint64(10_000*rank)
			}
			times[rank] = append(times[rank], [2]uint64{gap, duration})
		}
	}
	for _, mode := range timing.Modes {
		if mode == timing.ModeNone || testing.Short() && mode != timing.ModeLossless && mode != timing.ModePlace {
			continue
		}
		t.Run(string(mode), func(t *testing.T) { checkStarts(t, mode, tracks, times[:]) })
	}
}

func checkStarts(t *testing.T, mode timing.Mode, tracks []*track.Track, times [][][2]uint64) {
	every := uint64(4999)
	if testing.Short() {
		every = 29_989
	}
	for rank, tr := range tracks {
		tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) { return times[rank][i][0], times[rank][i][1] })
	}
	r := mergetest.Open(t, tracks, nil)
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	for rank := range tracks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		begin, err := k.StartNs()
		if err != nil || rank == 0 && begin != 0 {
			t.Fatalf("rank %d begins at %d; %v", rank, begin, err)
		}
		end, err := k.EndNs()
		if err != nil {
			t.Fatal(err)
		}
		at, last, worst := begin, begin, uint64(0)
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			at += int64(times[rank][c.Index][0])
			off := max(c.StartNs-at, at-c.StartNs)
			if c.StartErrorBoundNs > math.MaxInt64 || off > int64(c.StartErrorBoundNs) {
				t.Fatalf("rank %d: call %d begins at %d, which is within %d of %d, but is at %d", rank, c.Index, c.StartNs, c.StartErrorBoundNs, c.StartNs, at)
			}
			if c.StartNs < last || c.EndNs() < c.StartNs || c.EndNs() > end {
				t.Fatalf("rank %d: call %d is from %d to %d, the one before ended at %d, the rank ends at %d", rank, c.Index, c.StartNs, c.EndNs(), last, end)
			}
			if exact := mode == timing.ModeLossless; exact != (c.StartErrorBoundNs == 0) {
				t.Fatalf("call %d is within %d of its start", c.Index, c.StartErrorBoundNs)
			}
			last, worst = c.EndNs(), max(worst, uint64(off))
			if at += int64(times[rank][c.Index][1]); c.Index%every != 1 {
				continue
			}
			for sought, err := range k.TimedCallsFrom(0, c.Index) {
				if err != nil || sought.StartNs != c.StartNs || sought.Timing != c.Timing || sought.StartErrorBoundNs != c.StartErrorBoundNs {
					t.Fatalf("call %d sought: %+v at %d within %d, walked: %+v at %d within %d; %v", c.Index, sought.Timing, sought.StartNs, sought.StartErrorBoundNs, c.Timing, c.StartNs, c.StartErrorBoundNs, err)
				}
				break
			}
			m, err := k.MomentAt(0, c.StartNs)
			if err != nil || m.LastBegunCall.Call == nil || m.LastBegunCall.Index < c.Index || m.LastBegunCall.StartNs != c.StartNs || m.TimeKind != c.Timing.Duration.Kind {
				t.Fatalf("at %d: %+v, want call %d; %v", c.StartNs, m, c.Index, err)
			}
		}
		// Of 400 ms and more.
		if float64(end-last) > 0.002*float64(end-begin) || worst > 300_000 {
			t.Errorf("rank %d: the last call ends at %d, the rank at %d; a start is %d ns off", rank, last, end, worst)
		}
		t.Logf("rank %d of %d ns: starts are at most %d ns off", rank, end-begin, worst)
	}
}
