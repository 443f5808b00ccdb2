// Simulate predicts when each rank of a schedule ends, under the LogGOPS model and by LogGOPSim's rules: its times are
// LogGOPSim's, to the digit.
//
// A rank has a CPU, which calculates, sends and receives messages, and a NIC, which sends and receives side by side. A
// send of s bytes keeps the CPU busy for o + (s-1)O, the NIC for g + (s-1)G. Its message arrives o + L after it began
// and waits for the receiver's CPU and NIC. It keeps them busy for o + (s-1)·max(O, G) and g + (s-1)G, whether or not
// its receive has begun; the receive itself takes no time. A send of at most S bytes has ended when it has begun. A
// larger one ends when message and receive have met, and its rank begins nothing before.
//
// A rank may have several CPUs, which share the NIC. There LogGOPSim differs in two points. It has operations begin
// before operations on another CPU have ended for which they wait; here nothing begins before what it waits for. It
// charges messages to the CPU that has the number of the sender's; here messages are charged where they are received.

package goal

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/show"
)

// A Result is what a simulation found.
type Result struct {
	End    []uint64 // by rank: when its last CPU has finished, in the schedule's unit of time
	Events uint64   // number of operations and messages
}

// Simulate runs a schedule. A schedule that can't finish, or leaves a message that nobody receives, is an error.
func Simulate(s *Schedule, p Parameters) (*Result, error) {
	if err := p.valid(s); err != nil {
		return nil, err
	}
	e := newEngine(s, p)
	if err := e.simulate(); err != nil {
		return nil, err
	}
	if err := e.leftOver(); err != nil {
		return nil, err
	}
	r := &Result{End: make([]uint64, s.Ranks()), Events: uint64(e.order)}
	for i := range r.End {
		r.End[i] = e.ranks[i].cpu
	}
	for k, c := range e.others {
		r.End[k.rank] = max(r.End[k.rank], c.cpu)
	}
	return r, nil
}

type engine struct {
	schedule   *Schedule
	ops        []Op    // the schedule's operations
	Parameters         // parameters of the model
	state      []state // by operation
	ranks      []rank
	others     map[place]*rank // CPUs of ranks after the first
	// since is by operation: when the last operation that it waits for started or ended. It is nil if all ranks have
	// one CPU.
	since    []uint64
	channels []channel

	free               []uint32 // operations whose dependencies are met, but that have no event yet
	byRankAndKind      func(a, b uint32) int
	events             queue
	order              uint32 // number of events so far: at most two for each operation
	unended, unmatched int    // numbers of unfinished operations, and of unmatched messages
}

// state is the simulation's state of an operation. It has copies of the fields of Op, so that an event needs one memory
// access instead of two: with many operations, these dominate the simulation's time.
type state struct {
	size    uint64 // size, peer, kind and cpu are those of the operation's Op
	peer    uint32
	kind    Kind
	cpu, in uint8  // in, of a send: number of the peer's CPU that receives the message
	order   uint32 // while the operation's event waits in a backlog: the event's number
	rank    uint32
	needs   uint32 // number of starts and ends of other operations still waited for; ended: this one has ended
	channel uint32
	next    uint32 // next operation in the list (of a backlog or channel) that this one is in; none at the end
}

const ended = ^uint32(0)

func newEngine(s *Schedule, p Parameters) *engine {
	e := &engine{
		schedule: s, ops: s.Ops, Parameters: p, unended: len(s.Ops),
		state: make([]state, len(s.Ops)), ranks: make([]rank, s.Ranks()), others: make(map[place]*rank),
	}
	for i := range e.ranks {
		e.ranks[i] = idle
		from, to := s.Rank(i)
		for op := from; op < to; op++ {
			e.state[op].rank = uint32(i)
			e.state[op].needs = s.Needs(op)
			e.state[op].size, e.state[op].peer, e.state[op].kind = s.Ops[op].Size, s.Ops[op].Peer, s.Ops[op].Kind
			e.state[op].cpu, e.state[op].in = s.Ops[op].CPU, s.Ops[op].CPU
		}
	}
	if slices.ContainsFunc(s.Ops, func(o Op) bool { return o.CPU > 0 }) {
		e.since = make([]uint64, len(s.Ops))
	}
	e.assignChannels()
	e.byRankAndKind = func(a, b uint32) int {
		return cmp.Or(cmp.Compare(e.state[a].rank, e.state[b].rank), cmp.Compare(e.state[a].kind, e.state[b].kind))
	}
	return e
}

