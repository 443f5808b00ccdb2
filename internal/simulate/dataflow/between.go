package dataflow

import (
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// What Root of a call between two groups can be besides a member of the other one.
const (
	RootHere = -1 // this member
	RootNear = -2 // another one of its group
)

// An InterCollective is a call between two groups, in which Root counts the other one's members, or is one of the above. What
// there is to do within a group is a collective of that, and its member 0 talks to the other's: so do both MPICH
// and Open MPI.
type InterCollective struct {
	Collective
	Others int                  // members of the other group
	Other  func(member int) int // in the world
	First  bool                 // of two groups one goes first
}

const betweenShort = 2048 // bytes of a member: longer parts go to the root, or come from it, directly

// Decomposes reports whether Append takes a call apart; if not, Meet is for it.
func (b *InterCollective) Decomposes() bool {
	if b.Messages || max(b.Members, b.Others)-1 <= min(MaxCollectiveMembers, mostPairs/max(1, b.World)) {
		return true
	}
	switch b.Operation {
	case meaning.Barrier, meaning.Allreduce, meaning.Reduce:
		return true
	case meaning.Bcast:
		return b.bytes() < bcastLarge
	}
	return false
}

// Append appends what a member does, as Collective.Append.
func (b *InterCollective) Append(ops []Op, requests [2]int32) []Op {
	x := &between{b, ops, requests}
	f := betweens[b.Operation]
	if f != nil {
		f(x)
	}
	return x.ops
}

// Meet returns a call as a meeting, as Collective.Meet: with a formula for the time of the same algorithms. What
// one side alone has to do with, the others of the root's group have not.
func (b *InterCollective) Meet(l *machine.Level) Op {
	o := Op{Kind: Meet, Context: b.Context, Members: int32(b.Members + b.Others), Request: NoRequest, Time: b.time(l)}
	switch b.Operation {
	case meaning.Bcast, meaning.Scatter, meaning.Scatterv:
		o.Meeting = MeetFromRoot
	case meaning.Reduce, meaning.Gather, meaning.Gatherv:
		o.Meeting = MeetToRoot
	default:
		return o
	}
	switch {
	case b.Root == RootHere:
		o.Root, o.Members = true, int32(1+b.Others)
	case b.Root >= 0:
		o.Members = int32(1 + b.Members)
	default:
		o.Meeting, o.Members, o.Time = MeetNobody, 0, 0
	}
	return o
}

// time is how long a member takes if all begin the call together.
func (b *InterCollective) time(l *machine.Level) int64 {
	within := func(operation meaning.Operation, members int, bytes int64) int64 { // a group
		c := Collective{Operation: operation, Members: members, Me: 1, Sent: bytes, Received: bytes, Combine: b.Combine}
		if members < 2 {
			return 0
		}
		return c.time(l)
	}
	over := func(sent, received int64) int64 { // as between.over
		return messageTime(l, sent) + within(meaning.Bcast, b.Others, sent) + messageTime(l, received) + within(meaning.Bcast, b.Members, received)
	}
	here := b.Root == RootHere
	part := max(b.Sent, b.Received) // of a member
	if here {
		part /= int64(b.Others)
	}
	long := b.Operation == meaning.Gatherv || b.Operation == meaning.Scatterv || part >= betweenShort
	switch b.Operation {
	case meaning.Bcast:
		if here {
			return messageTime(l, b.bytes())
		}
		return messageTime(l, b.bytes()) + within(meaning.Bcast, b.Members, b.bytes())
	case meaning.Reduce:
		return within(meaning.Reduce, b.Members, b.Sent) + messageTime(l, b.Sent)
	case meaning.Allreduce:
		return within(meaning.Reduce, b.Members, b.Sent) + messageTime(l, b.Sent) + within(meaning.Bcast, b.Members, b.Sent)
	case meaning.Gather, meaning.Gatherv:
		if long {
			return within(meaning.Gatherv, b.Members+1, part)
		}
		return within(meaning.Gather, b.Members, part) + messageTime(l, part*int64(b.Members))
	case meaning.Scatter, meaning.Scatterv:
		switch {
		case here && long:
			return within(meaning.Scatterv, b.Others+1, part)
		case here:
			return messageTime(l, b.Sent)
		case long:
			return within(meaning.Scatterv, b.Members+1, part)
		}
		return messageTime(l, part*int64(b.Members)) + within(meaning.Scatter, b.Members, part)
	case meaning.Allgather:
		return within(meaning.Gather, b.Members, b.Sent) + over(b.Sent*int64(b.Members), b.Received)
	case meaning.Allgatherv:
		return within(meaning.Gatherv, b.Members+1, b.Sent) + within(meaning.Gatherv, b.Others+1, b.Received/int64(b.Others)) + within(meaning.Bcast, b.Members, b.Received)
	case meaning.Alltoall, meaning.Alltoallv, meaning.Alltoallw:
		return int64(max(b.Members, b.Others)) * messageTime(l, max(b.Sent, b.Received)/int64(b.Others))
	case meaning.ReduceScatter, meaning.ReduceScatterBlock:
		return within(meaning.Reduce, b.Members, b.Sent) + messageTime(l, b.Sent) + within(meaning.Scatterv, b.Members, b.Received)
	}
	return within(meaning.Barrier, b.Members, 0) + over(1, 1)
}

// a between writes down what one member does.
type between struct {
	*InterCollective
	ops      []Op
	requests [2]int32
}

var betweens = map[meaning.Operation]func(*between){
	meaning.Barrier: (*between).barrier, meaning.Bcast: (*between).bcast, meaning.Reduce: (*between).reduce, meaning.Allreduce: (*between).allreduce,
	meaning.Gather: (*between).gather, meaning.Gatherv: (*between).linear, meaning.Scatter: (*between).scatter, meaning.Scatterv: (*between).linear,
	meaning.Allgather: (*between).allgather, meaning.Allgatherv: (*between).allgatherv, meaning.Alltoall: (*between).alltoall, meaning.Alltoallv: (*between).alltoall, meaning.Alltoallw: (*between).alltoall,
	meaning.ReduceScatter: (*between).reduceScatter, meaning.ReduceScatterBlock: (*between).reduceScatter,
}

// near does a collective of the own group, whose root is member 0.
func (x *between) near(operation meaning.Operation, sent, received int64) {
	c := x.Collective
	c.Operation, c.Root, c.Sent, c.Received, c.SentTo, c.ReceivedFrom = operation, 0, sent, received, nil, nil
	x.ops = c.Append(x.ops, x.requests)
}

func (x *between) op(kind Kind, other int, bytes int64) {
	x.ops = append(x.ops, Op{Kind: kind, Peer: int32(x.Other(other)), Context: x.Context, Tag: x.Tag, Bytes: bytes, Request: NoRequest})
}

func (x *between) send(other int, bytes int64) { x.op(Send, other, bytes) }
func (x *between) receive(other int)           { x.op(Receive, other, 0) }

// exchange sends to one member of the other group and receives from one, at the same time; -1: none.
func (x *between) exchange(to, from int, bytes int64) {
	if from >= 0 {
		x.receive(from)
		x.ops[len(x.ops)-1].Request = x.requests[0]
	}
	if to >= 0 {
		x.send(to, bytes)
	}
	if from >= 0 {
		x.ops = append(x.ops, Op{Kind: Wait, Request: x.requests[0]})
	}
}

// over exchanges messages between the groups, the first group's first.
func (x *between) over(sent, received int64) {
	for _, turn := range []bool{true, false} {
		switch {
		case turn == x.First && x.Me == 0:
			x.send(0, sent)
		case turn != x.First:
			if x.Me == 0 {
				x.receive(0)
			}
			x.near(meaning.Bcast, received, received)
		}
	}
}

func (x *between) barrier() {
	x.near(meaning.Barrier, 0, 0)
	x.over(1, 1)
}

func (x *between) bcast() {
	switch {
	case x.Root == RootHere:
		x.send(0, x.bytes())
	case x.Root >= 0:
		if x.Me == 0 {
			x.receive(x.Root)
		}
		x.near(meaning.Bcast, x.bytes(), x.bytes())
	}
}

func (x *between) reduce() {
	switch {
	case x.Root == RootHere:
		x.receive(0)
	case x.Root >= 0:
		x.near(meaning.Reduce, x.Sent, 0)
		if x.Me == 0 {
			x.send(x.Root, x.Sent)
		}
	}
}

func (x *between) allreduce() {
	x.near(meaning.Reduce, x.Sent, 0)
	if x.Me == 0 {
		x.exchange(0, 0, x.Sent)
	}
	x.near(meaning.Bcast, x.Sent, x.Sent)
}

func (x *between) gather() {
	switch part := x.Sent; {
	case x.Root == RootHere && x.Received/int64(x.Others) < betweenShort:
		x.receive(0)
	case x.Root >= 0 && part < betweenShort:
		x.near(meaning.Gather, part, 0)
		if x.Me == 0 {
			x.send(x.Root, part*int64(x.Members))
		}
	default:
		x.linear()
	}
}

func (x *between) scatter() {
	switch part := x.Received; {
	case x.Root == RootHere && x.Sent/int64(x.Others) < betweenShort:
		x.send(0, x.Sent)
	case x.Root >= 0 && part < betweenShort:
		if x.Me == 0 {
			x.receive(x.Root)
		}
		x.near(meaning.Scatter, 0, part)
	default:
		x.linear()
	}
}

// linear has the root talk to all members of the other group.
func (x *between) linear() {
	out := x.Operation == meaning.Scatter || x.Operation == meaning.Scatterv
	switch {
	case x.Root == RootHere:
		for i := range x.Others {
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

// part is what goes to a member of the other group.
func (x *between) part(other int) int64 { return x.to(other, x.Sent/int64(x.Others)) }

func (x *between) allgather() {
	x.near(meaning.Gather, x.Sent, 0)
	x.over(x.Sent*int64(x.Members), x.Received)
}

// allgatherv gathers in the other group, as only that knows what comes from each.
func (x *between) allgatherv() {
	for _, turn := range []bool{true, false} {
		switch {
		case turn == x.First:
			x.send(0, x.Sent)
		case x.Me == 0:
			for i := range x.Others {
				x.receive(i)
			}
		}
	}
	x.near(meaning.Bcast, x.Received, x.Received)
}

// alltoall iterates over the larger group: in each step each member sends to one of the other group and receives from
// one, if that has enough members.
func (x *between) alltoall() {
	n := max(x.Members, x.Others)
	for i := range n {
		to, from := (x.Me+i)%n, (x.Me-i+n)%n
		if to >= x.Others {
			to = -1
		}
		if from >= x.Others {
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
	x.near(meaning.Reduce, x.Sent, 0)
	if x.Me == 0 {
		x.exchange(0, 0, x.Sent)
	}
	x.near(meaning.Scatterv, x.Received*int64(x.Members), x.Received)
}
