package ops

import (
	"fmt"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A requestKey identifies a request of a process.
type requestKey struct {
	thread int // thread that made it; -1: a persistent request
	id     int64
}

// A pending is the operations of an incomplete request: none, one transfer, or one in each direction.
type pending struct {
	acts [2]Act
	n    int
	part bool // the call that began them is in the wanted time range and phase
	id   int64
}

// A ring holds the operations of a thread's one-shot requests, by their rising numbers. Only few requests are
// incomplete at a time, mostly the newest.
type ring struct {
	slots []*pending         // by low bits of the number
	older map[int64]*pending // requests whose slot a newer one took
}

// mostSlots is the largest number of slots of a ring. If requests are never completed, more go to older.
const mostSlots = 1 << 12

func (r *ring) at(id int64) *pending {
	if len(r.slots) > 0 {
		if x := r.slots[id&int64(len(r.slots)-1)]; x != nil && x.id == id {
			return x
		}
	}
	return r.older[id]
}

func (r *ring) put(x *pending) {
	if len(r.slots) == 0 {
		r.slots = make([]*pending, 16)
	}
	for {
		slot := &r.slots[x.id&int64(len(r.slots)-1)]
		switch {
		case *slot == nil:
			*slot = x
			return
		case len(r.slots) == mostSlots:
			if r.older == nil {
				r.older = make(map[int64]*pending)
			}
			r.older[(*slot).id] = *slot
			*slot = x
			return
		}
		old := r.slots
		r.slots = make([]*pending, 2*len(old))
		for _, y := range old { // no two get the same slot
			if y != nil {
				r.slots[y.id&int64(len(r.slots)-1)] = y
			}
		}
	}
}

func (r *ring) drop(id int64) {
	if slot := &r.slots[id&int64(len(r.slots)-1)]; *slot != nil && (*slot).id == id {
		*slot = nil
		return
	}
	delete(r.older, id)
}

// under returns the operations of a request; nil if it is not pending.
func (p *process) under(key requestKey) *pending {
	if key.thread >= 0 {
		return p.threads[key.thread].once.at(key.id)
	}
	return p.pending[key]
}

// left returns the number of pending requests.
func (p *process) left() (n uint64) {
	count := func(x *pending) {
		if x != nil && x.n > 0 && x.part {
			n++
		}
	}
	for _, x := range p.pending {
		count(x)
	}
	for _, t := range p.threads {
		for _, x := range t.once.slots {
			count(x)
		}
		for _, x := range t.once.older {
			count(x)
		}
	}
	return n
}

// keep records the operations of the request that a call made.
func (p *process) keep(t *thread, q *plan, c *Call) {
	if q.request < 0 {
		return
	}
	if v := &c.Params[q.request].Out; v.Type == trace.TypeRequest && v.RequestForm == trace.RequestOneShot {
		t.made = v.RequestID + 1
		p.hold(requestKey{t.stream, v.RequestID}, c.Acts)
	}
}

func (p *process) hold(key requestKey, acts []Act) {
	x := p.under(key)
	if x == nil {
		if n := len(p.spare); n > 0 {
			x, p.spare = p.spare[n-1], p.spare[:n-1]
		} else {
			x = &pending{}
		}
		if x.id = key.id; key.thread >= 0 {
			p.threads[key.thread].once.put(x)
		} else {
			p.pending[key] = x
		}
	}
	x.n, x.part = 0, p.part
	for i := range acts {
		if acts[i].ID > 0 && x.n < len(x.acts) {
			x.acts[x.n] = acts[i]
			x.n++
		}
	}
}

// find returns the operations of a request; nil if the request is null or unknown.
func (p *process) find(t *thread, v *trace.Value) (*pending, requestKey) {
	key := requestKey{t.stream, v.RequestID}
	switch v.RequestForm {
	case trace.RequestNull:
		return nil, key
	case trace.RequestPersistent:
		key.thread = -1
	case trace.RequestOfOtherThread:
		if v.RequestThread >= len(p.threads) {
			break
		}
		key = requestKey{v.RequestThread, p.threads[v.RequestThread].made - v.RequestID}
	case trace.RequestUnknown:
		p.lose(lostRequest, 1)
		return nil, key
	}
	x := p.under(key)
	if x == nil && v.RequestForm != trace.RequestPersistent { // a persistent request may be inactive
		p.lose(lostRequest, 1)
	}
	return x, key
}

func (p *process) drop(key requestKey, x *pending) {
	if key.thread >= 0 {
		p.threads[key.thread].once.drop(key.id)
	} else {
		delete(p.pending, key)
	}
	p.spare = append(p.spare, x)
}

// starts handles calls that start persistent requests.
func starts(p *process, t *thread, _ *plan, c *Call) {
	start := func(v *trace.Value) {
		if v.RequestForm != trace.RequestPersistent {
			return
		}
		m, ok := p.x.PersistentRequestCreation(v.RequestID, c.Stream, c.Index)
		if !ok {
			p.lose(lostRequest, 1)
			return
		}
		from := len(c.Acts)
		out, in := p.transfers(m.Call, m.Stream, m.Index)
		kind := ActSendBegin
		if m.Call.Func.Has(trace.AttrCollective) {
			kind = ActCollectiveBegin
		}
		if out.is && p.known(&out.op) {
			out.op.ID = p.nextID()
			if kind == ActSendBegin {
				p.number(&out.op, p.k.Number(), out.op.PeerWorldRank(), false)
			}
			c.add(kind, &out.op)
		}
		if in.is && p.known(&in.op) {
			in.op.ID = p.nextID()
			p.posted(&in.op)
			c.add(ActRecvBegin, &in.op)
		}
		p.hold(requestKey{-1, v.RequestID}, c.Acts[from:])
	}
	for _, v := range RequestsOf(c.Call) {
		start(v)
	}
}

// A completion describes where the calls of a completing function have requests, flag and statuses.
type completion struct{ meaning.CompletionParams }

func completionOf(c *trace.Call) completion {
	def, _ := mpi.CallByID(c.Func.ID)
	return completion{meaning.CompletionParamsOf(def, len(c.Params), func(i int) string { return c.Params[i].Name() })}
}

// completes handles calls that complete requests, or test them.
func completes(p *process, t *thread, q *plan, c *Call) {
	x := &q.completion
	if x.found(c.Call) {
		x.each(c.Call, func(request, status ValuePosition) {
			if v := request.Value(c.Call, false); !x.Completes {
				p.forget(t, v)
			} else {
				p.completed(t, c, v, status.status(c.Call))
			}
		})
		return
	}
	for _, v := range RequestsOf(c.Call) {
		p.tested(t, c, v)
	}
}

// A ValuePosition is the position of a value in a call: index of the parameter, -1 for none, and index in an array, -1 for
// no array.
type ValuePosition struct{ Param, Elem int }

// Value returns the input value of c at position a, or with out the output value; nil if there is no value.
func (a ValuePosition) Value(c *trace.Call, out bool) *trace.Value {
	if a.Param < 0 {
		return nil
	}
	v := &c.Params[a.Param].In
	if out {
		v = &c.Params[a.Param].Out
	}
	switch {
	case a.Elem < 0:
		return v
	case a.Elem < len(v.Elems):
		return &v.Elems[a.Elem]
	}
	return nil
}

func (a ValuePosition) status(c *trace.Call) *trace.StatusValue {
	if v := a.Value(c, true); v != nil {
		return v.Status
	}
	return nil
}

// A Completion is a request that a call completes.
type Completion struct {
	ArrayIndex int // index in the call's array of requests; 0 for a single one
	Request    *trace.Value
	Status     *trace.StatusValue // nil: unknown

	RequestPosition, StatusPosition ValuePosition
}

// RequestsCompleted returns the requests that a call completes, frees or cancels; none if a test returns false, or the call
// fails.
func RequestsCompleted(c *trace.Call) []Completion {
	if !c.Func.Has(trace.AttrCompletes) {
		return nil
	}
	return RequestsFoundComplete(c)
}

// RequestsFoundComplete returns the requests that a call completes, or finds complete without freeing them, as
// MPI_Request_get_status does.
func RequestsFoundComplete(c *trace.Call) (list []Completion) {
	def, _ := mpi.CallByID(c.Func.ID)
	if !c.Func.Has(trace.AttrCompletes) && meaning.WaitBehaviourOf(def).Choice == meaning.ChooseNoRequest {
		return nil
	}
	if x := completionOf(c); x.found(c) && ended(c) {
		x.each(c, func(request, status ValuePosition) {
			if s := status.status(c); !s.IsPending() {
				list = append(list, Completion{max(0, request.Elem), request.Value(c, false), s, request, status})
			}
		})
	}
	return list
}

// ended reports whether a call succeeded as a whole, though some of its requests may have failed.
func ended(c *trace.Call) bool { return c.Return == 0 || c.Return == mpi.ErrInStatus }

// CompletesAll reports whether a call completes all requests that it is given, whatever its outcome: it neither tests
// nor selects.
func CompletesAll(c *trace.Call) bool {
	x := completionOf(c)
	return max(x.RequestPosition, x.RequestsPosition) >= 0 && max(x.FlagPosition, x.CountPosition, x.IndexPosition, x.IndicesPosition) < 0
}

// FoundNothing reports whether a call is a test or a probe with a false flag.
func FoundNothing(c *trace.Call) bool {
	if def, _ := mpi.CallByID(c.Func.ID); !def.Has(mpi.AttrPolls) || !ended(c) {
		return false
	}
	x := completionOf(c)
	return !x.found(c)
}

// each visits the requests that a call completes, with their statuses. A test must have succeeded.
func (x *completion) each(c *trace.Call, visit func(request, status ValuePosition)) {
	if x.RequestPosition >= 0 && c.Params[x.RequestPosition].In.Type != trace.TypeNone {
		visit(ValuePosition{x.RequestPosition, -1}, ValuePosition{x.StatusPosition, -1})
		return
	}
	if x.RequestsPosition < 0 {
		return
	}
	list := c.Params[x.RequestsPosition].In.Elems
	one := func(n int64, status ValuePosition) {
		if n >= 0 && n < int64(len(list)) {
			visit(ValuePosition{x.RequestsPosition, int(n)}, status)
		}
	}
	switch {
	case x.IndexPosition >= 0:
		if at := &c.Params[x.IndexPosition].Out; at.Type == trace.TypeInt {
			one(at.Num, ValuePosition{x.StatusPosition, -1})
		}
	case x.IndicesPosition >= 0:
		some := c.Params[x.IndicesPosition].Out.Elems
		for i := range some {
			one(some[i].Num, ValuePosition{x.StatusesPosition, i})
		}
	default:
		for i := range list {
			one(int64(i), ValuePosition{x.StatusesPosition, i})
		}
	}
}

// CheckCompletedRequests returns an error if a call's outputs say that it completed requests that it was not given.
func CheckCompletedRequests(c *trace.Call) error {
	x := completionOf(c)
	if x.RequestsPosition < 0 || !ended(c) {
		return nil
	}
	var said []trace.Value
	switch {
	case x.IndexPosition >= 0 && x.found(c) && c.Params[x.IndexPosition].Out.Num != mpi.Undefined:
		said = []trace.Value{c.Params[x.IndexPosition].Out}
	case x.IndicesPosition >= 0:
		said = c.Params[x.IndicesPosition].Out.Elems
	}
	for i := range said {
		if at, n := said[i].Num, len(c.Params[x.RequestsPosition].In.Elems); at < 0 || at >= int64(n) {
			return fmt.Errorf("request %d of %d is said to have finished", at, n)
		}
	}
	return nil
}

// found reports whether a test succeeded or had nothing to test; true for calls that wait.
func (x *completion) found(c *trace.Call) bool {
	if x.FlagPosition >= 0 {
		return c.Params[x.FlagPosition].Out.Num != 0
	}
	return x.CountPosition < 0 || c.Params[x.CountPosition].Out.Num != 0
}

func (p *process) forget(t *thread, v *trace.Value) {
	if x, key := p.find(t, v); x != nil {
		p.lose(lostFreed, uint64(x.n))
		p.drop(key, x)
	}
}

func (p *process) tested(t *thread, c *Call, v *trace.Value) {
	if x, _ := p.find(t, v); x != nil {
		for i := range x.n {
			c.add(ActTestedIncomplete, &x.acts[i].Operation)
		}
	}
}

// completed adds to c the acts that end the operations of request v, whose status is s.
func (p *process) completed(t *thread, c *Call, v *trace.Value, s *trace.StatusValue) {
	if s.IsPending() {
		p.tested(t, c, v)
		return
	}
	x, key := p.find(t, v)
	if x == nil {
		return
	}
	if s != nil && s.HasError && s.Error != 0 {
		p.lose(lostFailed, uint64(x.n))
		p.drop(key, x)
		return
	}
	for i := range x.n {
		p.ended(c, &x.acts[i], s)
	}
	p.drop(key, x)
}

// ended adds to c the act that ends the operation that act a began. s is the operation's status.
func (p *process) ended(c *Call, a *Act, s *trace.StatusValue) {
	op := &a.Operation // changed in place, as no later call uses it
	if s != nil && s.Cancelled {
		c.add(ActCancelled, op)
		return
	}
	switch a.Kind {
	case ActSendBegin:
		c.add(ActSendEnd, op)
	case ActRecvBegin:
		if p.received(op, s) {
			c.add(ActRecvEnd, op)
		}
	case ActCollectiveBegin:
		c.add(ActCollectiveEnd, op)
	case ActPut, ActGet, ActAtomic:
		c.add(ActRMAEndByRequest, op)
	case ActReadBegin:
		op.ReceivedBytes = transferred(op.ReceivedBytes, s)
		c.add(ActReadEnd, op)
	case ActWriteBegin:
		op.SentBytes = transferred(op.SentBytes, s)
		c.add(ActWriteEnd, op)
	}
}

// transferred returns how many bytes a file operation moved.
func transferred(wanted uint64, s *trace.StatusValue) uint64 {
	if s != nil && (s.Form == trace.StatusFormFilled || s.Form == trace.StatusFormIgnored) && s.ReceivedBytes >= 0 {
		return uint64(s.ReceivedBytes)
	}
	return wanted
}

// underWay adds to c, which never returned, acts for what it was doing: the message that it was sending, the message
// that it was to receive, with its arguments, or the operations that it was waiting for.
func (p *process) underWay(t *thread, q *plan, c *Call) {
	if c.Func.Has(trace.AttrCompletes) {
		p.awaits(t, c)
		return
	}
	m := meaning.DataMovementOf(c.Func.Name)
	if m == nil || m.TakesEffectAtStart || q.request >= 0 || m.Pattern != meaning.PatternToPeer && m.Pattern != meaning.PatternReceive || c.Param("message") != nil {
		return
	}
	for _, x := range []struct {
		kind ActKind
		transfer
	}{{ActSend, q.out}, {ActRecv, q.in}} {
		if op := x.operation(c.Call); x.is && p.known(&op) {
			c.add(x.kind, &op)
		}
	}
}

// awaits adds to c, which never returned, acts for the operations that it was waiting for or testing.
func (p *process) awaits(t *thread, c *Call) {
	for _, v := range RequestsOf(c.Call) {
		if x, _ := p.find(t, v); x != nil {
			for i := range x.n {
				c.add(ActNeverCompleted, &x.acts[i].Operation)
			}
		}
	}
}
