package dataflow

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// Options disable optimisations. They change nothing in a Result, except ShortCuts.
type Options struct {
	SimulateEachRank  bool // simulate each rank, even if some do the same
	SimulateEachRound bool // simulate each iteration of loops

	// CallTimes gets the times of calls, if not nil. That disables the optimisations.
	CallTimes *CallTimes

	// OnEachCall, if not nil, is called for each call of a program (by the program's index), in order, with its
	// beginning and end in ps. That disables the optimisations.
	OnEachCall func(program int32, begin, end int64)
}

// CallTimes is the times of calls, summed over groups of ranks. RankTime.ComputePs is the computation before the calls;
// RankTime.EndPs is not set.
type CallTimes struct {
	GroupOfRank         []int        // by rank: its group, from 0
	TimesByGroupAndCall [][]RankTime // by group and call (Op.CallIndex)
}

func (s *CallTimes) add(rank, site int32, p timeKind, time int64) {
	group := s.GroupOfRank[rank]
	for len(s.TimesByGroupAndCall) <= group {
		s.TimesByGroupAndCall = append(s.TimesByGroupAndCall, nil)
	}
	for len(s.TimesByGroupAndCall[group]) <= int(site) {
		s.TimesByGroupAndCall[group] = append(s.TimesByGroupAndCall[group], RankTime{})
	}
	t := &s.TimesByGroupAndCall[group][site]
	*[...]*int64{compute: &t.ComputePs, overhead: &t.OverheadPs, wait: &t.WaitPs, transfer: &t.TransferPs, recorded: &t.RecordedPs}[p] += time
}

// A Result is what a simulation found.
type Result struct {
	Ranks     []RankTime
	Ops       uint64 // number of operations of all ranks
	ShortCuts ShortCuts
	Path      *CriticalPath // nil unless a critical path was wanted
}

// ShortCuts reports what the optimisations left out.
type ShortCuts struct {
	// Number of ranks that were simulated; each other rank does the same as one of them.
	SimulatedRanks int    `json:"ranks"`
	SkippedRounds  uint64 `json:"rounds"` // number of iterations of the main loop that were not simulated
	PeriodRounds   uint64 `json:"period"` // number of iterations after which the main loop repeats exactly
}

// EndPs is the time, in ps, when the last rank ended.
func (r *Result) EndPs() (end int64) {
	for i := range r.Ranks {
		end = max(end, r.Ranks[i].EndPs)
	}
	return end
}

// Simulate simulates programs, one for each rank of a placement. A nil program has no operations.
func Simulate(programs []Program, place *machine.Placement, o Options) (*Result, error) {
	result, _, err := simulate(programs, place, o, nil, false)
	return result, err
}

// simulate runs the programs. With noting set it records why ranks continue. If w isn't nil, it adds up the times on
// w's path.
func simulate(programs []Program, place *machine.Placement, o Options, w *watch, noting bool) (*Result, *engine, error) {
	e := &engine{place: place, ranks: make([]rank, len(programs)), channels: make(map[key]*channel), meetings: make(map[meetingKey]*openCollective), watch: w, noting: noting, sites: o.CallTimes, calls: o.OnEachCall}
	if o.CallTimes != nil || o.OnEachCall != nil {
		o.SimulateEachRank, o.SimulateEachRound = true, true
	}
	e.costs, e.costOf = make([]cost, 1), make(map[costKey]int32) // entry 0 means no cost
	if noting {
		e.trails = make(map[trailKey]*trail)
	}
	rests := make([]rest, len(e.ranks))
	for r := range e.ranks {
		e.ranks[r].rest = &rests[r]
	}
	e.link(programs, !o.SimulateEachRank)
	result := &Result{Ranks: make([]RankTime, len(programs))}
	if !o.SimulateEachRound {
		if err := e.forward(&result.ShortCuts); err != nil {
			return nil, nil, err
		}
	}
	if err := e.run(); err != nil {
		return nil, nil, err
	}
	if err := e.stuck(); err != nil {
		return nil, nil, err
	}
	for r := range e.ranks {
		x := &e.ranks[e.ranks[r].like]
		if e.ranks[r].like == int32(r) {
			result.ShortCuts.SimulatedRanks++
		}
		result.Ranks[r] = x.time()
		result.Ops += x.count
	}
	return result, e, nil
}

