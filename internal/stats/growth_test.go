package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestKnownLaws: points made by a law give it back, and what it says of ten times the ranks.
func TestKnownLaws(t *testing.T) {
	ranks := []float64{4, 9, 16, 25, 36, 64}
	for _, c := range []struct {
		want  string
		value func(p float64) float64
	}{
		{"1", func(float64) float64 { return 5000 }},
		{"log2 p", func(p float64) float64 { return 100 + 30*math.Log2(p) }},
		{"p", func(p float64) float64 { return 1000 + 7*p }},
		{"p log2 p", func(p float64) float64 { return 3 * p * math.Log2(p) }},
		{"p^0.5", func(p float64) float64 { return 40 + 10*math.Sqrt(p) }},
		{"p^2", func(p float64) float64 { return 10 + 2*p*p }},
		{"p^-1", func(p float64) float64 { return 50 + 9000/p }},
		{"p^0.333 log2 p", func(p float64) float64 { return 50 + 9*math.Cbrt(p)*math.Log2(p) }},
	} {
		var values []float64
		for _, p := range ranks {
			values = append(values, c.value(p))
		}
		l, err := FitLaw(ranks, values)
		if err != nil {
			t.Fatal(err)
		}
		if l.GrowthOrder() != c.want || l.LeaveOneOutError > 1e-6 {
			t.Errorf("%s: got %s with an error of %g", c.want, l.GrowthOrder(), l.LeaveOneOutError)
		}
		if want, got := c.value(640), l.ValueAt(640); math.Abs(got-want) > 1e-3*want {
			t.Errorf("%s: %g at 640 ranks, want %g", c.want, got, want)
		}
	}
}

// TestNoise: values that only vary are no growth, and growth is seen through them.
func TestNoise(t *testing.T) {
	ranks := []float64{4, 8, 16, 32, 64, 128}
	noise := []float64{1.02, 0.97, 1.01, 0.99, 1.03, 0.98}
	var flat, grown []float64
	for i, p := range ranks {
		flat, grown = append(flat, 1000*noise[i]), append(grown, 50*p*noise[i])
	}
	if l, err := FitLaw(ranks, flat); err != nil || l.GrowthOrder() != "1" {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := FitLaw(ranks, grown); err != nil || l.ValueAt(1280) < 0.8*64000 || l.ValueAt(1280) > 1.25*64000 {
		t.Errorf("%+v (%s) says %g of 1280 ranks, %v", l, l.GrowthOrder(), l.ValueAt(1280), err)
	}
}

func TestTooFew(t *testing.T) {
	if _, err := FitLaw([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}); err == nil {
		t.Error("four points gave a law")
	}
}

// TestAnyPoints: whatever the points, there is a law, and what it says is a number.
func TestAnyPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(MinLawPoints, 12).Draw(t, "points")
		ranks := make([]float64, n)
		for i := range ranks {
			ranks[i] = float64(i*i + 1)
		}
		l, err := FitLaw(ranks, rapid.SliceOfN(rapid.Float64Range(0, 1e15), n, n).Draw(t, "values"))
		if err != nil || math.IsNaN(l.ValueAt(1000)) || math.IsInf(l.ValueAt(1000), 0) || l.ValueAt(1000) < 0 || math.IsNaN(l.LeaveOneOutError) {
			t.Fatalf("%+v: %g, %v", l, l.ValueAt(1000), err)
		}
	})
}
