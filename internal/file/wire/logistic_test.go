package wire

import (
	"math"
	"testing"
)

// Squash is the logistic function within what interpolation loses, never
// falls, and Logit leads back to where it came from.
func TestSquash(t *testing.T) {
	last := int32(0)
	for d := int32(-3000); d <= 3000; d++ {
		p := Logistic(d)
		x := float64(max(min(d, LogitLimit), -LogitLimit)) / 256
		if want := 65536 / (1 + math.Exp(-x)); math.Abs(float64(p)-want) > 600 {
			t.Fatalf("Squash(%d) = %d, want %.0f", d, p, want)
		}
		if p < last || p <= 0 || p >= 65536 {
			t.Fatalf("Squash(%d) = %d after %d", d, p, last)
		}
		last = p
	}
	for p := range 1 << 16 {
		back := Logistic(Logit(uint16(p)))
		if d := back - int32(p); d > 80 || d < -80 {
			t.Fatalf("Squash(Stretch(%d)) = %d", p, back)
		}
	}
}
