package traced

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// polling is the largest gap, in ns, between calls of a loop that only polls. Longer gaps are computation.
const polling = 10_000

const (
	foundNothing = "calls that looked for something in vain, and what passed between them"
	switchedOff  = "time in which tracing was switched off"
)

// Enter adds the operations of the rank's next call.
func (w *writer) Enter(c *ops.Call) error {
	w.take(c)
	return w.hand(false)
}

func (w *writer) take(c *ops.Call) {
	if w.threads != nil {
		w.turn(c.Stream)
	}
	w.site = int32(c.Terminal)
	f := w.s.function(c.Func)
	if w.s.o.sizes {
		w.acts(f, c)
		return
	}
	gap, duration := w.times(c)
	w.duration = duration
	if w.threads != nil {
		gap = w.threads.before(w, c, gap)
	}
	if w.leaves == nil {
		w.s.ns += gap + duration
	}
	def := f.Call
	vain := ops.FoundNothing(c.Call)
	if w.looking && def.Has(mpi.AttrPolls) && gap <= polling {
		w.s.leave(foundNothing, 0, gap, false)
	} else {
		w.local(dataflow.OpCompute, w.s.computed((gap-w.s.gap)*w.s.factor(c.Rank)))
	}
	if w.threads != nil {
		w.threads.wait(w, c.Index)
	}
	if off := float64(c.Timing.TracingOffNs); off > 0 {
		w.s.ns += off
		w.s.leave(switchedOff, 1, off, true)
		w.local(dataflow.OpRecorded, int64(off*1000))
	}
	if w.s.o.OnEachCall != nil {
		w.add(dataflow.Op{Kind: dataflow.OpEnter})
		defer w.add(dataflow.Op{Kind: dataflow.OpLeave})
	}
	if w.looking = vain; vain {
		w.s.leave(foundNothing, 1, duration, false)
		return
	}
	if !w.acts(f, c) {
		switch w.kind(def, c) {
		case waitsLater:
		case local:
			w.local(dataflow.OpLocalCall, w.s.computed(duration-w.s.call))
		default:
			w.s.leave(c.Name(), 1, duration, true)
			w.local(dataflow.OpRecorded, recorded(duration))
		}
	}
}

// A function is what the simulation knows about an MPI function.
type function struct {
	*mpi.Call        // nil: the function is not in the standard
	base      string // name without prefix and variant (ops.BaseName), e.g. Bcast
	operation meaning.CollectiveOperation
	readies   bool // the function marks partitions of a send as ready
	passive   bool // the function locks a window, flushes it or the like (ops.IsPassiveTarget)
	splits    bool // the function makes communicators, and all members of an existing one call it
}

func (s *ProgramSource) function(f *trace.Function) *function {
	if int(f.ID) >= len(s.functions) {
		s.functions = append(s.functions, make([]*function, int(f.ID)+1-len(s.functions))...)
	}
	x := s.functions[f.ID]
	if x == nil {
		x = &function{base: ops.BaseName(f)}
		x.Call, _ = mpi.CallNamed(f.Name)
		x.operation = meaning.CollectiveOperationOf(x.Call)
		x.readies = x.Call != nil && !x.Has(mpi.AttrPolls) && slices.ContainsFunc([]string{"partition", "partition_low", "array_of_partitions"}, func(p string) bool { return x.Index(p) >= 0 })
		x.passive = ops.IsPassiveTarget(f)
		x.splits = f.Has(trace.AttrCreatesComm|trace.AttrCollective) && !f.Has(trace.AttrNonblocking)
		s.functions[f.ID] = x
	}
	return x
}

// A role is how the simulation treats a call for which it has no operation.
type role int

const (
	unknown    role = iota
	local           // the call waits for no rank
	waitsLater      // the call takes no time of its own: what it waits for, the next call waits for, too
)

