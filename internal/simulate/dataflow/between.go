package dataflow

import (
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// What Root of a call between two groups can be besides a member of the other one.
const (
	RootHere = -1 // this member
	RootNear = -2 // another one of its group
)

// A Between is a call between two groups, in which Root counts the other one's members, or is one of the above. What
// there is to do within a group is a collective of that, and its member 0 talks to the other's: so do both MPICH
// and Open MPI.
type Between struct {
	Collective
	Others int                  // members of the other group
	Other  func(member int) int // in the world
	First  bool                 // of two groups one goes first
}

const betweenShort = 2048 // bytes of a member: longer parts go to the root, or come from it, directly

// Steps reports whether Append takes a call apart; if not, Meet is for it.
func (b *Between) Steps() bool {
	if b.Messages || max(b.Members, b.Others)-1 <= min(Most, mostPairs/max(1, b.World)) {
		return true
	}
	switch b.Function {
	case "Barrier", "Allreduce", "Reduce":
		return true
	case "Bcast":
		return b.bytes() < bcastLarge
	}
	return false
}

// Append appends what a member does, as Collective.Append.
func (b *Between) Append(ops []Op, requests [2]int32) []Op {
	x := &between{b, ops, requests}
	f := betweens[b.Function]
	if f != nil {
		f(x)
	}
	return x.ops
}

// Meet returns a call as a meeting, as Collective.Meet: with a formula for the time of the same algorithms. What
// one side alone has to do with, the others of the root's group have not.
func (b *Between) Meet(l *machine.Level) Op {
	o := Op{Kind: Meet, Context: b.Context, Members: int32(b.Members + b.Others), Request: NoRequest, Time: b.time(l)}
	switch b.Function {
	case "Bcast", "Scatter", "Scatterv":
		o.Meeting = FromRoot
	case "Reduce", "Gather", "Gatherv":
		o.Meeting = ToRoot
	default:
		return o
	}
	switch {
	case b.Root == RootHere:
		o.Root, o.Members = true, int32(1+b.Others)
	case b.Root >= 0:
		o.Members = int32(1 + b.Members)
	default:
		o.Meeting, o.Members, o.Time = Aside, 0, 0
	}
	return o
}

// time is how long a member takes if all begin the call together.
func (b *Between) time(l *machine.Level) int64 {
	within := func(function string, members int, bytes int64) int64 { // a group
		c := Collective{Function: function, Members: members, Me: 1, Sent: bytes, Received: bytes, Combine: b.Combine}
		if members < 2 {
			return 0
		}
		return c.time(l)
	}
	over := func(sent, received int64) int64 { // as between.over
		return messageTime(l, sent) + within("Bcast", b.Others, sent) + messageTime(l, received) + within("Bcast", b.Members, received)
	}
	here := b.Root == RootHere
	part := max(b.Sent, b.Received) // of a member
	if here {
		part /= int64(b.Others)
	}
	long := b.Function == "Gatherv" || b.Function == "Scatterv" || part >= betweenShort
	switch b.Function {
	case "Bcast":
		if here {
			return messageTime(l, b.bytes())
		}
		return messageTime(l, b.bytes()) + within("Bcast", b.Members, b.bytes())
	case "Reduce":
		return within("Reduce", b.Members, b.Sent) + messageTime(l, b.Sent)
	case "Allreduce":
		return within("Reduce", b.Members, b.Sent) + messageTime(l, b.Sent) + within("Bcast", b.Members, b.Sent)
	case "Gather", "Gatherv":
		if long {
			return within("Gatherv", b.Members+1, part)
		}
		return within("Gather", b.Members, part) + messageTime(l, part*int64(b.Members))
	case "Scatter", "Scatterv":
		switch {
		case here && long:
			return within("Scatterv", b.Others+1, part)
		case here:
			return messageTime(l, b.Sent)
		case long:
			return within("Scatterv", b.Members+1, part)
		}
		return messageTime(l, part*int64(b.Members)) + within("Scatter", b.Members, part)
	case "Allgather":
		return within("Gather", b.Members, b.Sent) + over(b.Sent*int64(b.Members), b.Received)
	case "Allgatherv":
		return within("Gatherv", b.Members+1, b.Sent) + within("Gatherv", b.Others+1, b.Received/int64(b.Others)) + within("Bcast", b.Members, b.Received)
	case "Alltoall", "Alltoallv", "Alltoallw":
		return int64(max(b.Members, b.Others)) * messageTime(l, max(b.Sent, b.Received)/int64(b.Others))
	case "Reduce_scatter", "Reduce_scatter_block":
		return within("Reduce", b.Members, b.Sent) + messageTime(l, b.Sent) + within("Scatterv", b.Members, b.Received)
	}
	return within("Barrier", b.Members, 0) + over(1, 1)
}

// a between writes down what one member does.
type between struct {
	*Between
	ops      []Op
	requests [2]int32
}

var betweens = map[string]func(*between){
	"Barrier": (*between).barrier, "Bcast": (*between).bcast, "Reduce": (*between).reduce, "Allreduce": (*between).allreduce,
	"Gather": (*between).gather, "Gatherv": (*between).linear, "Scatter": (*between).scatter, "Scatterv": (*between).linear,
	"Allgather": (*between).allgather, "Allgatherv": (*between).allgatherv, "Alltoall": (*between).alltoall, "Alltoallv": (*between).alltoall, "Alltoallw": (*between).alltoall,
	"Reduce_scatter": (*between).reduceScatter, "Reduce_scatter_block": (*between).reduceScatter,
}

// near does a collective of the own group, whose root is member 0.
func (x *between) near(function string, sent, received int64) {
	c := x.Collective
	c.Function, c.Root, c.Sent, c.Received, c.SentTo, c.ReceivedFrom = function, 0, sent, received, nil, nil
	x.ops = c.Append(x.ops, x.requests)
}

func (x *between) op(kind Kind, other int, bytes int64) {
	x.ops = append(x.ops, Op{Kind: kind, Peer: int32(x.Other(other)), Context: x.Context, Tag: x.Tag, Bytes: bytes, Request: NoRequest})
}

func (x *between) send(other int, bytes int64) { x.op(Send, other, bytes) }
func (x *between) receive(other int)           { x.op(Receive, other, 0) }

// exchange sends to one member of the other group and receives from one, side by side; -1 is none.
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

// over has the groups tell each other something, the first one first.
func (x *between) over(sent, received int64) {
	for _, turn := range []bool{true, false} {
		switch {
		case turn == x.First && x.Me == 0:
			x.send(0, sent)
		case turn != x.First:
			if x.Me == 0 {
				x.receive(0)
			}
			x.near("Bcast", received, received)
		}
	}
}

func (x *between) barrier() {
	x.near("Barrier", 0, 0)
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
		x.near("Bcast", x.bytes(), x.bytes())
	}
}

