package merge_test

import (
	"fmt"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/tracktest"
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
					if file, err = sections.EncodeFile(c); err != nil {
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
						sum += s.StoredBytes
					}
				}
				b.ReportMetric(float64(sum), "calls-bytes")
			})
		}
	}
}

// BenchmarkFinish is what rank 0 does when all messages are there, for a program with
// thousands of distinct calls on few ranks.
func BenchmarkFinish(b *testing.B) {
	for _, calls := range []int{1000, 15000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			s, err := merge.MergeAll(tracktest.RunAll(4, scattered(calls)), 0)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				c, err := s.Content(nil)
				if err != nil {
					b.Fatal(err)
				}
				file, err := sections.EncodeFile(c)
				if err != nil {
					b.Fatal(err)
				}
				size = len(file)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// scattered makes one-sided transfers of blocks of an array, as Global Arrays does: most
// of them once, some again, places and sizes of no order, a count now and then.
func scattered(calls int) func(*tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		r.Begin()
		x := uint64(r.Rank)*0x9e3779b97f4a7c15 + 1
		for i := range calls {
			x = x*6364136223846793005 + 1442695040888963407
			n := int64(x>>60+1) * 25
			vals := []int64{0, 1<<8 | 1, int64(x >> 40 % 4096 * 8), n, tracktest.IntType, int64(x>>33) % int64(r.Size), int64(x >> 20 % 3), tracktest.World}
			for range 1 + x>>50%2 {
				r.CallOn(0, "MPI_Send", int(x>>55%7), vals...)
			}
			if i%10 == 0 {
				vals[2], vals[6] = 0, int64(i)
				r.CallOn(0, "MPI_Send", 8, vals...)
			}
			if i%100 == 99 {
				r.Allreduce(9, 1)
			}
		}
		r.End()
	}
}
