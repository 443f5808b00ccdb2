// Package capture turns the records of one rank into its track: it pairs ENTER
// and LEAVE, gives symbolic names to what the records say, numbers the
// signatures, feeds the numbers to each thread's grammar, and keeps time
// statistics. It works on the rings of the living process (package main in
// engine) and on what a dead one left behind (RecoverRecording).
//
// The package does no I/O but checkpoints, and knows nothing of other ranks.
//
// Invariants:
//  1. Inputs are named when a call begins and outputs when it ends, in the order
//     of time over all threads; otherwise a handle that one thread frees and
//     another gets anew has the wrong name.
//  2. A stream's terminals stand in the order in which the calls began; a call
//     made by a callback comes after the call that called back.
//  3. State after a checkpoint plus the records behind it MUST give the same
//     track as if nothing had happened; TestResume holds it to that.
package capture

import (
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/record/event"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
)

// ProcessConfig describes the process to a capture.
type ProcessConfig struct {
	Context
	// ProcessDir is the process directory, where checkpoints go; "" for none.
	ProcessDir string
	// MaxGrammarBytes is the size in bytes at which a stream's grammar is packed; 0: the constant MaxGrammarBytes.
	MaxGrammarBytes int
	// ReadTicks reads the clock of the records; only used with several threads.
	ReadTicks func() uint64
	// ReadMaps returns the text of /proc/self/maps as it is now.
	ReadMaps func() []byte
	// Timing is which times to keep.
	Timing timing.Options
	// SymbolAddress returns the address of a symbol. It finds predefined handles that are objects of the MPI
	// library, if the Context does not list them.
	SymbolAddress func(symbol string) (uint64, bool)
}

// ReturnCodeNeverReturned is the return code of a call that was unfinished when the process died.
const ReturnCodeNeverReturned = -1 << 31

// ReturnCodeLeftByJump is the return code of a call that was left by a longjmp or an exception, from an error handler, a
// callback or a signal handler.
const ReturnCodeLeftByJump = ReturnCodeNeverReturned + 1

// A Capture is the recording of one rank.
type Capture struct {
	cfg      ProcessConfig
	programs []*program // by call id, compiled at first use
	rank     *mpi.NumberTable
	tag      *mpi.NumberTable
	errors   *mpi.NumberTable

	handles  [256]*symbol.Handles // by mpi.Kind; nil for kinds that are no handles
	comms    symbol.Comms
	requests symbol.Requests
	memory   symbol.Addresses
	modules  symbol.Modules
	sites    symbol.Sites
	strings  symbol.Strings
	renamed  uint64 // counts changes of handles' names
	altered  uint64 // counts changes of how records map to signatures

	sigs    signature.LaneTable
	may     signature.LaneCandidateFinder // the method mayLane, as a value that is made only once
	words   []int32                       // result of the last mayLane
	lanes   int                           // number of lanes when terminalOf last looked: if it has grown, cached terminals may be in a new lane
	hists   *histograms                   // histograms of times; nil: not recorded
	phases  *phases                       // phases of the first thread's times; nil: not recorded
	cache   recordCache
	batch   *batch
	ticks   []int   // reusable memory of the method laps
	others  []int   // reusable memory of the method laps
	lapped  int     // number of calls that the method laps handled, for tests
	found   []int   // indices in requests of the current call's requests
	passed  []int64 // the current call's requests, in the form of signature.RequestArrayState
	streams []*stream
	turns   []streamHead // reusable memory of the method interleave

	attached  attached
	allocs    allocs
	handovers handovers

	released  bool // nothing more is recorded: see the method close
	lost      uint64
	finalized bool   // MPI_Finalize was entered
	came      uint64 // ticks when all ranks had reached MPI_Finalize; 0: unknown
	first     uint64 // ticks of the first call; 0: no call yet
	latest    uint64
	until     int64 // when a dead process ended, ns since 1970; 0: not known
	asides    asides
	timeless  bool // no times are recorded

	checkpoints checkpoints

	spans []signature.Span // reusable memory for mayLane and varyingWords
	moves signature.LaneCandidates
	path  []byte // reusable memory for the name of a file
}

// A stream is one thread.
type stream struct {
	thread  int
	ring    *event.Ring
	pos     uint64 // position up to which the ring is read
	torn    bool   // records are missing: a LEAVE may come without its ENTER
	grammar sequence
	prev    uint32   // terminal of the last call
	last    uint64   // end of the thread's last time inside MPI, in ticks
	owed    uint64   // ticks to subtract from the next gap, noted while a call was unfinished
	begins  []uint64 // return addresses of a new thread's outermost stack frames, until its first call; empty: unknown, or that call has begun
	off     uint64   // ticks when tracing was switched off; 0: it is on
	phases  *phases  // phases of the times of its calls; nil: not recorded
	frames  []frame  // the first depth are unfinished calls, outermost first; the others are spare
	depth   int
	held    []uint32    // terminals since the begin of the outermost unfinished call
	times   []callTimes // parallel to held, if there is a log
	log     *streamLog  // times of every call; nil: not recorded
	round   int         // length of the repeating sequence of calls; 0: unknown
	left    signature.RequestArrayState
	passes  uint64 // number of calls begun so far that may leave requests of an array unfinished

	terminals   []byte // terminals appended since the last checkpoint, if checkpoints write changes only
	allocStream allocStream
	handovers   handoverStream
}

