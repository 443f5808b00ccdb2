package signature

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// TestLeft: arrays of requests that are as the call before left them are left out and filled in again, whatever happens in between;
// others are not left out.
func TestLeft(t *testing.T) {
	const foreign = -3
	layouts := make(map[string]*Layout)
	for _, name := range []string{"MPI_Waitany", "MPI_Testany", "MPI_Waitsome", "MPI_Testsome", "MPI_Testall", "MPI_Waitall", "MPI_Wait"} {
		if layouts[name] = layoutNamed(t, name); layouts[name].LeavesRequestArray() != (name != "MPI_Waitall" && name != "MPI_Wait") {
			t.Errorf("%s: leaves %v", name, layouts[name].LeavesRequestArray())
		}
	}
	leftOut, kept := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		made := int64(0)
		var array []int64 // as Left.Requests
		var out, in RequestArrayState
		var was []int64 // nil: not known
		fresh := func() int64 {
			switch r.IntN(6) {
			case 0:
				return 0
			case 1:
				return -1 - r.Int64N(3)
			}
			made++
			return made
		}
		for i := range 200 {
			switch r.IntN(12) {
			case 0: // another array
				array = nil
				for range r.IntN(5) {
					array = append(array, fresh())
				}
			case 1: // a pool that posts again
				if len(array) > 0 {
					array[r.IntN(len(array))] = fresh()
				}
			case 2:
				made++
			}
			strange, failed, n := r.IntN(15) == 0 && len(array) > 0, r.IntN(15) == 0, int64(len(array))
			vals := []int64{0, n, n}
			for _, request := range array {
				vals = append(vals, NameOfRequest(request, made))
			}
			if strange {
				vals[3] = foreign
			}
			before := slices.Clone(array)
			var ended []int
			var some []int64
			for k := range array {
				if r.IntN(3) == 0 {
					ended, some = append(ended, k), append(some, int64(k))
				}
			}
			name := ""
			flag := int64(1)
			switch kind := r.IntN(4); {
			case failed:
				name, vals, ended = "MPI_Waitany", append(vals, mpi.Undefined, StatusFormEmpty), nil
				vals[0] = 15
			case kind == 0 && len(ended) > 0:
				name, ended = "MPI_Testany", ended[:1]
				vals = append(vals, some[0], 1, StatusFormIgnored, 1, 2, 3, 0)
			case kind == 1 && len(ended) > 0:
				name, ended = "MPI_Waitany", ended[:1]
				vals = append(vals, some[0], StatusFormOfSend, 0)
			case kind == 2:
				if ended = nil; r.IntN(3) > 0 {
					flag = 0
				}
				for k := range array {
					if flag == 1 {
						ended = append(ended, k)
					}
				}
				name, vals = "MPI_Testall", append(vals, flag, -5)
			default:
				name = "MPI_Testsome"
				vals = append(append(append(vals, int64(len(some)), int64(len(some))), some...), -5)
			}
			l := layouts[name]
			spans, err := l.Spans(nil, vals)
			if err != nil {
				t.Fatal(seed, i, name, vals, err)
			}
			short := out.AppendOmittingArray(nil, l, spans, vals, made)
			if spans, err = l.Spans(nil, short); err != nil {
				t.Fatal(seed, i, name, short, err)
			}
			if got, ok := in.AppendRestoringArray(nil, l, spans, short, made); !ok || !slices.Equal(got, vals) {
				t.Fatalf("seed %d, call %d: %s: %v of %v, want %v", seed, i, name, got, short, vals)
			}
			a := l.RequestArrayOf(spans, short)
			in.SetArrayAfterCall(&a, made)
			asLeft := was != nil && slices.Equal(was, before) && !strange
			switch isOut := short[2] == LengthFromEarlierCall; {
			case isOut && !asLeft:
				t.Fatalf("seed %d, call %d: %v is not %v", seed, i, before, was)
			case isOut:
				leftOut++
			case asLeft:
				kept++
			}
			if !failed {
				for _, k := range ended {
					if array[k] > 0 {
						array[k] = 0
					}
				}
			}
			if was = nil; !failed && !strange {
				was = slices.Clone(array)
			}
		}
	}
	if leftOut == 0 || kept == 0 {
		t.Errorf("%d arrays left out, %d that repeat one that was kept", leftOut, kept)
	}
}

// TestPollStays: a poll on which nothing happens is the same call each time, kept or left out.
func TestPollStays(t *testing.T) {
	var x RequestArrayState
	pass := func(want bool, made int64, ended []int, requests ...int64) {
		t.Helper()
		got := x.CanOmitArray(requests, made)
		if x.SetPassedArray(requests, made, got); got != want {
			t.Errorf("%v: left out %v", requests, got)
		}
		x.EndCall(EndedRequests{AreKnown: true, Indices: ended})
	}
	pass(false, 2, nil, 1, 2)
	pass(false, 2, nil, 1, 2)
	pass(false, 2, []int{0}, 1, 2)
	pass(true, 2, nil, 0, 2)
	pass(true, 2, nil, 0, 2)
	pass(true, 3, nil, 0, 2)
	pass(true, 3, []int{1}, 0, 2)
	pass(true, 3, nil, 0, 0)
	pass(false, 5, nil, 4, 5)
	pass(true, 6, nil, 4, 5)
	x.ForgetArray()
	pass(false, 6, nil, 4, 5)
}
