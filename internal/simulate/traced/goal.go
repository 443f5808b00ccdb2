package traced

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strconv"
	"sync"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/trace"
)

// WriteGOAL writes a trace as a GOAL schedule. Computation and calls without a model become calculations in ns;
// collectives become the messages that they are decomposed into. Receives get the sizes of their messages. Calls
// without a model are added to the source's losses. The source needs ops.Options.Shares.
func WriteGOAL(calls *ops.Source, out io.Writer) error {
	m, err := machine.LoadMachine("ideal")
	if err != nil {
		return err
	}
	o := Options{Machine: m, CPUSpeedup: 1, apart: true}
	g := &goalWriter{out: bufio.NewWriter(out), tags: make(map[goalTag]int)}
	first := o
	first.sizes = true
	if g.sent, g.wanted, err = allMessages(calls.Reader, first); err != nil {
		return err
	}
	second, err := from(calls, o)
	if err != nil {
		return err
	}
	defer second.Close()
	fmt.Fprintf(g.out, "num_ranks %d\n", calls.Reader.Ranks())
	programs, err := second.Programs()
	if err != nil {
		return err
	}
	for rank, p := range programs {
		fmt.Fprintf(g.out, "\nrank %d {\n", rank)
		r := goalRank{goalWriter: g, rank: int32(rank), besides: func() []dataflow.Op { return second.besides(rank) }, goalThread: goalThread{last: none, begun: none}}
		if w, ok := p.(*written); ok && w.threads != nil {
			r.team = newGoalTeam(w.threads)
			r.goalThread = r.team.at[w.threads.main]
		}
		if err := each(p, r.op); err != nil {
			return err
		}
		r.finish()
		fmt.Fprintln(g.out, "}")
	}
	for what, u := range second.left {
		if u.KeepsRecordedTime {
			calls.Losses.Add("without a model, as calculations of the time that they took: "+what, u.Calls)
		}
	}
	return g.out.Flush()
}

// allMessages returns the messages that ranks send, with sizes, which receives lack, and with the sending threads.
// wanted has the receives of ranks with several threads. Several goroutines process some ranks each.
func allMessages(r *trace.Reader, o Options) (sent, wanted map[goalKey]*goalMessages, err error) {
	sent, wanted = make(map[goalKey]*goalMessages), make(map[goalKey]*goalMessages)
	var mu sync.Mutex
	var group sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), r.Ranks())
	for worker := range workers {
		group.Go(func() {
			out, in, failed := messagesOf(r, o, worker, workers)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(sent, out) // each key is of one sender, so no entry is overwritten
			maps.Copy(wanted, in)
			err = cmp.Or(err, failed)
		})
	}
	group.Wait()
	return sent, wanted, err
}

// messagesOf returns the messages that every step-th rank from first on sends, and those that it receives if it has
// several threads.
func messagesOf(r *trace.Reader, o Options, first, step int) (out, in map[goalKey]*goalMessages, err error) {
	s, err := NewProgramSource(r, o)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	programs, err := s.Programs()
	if err != nil {
		return nil, nil, err
	}
	out, in = make(map[goalKey]*goalMessages), make(map[goalKey]*goalMessages)
	note := func(to map[goalKey]*goalMessages, k goalKey, run messageRun) {
		once.GetOrMake(to, k, func() *goalMessages { return new(goalMessages) }).add(run)
	}
	for rank := first; rank < len(programs); rank += step {
		w, ok := programs[rank].(*written)
		several := ok && w.threads != nil
		var take func(op *dataflow.Op)
		take = func(op *dataflow.Op) {
			switch {
			case op.Kind == dataflow.OpSend:
				note(out, goalKey{int32(rank), op.Peer, op.Context, op.Tag}, messageRun{op.Bytes, op.Thread, 1})
			case op.Kind == dataflow.OpReceive && several:
				note(in, goalKey{op.Peer, int32(rank), op.Context, op.Tag}, messageRun{0, op.Thread, 1})
			case op.Kind == dataflow.OpMeet && op.Request != dataflow.NoRequest:
				ops := s.besides(rank)
				for i := range ops {
					ops[i].Thread = op.Thread
					take(&ops[i])
				}
			}
		}
		if err := each(programs[rank], take); err != nil {
			return nil, nil, err
		}
	}
	return out, in, nil
}

// besides returns the operations that are concurrent with the rank from its next OpMeet with a request on: the
// messages of a nonblocking collective. Each call returns those of the next one.
func (s *ProgramSource) besides(rank int) []dataflow.Op {
	ops := s.beside[rank][0]
	s.beside[rank] = s.beside[rank][1:]
	return ops
}