// simulate processes events until none is left.
func (e *engine) simulate() error {
	for rank := range e.schedule.Ranks() {
		from, to := e.schedule.Rank(rank)
		for op := from; op < to; op++ {
			if e.state[op].needs == 0 {
				e.free = append(e.free, op)
			}
		}
		e.release()
	}
	for {
		ev, ok := e.events.takeFirst()
		if !ok {
			return nil
		}
		if ev.time > horizon {
			return errors.New("the schedule takes longer than times can say")
		}
		switch {
		case ev.message() != 0:
			e.arrive(ev)
		case e.state[ev.op()].kind == Send:
			e.send(ev)
		case e.state[ev.op()].kind == Recv:
			e.receive(ev)
		default:
			e.calculate(ev)
		}
		e.release()
	}
}

func (e *engine) calculate(ev event) {
	op := ev.op()
	c := e.cpu(e.state[op].rank, e.state[op].cpu)
	if c.cpu > ev.time {
		e.delay(ev, c.cpu, &c.calcs)
		return
	}
	c.cpu = ev.time + e.state[op].size
	e.advance(ev, c.cpu, &c.calcs)
	e.start(op, ev.time)
	e.end(op, c.cpu)
}

func (e *engine) send(ev event) {
	op := ev.op()
	size, r := e.state[op].size, &e.ranks[e.state[op].rank]
	c := e.cpu(e.state[op].rank, e.state[op].cpu)
	if free := max(c.cpu, r.sends); free > ev.time {
		e.delay(ev, free, &c.out)
		return
	}
	c.cpu = ev.time + e.Overhead + furtherBytes(size)*e.ByteOverhead
	r.sends = ev.time + e.MessageGap + furtherBytes(size)*e.ByteGap
	e.advance(ev, max(c.cpu, r.sends), &c.out)
	e.start(op, ev.time)
	e.events.post(newEvent(ev.time+e.Overhead+e.Latency, e.order, op|message))
	e.order++
	if size <= e.Eager {
		e.end(op, c.cpu)
	}
}

// arrive receives a message, as soon as the receiving rank's CPU and NIC are free.
func (e *engine) arrive(ev event) {
	op := ev.op()
	o := &e.state[op]
	r, c := &e.ranks[o.peer], e.cpu(o.peer, o.in)
	if free := max(c.cpu, r.recvs); free > ev.time {
		e.delay(ev, free, &c.in)
		return
	}
	c.cpu = ev.time + e.Overhead + furtherBytes(o.size)*max(e.ByteOverhead, e.ByteGap)
	r.recvs = ev.time + e.MessageGap + furtherBytes(o.size)*e.ByteGap
	e.advance(ev, max(c.cpu, r.recvs), &c.in)
	ch := &e.channels[e.state[op].channel]
	recv := e.match(&ch.posted, op, ch.mixed)
	if recv == none {
		e.append(&ch.unexpected, op)
		e.unmatched++
		return
	}
	if o.size > e.Eager {
		e.meet(op, ev.time)
	}
	e.end(recv, c.cpu)
}

// receive takes a waiting message, or waits for it. If the sizes differ, the message's size counts.
func (e *engine) receive(ev event) {
	op := ev.op()
	e.start(op, ev.time)
	ch := &e.channels[e.state[op].channel]
	send := e.match(&ch.unexpected, op, ch.mixed)
	if send == none {
		e.append(&ch.posted, op)
		return
	}
	e.unmatched--
	if e.state[send].size > e.Eager {
		e.meet(send, ev.time)
	}
	e.end(op, ev.time)
}

// meet ends a send above the eager limit at the time when its receive and its message meet. From then on, its CPU, and
// its rank's NIC for sends, count as busy up to that time.
func (e *engine) meet(send uint32, time uint64) {
	r, c := &e.ranks[e.state[send].rank], e.cpu(e.state[send].rank, e.state[send].cpu)
	c.cpu, r.sends = max(c.cpu, time), max(r.sends, time)
	e.end(send, c.cpu)
}

// start releases the operations that waited for an operation's start.
func (e *engine) start(op uint32, time uint64) { e.letGo(e.schedule.AfterStart(op), time) }

// end releases the operations that waited for an operation's end.
func (e *engine) end(op uint32, time uint64) {
	e.state[op].needs = ended
	e.unended--
	e.letGo(e.schedule.AfterEnd(op), time)
}

