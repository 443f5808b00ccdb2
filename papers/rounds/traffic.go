package rounds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A channel is, seen from one rank, the messages that it sends to a peer with one tag on a communicator, or that it
// receives so: they arrive in the order in which they were sent. It may also be the collective calls of a communicator.
type channel struct {
	comm int // number of the communicator; -2 - rank: MPI_COMM_SELF; -1: unknown, or an intercommunicator
	peer int // world rank; the constant members for collective calls
	tag  int64
	kind kind
}

type kind uint8

const (
	sending kind = iota
	receiving
	meeting
)

// members as the peer of a channel means all members of the communicator: the channel is for collective calls.
const members = -1

// A wildcard is a rank and the number of a communicator on which it receives from any source or with any tag.
type wildcard struct{ rank, comm int }

// traffic is the use of a channel by a loop: each is the number of its messages or collective calls in an iteration.
type traffic struct {
	each  uint64
	place uint64 // hash of how many messages or calls the channel had had when each iteration began
	with  *handles.Comm
}

// An op is a message or collective call of a distinct call. Its channel depends on which communicator the handle comm
// is when the call is made.
type op struct {
	kind kind
	comm int64 // handle of the communicator
	peer int64 // rank in the communicator; the constant members for collective calls
	tag  int64
}

// An event is what a distinct call does. makes is the number of one-shot requests that it makes.
type event struct {
	ops       []op
	makes     int64
	completes []int64 // for each completed request: how many creations ago it was made; 1: it is the latest
	tests     bool    // it may complete requests that its parameters don't identify
	wild      bool    // it receives from any source or with any tag
	persists  bool    // it makes a persistent request, whose messages move later and repeatedly
	why       string  // why a loop with this call can't have synthetic trip counts; "": it can
}

// events sets x.events: what each distinct call of a rank does.
func (p *parser) events(x *rank) error {
	x.events = make([]event, x.k.Terminals())
	for t := range x.events {
		c, err := x.k.Terminal(t)
		if err != nil {
			return err
		}
		e := eventOf(c)
		if x.k.Lane(t) != nil && e.why == "" {
			e.why = "values go on from call to call"
		}
		x.events[t] = e
		if e.wild || e.persists {
			for _, o := range e.ops {
				p.lose(x, o, e.persists)
			}
		}
	}
	return nil
}

// lose records that the messages which rank x receives on the communicator of o can't be followed; if all is set, those
// of all ranks. A handle other than MPI_COMM_WORLD may mean any other communicator.
func (p *parser) lose(x *rank, o op, all bool) {
	for _, c := range p.comms.List() {
		if (o.comm == mpi.HandleCommWorld) != (c.Number == 0) {
			continue
		}
		if p.wild[wildcard{x.t.Rank, c.Number}] = true; all {
			p.odd[c.Number] = "messages of a communicator are sent by persistent requests, too"
		}
	}
}

// eventOf looks at a distinct call, once for all its occurrences. ops.CallInterpreter.At looks at one occurrence, and
// also finds its communicator and its bytes. That is too much for a walk over all calls of a run, which only needs the
// communicator of each (channelOf). At also doesn't find what keeps a call from being repeated (why).
func eventOf(c *trace.Call) (e event) {
	x := &looked{Call: c, moves: meaning.DataMovementOf(c.Name())}
	if x.def, x.known = mpi.CallByID(c.Func.ID); x.known {
		x.wait = meaning.WaitBehaviourOf(x.def)
	}
	x.comm, x.hasComm = x.number("comm")
	e.takeRequests(x)
	switch {
	case !x.known || c.Return != 0:
		e.why = fmt.Sprintf("%s may have failed", c.Name())
	case x.isMessage() && x.hasComm:
		e.takeMessage(x)
	case x.isMessage():
		e.why = fmt.Sprintf("%s: it isn't known with whom", c.Name())
	case x.isMeeting():
		e.ops = append(e.ops, x.meeting())
	case x.wait.Completes && !e.tests: // takeRequests has found what it completes
	case c.Func.Has(trace.AttrCollective) || x.moves != nil || x.requests || x.wait.Probes || concernsObjects(c.Func):
		e.takeOther(x)
	}
	return e
}