// each calls f with each operation of a program.
func each(p dataflow.Program, f func(op *dataflow.Op)) error {
	for {
		ops, err := p.Next()
		if err != nil || len(ops) == 0 {
			return err
		}
		for i := range ops {
			f(&ops[i])
		}
	}
}

// A goalTag is what distinguishes messages of two ranks by a tag number in GOAL. Each pair of threads has its own, so
// that threads get the same messages as in the traced run.
type goalTag struct {
	context  int32
	from, to int32 // threads that send and receive
	tag      int64
}

// A goalKey identifies a channel by ranks, context and tag: messages with equal keys don't overtake each other.
type goalKey struct {
	from, to, context int32
	tag               int64
}

// goalMessages are the messages of a channel in order; runs of equal messages are stored once.
type goalMessages struct {
	runs []messageRun
	at   int // index of the run that the next message is in
}

type messageRun struct {
	bytes  int64
	thread int32
	n      int64
}

func (x *goalMessages) add(run messageRun) {
	if n := len(x.runs); n > 0 && x.runs[n-1].bytes == run.bytes && x.runs[n-1].thread == run.thread {
		x.runs[n-1].n += run.n
		return
	}
	x.runs = append(x.runs, run)
}

// next removes the next message of a channel. It returns the message's size and the thread that sends or receives it,
// or 0, 0 if no message is left.
func (x *goalMessages) next() (bytes int64, thread int32) {
	if x == nil || x.at == len(x.runs) {
		return 0, 0
	}
	run := &x.runs[x.at]
	if run.n--; run.n == 0 {
		x.at++
	}
	return run.bytes, run.thread
}

type goalWriter struct {
	out          *bufio.Writer
	text         []byte // the line being written
	name         int    // number of bytes of the operation's label, with which text begins
	sent, wanted map[goalKey]*goalMessages
	tags         map[goalTag]int

	lastTag goalTag // the latest goalTag, whose number is lastN: tags often repeat
	lastN   int
}

func (g *goalWriter) tag(k goalTag) int {
	if k == g.lastTag && len(g.tags) > 0 {
		return g.lastN
	}
	n, _ := once.NumberOf(g.tags, k)
	g.lastTag, g.lastN = k, n
	return n
}

// A goalRank writes the operations of one rank as GOAL.
type goalRank struct {
	*goalWriter
	rank int32
	n    int // number of operations written so far
	goalThread
	requests []int // by number of a request: the operation on which a wait for it depends, or none
	besides  func() []dataflow.Op
	team     *goalTeam // threads of the rank; nil: it has one thread
}

// A goalThread is what the next operation of a thread depends on. The operations of each rank are numbered from 0.
type goalThread struct {
	last   int // number of the operation for whose end the next one waits, or none
	begun  int // number of the operation for whose start the next one waits, or none
	thread int32
	cpu    int64
}

const none = -1

// message writes a send or receive of bytes: verb and way are GOAL's words, peer the other rank.
func (r *goalRank) message(verb string, bytes int64, way string, peer int32, tag int) {
	b := append(append(r.begin(), verb...), ' ')
	b = append(append(strconv.AppendInt(b, bytes, 10), way...), ' ')
	b = append(strconv.AppendInt(b, int64(peer), 10), " tag "...)
	r.end(strconv.AppendInt(b, int64(tag), 10))
}

func (r *goalRank) calculation(ns int64) {
	r.end(strconv.AppendInt(append(r.begin(), "calc "...), ns, 10))
}

// begin starts the line of the next operation with its label.
func (r *goalRank) begin() []byte {
	b := strconv.AppendInt(append(r.text[:0], 'l'), int64(r.n), 10)
	r.name = len(b)
	return append(b, ": "...)
}

// end writes the line b of an operation, and what the operation depends on.
func (r *goalRank) end(b []byte) {
	if r.cpu > 0 {
		b = strconv.AppendInt(append(b, " cpu "...), r.cpu, 10)
	}
	b = append(b, '\n')
	if r.last != none {
		b = waits(b, b[:r.name], " requires l", r.last)
	}
	if r.begun != none {
		b = waits(b, b[:r.name], " irequires l", r.begun)
	}
	r.text = b
	r.out.Write(b)
	r.n++
}

func waits(b, name []byte, how string, on int) []byte {
	b = append(append(b, name...), how...)
	return append(strconv.AppendInt(b, int64(on), 10), '\n')
}

// ended makes all later operations of the thread wait for the end of the one just written.
func (r *goalRank) ended() { r.last, r.begun = r.n-1, none }

