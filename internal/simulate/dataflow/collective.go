// Collective calls are decomposed into messages as MPI libraries do it, with algorithms chosen by size and number of
// ranks. They are those of Thakur, Rabenseifner and Gropp (IJHPCA 19, 2005), with the switching points of MPICH or
// Open MPI. If there would be too many messages, or a call is nonblocking, a formula gives the time instead.

package dataflow

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// A Collective is what one member of a communicator, the own member, does in a collective.
type Collective struct {
	Operation                meaning.CollectiveOperation
	Members                  int
	OwnMember, Root          int                  // numbers in the communicator, from 0
	WorldRankOf              func(member int) int // returns a member's rank in the world
	Context                  int32
	Tag                      int64    // tag of the messages
	SentBytes, ReceivedBytes int64    // bytes that the own member passes, and that it gets
	BytesToMember            []uint64 // bytes passed to each member; nil: the same for all
	BytesFromMember          []uint64
	UseOpenMPIAlgorithms     bool    // use Open MPI's algorithms; else MPICH's
	WorldSize                int     // number of ranks of the run
	AlwaysAsMessages         bool    // decompose a blocking call however many messages it has
	CombinePsPerByte         float64 // ps to combine one byte of an operand in a reduction
}

// MaxDecomposedMembers is the largest number of members that one member sends to in a call that is decomposed into
// messages. mostPairs limits the number of such pairs over all ranks of a run.
const (
	MaxDecomposedMembers = 256
	mostPairs            = 1 << 20
)

// Sizes from which MPICH uses another algorithm, in bytes of the whole data unless stated otherwise.
const (
	bcastLarge     = 12288
	reduceLarge    = 2048
	allgatherLarge = 81920
	alltoallSmall  = 256 // bytes of a block: up to this size, all-to-alls of many members use Bruck's algorithm
	// Number of members, not bytes: with fewer, broadcasts and small all-to-alls use the simple algorithm.
	manyMembers = 8
)

// HasCollectiveModel reports whether a Collective of an operation can be simulated.
func HasCollectiveModel(o meaning.CollectiveOperation) bool { _, ok := generators[o]; return ok }

// AppendOps appends the operations of the own member in a blocking call. requests are two request numbers that the
// call may use.
func (c *Collective) AppendOps(ops []Op, requests [2]int32) []Op {
	g := &generator{Collective: c, ops: ops, requests: requests}
	f := generators[c.Operation]
	if open := openmpi[c.Operation]; c.UseOpenMPIAlgorithms && open != nil {
		f = open
	}
	if c.Members > 1 && f != nil {
		f(g)
	}
	return g.ops
}

// Decomposes reports whether AppendOps decomposes the call into messages. Otherwise MeetOp gives its operation.
func (c *Collective) Decomposes() bool {
	if c.AlwaysAsMessages || c.Members-1 <= min(MaxDecomposedMembers, mostPairs/max(1, c.WorldSize)) {
		return true
	}
	if c.UseOpenMPIAlgorithms {
		switch c.Operation {
		case meaning.CollectiveAllreduce:
			return c.SentBytes < openAllreduceRing
		case meaning.CollectiveBcast:
			return c.bytes() < openBcastSmall
		case meaning.CollectiveAllgather:
			return c.ReceivedBytes < openAllgatherLarge
		case meaning.CollectiveGather, meaning.CollectiveScatter:
			return false
		case meaning.CollectiveAlltoall:
			return c.SentBytes/int64(c.Members) < openAlltoallBruck
		}
	}
	switch c.Operation {
	case meaning.CollectiveBarrier, meaning.CollectiveAllreduce, meaning.CollectiveReduce, meaning.CollectiveScan, meaning.CollectiveExscan, meaning.CollectiveGather, meaning.CollectiveScatter:
		return true
	case meaning.CollectiveBcast:
		return c.bytes() < bcastLarge
	case meaning.CollectiveAllgather, meaning.CollectiveAllgatherv:
		return c.ReceivedBytes < allgatherLarge
	case meaning.CollectiveAlltoall:
		return c.SentBytes/int64(c.Members) <= alltoallSmall
	}
	return false
}

