package trackwriter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
)

// TestLeft: arrays of requests that calls leave are read as they were passed, with statuses that belong to them, from the first call and
// from any other.
func TestLeft(t *testing.T) {
	id := func(name string) uint16 {
		def, ok := mpi.CallNamed(name)
		if !ok {
			t.Fatal(name)
		}
		return def.ID
	}
	irecv, waitany, testsome, testall := id("MPI_Irecv"), id("MPI_Waitany"), id("MPI_Testsome"), id("MPI_Testall")
	leftOut := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := trackwriter.NewWriter(0, 0)
		var told []string
		call := func(function uint16, vals []int64) {
			if _, err := w.AddCall(0, function, 7, vals); err != nil {
				t.Fatal(err)
			}
			told = append(told, fmt.Sprint(function, vals))
		}
		made := int64(0)
		post := func() int64 {
			made++
			call(irecv, []int64{0, 257, 0, 4, 0x247, made % 3, 5, mpi.HandleCommWorld, 2})
			return made
		}
		status := func(request int64) []int64 {
			return []int64{signature.StatusFormFilled, request % 3, 5, 4 - r.Int64N(5)/4, 0}
		}
		var array []int64
		for range 200 {
			if what := r.IntN(6); what == 0 || len(array) == 0 {
				array = nil
				for range 1 + r.IntN(4) {
					array = append(array, post())
				}
			} else if what == 1 {
				post()
			}
			n := int64(len(array))
			vals := []int64{0, n, n}
			var open []int
			for k, request := range array {
				if vals = append(vals, signature.NameOfRequest(request, made)); request > 0 {
					open = append(open, k)
				}
			}
			switch kind := r.IntN(4); {
			case kind == 0 && len(open) == len(array):
				vals = append(vals, 1, n)
				for k := range array {
					vals, array[k] = append(vals, status(array[k])...), 0
				}
				call(testall, vals)
			case kind == 1 && len(open) > 0:
				k := open[r.IntN(len(open))]
				call(waitany, append(append(vals, int64(k)), status(array[k])...))
				array[k] = 0
			default:
				var indices, statuses []int64
				for _, k := range open {
					if r.IntN(3) == 0 {
						indices, statuses = append(indices, int64(k)), append(statuses, status(array[k])...)
						array[k] = 0
					}
				}
				some := int64(len(indices))
				call(testsome, append(append(append(append(vals, some, some), indices...), some), statuses...))
			}
		}
		tr, err := w.Finish(timing.Options{Mode: timing.ModeStats})
		if err != nil {
			t.Fatal(err)
		}
		tr.Process.Threads = 1
		k, err := mergetest.Open(t, []*track.Track{tr}, nil).Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		calls, err := k.DistinctCalls()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if c.RequestsFromEarlierCall() {
				leftOut++
			}
		}
		var texts []string
		walk, err := k.Walk(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for walk.Next() {
			texts = append(texts, string(walk.AppendText(nil)))
		}
		if err := walk.Err(); err != nil {
			t.Fatal(err)
		}
		for _, from := range []int{0, r.IntN(len(told)), r.IntN(len(told)), len(told) - 1} {
			at := from
			for terminal, vals := range k.SignaturesFrom(0, uint64(from)) {
				if got := fmt.Sprint(k.CallWithoutParams(terminal).Func.ID, vals); got != told[at] {
					t.Fatalf("seed %d, call %d, from %d: %s, want %s", seed, at, from, got, told[at])
				}
				at++
			}
			if at != len(told) {
				t.Fatalf("%d calls, want %d", at, len(told))
			}
			var again []string
			for c, err := range k.CallsFrom(0, uint64(from)) {
				if err != nil {
					t.Fatal(err)
				}
				again = append(again, string(c.AppendText(nil)))
			}
			if !slices.Equal(again, texts[from:]) {
				t.Fatalf("seed %d: other calls from %d on", seed, from)
			}
			if walk, err = k.Walk(0, uint64(from)); err != nil {
				t.Fatal(err)
			}
			for again = nil; walk.Next(); {
				again = append(again, string(walk.AppendText(nil)))
			}
			if !slices.Equal(again, texts[from:]) {
				t.Fatalf("seed %d: other calls in a walk from %d on", seed, from)
			}
		}
	}
	if leftOut < 100 {
		t.Errorf("%d distinct calls with an array that was left", leftOut)
	}
}
