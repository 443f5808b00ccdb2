package dataflow

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// A generator generates the operations of one member of a communicator in a collective.
type generator struct {
	*Collective
	ops      []Op
	requests [2]int32
}

var generators = map[meaning.CollectiveOperation]func(*generator){
	meaning.CollectiveBarrier: barrier, meaning.CollectiveBcast: bcast, meaning.CollectiveReduce: reduce, meaning.CollectiveAllreduce: allreduce,
	meaning.CollectiveGather: gather, meaning.CollectiveGatherv: gatherv, meaning.CollectiveScatter: scatter, meaning.CollectiveScatterv: scatterv,
	meaning.CollectiveAllgather: allgather, meaning.CollectiveAllgatherv: allgather, meaning.CollectiveAlltoall: alltoall, meaning.CollectiveAlltoallv: alltoall, meaning.CollectiveAlltoallw: alltoall,
	meaning.CollectiveReduceScatter: reduceScatter, meaning.CollectiveReduceScatterBlock: reduceScatter, meaning.CollectiveScan: scan, meaning.CollectiveExscan: scan,
}

func (g *generator) send(to int, bytes int64) {
	g.ops = append(g.ops, Op{Kind: OpSend, Peer: int32(g.WorldRankOf(to)), Context: g.Context, Tag: g.Tag, Bytes: bytes, Request: NoRequest})
}

func (g *generator) receive(from int) {
	g.ops = append(g.ops, Op{Kind: OpReceive, Peer: int32(g.WorldRankOf(from)), Context: g.Context, Tag: g.Tag, Request: NoRequest})
}

// exchange sends bytes to member to, and receives from member from at the same time.
func (g *generator) exchange(to, from int, bytes int64) {
	g.receive(from)
	g.send(to, bytes)
	n := len(g.ops)
	g.ops[n-2].Request, g.ops[n-1].Request = g.requests[0], g.requests[1]
	g.ops = append(g.ops, Op{Kind: OpWait, Request: g.requests[1]}, Op{Kind: OpWait, Request: g.requests[0]})
}

// combine adds the time that a reduction takes to combine two operands of a size in bytes.
func (g *generator) combine(bytes int64) {
	if t := int64(g.CombinePsPerByte * float64(bytes)); t > 0 {
		g.ops = append(g.ops, Op{Kind: OpLocalCall, TimePs: t})
	}
}

// barrier generates the dissemination algorithm (Hensgen, Finkel and Manber, 1988).
func barrier(g *generator) {
	for d := 1; d < g.Members; d *= 2 {
		g.exchange((g.OwnMember+d)%g.Members, (g.OwnMember-d+g.Members)%g.Members, 0)
	}
}

// relative returns the own member's number counted from the root. absolute turns a number counted from the root into
// one in the communicator.
func (g *generator) relative() int      { return (g.OwnMember - g.Root + g.Members) % g.Members }
func (g *generator) absolute(r int) int { return (r + g.Root) % g.Members }

// down generates sends of data from the root down a binomial tree. A member receives the data for itself and its
// subtree, and sends on the data of its children's subtrees. size returns the bytes for a number of members.
func (g *generator) down(size func(members int) int64) {
	r, mask := g.relative(), 1
	for mask < g.Members && r&mask == 0 {
		mask <<= 1
	}
	if r != 0 {
		g.receive(g.absolute(r - mask))
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if r+mask < g.Members {
			g.send(g.absolute(r+mask), size(min(mask, g.Members-r-mask)))
		}
	}
}

// up generates sends up the binomial tree that down uses, to the root. size returns the bytes from a number of
// members. Each receiver combines operands of combine bytes.
func (g *generator) up(size func(members int) int64, combine int64) {
	r := g.relative()
	for mask := 1; mask < g.Members; mask <<= 1 {
		if r&mask != 0 {
			g.send(g.absolute(r-mask), size(min(mask, g.Members-r)))
			return
		}
		if r+mask < g.Members {
			g.receive(g.absolute(r + mask))
			g.combine(combine)
		}
	}
}

// bcast generates a broadcast down a tree. Of large data to many members it is a scatter down the tree and an
// all-gather around a ring.
func bcast(g *generator) {
	b := g.bytes()
	if b < bcastLarge || g.Members < manyMembers {
		g.down(func(int) int64 { return b })
		return
	}
	part := (b + int64(g.Members) - 1) / int64(g.Members)
	g.down(func(members int) int64 { return part * int64(members) })
	g.ring(part)
}