func (w *writer) kind(def *mpi.Call, c *ops.Call) role {
	if def == nil || c.Return != 0 {
		return unknown
	}
	waiting := meaning.WaitBehaviourOf(def)
	switch {
	case waiting.Probes:
		return waitsLater
	case c.Func.Has(trace.AttrLocal) && !c.Func.Has(trace.AttrCollective), def.Has(mpi.AttrLocal) && !def.Has(mpi.AttrCollective):
		return local
	case waiting.Completes && len(c.Acts) == 0 && known(c.Call):
		return waitsLater // it completes no request that is simulated
	case c.Name() == "MPI_Comm_free", def.Has(mpi.AttrPersistent): // a persistent request transfers data only when it is started
		return local
	case w.s.function(c.Func).passive && !w.s.o.apart:
		return waitsLater // the waits for locks, if any, have operations of their own
	}
	if ops.OnlyProcNull(c.Call) {
		return local
	}
	return unknown
}

// known reports whether the trace has the creation of all requests that a call completes.
func known(c *trace.Call) bool {
	return !slices.ContainsFunc(ops.RequestsCompleted(c), func(x ops.Completion) bool { return x.Request.RequestForm == trace.RequestUnknown })
}

// acts adds the operations of a call; it returns false if the simulation has no model for the call.
func (w *writer) acts(f *function, c *ops.Call) (known bool) {
	if f.Call != nil && f.Has(mpi.AttrFinalises) && c.Return == 0 {
		w.finalize()
		return true
	}
	if f.splits && w.makesComm(c.Call) || f.readies && w.readies(c.Call) {
		return true
	}
	var out, in *ops.Operation
	for i := range c.Acts {
		a := &c.Acts[i]
		x := &a.Operation
		w.act, w.acting = i, len(c.Acts)
		switch a.Kind {
		case ops.ActSend:
			out, known = x, true
		case ops.ActRecv:
			in, known = x, true
		case ops.ActSendBegin:
			if x.PeerWorldRank() >= 0 {
				if !w.parts(c.Call, x) {
					w.begin(x.ID, w.send(x))
				}
				known = true
			}
		case ops.ActRecvBegin:
			known = w.post(x) || known
		case ops.ActWinLock:
			w.lock(x)
		case ops.ActRMAEndBySync:
			if t := w.turnOf(x); t != nil {
				w.wait(t)
			}
			known = w.end(x.ID) || known
		case ops.ActWinUnlock:
			w.unlock(x)
		case ops.ActSendEnd, ops.ActCollectiveEnd, ops.ActRMAEndByRequest, ops.ActReadEnd, ops.ActWriteEnd:
			known = w.end(x.ID) || known
		case ops.ActRecvEnd:
			known = w.got(x) || known
		case ops.ActTestedIncomplete:
			known = true
		case ops.ActCancelled:
			w.cancel(x.ID)
			known = true
		case ops.ActCollective:
			known = w.collective(x, false) || known
		case ops.ActCollectiveBegin:
			known = w.collective(x, true) || known
		case ops.ActPut, ops.ActGet, ops.ActAtomic:
			known = w.transfer(a) || known
		case ops.ActWinPost, ops.ActWinStart, ops.ActWinComplete, ops.ActWinWait:
			known = w.epoch(a) || known
		case ops.ActWinFence, ops.ActWindowFreed:
			known = w.synchronised(x.Comm, meaning.CollectiveBarrier, 0) || known
		case ops.ActWindowMade:
			known = w.synchronised(x.Comm, meaning.CollectiveAllgather, windowInfo) || known
		case ops.ActFileViewed:
			known = w.view(c.Call, x) || known
		case ops.ActFileOpened, ops.ActFileClosed, ops.ActFileDeleted, ops.ActFileSynced, ops.ActRead, ops.ActReadBegin, ops.ActWrite, ops.ActWriteBegin:
			known = w.file(a) || known
		}
	}
	if out != nil && out.PeerWorldRank() < 0 || in != nil && in.PeerWorldRank() < 0 {
		return false
	}
	switch {
	case out != nil && in != nil: // a send and a receive at the same time
		r, s := w.receive(in), w.send(out)
		r.Request, s.Request = 0, 1
		w.add(r)
		w.add(s)
		w.add(dataflow.Op{Kind: dataflow.OpWait, Request: 1})
		w.add(dataflow.Op{Kind: dataflow.OpWait})
	case out != nil:
		w.add(w.send(out))
	case in != nil:
		w.add(w.receive(in))
	}
	return known
}

