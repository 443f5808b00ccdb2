package replay

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// derived makes the calls of a rank whose receives are derived from all ranks' sends, in the order of an EventOrder.
// The trace's receives, probes, waits and tests aren't made. The rank waits for its own messages before each
// collective call, and when its buffers are full.
type derived struct {
	s     *Stream
	order *EventOrder
	view  *RankCallRoles
	me    int
	next  uint64 // index of this rank's first call that field order has not passed
	fence bool   // field order has passed a collective call of this rank that hasn't been made
	held  *Event // an event taken from field order that must wait for free buffers

	call            *Call            // for calls that aren't in the trace; outside of Go's heap
	packed          uint64           // MPI_PACKED, as which a message of any type can be received
	comms           map[int]int64    // by handles.Comm.Number: the trace's number of this rank's handle
	receives, sends underWay         // pending requests of receives, and of sends
	started         map[uint64]bool  // true for addresses of persistent sends that are started
	slot            uint64           // address where the current call stores its request; 0: requestPlace decides
	one             uint64           // address for the request of an operation that is waited for at once
	buffers         room             // memory for received messages
	used            int64            // bytes of buffers in use
	swaps           map[string]*swap // by name of a function that sends: the function called in its place
	err             error
}

// underWay is pending requests in contiguous memory.
type underWay struct {
	at uint64
	n  int
}

const (
	mostUnderWay = 1 << 10
	receiveRoom  = 64 << 20 // bytes for pending messages; a larger message uses the buffer alone
	lookAhead    = 1 << 10  // calls of other ranks read ahead for each call of this rank
)

func newDerived(s *Stream, order *EventOrder) (*derived, error) {
	me := s.p.rank.Number()
	d := &derived{
		s: s, order: order, view: order.CallRolesOf(me), me: me, comms: map[int]int64{0: mpi.HandleCommWorld, -1: mpi.HandleCommSelf},
		started: make(map[uint64]bool), swaps: make(map[string]*swap),
	}
	alloc := func(size int64) (at uint64) {
		if d.err == nil {
			at, d.err = s.p.host.Alloc(size)
		}
		return at
	}
	w := int64(s.requestHandles().width)
	d.receives.at, d.sends.at = alloc(mostUnderWay*w), alloc(mostUnderWay*w)
	d.buffers = room{alloc(receiveRoom), receiveRoom}
	at := alloc(int64(cellBlock))
	if d.err != nil {
		return nil, d.err
	}
	d.call, d.one = (*Call)(pointer(at)), at+cellBlock/2
	var err error
	d.packed, _, err = s.p.handles[mpi.KindDatatype].raw(0, mpi.HandlePacked)
	return d, err
}

// make makes a call of the trace as its role demands. It makes no call of RoleDropped.
func (d *derived) make(t *trace.TimedCall) error {
	s, c := d.s, t.Call
	act, err := d.view.RoleOf(c)
	if err != nil {
		return err
	}
	if act.Role != RoleDropped {
		d.beforeFree(c)
	}
	switch act.Role {
	case RoleDropped:
		if err = d.ahead(); err == nil {
			err = d.dropped(t)
		}
	case RoleSends:
		if err = d.upTo(c.Index, len(act.Messages) > 0); err == nil {
			err = d.send(t)
		}
	case RoleStartsPersistent:
		if err = d.upTo(c.Index, len(act.Messages) > 0); err == nil {
			err = d.start(t)
		}
	case RoleMeets:
		if err = d.upTo(c.Index, true); err != nil {
			return err
		}
		s.settles = true
		err = d.makeOne(t, d.ends(c))
		s.settles, d.fence = false, false
		if err == nil {
			err = d.ahead()
		}
	default:
		to := *t
		if to.Call, err = d.swap(c); err == nil {
			err = d.makeOne(&to, d.ends(c))
		}
	}
	if err == nil {
		err = d.err
	}
	return err
}

// beforeFree completes the rank's sends before memory is freed that they may use.
func (d *derived) beforeFree(c *trace.Call) {
	if d.s.p.allocs.pending(c.Index) || c.Name() == "MPI_Free_mem" {
		d.finishSends(0)
	}
}

// ends returns the address for the request of a nonblocking call that the replay completes at once; 0 for other
// calls.
func (d *derived) ends(c *trace.Call) uint64 {
	if c.Func.Has(trace.AttrNonblocking) {
		return d.one
	}
	return 0
}

