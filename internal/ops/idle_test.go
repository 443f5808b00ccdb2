package ops_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/ops"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// TestIdle: what calls did that matter is told just the same where long stretches of others are not,
// between them and at the end.
func TestIdle(t *testing.T) {
	probe := func(r *tracktest.Recorder, times int) {
		for range times {
			r.Call("MPI_Iprobe", 5, 0, 3, tracktest.World, 0, 0)
			r.Call("MPI_Wtime", 6)
		}
	}
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 4 {
			r.Irecv(10, 100, int64(1-r.Rank), 7)
			probe(r, []int{10, 5000, 3000, 40000}[i])
			r.Isend(20, 100, int64(1-r.Rank), 7)
			r.Waitall(30, 2)
		}
		probe(r, 20000)
	})
	idle := func(f *trace.Function) func(c *trace.Call) bool {
		if f.Name != "MPI_Iprobe" && f.Name != "MPI_Wtime" {
			return nil
		}
		return func(*trace.Call) bool { return true }
	}
	all, losses := told(t, r, everything)
	o, calls := everything, uint64(0)
	o.IsIdle, o.AddProgress = idle, func(n uint64) { calls += n }
	some, fewer := told(t, r, o)
	if diff := cmp.Diff(all.acts, some.acts) + cmp.Diff(all.sent, some.sent) + cmp.Diff(losses, fewer); diff != "" {
		t.Error(diff)
	}
	if all.acts[ops.ActSendEnd] != 8 {
		t.Errorf("%d sends", all.acts[ops.ActSendEnd])
	}
	// Of the long stretches about 64 each.
	if calls < 2*64*4 || calls > 2*100*4 {
		t.Errorf("%d calls were looked at", calls)
	}
}
