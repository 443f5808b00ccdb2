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
	OtherGroupSize int                  // number of members of the other group
	OtherWorldRank func(member int) int // returns the world rank of a member of the other group
	GoesFirst      bool                 // the own group sends first, where the groups send one after the other
}

const betweenShort = 2048 // bytes for each member; longer parts are sent directly between the members and the root

// Decomposes reports whether AppendOps decomposes the call into messages. Otherwise MeetOp gives its operation.
func (b *InterCollective) Decomposes() bool {
	if b.AlwaysAsMessages || max(b.Members, b.OtherGroupSize)-1 <= min(MaxCollectiveMembers, mostPairs/max(1, b.WorldSize)) {
		return true
	}
	switch b.Operation {
	case meaning.OperationBarrier, meaning.OperationAllreduce, meaning.OperationReduce:
		return true
	case meaning.OperationBcast:
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
	case meaning.OperationBcast, meaning.OperationScatter, meaning.OperationScatterv:
		o.Meeting = MeetFromRoot
	case meaning.OperationReduce, meaning.OperationGather, meaning.OperationGatherv:
		o.Meeting = MeetToRoot
	default:
		return o
	}
	switch {
	case b.Root == RootThisMember:
		o.IsRoot, o.Members = true, int32(1+b.OtherGroupSize)
	case b.Root >= 0:
		o.Members = int32(1 + b.Members)
	default:
		o.Meeting, o.Members, o.TimePs = MeetNobody, 0, 0
	}
	return o
}

// time returns how many ps the own member takes if all begin the call at the same time.
func (b *InterCollective) time(l *machine.NetworkLevel) int64 {
	// within returns the ps of a collective of one group.
	within := func(operation meaning.Operation, members int, bytes int64) int64 {
		c := Collective{Operation: operation, Members: members, OwnMember: 1, Sent: bytes, Received: bytes, CombinePsPerByte: b.CombinePsPerByte}
		if members < 2 {
			return 0
		}
		return c.time(l)
	}
	// over returns the ps of what between.over generates.
	over := func(sent, received int64) int64 {
		return messageTime(l, sent) + within(meaning.OperationBcast, b.OtherGroupSize, sent) + messageTime(l, received) + within(meaning.OperationBcast, b.Members, received)
	}
	here := b.Root == RootThisMember
	part := max(b.Sent, b.Received) // bytes of one member
	if here {
		part /= int64(b.OtherGroupSize)
	}
	long := b.Operation == meaning.OperationGatherv || b.Operation == meaning.OperationScatterv || part >= betweenShort
	switch b.Operation {
	case meaning.OperationBcast:
		if here {
			return messageTime(l, b.bytes())
		}
		return messageTime(l, b.bytes()) + within(meaning.OperationBcast, b.Members, b.bytes())
	case meaning.OperationReduce:
		return within(meaning.OperationReduce, b.Members, b.Sent) + messageTime(l, b.Sent)
	case meaning.OperationAllreduce:
		return within(meaning.OperationReduce, b.Members, b.Sent) + messageTime(l, b.Sent) + within(meaning.OperationBcast, b.Members, b.Sent)
	case meaning.OperationGather, meaning.OperationGatherv:
		if long {
			return within(meaning.OperationGatherv, b.Members+1, part)
		}
		return within(meaning.OperationGather, b.Members, part) + messageTime(l, part*int64(b.Members))
	case meaning.OperationScatter, meaning.OperationScatterv:
		switch {
		case here && long:
			return within(meaning.OperationScatterv, b.OtherGroupSize+1, part)
		case here:
			return messageTime(l, b.Sent)
		case long:
			return within(meaning.OperationScatterv, b.Members+1, part)
		}
		return messageTime(l, part*int64(b.Members)) + within(meaning.OperationScatter, b.Members, part)
	case meaning.OperationAllgather:
		return within(meaning.OperationGather, b.Members, b.Sent) + over(b.Sent*int64(b.Members), b.Received)
	case meaning.OperationAllgatherv:
		return within(meaning.OperationGatherv, b.Members+1, b.Sent) + within(meaning.OperationGatherv, b.OtherGroupSize+1, b.Received/int64(b.OtherGroupSize)) + within(meaning.OperationBcast, b.Members, b.Received)
	case meaning.OperationAlltoall, meaning.OperationAlltoallv, meaning.OperationAlltoallw:
		return int64(max(b.Members, b.OtherGroupSize)) * messageTime(l, max(b.Sent, b.Received)/int64(b.OtherGroupSize))
	case meaning.OperationReduceScatter, meaning.OperationReduceScatterBlock:
		return within(meaning.OperationReduce, b.Members, b.Sent) + messageTime(l, b.Sent) + within(meaning.OperationScatterv, b.Members, b.Received)
	}
	return within(meaning.OperationBarrier, b.Members, 0) + over(1, 1)
}

