package traced

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A strand is what a writer keeps for one thread of its rank.
type strand struct {
	leaves  []reissue.LeafGaps // gaps and durations by leaf; nil if each call has its own times
	of      *trace.Leaves
	cursor  trace.LeafCursor
	looking bool // the thread's previous call was a poll that found nothing
}

// A threads is the threads of one rank, which run concurrently. No call shows who started a thread or who waits for
// its end.
//
// The main thread is the one with the first call, unless that call waits for another thread. All other threads begin
// as long after the main thread's latest call as in the trace. MPI_Finalize waits for all threads. Messages and
// collectives are matched in the order in which the rank's threads began the calls in the trace.
type threads struct {
	strands []strand // by stream; the writer itself has the one of the thread whose call it converts
	main    int
	with    []int // streams that have calls, in rising order
	// By stream: begin of its first call, in ns since the run began; math.MaxInt64 for a stream without calls.
	first []int64
	// By stream: end of the main thread's latest call before the stream began, in ns since the run began.
	from  []int64
	told  []bool // by stream: the main thread has added its operation that starts this stream
	begun []bool
	last  int64 // end of the main thread's latest call so far, in ns since the run began
	final int   // stream that calls MPI_Finalize; -1 before that call was seen
	// By stream: meetings in which another stream waits for a call of this stream, in order of that call.
	turns [][]turnMeeting
	waits [][]turnMeeting // by stream: meetings in which this stream waits for a call of another stream
	// Context of the meeting in which stream 0 starts; that of stream i is context + i. The main thread needs no
	// start: its context is for the end of all threads.
	context int32
}

// A turnMeeting is a meeting of two threads of a rank: one waits for an earlier call of the other.
type turnMeeting struct {
	// Index, in the stream that has this turnMeeting in its list, of the call waited for or of the call that waits.
	call    uint64
	context int32
}

// threadContexts is the lowest context of meetings between threads of a rank. It is below all contexts of
// communicators.
const threadContexts = -1 << 30

// threadsOf returns the threads of rank k; nil if k has only one.
func (s *ProgramSource) threadsOf(k *trace.Rank) (*threads, error) {
	n := k.Streams()
	if n == 1 {
		return nil, nil
	}
	t := &threads{strands: make([]strand, n), main: -1, first: make([]int64, n), from: make([]int64, n), told: make([]bool, n), begun: make([]bool, n), final: -1}
	for stream := range n {
		walk, err := k.TimedWalk(stream, 0)
		if err != nil {
			return nil, err
		}
		if t.first[stream] = math.MaxInt64; !walk.Next() {
			continue
		}
		t.with = append(t.with, stream)
		if t.first[stream] = walk.Timed().StartNs - s.calls.StartNs; t.main < 0 || t.first[stream] < t.first[t.main] {
			t.main = stream
		}
	}
	t.main = max(t.main, 0)
	t.context = threadContexts + s.strands
	s.strands += int32(n)
	if err := t.findTurns(s, k); err != nil {
		return nil, err
	}
	waits := func(stream int) bool { return len(t.waits[stream]) > 0 && t.waits[stream][0].call == 0 }
	for _, stream := range t.with {
		if waits(t.main) && !waits(stream) {
			t.main = stream
		}
	}
	return t, nil
}

// findTurns finds the calls that use a handle made by an earlier call of another thread of the rank, and so must wait
// for it.
func (t *threads) findTurns(s *ProgramSource, k *trace.Rank) error {
	t.turns, t.waits = make([][]turnMeeting, k.Streams()), make([][]turnMeeting, k.Streams())
	if s.o.apart {
		return nil // in a schedule, threads wait for each other only at their start and in MPI_Finalize
	}
	lists, err := handles.ThreadDependencies(k)
	if err != nil {
		return err
	}
	for stream, list := range lists {
		for _, x := range list {
			context := threadContexts + s.strands
			s.strands++
			t.waits[stream] = append(t.waits[stream], turnMeeting{x.LaterCall, context})
			t.turns[x.EarlierStream] = append(t.turns[x.EarlierStream], turnMeeting{x.EarlierCall, context})
		}
	}
	for _, list := range t.turns {
		slices.SortStableFunc(list, func(a, b turnMeeting) int { return cmp.Compare(a.call, b.call) })
	}
	return nil
}

// let adds the current stream's part of the meetings in which other threads wait for its calls before the given one.
func (t *threads) let(w *writer, call uint64) {
	list := &t.turns[w.thread]
	for ; len(*list) > 0 && (*list)[0].call < call; *list = (*list)[1:] {
		w.add(dataflow.Op{Kind: dataflow.OpMeet, WaitPattern: dataflow.WaitForRoot, IsRoot: true, Members: 2, Context: (*list)[0].context, MatchIndex: 1, Request: dataflow.NoRequest})
	}
}

// wait adds the current stream's part of the meetings in which the given call, or one before it, waits for another
// thread.
func (t *threads) wait(w *writer, call uint64) {
	list := &t.waits[w.thread]
	if int(w.thread) == t.main && len(*list) > 0 && (*list)[0].call <= call {
		// The threads that it waits for must have begun, even if mean times place their begin later.
		t.tell(w, math.MaxInt64)
	}
	for ; len(*list) > 0 && (*list)[0].call <= call; *list = (*list)[1:] {
		w.add(dataflow.Op{Kind: dataflow.OpMeet, WaitPattern: dataflow.WaitForRoot, Members: 2, Context: (*list)[0].context, MatchIndex: 1, Request: dataflow.NoRequest})
	}
}

