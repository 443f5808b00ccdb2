package trackwriter_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
)

// TestLanes: values that count become a lane of one terminal, on each thread its own; calls, times and
// what was measured before them are all there.
func TestLanes(t *testing.T) {
	send, _ := mpi.CallNamed("MPI_Send")
	recv, _ := mpi.CallNamed("MPI_Recv")
	for _, flat := range []bool{false, true} {
		w := trackwriter.NewWriter(0, 0)
		w.NoLanes = flat
		var told [2][]string
		measured, now := uint64(0), [2]uint64{}
		call := func(thread int, def *mpi.Call, vals ...int64) {
			n, err := w.AddCall(thread, def.ID, 7, vals)
			if err != nil {
				t.Fatal(err)
			}
			told[thread] = append(told[thread], fmt.Sprint(def.ID, vals))
			now[thread] += 30
			w.SetLastCallTimes(thread, n, now[thread]-20, now[thread])
			w.AttachValue(n, "load", 2)
			measured++
		}
		for range 3 {
			for i := range int64(700) {
				for thread := range 2 {
					call(thread, send, 0, 1, 0, 4, 1, 0, i, 257)
					call(thread, send, 0, 1, 0, 4, 1, 0, 5*i, 258) // as often in another communicator
				}
				call(0, recv, 0, 1, 0, 4, 1, 0, i%3, 257, 1, 0, i%3, 16, 0)
			}
		}
		tr, err := w.Finish(timing.Options{Mode: timing.ModeLossless})
		if err != nil {
			t.Fatal(err)
		}
		count, attached := uint64(0), uint64(0)
		for i := range tr.Times {
			count += tr.Times[i].Duration.Count
			attached += tr.AttachedStats["load"][i].Count
		}
		if count != measured || attached != measured {
			t.Errorf("times of %d calls, %d measured values, want %d of each", count, attached, measured)
		}
		if lanes := len(tr.Lanes) > 0; lanes == flat || !flat && len(tr.Signatures) > 600 {
			t.Errorf("flat %v: %d distinct calls, %d lanes", flat, len(tr.Signatures), len(tr.Lanes))
		}
		tr.Process.Threads = len(tr.Streams)
		r := mergetest.Open(t, []*track.Track{tr}, nil)
		k, err := r.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		for thread := range told {
			var got []string
			for terminal, vals := range k.SignaturesFrom(thread, 0) {
				got = append(got, fmt.Sprint(k.CallWithoutParams(terminal).Func.ID, vals))
			}
			if !slices.Equal(got, told[thread]) {
				t.Errorf("flat %v, thread %d: other calls", flat, thread)
			}
		}
		w.Close()
	}
}
