package loggops

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/goal"
	"github.com/spoor-hpc/spoor/internal/units"
)

// A Result is what a simulation found.
type Result struct {
	End    []uint64 // when each rank's CPU has done all
	Events uint64   // operations and messages
}

// Simulate runs a schedule. A schedule that doesn't come to its end, or leaves a message that
// nobody receives, is an error.
func Simulate(s *goal.Schedule, p Parameters) (*Result, error) {
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
	r := &Result{End: make([]uint64, s.Ranks()), Events: e.order}
	for i := range r.End {
		r.End[i] = e.ranks[i].cpu
	}
	return r, nil
}

type engine struct {
	schedule   *goal.Schedule
	ops        []goal.Op // the schedule's
	Parameters           // of the model
	state      []state   // of each operation
	ranks      []rank
	channels   []channel

	free               []uint32 // operations that wait for no other any more
	byRankAndKind      func(a, b uint32) int
	events             queue
	order              uint64 // events so far
	unended, unmatched int    // operations, messages
}

// state is what the simulation knows of an operation.
type state struct {
	order   uint64 // of its event, where that is in a backlog
	rank    uint32
	needs   uint32 // starts and ends of others that it waits for; ended when it has ended
	channel uint32
	next    uint32 // in the same list, of a backlog or of a channel
}

const ended = ^uint32(0)

func newEngine(s *goal.Schedule, p Parameters) *engine {
	e := &engine{
		schedule: s, ops: s.Ops, Parameters: p, unended: len(s.Ops),
		state: make([]state, len(s.Ops)), ranks: make([]rank, s.Ranks()),
	}
	for i := range e.ranks {
		nobody := backlog{list{none, none}, noHead}
		e.ranks[i] = rank{calcs: nobody, out: nobody, in: nobody}
		from, to := s.Rank(i)
		for op := from; op < to; op++ {
			e.state[op].rank = uint32(i)
			e.state[op].needs = s.Needs(op)
		}
	}
	e.assignChannels()
	e.byRankAndKind = func(a, b uint32) int {
		return cmp.Or(cmp.Compare(e.state[a].rank, e.state[b].rank), cmp.Compare(e.ops[a].Kind, e.ops[b].Kind))
	}
	return e
}

// simulate lets one event after the other happen.
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
		case ev.message:
			e.arrive(ev)
		case e.ops[ev.op].Kind == goal.Send:
			e.send(ev)
		case e.ops[ev.op].Kind == goal.Recv:
			e.receive(ev)
		default:
			e.calculate(ev)
		}
		e.release()
	}
}

func (e *engine) calculate(ev event) {
	r := &e.ranks[e.state[ev.op].rank]
	if r.cpu > ev.time {
		e.delay(ev, r.cpu, &r.calcs)
		return
	}
	r.cpu = ev.time + e.ops[ev.op].Size
	e.advance(ev, r.cpu, &r.calcs)
	e.start(ev.op)
	e.end(ev.op)
}

func (e *engine) send(ev event) {
	size, r := e.ops[ev.op].Size, &e.ranks[e.state[ev.op].rank]
	if free := max(r.cpu, r.sends); free > ev.time {
		e.delay(ev, free, &r.out)
		return
	}
	r.cpu = ev.time + e.Overhead + furtherBytes(size)*e.ByteOverhead
	r.sends = ev.time + e.MessageGap + furtherBytes(size)*e.ByteGap
	e.advance(ev, max(r.cpu, r.sends), &r.out)
	e.start(ev.op)
	e.events.post(event{time: ev.time + e.Overhead + e.Latency, order: e.order, op: ev.op, message: true})
	e.order++
	if size <= e.Eager {
		e.end(ev.op)
	}
}

// arrive takes in a message, as soon as the receiving rank's CPU and NIC are free.
func (e *engine) arrive(ev event) {
	o := &e.ops[ev.op]
	r := &e.ranks[o.Peer]
	if free := max(r.cpu, r.recvs); free > ev.time {
		e.delay(ev, free, &r.in)
		return
	}
	r.cpu = ev.time + e.Overhead + furtherBytes(o.Size)*max(e.ByteOverhead, e.ByteGap)
	r.recvs = ev.time + e.MessageGap + furtherBytes(o.Size)*e.ByteGap
	e.advance(ev, max(r.cpu, r.recvs), &r.in)
	ch := &e.channels[e.state[ev.op].channel]
	recv := e.match(&ch.posted, ev.op, ch.mixed)
	if recv == none {
		e.append(&ch.unexpected, ev.op)
		e.unmatched++
		return
	}
	if o.Size > e.Eager {
		e.meet(ev.op, ev.time)
	}
	e.end(recv)
}

// receive takes a message that is there, or else waits for it. Should the two differ in size,
// it is the message's that counts.
func (e *engine) receive(ev event) {
	e.start(ev.op)
	ch := &e.channels[e.state[ev.op].channel]
	send := e.match(&ch.unexpected, ev.op, ch.mixed)
	if send == none {
		e.append(&ch.posted, ev.op)
		return
	}
	e.unmatched--
	if e.ops[send].Size > e.Eager {
		e.meet(send, ev.time)
	}
	e.end(ev.op)
}

// meet ends a send that had to wait for its receive: nothing else of its rank begins before.
func (e *engine) meet(send uint32, time uint64) {
	r := &e.ranks[e.state[send].rank]
	r.cpu = max(r.cpu, time)
	e.end(send)
}

// start lets go what waited for an operation's start.
func (e *engine) start(op uint32) { e.letGo(e.schedule.AfterStart(op)) }

// end lets go what waited for an operation's end.
func (e *engine) end(op uint32) {
	e.state[op].needs = ended
	e.unended--
	e.letGo(e.schedule.AfterEnd(op))
}

func (e *engine) letGo(ops []uint32) {
	for _, op := range ops {
		if e.state[op].needs--; e.state[op].needs == 0 {
			e.free = append(e.free, op)
		}
	}
}

// release makes events of the operations that have become free.
func (e *engine) release() {
	if len(e.free) > 1 {
		slices.SortStableFunc(e.free, e.byRankAndKind)
	}
	for _, op := range e.free {
		r := &e.ranks[e.state[op].rank]
		time := r.cpu
		if e.ops[op].Kind == goal.Send {
			time = max(time, r.sends)
		}
		e.events.put(event{time: time, order: e.order, op: op})
		e.order++
	}
	e.free = e.free[:0]
}

// leftOver says why a simulation that has no more events isn't complete; nil if it is.
func (e *engine) leftOver() error {
	if e.unended > 0 {
		first := slices.IndexFunc(e.state, func(s state) bool { return s.needs == 0 })
		if first < 0 {
			return fmt.Errorf("%s wait for one another", units.Plural(e.unended, "operation"))
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
	return units.Plural(n, thing) + " " + many
}

func (e *engine) describe(op uint32) string {
	rank := e.state[op].rank
	from, _ := e.schedule.Rank(int(rank))
	return fmt.Sprintf("operation %d of rank %d: %s", op-from+1, rank, e.ops[op])
}