// ring has each member send blocks of a size in bytes to the next member, n-1 times: its own, then those that it
// received.
func (g *generator) ring(block int64) {
	for range g.Members - 1 {
		g.exchange((g.OwnMember+1)%g.Members, (g.OwnMember-1+g.Members)%g.Members, block)
	}
}

func gather(g *generator)  { g.up(func(members int) int64 { return g.SentBytes * int64(members) }, 0) }
func scatter(g *generator) { g.down(func(members int) int64 { return g.bytes() * int64(members) }) }

func gatherv(g *generator) { g.linear(g.SentBytes, 0) }

// linear has all members send bytes to the root, which receives and combines their data one after the other.
func (g *generator) linear(bytes, combine int64) {
	if g.OwnMember != g.Root {
		g.send(g.Root, bytes)
		return
	}
	for i := range g.Members {
		if i != g.Root {
			g.receive(i)
			g.combine(combine)
		}
	}
}

// to returns the bytes that the own member passes to a member: from BytesToMember if set, else the given bytes.
func (c *Collective) to(member int, bytes int64) int64 {
	if member < len(c.BytesToMember) {
		return int64(min(c.BytesToMember[member], 1<<50))
	}
	return bytes
}

// scatterv has the root send a part to each member.
func scatterv(g *generator) {
	if g.OwnMember != g.Root {
		g.receive(g.Root)
		return
	}
	for i := range g.Members {
		if i != g.Root {
			g.send(i, g.to(i, g.bytes()))
		}
	}
}

// from returns the bytes that the own member gets from a member: from BytesFromMember if set, else the same for all.
func (g *generator) from(member int) int64 {
	if member < len(g.BytesFromMember) {
		return int64(min(g.BytesFromMember[member], 1<<50))
	}
	return g.ReceivedBytes / int64(g.Members)
}

// allgather generates Bruck's algorithm, or a ring if the result is large.
func allgather(g *generator) {
	if g.ReceivedBytes < allgatherLarge {
		g.bruck()
		return
	}
	for i := range g.Members - 1 {
		g.exchange((g.OwnMember+1)%g.Members, (g.OwnMember-1+g.Members)%g.Members, g.from((g.OwnMember-i+g.Members)%g.Members))
	}
}

// bruck doubles each member's number of blocks with each step (Bruck et al., 1997). A member's first block is its own.
func (g *generator) bruck() {
	have, next := int64(0), 0 // bytes gathered so far, and the distance of the member whose block is next
	for d := 1; d < g.Members; d *= 2 {
		for ; next < min(d, g.Members-d); next++ {
			have += g.from((g.OwnMember + next) % g.Members)
		}
		bytes := have
		if next > g.Members-d {
			bytes = 0
			for i := range g.Members - d {
				bytes += g.from((g.OwnMember + i) % g.Members)
			}
		}
		g.exchange((g.OwnMember-d+g.Members)%g.Members, (g.OwnMember+d)%g.Members, bytes)
	}
}

// alltoall sends half of the data in each of a few steps (Bruck) if blocks are small. Else it exchanges blocks with
// one member after the other.
func alltoall(g *generator) {
	block := g.SentBytes / int64(g.Members)
	if g.Operation == meaning.CollectiveAlltoall && block <= alltoallSmall && g.Members >= manyMembers {
		g.bruckAlltoall(block)
		return
	}
	g.pairs(block)
}

func (g *generator) bruckAlltoall(block int64) {
	for d := 1; d < g.Members; d *= 2 {
		blocks := int64(0) // number of blocks for members at a distance with bit d set
		for i := range g.Members {
			if i&d != 0 {
				blocks++
			}
		}
		g.exchange((g.OwnMember+d)%g.Members, (g.OwnMember-d+g.Members)%g.Members, block*blocks)
	}
}

func (g *generator) pairs(block int64) {
	for i := 1; i < g.Members; i++ {
		to := (g.OwnMember + i) % g.Members
		g.exchange(to, (g.OwnMember-i+g.Members)%g.Members, g.to(to, block))
	}
}

// together sends to all members at once, and receives from all. bytes returns the bytes for a member.
func (g *generator) together(bytes func(to int) int64) {
	for i := 1; i < g.Members; i++ {
		to := (g.OwnMember + i) % g.Members
		g.send(to, bytes(to))
		// The send waits for no receive: each member posted its receives before it sent.
		g.ops[len(g.ops)-1].IsBuffered = true
	}
	for i := 1; i < g.Members; i++ {
		g.receive((g.OwnMember - i + g.Members) % g.Members)
	}
}

