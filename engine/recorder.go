package main

// #include "../shim/engine.h"
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
)

// A recorder is the state of the engine between start and stop.
type recorder struct {
	host     host
	context  capture.Context
	timing   timing.Options
	capture  *capture.Capture
	rings    []ringMemory // the threads' rings as last attached, by thread
	held     int          // bytes that capture held when memory was last returned to the system
	large    bool         // capture has held more than small bytes at some time, so garbage is collected more often
	clocks   clocks
	paths    *paths // nil: no path was asked for so far
	finished bool   // finish was called
}

// A ringMemory is where a ring is in memory, and its size. A ring moves when it grows.
type ringMemory struct {
	address  unsafe.Pointer
	capacity uint64
}

// Percentages by which the heap may grow before garbage is collected: of a small recorder, and of a large one. At 100%,
// Go's runtime collects nothing below 4 MB, and most recorders stay below. Collecting there would take more memory
// for the collector's own lists than it would free.
const (
	collectSmallAt = 100
	collectAt      = 20
)

// small is how many bytes capture may hold before the recorder changes from collectSmallAt to collectAt.
const small = 512 << 10

func start(p unsafe.Pointer) (*recorder, error) {
	h := (*C.struct_spoor_host)(p)
	if h.abi != C.SPOOR_ENGINE_ABI || uintptr(h.size) < unsafe.Sizeof(*h) {
		return nil, fmt.Errorf("engine: shim has interface %d, want %d", uint32(h.abi), uint32(C.SPOOR_ENGINE_ABI))
	}
	debug.SetGCPercent(collectSmallAt)

	r := &recorder{host: host{h}}
	if err := r.readContext(); err != nil {
		return nil, err
	}
	var err error
	if r.timing, err = timing.ParseOptions(os.Getenv); err != nil {
		return nil, err
	}
	r.probe()
	if dir := r.host.dir(); dir != "" {
		if err := capture.WriteTimingOptions(dir, r.timing); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
	}
	live := capture.MaxGrammarBytes
	if os.Getenv("SPOOR_LEAN") != "" {
		live = capture.LeanMaxGrammarBytes
	}
	r.capture, err = capture.New(capture.ProcessConfig{
		MaxGrammarBytes: live,
		Context:         r.context,
		ProcessDir:      r.host.dir(),
		ReadTicks:       r.host.ticks,
		ReadMaps:        maps,
		SymbolAddress:   symbol,
		Timing:          r.timing,
	})
	return r, err
}

// maps returns the text of /proc/self/maps, the process's memory mappings; nil if it can't be read.
func maps() []byte {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(64 << 10) // the file's size isn't known in advance, and a buffer that grows from nothing leaves much garbage
	if _, err := b.ReadFrom(f); err != nil {
		return nil
	}
	return b.Bytes()
}

// readContext reads the process's context (command, host, start) from its file in the process directory. Rank and clock
// rate come from the shim.
func (r *recorder) readContext() error {
	h := r.host.c
	if dir := r.host.dir(); dir != "" {
		c, err := capture.ReadContext(dir)
		if err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		r.context = *c
	} else {
		r.context.Host, _ = os.Hostname()
		r.context.PID = os.Getpid()
		r.context.Args = os.Args
		r.context.StartTicks, r.context.StartNs = r.host.clockPair()
	}
	r.context.Rank, r.context.Ranks = int(h.rank), int(h.ranks)
	r.context.TicksPerNs = float64(h.ticks_per_ns)
	r.context.Flavour = mpi.Flavour(h.flavour)
	return nil
}

// attach passes to capture the threads' rings that are new or have moved.
func (r *recorder) attach() error {
	for i := range r.host.threads() {
		p, ring, err := r.host.ring(i)
		if err != nil {
			return err
		}
		if ring == nil {
			return fmt.Errorf("engine: thread %d has no ring", i)
		}
		at := ringMemory{p, ring.Capacity()}
		if i == len(r.rings) {
			r.rings = append(r.rings, ringMemory{})
		}
		if r.rings[i] == at {
			continue
		}
		if err := r.capture.AttachRing(i, ring); err != nil {
			return err
		}
		r.rings[i] = at
	}
	return nil
}

func (r *recorder) drain() error {
	if err := r.attach(); err != nil {
		return err
	}
	if err := r.capture.Drain(); err != nil {
		return err
	}
	held := r.capture.HeldBytes()
	if held > small && !r.large {
		// Frequent collection takes little time: the collector need not scan most of this memory, as it has no
		// pointers.
		r.large = true
		debug.SetGCPercent(collectAt)
	}
	// A table that has grown leaves its old memory as garbage, and a packed grammar its unpacked form. Go's runtime
	// would return that memory to the system only late.
	if held > r.held+r.held/4+muchGrowth || held+muchGrowth < r.held {
		r.held = held
		debug.FreeOSMemory()
	}
	return nil
}

// muchGrowth is by how many bytes, at least, what capture holds must have changed for memory to be returned to the
// system.
const muchGrowth = 4 << 20

// stop ends the recorder. Without finish, it saves capture's state in a checkpoint. After finish that isn't needed: all
// calls are in the trace, or in the rings, the log and the last checkpoint.
func (r *recorder) stop() error {
	defer func() { // the program may run on for long, so it gets the recorder's memory back
		r.capture = nil
		giveBack()
	}()
	defer r.capture.CloseCheckpoints()
	defer r.capture.CloseLogs()
	if r.finished {
		return nil
	}
	if err := r.drain(); err != nil {
		return err
	}
	r.capture.Checkpoint()
	return nil
}

// giveBack returns the heap's free memory to the system if that may be more than muchHeap. Finding the amount itself
// makes the runtime allocate, so giveBack does nothing before the first garbage collection.
func giveBack() {
	var collected debug.GCStats
	if debug.ReadGCStats(&collected); collected.NumGC == 0 {
		return
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapSys-m.HeapReleased > muchHeap {
		debug.FreeOSMemory()
	}
}

// muchHeap is the size of the heap, in bytes, above which giveBack returns free memory.
const muchHeap = 16 << 20