// A between generates the operations of one member in an InterCollective.
type between struct {
	*InterCollective
	ops      []Op
	requests [2]int32
}

var betweens = map[meaning.Operation]func(*between){
	meaning.OperationBarrier: (*between).barrier, meaning.OperationBcast: (*between).bcast, meaning.OperationReduce: (*between).reduce, meaning.OperationAllreduce: (*between).allreduce,
	meaning.OperationGather: (*between).gather, meaning.OperationGatherv: (*between).linear, meaning.OperationScatter: (*between).scatter, meaning.OperationScatterv: (*between).linear,
	meaning.OperationAllgather: (*between).allgather, meaning.OperationAllgatherv: (*between).allgatherv, meaning.OperationAlltoall: (*between).alltoall, meaning.OperationAlltoallv: (*between).alltoall, meaning.OperationAlltoallw: (*between).alltoall,
	meaning.OperationReduceScatter: (*between).reduceScatter, meaning.OperationReduceScatterBlock: (*between).reduceScatter,
}

// near generates a collective of the own group, with member 0 as root. sent and received are its bytes.
func (x *between) near(operation meaning.Operation, sent, received int64) {
	c := x.Collective
	c.Operation, c.Root, c.Sent, c.Received, c.SentTo, c.ReceivedFrom = operation, 0, sent, received, nil, nil
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

// over has member 0 of each group send to the other's, which broadcasts in its group. The group with GoesFirst sends
// first.
func (x *between) over(sent, received int64) {
	for _, turn := range []bool{true, false} {
		switch {
		case turn == x.GoesFirst && x.OwnMember == 0:
			x.send(0, sent)
		case turn != x.GoesFirst:
			if x.OwnMember == 0 {
				x.receive(0)
			}
			x.near(meaning.OperationBcast, received, received)
		}
	}
}

func (x *between) barrier() {
	x.near(meaning.OperationBarrier, 0, 0)
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
		x.near(meaning.OperationBcast, x.bytes(), x.bytes())
	}
}

func (x *between) reduce() {
	switch {
	case x.Root == RootThisMember:
		x.receive(0)
	case x.Root >= 0:
		x.near(meaning.OperationReduce, x.Sent, 0)
		if x.OwnMember == 0 {
			x.send(x.Root, x.Sent)
		}
	}
}

func (x *between) allreduce() {
	x.near(meaning.OperationReduce, x.Sent, 0)
	if x.OwnMember == 0 {
		x.exchange(0, 0, x.Sent)
	}
	x.near(meaning.OperationBcast, x.Sent, x.Sent)
}

func (x *between) gather() {
	switch part := x.Sent; {
	case x.Root == RootThisMember && x.Received/int64(x.OtherGroupSize) < betweenShort:
		x.receive(0)
	case x.Root >= 0 && part < betweenShort:
		x.near(meaning.OperationGather, part, 0)
		if x.OwnMember == 0 {
			x.send(x.Root, part*int64(x.Members))
		}
	default:
		x.linear()
	}
}

func (x *between) scatter() {
	switch part := x.Received; {
	case x.Root == RootThisMember && x.Sent/int64(x.OtherGroupSize) < betweenShort:
		x.send(0, x.Sent)
	case x.Root >= 0 && part < betweenShort:
		if x.OwnMember == 0 {
			x.receive(x.Root)
		}
		x.near(meaning.OperationScatter, 0, part)
	default:
		x.linear()
	}
}

// linear has the root send one message to each member of the other group, or receive one from each.
func (x *between) linear() {
	out := x.Operation == meaning.OperationScatter || x.Operation == meaning.OperationScatterv
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
		x.send(x.Root, x.Sent)
	}
}

// part returns the bytes that the own member passes to a member of the other group.
func (x *between) part(other int) int64 { return x.to(other, x.Sent/int64(x.OtherGroupSize)) }

func (x *between) allgather() {
	x.near(meaning.OperationGather, x.Sent, 0)
	x.over(x.Sent*int64(x.Members), x.Received)
}

// allgatherv has each member send to member 0 of the other group, which then broadcasts in its group. Only the
// receiving group knows how much comes from each member.
func (x *between) allgatherv() {
	for _, turn := range []bool{true, false} {
		switch {
		case turn == x.GoesFirst:
			x.send(0, x.Sent)
		case x.OwnMember == 0:
			for i := range x.OtherGroupSize {
				x.receive(i)
			}
		}
	}
	x.near(meaning.OperationBcast, x.Received, x.Received)
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
	x.near(meaning.OperationReduce, x.Sent, 0)
	if x.OwnMember == 0 {
		x.exchange(0, 0, x.Sent)
	}
	x.near(meaning.OperationScatterv, x.Received*int64(x.Members), x.Received)
}
