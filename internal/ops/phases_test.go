package ops_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// random marks phases of two threads at random, in loops and apart, each rank as its own seed has it;
// one phase has the rank as its level.
func random(seed uint64) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		rnd := rand.New(rand.NewPCG(seed, uint64(r.Rank)*(seed%2)))
		r.Begin()
		for range rnd.IntN(12) {
			stream, level, calls := rnd.IntN(2), int64(rnd.IntN(4)-1), rnd.IntN(6)
			for range 1 + rnd.IntN(5) {
				switch rnd.IntN(8) {
				case 0:
					r.Phase("any call")
					r.CallOn(stream, "MPI_Barrier", 2, 0, tracktest.World)
				case 1:
					r.Phase("both")
					r.CallOn(stream, "MPI_Pcontrol", 1, 0, level)
				case 2:
					r.CallOn(stream, "MPI_Pcontrol", 3, 0, int64(10+r.Rank))
				default:
					r.CallOn(stream, "MPI_Pcontrol", 1, 0, level)
				}
				for range calls {
					r.CallOn(stream, "MPI_Barrier", 2, 0, tracktest.World)
				}
			}
		}
		r.End()
	}
}

// phases takes a thread call by call: which calls are in a phase.
func phases(t *testing.T, k *trace.Rank, stream int, name string) (in []bool) {
	t.Helper()
	inside := false
	for c, err := range k.Calls(stream) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() == "MPI_Pcontrol" {
			inside = fmt.Sprint(c.Param("level").In.Num) == name || c.Phase == name
		} else if c.Phase != "" {
			inside = c.Phase == name
		}
		in = append(in, inside)
	}
	return in
}

// TestPhases: what phases have are the calls that a walk finds, for every name; each begins with
// its mark, and PhaseNames has those that there are.
func TestPhases(t *testing.T) {
	spans := 0
	for seed := range uint64(60) {
		r := mergetest.Run(t, 3, random(seed))
		var there []string
		for level := -2; level < 16; level++ {
			name := strconv.Itoa(level)
			if level >= 14 {
				name = []string{"any call", "both"}[level-14]
			}
			any := false
			for rank := range r.Ranks() {
				k, err := r.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				for stream := range k.Streams() {
					want := phases(t, k, stream, name)
					got := make([]bool, len(want))
					x, err := ops.PhasesOf(k, stream, name)
					if err != nil {
						t.Fatal(err)
					}
					last := uint64(0)
					for s := range x.All() {
						at := s.First + rand.Uint64N(s.End-s.First)
						if from, ok := x.FirstEndingAfter(at); from != s || !ok {
							t.Fatalf("seed %d: from %d on %v, %v; want %v", seed, at, from, ok, s)
						}
						if from, ok := x.FirstEndingAfter(last); from != s || !ok {
							t.Fatalf("seed %d: from %d on %v, %v; want %v", seed, last, from, ok, s)
						}
						if c, err := k.Call(stream, s.First); err != nil || c.Name() != "MPI_Pcontrol" && c.Phase != name || s.First < last || s.End <= s.First {
							t.Fatalf("seed %d: %v after %d begins with %v, %v", seed, s, last, c, err)
						}
						last = s.End
						spans++
						for i := s.First; i < s.End; i++ {
							got[i] = true
						}
					}
					if from, ok := x.FirstEndingAfter(last); ok {
						t.Fatalf("seed %d: %v after the last", seed, from)
					}
					any = any || slices.Contains(want, true)
					if !slices.Equal(got, want) {
						t.Fatalf("seed %d, rank %d, thread %d, phase %s: %v, want %v", seed, rank, stream, name, got, want)
					}
				}
			}
			if any {
				there = append(there, name)
			}
		}
		names, err := ops.PhaseNames(r, nil)
		if err != nil || !slices.Equal(names, there) {
			t.Fatalf("seed %d: phases %v, %v; want %v", seed, names, err, there)
		}
	}
	if spans < 1000 {
		t.Errorf("only %d spans", spans)
	}
}

func TestCheck(t *testing.T) {
	levels := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Pcontrol", 1, 0)
		r.Call("MPI_Pcontrol", 1, 7)
		r.Call("MPI_Pcontrol", 1, int64(-r.Rank))
		r.Phase("solve")
		r.Call("MPI_Barrier", 2, tracktest.World)
		r.End()
	})
	plain := mergetest.Run(t, 2, tracktest.Stencil(3))
	for _, x := range []struct {
		r     *trace.Reader
		ranks []int
		name  string
		err   string
	}{
		{levels, nil, "7", ""},
		{levels, nil, "-1", ""},
		{levels, nil, "solve", ""},
		{levels, []int{0}, "-1", "there is no phase -1; marked are 0, 7, solve"},
		{levels, nil, "8", "there is no phase 8; marked are -1, 0, 7, solve"},
		{levels, nil, "setup", "there is no phase setup; marked are -1, 0, 7, solve"},
		{plain, nil, "1", "does not call MPI_Pcontrol, and no plugin did"},
	} {
		err := ops.CheckPhase(x.name, x.r, x.ranks)
		if (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%s of ranks %v: %v; want %q", x.name, x.ranks, err, x.err)
		}
	}
}