func (c *Capture) newStream(thread int) *stream {
	return &stream{thread: thread, grammar: c.newGrammar(thread), prev: signature.NoTerminal, log: c.newLog(thread), phases: c.phasesOf(thread)}
}

// promoteAfter is signature.LaneTable.PromoteAfter; tests set it.
var promoteAfter uint16

// New returns a capture without any thread.
func New(cfg ProcessConfig) (*Capture, error) {
	c := &Capture{cfg: cfg, checkpoints: checkpoints{small: smallState}, batch: new(batch)}
	if cfg.TicksPerNs <= 0 {
		return nil, fmt.Errorf("capture: %v ticks per nanosecond", cfg.TicksPerNs)
	}
	if cfg.ReadMaps == nil {
		c.cfg.ReadMaps = func() []byte { return nil }
	}
	c.may = c.mayLane
	c.asides.apart = cfg.Timing.Mode.NeedsLog()
	c.timeless = cfg.Timing.Mode == timing.ModeNone
	c.sigs.PromoteAfter = promoteAfter
	c.hists = newHistograms(cfg.Timing, &c.sigs.Table, cfg.Rank)
	if !c.timeless {
		c.phases = newPhases(cfg.Timing, &c.sigs.Table)
	}
	c.rank = mpi.NumberTableOf(cfg.Flavour, mpi.KindRank)
	c.tag = mpi.NumberTableOf(cfg.Flavour, mpi.KindTag)
	c.errors = mpi.NumberTableOf(cfg.Flavour, mpi.KindError)
	var written func() []byte
	if cfg.ProcessDir != "" {
		written = func() []byte { return writtenMaps(cfg.ProcessDir) }
	}
	c.modules.Init(written, c.cfg.ReadMaps)
	c.sites.Init(&c.modules)
	c.memory.Modules = &c.modules
	c.comms.Init(cfg.Rank, cfg.Ranks)
	c.defineHandles()
	return c, nil
}

// defineHandles makes the tables of handles with the predefined ones.
func (c *Capture) defineHandles() {
	for _, k := range mpi.Kinds() {
		if k.IsHandle() || k.IsTool() {
			c.handles[k] = new(symbol.Handles)
		}
	}
	c.handles[mpi.KindComm] = &c.comms.Handles
	for _, h := range c.cfg.Handles {
		c.predefine(h.Kind, h.ProcessValue, h.ABIValue)
	}
	for k, table := range c.handles {
		if table == nil {
			continue
		}
		for _, v := range mpi.Constants(mpi.Kind(k)) {
			if raw, ok := v.ValueIn(c.cfg.Flavour); ok {
				c.predefine(mpi.Kind(k), rawHandle(c.cfg.Flavour, mpi.Kind(k), raw), v.Value)
			} else if s := v.SymbolIn(c.cfg.Flavour); s != "" && c.cfg.SymbolAddress != nil {
				if raw, ok := c.cfg.SymbolAddress(s); ok {
					c.predefine(mpi.Kind(k), raw, v.Value)
				}
			}
		}
	}
}

// rawHandle returns a handle in the form of the shim's records: zero-extended if it is an int.
func rawHandle(f mpi.Flavour, k mpi.Kind, v int64) uint64 {
	if mpi.LayoutOf(f).HandleSize(k) == 4 {
		return uint64(uint32(v))
	}
	return uint64(v)
}

func (c *Capture) predefine(k mpi.Kind, raw uint64, number int64) {
	if t := c.handles[k]; t != nil {
		t.Predefine(raw, number)
	}
	if null, _ := mpi.NullHandle(mpi.KindRequest); k == mpi.KindRequest && number == null {
		c.requests.Init(raw)
	}
}

var errGone = errors.New("records are gone")

// AttachRing adds the ring of a thread. Threads must come in order of their numbers; a second call for a thread means
// that its ring has moved.
func (c *Capture) AttachRing(thread int, ring *event.Ring) error {
	if thread < 0 || thread > len(c.streams) {
		return fmt.Errorf("capture: thread %d, but only %d are known", thread, len(c.streams))
	}
	if thread == len(c.streams) {
		c.streams = append(c.streams, c.newStream(thread))
		lo, hi, ref := ring.Stack()
		c.memory.Stacks = append(c.memory.Stacks, symbol.StackRange{Lo: lo, Hi: hi, Ref: ref})
	}
	s := c.streams[thread]
	s.ring = ring
	if s.pos < ring.Released() {
		return fmt.Errorf("thread %d: %w from %d to %d", thread, errGone, s.pos, ring.Released())
	}
	return nil
}
