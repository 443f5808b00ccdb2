package otf2

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// A filled is a call with its values. A call moved out of another call follows at that call's end.
type filled struct {
	*callValues
	moved bool
}

// A translation makes calls from a function and the records in it.
type translation struct {
	r     *recorder
	t     *thread
	c     *open
	f     *callValues
	m     *meaning.DataMovement
	ended bool
	more  []filled // calls for records that the function has no parameters for
	used  bool     // some record fits the function itself
	makes bool     // some record gives the communicator that it makes

	completed []completion
}

// A completion is a request that a call completed or tested.
type completion struct {
	name    int64
	status  []int64
	pending bool // the test found it incomplete
}

func (x *translation) forms() []filled {
	if x.c.call != nil {
		x.f = newForm(x.c.call, x.r.layouts, x.r.empty)
		x.f.ended = x.ended
		x.m = meaning.DataMovementOf(x.c.call.Name)
		if x.m == nil || !x.m.Pattern.IsCollective() || x.c.call.Has(mpi.AttrNeighborhood) {
			x.blank()
		}
	}
	for i := range x.c.acts {
		e := &x.c.acts[i]
		rows[e.ID].in(x, e)
	}
	if x.f == nil {
		return x.more
	}
	if x.c.call.Has(mpi.AttrCreatesComm) {
		at := x.r.makers
		x.r.makers++
		if !x.makes {
			x.makesUntold(at)
		}
	}
	if x.f.has("request") || x.f.has("array_of_requests") {
		x.requests()
	}
	if x.m != nil && !x.used {
		x.nowhere()
	}
	x.assumeInputs()
	if len(x.more) > 0 && !x.used && x.c.call.Has(mpi.AttrStarts) {
		x.r.w.notes.Add("starts of persistent requests, shown as MPI_Isend or MPI_Irecv", uint64(len(x.more)))
		x.more[0].moved = false
		return x.more
	}
	if len(x.more) > 0 {
		x.r.w.notes.Add("messages within functions that have no parameters for them, as calls of their own", uint64(len(x.more)))
	}
	return append([]filled{{x.f, false}}, x.more...)
}

// blank sets values that hold unless a record gives others: MPI_BYTE as datatype, MPI_PROC_NULL as peer.
func (x *translation) blank() {
	if x.m == nil {
		return
	}
	for _, s := range []*meaning.DataSide{x.m.Out, x.m.In} {
		if s != nil && x.f.has(s.Type) && !x.c.call.Params[x.c.call.Index(s.Type)].Array {
			x.f.set(s.Type, byteType)
		}
		if s != nil && s.Peer != "" {
			x.f.set(s.Peer, mpi.ProcNull)
			x.f.set("comm", mpi.HandleCommWorld)
		}
	}
}

// nowhere makes the request of a call with MPI_PROC_NULL, which has no record.
func (x *translation) nowhere() {
	for _, s := range []*meaning.DataSide{x.m.Out, x.m.In} {
		if s == nil || x.m.TakesEffectAtStart || len(x.f.in[s.Peer]) == 0 || x.f.in[s.Peer][0] != mpi.ProcNull {
			continue
		}
		if _, ok := x.f.out["request"]; !ok && x.f.has("request") {
			x.t.made++
			x.f.give("request", 2)
		}
	}
}

// assumeInputs sets input handles that no record gives.
func (x *translation) assumeInputs() {
	for i := range x.c.call.Params {
		p := &x.c.call.Params[i]
		if p.Dir != mpi.DirIn || p.Array || x.f.in[p.Name] != nil {
			continue
		}
		switch p.Kind {
		case mpi.KindComm:
			x.f.set(p.Name, mpi.HandleCommWorld)
			x.r.w.notes.Add("calls without a communicator in the records (MPI_COMM_WORLD is assumed)", 1)
		case mpi.KindOp:
			x.f.set(p.Name, bitwiseOr)
			x.r.w.notes.Add("reductions: OTF2 does not have the operation (MPI_BOR is assumed)", 1)
		}
	}
}

// other begins a call of another function, for a record that the current function can't have.
func (x *translation) other(name string) *callValues {
	c, _ := mpi.CallNamed(name)
	f := newForm(c, x.r.layouts, x.r.empty)
	x.more = append(x.more, filled{f, true})
	return f
}

// member converts a rank of 32 bits. EZTrace writes MPI_PROC_NULL in the MPI's own form, which is always negative.
func member(v uint64) int64 {
	if n := int32(uint32(v)); n >= 0 {
		return int64(n)
	}
	return mpi.ProcNull
}

// tag converts a tag of 32 bits; a negative one is from MPI_PROC_NULL.
func tag(v uint64) int64 {
	if n := int32(uint32(v)); n >= 0 {
		return int64(n)
	}
	return mpi.AnyTag
}

