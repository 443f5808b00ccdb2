package traced

import (
	"syscall"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
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

// BenchmarkSimulate gives millions of operations per second of processor time that the engine goes
// through, without what it takes to load a trace; and how long the engine takes with short cuts.
func BenchmarkSimulate(b *testing.B) {
	for _, p := range []struct {
		name    string
		ranks   int
		program func(r *tracktest.Recorder)
	}{{"stencil", 64, tracktest.Stencil(1000)}, {"butterfly", 64, tracktest.Butterfly(1000)}, {"transpose", 64, tracktest.Transpose(300)}} {
		b.Run(p.name, func(b *testing.B) {
			r := mergetest.Run(b, p.ranks, p.program)
			m, err := machine.LoadMachine("infiniband")
			if err != nil {
				b.Fatal(err)
			}
			run := func(o dataflow.Options) (ops uint64, took time.Duration) {
				s, err := NewProgramSource(r, Options{Machine: m})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				programs, err := s.Programs()
				if err != nil {
					b.Fatal(err)
				}
				from := processor(b)
				x, err := dataflow.Simulate(programs, s.Placement, o)
				if err != nil {
					b.Fatal(err)
				}
				return x.Ops, processor(b) - from
			}
			var ops uint64
			var whole, short time.Duration
			for b.Loop() {
				n, took := run(dataflow.Options{SimulateEachRank: true, SimulateEachRound: true})
				ops, whole = ops+n, whole+took
				_, took = run(dataflow.Options{})
				short += took
			}
			b.ReportMetric(float64(ops)/1e6/whole.Seconds(), "Mops/s")
			b.ReportMetric(float64(ops)/1e6/short.Seconds(), "Mops/s-short")
		})
	}
}