// MeetOp returns the call as one OpMeet. A formula gives the time of the algorithms that AppendOps uses, with all
// messages on one network level.
func (c *Collective) MeetOp(l *machine.NetworkLevel) Op {
	o := Op{Kind: OpMeet, Context: c.Context, Members: int32(c.Members), Request: NoRequest, IsRoot: c.OwnMember == c.Root}
	switch c.Operation {
	case meaning.CollectiveBcast, meaning.CollectiveScatter, meaning.CollectiveScatterv:
		o.WaitPattern = WaitForRoot
	case meaning.CollectiveReduce, meaning.CollectiveGather, meaning.CollectiveGatherv:
		o.WaitPattern = RootWaitsForAll
	}
	if c.Members > 1 {
		o.TimePs = c.time(l)
	}
	return o
}

// TableKeys returns the keys under which a machine's tables of measured collectives have the call, for a communicator
// within a network level. Operations such as Allgatherv use the table of Allgather.
func (c *Collective) TableKeys(l *machine.NetworkLevel) (table meaning.CollectiveOperation, level *machine.NetworkLevel, members int, bytes int64) {
	table = c.Operation
	switch table {
	case meaning.CollectiveAllgatherv:
		table = meaning.CollectiveAllgather
	case meaning.CollectiveAlltoallv, meaning.CollectiveAlltoallw:
		table = meaning.CollectiveAlltoall
	case meaning.CollectiveReduceScatterBlock:
		table = meaning.CollectiveReduceScatter
	}
	bytes = c.bytes()
	// For Allgatherv, bytes is the mean size of a part.
	if c.Operation == meaning.CollectiveAllgatherv && c.Members > 0 {
		bytes = c.ReceivedBytes / int64(c.Members)
	}
	return table, l, c.Members, bytes
}

// time returns how many ps a call takes if all members begin it at the same time.
func (c *Collective) time(l *machine.NetworkLevel) int64 {
	n := int64(c.Members)
	steps := int64(bits.Len64(uint64(n - 1)))
	message := func(bytes int64) int64 { return messageTime(l, bytes) }
	combine := func(bytes int64) int64 { return int64(c.CombinePsPerByte * float64(bytes)) }
	tree := func(bytes int64) int64 { return steps * message(bytes) }
	ring := func(block int64) int64 { return (n - 1) * message(block) }
	b := c.bytes()
	switch c.Operation {
	case meaning.CollectiveBcast:
		if b < bcastLarge || n < manyMembers {
			return tree(b)
		}
		return steps*message(0) + message(b) + ring(b/n)
	case meaning.CollectiveScan, meaning.CollectiveExscan:
		return tree(b) + steps*combine(b)
	case meaning.CollectiveReduce, meaning.CollectiveAllreduce:
		if b <= reduceLarge || n < 4 {
			return tree(b) + steps*combine(b)
		}
		return 2*steps*message(0) + 2*message(b) + combine(b)
	case meaning.CollectiveAllgather, meaning.CollectiveAllgatherv:
		if c.ReceivedBytes < allgatherLarge {
			return steps*message(0) + message(c.ReceivedBytes)
		}
		return ring(c.ReceivedBytes / n)
	case meaning.CollectiveGather, meaning.CollectiveScatter:
		return steps*message(0) + message(b*(n-1))
	case meaning.CollectiveGatherv:
		if b > l.EagerLimitBytes { // large messages go one after the other
			return ring(b)
		}
		return message(b) + (n-2)*l.ReceiveOverheadPs
	case meaning.CollectiveScatterv:
		return message(b) + (n-2)*max(l.MinGapPs, l.SenderBusyTimePs(b, b > l.EagerLimitBytes))
	case meaning.CollectiveAlltoall, meaning.CollectiveAlltoallv, meaning.CollectiveAlltoallw:
		block := max(c.SentBytes, c.ReceivedBytes) / n
		if c.Operation == meaning.CollectiveAlltoall && block <= alltoallSmall && n >= manyMembers {
			return tree(block * n / 2)
		}
		return ring(block)
	case meaning.CollectiveReduceScatter, meaning.CollectiveReduceScatterBlock:
		return steps*message(0) + message(b) + combine(b)
	}
	return tree(0)
}

// messageTime returns how many ps one message takes.
func messageTime(l *machine.NetworkLevel, bytes int64) int64 {
	if bytes > l.EagerLimitBytes {
		return l.RendezvousTimePs(bytes)
	}
	return l.EagerTimePs(bytes)
}

// bytes returns the size by which algorithms are chosen. It is the same for all members: the bytes that a member
// passes, or gets from a root.
func (c *Collective) bytes() int64 {
	switch c.Operation {
	case meaning.CollectiveBcast:
		return max(c.SentBytes, c.ReceivedBytes)
	case meaning.CollectiveScatter:
		return c.ReceivedBytes
	case meaning.CollectiveScatterv:
		if c.OwnMember == c.Root {
			return c.SentBytes / int64(c.Members)
		}
		return c.ReceivedBytes
	}
	return c.SentBytes
}

