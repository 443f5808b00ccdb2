package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Stream replays one thread of a rank. Run must be called on a thread that
// does nothing else.
type Stream struct {
	p          *Process
	number     int
	arena      arena
	call       *Call       // reused for each call; outside of Go's heap
	plan       *callPlan   // plan of the current call's function
	ready      []*prepared // by terminal: what its calls share; nil: not yet computed
	walk       *trace.Walk
	places     *reissue.CallTimeEstimator // times of its calls; nil: walk yields them, or they aren't needed
	ahead      *lookahead
	completion *requestOutcome // outcome of the request that the current call makes; nil if not needed
	vain       bool            // the previous call was a test that found nothing
	question   question        // about the current call's outcome; a field so that it is allocated once
	aside      int64           // ns that the recorder had taken up to the current call
	again      again           // the current repeated test
	derived    *derived        // makes the calls of a stream whose receives are derived; nil: receives are the trace's
	settles    bool            // true: the current call waits first for all messages of the rank

	// Addresses of this stream's requests; stream 0 also has those of all persistent ones.
	requests map[requestKey]uint64
	made     int64 // number of one-shot requests so far
	// Arrays of requests, by requestOutcome.array: 1 + index of the first call that uses the array.
	blocks  map[uint64]*requestArray
	inBlock map[uint64]uint64 // by address of a request in an array of requests: the array's key in blocks
	images  map[uint64]uint64 // by address of a generalized request: address of the status that it gets
	// Address of the status of the generalized request that the current call makes; 0: it makes none.
	pending uint64
	kept    map[uint64][]memoryRange // by address of the request: arrays that a pending operation reads
	keeping []memoryRange            // arrays that the operation begun by the current call reads

	pace   *pacer
	late   int64    // ns by which calls were later than due and that no gap has made up for
	last   int64    // when the previous call returned, on the host's clock; 0: MPI is not initialised yet
	longer int64    // ns that initialising MPI took longer than in the recorded run
	passed int64    // ns of computation before skipped calls, to be added to the next call's gap
	after  []func() // to run when the current call returns

	StreamStats
	now       atomic.Uint64                // 1 + index of the current call, 0: none yet
	repeats   atomic.Pointer[RepeatedCall] // repetitions of the current call; nil: it is made once
	what      atomic.Int32                 // a StreamState: the current activity
	when      atomic.Int64                 // when the StreamState in field what began, on the host's clock
	notBefore atomic.Int64                 // earliest time at which the current call may be made, on the host's clock
	next      atomic.Int64                 // when the program made the current call, on the trace's time line
	done      atomic.Bool
	begun     atomic.Bool                    // the first call has returned
	over      atomic.Uint64                  // number of finished calls
	turns     []handles.ThreadDependency     // dependencies of later calls on other threads
	nested    []handles.FreeWithCallbackUses // calls to come that free an object which callbacks during the call still use
	deferred  []handles.FreeWithCallbackUses // calls that free such an object and were postponed
}

// A requestKey is a request's number, and whether it is a persistent one.
type requestKey int64

func keyOf(persistent bool, id int64) requestKey {
	if persistent {
		return requestKey(id<<1 | 1)
	}
	return requestKey(id << 1)
}

// StreamStats are what a stream did.
type StreamStats struct {
	Calls              int64
	MPINs              int64 // ns that calls took
	ComputeNs          int64 // ns between calls, without HeldNs
	RecordedComputeNs  int64 // ComputeNs as recorded, scaled by Options.Speed
	HeldNs             int64 // ns that calls waited after their gaps because the program made them later
	InitializedAtNs    int64 // when the call that initialises MPI began, on the host's clock
	LastCallEndNs      int64 // when the last call returned, on the host's clock
	DifferentResults   int64 // calls that returned something different from the recorded result
	DifferenceExamples []string
	DroppedCalls       int64 // calls of the trace that weren't made because receives are derived
	DerivedReceives    int64 // receives derived from other ranks' sends
}

// A StreamState is the activity of a stream.
type StreamState int32

// The states of a stream.
const (
	StateBetweenCalls     StreamState = iota // between calls
	StateComputing                           // before a call, as long as the program computed
	StateInCall                              // in the MPI
	StateWaitingForThread                    // waiting for another thread of the process
	StateEnded
)

// decodedAhead is the largest encoded size, in bytes, of a rank's times of single calls that are decoded before its
// first call. It holds a few million calls. Decoding later makes the rank late for others, and for ranks on the same
// core.
const decodedAhead = 16 << 20