func (x *between) reduce() {
	switch {
	case x.Root == RootHere:
		x.receive(0)
	case x.Root >= 0:
		x.near("Reduce", x.Sent, 0)
		if x.Me == 0 {
			x.send(x.Root, x.Sent)
		}
	}
}

func (x *between) allreduce() {
	x.near("Reduce", x.Sent, 0)
	if x.Me == 0 {
		x.exchange(0, 0, x.Sent)
	}
	x.near("Bcast", x.Sent, x.Sent)
}

func (x *between) gather() {
	switch part := x.Sent; {
	case x.Root == RootHere && x.Received/int64(x.Others) < betweenShort:
		x.receive(0)
	case x.Root >= 0 && part < betweenShort:
		x.near("Gather", part, 0)
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
		x.near("Scatter", 0, part)
	default:
		x.linear()
	}
}

// linear has the root talk to all members of the other group.
func (x *between) linear() {
	out := x.Function == "Scatter" || x.Function == "Scatterv"
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
	x.near("Gather", x.Sent, 0)
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
	x.near("Bcast", x.Received, x.Received)
}

// alltoall goes round the larger group: in each step each member has one of the other group to send to, and
// one to receive from, if there are so many.
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
	x.near("Reduce", x.Sent, 0)
	if x.Me == 0 {
		x.exchange(0, 0, x.Sent)
	}
	x.near("Scatterv", x.Received*int64(x.Members), x.Received)
}