type engine struct {
	place *machine.Placement
	ranks []rank
	fixed []channel // channels that slots of compiled programs refer to
	// Values (channel or context) of the slots that many ranks have, see seldom: for each slot the values on all ranks.
	table []int32
	// In the layout of field table, by slot and rank: number of meetings that the rank has entered in the slot's
	// context.
	met     []uint32
	lumped  bool  // some ranks represent others
	columns int32 // number of slots whose values are in table
	// Channels of programs that aren't compiled, and of ranks that exchange messages with them.
	channels map[key]*channel
	costs    []cost
	costOf   map[costKey]int32
	meetings map[meetingKey]*openCollective

	queuesOver []*queue // emptied queues, to be used again
	trails     map[trailKey]*trail
	ready      []int32

	cutting bool // ranks stop where they have target iterations of the main loop left
	target  uint64

	noting bool       // record the hops of ranks, from which the critical path follows
	sites  *CallTimes // gets the times of calls; nil: not wanted
	calls  func(rank int32, begin, end int64)

	teams  map[int32]*team      // by rank, for ranks with several threads
	queues map[*channel][]int32 // threads that wait on a channel beside the one in channel.sender or channel.receiver

	watch *watch // adds up the times on a critical path; nil: not wanted
}

// A timeKind is a part of a rank's time, as in RankTime.
type timeKind int

const (
	overhead timeKind = iota
	wait
	transfer
	recorded
	compute // must be the last constant: rank.spent has only those before it
)

// A rank is the state of a simulated process or thread. With many ranks, memory access dominates the time. The state
// takes five cache lines: the first is for operations, the second for calls, the others for messages.
type rank struct {
	now int64
	ops []Op
	at  int32
	// begun: the operation at which the rank waits has begun. halted: it stopped for a cut. within: it is in a call,
	// whose end OnEachCall gets.
	begun, done, halted, within bool
	// number: index in engine.ranks. of: index of the rank that a thread belongs to; for a process its own.
	of, number int32
	meeting    *openCollective // meeting of the current OpMeet, if that has no request; nil: none
	took       int64           // ps that operations with TakesVisitTime take in the current call

	visits CallVisits // calls of a compiled program; nil for other programs
	code   *DistinctCallOps
	count  uint64         // number of operations executed, without those in ops
	spent  [compute]int64 // ps by timeKind; compute isn't stored, as it is now minus their sum

	own [ReservedRequestCount]request // requests with numbers below ReservedRequestCount

	free       int64     // time, in ps, from which the next message can leave
	mask, made uint32    // mask: DistinctCallOps.RequestMask; made: number of requests that a compiled program has made
	requests   []request // requests with numbers from ReservedRequestCount on
	slots      []int32   // values (channel or context) of those slots that are not in engine.table

	current request // for an operation without a request number
	team    *team   // threads of the rank; nil: it has one thread
	*rest
	_ [2]int64
}

// A rest is the part of a rank's state that is rarely needed.
type rest struct {
	like    int32 // index of the rank that represents this one; its own if it represents itself
	entered int64 // time when the current call began, in ps
	met     []meetingKey
	program Program
	weights []int32 // by slot: number of ranks that this rank represents in the slot's context; nil: one each
	desc    []RankOperands

	idle         int64 // time since which messages have left without a pause, in ps; set if a critical path is wanted
	hop, idleHop *hop  // latest hop of the rank, and its latest hop at time idle; set if a critical path is wanted
}