// A meetingKey identifies a meeting: its context, and how many meetings that context had before.
type meetingKey struct {
	context int32
	number  uint32
}

// An openCollective is a collective that some members have entered and that is not decomposed into messages.
type openCollective struct {
	entered    int32
	last, time int64 // last: time when the latest member so far arrived; time: largest TimePs of a member so far; in ps
	root       int64 // time when the root arrived, in ps; valid if rooted
	rooted     bool
	waiting    []int32

	lastHop, rootHop *hop // hops before the latest member and the root arrived, if a critical path is wanted
	lastAt, rootAt   int32
}

// A participation is a member's part in a nonblocking collective, which a later wait completes.
type participation struct {
	*openCollective
	op      Op
	entered int64
	hop     *hop  // last hop of the member's rank when it began the collective
	late    *late // for an operation that waits for no rank; the other fields are not set then
}

// next returns how many meetings of o's context rank x has entered before. A rank that represents others may have
// several slots for one context, which count separately.
func (e *engine) next(x *rank, o *Op) (before uint32) {
	by := o.Context
	if x.visits != nil {
		if by = o.OperandsIndex; by < e.columns {
			n := &e.met[int(by)*len(e.ranks)+int(x.number)]
			before, *n = *n, *n+1
			return before
		}
	}
	for i := range x.met {
		if x.met[i].context == by {
			x.met[i].number++
			return x.met[i].number
		}
	}
	x.met = append(x.met, meetingKey{by, 0})
	return 0
}

// enter lets a rank arrive at the next meeting of a context; it returns nil if the rank takes no part.
func (e *engine) enter(x *rank, o *Op) *openCollective {
	context, weight := o.Context, int32(1) // weight: number of ranks that rank x represents in this context
	if x.visits != nil {
		if context = e.slot(x, o.OperandsIndex); e.lumped && x.weights != nil {
			weight = x.weights[o.OperandsIndex]
		}
	}
	k := meetingKey{context, uint32(o.MatchIndex - 1)}
	if o.MatchIndex == 0 {
		k.number = e.next(x, o)
	}
	if o.WaitPattern == UninvolvedMember {
		return nil
	}
	m := e.meetings[k]
	if m == nil {
		m = &openCollective{last: -1}
		e.meetings[k] = m
	}
	m.entered += weight
	if x.now > m.last {
		if m.last, m.lastAt = x.now, x.number; e.noting {
			m.lastHop = x.hop
		}
	}
	m.time = max(m.time, o.TimePs)
	if o.IsRoot {
		if m.root, m.rooted, m.rootAt = x.now, true, x.number; e.noting {
			m.rootHop = x.hop
		}
	}
	if m.entered == o.Members {
		delete(e.meetings, k)
	}
	if m.entered == o.Members || o.IsRoot {
		e.ready = append(e.ready, m.waiting...)
		m.waiting = m.waiting[:0]
	}
	return m
}

// leave completes a meeting for rank r, which entered it at a time, with last hop came. It returns false if the rank
// must wait for others.
func (e *engine) leave(r int32, x *rank, m *openCollective, o *Op, entered int64, came *hop) bool {
	if e.noting && o.Request == NoRequest {
		came = x.hop
	}
	switch {
	case o.WaitPattern == WaitForRoot && !o.IsRoot:
		if !m.rooted {
			m.waiting = append(m.waiting, r)
			return false
		}
		if e.until(x, o.CallIndex, max(entered, m.root)+o.TimePs, m.root) && e.noting {
			if m.root > entered {
				x.jump(m.rootHop, m.rootAt, m.root)
			} else {
				x.jump(came, x.number, entered)
			}
		}
	case o.WaitPattern == WaitForAll, o.IsRoot && o.WaitPattern == RootWaitsForAll:
		if m.entered < o.Members {
			m.waiting = append(m.waiting, r)
			return false
		}
		if e.until(x, o.CallIndex, m.last+m.time, m.last) && e.noting {
			x.jump(m.lastHop, m.lastAt, m.last)
		}
	default:
		if e.until(x, o.CallIndex, entered+o.TimePs, entered) && e.noting {
			x.jump(came, x.number, entered)
		}
	}
	return true
}
