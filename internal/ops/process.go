package ops

import (
	"cmp"

	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A process is the state of iterating over the calls of one rank.
type process struct {
	s *Source
	*CallInterpreter

	threads  []*thread
	pending  map[requestKey]*pending // persistent requests, and split collectives on files
	spare    []*pending
	lastID   uint64
	windows  map[int64]*openWindow // by handle, like the following maps
	files    map[int64]*File
	messages map[int64]matched              // messages removed by matched probes
	made     map[int]int                    // by communicator: number of windows and files that its members have made together so far
	met      map[CollectiveSequence]*uint64 // number of the rank's collective calls in each order so far
	own      struct {
		of   *handles.Comm
		rank int
	}
	groups map[int64][]int // world ranks of each group, by handle

	sent, got counts // numbers of messages sent and received so far
	since     uint64 // calls since the last call of Progress

	part bool // the current call is in the wanted time range and phase
}

// A thread is one stream of a process.
type thread struct {
	stream int
	walk   *trace.Walk
	idle   *idle // nil: no calls are skipped
	phases *within
	values *trace.AttachedValueCursor // attached values; nil: not wanted
	more   bool                       // walk is at a call that was not yet handled
	clock  CallTimeIterator           // times of the calls; nil: those of the walk, if the trace has any
	begins int64                      // begin of the walk's call in ns, by the clock
	ends   int64
	gap    int64
	made   int64 // one-shot requests made so far
	once   ring  // operations of one-shot requests
	plans  []plan
	open   []*Call // unfinished calls, the innermost last
	spare  []*Call
	last   int64                      // the latest Start or End passed to the sink, in ns
	turns  []handles.ThreadDependency // constraints on the order of the remaining calls
}

func (s *Source) process(k *trace.Rank) (*process, error) {
	a, err := s.Interpreter(k)
	if err != nil {
		return nil, err
	}
	p := &process{
		s: s, CallInterpreter: a, pending: make(map[requestKey]*pending), windows: make(map[int64]*openWindow),
		files: make(map[int64]*File), messages: make(map[int64]matched), made: make(map[int]int), met: make(map[CollectiveSequence]*uint64),
		sent: counts{all: make(map[Channel]*uint64)}, got: counts{all: make(map[Channel]*uint64)},
		part: true,
	}
	idle, err := s.idleCalls(k)
	if err != nil {
		return nil, err
	}
	turns, err := handles.ThreadDependencies(k)
	if err != nil {
		return nil, err
	}
	for stream := range k.Streams() {
		t := &thread{stream: stream, turns: turns[stream], plans: make([]plan, k.Terminals())}
		at := uint64(0)
		if s.o.StartPosition != nil {
			at = s.o.StartPosition(k.Number(), stream)
		}
		if t.walk, err = s.walk(k, stream, at); err != nil {
			return nil, err
		}
		if s.o.CallTimes != nil {
			t.clock = s.o.CallTimes(stream)
		}
		if idle != nil {
			t.idle = newIdle(k, stream, idle)
		}
		if t.phases, err = s.phases(k, stream); err != nil {
			return nil, err
		}
		if s.o.ReadAttachedValues {
			if t.values, err = k.AttachedValueCursor(stream); err != nil {
				return nil, err
			}
		}
		p.threads = append(p.threads, t)
	}
	return p, nil
}

// often is the number of calls between two calls of Progress.
const often = 1 << 14

// run iterates over the calls of all threads, in the order of their begins.
func (p *process) run(sink Sink) error {
	if err := p.begin(); err != nil {
		return err
	}
	for next := p.earliest(); next != nil; next = p.earliest() {
		if err := p.step(next, sink); err != nil {
			return err
		}
	}
	return p.finish(sink)
}

// begin moves to the first call of each thread.
func (p *process) begin() error {
	for _, t := range p.threads {
		if err := p.advance(t); err != nil {
			return err
		}
	}
	return nil
}

// earliest returns the thread whose next call began first; nil if no call remains. If threads
// passed objects to each other, their calls keep that order, even if times contradict it because they are only means.
func (p *process) earliest() (next *thread) {
	var waiting *thread
	for _, t := range p.threads {
		switch {
		case !t.more:
		case !p.hasTurn(t):
			if waiting == nil || p.start(t) < p.start(waiting) {
				waiting = t
			}
		case next == nil || p.start(t) < p.start(next):
			next = t
		}
	}
	if next == nil {
		return waiting // threads wait for each other, as the file is damaged
	}
	return next
}

// hasTurn reports whether other threads have made all calls that must precede the next call of a thread.
func (p *process) hasTurn(t *thread) bool {
	at := t.walk.Call().Index
	for ; len(t.turns) > 0 && t.turns[0].LaterCall <= at; t.turns = t.turns[1:] {
		if o := p.threads[t.turns[0].EarlierStream]; o.more && o.walk.Call().Index <= t.turns[0].EarlierCall {
			return false
		}
	}
	return true
}

// step handles the next call of a thread.
func (p *process) step(t *thread, sink Sink) error {
	if err := cmp.Or(p.call(t, sink), p.Err()); err != nil {
		return err
	}
	if p.since++; p.since == often {
		p.s.o.AddProgress(p.since)
		p.since = 0
	}
	return p.advance(t)
}

// finish passes the ends of all unfinished calls.
func (p *process) finish(sink Sink) error {
	p.s.o.AddProgress(p.since)
	for _, t := range p.threads {
		if err := p.leave(t, sink, 0); err != nil {
			return err
		}
	}
	if n := p.left(); n > 0 {
		p.s.Losses.Add(LossUnfinished, n)
	}
	return nil
}

func (s *Source) walk(k *trace.Rank, stream int, index uint64) (*trace.Walk, error) {
	if s.timed() && s.o.CallTimes == nil {
		return k.TimedWalk(stream, index)
	}
	return k.Walk(stream, index)
}

// advance moves to the next call of a thread.
func (p *process) advance(t *thread) (err error) {
	if t.idle != nil && t.more {
		to, ok := t.idle.passes(t.walk.Call())
		if ok && to == p.k.CallCount(t.stream) {
			t.more = false
			return nil
		}
		if ok {
			if t.walk, err = p.s.walk(p.k, t.stream, to); err != nil {
				return err
			}
		}
	}
	if t.more = t.walk.Next(); t.more && t.clock != nil {
		if t.begins, t.ends, t.gap, err = t.clock.Next(); err != nil {
			return err
		}
	}
	if t.more && p.s.o.StartPosition != nil && p.start(t)+p.s.StartNs > p.s.o.ToNs {
		t.more = false
	}
	return t.walk.Err()
}

// start returns when the next call of a thread began. Without times, each call and each gap takes one unit.
func (p *process) start(t *thread) int64 {
	c := t.walk.Timed()
	switch {
	case t.clock != nil:
		return t.begins
	case p.s.timed():
		return c.StartNs - p.s.StartNs
	}
	return 2 * int64(c.Index)
}

func (p *process) end(t *thread) int64 {
	switch {
	case t.clock != nil:
		return t.ends
	case p.s.timed():
		return t.walk.Timed().EndNs() - p.s.StartNs
	}
	return p.start(t) + 1
}

// call handles the current call of a thread's walk.
func (p *process) call(t *thread, sink Sink) error {
	now := t.walk.Timed()
	start, end, known := p.start(t), p.end(t), now.Timing.Duration.Kind
	timing := now.Timing
	if t.clock != nil {
		known = trace.ExactSample
		timing = trace.Timing{Duration: trace.Sample{Ns: uint64(end - start), Kind: known}, Gap: trace.Sample{Ns: uint64(t.gap), Kind: known}}
	}
	// Without exact times, a call that seems to begin early is not nested.
	keep := len(t.open)
	for keep > 0 && (known != trace.ExactSample || t.open[keep-1].EndNs <= start || t.open[keep-1].EndNs < end) {
		keep--
	}
	if err := p.leave(t, sink, keep); err != nil {
		return err
	}
	start = max(start, t.last)
	c := t.newCall()
	*c = Call{Call: now.Call, StartNs: start, EndNs: max(start, end), TimeKind: known, Timing: timing, Acts: c.Acts[:0], Values: c.Values[:0]}
	p.part = t.phases.has(c.Index) && p.s.wants(c.StartNs, c.EndNs)
	p.act(t, c)
	if !p.part {
		t.spare = append(t.spare, c)
		return nil
	}
	if t.values != nil {
		list, err := t.values.At(c.Index)
		if err != nil {
			return err
		}
		c.Values = append(c.Values, list...)
	}
	p.s.CallsRead++
	t.last = c.StartNs
	t.open = append(t.open, c)
	return sink.Enter(c)
}

// leave passes the ends of unfinished calls, except the outermost keep.
func (p *process) leave(t *thread, sink Sink, keep int) error {
	for len(t.open) > keep {
		c := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.last = max(t.last, c.EndNs)
		c.EndNs = t.last
		if err := sink.Leave(c); err != nil {
			return err
		}
		t.spare = append(t.spare, c)
	}
	return nil
}

// lose counts a loss in the current call, if the call is wanted.
func (p *process) lose(what string, n uint64) {
	if p.part {
		p.s.Losses.Add(what, n)
	}
}

func (t *thread) newCall() *Call {
	if n := len(t.spare); n > 0 {
		c := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return c
	}
	return &Call{}
}

// An idle skips long sequences of calls that do not matter to a sink: a polling loop makes any number of them.
type idle struct {
	k      *trace.Rank
	is     []bool             // by terminal: its calls are idle
	others *trace.Occurrences // calls that are not idle
	run    int                // number of consecutive idle calls passed so far
}

// idleTold is the number of consecutive idle calls that are passed before the rest of them is skipped. It is skipped
// only if it has more than idleShort calls.
const (
	idleTold  = 64
	idleShort = 4096
)

func newIdle(k *trace.Rank, stream int, is []bool) *idle {
	return &idle{k: k, is: is, others: k.Occurrences(stream, func(t int) bool { return !is[t] })}
}

// passes returns the position of the next call to pass; the stream's length at the end. It returns false if
// that is the directly following call.
func (x *idle) passes(c *trace.Call) (to uint64, ok bool) {
	if x.run++; !x.is[c.Terminal] {
		x.run = 0
	}
	if x.run < idleTold {
		return 0, false
	}
	x.run = 0
	to = x.k.CallCount(c.Stream)
	if n := x.others.CountBefore(c.Index); n < x.others.Total() {
		to, _ = x.others.Nth(n)
	}
	return to, to > c.Index+idleShort
}

// idleCalls returns which terminals of a rank are idle; nil if none is.
func (s *Source) idleCalls(k *trace.Rank) ([]bool, error) {
	if s.o.IsIdle == nil {
		return nil, nil
	}
	var is []bool
	for t := range k.Terminals() {
		idle := s.o.IsIdle(k.CallWithoutParams(t).Func)
		if idle == nil || k.Lane(t) != nil {
			continue
		}
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		if idle(c) {
			if is == nil {
				is = make([]bool, k.Terminals())
			}
			is[t] = true
		}
	}
	return is, nil
}
