package merge_test

import (
	"fmt"
	"testing"

	"spoor/internal/merge"
	"spoor/internal/track/tracktest"
	"spoor/trace"
)

// BenchmarkMerge merges the tracks of virtual ranks and encodes the result; it
// reports the sizes of all sections but those that hold measurements.
func BenchmarkMerge(b *testing.B) {
	for _, p := range []struct {
		name    string
		program func(*tracktest.Recorder)
	}{
		{"stencil", tracktest.Stencil(20)},
		{"butterfly", tracktest.Butterfly(20)},
		{"transpose", tracktest.Transpose(20)},
		{"workers", tracktest.Workers(2000)},
	} {
		for _, ranks := range []int{64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", p.name, ranks), func(b *testing.B) {
				tracks := tracktest.RunAll(ranks, p.program)
				b.ReportAllocs()
				b.ResetTimer()
				var file []byte
				for range b.N {
					s, err := merge.MergeAll(tracks, 0)
					if err != nil {
						b.Fatal(err)
					}
					c, err := s.Content(nil)
					if err != nil {
						b.Fatal(err)
					}
					if file, err = trace.Encode(c); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(file)), "bytes")
				r, err := readerOf(file)
				if err != nil {
					b.Fatal(err)
				}
				sum := int64(0)
				for _, s := range r.Sections() {
					if s.Name != "times" && s.Name != "process" {
						sum += s.Stored
					}
				}
				b.ReportMetric(float64(sum), "calls-bytes")
			})
		}
	}
}
