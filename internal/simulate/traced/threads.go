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

// A strand is the writer's state of one thread.
type strand struct {
	leaves  []reissue.LeafGaps // times by leaf, if the times of single calls are not used; else nil
	of      *trace.Leaves
	cursor  trace.LeafCursor
	looking bool // the previous call was a poll that found nothing
}

// A rank's threads run concurrently. No call shows who started a thread or who waits for its end. A thread begins as
// long after the main thread's latest call as in the trace; the main thread is the one with the first call.
// MPI_Finalize waits for all threads. Messages and collectives go to threads in the order in which these request
// them.
type threads struct {
	strands []strand // by stream; the current one is in the writer
	main    int
	with    []int   // streams that have calls
	first   []int64 // by stream: beginning of the first call
	from    []int64 // by stream: end of the main thread's preceding call
	told    []bool  // by stream: the main thread has started it
	begun   []bool
	last    int64           // end of the main thread's last call
	final   int             // stream that calls MPI_Finalize; -1: not seen yet
	turns   [][]turnMeeting // by stream: meetings at which others wait for it
	waits   [][]turnMeeting // by stream: meetings at which it waits
	context int32           // context of the first stream's start; the following streams' contexts follow. The main thread's is for the end
}

// A turnMeeting is where a thread waits for a call of another.
type turnMeeting struct {
	call    uint64 // index of the current stream's call
	context int32
}

// threadContexts is below all contexts of communicators; it is for meetings of a rank's threads.
const threadContexts = -1 << 30

// threadsOf returns the state of a rank's threads; nil if it has only one.
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
		if t.first[stream] = walk.Timed().Start - s.calls.StartNs; t.main < 0 || t.first[stream] < t.first[t.main] {
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

// findTurns finds where a thread waits for another because it uses what the other made.
func (t *threads) findTurns(s *ProgramSource, k *trace.Rank) error {
	t.turns, t.waits = make([][]turnMeeting, k.Streams()), make([][]turnMeeting, k.Streams())
	if s.o.apart {
		return nil // a schedule has no other dependencies between threads
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

// let adds the meetings by which other threads continue that wait for calls of the current stream before the given one.
func (t *threads) let(w *writer, call uint64) {
	list := &t.turns[w.thread]
	for ; len(*list) > 0 && (*list)[0].call < call; *list = (*list)[1:] {
		w.add(dataflow.Op{Kind: dataflow.OpMeet, Meeting: dataflow.MeetFromRoot, IsRoot: true, Members: 2, Context: (*list)[0].context, MatchIndex: 1, Request: dataflow.NoRequest})
	}
}

// wait adds the meetings that the current stream waits for before a call.
func (t *threads) wait(w *writer, call uint64) {
	list := &t.waits[w.thread]
	if int(w.thread) == t.main && len(*list) > 0 && (*list)[0].call <= call {
		t.tell(w, math.MaxInt64) // the threads it waits for have begun, whatever mean times suggest
	}
	for ; len(*list) > 0 && (*list)[0].call <= call; *list = (*list)[1:] {
		w.add(dataflow.Op{Kind: dataflow.OpMeet, Meeting: dataflow.MeetFromRoot, Members: 2, Context: (*list)[0].context, MatchIndex: 1, Request: dataflow.NoRequest})
	}
}

// meet returns a meeting of a rank's threads: about a stream's start or, for the main stream, the end of all threads.
func (t *threads) meet(stream int, how dataflow.Meeting, root bool, members int) dataflow.Op {
	return dataflow.Op{Kind: dataflow.OpMeet, Meeting: how, IsRoot: root, Members: int32(members), Context: t.context + int32(stream), MatchIndex: 1, Request: dataflow.NoRequest}
}

// turn makes the writer continue with the calls of a thread.
func (w *writer) turn(stream int) {
	if int(w.thread) != stream {
		w.threads.strands[w.thread], w.strand = w.strand, w.threads.strands[stream]
		w.thread = int32(stream)
	}
}

// before adds the waits of a thread before a call, and returns the gap before it.
func (t *threads) before(w *writer, c *ops.Call, gap float64) float64 {
	t.let(w, c.Index)
	if c.Stream == t.main {
		t.tell(w, c.End)
		t.last = c.End
		return gap
	}
	if t.begun[c.Stream] {
		return gap
	}
	if t.begun[c.Stream] = true; !t.told[c.Stream] {
		t.from[c.Stream] = t.last
	}
	w.add(t.meet(c.Stream, dataflow.MeetFromRoot, false, 2))
	return float64(max(0, c.Start-t.from[c.Stream]))
}

// tell lets the main thread start the threads that begin before a time.
func (t *threads) tell(w *writer, before int64) {
	for _, stream := range t.with {
		if stream == t.main || t.told[stream] || t.first[stream] >= before {
			continue
		}
		if t.told[stream] = true; !t.begun[stream] {
			t.from[stream] = t.last
		}
		w.add(t.meet(stream, dataflow.MeetFromRoot, true, 2))
	}
}

// finalize makes the thread that calls MPI_Finalize first wait for the rank's other threads.
func (t *threads) finalize(w *writer) {
	if t.final < 0 {
		t.tell(w, math.MaxInt64) // with mean times, some threads may seem to begin later
		t.final = int(w.thread)
		w.add(t.meet(t.main, dataflow.MeetToRoot, true, len(t.with)))
	}
}

// end adds the end of all threads.
func (t *threads) end(w *writer) {
	w.turn(t.main)
	t.tell(w, math.MaxInt64)
	for _, stream := range t.with {
		w.turn(stream)
		t.let(w, math.MaxUint64)
		if t.final >= 0 && stream != t.final {
			w.add(t.meet(t.main, dataflow.MeetToRoot, false, len(t.with)))
		}
	}
}

// A threadSplitter distributes a rank's operations to its threads, and numbers shared ones.
type threadSplitter struct {
	next   func() ([]dataflow.Op, error, bool)
	queues [][]dataflow.Op // by stream
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

// split returns the programs of a rank's threads, the main one first, and their streams.
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

// folded returns the times of ranks. For several threads it takes the thread that ends last.
func (s *ProgramSource) folded(times []dataflow.RankTime) []dataflow.RankTime {
	ranks := s.r.Ranks()
	for i := ranks; i < len(times); i++ {
		if x := &times[s.of[i].rank]; times[i].End > x.End {
			*x = times[i]
		}
	}
	return times[:ranks]
}