// makeOne makes one call. slot is the address where derived keeps the request of the call, or 0.
func (d *derived) makeOne(t *trace.TimedCall, slot uint64) error {
	s, c := d.s, t.Call
	d.slot = slot
	plan, err := s.encode(c)
	d.slot = 0
	if err != nil {
		return err
	}
	s.plan = plan
	s.issue(t)
	if slot == d.one {
		d.wait(slot, 0)
	}
	if err := s.decode(c, plan); err != nil {
		return err
	}
	for i := range c.Params {
		if p := &c.Params[i]; p.Kind() == mpi.KindComm && p.Out.Type == trace.TypeHandle && p.Out.Num >= trace.FirstCreatedHandle {
			if comm := d.view.Comm(&p.Out, c); comm != nil {
				d.comms[comm.Number] = p.Out.Num
			}
		}
	}
	return nil
}

// dropped skips a call. The computation before it is added to the gap before the next call.
func (d *derived) dropped(t *trace.TimedCall) error {
	s, c := d.s, t.Call
	if c.Func.Has(trace.AttrCompletes) && strings.HasSuffix(c.Name(), "_free") {
		for _, v := range ops.RequestsOf(c) {
			if at := d.persistent(v); at != 0 {
				d.beforeFree(c)
				d.finishStarted(at, 0)
				return d.makeOne(t, 0)
			}
		}
	}
	s.DroppedCalls++
	if s.last != 0 {
		s.passed += s.pace.gap(t.Timing.Gap)
	}
	return nil
}

// persistent returns the address of a persistent send request, 0 for other requests.
func (d *derived) persistent(v *trace.Value) uint64 {
	if v.RequestForm != trace.RequestPersistent {
		return 0
	}
	return d.s.requests[keyOf(true, v.RequestID)]
}

// send makes the send of a call. Buffered and ready mode become standard mode.
func (d *derived) send(t *trace.TimedCall) error {
	c, err := d.swap(t.Call)
	if err != nil {
		return err
	}
	to := *t
	to.Call = c
	if !strings.HasPrefix(c.Name(), "MPI_I") {
		return d.makeOne(&to, 0)
	}
	if d.sends.n == mostUnderWay {
		d.finishSends(0)
	}
	slot := d.sends.at + uint64(d.sends.n*d.s.requestHandles().width)
	d.sends.n++
	return d.makeOne(&to, slot)
}

// start starts the send requests of a call, one by one.
func (d *derived) start(t *trace.TimedCall) error {
	one := *t
	for _, v := range ops.RequestsOf(t.Call) {
		at := d.persistent(v)
		if at == 0 {
			continue
		}
		d.finishStarted(at, 0)
		d.started[at] = true
		c := *t.Call
		c.Func, c.Params = start, []trace.Param{{Def: &start.Params[0], In: *v}}
		one.Call = &c
		if err := d.makeOne(&one, 0); err != nil {
			return err
		}
		one.Timing.Gap = trace.Sample{}
	}
	if one.Call == t.Call {
		return d.dropped(t)
	}
	return nil
}

// start describes MPI_Start, by which the replay starts persistent requests one by one.
var start = &trace.Function{Name: "MPI_Start", ReturnKind: mpi.KindError, Params: []trace.ParamDef{
	{Name: "request", Kind: mpi.KindRequest, Type: trace.TypeRequest, Dir: trace.DirInOut, HasIn: true, HasOut: true},
}}

// upTo processes field order up to this rank's call with an index, and posts receives for the sends before it. has:
// the call is in the order.
func (d *derived) upTo(index uint64, has bool) error {
	for has && d.next <= index {
		e, err := d.take(math.MaxInt)
		if err != nil {
			return err
		}
		if e.Kind == EndEvent {
			return fmt.Errorf("it has no place in the order of all calls")
		}
		if _, err := d.pass(e, true); err != nil {
			return err
		}
	}
	return d.ahead()
}

// ahead posts receives for later sends, as far as buffers suffice and no call of this rank must be made first.
func (d *derived) ahead() error {
	if d.s.InitializedAtNs == 0 {
		return nil
	}
	for left := lookAhead; left > 0 && !d.fence; left-- {
		before := d.order.CallsRead
		e, err := d.take(left)
		left -= int(d.order.CallsRead - before)
		if err != nil || e.Kind == NoEvent || e.Kind == EndEvent {
			return err
		}
		if ok, err := d.pass(e, false); !ok || err != nil {
			return err
		}
	}
	return nil
}

