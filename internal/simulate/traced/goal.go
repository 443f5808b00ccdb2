package traced

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/export"
	"github.com/spoor-hpc/spoor/internal/goal"
	"github.com/spoor-hpc/spoor/internal/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
)

// WriteGOAL writes a trace as a schedule in GOAL's text: computations and calls without a
// model as calculations in ns, collectives as the messages that they are taken apart into. Receives
// have the sizes of the messages that they get. What has no model is added to the source's losses.
// The source needs export.Options.Shares.
func WriteGOAL(calls *export.Source, out io.Writer) error {
	m, err := machine.Load("ideal")
	if err != nil {
		return err
	}
	o := Options{Machine: m, CPU: 1, apart: true}
	first, err := New(calls.Reader, o)
	if err != nil {
		return err
	}
	defer first.Close()
	g := &goalWriter{out: bufio.NewWriter(out), sizes: make(map[goalKey][]int64), tags: make(map[goalTag]int)}
	programs, err := first.Programs()
	if err != nil {
		return err
	}
	for rank, p := range programs {
		var sent func(op *dataflow.Op)
		sent = func(op *dataflow.Op) {
			switch op.Kind {
			case dataflow.Send:
				k := goalKey{int32(rank), op.Peer, g.tag(op)}
				g.sizes[k] = append(g.sizes[k], op.Bytes)
			case dataflow.Meet:
				ops := first.besides(rank)
				for i := range ops {
					sent(&ops[i])
				}
			}
		}
		if err := each(p, sent); err != nil {
			return err
		}
	}
	second, err := from(calls, o)
	if err != nil {
		return err
	}
	defer second.Close()
	fmt.Fprintf(g.out, "num_ranks %d\n", calls.Reader.Ranks())
	if programs, err = second.Programs(); err != nil {
		return err
	}
	for rank, p := range programs {
		fmt.Fprintf(g.out, "\nrank %d {\n", rank)
		r := goalRank{goalWriter: g, rank: int32(rank), besides: func() []dataflow.Op { return second.besides(rank) }, last: none, begun: none, requests: make(map[int32]int)}
		if err := each(p, r.op); err != nil {
			return err
		}
		fmt.Fprintln(g.out, "}")
	}
	for what, u := range second.left {
		if u.Kept {
			calls.Losses.Add("without a model, as calculations of the time that they took: "+what, u.Calls)
		}
	}
	return g.out.Flush()
}

// Schedule is what WriteGOAL writes, as a schedule.
func Schedule(r *trace.Reader, name string) (*goal.Schedule, error) {
	calls, err := export.New(r, export.Options{From: export.FromStart, To: export.ToEnd, Shares: true})
	if err != nil {
		return nil, err
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(WriteGOAL(calls, out)) }()
	s, err := goal.Read(in, name)
	in.CloseWithError(err) // nobody reads what is left
	return s, err
}

// besides returns what happens beside all else from a Meet on: each time those of the next.
func (s *Source) besides(rank int) []dataflow.Op {
	ops := s.beside[rank][0]
	s.beside[rank] = s.beside[rank][1:]
	return ops
}

// each goes through the operations of a program.
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

// A goalTag is what GOAL has one number for.
type goalTag struct {
	context int32
	tag     int64
}

type goalKey struct {
	from, to int32
	tag      int
}

type goalWriter struct {
	out   *bufio.Writer
	sizes map[goalKey][]int64 // of messages that were not received yet
	tags  map[goalTag]int
}

func (g *goalWriter) tag(op *dataflow.Op) int {
	k := goalTag{op.Context, op.Tag}
	n, ok := g.tags[k]
	if !ok {
		n = len(g.tags)
		g.tags[k] = n
	}
	return n
}

// A goalRank writes the operations of a rank.
type goalRank struct {
	*goalWriter
	rank     int32
	n        int           // operations
	last     int           // that what follows waits for the end of
	begun    int           // that what follows waits for the start of
	requests map[int32]int // operations that a wait is for
	besides  func() []dataflow.Op
}

const none = -1

// line writes an operation that comes behind all before it.
func (r *goalRank) line(format string, args ...any) {
	fmt.Fprintf(r.out, "l%d: ", r.n)
	fmt.Fprintf(r.out, format, args...)
	fmt.Fprintln(r.out)
	if r.last != none {
		fmt.Fprintf(r.out, "l%d requires l%d\n", r.n, r.last)
	}
	if r.begun != none {
		fmt.Fprintf(r.out, "l%d irequires l%d\n", r.n, r.begun)
	}
	r.n++
}

// ended has all that follows wait for the end of the operation just written.
func (r *goalRank) ended() { r.last, r.begun = r.n-1, none }

func (r *goalRank) op(op *dataflow.Op) {
	switch op.Kind {
	case dataflow.Send:
		r.line("send %db to %d tag %d", max(1, op.Bytes), op.Peer, r.tag(op))
	case dataflow.Receive:
		k := goalKey{op.Peer, r.rank, r.tag(op)}
		size := int64(1)
		if list := r.sizes[k]; len(list) > 0 {
			size, r.sizes[k] = max(1, list[0]), list[1:]
		}
		r.line("recv %db from %d tag %d", size, op.Peer, k.tag)
	case dataflow.Wait:
		at, ok := r.requests[op.Request]
		if !ok {
			return
		}
		delete(r.requests, op.Request)
		r.line("calc 0")
		fmt.Fprintf(r.out, "l%d requires l%d\n", r.n-1, at)
		r.ended()
		return
	case dataflow.Meet:
		r.chain(op.Request)
		return
	default:
		if ns := (op.Time + 500) / 1000; ns > 0 {
			r.line("calc %d", ns)
			r.ended()
		}
		return
	}
	if op.Request == dataflow.NoRequest {
		r.ended()
		return
	}
	r.requests[op.Request] = r.n - 1
	r.begun = r.n - 1
}

// chain writes what goes on beside all else, and which a wait for a request is for.
func (r *goalRank) chain(request int32) {
	r.line("calc 0")
	beside := *r
	beside.requests = make(map[int32]int)
	beside.ended()
	ops := r.besides()
	for i := range ops {
		beside.op(&ops[i])
	}
	r.requests[request], r.n = beside.last, beside.n
}
