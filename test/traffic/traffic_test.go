package traffic

import (
	"maps"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Three ranks send 10 integers to the next one, so many times each; the last message of rank 2 is received by nobody if lost is set.
func ring(t *testing.T, times [3]int, lost bool) *Traffic {
	t.Helper()
	x, err := Of(mergetest.Run(t, 3, func(r *tracktest.Recorder) {
		r.Begin()
		from := (r.Rank + 2) % 3
		for range times[r.Rank] {
			r.Send(3, 10, int64((r.Rank+1)%3), 1)
		}
		for i := range times[from] {
			if !lost || from != 2 || i > 0 {
				r.Recv(4, 10, int64(from), 1)
			}
		}
		r.End()
	}))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What isn't received is found, and differences are those of bytes that were sent.
func TestTraffic(t *testing.T) {
	truth, more := ring(t, [3]int{4, 2, 2}, false), ring(t, [3]int{5, 2, 1}, false)
	if truth.Out[0] != 160 || truth.In[1] != 160 || truth.Pairs[Pair{0, 1}].Messages != 4 || len(truth.Left) > 0 || truth.Wild > 0 {
		t.Errorf("%+v", truth)
	}
	if got := ring(t, [3]int{4, 2, 2}, true).Left; !maps.Equal(got, map[Channel]Left{{Pair{2, 0}, 0, 1}: {1, 40}}) {
		t.Errorf("left %v", got)
	}
	if !truth.Equal(truth) || truth.Equal(more) {
		t.Error("not told apart")
	}
	if out, in := truth.Most(); out != 1.5 || in != 1.5 || truth.Distance() != (4*1+2*1+2*2)/8.0 {
		t.Errorf("most %v, %v, distance %v", out, in, truth.Distance())
	}
	off := more.Off(truth)
	if off.Total != 0 || off.Rank != 0.5 || off.Pair != 0.5 || math.Abs(off.MeanRank-0.25) > 1e-9 || off.MeanPair != off.MeanRank {
		t.Errorf("%+v", off)
	}
}
