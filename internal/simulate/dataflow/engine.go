package dataflow

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/machine"
)

// A Result is what a simulation found.
type Result struct {
	Ranks []Time
	Ops   uint64 // operations
}

// End is when the last rank ended.
func (r *Result) End() (end int64) {
	for i := range r.Ranks {
		end = max(end, r.Ranks[i].End)
	}
	return end
}

// Run simulates programs, one for each rank of a placement; nil is a rank that does nothing.
func Run(programs []Program, place *machine.Placement) (*Result, error) {
	e := &engine{programs: programs, place: place, ranks: make([]rank, len(programs)), channels: make(map[key]*channel), meetings: make(map[meetingKey]*meeting)}
	for r := range e.ranks {
		e.ready = append(e.ready, int32(len(programs)-1-r))
	}
	for len(e.ready) > 0 {
		r := e.ready[len(e.ready)-1]
		e.ready = e.ready[:len(e.ready)-1]
		if err := e.advance(r); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
	}
	result := &Result{Ranks: make([]Time, len(programs)), Ops: e.ops}
	if err := e.stuck(); err != nil {
		return nil, err
	}
	for r := range e.ranks {
		result.Ranks[r] = e.ranks[r].spent
		result.Ranks[r].End = e.ranks[r].now
	}
	return result, nil
}

type engine struct {
	programs []Program
	place    *machine.Placement
	ranks    []rank
	channels map[key]*channel
	meetings map[meetingKey]*meeting
	ready    []int32
	ops      uint64
}

// A rank is where a simulated process is.
type rank struct {
	now, free int64 // free: from when on a message can leave
	spent     Time
	ops       []Op
	at        int
	begun     bool // the operation there: it waits
	done      bool
	current   request   // of an operation without a request
	requests  []request // by number
	met       map[int32]uint32
}

// A request is what was begun and has not been waited for yet.
type request struct {
	kind    Kind
	channel *channel // of Send and Receive; nil: nothing to wait for
	number  uint32   // of the message
	visit   *visit   // of Meet
}

// horizon is how far times go: one operation more can't overflow.
const horizon int64 = math.MaxInt64 / 4

// advance lets a rank go on until it waits or ends.
func (e *engine) advance(r int32) error {
	x := &e.ranks[r]
	if x.done || e.programs[r] == nil {
		x.done = true
		return nil
	}
	for {
		if x.at == len(x.ops) {
			var err error
			if x.ops, err = e.programs[r].Next(); err != nil {
				return err
			}
			if x.at = 0; len(x.ops) == 0 {
				x.done = true
				return nil
			}
		}
		if !e.do(r, x, &x.ops[x.at]) {
			return nil
		}
		if x.now > horizon {
			return fmt.Errorf("takes more than %d s", horizon/1_000_000_000_000)
		}
		x.begun = false
		x.at++
		e.ops++
	}
}

// do does an operation, or as much of it as can be done; false if the rank has to wait.
func (e *engine) do(r int32, x *rank, o *Op) bool {
	switch o.Kind {
	case Compute:
		x.spent.Compute += x.take(o.Time)
		return true
	case Overhead:
		x.spent.Overhead += x.take(o.Time)
		return true
	case Recorded:
		x.spent.Recorded += x.take(o.Time)
		return true
	case Wait:
		if int(o.Request) >= len(x.requests) {
			return true
		}
		return e.finish(r, x, &x.requests[o.Request])
	}
	if !x.begun {
		x.current = e.begin(r, x, o)
		x.begun = true
	}
	if o.Request != NoRequest {
		for int(o.Request) >= len(x.requests) {
			x.requests = append(x.requests, request{})
		}
		x.requests[o.Request] = x.current
		return true
	}
	return e.finish(r, x, &x.current)
}

func (x *rank) take(time int64) int64 {
	time = min(time, horizon)
	x.now += time
	return time
}

// begin begins a send, receive or meeting.
func (e *engine) begin(r int32, x *rank, o *Op) request {
	q := request{kind: o.Kind}
	switch o.Kind {
	case Send:
		q.channel = e.of(o, key{r, o.Peer, o.Context, o.Tag})
		q.number = q.channel.send(x, o)
		e.wake(&q.channel.receiver)
		if !q.channel.at(q.number).waits {
			q.channel = nil
		}
	case Receive:
		q.channel = e.of(o, key{o.Peer, r, o.Context, o.Tag})
		q.number = q.channel.post(x.now)
		e.wake(&q.channel.sender)
	case Meet:
		q.visit = e.enter(x, o)
	}
	return q
}

// finish ends what was begun; false if the rank has to wait for another.
func (e *engine) finish(r int32, x *rank, q *request) bool {
	switch {
	case q.visit != nil:
		if !x.leave(r, q.visit) {
			return false
		}
	case q.channel == nil:
	case q.kind == Send:
		if !q.channel.sent(r, x, q.number) {
			return false
		}
		e.tidy(q.channel)
	default:
		if !q.channel.receive(r, x, q.number) {
			return false
		}
		e.tidy(q.channel)
	}
	*q = request{}
	return true
}

// until moves a rank's clock to a time, if that is still to come: it waits for another rank
// until that began its part, and for the message from there on.
func (x *rank) until(time, began int64) {
	if time <= x.now {
		return
	}
	late := min(max(began-x.now, 0), time-x.now)
	x.spent.Wait += late
	x.spent.Transfer += time - x.now - late
	x.now = time
}

// wake lets a rank go on that waits.
func (e *engine) wake(waiter *int32) {
	if *waiter != nobody {
		e.ready = append(e.ready, *waiter)
		*waiter = nobody
	}
}

// stuck returns an error if ranks have not ended.
func (e *engine) stuck() error {
	waiting, first := 0, -1
	for r := range e.ranks {
		if !e.ranks[r].done {
			if waiting++; first < 0 {
				first = r
			}
		}
	}
	if waiting == 0 {
		return nil
	}
	x := &e.ranks[first]
	q, what := &x.current, x.ops[x.at].String()
	if x.ops[x.at].Kind == Wait {
		q = &x.requests[x.ops[x.at].Request]
	}
	switch {
	case q.visit != nil:
		what = q.visit.op.String()
	case q.channel != nil && q.kind == Send:
		what = fmt.Sprintf("a send to rank %d with tag %d, whose receive is not posted", q.channel.to, q.channel.tag)
	case q.channel != nil:
		what = fmt.Sprintf("a receive from rank %d with tag %d", q.channel.from, q.channel.tag)
	}
	ranks := "rank doesn't"
	if waiting > 1 {
		ranks = "ranks don't"
	}
	return fmt.Errorf("deadlock: %d %s end; rank %d waits in %s", waiting, ranks, first, what)
}