func (x *rank) time() RankTime {
	t := RankTime{EndPs: x.now, OverheadPs: x.spent[overhead], WaitPs: x.spent[wait], TransferPs: x.spent[transfer], RecordedPs: x.spent[recorded]}
	t.ComputePs = t.EndPs - t.OverheadPs - t.WaitPs - t.TransferPs - t.RecordedPs
	return t
}

// A request is an operation that has begun and was not waited for yet.
type request struct {
	channel *channel       // channel of a send or receive; nil: nothing to wait for in a channel
	visit   *participation // for OpMeet, OpPut, OpGet and OpBackground; else nil
	number  uint32         // number of the message in channel
	slot    int32          // in a compiled program: index of the operation's RankOperands
	kind    OpKind
}

// horizon is the largest time, in ps, that a rank may reach. The time of one more operation, added to it, doesn't
// overflow.
const horizon int64 = math.MaxInt64 / 4

// run advances ranks until none can continue.
func (e *engine) run() error {
	for len(e.ready) > 0 {
		r := e.ready[len(e.ready)-1]
		e.ready = e.ready[:len(e.ready)-1]
		if err := e.advance(r); err != nil {
			return fmt.Errorf("rank %d: %w", r, err)
		}
	}
	return nil
}

// advance runs a rank until it waits or ends.
func (e *engine) advance(r int32) error {
	x := &e.ranks[r]
	if x.done {
		return nil
	}
	for {
		if int(x.at) == len(x.ops) {
			if more, err := e.fetch(x); err != nil || !more {
				return err
			}
			continue
		}
		if !e.do(r, x, &x.ops[x.at]) {
			return nil
		}
		if x.now > horizon {
			return tooLong()
		}
		x.begun = false
		x.at++
	}
}

func tooLong() error { return fmt.Errorf("takes more than %d s", horizon/1_000_000_000_000) }

// fetch reads the rank's next operations. It returns false at the program's end, and where a cut stops the rank.
func (e *engine) fetch(x *rank) (more bool, err error) {
	x.count += uint64(x.at)
	x.ops, x.at = x.ops[:0], 0
	if x.visits == nil {
		if x.ops, err = x.program.Next(); err != nil {
			return false, err
		}
		x.done = len(x.ops) == 0
		return !x.done, nil
	}
	if e.cutting {
		if left, between := x.visits.RoundsLeft(); between && left == e.target {
			x.halted = true
			return false, nil
		}
	}
	e.left(x)
	call, gap, took, ok, err := x.visits.Next()
	if err != nil || !ok {
		x.done = true
		return false, err
	}
	x.ops, x.took = x.code.OpsOfCall[call], took
	if gap > 0 {
		e.spend(x, int32(call), compute, gap)
		x.count++
		if x.now > horizon {
			return false, tooLong()
		}
	}
	e.enters(x)
	return true, nil
}

// enters notes that a call of the rank begins, if OnEachCall is wanted.
func (e *engine) enters(x *rank) {
	if e.calls != nil {
		x.within, x.entered = true, x.now
	}
}

// left passes the current call to OnEachCall at its end, if that is wanted.
func (e *engine) left(x *rank) {
	if x.within {
		x.within = false
		e.calls(x.number, x.entered, x.now)
	}
}

