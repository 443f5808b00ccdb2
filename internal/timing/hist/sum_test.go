package hist

import (
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"pgregory.net/rapid"
)

// However histograms of ranks are put together and stored, the mean of all their samples stays.
func TestMeanStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sum, n := 0.0, 0.0
		all := New(5, 0)
		for rank := range rapid.IntRange(1, 6).Draw(t, "ranks") {
			h := New(5, int32(rank))
			for range rapid.IntRange(1, 60).Draw(t, "samples") {
				v := uint64(math.Exp(rapid.Float64Range(3, 20).Draw(t, "log")))
				h.Add(v)
				sum += float64(v)
				n++
			}
			w := wire.NewReader(h.AppendBinary(nil), "hist")
			all.Merge(Decode(w))
			if err := w.Finish(); err != nil {
				t.Fatal(err)
			}
		}
		got := Decode(wire.NewReader(all.AppendBinary(nil), "hist")).Total()
		if float64(got.Count) != n || math.Abs(got.Mean-sum/n) > 1e-3*sum/n+1 {
			t.Fatalf("%d samples with mean %.0f, want %.0f with %.0f", got.Count, got.Mean, n, sum/n)
		}
	})
}