// newStream prepares the replay of a thread, so that its first call only waits for its time.
func newStream(p *Process, number int) (*Stream, error) {
	s := &Stream{
		p: p, number: number, arena: arena{alloc: p.host.Alloc},
		requests: make(map[requestKey]uint64), blocks: make(map[uint64]*requestArray), images: make(map[uint64]uint64), inBlock: make(map[uint64]uint64),
		kept: make(map[uint64][]memoryRange),
	}
	at, err := p.host.Alloc(int64(cellBlock))
	if err != nil {
		return nil, err
	}
	s.call = (*Call)(pointer(at))
	if at, err = p.host.Alloc(int64(unsafe.Sizeof(RepeatedCall{}))); err != nil {
		return nil, err
	}
	s.again.r = (*RepeatedCall)(pointer(at))
	if p.o.Order != nil {
		if s.derived, err = newDerived(s, p.o.Order); err != nil {
			return nil, err
		}
	}
	s.ahead = &lookahead{k: p.rank, stream: number, places: p.host.HasTool(), completions: make(map[int64]*requestOutcome)}
	s.pace = &pacer{o: p.o, line: p.o.Pace != PaceGaps && !p.o.NoCompute && p.o.Speed == 1}
	if p.o.NoCompute && p.rank.Streams() == 1 {
		s.walk, err = p.rank.Walk(number, 0) // times are not needed
		return s, err
	}
	if s.places, err = reissue.NewCallTimeEstimator(p.trace, p.rank, number); err != nil {
		return nil, err
	}
	if s.places != nil {
		s.walk, err = p.rank.Walk(number, 0)
		return s, err
	}
	if s.walk, err = p.rank.TimedWalk(number, 0); err != nil {
		return nil, err
	}
	return s, s.walk.ReadAhead(decodedAhead / p.rank.Streams())
}

// State returns what the stream is doing, and since when on the host's clock.
func (s *Stream) State() (StreamState, int64) { return StreamState(s.what.Load()), s.when.Load() }

// from returns when the current call was due, or when the stream became ready for it, whichever is later.
func (s *Stream) from() int64 {
	if r := s.repeats.Load(); r != nil {
		return atomic.LoadInt64(&r.CurrentDueNs)
	}
	return max(s.when.Load(), s.notBefore.Load())
}

// Call returns the current call, nil before the first.
func (s *Stream) Call() *trace.Call {
	n := s.now.Load()
	if n == 0 {
		return nil
	}
	if r := s.repeats.Load(); r != nil {
		n += uint64(atomic.LoadInt64(&r.NextIndex))
	}
	c, _ := s.p.rank.Call(s.number, n-1) // err was checked when the call was read before
	return c
}

func (s *Stream) is(what StreamState) { s.since(what, s.p.host.ClockNs()) }

func (s *Stream) since(what StreamState, ns int64) {
	s.when.Store(ns)
	s.what.Store(int32(what))
}

// Run makes the calls of the stream, one after the other.
func (s *Stream) Run() error {
	err := s.run()
	s.done.Store(true)
	s.is(StateEnded)
	if err != nil {
		s.p.fail(err)
	}
	if s.number == 0 {
		s.p.release(nil) // no call initialises MPI any more, so other threads must not wait for one
	}
	s.p.mu.Lock()
	s.p.changed.Broadcast()
	s.p.mu.Unlock()
	return err
}