// context returns the dataflow.Op.Context for messages of a communicator. Both sides of an intercommunicator have the
// same. Collectives have the next number.
func context(c *handles.Comm) int32 { return int32(2 * c.ChannelID()) }

// A commView is a communicator as one member has it.
type commView struct {
	me    int // own rank in the communicator; -1: some members are unknown
	level *machine.NetworkLevel
	rank  func(member int) int // returns a member's world rank
}

func (w *writer) group(c *handles.Comm) *commView {
	if w.comm == c {
		return w.ofComm
	}
	if g := w.groups[c]; g != nil {
		w.comm, w.ofComm = c, g
		return g
	}
	g := &commView{me: c.RankOf(w.k.Number()), level: w.s.level(c), rank: c.WorldRank}
	if g.level == nil {
		g.me = -1
	}
	if c.Number >= 0 {
		w.groups[c] = g
	}
	return g
}

// collective adds a collective call, nonblocking if begins is set. It returns false if there is no model for the
// call.
func (w *writer) collective(x *ops.Operation, begins bool) bool {
	if m := meaning.DataMovementOf(x.StartedBy.Name); m != nil && m.Pattern == meaning.PatternNeighbors {
		return w.exchange(x, begins)
	}
	operation := w.s.function(x.StartedBy).operation
	if !dataflow.HasCollectiveModel(operation) {
		return false
	}
	g := w.group(x.Comm)
	if g.me < 0 {
		return false
	}
	c := &w.call
	*c = w.inRun(dataflow.Collective{
		Operation: operation, Members: x.Comm.Size, OwnMember: g.me, Root: max(x.Root, 0), WorldRankOf: g.rank, Context: context(x.Comm) + 1,
		SentBytes: int64(min(x.SentBytes, 1<<50)), ReceivedBytes: int64(min(x.ReceivedBytes, 1<<50)), BytesToMember: x.PerMember.Out.BytesByMember, BytesFromMember: x.PerMember.In.BytesByMember,
	})
	if x.Comm.RemoteSize > 0 {
		return w.between(g, x, c, begins)
	}
	if t, ok := w.s.o.Machine.CollectiveTimePs(c.TableKeys(g.level)); ok && !w.s.o.apart {
		o := c.MeetOp(g.level)
		o.WaitPattern, o.TimePs = dataflow.WaitForAll, t
		w.meet(x.ID, o, begins)
		return true
	}
	w.together(c, c, g.level, x.ID, begins)
	return true
}

// A joint is a collective of one group (dataflow.Collective) or between two groups (dataflow.InterCollective).
type joint interface {
	Decomposes() bool
	AppendOps(ops []dataflow.Op, requests [2]int32) []dataflow.Op
	MeetOp(l *machine.NetworkLevel) dataflow.Op
}

// together adds a collective call: as a meeting, or as messages. With Options.apart, the messages of a nonblocking
// call are concurrent with the rank.
func (w *writer) together(call joint, c *dataflow.Collective, l *machine.NetworkLevel, id uint64, begins bool) {
	switch {
	// Several nonblocking collectives may be pending at a time, so each has a tag of its own.
	case w.s.o.apart && begins:
		w.numbers[c.Context]++
		c.Tag = w.numbers[c.Context]
		rank := w.k.Number()
		w.s.beside[rank] = append(w.s.beside[rank], call.AppendOps(nil, [2]int32{0, 1}))
		w.begin(id, dataflow.Op{Kind: dataflow.OpMeet})
	case !begins && call.Decomposes():
		w.steps(call)
	default:
		w.meet(id, call.MeetOp(l), begins)
	}
}

func (w *writer) meet(id uint64, o dataflow.Op, begins bool) {
	if begins {
		w.begin(id, o)
	} else {
		w.add(o)
	}
}