func (r *goalRank) op(op *dataflow.Op) {
	if r.team != nil && r.shared(op) {
		return
	}
	switch op.Kind {
	case dataflow.OpSend:
		_, to := r.wanted[goalKey{r.rank, op.Peer, op.Context, op.Tag}].next()
		r.message("send", max(1, op.Bytes), "b to", op.Peer, r.tag(goalTag{op.Context, r.thread, to, op.Tag}))
	case dataflow.OpReceive:
		bytes, from := r.sent[goalKey{op.Peer, r.rank, op.Context, op.Tag}].next()
		r.message("recv", max(1, bytes), "b from", op.Peer, r.tag(goalTag{op.Context, from, r.thread, op.Tag}))
	case dataflow.OpWait:
		if int(op.Request) >= len(r.requests) || r.requests[op.Request] == none {
			return
		}
		at := r.requests[op.Request]
		r.requests[op.Request] = none
		r.calculation(0)
		b := waits(r.text, r.text[:r.name], " requires l", at)
		r.out.Write(b[len(r.text):])
		r.text = b
		r.ended()
		return
	case dataflow.OpMeet:
		r.chain(op.Request)
		return
	default:
		if ns := (op.TimePs + 500) / 1000; ns > 0 {
			r.calculation(ns)
			r.ended()
		}
		return
	}
	if op.Request == dataflow.NoRequest {
		r.ended()
		return
	}
	r.awaited(op.Request, r.n-1)
	r.begun = r.n - 1
}

// awaited records the number of the operation on which a wait for a request depends.
func (r *goalRank) awaited(request int32, operation int) {
	for int(request) >= len(r.requests) {
		r.requests = append(r.requests, none)
	}
	r.requests[request] = operation
}

// chain writes the operations of a nonblocking collective, which are concurrent with the rank. It records the last
// one, on which a wait for the request depends.
func (r *goalRank) chain(request int32) {
	r.calculation(0)
	beside := *r
	beside.requests, beside.team = nil, nil
	beside.ended()
	ops := r.besides()
	for i := range ops {
		beside.op(&ops[i])
	}
	r.awaited(request, beside.last)
	r.n = beside.n
}

// mostCPUs is the largest number of CPUs of a rank in a schedule.
const mostCPUs = 256

// A goalTeam is the threads of a rank, each with a CPU of its own in a schedule.
type goalTeam struct {
	*threads
	at []goalThread // by stream: state of the thread
	// By stream: state of the main thread when this stream began; its last is unknownPlace if that was not reached.
	started []goalThread
	rest    []dataflow.Op // operations of the thread that waits for the end of all threads; they are written last
}

func newGoalTeam(t *threads) *goalTeam {
	x := &goalTeam{threads: t, at: make([]goalThread, len(t.strands)), started: make([]goalThread, len(t.strands))}
	cpus := int64(1)
	for stream := range x.at {
		x.at[stream] = goalThread{last: none, begun: none, thread: int32(stream)}
		x.started[stream].last = unknownPlace
		if stream != t.main {
			x.at[stream].cpu = cpus
			cpus++
		}
	}
	return x
}

const unknownPlace = none - 1

// turn makes the following operations belong to a thread, by its stream.
func (r *goalRank) turn(thread int32) {
	if r.thread != thread {
		r.team.at[r.thread], r.goalThread = r.goalThread, r.team.at[thread]
	}
}

// shared processes an operation by which threads wait for each other. It returns false for other operations.
func (r *goalRank) shared(op *dataflow.Op) bool {
	t := r.team
	r.turn(op.Thread)
	switch {
	case t.rest != nil && op.Thread == t.rest[0].Thread:
		t.rest = append(t.rest, *op)
	case op.Kind != dataflow.OpMeet || op.Request != dataflow.NoRequest:
		return false
	case op.WaitPattern == dataflow.RootWaitsForAll && op.IsRoot:
		t.rest = []dataflow.Op{*op}
	case op.WaitPattern == dataflow.RootWaitsForAll:
	case op.IsRoot: // the main thread, at the place where another thread begins
		t.started[op.Context-t.context] = r.goalThread
	default:
		from := t.started[op.Context-t.context]
		if from.last == unknownPlace {
			r.turn(int32(t.main))
			from = r.goalThread
			r.turn(op.Thread)
		}
		r.last, r.begun = from.last, from.begun
	}
	return true
}

// finish writes goalTeam.rest: the operations that wait for the end of all threads.
func (r *goalRank) finish() {
	t := r.team
	if t == nil || t.rest == nil {
		return
	}
	rest := t.rest
	t.rest = nil
	r.turn(rest[0].Thread)
	r.calculation(0)
	for _, stream := range t.with {
		if x := &t.at[stream]; int32(stream) != r.thread {
			if x.last != none {
				r.out.Write(waits(nil, r.text[:r.name], " requires l", x.last))
			}
			if x.begun != none {
				r.out.Write(waits(nil, r.text[:r.name], " irequires l", x.begun))
			}
		}
	}
	r.ended()
	for i := range rest[1:] {
		r.op(&rest[1+i])
	}
}