func (s *Stream) run() error {
	if s.number > 0 {
		<-s.p.started
		if s.p.failed.Load() == nil && s.p.origin == 0 && s.p.rank.CallCount(s.number) > 0 {
			return fmt.Errorf("rank %d: thread %d has calls, but thread 0 began none that initialises MPI", s.p.rank.Number(), s.number)
		}
		s.followOn()
		if kept, err := s.p.rank.HasTimeOfEachCall(); err == nil && kept {
			if about, err := s.p.rank.Process(); err == nil {
				s.aside = about.RecorderStartupNs() // the recorder's start also delayed the calls of this thread
			}
		}
	}
	w := s.walk
	for w.Next() {
		if s.p.failed.Load() != nil {
			return nil
		}
		t := w.Timed()
		if s.places != nil {
			s.places.SetNextTimes(t)
		}
		c := t.Call
		if s.p.o.StreamEnds != nil && c.Index >= s.p.o.StreamEnds[s.p.rank.Number()][s.number] {
			break
		}
		s.aside += int64(t.Timing.RecorderNs)
		t.StartNs -= s.aside // the replay has no recorder, whose time is subtracted
		s.next.Store(t.StartNs)
		if s.p.unseen && s.InitializedAtNs == 0 && s.number == 0 {
			s.InitializedAtNs = s.p.host.ClockNs()
			s.last = s.InitializedAtNs
			s.p.start(t.StartNs, s.InitializedAtNs)
		}
		if len(s.nested) > 0 && s.nested[0].FreeCall == c.Index {
			// In the traced run, callbacks of this call used the object before it was freed. Their calls follow in
			// the stream, so this call is made after them.
			s.deferred = append(s.deferred, s.nested[0])
			s.nested = s.nested[1:]
			s.over.Store(c.Index + 1)
			continue
		}
		switch {
		case s.p.turns != nil:
			s.awaitTurns(c.Index)
		case len(s.p.streams) > 1 && frees(c):
			s.letOthersCatchUp(t.StartNs)
		}
		if s.vain && w.Repeated() {
			s.again.add(s, t)
			s.over.Store(c.Index + 1)
			continue
		}
		s.again.make(s)
		if err := s.make(t); err != nil {
			return fmt.Errorf("rank %d: call %d of thread %d, %s: %w", c.Rank, c.Index, s.number, c.Name(), err)
		}
		s.over.Store(c.Index + 1)
		if err := s.makeDeferred(c.Index); err != nil {
			return err
		}
	}
	s.again.make(s)
	if err := w.Err(); err != nil {
		return err
	}
	if s.derived != nil {
		return s.derived.end()
	}
	if s.p.o.StreamEnds == nil && !s.p.unseen && !s.p.unended || s.number > 0 {
		return nil
	}
	return s.finish()
}

// makeDeferred makes the postponed free calls whose objects are not used by any call with an index above after.
func (s *Stream) makeDeferred(after uint64) error {
	for i := 0; i < len(s.deferred); {
		x := s.deferred[i]
		if x.LastUse > after {
			i++
			continue
		}
		s.deferred = slices.Delete(s.deferred, i, i+1)
		c, err := s.p.rank.Call(s.number, x.FreeCall)
		if err == nil {
			err = s.make(&trace.TimedCall{Call: c, StartNs: s.next.Load()})
		}
		if err != nil {
			return fmt.Errorf("rank %d: call %d of thread %d: %w", s.p.rank.Number(), x.FreeCall, s.number, err)
		}
	}
	return nil
}

// finish finalizes MPI if no call of the trace does.
func (s *Stream) finish() error {
	if s.InitializedAtNs == 0 || s.plan != nil && s.plan.call.Has(mpi.AttrFinalises) {
		return nil
	}
	s.waitForOthers()
	s.is(StateInCall)
	_, err := s.p.ask("MPI_Finalize")
	s.is(StateBetweenCalls)
	return err
}