// between adds a collective of an intercommunicator, nonblocking if begins is set. It returns true, as there is a
// model.
func (w *writer) between(g *commView, x *ops.Operation, c *dataflow.Collective, begins bool) bool {
	b := dataflow.InterCollective{Collective: *c, OtherGroupSize: x.Comm.RemoteSize, OtherWorldRank: x.Comm.PeerWorldRank, OwnGroupSendsFirst: x.Comm.Remote == nil || x.Comm.Number < x.Comm.Remote.Number}
	switch x.Root {
	case ops.RootSelf:
		b.Root = dataflow.RootThisMember
	case ops.RootThisSide:
		b.Root = dataflow.RootOwnGroup
	}
	w.together(&b, &b.Collective, g.level, x.ID, begins)
	return true
}

// inRun returns a collective with the settings that are the same for the whole run.
func (w *writer) inRun(c dataflow.Collective) dataflow.Collective {
	o := &w.s.o
	c.WorldSize, c.CombinePsPerByte, c.UseOpenMPIAlgorithms, c.AlwaysAsMessages = w.s.r.Ranks(), o.Machine.CombinePsPerByte, o.Machine.CollectiveAlgorithms == machine.OpenMPIAlgorithms, o.CollectivesAsMessages || o.apart
	return c
}

// steps adds the messages of a collective to the current call.
func (w *writer) steps(c joint) {
	from := len(w.ops)
	w.ops = c.AppendOps(w.ops, [2]int32{0, 1})
	for i := range w.ops[from:] {
		w.ops[from+i].CallIndex, w.ops[from+i].Thread = w.site, w.thread
	}
}

// contextMask is the number of bytes that members combine to agree on a new communicator's number. memberKey is the
// number of bytes that each member of MPI_Comm_split contributes.
const (
	contextMask = 256
	memberKey   = 12
)

// makesComm adds the messages by which members agree on a new communicator's number. It returns false if members of
// the old one are unknown.
func (w *writer) makesComm(c *trace.Call) bool {
	if c.Param("remote_leader") != nil {
		return w.joins(c)
	}
	p := c.Param("comm")
	for _, name := range []string{"comm_old", "intercomm"} {
		if p == nil {
			p = c.Param(name)
		}
	}
	if p == nil || p.In.Type != trace.TypeHandle || c.Return != 0 || c.Param("tag") != nil {
		return false
	}
	parent := w.s.calls.Comms.At(c.Rank, c.Stream, c.Index, p.In.Num)
	if parent == nil || parent.RemoteSize > 0 && parent.Remote == nil {
		return false
	}
	g := w.group(parent)
	if g.me < 0 {
		return false
	}
	x := w.inRun(dataflow.Collective{Operation: meaning.CollectiveAllreduce, Members: parent.Size, OwnMember: g.me, WorldRankOf: parent.WorldRank, Context: context(parent) + 1, SentBytes: contextMask})
	if parent.RemoteSize > 0 {
		return w.between(g, &ops.Operation{Comm: parent}, &x, false)
	}
	w.steps(&x)
	if c.Param("color") != nil {
		x.Operation, x.SentBytes, x.ReceivedBytes = meaning.CollectiveAllgather, memberKey, memberKey*int64(parent.Size)
		w.together(&x, &x, g.level, 0, false)
	}
	return true
}

// joins adds a call of MPI_Intercomm_create. Each group agrees on a number. The leaders exchange their members' ids,
// and send them to all members of their group.
func (w *writer) joins(c *trace.Call) bool {
	at := func(name string) *handles.Comm {
		return w.s.calls.Comms.At(c.Rank, c.Stream, c.Index, c.Param(name).In.Num)
	}
	local := at("local_comm")
	if local == nil || local.RemoteSize > 0 || c.Return != 0 {
		return false
	}
	g := w.group(local)
	if g.me < 0 {
		return false
	}
	x := w.inRun(dataflow.Collective{Operation: meaning.CollectiveAllreduce, Members: local.Size, OwnMember: g.me, WorldRankOf: local.WorldRank, Context: context(local) + 1, SentBytes: contextMask})
	w.steps(&x)
	leader := int(c.Param("local_leader").In.Num)
	if leader == g.me {
		w.meetsLeader(c, at("peer_comm"), int64(local.Size)*memberID)
	}
	x.Operation, x.Root = meaning.CollectiveBcast, leader
	if c.NewComm != nil {
		x.SentBytes = int64(c.NewComm.RemoteSize) * memberID
		x.ReceivedBytes = x.SentBytes
	}
	w.steps(&x)
	return true
}