// meet returns an operation of a meeting of the rank's threads: the start of a stream or, if stream is the main one,
// the end of all threads.
func (t *threads) meet(stream int, how dataflow.WaitPattern, root bool, members int) dataflow.Op {
	return dataflow.Op{Kind: dataflow.OpMeet, WaitPattern: how, IsRoot: root, Members: int32(members), Context: t.context + int32(stream), MatchIndex: 1, Request: dataflow.NoRequest}
}

// turn makes the writer convert calls of the given stream from now on.
func (w *writer) turn(stream int) {
	if int(w.thread) != stream {
		w.threads.strands[w.thread], w.strand = w.strand, w.threads.strands[stream]
		w.thread = int32(stream)
	}
}

// before adds the meetings of threads that precede call c, and returns the gap before c. For the first call of a
// thread other than the main one, the gap counts from the main thread's latest call before it.
func (t *threads) before(w *writer, c *ops.Call, gap float64) float64 {
	t.let(w, c.Index)
	if c.Stream == t.main {
		t.tell(w, c.EndNs)
		t.last = c.EndNs
		return gap
	}
	if t.begun[c.Stream] {
		return gap
	}
	if t.begun[c.Stream] = true; !t.told[c.Stream] {
		t.from[c.Stream] = t.last
	}
	w.add(t.meet(c.Stream, dataflow.WaitForRoot, false, 2))
	return float64(max(0, c.StartNs-t.from[c.Stream]))
}

// tell adds the main thread's part in the start of each thread whose first call begins before the given time.
func (t *threads) tell(w *writer, before int64) {
	for _, stream := range t.with {
		if stream == t.main || t.told[stream] || t.first[stream] >= before {
			continue
		}
		if t.told[stream] = true; !t.begun[stream] {
			t.from[stream] = t.last
		}
		w.add(t.meet(stream, dataflow.WaitForRoot, true, 2))
	}
}

// finalize makes the first thread that calls MPI_Finalize wait for the rank's other threads.
func (t *threads) finalize(w *writer) {
	if t.final < 0 {
		t.tell(w, math.MaxInt64) // with mean times, the first call of some threads may seem to begin after MPI_Finalize
		t.final = int(w.thread)
		w.add(t.meet(t.main, dataflow.RootWaitsForAll, true, len(t.with)))
	}
}

// end adds the end of each thread: all except the one that called MPI_Finalize join the meeting with it.
func (t *threads) end(w *writer) {
	w.turn(t.main)
	t.tell(w, math.MaxInt64)
	for _, stream := range t.with {
		w.turn(stream)
		t.let(w, math.MaxUint64)
		if t.final >= 0 && stream != t.final {
			w.add(t.meet(t.main, dataflow.RootWaitsForAll, false, len(t.with)))
		}
	}
}

// A threadSplitter distributes the operations of a rank to its threads. It numbers sends, receives and meetings over
// all threads of the rank.
type threadSplitter struct {
	next   func() ([]dataflow.Op, error, bool)
	queues [][]dataflow.Op // by stream: operations that its program has not yielded yet
	counts map[shared]int32
	err    error
	ended  bool
}

type shared struct {
	kind          dataflow.OpKind
	peer, context int32
	tag           int64
}

// A threadProgram yields the operations of one thread.
type threadProgram struct {
	*threadSplitter
	stream int
}

func (p *threadProgram) Next() ([]dataflow.Op, error) {
	for len(p.queues[p.stream]) == 0 && !p.ended {
		ops, err, ok := p.next()
		if p.ended = !ok || err != nil; err != nil {
			p.err = err
		}
		for i := range ops {
			p.split(&ops[i])
		}
	}
	ops := p.queues[p.stream]
	p.queues[p.stream] = nil
	return ops, p.err
}

func (p *threadSplitter) split(o *dataflow.Op) {
	op := *o
	switch o.Kind {
	case dataflow.OpSend, dataflow.OpReceive, dataflow.OpMeet:
		if op.MatchIndex == 0 {
			k := shared{o.Kind, o.Peer, o.Context, o.Tag}
			p.counts[k]++
			op.MatchIndex = p.counts[k]
		}
	}
	p.queues[o.Thread] = append(p.queues[o.Thread], op)
}

// split returns one program for each thread of rank k, the main thread's first, and the stream of each program.
func (s *ProgramSource) split(k *trace.Rank, t *threads) (programs []dataflow.Program, streams []int) {
	x := &threadSplitter{queues: make([][]dataflow.Op, len(t.strands)), counts: make(map[shared]int32)}
	var stop func()
	x.next, stop = iter.Pull2(s.program(k.Number(), t))
	s.stops = append(s.stops, stop)
	add := func(stream int) {
		programs = append(programs, &dataflow.ThreadProgram{Program: &threadProgram{x, stream}, Rank: k.Number()})
		streams = append(streams, stream)
	}
	add(t.main)
	for _, stream := range t.with {
		if stream != t.main {
			add(stream)
		}
	}
	return programs, streams
}

// folded returns the times by rank, from the times by program. A rank with several threads gets those of the thread
// that ends last.
func (s *ProgramSource) folded(times []dataflow.RankTime) []dataflow.RankTime {
	ranks := s.r.Ranks()
	for i := ranks; i < len(times); i++ {
		if x := &times[s.of[i].rank]; times[i].EndPs > x.EndPs {
			*x = times[i]
		}
	}
	return times[:ranks]
}
