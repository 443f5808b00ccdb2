package capture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"spoor/internal/event"
	"spoor/internal/pack"
	"spoor/internal/signature"
	"spoor/internal/timing"
	"spoor/internal/track"
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
	if len(got.Handles) != 1 || got.Handles[0].ABI != abiWorld {
		t.Errorf("handles %v", got.Handles)
	}
	for _, bad := range []string{"", "spoor-context 2\n", contextText + "rank x\n", contextText + "handle comm 257\n", "spoor-context 1\n"} {
		if _, err := ParseContext(bytes.NewReader([]byte(bad))); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

// A program is what the threads of a synthetic process do, one step at a time.
type synthProgram struct {
	threads []*synth
	live    []uint64 // requests that nobody waited for, by variable
	comms   []uint64
	next    uint64
	blocks  [5]bool
	counter int
	own     [4]int // by thread
}

func newProgram(tb testing.TB, threads int, capacity uint64) *synthProgram {
	p := &synthProgram{}
	for i := range threads {
		p.threads = append(p.threads, newSynth(tb, i, capacity))
	}
	return p
}

// step makes thread number i do something that the choices say.
func (p *synthProgram) step(i, what int) {
	s := p.threads[i%len(p.threads)]
	for _, t := range p.threads {
		s.w.Now = max(s.w.Now, t.w.Now) // one clock
	}
	what %= 20
	switch {
	case what == 0 && len(p.live) < 40:
		p.next++
		place := 0x5000 + 4*p.next
		p.live = append(p.live, place)
		s.isend(shared, place)
	case what == 1 && len(p.live) < 40:
		p.next++
		place := 0x5000 + 4*p.next
		p.live = append(p.live, place)
		s.isend(0x98000000+p.next, place)
	case what == 2 && len(p.live) > 0:
		place := p.live[0]
		p.live = p.live[1:]
		s.wait(shared, place)
	case what == 3:
		p.next++
		raw := 0x84000000 + p.next
		p.comms = append(p.comms, raw)
		s.enter("MPI_Comm_dup", commWorld)
		s.leave("MPI_Comm_dup", cat(raw, 0, 1, 4, -1, 0, 0)...)
	case what == 4 && len(p.comms) > 0:
		raw := p.comms[len(p.comms)/2]
		p.comms = append(p.comms[:len(p.comms)/2], p.comms[len(p.comms)/2+1:]...)
		s.enter("MPI_Comm_free", raw)
		s.leave("MPI_Comm_free")
	case what == 5:
		serial := p.next % 5
		if !p.blocks[serial] {
			s.w.Write(0, event.Segment, 0, []uint64{serial, 4096, 0, event.ClassHeap})
		}
		p.blocks[serial] = true
		s.enter("MPI_Send", cat(uint64(event.ClassHeap<<56)|serial, 8, 4, typeInt, 1, 3, commWorld)...)
		s.leave("MPI_Send")
	case what == 6:
		if serial := p.next % 5; p.blocks[serial] {
			s.w.Write(0, event.Freed, 0, []uint64{serial})
			p.blocks[serial] = false
		}
		p.next++
	case what == 7:
		s.enter("MPI_Comm_set_name", cat(commWorld, 1, uint64('a'+len(p.live)%3))...)
		s.leave("MPI_Comm_set_name")
	case what == 8:
		s.enter("MPI_Barrier", commWorld)
		s.commRank()
		s.leave("MPI_Barrier")
	case what == 9:
		s.allreduce()
	case what == 10:
		if s.stacks < 5 {
			s.from(0x401000+8*uint64(s.stacks), 0x402000, 0x403000)
		}
		s.commRank()
		s.site = 0x401000
	case what == 12:
		s.iprobe()
		s.attach(p.next%3, int64(p.next)-5)
	case what == 11 && s.stacks > 0:
		s.site = event.StackKey(s.w.Ring.Thread(), 1)
		s.allreduce()
		s.site = 0x401000
	case what == 14:
		p.counter++
		s.send(p.counter, stackBuf)
	case what == 15:
		p.own[i%len(p.threads)]++
		tag := 2 * p.own[i%len(p.threads)]
		s.enter("MPI_Recv", cat(buffer(stackBuf), 4, typeInt, 1, tag, commWorld)...)
		s.leave("MPI_Recv", statusOf(1, int64(tag), 16)...)
	case what == 16:
		p.counter++
		s.enter("MPI_Barrier", commWorld)
		s.send(p.counter, stackBuf)
		s.leave("MPI_Barrier")
	case what == 17:
		p.own[i%len(p.threads)]++
		s.send(p.own[i%len(p.threads)]/2%40+1000, stackBuf+1024*uint64(p.own[i%len(p.threads)]%2))
	case what == 18:
		p.next++
		place := 0x5000 + 4*p.next
		tag := int(p.next)
		s.enter("MPI_Irecv", cat(buffer(stackBuf+64), 4, typeInt, 1, tag, commWorld)...)
		s.leave("MPI_Irecv", 0x98000000+p.next, place)
		s.enter("MPI_Waitall", cat(1, 1, place, 4, 0x98000000+p.next)...)
		s.leave("MPI_Waitall", cat(1, statusOf(1, int64(tag), 16))...)
	default:
		s.iprobe()
	}
}

func (s *synth) send(tag int, addr uint64) {
	s.enter("MPI_Send", cat(buffer(addr), 4, typeInt, 1, tag, commWorld)...)
	s.leave("MPI_Send")
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

// sameTrack compares tracks by what their streams expand to: a grammar that
// was saved and restored may be another one for the same sequence.
func sameTrack(tb rapid.TB, got, want *track.Track) {
	tb.Helper()
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(track.Track{}, "Streams", "Sigs", "Times", "Values", "Hists", "Log", "Lives", "Lanes")); d != "" {
		tb.Fatalf("-want +got:\n%s", d)
	}
	if len(got.Lanes) != len(want.Lanes) {
		tb.Fatalf("%d lanes, want %d", len(got.Lanes), len(want.Lanes))
	}
	for i := range want.Lanes {
		if d := cmp.Diff(want.Lanes[i], got.Lanes[i], cmpopts.IgnoreFields(track.Lane{}, "Steps")); d != "" {
			tb.Fatalf("lane %d: -want +got:\n%s", i, d)
		}
	}
	if len(got.Streams) != len(want.Streams) {
		tb.Fatalf("%d streams, want %d", len(got.Streams), len(want.Streams))
	}
	if d := cmp.Diff(livesOf(want), livesOf(got)); d != "" {
		tb.Fatalf("lives: -want +got:\n%s", d)
	}
	for i := range want.Streams {
		if d := cmp.Diff(calls(want, i), calls(got, i)); d != "" {
			tb.Fatalf("stream %d: -want +got:\n%s", i, d)
		}
	}
	type timed struct {
		Sig   any
		Times track.Times
	}
	table := func(t *track.Track) map[string]track.Times {
		m := make(map[string]track.Times)
		for i, s := range t.Sigs {
			m[fmt.Sprint(s)] = t.Times[i]
		}
		return m
	}
	if d := cmp.Diff(table(want), table(got)); d != "" {
		tb.Fatalf("times: -want +got:\n%s", d)
	}
	if d := cmp.Diff(logged(tb, want), logged(tb, got)); d != "" {
		tb.Fatalf("times of calls: -want +got:\n%s", d)
	}
	if d := cmp.Diff(valueTable(want), valueTable(got)); d != "" {
		tb.Fatalf("values: -want +got:\n%s", d)
	}
	// Threads that call at the same time may be counted in another order.
	if d := cmp.Diff(histogramTable(want), histogramTable(got)); len(want.Streams) == 1 && d != "" {
		tb.Fatalf("histograms: -want +got:\n%s", d)
	}
}

// logged are all times of a track's calls.
func logged(tb rapid.TB, t *track.Track) [][]timing.Entry {
	if t.Log == nil {
		return nil
	}
	list := make([][]timing.Entry, len(t.Log.Streams))
	for i, blocks := range t.Log.Streams {
		for entries, err := range blocks {
			if err != nil {
				tb.Fatalf("stream %d: %v", i, err)
			}
			list[i] = append(list[i], entries...)
		}
		if n := t.Streams[i].Grammar.Len(); uint64(len(list[i])) != n {
			tb.Fatalf("stream %d: times of %d calls, there are %d", i, len(list[i]), n)
		}
	}
	return list
}

// valueTable is what was attached, by name and signature.
func valueTable(t *track.Track) map[string]timing.Signed {
	m := make(map[string]timing.Signed)
	for name, list := range t.Values {
		for i, s := range list {
			m[name+" "+fmt.Sprint(t.Sigs[i])] = s
		}
	}
	return m
}

// histogramTable are a track's histograms by signature and what came before.
func histogramTable(t *track.Track) map[string][]byte {
	m := make(map[string][]byte)
	for _, h := range t.Hists {
		key := fmt.Sprint(t.Sigs[h.Terminal])
		if h.From >= 0 {
			key += fmt.Sprint(" after ", t.Sigs[h.From].Call, t.Sigs[h.From].Site)
		} else {
			key += fmt.Sprint(h.From)
		}
		m[key] = h.Gap.AppendBinary(h.Duration.AppendBinary(nil))
	}
	return m
}

// Whatever a process did and wherever it died, what is left gives the same
// track as a capture that read everything at once.
func TestResume(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir := t.TempDir()
		threads := rapid.IntRange(1, 3).Draw(r, "threads")
		whole, parted := newProgram(t, threads, 1<<20), newProgram(t, threads, 1<<13)
		cfg := testConfig()
		cfg.Dir = dir
		cfg.Timing.Mode = rapid.SampledFrom([]timing.Mode{timing.Stats, timing.Hist, timing.Path, timing.Lossless}).Draw(r, "mode")
		if err := os.Remove(filepath.Join(dir, timingFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := WriteTiming(dir, cfg.Timing); err != nil {
			t.Fatal(err)
		}
		c := attach(t, cfg, parted.threads...)
		defer c.Close()
		if rapid.Bool().Draw(r, "chunks") {
			c.checkpoints.small = 0
		}
		steps := rapid.SliceOfN(rapid.IntRange(0, 1<<10), 0, 400).Draw(r, "steps")
		for _, v := range steps {
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
		if rapid.Bool().Draw(r, "drained") {
			if err := c.Drain(); err != nil {
				r.Fatal(err)
			}
		}
		written(t, dir, parted.threads)
		rest, err := Resume(dir)
		if err != nil {
			r.Fatal(err)
		}
		if rest.Damage != nil {
			r.Fatal(rest.Damage)
		}
		cfg.Dir = ""
		all := attach(t, cfg, whole.threads...)
		if err := all.Drain(); err != nil {
			r.Fatal(err)
		}
		want, err := all.Track(track.Crashed)
		if err != nil {
			r.Fatal(err)
		}
		sameTrack(r, rest.Track, want)
	})
}

func room(p *synthProgram) uint64 {
	least := ^uint64(0)
	for _, s := range p.threads {
		head, err := s.w.Ring.Head()
		if err != nil {
			return 0
		}
		least = min(least, s.w.Ring.Capacity()-(head-s.w.Ring.Kept()))
	}
	return least
}

// A damaged checkpoint is passed over in favour of the one before it.
func TestResumeOlderCheckpoint(t *testing.T) {
	dir := t.TempDir()
	p := newProgram(t, 1, 1<<16)
	cfg := testConfig()
	cfg.Dir = dir
	c := attach(t, cfg, p.threads...)
	defer c.Close()
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
	kept := p.threads[0].w.Ring.Kept()
	p.threads[0].w.Ring.SetKept(0) // as if it had died before telling
	written(t, dir, p.threads)
	p.threads[0].w.Ring.SetKept(kept)
	want, err := c.Track(track.Crashed)
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
	rest, err := Resume(dir)
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
	rest, err := Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	if end := rest.Track.Process.End; end != track.Finished {
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
	b[event.Page+head+6] = 99 // no such kind
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	rest, err := Resume(dir)
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
	cfg.Dir = filepath.Join(dir, "gone")
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
	rest, err := Resume(dir)
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
	got, err := c.Track(track.Finished)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(calls(got, 0)); n != 41 {
		t.Errorf("%d calls, want 41", n)
	}
}

// What is noted of times is what is counted again, however long they are.
func TestNoteTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := testConfig()
		cfg.Timing.Mode = rapid.SampledFrom([]timing.Mode{timing.Stats, timing.Path}).Draw(t, "mode")
		terminals := rapid.SampledFrom([]int{3, 3, 3, 3, 3, 3, 3, 1<<15 + 2}).Draw(t, "terminals")
		var both [2]*Capture
		for i := range both {
			c, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for n := range terminals {
				c.sigs.Number(signature.None, signature.Key{0, int64(n), 0})
			}
			both[i] = c
		}
		one, other := both[0], both[1]
		var notes checkpoints
		long := rapid.OneOf(rapid.Uint64Range(0, 1<<16), rapid.Uint64Range(1<<32-1, 1<<32), rapid.Uint64())
		for range rapid.IntRange(1, 100).Draw(t, "calls") {
			n := uint32(rapid.IntRange(0, terminals-1).Draw(t, "terminal"))
			prev := uint32(rapid.IntRange(-1, terminals-1).Draw(t, "before"))
			duration, gap := long.Draw(t, "duration"), long.Draw(t, "gap")
			one.tally(n, prev, duration, gap)
			notes.noteTimes(n, prev, duration, gap)
		}
		r := pack.NewReader(nil)
		if other.replayTimes(r, notes.times); r.Err() != nil {
			t.Fatal(r.Err())
		}
		want, got := new(pack.Writer), new(pack.Writer)
		for c, w := range map[*Capture]*pack.Writer{one: want, other: got} {
			c.settleTimes()
			c.sigs.Save(w)
			if c.hists != nil {
				c.hists.save(w)
			}
		}
		if !bytes.Equal(want.B, got.B) {
			t.Fatal("other times")
		}
	})
}

// Names of attached values need not come in the order of their numbers.
func TestNamesInChunks(t *testing.T) {
	one := attached{names: []string{"", "b"}, stats: make([][]timing.Signed, 2)}
	var state, chunk pack.Writer
	one.save(&state)
	one.names[0] = "a"
	one.saveChunk(&chunk, nil)
	var other attached
	r := pack.NewReader(state.B)
	other.load(r, 0)
	more := pack.NewReader(chunk.B)
	other.loadChunk(more, 0)
	if r.Err() != nil || more.Err() != nil || !cmp.Equal(other.names, one.names) {
		t.Errorf("%q, want %q; %v, %v", other.names, one.names, r.Err(), more.Err())
	}
}