// followOn waits for the first call of the previous stream, since tracers number threads in the order of their first
// calls.
func (s *Stream) followOn() {
	before := s.p.streams[s.number-1]
	for s.p.failed.Load() == nil {
		what, since := before.State()
		if before.begun.Load() || before.done.Load() || what == StateInCall && s.p.host.ClockNs()-since > int64(2*time.Millisecond) {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

var errGone = errors.New("another thread failed")

// make makes one call of the trace.
func (s *Stream) make(t *trace.TimedCall) error {
	c := t.Call
	if c.Return == trace.ReturnCodeNeverReturned || c.Return == trace.ReturnCodeLeftByJump {
		return nil // the trace doesn't show how to repeat a call that did not return
	}
	if reissue.IsMPILibraryFileCall(c) {
		return nil
	}
	s.now.Store(c.Index + 1)
	if s.number == 0 && c.Name() == "MPI_Finalize" {
		s.waitForOthers()
	}
	if s.derived != nil {
		return s.derived.make(t)
	}
	var err error
	if s.completion, err = s.ahead.completion(c); err != nil {
		return err
	}
	plan, err := s.encode(c)
	if err != nil {
		return err
	}
	s.plan = plan
	s.issue(t)
	return s.decode(c, plan)
}

// issue makes the call laid out in s.call when it is due.
func (s *Stream) issue(t *trace.TimedCall) {
	gap := int64(0)
	if s.last != 0 {
		gap = s.pace.gap(t.Timing.Gap) + s.passed
		s.passed = 0
	}
	due, byGap := s.due(t, gap)
	s.notBefore.Store(due)
	ready, latest := int64(0), due
	if s.settles {
		ready, latest = s.derived.settle(due)
	}
	s.call.NotBeforeNs = due
	if s.call.EndNs == 0 || StreamState(s.what.Load()) != StateBetweenCalls {
		s.is(StateInCall)
	} else {
		s.since(StateInCall, s.call.EndNs)
	}
	s.p.host.MakeCall(s.call)
	s.since(StateBetweenCalls, s.call.EndNs)
	s.RecordedComputeNs += gap
	ready = cmp.Or(ready, s.call.ReadyNs)
	if s.last != 0 {
		between := max(0, s.call.BeginNs-s.last)
		held := min(between, max(0, due-max(byGap, ready, s.last)))
		s.HeldNs += held
		s.ComputeNs += between - held
	}
	s.lag(latest)
	s.account(t)
}

func (s *Stream) account(t *trace.TimedCall) {
	c, k := t.Call, s.call
	if s.Calls++; s.Calls == 1 {
		s.begun.Store(true)
	}
	s.MPINs += k.EndNs - k.BeginNs
	s.last, s.LastCallEndNs = k.EndNs, k.EndNs
	if s.plan.starts && s.InitializedAtNs == 0 {
		s.InitializedAtNs = k.BeginNs
		if s.plan.call.Has(mpi.AttrInitialises) { // initialising a session waits for nobody
			s.longer = k.EndNs - k.BeginNs - int64(t.Timing.Duration.Ns)
		}
		began := t.EndNs()
		if s.places != nil {
			began = s.places.LastCallEndNs()
		}
		s.p.start(began, k.EndNs)
	}
	if s.InitializedAtNs == 0 {
		s.last = 0 // time before MPI is initialised doesn't count
	}
	s.compare(c)
}

// compare counts a call that returned something different from the recorded result.
func (s *Stream) compare(c *trace.Call) {
	if s.plan.through != 0 {
		s.compareFile(c)
		return
	}
	if c.Func.ReturnKind != mpi.KindError {
		return
	}
	got := mpi.NumberTableOf(s.p.flavour, mpi.KindError).ToABI(int64(int32(s.call.Result)))
	if got != c.Return {
		s.DifferentResults++
		if len(s.DifferenceExamples) < 3 {
			name := cmp.Or(mpi.ConstantName(mpi.KindError, got), fmt.Sprint(got))
			s.DifferenceExamples = append(s.DifferenceExamples, fmt.Sprintf("%s instead of %s: %s", name, c.ReturnName(), c.Text()))
		}
	}
}

func (p *Process) start(began, end int64) {
	p.release(func() { p.origin, p.began = end, began })
}

// release runs f and lets the other threads begin, at its first call. Later calls do nothing.
func (p *Process) release(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.started:
	default:
		if f != nil {
			f()
		}
		close(p.started)
	}
}

// waitForOthers waits until the other threads have made all their calls.
func (s *Stream) waitForOthers() {
	s.is(StateWaitingForThread)
	for _, o := range s.p.streams[1:] {
		for !o.done.Load() && s.p.failed.Load() == nil {
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// frees reports whether a call frees a handle.
func frees(c *trace.Call) bool {
	return slices.ContainsFunc(c.Func.Params, func(d trace.ParamDef) bool { return d.Dir == trace.DirFree && d.Type == trace.TypeHandle })
}

// patience is how long a thread may be in a call before letOthersCatchUp stops waiting for it.
const patience = 3 * time.Second

// awaitTurns waits until other threads have made the calls that this stream's call with an index depends on.
func (s *Stream) awaitTurns(index uint64) {
	for ; len(s.turns) > 0 && s.turns[0].LaterCall <= index; s.turns = s.turns[1:] {
		for t, o := s.turns[0], s.p.streams[s.turns[0].EarlierStream]; o.over.Load() <= t.EarlierCall && !o.done.Load() && s.p.failed.Load() == nil; {
			s.is(StateWaitingForThread)
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// letOthersCatchUp waits, before a call that frees an object, until the other threads have made the calls that they
// had made by start, on the trace's time line. They may use the object.
func (s *Stream) letOthersCatchUp(start int64) {
	s.is(StateWaitingForThread)
	for _, o := range s.p.streams {
		for o != s && !o.done.Load() && o.next.Load() < start && s.p.failed.Load() == nil {
			if what, _ := o.State(); what != StateBetweenCalls && s.p.host.ClockNs()-o.from() > int64(patience) {
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// await calls look until it reports that an object of another thread exists. The process is locked.
func (s *Stream) await(what string, look func() (bool, error)) error {
	for waited := false; ; waited = true {
		ok, err := look()
		if ok || err != nil {
			return err
		}
		if s.p.failed.Load() != nil {
			return errGone
		}
		others := false
		for _, o := range s.p.streams {
			others = others || o != s && !o.done.Load()
		}
		if !others {
			return fmt.Errorf("%s was never made", what)
		}
		if !waited {
			s.is(StateWaitingForThread)
		}
		s.p.changed.Wait()
	}
}