func tagOf(f *callValues, own string) string {
	if f.has(own) {
		return own
	}
	return "tag"
}

func (x *translation) send(e *Event) {
	f, m := x.f, x.m
	fits := f != nil && m != nil && m.Out != nil && m.Pattern == meaning.PatternToPeer && !m.TakesEffectAtStart && f.in["sent"] == nil
	if fits && (e.ID == EvMpiIsend) != f.has("request") {
		fits = false
	}
	if !fits {
		f = x.other(map[bool]string{true: "MPI_Isend", false: "MPI_Send"}[e.ID == EvMpiIsend])
		m = meaning.DataMovementOf(f.call.Name)
	} else {
		x.used = true
	}
	_, h := x.r.comm(uint32(e.Values[1]))
	f.in["sent"] = []int64{1}
	f.set(m.Out.Peer, member(e.Values[0]))
	f.set(m.Out.Count, int64(e.Values[3]))
	f.set(m.Out.Type, byteType)
	f.set(tagOf(f, "sendtag"), tag(e.Values[2]))
	f.set("comm", h)
	// One buffer sends and receives, as in MPI_Sendrecv_replace.
	if m.In != nil && m.In.Count == m.Out.Count && f.in["got"] == nil {
		f.set(m.In.Peer, mpi.ProcNull)
	}
	if e.ID == EvMpiIsend {
		x.request(f, e.Values[4], outcome{kind: e.ID}, true)
	}
}

// request gives call f a request, unless an earlier OTF2 record of the call did, and notes under the OTF2 id which
// request that is.
func (x *translation) request(f *callValues, id uint64, what outcome, known bool) {
	if _, ok := f.out["request"]; !ok {
		x.t.made++
		f.give("request", 2)
	}
	x.r.requests[id] = request{x.t.number, x.t.made, what, known}
}

func (x *translation) receive(e *Event) {
	f, m := x.f, x.m
	fits := f != nil && m != nil && m.In != nil && (m.Pattern == meaning.PatternToPeer || m.Pattern == meaning.PatternReceive) && !m.TakesEffectAtStart && !f.has("request") && f.in["got"] == nil
	if !fits {
		f = x.other("MPI_Recv")
		m = meaning.DataMovementOf("MPI_Recv")
	} else {
		x.used = true
	}
	f.in["got"] = []int64{1}
	x.source(f, m, member(e.Values[0]), uint32(e.Values[1]), tag(e.Values[2]), e.Values[3])
	f.give("status", received(member(e.Values[0]), tag(e.Values[2]), e.Values[3])...)
}

func received(source, tag int64, bytes uint64) []int64 {
	return []int64{signature.StatusFormIgnored, source, tag, int64(bytes), 0}
}

func (x *translation) source(f *callValues, m *meaning.DataMovement, peer int64, comm uint32, tag int64, bytes uint64) {
	_, h := x.r.comm(comm)
	f.set(m.In.Peer, peer)
	if _, sent := f.in[m.In.Count]; !sent {
		f.set(m.In.Count, int64(bytes))
	}
	f.set(m.In.Type, byteType)
	f.set(tagOf(f, "recvtag"), tag)
	f.set("comm", h)
}

// next returns the outcome of the operation that begins now.
func (x *translation) next() outcome {
	n := x.t.begun
	x.t.begun++
	if list := x.r.k.begun[x.t.number]; n < len(list) {
		return x.r.all.list[list[n]]
	}
	return outcome{}
}

func (x *translation) post(e *Event) {
	o := x.next()
	f, m := x.f, x.m
	if f == nil || m == nil || m.In == nil || m.TakesEffectAtStart || !f.has("request") || f.in["got"] != nil {
		f = x.other("MPI_Irecv")
		m = meaning.DataMovementOf("MPI_Irecv")
	} else {
		x.used = true
	}
	f.in["got"] = []int64{1}
	if o.kind == EvMpiIrecv {
		x.source(f, m, member(uint64(o.peer)), o.comm, tag(uint64(o.tag)), o.recv)
	} else {
		x.r.w.notes.Add("nonblocking receives without a record of their message: from any source", 1)
		f.set(m.In.Peer, mpi.AnySource)
		f.set(tagOf(f, "recvtag"), mpi.AnyTag)
		f.set(m.In.Count, 0)
		f.set(m.In.Type, byteType)
		f.set("comm", mpi.HandleCommWorld)
	}
	x.request(f, e.Values[0], o, o.kind != 0)
}

