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
	rings    []ringMemory // of the threads, as last attached
	held     int          // bytes held when memory was last returned to the system
	large    bool         // held exceeded small at some time
	clocks   clocks
	paths    *paths // nil before the first use
	finished bool   // finish was called
}

// A ringMemory is the mapping of a ring, which moves when it grows.
type ringMemory struct {
	address  unsafe.Pointer
	capacity uint64
}

// Percentage by which the heap may grow before it is collected. For small heaps the runtime's minimum counts, 4 MB
// at 100 %: most recorders stay below, and the lists that the collector would allocate are larger than what it
// would free.
const (
	collectSmallAt = 100
	collectAt      = 20
)

// small is the number of bytes up to which a recorder uses collectSmallAt.
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

// maps returns /proc/self/maps; nil if it cannot be read.
func maps() []byte {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(64 << 10) // its size is unknown, and growing from nothing leaves much garbage
	if _, err := b.ReadFrom(f); err != nil {
		return nil
	}
	return b.Bytes()
}

// readContext reads from the context file what the host struct lacks.
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

// attach passes rings that are new or have moved to the capture.
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
		// Little of the memory has pointers, so that frequent collection takes little time.
		r.large = true
		debug.SetGCPercent(collectAt)
	}
	// Growing tables leave smaller ones as garbage, and packing a grammar leaves all of it; the collector would
	// keep them for long.
	if held > r.held+r.held/4+muchGrowth || held+muchGrowth < r.held {
		r.held = held
		debug.FreeOSMemory()
	}
	return nil
}

// muchGrowth is the change in bytes at which memory is returned to the system.
const muchGrowth = 4 << 20

// stop saves the state. After finish that is not needed: everything is in the trace, or in the rings, the log and
// the last checkpoint.
func (r *recorder) stop() error {
	defer func() { // the program may continue for long
		r.capture = nil
		giveBack()
	}()
	defer r.capture.Close()
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

// giveBack returns memory to the system if there is much of it. Asking for the amount takes the runtime memory
// itself, so it does nothing before the first collection.
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

// muchHeap is how many bytes are worth the time for returning them.
const muchHeap = 16 << 20
