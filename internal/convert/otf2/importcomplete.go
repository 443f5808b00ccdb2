package otf2

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// complete records that a request was completed or tested.
func (x *translation) complete(e *Event) {
	id := e.Values[0]
	switch e.ID {
	case EvMpiIrecv:
		id = e.Values[4]
	case EvCollectiveComplete:
		id = e.Values[5]
	}
	q, ok := x.r.requests[id]
	if !ok {
		x.r.w.notes.Add("completions of operations that were not seen being begun", 1)
		return
	}
	done := completion{name: x.name(q), pending: e.ID == EvMpiRequestTest}
	switch {
	case e.ID == EvMpiIrecv:
		done.status = received(member(e.Values[0]), tag(e.Values[2]), e.Values[3])
	case e.ID == EvCollectiveComplete, done.pending:
		done.status = []int64{signature.StatusFormEmpty}
	case e.ID == EvMpiRequestCancelled && q.what.kind != EvMpiIsend:
		done.status = []int64{signature.StatusFormIgnored, mpi.AnySource, mpi.AnyTag, 0, 1}
	default:
		cancelled := int64(0)
		if e.ID == EvMpiRequestCancelled {
			cancelled = 1
		}
		done.status = []int64{signature.StatusFormOfSend, cancelled}
	}
	if !done.pending {
		delete(x.r.requests, id)
	}
	x.add(done)
}

// add keeps one completion for each request; for an operation that sends and receives, the receive's.
func (x *translation) add(done completion) {
	for i := range x.completed {
		if o := &x.completed[i]; o.name == done.name {
			if done.status[0] == signature.StatusFormIgnored {
				o.status = done.status
			}
			return
		}
	}
	x.completed = append(x.completed, done)
}

// threadBits is the number of bits that a thread's number takes in the names of other threads' requests.
const threadBits = 10

// name returns the current thread's name for a request, made of the number of requests that the request's thread made
// since. The name of another thread's request is negative and includes that thread's number.
func (x *translation) name(q request) int64 {
	if q.thread == x.t.number {
		return 2 * (x.t.made - q.number + 1)
	}
	return -2 - ((x.r.threads[q.thread].made-q.number)<<threadBits | int64(q.thread)&(1<<threadBits-1))
}

// requests sets the requests that a call completed.
func (x *translation) requests() {
	c := x.c.call
	if !c.Has(mpi.AttrCompletes) {
		return
	}
	if len(x.completed) == 0 && !x.r.k.ends && x.ended && !x.f.has("flag") && !x.f.has("outcount") {
		x.assume()
	}
	found := slices.ContainsFunc(x.completed, func(d completion) bool { return !d.pending })
	if x.f.has("flag") {
		flag := int64(0)
		if found {
			flag = 1
		}
		x.f.give("flag", flag)
	}
	if x.f.has("request") {
		if len(x.completed) > 0 {
			x.f.set("request", x.completed[0].name)
			x.f.give("status", x.completed[0].status...)
		} else {
			x.f.set("request", 0)
			x.f.give("status", signature.StatusFormEmpty)
		}
		return
	}
	x.several()
}

// several sets the completed requests of a call with an array of requests.
func (x *translation) several() {
	names, statuses, indices := make([]int64, 0, len(x.completed)), []int64(nil), []int64(nil)
	n := int64(0)
	for i, d := range x.completed {
		names = append(names, d.name)
		if !d.pending {
			n++
			statuses = append(statuses, d.status...)
			indices = append(indices, int64(i))
		}
	}
	for _, count := range []string{"count", "incount"} {
		x.f.set(count, int64(len(names)))
	}
	x.f.set("array_of_requests", array(names)...)
	some := x.f.has("array_of_indices")
	switch {
	case x.f.has("index"):
		x.f.give("index", mpi.Undefined)
		if n > 0 {
			x.f.give("index", indices[0])
			x.f.give("status", x.completed[indices[0]].status...)
		}
		return
	case some:
		x.f.give("outcount", n)
		x.f.give("array_of_indices", array(indices)...)
	}
	if n == int64(len(names)) || some {
		x.f.give("array_of_statuses", append([]int64{n}, statuses...)...)
	}
}