// A looked is a distinct call, with its function's properties.
type looked struct {
	*trace.Call
	def      *mpi.Call
	known    bool
	wait     meaning.WaitBehaviour
	moves    *meaning.DataMovement // nil: the call moves no data
	requests bool                  // the call has request parameters
	comm     int64
	hasComm  bool
}

// number returns the input value of the call's parameter with this name; false if it has no such parameter.
func (x *looked) number(name string) (int64, bool) {
	if name == "" {
		return 0, false
	}
	v := x.Param(name)
	if v == nil {
		return 0, false
	}
	return v.In.Num, true
}

func (x *looked) isMessage() bool {
	return x.moves != nil && (x.moves.Pattern == meaning.PatternToPeer || x.moves.Pattern == meaning.PatternReceive)
}

// isMeeting reports whether a call is a blocking or nonblocking collective that moves data, or a barrier: one that all
// members of its communicator may make more or less often.
func (x *looked) isMeeting() bool {
	if !x.Func.Has(trace.AttrCollective) || !x.hasComm {
		return false
	}
	if x.moves != nil && x.moves.Pattern.IsCollective() && !x.moves.TakesEffectAtStart {
		return true
	}
	return x.def.Has(mpi.AttrBarrier) && !x.def.Has(mpi.AttrPersistent)
}

func (x *looked) meeting() op { return op{kind: meeting, comm: x.comm, peer: members} }

// takeRequests records in e the requests that a call makes and completes.
func (e *event) takeRequests(x *looked) {
	for i := range x.Params {
		if v := &x.Params[i]; v.Def.Type == trace.TypeRequest {
			x.requests = true
			e.request(&v.In, false)
			e.request(&v.Out, true)
		}
	}
	if x.requests && x.wait.Choice != meaning.ChooseNoRequest && !ops.CompletesAll(x.Call) {
		e.tests, e.completes = true, nil
	}
	if !x.wait.Completes {
		e.completes = nil
	}
}

// takeMessage records in e what a call sends and receives.
func (e *event) takeMessage(x *looked) {
	if x.moves.Out != nil {
		e.takeSide(x, sending, x.moves.Out)
	}
	if x.moves.In != nil {
		e.takeSide(x, receiving, x.moves.In)
	}
	if x.moves.TakesEffectAtStart || x.Func.Has(trace.AttrPersistent) {
		e.persists, e.why = true, fmt.Sprintf("%s makes a persistent request", x.Name())
	}
}

func (e *event) takeSide(x *looked, kind kind, side *meaning.DataSide) {
	o := op{kind: kind, comm: x.comm}
	var known bool
	if o.peer, known = x.number(side.Peer); !known {
		e.wild, e.why = true, fmt.Sprintf("%s: it isn't known with whom", x.Name())
		e.ops = append(e.ops, o)
		return
	}
	if o.peer == mpi.ProcNull {
		return
	}
	o.tag, _ = x.number(side.Tag)
	if kind == receiving && meaning.IsWildcard(o.peer, o.tag) {
		e.wild, e.why = true, "receives take any source or tag"
	}
	e.ops = append(e.ops, o)
}

// takeOther records whether a call prevents changing a loop's trip count.
func (e *event) takeOther(x *looked) {
	e.why = fmt.Sprintf("%s is in it", x.Name())
	if x.Func.Has(trace.AttrCollective) && x.hasComm {
		e.ops = append(e.ops, x.meeting())
	}
	if ops.AbandonsRequest(x.Func) {
		e.tests = true
	}
	if x.Param("message") != nil && x.hasComm { // MPI_Mprobe, MPI_Improbe: it takes a message that isn't followed here
		e.wild = true
		e.ops = append(e.ops, op{kind: receiving, comm: x.comm})
	}
}

// concernsObjects reports whether a function makes, uses up or frees objects.
func concernsObjects(f *trace.Function) bool {
	for i := range f.Params {
		p := &f.Params[i]
		switch {
		case p.HasOut && (p.Type == trace.TypeHandle || p.Type == trace.TypeMPITObject):
			return true
		case p.Kind == mpi.KindWin || p.Kind == mpi.KindFile || p.Kind == mpi.KindMessage || p.Kind == mpi.KindSession:
			return true
		}
	}
	return f.ResultType == trace.TypeHandle || f.ResultType == trace.TypeMPITObject
}

