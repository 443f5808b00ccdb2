package ops_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// nothing is a Sink that makes nothing of what it is told.
type nothing struct{}

func (nothing) Begin(*trace.Rank) error { return nil }
func (nothing) Enter(*ops.Call) error   { return nil }
func (nothing) Leave(*ops.Call) error   { return nil }
func (nothing) End(*trace.Rank) error   { return nil }

// BenchmarkSource goes through exchanges with four neighbours: non-blocking receives and sends, waits for all, reductions.
func BenchmarkSource(b *testing.B) {
	r := mergetest.Run(b, 4, tracktest.Stencil(20000))
	b.ReportAllocs()
	calls := uint64(0)
	for b.Loop() {
		s, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, IgnoreTimes: true, NumberMessages: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Run(nothing{}); err != nil {
			b.Fatal(err)
		}
		calls += s.CallsRead
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
}
