package traced

import (
	"syscall"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/machine"
	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/track/tracktest"
)

// processor is the time that the process has kept processors busy.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPredict gives millions of calls, and of operations, per second of processor time.
func BenchmarkPredict(b *testing.B) {
	for _, p := range []struct {
		name    string
		ranks   int
		program func(r *tracktest.Recorder)
	}{{"stencil", 64, tracktest.Stencil(1000)}, {"butterfly", 64, tracktest.Butterfly(500)}, {"few calls", 1024, tracktest.Stencil(5)}} {
		b.Run(p.name, func(b *testing.B) {
			r := mergetest.Run(b, p.ranks, p.program)
			m, err := machine.Load("infiniband")
			if err != nil {
				b.Fatal(err)
			}
			var calls, ops uint64
			from := processor(b)
			for b.Loop() {
				p, err := Predict(r, Options{Machine: m})
				if err != nil {
					b.Fatal(err)
				}
				calls, ops = calls+p.Calls, ops+p.Operations
			}
			took := processor(b) - from
			b.ReportMetric(float64(calls)/1e6/took.Seconds(), "Mcalls/s")
			b.ReportMetric(float64(ops)/1e6/took.Seconds(), "Mops/s")
		})
	}
}