// request records in e the requests in a value: if out is set, as made, else as completed.
func (e *event) request(v *trace.Value, out bool) {
	switch {
	case v.Type == trace.TypeArray:
		for i := range v.Elems {
			e.request(&v.Elems[i], out)
		}
	case v.Type != trace.TypeRequest || v.RequestForm == trace.RequestNull:
	case out:
		if v.RequestForm == trace.RequestOneShot {
			e.makes++
		}
	case v.RequestForm == trace.RequestOneShot:
		e.completes = append(e.completes, v.RequestID)
	default:
		e.tests = true
	}
}

// channelOf returns the channel of an op of the rank's call with index at. If its communicator is unknown or an
// intercommunicator, channel.comm is -1.
func (p *parser) channelOf(rank int, o op, at uint64) (channel, *handles.Comm) {
	c := p.comms.At(rank, 0, at, o.comm)
	if c == nil || c.RemoteSize > 0 {
		return channel{comm: -1}, nil
	}
	number := c.Number
	if number < 0 { // MPI_COMM_SELF
		number = -2 - rank
	}
	if o.kind == meeting {
		return channel{number, members, 0, meeting}, c
	}
	return channel{number, c.WorldRank(int(o.peer)), o.tag, o.kind}, c
}

// call counts the messages, collective calls and requests of the call with terminal t and index at.
func (w *walk) call(t int, at uint64) {
	e := &w.x.events[t]
	for _, o := range e.ops {
		ch, _ := w.channelOf(w.x.t.Rank, o, at)
		if len(w.terminal) > 0 {
			if w.began == nil {
				w.began = make(map[channel]uint64)
			}
			if _, ok := w.began[ch]; !ok {
				w.began[ch] = w.posted[ch]
			}
		}
		w.posted[ch]++
	}
	w.pending += e.makes - int64(len(e.completes))
	w.lost = w.lost || e.tests
}

// body makes a body of the current iteration's calls, the first of which has index at, and finds the body's loop.
func (w *walk) body(at uint64) *body {
	b := &body{terminal: slices.Clone(w.terminal), original: slices.Clone(w.original), number: -1}
	ops := make(map[channel]*traffic)
	pending := make(map[int64]bool)
	made := int64(0)
	why := ""
	keep := func(reason string) { why = cmp.Or(why, reason) }
	for _, t := range b.original {
		e := &w.x.events[t]
		keep(e.why)
		for _, o := range e.ops {
			ch, c := w.channelOf(w.x.t.Rank, o, at)
			if c == nil || ch.peer < 0 && o.kind != meeting {
				keep("a communicator isn't known, or is between groups")
				continue
			}
			once.GetOrMake(ops, ch, func() *traffic { return &traffic{with: c} }).each++
		}
		for _, back := range e.completes {
			if id := made - back; !pending[id] {
				keep("requests of one iteration are waited for in another")
			} else {
				delete(pending, id)
			}
		}
		for range e.makes {
			pending[made] = true
			made++
		}
	}
	if b.makes = made > 0; len(pending) > 0 {
		keep("requests of one iteration are waited for in another")
	}
	b.node = w.x.node(b, ops)
	b.node.keep(why)
	return b
}

// node returns the loop that a body belongs to.
func (x *rank) node(b *body, ops map[channel]*traffic) *node {
	shape := ""
	for _, t := range b.terminal {
		s := &x.t.Signatures[t]
		shape += fmt.Sprintf("%d@%x ", s.FunctionID, s.Site)
	}
	key := shape
	for _, ch := range slices.SortedFunc(maps.Keys(ops), compareChannels) {
		key += fmt.Sprintf("%v*%d ", ch, ops[ch].each)
	}
	return once.GetOrAppend(x.nodes, key, &x.list, func() *node { return &node{rank: x, shape: shape, ops: ops} })
}

// passed adds an iteration's positions in its channels to their traffic, and checks that these are the loop's channels.
func (n *node) passed(w *walk) {
	if len(w.began) != len(n.ops) {
		n.keep("handles are other communicators each time")
		return
	}
	for ch, x := range n.ops {
		at, ok := w.began[ch]
		if !ok {
			n.keep("handles are other communicators each time")
			return
		}
		x.place = (x.place^at)*0x9e3779b97f4a7c15 + n.runs
		x.place ^= x.place >> 29
	}
}
