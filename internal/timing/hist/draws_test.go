package hist

import (
	"math"
	"testing"
)

// Draws come in other orders for other seeds, from the first few on as often from each part of the
// distribution as there is of it, and are the same wherever one begins.
func TestDraws(t *testing.T) {
	h := New(5, 0)
	for i := range uint64(1000) {
		if h.Add(100); i%10 == 0 {
			h.Add(10_000)
		}
	}
	mean := h.Total().Mean
	for _, calls := range []uint64{500, 1024, 1500, 100_000} {
		for seed := range uint64(20) {
			seed = seed*0x9e3779b97f4a7c15 + 7
			d := NewSampler(h.Tilt(mean).Quantile, calls, mean, seed)
			list, sum := make([]float64, calls), 0.0
			for n := range list {
				list[n] = d.Next()
				sum += list[n]
				if n++; n >= 100 && math.Abs(sum/float64(n)-mean) > 8*10_000/float64(n) {
					t.Fatalf("%d calls, seed %d: the mean of %d is %.0f, want %.0f", calls, seed, n, sum/float64(n), mean)
				}
			}
			if calls <= exactly && math.Abs(sum/float64(calls)-mean) > 1e-6*mean {
				t.Fatalf("%d calls, seed %d: the mean is %.2f, want %.2f", calls, seed, sum/float64(calls), mean)
			}
			for _, from := range []uint64{0, 1, 77, calls - 1} {
				d := NewSampler(h.Tilt(mean).Quantile, calls, mean, seed)
				if d.Skip(from); d.Next() != list[from] {
					t.Fatalf("%d calls: draw %d is another if one begins there", calls, from)
				}
			}
		}
	}
	one := NewSampler(h.Tilt(mean).Quantile, 1, 777, 3)
	if a, b := one.Next(), one.Next(); a != 777 || b != 777 {
		t.Errorf("one call has %v, then %v", a, b)
	}
}