// do executes an operation of rank r, or as much of it as possible. It returns false if the rank must wait.
func (e *engine) do(r int32, x *rank, o *Op) bool {
	switch o.Kind {
	case OpWait:
		n := o.Request
		if o.RequestCountsBack {
			n = x.ago(n)
		}
		if n >= ReservedRequestCount && x.team != nil {
			return e.take(r, x, o)
		}
		q := x.request(n)
		return q == nil || e.finish(r, x, o.CallIndex, q)
	case OpCompute, OpLocalCall, OpRecorded, OpFile:
		time := o.TimePs
		if o.TakesVisitTime {
			time = x.took
		}
		e.spend(x, o.CallIndex, [...]timeKind{OpCompute: compute, OpLocalCall: overhead, OpRecorded: recorded, OpFile: transfer}[o.Kind], time)
		return true
	case OpEnter:
		e.enters(x)
		return true
	case OpLeave:
		e.left(x)
		return true
	}
	n := o.Request
	if n >= ReservedRequestCount && x.team != nil {
		e.hand(x, o)
		return true
	}
	if !x.begun {
		if o.RequestCountsBack {
			x.made++
			n = x.ago(1)
		}
		for int(n) >= len(x.requests)+ReservedRequestCount {
			x.requests = append(x.requests, request{})
		}
		q := &x.current
		if n != NoRequest {
			q = x.request(n)
		}
		if n == NoRequest && o.Kind == OpMeet {
			x.meeting = e.enter(x, o)
		} else if e.begin(x, o, q); n != NoRequest || q.channel == nil && q.visit == nil {
			return true
		}
		x.begun = true
	}
	if o.Kind == OpMeet {
		return x.meeting == nil || e.leave(r, x, x.meeting, o, x.now, nil)
	}
	return e.finish(r, x, o.CallIndex, &x.current)
}

// request returns a rank's request by number; nil if no such request was made.
func (x *rank) request(n int32) *request {
	if n < ReservedRequestCount {
		return &x.own[n]
	}
	if n -= ReservedRequestCount; int(n) < len(x.requests) {
		return &x.requests[n]
	}
	return nil
}

// slot returns the value of rank x's slot n: the index of a channel in engine.fixed, or a context.
func (e *engine) slot(x *rank, n int32) int32 {
	if n < e.columns {
		return e.table[int(n)*len(e.ranks)+int(x.number)]
	}
	return x.slots[n-e.columns]
}

// ago returns the number of the request that a compiled program made n requests ago; 1 is the latest.
func (x *rank) ago(n int32) int32 { return ReservedRequestCount + int32((x.made-uint32(n))&x.mask) }

// spend advances rank x's clock by a time in ps. The time is of kind p, and belongs to the call with index site.
func (e *engine) spend(x *rank, site int32, p timeKind, time int64) {
	time = min(time, horizon)
	if e.watch != nil {
		e.watch.spent(x, site, p, time)
	}
	if e.sites != nil {
		e.sites.add(x.number, site, p, time)
	}
	x.now += time
	if p != compute {
		x.spent[p] += time
	}
}

// begin begins operation o of rank x, and stores what is to be waited for in the empty request q.
func (e *engine) begin(x *rank, o *Op, q *request) {
	switch o.Kind {
	case OpSend:
		var c *channel
		peer := o.Peer
		if x.visits != nil {
			c = &e.fixed[e.slot(x, o.OperandsIndex)]
			peer = -1
		} else {
			c = e.channel(key{x.of, o.Peer, o.Context, o.Tag})
			*q = request{}
		}
		number, waits := e.send(c, x, o, peer)
		if c.receiver != nobody {
			e.wake(&c.receiver)
			e.wakeAll(c)
		}
		if waits {
			q.kind, q.slot, q.number, q.channel = OpSend, o.OperandsIndex, number, c
		}
	case OpReceive:
		var c *channel
		if x.visits != nil {
			c = &e.fixed[e.slot(x, o.OperandsIndex)]
		} else {
			c = e.channel(key{o.Peer, x.of, o.Context, o.Tag})
			*q = request{}
		}
		q.kind, q.slot, q.number, q.channel = OpReceive, o.OperandsIndex, e.post(c, x, o), c
		if c.sender != nobody {
			e.wake(&c.sender)
			e.wakeAll(c)
		}
	case OpMeet:
		*q = request{kind: OpMeet, slot: o.OperandsIndex}
		if m := e.enter(x, o); m != nil {
			q.visit = &participation{openCollective: m, op: *o, entered: x.now, hop: x.hop}
		}
	case OpCompletedRequest:
		*q = request{}
	case OpPut, OpGet, OpBackground:
		*q = request{visit: &participation{late: e.later(x, o)}}
	}
}

