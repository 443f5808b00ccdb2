package capture

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/track"
)

// Whether a call is taken from the cache or read part by part makes no
// difference.
func TestCache(t *testing.T) {
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
				c.cache = recordCache{}
				if err := c.Drain(); err != nil {
					r.Fatal(err)
				}
			}
		}
		want, err := c.Track(track.EndFinished)
		if err != nil {
			r.Fatal(err)
		}
		sameTrack(r, tracked(t, quick.threads...), want)
	})
}

// A loop with nothing but cached calls allocates nothing, and neither does one whose
// requests have to be looked up.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, l := range loops {
		if l.name == "CommDupFree" {
			continue // each duplicate is another one
		}
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

// Calls of two threads that overlap all the time are cached as well, but for those
// that change names.
func TestOverlapping(t *testing.T) {
	x, y := newSynth(t, 0, 1<<16), newSynth(t, 1, 1<<16)
	x.w.TicksPerRecord, y.w.TicksPerRecord = 20, 20
	y.w.NextTicks += 10
	for range 20 {
		x.commRank()
		y.commRank()
	}
	c := drained(t, x, y)
	if e := c.cache.of(uint32(c.sigs.Len() - 1)); e == nil || e.thread != anyThread {
		t.Errorf("calls that overlap are not cached: %+v", e)
	}

	x, y = newSynth(t, 0, 1<<16), newSynth(t, 1, 1<<16)
	const comm = 0x84000001
	y.w.NextTicks = x.w.NextTicks + 5
	for range 20 {
		x.w.TicksPerRecord, y.w.TicksPerRecord = 20, 10
		y.enter("MPI_Comm_dup", commWorld) // ends while the other call is under way
		x.commRank()
		y.leave("MPI_Comm_dup", cat(comm, 0, 1, 4, -1, 0, 0)...)
		y.enter("MPI_Comm_free", comm)
		y.leave("MPI_Comm_free")
		x.w.NextTicks = y.w.NextTicks - 5
	}
	c = drained(t, x, y)
	for n := range uint32(c.sigs.Len()) {
		if e := c.cache.of(n); e != nil && c.sigs.Key(n).FunctionID() == id(t, "MPI_Comm_dup") {
			t.Errorf("signature %d is taken from the cache: %+v", n, e)
		}
	}
}

// Whatever overlaps, what is taken from the cache makes no difference, even if a
// communicator is freed and its handle used again while calls are under way.
func TestCacheOverlaps(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		later := rapid.Uint64Range(0, 30).Draw(r, "later")
		body := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [3]int {
			return [3]int{rapid.IntRange(0, 1).Draw(r, "thread"), rapid.IntRange(0, 12).Draw(r, "what"), rapid.IntRange(1, 40).Draw(r, "ticks")}
		}), 1, 12).Draw(r, "body")
		laps := rapid.IntRange(1, 20).Draw(r, "laps")
		threads := func() []*synth {
			list := []*synth{newSynth(t, 0, 1<<18), newSynth(t, 1, 1<<18)}
			list[1].w.NextTicks += 2*later + 1 // never at one time: then either may be the first
			for range laps {
				for _, v := range body {
					s := list[v[0]]
					s.w.TicksPerRecord = uint64(2 * v[2])
					comm := uint64(0x84000001 + v[1]&1)
					switch {
					case v[1] < 4:
						s.commRank()
					case v[1] < 8:
						s.enter("MPI_Comm_size", comm)
						s.leave("MPI_Comm_size", 2)
					case v[1] == 8:
						s.enter("MPI_Comm_dup", commWorld)
						s.leave("MPI_Comm_dup", cat(comm, 0, 1, 4, -1, 0, 0)...)
					case v[1] == 9:
						s.enter("MPI_Comm_free", comm)
						s.leave("MPI_Comm_free")
					case v[1] == 10:
						s.enter("MPI_Type_dup", typeInt)
						s.leave("MPI_Type_dup", cat(comm, 4, 0, 4, 0, 4)...)
					case v[1] == 11:
						s.enter("MPI_Type_size", comm)
						s.leave("MPI_Type_size", 4)
					default:
						s.enter("MPI_Type_free", comm)
						s.leave("MPI_Type_free")
					}
				}
			}
			return list
		}
		slow := attach(t, testConfig(), threads()...)
		for _, name := range []string{"MPI_Comm_rank", "MPI_Comm_size", "MPI_Type_dup", "MPI_Type_size", "MPI_Type_free"} {
			slow.program(id(t, name)).use = uncacheable
		}
		if err := slow.Drain(); err != nil {
			r.Fatal(err)
		}
		want, err := slow.Track(track.EndFinished)
		if err != nil {
			r.Fatal(err)
		}
		sameTrack(r, tracked(t, threads()...), want)
	})
}

// drained is a capture that has drained the threads, once.
func drained(t *testing.T, threads ...*synth) *Capture {
	c := attach(t, testConfig(), threads...)
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A thread that read the clock first may publish its first call when another one's has
// been taken in.
func TestFirstCallPublishedLate(t *testing.T) {
	x, y := newSynth(t, 0, 1<<16), newSynth(t, 1, 1<<16)
	early, late := x.w.NextTicks, x.w.NextTicks+100
	y.w.NextTicks = late
	c := attach(t, testConfig(), x, y)
	for _, s := range []*synth{y, x} {
		s.commRank()
		if err := c.Drain(); err != nil {
			t.Fatal(err)
		}
	}
	if c.first != early {
		t.Errorf("the first call was at %d, want %d", c.first, early)
	}
}