// meetsLeader adds the messages of the given bytes between the leaders of two groups, if both are known.
func (w *writer) meetsLeader(c *trace.Call, comm *handles.Comm, bytes int64) {
	if comm == nil || comm.PeerWorldRank(int(c.Param("remote_leader").In.Num)) < 0 {
		return
	}
	o := dataflow.Op{Kind: dataflow.OpReceive, Peer: int32(comm.PeerWorldRank(int(c.Param("remote_leader").In.Num))), Context: context(comm) + 1, Tag: joining - c.Param("tag").In.Num}
	w.add(o)
	o.Kind, o.Bytes, o.Request = dataflow.OpSend, bytes, dataflow.NoRequest
	w.add(o)
	w.add(dataflow.Op{Kind: dataflow.OpWait})
}

// memberID is the number of bytes for each member in the messages between leaders. The tags of these messages are
// joining minus the call's tag: messages of collectives have no negative tags, and those of windows are larger than
// joining.
const (
	memberID = 4
	joining  = -1 << 40
)

// finalize adds the end of the run, at which all ranks wait for each other.
func (w *writer) finalize() {
	if w.threads != nil {
		w.threads.finalize(w)
	}
	world := w.s.calls.Comms.World()
	c := dataflow.Collective{Operation: meaning.CollectiveBarrier, Members: w.s.r.Ranks(), OwnMember: w.k.Number(), Root: -1, WorldRankOf: world.WorldRank, Context: math.MinInt32}
	if w.s.o.apart {
		w.steps(&c)
		return
	}
	w.add(c.MeetOp(w.group(world).level))
}

// exchange adds a neighbourhood collective, nonblocking if begins is set: a message along each edge of the topology.
// It returns false if the edges aren't known.
func (w *writer) exchange(x *ops.Operation, begins bool) bool {
	g := w.group(x.Comm)
	n := x.Neighbours
	if g.me < 0 || n == nil {
		return false
	}
	m := meaning.DataMovementOf(x.StartedBy.Name)
	same := m != nil && m.Out != nil && m.Out.Comm == "" // each neighbour gets the same data
	bytes := func(i int) uint64 {
		switch {
		case i < len(x.PerMember.Out.BytesByMember):
			return x.PerMember.Out.BytesByMember[i]
		case same:
			return x.SentBytes
		}
		return x.SentBytes / uint64(len(n.Destinations))
	}
	var numbers []int32
	message := dataflow.Op{Context: context(x.Comm) + 1}
	// Other nonblocking collectives may be pending, so each has a tag of its own.
	if begins {
		w.numbers[message.Context]++
		message.Tag = w.numbers[message.Context]
	}
	add := func(kind dataflow.OpKind, peer int, bytes uint64) {
		if peer < 0 || peer >= x.Comm.Size || x.Comm.WorldRank(peer) < 0 {
			return
		}
		o := message
		o.Kind, o.Peer, o.Bytes, o.Request = kind, int32(x.Comm.WorldRank(peer)), int64(min(bytes, 1<<50)), w.number()
		numbers = append(numbers, o.Request)
		w.add(o)
	}
	for _, peer := range n.Sources {
		add(dataflow.OpReceive, peer, 0)
	}
	for i, peer := range n.Destinations {
		add(dataflow.OpSend, peer, bytes(i))
	}
	if begins {
		w.bundles[x.ID] = numbers
		return true
	}
	w.endAll(numbers)
	return true
}

// endAll adds waits for the requests with some numbers.
func (w *writer) endAll(numbers []int32) {
	for _, n := range numbers {
		w.add(dataflow.Op{Kind: dataflow.OpWait, Request: n})
	}
	w.spare = slices.Concat(w.spare, numbers)
}