// finish completes request q of rank r. It returns false if the rank must wait for another rank.
func (e *engine) finish(r int32, x *rank, site int32, q *request) bool {
	switch {
	case q.channel != nil && q.kind == OpReceive:
		if !e.receive(q.channel, r, x, site, q.number) {
			return false
		}
		e.tidy(q.channel)
		q.channel = nil
	case q.channel != nil:
		if !e.sent(q.channel, r, x, site, q.number) {
			return false
		}
		e.tidy(q.channel)
		q.channel = nil
	case q.visit != nil && q.visit.late != nil:
		if l := q.visit.late; e.until(x, site, l.at, 0) && e.noting {
			x.jump(l.hop, l.by, l.left)
		}
		q.visit = nil
	case q.visit != nil:
		if v := q.visit; !e.leave(r, x, v.openCollective, &v.op, v.entered, v.hop) {
			return false
		}
		q.visit = nil
	}
	return true
}

// until advances a rank's clock to a time, unless that is past; it reports whether it did. What passes before began
// counts as waiting for the other rank, the remainder as transfer of the message.
func (e *engine) until(x *rank, site int32, time, began int64) bool {
	if time <= x.now {
		return false
	}
	gone := time - x.now
	late := min(max(began-x.now, 0), gone)
	x.spent[wait] += late
	x.spent[transfer] += gone - late
	x.now = time
	if e.watch != nil {
		e.watch.arrived(x, site)
	}
	if e.sites != nil {
		e.sites.add(x.number, site, wait, late)
		e.sites.add(x.number, site, transfer, gone-late)
	}
	return true
}

// wake lets a waiting rank continue, and stores nobody in its place.
func (e *engine) wake(waiter *int32) {
	if *waiter != nobody {
		e.ready = append(e.ready, *waiter)
		*waiter = nobody
	}
}

// stuck returns an error that describes the deadlock, if some ranks have not ended; else nil.
func (e *engine) stuck() error {
	waiting, first := 0, -1
	for r := range e.ranks {
		if !e.ranks[e.ranks[r].like].done {
			if waiting++; first < 0 {
				first = r
			}
		}
	}
	if waiting == 0 {
		return nil
	}
	x := &e.ranks[e.ranks[first].like]
	o := x.ops[x.at]
	q := &x.current
	if o.Kind == OpWait {
		n := o.Request
		if o.RequestCountsBack {
			n = x.ago(n)
		}
		if x.team == nil || n < ReservedRequestCount {
			q = x.request(n)
		} else if h := x.team.requests[n]; h != nil {
			q = &h.request
		}
	}
	what, peer, tag := o.String(), o.Peer, o.Tag
	if q.channel != nil && int(q.slot) < len(x.desc) {
		peer, tag = x.desc[q.slot].Peer, x.desc[q.slot].Tag
		// A program that isn't compiled has no slots, but the channel may be one of the other end's.
	} else if q.channel != nil {
		for k, c := range e.channels {
			if c != q.channel {
				continue
			}
			if peer, tag = k.from, k.tag; q.kind == OpSend {
				peer = k.to
			}
		}
	}
	switch {
	case q.visit != nil:
		what = q.visit.op.String()
	case q.channel != nil && q.kind == OpSend:
		what = fmt.Sprintf("a send to rank %d with tag %d, whose receive is not posted", peer, tag)
	case q.channel != nil:
		what = fmt.Sprintf("a receive from rank %d with tag %d", peer, tag)
	}
	ranks := "rank doesn't"
	if waiting > 1 {
		ranks = "ranks don't"
	}
	return fmt.Errorf("deadlock: %d %s end; rank %d waits in %s", waiting, ranks, first, what)
}
