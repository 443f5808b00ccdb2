package capture

import (
	"testing"

	"pgregory.net/rapid"

	"spoor/internal/track"
)

// Whether a call is recognised as an echo or read part by part makes no
// difference.
func TestEcho(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		threads := rapid.IntRange(1, 2).Draw(r, "threads")
		quick, slow := newProgram(t, threads, 1<<21), newProgram(t, threads, 1<<21)
		c := attach(t, testConfig(), slow.threads...)
		// A few steps again and again, as programs do.
		body := rapid.SliceOfN(rapid.IntRange(0, 1<<10), 1, 12).Draw(r, "body")
		for range rapid.IntRange(1, 20).Draw(r, "laps") {
			for _, v := range body {
				quick.step(v>>5, v&31)
				slow.step(v>>5, v&31)
				c.echoes = nil
				if err := c.Drain(); err != nil {
					r.Fatal(err)
				}
			}
		}
		want, err := c.Track(track.Finished)
		if err != nil {
			r.Fatal(err)
		}
		sameTrack(r, tracked(t, quick.threads...), want)
	})
}

// A loop with nothing but echoes allocates nothing, and neither does one whose
// requests have to be looked up.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, l := range loops {
		s, _ := fill(t, 1<<16, l.body)
		c := attach(t, testConfig(), s)
		again := func() {
			c.streams[0].pos = 0 // the same records again
			if err := c.Drain(); err != nil {
				t.Fatal(err)
			}
		}
		again()
		if n := testing.AllocsPerRun(20, again); n > 0 {
			t.Errorf("%s: %v allocations", l.name, n)
		}
	}
}