// reduce combines the members' data up a tree. If they are large, it halves the data with each step and then gathers
// the parts.
func reduce(g *generator) {
	if b := g.SentBytes; b <= reduceLarge || g.Members < 4 {
		g.up(func(int) int64 { return b }, b)
		return
	}
	g.halving()
	part := g.SentBytes / int64(g.Members)
	g.up(func(members int) int64 { return part * int64(members) }, 0)
}

// allreduce doubles with each step the number of members whose data is combined. If the data is large, it halves the
// data with each step and then gathers the parts.
func allreduce(g *generator) {
	if b := g.SentBytes; b <= reduceLarge || g.Members < 4 {
		g.doubling(b)
		return
	}
	g.halving()
}

func (g *generator) doubling(b int64) {
	g.folded(b, func(me, power int, absolute func(int) int) {
		for d := 1; d < power; d *= 2 {
			g.exchange(absolute(me^d), absolute(me^d), b)
			g.combine(b)
		}
	}, b)
}

// halving is Rabenseifner's algorithm. Each step exchanges and combines half of the remaining data. In an all-reduce,
// the same steps backwards gather the result.
func (g *generator) halving() {
	b := g.SentBytes
	back := int64(nothing)
	if g.Operation == meaning.CollectiveAllreduce {
		back = b
	}
	g.folded(b, func(me, power int, absolute func(int) int) {
		part := b
		for d := power / 2; d > 0; d /= 2 {
			part /= 2
			g.exchange(absolute(me^d), absolute(me^d), part)
			g.combine(part)
		}
		if back == nothing {
			return
		}
		for d := 1; d < power; d *= 2 {
			g.exchange(absolute(me^d), absolute(me^d), part)
			part *= 2
		}
	}, back)
}

// nothing, as argument back of folded, means that members which took no part in the steps get no result.
const nothing = -1

// folded lets the largest possible power-of-two number of members run some steps. Each other member first sends its
// data, of the given bytes, to a neighbour that runs them. It gets back bytes of the result from the neighbour,
// unless back is nothing.
func (g *generator) folded(bytes int64, steps func(me, power int, absolute func(int) int), back int64) {
	power := 1 << (bits.Len(uint(g.Members)) - 1)
	extra := g.Members - power
	absolute := func(i int) int {
		if i < extra {
			return 2*i + 1
		}
		return i + extra
	}
	me := g.OwnMember - extra
	if g.OwnMember < 2*extra {
		if me = g.OwnMember / 2; g.OwnMember%2 == 0 {
			g.send(g.OwnMember+1, bytes)
			if back != nothing {
				g.receive(g.OwnMember + 1)
			}
			return
		}
		g.receive(g.OwnMember - 1)
		g.combine(bytes)
	}
	steps(me, power, absolute)
	if g.OwnMember < 2*extra && back != nothing {
		g.send(g.OwnMember-1, back)
	}
}

// reduceScatter halves the parts with each step. A member that ran no steps, see folded, gets back its own part.
func reduceScatter(g *generator) {
	extra := g.Members - 1<<(bits.Len(uint(g.Members))-1)
	part := func(member int) int64 { return g.to(member, g.SentBytes/int64(g.Members)) }
	back := int64(0)
	if g.OwnMember < 2*extra {
		back = part(g.OwnMember - g.OwnMember%2)
	}
	g.folded(g.SentBytes, func(me, power int, absolute func(int) int) {
		// sum returns the bytes of the parts of some members, and of those that sent them their data before.
		sum := func(from, to int) (bytes int64) {
			for i := from; i < to; i++ {
				bytes += part(absolute(i))
				if i < extra {
					bytes += part(absolute(i) - 1)
				}
			}
			return bytes
		}
		from, to := 0, power
		for d := power / 2; d > 0; d /= 2 {
			mid := from + d
			other := [2]int{mid, to}
			if me&d != 0 {
				other, from = [2]int{from, mid}, mid
			} else {
				to = mid
			}
			g.exchange(absolute(me^d), absolute(me^d), sum(other[0], other[1]))
			g.combine(sum(from, to))
		}
	}, back)
}

// scan doubles the distance between the members that exchange data with each step.
func scan(g *generator) {
	for d := 1; d < g.Members; d *= 2 {
		if other := g.OwnMember ^ d; other < g.Members {
			g.exchange(other, other, g.SentBytes)
			g.combine(g.SentBytes)
		}
	}
}