// assume completes requests for tools that record no completions: a wait for one request completes the oldest, a wait
// for several completes all.
func (x *translation) assume() {
	type old struct {
		id uint64
		request
	}
	var list []old
	for id, q := range x.r.requests {
		if q.thread == x.t.number {
			list = append(list, old{id, q})
		}
	}
	slices.SortFunc(list, func(a, b old) int { return cmp.Compare(a.number, b.number) })
	if len(list) > 1 && (x.f.has("request") || x.f.has("index")) {
		list = list[:1]
	}
	for _, q := range list {
		status := []int64{signature.StatusFormOfSend, 0}
		if q.what.kind != EvMpiIsend {
			status = []int64{signature.StatusFormAbsent}
		}
		x.completed = append(x.completed, completion{name: x.name(q.request), status: status})
		delete(x.r.requests, q.id)
	}
	if len(list) > 0 {
		x.r.w.notes.Add("completions that are not recorded: waits are taken to complete the oldest request, or all", uint64(len(list)))
	}
}

// createsWindow has the call make a window.
func (x *translation) createsWindow(e *Event) {
	if x.c.call == nil || !x.c.call.Has(mpi.AttrCreatesWin) {
		x.misfit(e)
		return
	}
	id := uint32(e.Values[0])
	h := int64(x.r.winPool.Take()) + mpi.FirstUserHandleID
	x.r.windows[id] = h
	_, comm := x.r.comm(x.r.w.a.Windows[id].Comm)
	x.f.set("comm", comm)
	x.f.give("win", h)
}

// window sets the values of a one-sided call.
func (x *translation) window(e *Event) {
	if !x.f.has("win") {
		x.misfit(e)
		return
	}
	id := uint32(e.Values[0])
	if e.ID == EvRmaCollectiveEnd {
		id = uint32(e.Values[2])
	} else if e.ID == EvRmaGroupSync {
		id = uint32(e.Values[1])
	}
	h, ok := x.r.windows[id]
	if !ok {
		if x.f.in["win"] != nil {
			return // this call freed the window
		}
		x.r.w.notes.Add("one-sided operations on windows that were not seen being made", 1)
		h = symbol.UnknownHandle
	}
	if _, own := x.f.out["win"]; !own {
		x.f.set("win", h)
	}
	peer := int64(int32(e.Values[1]))
	switch e.ID {
	case EvRmaWinDestroy:
		if ok {
			delete(x.r.windows, id)
			x.r.winPool.Return(uint32(h - mpi.FirstUserHandleID))
		}
	case EvRmaReleaseLock:
		x.f.set("rank", peer)
	case EvRmaRequestLock, EvRmaAcquireLock, EvRmaTryLock:
		x.f.set("rank", peer)
		kind := int64(lockShared)
		if e.Values[3] == LockExclusive {
			kind = mpi.LockExclusive
		}
		x.f.set("lock_type", kind)
	case EvRmaPut:
		x.moves(peer, e.Values[2], 0, e.Values[3])
	case EvRmaGet:
		x.moves(peer, 0, e.Values[2], e.Values[3])
	case EvRmaAtomic:
		x.moves(peer, e.Values[3], e.Values[4], e.Values[5])
	}
}

// transferred records that a one-sided transfer with a request completed or was tested.
func (x *translation) transferred(e *Event) {
	if x.c.call.Has(mpi.AttrCompletes) {
		x.done(e.Values[1], []int64{signature.StatusFormEmpty}, ownsWindow, e.ID == EvRmaTest)
	} else if !x.f.has("win") {
		x.misfit(e)
	}
}

// moves sets the values of a transfer to or from a member's memory.
func (x *translation) moves(peer int64, out, in, id uint64) {
	if x.m == nil || !x.f.has("target_rank") {
		x.r.w.notes.Add("one-sided transfers outside of their functions", 1)
		return
	}
	x.f.set("target_rank", peer)
	for name, bytes := range map[string]uint64{"origin": max(out, in), "result": in, "target": max(out, in)} {
		if name == "origin" && x.f.has("result_count") {
			bytes = out
		}
		x.f.set(name+"_count", int64(bytes))
		x.f.set(name+"_datatype", byteType)
	}
	if x.f.has("datatype") { // the function moves a single element
		t, ok := types[max(out, in)]
		if !ok {
			t = byteType
		}
		x.f.set("datatype", t)
	}
	x.moving(ownsWindow, id)
}

// moving has the call make the request of a transfer, if it makes one.
func (x *translation) moving(of uint8, id uint64) {
	if x.f.has("request") {
		x.t.made++
		x.f.give("request", 2)
		x.r.transfers[transferKey{of, id}] = request{thread: x.t.number, number: x.t.made}
	}
}

