package capture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

const contextText = `spoor-context 1
flavour mpich
library MPICH Version:	4.0.2\nMPICH Release date: x
rank 1
ranks 4
spawned 0
alone 0
host node
pid 7
exe /bin/app
cwd /home/me
clock tsc
ticks-per-ns 2
start 1000 5000000000
arg ./app
arg a\nb\\
handle comm 257 0x44000000
`

func TestContext(t *testing.T) {
	got, err := ParseContext(bytes.NewReader([]byte(contextText)))
	if err != nil {
		t.Fatal(err)
	}
	want := testConfig().Context
	want.Library, want.Exe, want.Cwd = "MPICH Version:\t4.0.2", "/bin/app", "/home/me"
	want.Args = []string{"./app", "a\nb\\"}
	want.Handles = got.Handles
	if d := cmp.Diff(&want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if len(got.Handles) != 1 || got.Handles[0].ABIValue != abiWorld {
		t.Errorf("handles %v", got.Handles)
	}
	for _, bad := range []string{"", "spoor-context 2\n", contextText + "rank x\n", contextText + "handle comm 257\n", "spoor-context 1\n"} {
		if _, err := ParseContext(bytes.NewReader([]byte(bad))); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

// written makes what a process leaves behind.
func written(tb testing.TB, dir string, threads []*synth) {
	tb.Helper()
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	write("context", []byte(contextText))
	write("maps", nil)
	for i, s := range threads {
		write(fmt.Sprintf("ring.%d", i), s.w.Bytes())
	}
}

// Whatever a process did and wherever it died, what is left gives the same
// track as a capture that read everything at once.
func TestResume(t *testing.T) { testResume(t, MaxGrammarBytes) }

// With grammars in many parts.
func TestResumeParts(t *testing.T) { testResume(t, 1) }

func testResume(t *testing.T, live int) {
	rapid.Check(t, func(r *rapid.T) {
		resumed{
			threads: rapid.IntRange(1, 3).Draw(r, "threads"),
			mode:    rapid.SampledFrom([]timing.Mode{timing.ModeStats, timing.ModeHist, timing.ModeLossless, timing.ModeNone}).Draw(r, "mode"),
			chunks:  rapid.Bool().Draw(r, "chunks"),
			steps:   rapid.SliceOfN(rapid.IntRange(0, 1<<10), 0, 400).Draw(r, "steps"),
			drained: rapid.Bool().Draw(r, "drained"),
		}.check(t, r, live)
	})
}

// The same of a program that goes round a loop, which laps take in.
func TestResumeLaps(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var steps []int
		for range rapid.IntRange(1, 3).Draw(r, "loops") {
			body := rapid.SliceOfN(rapid.SampledFrom([]int{7, 9, 13, 13, 18, 19, 26, 28}), 1, 5).Draw(r, "body")
			for range rapid.IntRange(1, 200).Draw(r, "laps") {
				steps = append(steps, body...)
			}
			steps = append(steps, rapid.SliceOfN(rapid.IntRange(0, 1<<10), 0, 3).Draw(r, "between")...)
		}
		resumed{
			threads: rapid.IntRange(1, 2).Draw(r, "threads"),
			mode:    rapid.SampledFrom([]timing.Mode{timing.ModeStats, timing.ModeHist}).Draw(r, "mode"),
			chunks:  rapid.Bool().Draw(r, "chunks"),
			ring:    1 << 15,
			steps:   steps,
		}.check(t, r, MaxGrammarBytes)
	})
}

// A thread that began before anything was attached has no courses of attached values, with and without a checkpoint
// between.
func TestResumeAttachedLater(t *testing.T) {
	resumed{threads: 3, mode: timing.ModeStats, steps: []int{32, 12, 33, 332}}.check(t, t, MaxGrammarBytes)
}

// A resumed process makes steps, a checkpoint here and there, and dies.
type resumed struct {
	threads int
	mode    timing.Mode
	chunks  bool // checkpoints hold what is new
	ring    uint64
	steps   []int
	drained bool
}

func (p resumed) check(t *testing.T, r rapid.TB, live int) {
	dir := t.TempDir()
	whole, parted := newProgram(t, p.threads, 1<<20), newProgram(t, p.threads, max(p.ring, 1<<13))
	cfg := testConfig()
	cfg.ProcessDir, cfg.MaxGrammarBytes = dir, live
	cfg.Timing.Mode, cfg.Timing.Waits = p.mode, timing.WaitsAuto
	if err := os.Remove(filepath.Join(dir, timingFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if err := WriteTimingOptions(dir, cfg.Timing); err != nil {
		t.Fatal(err)
	}
	c := attach(t, cfg, parted.threads...)
	defer c.CloseCheckpoints()
	if p.chunks {
		c.checkpoints.small = 0
	}
	for _, v := range p.steps {
		whole.step(v>>5, v&31)
		parted.step(v>>5, v&31)
		if v&7 == 1 {
			if err := c.Drain(); err != nil {
				r.Fatal(err)
			}
		}
		if v&63 == 33 {
			c.Checkpoint()
		}
		if room(parted) < 1024 {
			if err := c.Drain(); err != nil {
				r.Fatal(err)
			}
		}
	}
	// One call is under way when the process dies.
	for _, p := range []*synthProgram{whole, parted} {
		p.threads[0].enter("MPI_Barrier", commWorld)
	}
	if p.drained {
		if err := c.Drain(); err != nil {
			r.Fatal(err)
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
	cfg.ProcessDir = ""
	all := attach(t, cfg, whole.threads...)
	if err := all.Drain(); err != nil {
		r.Fatal(err)
	}
	want, err := all.Track(track.EndCrashed)
	if err != nil {
		r.Fatal(err)
	}
	sameTrack(r, rest.Track, want)
}

// A damaged checkpoint is passed over in favour of the one before it.
func TestResumeOlderCheckpoint(t *testing.T) {
	dir := t.TempDir()
	p := newProgram(t, 1, 1<<16)
	cfg := testConfig()
	cfg.ProcessDir = dir
	c := attach(t, cfg, p.threads...)
	defer c.CloseCheckpoints()
	for i := range 30 {
		p.step(0, i)
		if i%10 == 9 {
			if err := c.Drain(); err != nil {
				t.Fatal(err)
			}
			if i < 29 {
				c.Checkpoint()
			}
		}
	}
	kept := p.threads[0].w.Ring.Released()
	p.threads[0].w.Ring.SetReleased(0) // as if it had died before telling
	written(t, dir, p.threads)
	p.threads[0].w.Ring.SetReleased(kept)
	want, err := c.Track(track.EndCrashed)
	if err != nil {
		t.Fatal(err)
	}
	newest := filepath.Join(dir, stateNames[c.checkpoints.current])
	b, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(newest, b, 0o600); err != nil {
		t.Fatal(err)
	}
	rest, err := RecoverRecording(dir)
	if err != nil {
		t.Fatal(err)
	}
	sameTrack(t, rest.Track, want)
}

// A process that reached MPI_Finalize is finished, whatever happened then.
func TestResumeFinished(t *testing.T) {
	dir := t.TempDir()
	s := newSynth(t, 0, 1<<16)
	s.commRank()
	s.enter("MPI_Finalize")
	s.leave("MPI_Finalize")
	written(t, dir, []*synth{s})
	rest, err := RecoverRecording(dir)
	if err != nil {
		t.Fatal(err)
	}
	if end := rest.Track.Process.EndState; end != track.EndFinished {
		t.Errorf("the process ended as %q", end)
	}
}

// What a ring holds behind a damaged record is lost; what is before is not.
func TestResumeDamagedRing(t *testing.T) {
	dir := t.TempDir()
	s := newSynth(t, 0, 1<<16)
	for range 3 {
		s.commRank()
	}
	head, _ := s.w.Ring.Head()
	s.iprobe()
	written(t, dir, []*synth{s})
	path := filepath.Join(dir, "ring.0")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[event.HeaderPageSize+head+6] = 99 // no such kind
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	rest, err := RecoverRecording(dir)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Damage == nil {
		t.Error("no damage reported")
	}
	if n := len(calls(rest.Track, 0)); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

// Where checkpoints can't be written the capture goes on, and what is left
// after a crash is what the ring still holds.
func TestCheckpointsFail(t *testing.T) {
	dir := t.TempDir()
	s := newSynth(t, 0, 1<<10)
	cfg := testConfig()
	cfg.ProcessDir = filepath.Join(dir, "gone")
	c := attach(t, cfg, s)
	for range 40 {
		s.enter("MPI_Barrier", commWorld)
		if err := c.Drain(); err != nil {
			t.Fatal(err)
		}
		s.leave("MPI_Barrier")
	}
	s.commRank()
	written(t, dir, []*synth{s})
	rest, err := RecoverRecording(dir)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Damage == nil {
		t.Error("no damage reported")
	}
	check(t, names(t, rest.Track, 0), []string{"MPI_Comm_rank"})
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Track(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(calls(got, 0)); n != 41 {
		t.Errorf("%d calls, want 41", n)
	}
}

// What a capture gave up is in the process directory, for the case that nobody gets the
// track that was made of it.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	cfg := testConfig()
	cfg.ProcessDir = dir
	s := newSynth(t, 0, 1<<16)
	c := attach(t, cfg, s)
	defer c.CloseCheckpoints()
	const calls = 3000
	for i := range calls {
		s.enter("MPI_Send", cat(buffer(stackBuf), i*i%997, typeInt, 1, i, commWorld)...)
		s.leave("MPI_Send")
		if i%100 == 99 {
			if err := c.Drain(); err != nil {
				t.Fatal(err)
			}
		}
	}
	held := c.HeldBytes()
	c.Checkpoint()
	want, err := c.Track(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	c.FreeCalls()
	if left := c.HeldBytes(); 10*left > held {
		t.Errorf("%d bytes held, %d before", left, held)
	}
	s.enter("MPI_Barrier", commWorld) // its record stays in the ring
	s.leave("MPI_Barrier")
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	c.Checkpoint()
	written(t, dir, []*synth{s})
	rest, err := RecoverRecording(dir)
	if err != nil || rest.Damage != nil {
		t.Fatal(err, rest.Damage)
	}
	if got := rest.Track; len(got.Signatures) != len(want.Signatures)+1 || got.Streams[0].Grammar.Len() != calls+1 {
		t.Errorf("%d signatures and %d calls are left, want %d and %d", len(got.Signatures), got.Streams[0].Grammar.Len(), len(want.Signatures)+1, calls+1)
	}
}
