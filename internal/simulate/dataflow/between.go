package dataflow

import (
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// Values of InterCollective.Root if the root is no member of the other group.
const (
	RootThisMember = -1 // the own member is the root
	RootOwnGroup   = -2 // another member of the own group is the root
)

// An InterCollective is a collective of an intercommunicator. Root is a member of the other group, RootThisMember or
// RootOwnGroup. Work within a group is a collective of that group, and the members 0 of both groups exchange data:
// MPICH and Open MPI do so, too.
type InterCollective struct {
	Collective
	OtherGroupSize     int                  // number of members of the other group
	OtherWorldRank     func(member int) int // returns the world rank of a member of the other group
	OwnGroupSendsFirst bool                 // the own group sends first, where the groups send one after the other
}

const betweenShort = 2048 // bytes for each member; longer parts are sent directly between the members and the root

// Decomposes reports whether AppendOps decomposes the call into messages. Otherwise MeetOp gives its operation.
func (b *InterCollective) Decomposes() bool {
	if b.AlwaysAsMessages || max(b.Members, b.OtherGroupSize)-1 <= min(MaxDecomposedMembers, mostPairs/max(1, b.WorldSize)) {
		return true
	}
	switch b.Operation {
	case meaning.CollectiveBarrier, meaning.CollectiveAllreduce, meaning.CollectiveReduce:
		return true
	case meaning.CollectiveBcast:
		return b.bytes() < bcastLarge
	}
	return false
}

// AppendOps appends the operations of the own member, as Collective.AppendOps does.
func (b *InterCollective) AppendOps(ops []Op, requests [2]int32) []Op {
	x := &between{b, ops, requests}
	f := betweens[b.Operation]
	if f != nil {
		f(x)
	}
	return x.ops
}

// MeetOp returns a call as a meeting, like Collective.MeetOp: its time is a formula for the same algorithms. Members
// of the root's group other than the root take no part.
func (b *InterCollective) MeetOp(l *machine.NetworkLevel) Op {
	o := Op{Kind: OpMeet, Context: b.Context, Members: int32(b.Members + b.OtherGroupSize), Request: NoRequest, TimePs: b.time(l)}
	switch b.Operation {
	case meaning.CollectiveBcast, meaning.CollectiveScatter, meaning.CollectiveScatterv:
		o.WaitPattern = WaitForRoot
	case meaning.CollectiveReduce, meaning.CollectiveGather, meaning.CollectiveGatherv:
		o.WaitPattern = RootWaitsForAll
	default:
		return o
	}
	switch {
	case b.Root == RootThisMember:
		o.IsRoot, o.Members = true, int32(1+b.OtherGroupSize)
	case b.Root >= 0:
		o.Members = int32(1 + b.Members)
	default:
		o.WaitPattern, o.Members, o.TimePs = UninvolvedMember, 0, 0
	}
	return o
}

// time returns how many ps the own member takes if all begin the call at the same time.
func (b *InterCollective) time(l *machine.NetworkLevel) int64 {
	// within returns the ps of a collective of one group.
	within := func(operation meaning.CollectiveOperation, members int, bytes int64) int64 {
		c := Collective{Operation: operation, Members: members, OwnMember: 1, SentBytes: bytes, ReceivedBytes: bytes, CombinePsPerByte: b.CombinePsPerByte}
		if members < 2 {
			return 0
		}
		return c.time(l)
	}
	// over returns the ps of what between.over generates.
	over := func(sent, received int64) int64 {
		return messageTime(l, sent) + within(meaning.CollectiveBcast, b.OtherGroupSize, sent) + messageTime(l, received) + within(meaning.CollectiveBcast, b.Members, received)
	}
	here := b.Root == RootThisMember
	part := max(b.SentBytes, b.ReceivedBytes) // bytes of one member
	if here {
		part /= int64(b.OtherGroupSize)
	}
	long := b.Operation == meaning.CollectiveGatherv || b.Operation == meaning.CollectiveScatterv || part >= betweenShort
	switch b.Operation {
	case meaning.CollectiveBcast:
		if here {
			return messageTime(l, b.bytes())
		}
		return messageTime(l, b.bytes()) + within(meaning.CollectiveBcast, b.Members, b.bytes())
	case meaning.CollectiveReduce:
		return within(meaning.CollectiveReduce, b.Members, b.SentBytes) + messageTime(l, b.SentBytes)
	case meaning.CollectiveAllreduce:
		return within(meaning.CollectiveReduce, b.Members, b.SentBytes) + messageTime(l, b.SentBytes) + within(meaning.CollectiveBcast, b.Members, b.SentBytes)
	case meaning.CollectiveGather, meaning.CollectiveGatherv:
		if long {
			return within(meaning.CollectiveGatherv, b.Members+1, part)
		}
		return within(meaning.CollectiveGather, b.Members, part) + messageTime(l, part*int64(b.Members))
	case meaning.CollectiveScatter, meaning.CollectiveScatterv:
		switch {
		case here && long:
			return within(meaning.CollectiveScatterv, b.OtherGroupSize+1, part)
		case here:
			return messageTime(l, b.SentBytes)
		case long:
			return within(meaning.CollectiveScatterv, b.Members+1, part)
		}
		return messageTime(l, part*int64(b.Members)) + within(meaning.CollectiveScatter, b.Members, part)
	case meaning.CollectiveAllgather:
		return within(meaning.CollectiveGather, b.Members, b.SentBytes) + over(b.SentBytes*int64(b.Members), b.ReceivedBytes)
	case meaning.CollectiveAllgatherv:
		return within(meaning.CollectiveGatherv, b.Members+1, b.SentBytes) + within(meaning.CollectiveGatherv, b.OtherGroupSize+1, b.ReceivedBytes/int64(b.OtherGroupSize)) + within(meaning.CollectiveBcast, b.Members, b.ReceivedBytes)
	case meaning.CollectiveAlltoall, meaning.CollectiveAlltoallv, meaning.CollectiveAlltoallw:
		return int64(max(b.Members, b.OtherGroupSize)) * messageTime(l, max(b.SentBytes, b.ReceivedBytes)/int64(b.OtherGroupSize))
	case meaning.CollectiveReduceScatter, meaning.CollectiveReduceScatterBlock:
		return within(meaning.CollectiveReduce, b.Members, b.SentBytes) + messageTime(l, b.SentBytes) + within(meaning.CollectiveScatterv, b.Members, b.ReceivedBytes)
	}
	return within(meaning.CollectiveBarrier, b.Members, 0) + over(1, 1)
}

// A between generates the operations of one member in an InterCollective.
type between struct {
	*InterCollective
	ops      []Op
	requests [2]int32
}

var betweens = map[meaning.CollectiveOperation]func(*between){
	meaning.CollectiveBarrier: (*between).barrier, meaning.CollectiveBcast: (*between).bcast, meaning.CollectiveReduce: (*between).reduce, meaning.CollectiveAllreduce: (*between).allreduce,
	meaning.CollectiveGather: (*between).gather, meaning.CollectiveGatherv: (*between).linear, meaning.CollectiveScatter: (*between).scatter, meaning.CollectiveScatterv: (*between).linear,
	meaning.CollectiveAllgather: (*between).allgather, meaning.CollectiveAllgatherv: (*between).allgatherv, meaning.CollectiveAlltoall: (*between).alltoall, meaning.CollectiveAlltoallv: (*between).alltoall, meaning.CollectiveAlltoallw: (*between).alltoall,
	meaning.CollectiveReduceScatter: (*between).reduceScatter, meaning.CollectiveReduceScatterBlock: (*between).reduceScatter,
}

// near generates a collective of the own group, with member 0 as root. sent and received are its bytes.
func (x *between) near(operation meaning.CollectiveOperation, sent, received int64) {
	c := x.Collective
	c.Operation, c.Root, c.SentBytes, c.ReceivedBytes, c.BytesToMember, c.BytesFromMember = operation, 0, sent, received, nil, nil
	x.ops = c.AppendOps(x.ops, x.requests)
}

func (x *between) op(kind OpKind, other int, bytes int64) {
	x.ops = append(x.ops, Op{Kind: kind, Peer: int32(x.OtherWorldRank(other)), Context: x.Context, Tag: x.Tag, Bytes: bytes, Request: NoRequest})
}

func (x *between) send(other int, bytes int64) { x.op(OpSend, other, bytes) }
func (x *between) receive(other int)           { x.op(OpReceive, other, 0) }

// exchange sends bytes to one member of the other group and receives from one, at the same time. A member of -1 means
// none.
func (x *between) exchange(to, from int, bytes int64) {
	if from >= 0 {
		x.receive(from)
		x.ops[len(x.ops)-1].Request = x.requests[0]
	}
	if to >= 0 {
		x.send(to, bytes)
	}
	if from >= 0 {
		x.ops = append(x.ops, Op{Kind: OpWait, Request: x.requests[0]})
	}
}

// over has member 0 of each group send to the other's, which broadcasts in its group. The group with OwnGroupSendsFirst sends
// first.
func (x *between) over(sent, received int64) {
	for _, turn := range []bool{true, false} {
		switch {
		case turn == x.OwnGroupSendsFirst && x.OwnMember == 0:
			x.send(0, sent)
		case turn != x.OwnGroupSendsFirst:
			if x.OwnMember == 0 {
				x.receive(0)
			}
			x.near(meaning.CollectiveBcast, received, received)
		}
	}
}

func (x *between) barrier() {
	x.near(meaning.CollectiveBarrier, 0, 0)
	x.over(1, 1)
}

func (x *between) bcast() {
	switch {
	case x.Root == RootThisMember:
		x.send(0, x.bytes())
	case x.Root >= 0:
		if x.OwnMember == 0 {
			x.receive(x.Root)
		}
		x.near(meaning.CollectiveBcast, x.bytes(), x.bytes())
	}
}

func (x *between) reduce() {
	switch {
	case x.Root == RootThisMember:
		x.receive(0)
	case x.Root >= 0:
		x.near(meaning.CollectiveReduce, x.SentBytes, 0)
		if x.OwnMember == 0 {
			x.send(x.Root, x.SentBytes)
		}
	}
}

func (x *between) allreduce() {
	x.near(meaning.CollectiveReduce, x.SentBytes, 0)
	if x.OwnMember == 0 {
		x.exchange(0, 0, x.SentBytes)
	}
	x.near(meaning.CollectiveBcast, x.SentBytes, x.SentBytes)
}

func (x *between) gather() {
	switch part := x.SentBytes; {
	case x.Root == RootThisMember && x.ReceivedBytes/int64(x.OtherGroupSize) < betweenShort:
		x.receive(0)
	case x.Root >= 0 && part < betweenShort:
		x.near(meaning.CollectiveGather, part, 0)
		if x.OwnMember == 0 {
			x.send(x.Root, part*int64(x.Members))
		}
	default:
		x.linear()
	}
}

func (x *between) scatter() {
	switch part := x.ReceivedBytes; {
	case x.Root == RootThisMember && x.SentBytes/int64(x.OtherGroupSize) < betweenShort:
		x.send(0, x.SentBytes)
	case x.Root >= 0 && part < betweenShort:
		if x.OwnMember == 0 {
			x.receive(x.Root)
		}
		x.near(meaning.CollectiveScatter, 0, part)
	default:
		x.linear()
	}
}

// linear has the root send one message to each member of the other group, or receive one from each.
func (x *between) linear() {
	out := x.Operation == meaning.CollectiveScatter || x.Operation == meaning.CollectiveScatterv
	switch {
	case x.Root == RootThisMember:
		for i := range x.OtherGroupSize {
			if out {
				x.send(i, x.part(i))
			} else {
				x.receive(i)
			}
		}
	case x.Root >= 0 && out:
		x.receive(x.Root)
	case x.Root >= 0:
		x.send(x.Root, x.SentBytes)
	}
}

// part returns the bytes that the own member passes to a member of the other group.
func (x *between) part(other int) int64 { return x.to(other, x.SentBytes/int64(x.OtherGroupSize)) }

func (x *between) allgather() {
	x.near(meaning.CollectiveGather, x.SentBytes, 0)
	x.over(x.SentBytes*int64(x.Members), x.ReceivedBytes)
}

// allgatherv has each member send to member 0 of the other group, which then broadcasts in its group. Only the
// receiving group knows how much comes from each member.
func (x *between) allgatherv() {
	for _, turn := range []bool{true, false} {
		switch {
		case turn == x.OwnGroupSendsFirst:
			x.send(0, x.SentBytes)
		case x.OwnMember == 0:
			for i := range x.OtherGroupSize {
				x.receive(i)
			}
		}
	}
	x.near(meaning.CollectiveBcast, x.ReceivedBytes, x.ReceivedBytes)
}

// alltoall iterates over the larger group. In each step, each member sends to one member of the other group and
// receives from one, if that group has enough members.
func (x *between) alltoall() {
	n := max(x.Members, x.OtherGroupSize)
	for i := range n {
		to, from := (x.OwnMember+i)%n, (x.OwnMember-i+n)%n
		if to >= x.OtherGroupSize {
			to = -1
		}
		if from >= x.OtherGroupSize {
			from = -1
		}
		bytes := int64(0)
		if to >= 0 {
			bytes = x.part(to)
		}
		x.exchange(to, from, bytes)
	}
}

func (x *between) reduceScatter() {
	x.near(meaning.CollectiveReduce, x.SentBytes, 0)
	if x.OwnMember == 0 {
		x.exchange(0, 0, x.SentBytes)
	}
	x.near(meaning.CollectiveScatterv, x.ReceivedBytes*int64(x.Members), x.ReceivedBytes)
}
