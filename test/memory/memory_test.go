// Package memory holds how much memory recording takes where nothing repeats.
package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// alone is the transport of a world of one rank.
type alone struct{}

func (alone) Rank() int                { return 0 }
func (alone) Size() int                { return 1 }
func (alone) Send(int, []byte) error   { return nil }
func (alone) Recv(int) ([]byte, error) { return nil, nil }

// Of calls that are all distinct a rank holds so many bytes each at the highest, while it
// records and until its trace is written, where it was 11,000 once; and so many for all,
// of which zstd's best level has most. SPOOR_DISTINCT is how many calls, 1000000 say.
const (
	perCallRunning = 600
	perCall        = 1000
	forAll         = 56 << 20
)

func TestDistinct(t *testing.T) {
	calls := 50_000
	if n, err := strconv.Atoi(os.Getenv("SPOOR_DISTINCT")); err == nil {
		calls = n
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // as in the engine
	runtime.GC()
	before := heap()
	check := func(when string, each int) {
		t.Helper()
		held := int(heap() - before)
		t.Logf("%s: %d bytes for each of %d calls", when, held/calls, calls)
		if most := calls*each + forAll; held > most {
			t.Errorf("%s: the heap grew by %d bytes for %d distinct calls, at most %d are expected", when, held, calls, most)
		}
	}
	c := newCapture(t, capture.MaxGrammarBytes)
	defer c.CloseCheckpoints()
	record(t, c, calls, func(random func(below uint64) uint64) (count, tag uint64) { return random(4096), random(1 << 30) })
	check("recording", perCallRunning)
	tr, err := c.TrackSavingMemory(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "distinct.spoor")
	write(t, name, tr)
	check("in the end", perCall)
	r, err := trace.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if k.CallCount(0) != uint64(calls) || k.Terminals() < calls*99/100 {
		t.Errorf("%d calls, %d distinct, want %d", k.CallCount(0), k.Terminals(), calls)
	}
}

// A program that makes a few calls at random holds no more for more of them, while it runs.
func TestRandom(t *testing.T) {
	const calls, growth = 1_000_000, 2 << 20
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // as in the engine
	debug.FreeOSMemory()
	c := newCapture(t, capture.LeanMaxGrammarBytes)
	defer c.CloseCheckpoints()
	w := newRing(t, c)
	once := func() uint64 {
		recordTo(t, c, w, calls, func(random func(below uint64) uint64) (count, tag uint64) { return random(4096), 7 })
		return held()
	}
	one, two := once(), once()
	t.Logf("%d bytes after %d calls, %d after twice as many", one, calls, two)
	if two > one+growth {
		t.Errorf("%d bytes more for as many calls again, at most %d are expected", two-one, growth)
	}
	tr, err := c.TrackSavingMemory(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "random.spoor")
	write(t, name, tr)
	r, err := trace.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if k.CallCount(0) != 2*calls {
		t.Errorf("%d calls, want %d", k.CallCount(0), 2*calls)
	}
}

func newCapture(t *testing.T, live int) *capture.Capture {
	t.Helper()
	c, err := capture.New(capture.ProcessConfig{ProcessDir: t.TempDir(), MaxGrammarBytes: live, Context: capture.Context{
		Flavour: mpi.FlavourMPICH, Ranks: 1, Host: "node", PID: 7, TicksPerNs: 2, StartTicks: 1000, StartNs: 5e9,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// held is what the heap has in use when what is garbage is gone.
func held() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// heap is about the largest size that the heap has had.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys
}

// record takes in Sendrecv of a rank to itself, with counts and tags as next gives them.
func record(t *testing.T, c *capture.Capture, calls int, next func(random func(below uint64) uint64) (count, tag uint64)) {
	recordTo(t, c, newRing(t, c), calls, next)
}

func newRing(t *testing.T, c *capture.Capture) *event.Writer {
	w, err := event.NewWriter(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	w.NextTicks = 1000
	w.SetStack(0x7ff000000000, 0x7ff000100000, 0x7ff0000ff000)
	if err := c.AttachRing(0, w.Ring); err != nil {
		t.Fatal(err)
	}
	return w
}

func recordTo(t *testing.T, c *capture.Capture, w *event.Writer, calls int, next func(random func(below uint64) uint64) (count, tag uint64)) {
	const world, char, buffer, stack = 0x44000000, 0x4c000101, 0x7ff0000fe000, event.AddressClassRaw << 56
	call, ok := mpi.CallNamed("MPI_Sendrecv")
	if !ok {
		t.Fatal("no MPI_Sendrecv")
	}
	seed := uint64(1)
	random := func(below uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 33 % below
	}
	for i := range calls {
		count, tag := next(random)
		if err := w.Enter(call.ID, 0, 0x401000, stack, buffer, count, char, 0, tag, stack, buffer+64, 4096, char, 0, tag, world); err != nil {
			t.Fatal(err)
		}
		if err := w.Leave(call.ID, 0, event.StatusFormFilled, 0, tag, count, 0, 0); err != nil {
			t.Fatal(err)
		}
		if i%256 == 255 || i == calls-1 {
			if err := c.Drain(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// write makes the trace of one rank, as the engine does.
func write(t *testing.T, name string, tr *track.Track) {
	s, _, err := merge.MergeAndPlanGathering(alone{}, tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Problems) > 0 {
		t.Fatal(s.Problems)
	}
	content, err := s.Content(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sections.WriteFile(name, content, false); err != nil {
		t.Fatal(err)
	}
}
