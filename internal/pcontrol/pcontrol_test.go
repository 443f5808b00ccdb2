package pcontrol_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/pcontrol"
	"github.com/spoor-hpc/spoor/internal/track/tracktest"
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

// phases takes a thread call by call: which calls are in the phase of a level.
func phases(t *testing.T, k *trace.Rank, stream int, level int64) (in []bool) {
	t.Helper()
	inside := false
	for c, err := range k.Calls(stream) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() == "MPI_Pcontrol" {
			inside = c.Param("level").In.Num == level
		}
		in = append(in, inside)
	}
	return in
}

// TestPhases: what phases have are the calls that a walk finds, for every level; each begins with
// its MPI_Pcontrol, and Levels has those levels that there are.
func TestPhases(t *testing.T) {
	spans := 0
	for seed := range uint64(60) {
		r := mergetest.Run(t, 3, random(seed))
		var there []int64
		for level := int64(-2); level < 14; level++ {
			any := false
			for rank := range r.Ranks() {
				k, err := r.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				for stream := range k.Streams() {
					want := phases(t, k, stream, level)
					got := make([]bool, len(want))
					x, err := pcontrol.Of(k, stream, level)
					if err != nil {
						t.Fatal(err)
					}
					last := uint64(0)
					for s := range x.All() {
						at := s.First + rand.Uint64N(s.End-s.First)
						if from, ok := x.From(at); from != s || !ok {
							t.Fatalf("seed %d: from %d on %v, %v; want %v", seed, at, from, ok, s)
						}
						if from, ok := x.From(last); from != s || !ok {
							t.Fatalf("seed %d: from %d on %v, %v; want %v", seed, last, from, ok, s)
						}
						if c, err := k.Call(stream, s.First); err != nil || c.Name() != "MPI_Pcontrol" || s.First < last || s.End <= s.First {
							t.Fatalf("seed %d: %v after %d begins with %v, %v", seed, s, last, c, err)
						}
						last = s.End
						spans++
						for i := s.First; i < s.End; i++ {
							got[i] = true
						}
					}
					if from, ok := x.From(last); ok {
						t.Fatalf("seed %d: %v after the last", seed, from)
					}
					any = any || slices.Contains(want, true)
					if !slices.Equal(got, want) {
						t.Fatalf("seed %d, rank %d, thread %d, level %d: %v, want %v", seed, rank, stream, level, got, want)
					}
				}
			}
			if any {
				there = append(there, level)
			}
		}
		levels, err := pcontrol.Levels(r, nil)
		if err != nil || !slices.Equal(levels, there) {
			t.Fatalf("seed %d: levels %v, %v; want %v", seed, levels, err, there)
		}
	}
	if spans < 1000 {
		t.Errorf("only %d spans", spans)
	}
}

func TestParse(t *testing.T) {
	marked := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Pcontrol", 1, 7)
		r.Call("MPI_Pcontrol", 1, int64(-r.Rank))
		r.End()
	})
	plain := mergetest.Run(t, 2, tracktest.Stencil(3))
	for _, x := range []struct {
		r     *trace.Reader
		ranks []int
		name  string
		want  int64
		err   string
	}{
		{marked, nil, "7", 7, ""},
		{marked, nil, "-1", -1, ""},
		{marked, []int{0}, "-1", 0, "there is no phase -1; the program marks 0, 7"},
		{marked, nil, "8", 0, "the program marks -1, 0, 7"},
		{marked, nil, "setup", 0, `"setup" is not a level`},
		{plain, nil, "1", 0, "does not call MPI_Pcontrol"},
	} {
		got, err := pcontrol.Parse(x.name, x.r, x.ranks)
		if got != x.want || (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%s of ranks %v: %d, %v; want %d, %q", x.name, x.ranks, got, err, x.want, x.err)
		}
	}
}
