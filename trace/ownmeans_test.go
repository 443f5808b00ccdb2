package trace

import (
	"math"
	"path/filepath"
	"testing"
)

// TestOwnMeans: along a line of means a rank spends what the tables say that it spent, also where ranks that made the same
// calls spent more or less.
func TestOwnMeans(t *testing.T) {
	files, err := filepath.Glob("../test/powers/testdata/*.spoor")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	unlike := 0 // ranks of which the class says something else by more than a tenth
	for _, file := range files {
		r, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for k, err := range r.RanksWithTrack() {
			if err != nil {
				t.Fatal(err)
			}
			if s, err := k.openSeries(); s != nil || err != nil || !r.HasTimes() {
				break
			}
			own, err := k.Totals()
			if err != nil {
				t.Fatal(err)
			}
			stats, err := k.ClassTimes()
			if err != nil {
				t.Fatal(err)
			}
			var gap, duration, mean float64
			calls := 0.0
			for stream := range k.Streams() {
				for c, err := range k.TimedCalls(stream) {
					if err != nil {
						t.Fatal(err)
					}
					gap, duration = gap+float64(c.Timing.Gap.Ns), duration+float64(c.Timing.Duration.Ns)
					mean += stats[c.Terminal].Gap.Mean()
					calls++
				}
			}
			near := func(what string, got float64, want BoundedTime) {
				if math.Abs(got-want.Ns) > 0.01*want.Ns+want.ErrorBoundNs+calls {
					t.Errorf("%s: rank %d: %s of all calls are %.0f ns, the tables say %.0f", filepath.Base(file), k.Number(), what, got, want.Ns)
				}
			}
			near("gaps", gap, own.Gap)
			near("durations", duration, own.Duration)
			if math.Abs(mean-own.Gap.Ns) > 0.1*own.Gap.Ns {
				unlike++
			}
		}
		r.Close()
	}
	if unlike == 0 {
		t.Error("in all traces ranks that made the same calls spent the same")
	}
}