// end posts and completes the remaining operations of a program that didn't finalize MPI.
func (d *derived) end() error {
	for {
		e, err := d.take(math.MaxInt)
		if err != nil {
			return err
		}
		if e.Kind == EndEvent {
			break
		}
		if _, err := d.pass(e, true); err != nil {
			return err
		}
	}
	d.settle(0)
	return d.err
}

func (d *derived) take(most int) (Event, error) {
	if e := d.held; e != nil {
		d.held = nil
		return *e, nil
	}
	return d.order.Next(most)
}

// pass processes an event, and reports whether it did. If buffers are full it keeps the event for later, unless must
// is set.
func (d *derived) pass(e Event, must bool) (bool, error) {
	if e.Kind == SendEvent && e.ToWorldRank == d.me {
		full := d.receives.n == mostUnderWay || d.receives.n > 0 && d.used+e.Bytes > d.buffers.size
		if full && !must {
			d.held = &e
			return false, nil
		}
		if full {
			d.finishReceives(0) // the sends of these messages precede this event in the order, so they are made
		}
		if err := d.receive(&e); err != nil {
			return false, err
		}
	}
	if e.Rank == d.me {
		d.next = max(d.next, e.Index+1)
		d.fence = e.Kind == MeetingEvent
	}
	return true, d.err
}

// receive posts the receive for the message of a send event.
func (d *derived) receive(e *Event) error {
	s := d.s
	handle, ok := d.comms[e.Comm.Number]
	if !ok {
		return fmt.Errorf("rank %d sends on %v, which this rank did not make", e.Rank, e.Comm)
	}
	comm, ok, err := s.p.handles[mpi.KindComm].raw(0, handle)
	if err != nil || !ok {
		return fmt.Errorf("rank %d sends on %v, which isn't there: %w", e.Rank, e.Comm, err)
	}
	if e.Bytes > d.buffers.size {
		at, err := s.p.host.Alloc(e.Bytes)
		if err != nil {
			return fmt.Errorf("%d bytes for a message: %w", e.Bytes, err)
		}
		s.p.host.Free(d.buffers.at, d.buffers.size)
		d.buffers = room{at, e.Bytes}
	}
	name := "MPI_Irecv"
	if e.Bytes > math.MaxInt32 {
		name = "MPI_Irecv_c"
	}
	width := s.requestHandles().width
	tag := mpi.NumberTableOf(s.p.flavour, mpi.KindTag).FromABI(e.Tag)
	d.invoke(name, 0, d.buffers.at+uint64(d.used), uint64(e.Bytes), d.packed, uint64(e.SourceInComm), uint64(tag), comm, d.receives.at+uint64(d.receives.n*width))
	d.used += (e.Bytes + 63) &^ 63
	d.receives.n++
	s.DerivedReceives++
	return d.err
}

// settle completes all messages of the rank when a call is due. ready is when the rank began to wait; 0: nothing was
// pending. latest is the time after which the call counts as late. Waiting for the messages doesn't make it late.
func (d *derived) settle(due int64) (ready, latest int64) {
	if d.receives.n+d.sends.n+len(d.started) == 0 {
		return 0, due
	}
	d.call.ReadyNs, d.call.BeginNs = 0, 0
	late := int64(0)
	for _, finish := range []func(int64){d.finishReceives, d.finishSends} {
		finish(due)
		if ready == 0 && d.call.ReadyNs != 0 {
			ready, late = d.call.ReadyNs, max(0, d.call.BeginNs-due)
		}
	}
	return ready, d.call.EndNs - late
}

func (d *derived) finishReceives(due int64) {
	d.finish(&d.receives, due)
	d.used = 0
}

func (d *derived) finishSends(due int64) {
	d.finish(&d.sends, due)
	for at := range d.started {
		d.finishStarted(at, due)
	}
}

// finish waits, when a call is due, for the requests in u.
func (d *derived) finish(u *underWay, due int64) {
	if u.n == 0 {
		return
	}
	ignore, err := d.s.sentinel(d.s.p.layout.CSentinels.StatusesIgnore)
	if err != nil {
		d.err = err
		return
	}
	d.await("MPI_Waitall", due, uint64(u.n), u.at, ignore)
	u.n = 0
}

