package merge_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A rank's total is no less than its longest call, though it is stored with fewer digits; where
// each rank made one call, both are the same.
func TestExtremesAgree(t *testing.T) {
	tracks := tracktest.RunAll(9, func(r *tracktest.Recorder) {
		r.Begin()
		for range 5 {
			r.Allreduce(3, 1)
		}
		r.End()
	})
	for _, tr := range tracks {
		for i := range tr.Times {
			d := &tr.Times[i].Duration
			n := d.Count
			*d = trace.Stat{}
			for k := range n {
				ns := uint64(1)
				if k == 0 {
					ns = 437_123_457 + uint64(tr.Rank*tr.Rank)*717_119
				}
				d.Add(ns)
			}
		}
	}
	r, err := readerOf(file(t, throughTree(t, tracks)))
	if err != nil {
		t.Fatal(err)
	}
	times, err := r.Times(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range times {
		total := x.SiteDurationTotals
		if total.Max < x.Duration.Max {
			t.Errorf("terminal %d: most of a rank %d, of a call %d", i, total.Max, x.Duration.Max)
		}
		if x.Duration.Count == 9 && (total.Max != x.Duration.Max || total.Min != x.Duration.Min || total.MaxRank != 8) {
			t.Errorf("terminal %d: totals from %d to %d, calls from %d to %d", i, total.Min, total.Max, x.Duration.Min, x.Duration.Max)
		}
	}
}