func (x *translation) begin(e *Event) {
	o := x.next()
	if x.f == nil || !x.f.has("request") {
		x.r.w.notes.Add("non-blocking collectives outside of their functions, persistent ones among them", 1)
		return
	}
	x.used = true
	if o.kind == EvCollectiveComplete {
		x.collective(o.comm, o.root, o.sent, o.recv)
	}
	x.request(x.f, e.Values[0], o, true)
}

// create has the call make a communicator, if it can.
func (x *translation) create(e *Event) {
	m := x.r.w.byID[uint32(e.Values[0])]
	if m == nil || x.f == nil || m.handle != 0 || !x.c.call.Has(mpi.AttrCreatesComm) {
		x.misfit(e)
		return
	}
	x.made(m)
	x.makes = true
}

// makesUntold handles a call that makes a communicator which no record names. If assign found that communicator, the
// call makes it. at is the call's index among those that make communicators.
func (x *translation) makesUntold(at int) {
	for _, m := range x.r.w.comms {
		if n, ok := m.maker[x.r.k.number]; ok && n == at && x.r.comms[m] == 0 {
			x.made(m)
			return
		}
	}
}

func (x *translation) made(m *comm) {
	in := ""
	for i := range x.c.call.Params {
		p := &x.c.call.Params[i]
		if p.Kind != mpi.KindComm {
			continue
		}
		if p.HasLeavePart() {
			x.parent(in, m)
			x.r.make(x.f, m, p.Name)
			return
		}
		in = cmp.Or(in, p.Name)
	}
}

func (x *translation) parent(in string, m *comm) {
	h := int64(mpi.HandleCommWorld)
	if p := m.parent; p != nil {
		if _, of := x.r.comm(p.ids[0]); of != symbol.UnknownHandle {
			h = of
		}
	}
	if in != "" {
		x.f.set(in, h)
	}
}

func (x *translation) frees(e *Event) {
	m, h := x.r.comm(uint32(e.Values[0]))
	if m == nil || m.handle != 0 || h == symbol.UnknownHandle {
		x.misfit(e)
		return
	}
	delete(x.r.comms, m)
	x.r.handles.Return(uint32(h - mpi.FirstUserHandleID))
	if x.f != nil {
		x.f.set("comm", h)
	}
}

func (x *translation) collectiveEnd(e *Event) {
	x.collective(uint32(e.Values[1]), e.Values[2], e.Values[3], e.Values[4])
}

// collective fills in what a collective moved.
func (x *translation) collective(id uint32, root, sent, got uint64) {
	if x.f == nil || !x.c.call.Has(mpi.AttrCollective) {
		x.r.w.notes.Add("collectives outside of their functions", 1)
		return
	}
	c, h := x.r.comm(id)
	if !x.f.has("comm") {
		return
	}
	x.f.set("comm", h)
	if c == nil {
		return
	}
	own, other := c.sides(x.r.k.number)
	n, rank := len(own), slices.Index(own, x.r.k.number)
	if c.handle == mpi.HandleCommSelf {
		n, rank = 1, 0
	}
	isRoot, isOther := true, true
	if len(other) > 0 {
		n = len(other)
	}
	if x.f.has("root") {
		at := int64(root)
		switch root {
		case CollectiveRootSelf:
			at, isOther = mpi.MPIRoot, false
		case CollectiveRootThisGroup:
			at, isRoot, isOther = mpi.ProcNull, false, false
		default:
			isRoot = len(other) == 0 && int64(root) == int64(rank)
			isOther = !isRoot
		}
		x.f.set("root", at)
	}
	if x.m == nil || x.c.call.Has(mpi.AttrNeighborhood) {
		return
	}
	x.side(x.m.Out, sent, n, isRoot, isOther)
	x.side(x.m.In, got, n, isRoot, isOther)
}

func (x *translation) side(s *meaning.DataSide, bytes uint64, n int, isRoot, isOther bool) {
	if s == nil || s.OnlyRoot && !isRoot || s.OnlyOthers && !isOther {
		return
	}
	if x.m.IsArrayParam(s.Type) {
		x.f.set(s.Type, array(slices.Repeat([]int64{byteType}, n))...)
	} else {
		x.f.set(s.Type, byteType)
	}
	switch {
	case s.IsOwnElementOnly:
		return // the count is an element of the array of counts, which is set as the send side's
	case x.m.IsArrayParam(s.Count):
		if _, told := x.f.in[s.Count]; !told {
			x.f.set(s.Count, array(spread(bytes, n))...)
			if n > 1 && bytes > 0 {
				x.r.w.notes.Add("collectives with a count for each member: only the sum is known, and is distributed evenly", 1)
			}
		}
		return
	case s.Comm != "" && n > 0:
		bytes /= uint64(n)
	}
	if was := x.f.in[s.Count]; was == nil || was[0] == 0 {
		x.f.set(s.Count, int64(bytes))
	}
}