func (e *engine) letGo(ops []uint32, time uint64) {
	for _, op := range ops {
		if e.since != nil {
			e.since[op] = max(e.since[op], time)
		}
		if e.state[op].needs--; e.state[op].needs == 0 {
			e.free = append(e.free, op)
		}
	}
}

// release adds events for the operations in free. Such an operation begins no earlier than its CPU is free. That is
// after its dependencies on the same CPU have ended; those on other CPUs of the rank may end later (e.since).
func (e *engine) release() {
	if len(e.free) > 1 {
		slices.SortStableFunc(e.free, e.byRankAndKind)
	}
	for _, op := range e.free {
		time := e.cpu(e.state[op].rank, e.state[op].cpu).cpu
		if e.state[op].kind == Send {
			time = max(time, e.ranks[e.state[op].rank].sends)
		}
		if e.since != nil {
			time = max(time, e.since[op])
		}
		e.events.put(newEvent(time, e.order, op))
		e.order++
	}
	e.free = e.free[:0]
}

// leftOver returns an error if a simulation without further events isn't complete.
func (e *engine) leftOver() error {
	if e.unended > 0 {
		first := slices.IndexFunc(e.state, func(s state) bool { return s.needs == 0 })
		if first < 0 {
			return fmt.Errorf("%s wait for one another", show.FormatPlural(e.unended, "operation"))
		}
		return fmt.Errorf("deadlock: %s end, the first is %s", count(e.unended, "operation", "doesn't", "don't"), e.describe(uint32(first)))
	}
	for _, ch := range e.channels {
		if op := ch.unexpected.first; op != none {
			return fmt.Errorf("%s never received, such as %s", count(e.unmatched, "message", "is", "are"), e.describe(op))
		}
	}
	return nil
}

func count(n int, thing, one, many string) string {
	if n == 1 {
		many = one
	}
	return show.FormatPlural(n, thing) + " " + many
}

func (e *engine) describe(op uint32) string {
	rank := e.state[op].rank
	from, _ := e.schedule.Rank(int(rank))
	return fmt.Sprintf("operation %d of rank %d: %s", op-from+1, rank, e.ops[op])
}

// Parameters are the parameters of the LogGOPS model, with its letters. Times are in the schedule's unit of time.
type Parameters struct {
	Latency      uint64 `json:"latency"`       // L: time of a message in the network
	Overhead     uint64 `json:"overhead"`      // o: CPU time of a send or receive
	MessageGap   uint64 `json:"message_gap"`   // g: least time between two messages at a NIC
	ByteGap      uint64 `json:"byte_gap"`      // G: NIC time of each byte after the first
	ByteOverhead uint64 `json:"byte_overhead"` // O: CPU time of each byte after the first
	Eager        uint64 `json:"eager"`         // S: bytes of the largest message that doesn't wait for its receive
}

// DefaultParameters are the default parameters of LogGOPSim, in ns.
var DefaultParameters = Parameters{Latency: 2500, Overhead: 1500, MessageGap: 1000, ByteGap: 6, Eager: 65535}

// horizon is the largest time of a simulation, so that adding an operation's duration can't overflow.
const horizon = 1 << 62

// valid returns an error if a schedule can't be simulated: each operation must take less than half of the horizon,
// and there must be no second NIC.
func (p *Parameters) valid(s *Schedule) error {
	if len(s.Ops) >= message {
		return fmt.Errorf("%d operations: fewer than %d are possible", len(s.Ops), message)
	}
	var fixed uint64
	for _, x := range []struct {
		name string
		time uint64
	}{{"L", p.Latency}, {"o", p.Overhead}, {"g", p.MessageGap}} {
		if x.time > horizon/8 {
			return fmt.Errorf("%s is %d: at most %d is possible", x.name, x.time, uint64(horizon/8))
		}
		fixed += x.time
	}
	for rank := range s.Ranks() {
		from, to := s.Rank(rank)
		for i := from; i < to; i++ {
			o := &s.Ops[i]
			if o.NIC > 0 {
				return fmt.Errorf("rank %d: %s: a rank has only one NIC here", rank, o)
			}
			over, time := uint64(0), o.Size
			if o.Kind != Calc {
				over, time = bits.Mul64(furtherBytes(o.Size), max(p.ByteGap, p.ByteOverhead))
			}
			if over > 0 || time > horizon/2-fixed {
				return fmt.Errorf("rank %d: %s: takes longer than times can say", rank, o)
			}
		}
	}
	return nil
}

// furtherBytes is the number of bytes of a message after the first, whose cost is in o, g and L.
func furtherBytes(size uint64) uint64 { return max(size, 1) - 1 }