// A transferKey identifies a transfer: transfers of windows and of files are numbered separately.
type transferKey struct {
	of uint8
	id uint64
}

const (
	ownsWindow = iota
	ownsFile
)

// done completes a transfer with a request, or records a test that found nothing.
func (x *translation) done(id uint64, status []int64, of uint8, pending bool) {
	key := transferKey{of, id}
	q, ok := x.r.transfers[key]
	if !ok {
		x.r.w.notes.Add("completions of operations that were not seen being begun", 1)
		return
	}
	if !pending {
		delete(x.r.transfers, key)
	}
	x.add(completion{name: x.name(q), status: status, pending: pending})
}

func (x *translation) deletes(e *Event) {
	if x.c.call == nil || !x.f.has("filename") {
		x.misfit(e)
		return
	}
	x.f.set("filename", x.r.out.AddString(x.r.w.a.String(x.r.w.a.Files[uint32(e.Values[1])])))
}

// file sets the values of a file operation. System file calls of an MPI library are not the program's: their handles
// have no communicator.
func (x *translation) file(e *Event) {
	v := &e.Values
	id := uint32(v[0])
	if x.r.w.a.IoHandles[id].Comm == UndefinedRef {
		x.r.w.notes.Add("records of files that were not opened by MPI: "+RecordName(e.ID), 1)
		return
	}
	if !x.f.has("fh") && !x.c.call.Has(mpi.AttrCompletes) {
		x.misfit(e)
		return
	}
	if e.ID == EvIoCreateHandle {
		x.opens(id, v[1], v[2], v[3])
		return
	}
	h, ok := x.r.files[id]
	if !ok {
		h = symbol.UnknownHandle
	}
	x.f.set("fh", h)
	switch e.ID {
	case EvIoDestroyHandle:
		if ok {
			delete(x.r.files, id)
			x.r.filePool.Return(uint32(h - mpi.FirstUserHandleID))
		}
	case EvIoSeek:
		x.f.set("offset", int64(v[1]))
		x.f.set("whence", map[uint64]int64{0: seekSet, 1: mpi.SeekCurrent, 2: mpi.SeekEnd}[v[2]])
	case EvIoOperationBegin:
		x.f.set("count", int64(v[3]))
		x.f.set("datatype", byteType)
		x.moving(ownsFile, v[4])
	case EvIoOperationTest:
		if x.c.call.Has(mpi.AttrCompletes) {
			x.done(v[1], []int64{signature.StatusFormEmpty}, ownsFile, true)
		}
	case EvIoOperationCancelled:
		if x.c.call.Has(mpi.AttrCompletes) {
			x.done(v[1], []int64{signature.StatusFormIgnored, mpi.AnySource, mpi.AnyTag, 0, 1}, ownsFile, false)
		}
	case EvIoOperationComplete:
		status := received(mpi.AnySource, mpi.AnyTag, v[1])
		if x.c.call.Has(mpi.AttrCompletes) {
			x.done(v[2], status, ownsFile, false)
			return
		}
		x.f.give("status", status...)
	}
}

func (x *translation) opens(id uint32, access, creation, status uint64) {
	def := x.r.w.a.IoHandles[id]
	_, comm := x.r.comm(def.Comm)
	h := int64(x.r.filePool.Take()) + mpi.FirstUserHandleID
	x.r.files[id] = h
	mode := int64(modeReadWrite)
	switch access {
	case IoAccessReadOnly:
		mode = mpi.ModeReadOnly
	case IoAccessWriteOnly:
		mode = mpi.ModeWriteOnly
	}
	for _, b := range []struct{ of, bit, is uint64 }{
		{creation, 1 << 0, mpi.ModeCreate}, {creation, 1 << 3, mpi.ModeExclusive}, {status, 1 << 1, mpi.ModeAppend}, {status, 1 << 8, mpi.ModeDeleteOnClose},
	} {
		if b.of&b.bit != 0 {
			mode |= int64(b.is)
		}
	}
	name := x.r.w.a.String(x.r.w.a.Files[def.File])
	x.f.set("comm", comm)
	x.f.set("filename", x.r.out.AddString(name))
	x.f.set("amode", mode)
	x.f.give("fh", h)
}

// Constants of the standard ABI that nothing else needs.
const (
	lockShared    = 302
	seekSet       = 403
	modeReadWrite = 32
)
