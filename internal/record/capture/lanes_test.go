package capture

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

// Lanes come soon in the tests of this package.
func init() { promoteAfter = 14 }

// lapped draws steps that programs with counters make again and again.
func lapped(r *rapid.T) []int {
	body := rapid.SliceOfN(rapid.SampledFrom([]int{14, 15, 16, 17, 18, 14 + 32, 15 + 32, 5, 9, 0, 2}), 1, 6).Draw(r, "body")
	var steps []int
	for range rapid.IntRange(15, 60).Draw(r, "laps") {
		steps = append(steps, body...)
	}
	odd := rapid.SliceOfN(rapid.IntRange(0, 1<<10), 0, 20).Draw(r, "odd")
	at := rapid.IntRange(0, len(steps)).Draw(r, "at")
	return append(append(append([]int(nil), steps[:at]...), odd...), steps[at:]...)
}

// With and without lanes, call by call or at once, and wherever the process died:
// the values are the same, and the lanes are.
func TestLanes(t *testing.T) {
	made := 0
	rapid.Check(t, func(r *rapid.T) {
		threads := rapid.IntRange(1, 2).Draw(r, "threads")
		steps := lapped(r)
		run := func(capacity uint64, each func(p *synthProgram, i int)) *synthProgram {
			p := newProgram(t, threads, capacity)
			for i, v := range steps {
				p.step(v>>5, v&31)
				each(p, i)
			}
			return p
		}
		nothing := func(*synthProgram, int) {}
		finish := func(c *Capture) *track.Track {
			if err := c.Drain(); err != nil {
				r.Fatal(err)
			}
			tr, err := c.Track(track.EndCrashed)
			if err != nil {
				r.Fatal(err)
			}
			return tr
		}
		plain := attach(t, testConfig(), run(1<<20, nothing).threads...)
		plain.may = func(signature.Key) []int32 { return nil }
		want := finish(plain)
		if len(want.Lanes) > 0 {
			r.Fatal("lanes though none were allowed")
		}
		got := finish(attach(t, testConfig(), run(1<<20, nothing).threads...))
		made += len(got.Lanes)
		for s := range want.Streams {
			if d := cmp.Diff(vals(want, s), vals(got, s)); d != "" {
				r.Fatalf("stream %d: -without +with lanes:\n%s", s, d)
			}
		}
		// Read part by part, never from the cache, the lanes are the same.
		p := newProgram(t, threads, 1<<20)
		slow := attach(t, testConfig(), p.threads...)
		for _, v := range steps {
			p.step(v>>5, v&31)
			slow.cache = recordCache{}
			if err := slow.Drain(); err != nil {
				r.Fatal(err)
			}
		}
		sameTrack(r, finish(slow), got)

		dir := t.TempDir()
		defer os.RemoveAll(dir)
		cfg := testConfig()
		cfg.ProcessDir = dir
		parted := newProgram(t, threads, 1<<14)
		c := attach(t, cfg, parted.threads...)
		defer c.CloseCheckpoints()
		if rapid.Bool().Draw(r, "chunks") {
			c.checkpoints.small = 0
		}
		every := rapid.IntRange(1, 40).Draw(r, "every")
		for i, v := range steps {
			parted.step(v>>5, v&31)
			if i%every == 0 || room(parted) < 2048 {
				if err := c.Drain(); err != nil {
					r.Fatal(err)
				}
			}
			if i%(3*every) == 0 {
				c.Checkpoint()
			}
		}
		written(t, dir, parted.threads)
		rest, err := RecoverRecording(dir)
		if err != nil {
			r.Fatal(err)
		}
		if rest.Damage != nil {
			r.Fatal(rest.Damage)
		}
		sameTrack(r, rest.Track, got)
		for _, name := range stateNames {
			os.Remove(filepath.Join(dir, name))
		}
	})
	if made < 20 && !testing.Short() || made == 0 {
		t.Errorf("%d lanes were made, that is no test of them", made)
	}
}