// finishStarted waits for a persistent request, by its address, if it was started.
func (d *derived) finishStarted(at uint64, due int64) {
	if d.started[at] {
		delete(d.started, at)
		d.wait(at, due)
	}
}

func (d *derived) wait(at uint64, due int64) {
	ignore, err := d.s.sentinel(d.s.p.layout.CSentinels.StatusIgnore)
	if err != nil {
		d.err = err
		return
	}
	d.await("MPI_Wait", due, at, ignore)
}

// await makes a call that waits for requests. Its time counts as MPI time, not as part of the current gap.
func (d *derived) await(name string, due int64, words ...uint64) {
	s := d.s
	s.is(StateInCall)
	d.invoke(name, due, words...)
	took := d.call.EndNs - d.call.BeginNs
	s.since(StateBetweenCalls, d.call.EndNs)
	s.MPINs += took
	s.LastCallEndNs = d.call.EndNs
	if s.last != 0 {
		s.last += took
	}
}

// invoke makes a call that isn't in the trace.
func (d *derived) invoke(name string, due int64, words ...uint64) {
	result, err := d.s.p.invoke(d.call, name, due, words...)
	if err == nil && result != 0 {
		err = fmt.Errorf("%s returned %d", name, int32(result))
	}
	d.err = cmp.Or(d.err, err)
}

// A swap is a function that the replay calls in place of another.
type swap struct {
	function *trace.Function
	// By parameter of function: index of the original's parameter that gives the value; -1: it is the request.
	from []int
}

// asSent names the function that sends in place of another. Ready mode and buffered mode relied on receives posted in
// time and on buffer space in the recorded run, which the replay can't guarantee.
var asSent = map[string]string{
	"MPI_Bsend": "MPI_Send", "MPI_Rsend": "MPI_Send", "MPI_Ibsend": "MPI_Isend", "MPI_Irsend": "MPI_Isend",
	"MPI_Bsend_init": "MPI_Send_init", "MPI_Rsend_init": "MPI_Send_init",
	"MPI_Sendrecv": "MPI_Isend", "MPI_Sendrecv_replace": "MPI_Isend", "MPI_Isendrecv": "MPI_Isend", "MPI_Isendrecv_replace": "MPI_Isend",
}

// partOf maps names of parameters of sends to their names in functions that also receive.
var partOf = map[string]string{"buf": "sendbuf", "count": "sendcount", "datatype": "sendtype", "tag": "sendtag"}

// swap returns the call that replaces c and sends its message: c itself if its function may be called.
func (d *derived) swap(c *trace.Call) (*trace.Call, error) {
	name, large := strings.CutSuffix(c.Name(), "_c")
	to, ok := asSent[name]
	if !ok {
		return c, nil
	}
	if large {
		to += "_c"
	}
	x := d.swaps[c.Name()]
	if x == nil {
		def, ok := mpi.CallNamed(to)
		if !ok {
			return nil, fmt.Errorf("no function %s is known", to)
		}
		x = &swap{function: &trace.Function{ID: def.ID, Name: to, ReturnKind: mpi.KindError}}
		for i := range def.Params {
			name, at := def.Params[i].Name, -1
			for j := range c.Params {
				if n := c.Params[j].Name(); n == name && n != "request" || n == partOf[name] {
					at = j
				}
			}
			p := trace.ParamDef{Name: name, Kind: mpi.KindRequest, Type: trace.TypeRequest, Dir: trace.DirOut, HasOut: true}
			if at >= 0 {
				p = *c.Params[at].Def
				p.Name = name
			} else if name != "request" {
				return nil, fmt.Errorf("%s has no %s", c.Name(), name)
			}
			x.function.Params, x.from = append(x.function.Params, p), append(x.from, at)
		}
		d.swaps[c.Name()] = x
	}
	as := *c
	as.Func, as.Params = x.function, make([]trace.Param, len(x.from))
	for i, at := range x.from {
		p := trace.Param{Def: &x.function.Params[i], Out: trace.Value{Type: trace.TypeRequest, RequestForm: trace.RequestOneShot}}
		if j := c.Param("request"); at < 0 && j != nil {
			p = *j // the original's request
		} else if at >= 0 {
			p.In, p.Out = c.Params[at].In, c.Params[at].Out
		}
		as.Params[i] = p
	}
	return &as, nil
}
