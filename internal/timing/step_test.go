package timing

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A step is within half a percent of what it stands for, and longer times have no
// lower steps.
func TestSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Uint64Max(1<<63).Draw(t, "ns") >> rapid.IntRange(0, 63).Draw(t, "shift")
		s := LogTimeOf(ns)
		off := math.Abs(s.Ns() - float64(ns))
		if off > 0.005*float64(ns)+1e-9 || ns <= 100 && off > 0 {
			t.Fatalf("%d ns is step %d, %.1f ns", ns, s, s.Ns())
		}
		if ns > 0 && LogTimeOf(ns-1) > s || s > MaxLogTime {
			t.Fatalf("%d ns is step %d, %d before it", ns, s, LogTimeOf(ns-1))
		}
	})
	if s := LogTimeOf(math.MaxUint64); s != MaxLogTime {
		t.Errorf("the longest time is step %d", s)
	}
}
