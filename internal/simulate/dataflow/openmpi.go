package dataflow

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// Algorithms of Open MPI's component "tuned", which it chooses by size and number of members up to version 4.0; later
// versions have larger tables of the same kind. Operations are assumed to be commutative. Functions missing here use
// MPICH's algorithms.
var openmpi = map[meaning.CollectiveOperation]func(*generator){
	meaning.CollectiveBarrier: barrier, // two members: recursive doubling and Bruck's algorithm make the same exchanges
	meaning.CollectiveBcast:   openBcast, meaning.CollectiveReduce: openReduce, meaning.CollectiveAllreduce: openAllreduce, meaning.CollectiveGather: gatherv, meaning.CollectiveScatter: scatterv,
	meaning.CollectiveAllgather: openAllgather, meaning.CollectiveAlltoall: openAlltoall, meaning.CollectiveReduceScatter: openReduceScatter,
}

// Sizes in bytes of data at which Open MPI changes the algorithm.
const (
	openBcastSmall     = 2048
	openBcastLarge     = 370728
	openAllreduceRing  = 10000
	openSegment        = 1 << 20 // bytes of a piece of a ring all-reduce, for each member
	openAllgatherLarge = 50000
	openAlltoallBruck  = 200
	openAlltoallLinear = 3000
)

func openBcast(g *generator) {
	b, n := g.bytes(), float64(g.Members)
	size := float64(b)
	switch {
	case b < openBcastSmall:
		g.down(func(int) int64 { return b })
	case b < openBcastLarge:
		g.splitBinary(b, 1<<10)
	case n < 1.6134e-6*size+2.1102:
		g.handOn(1, b, 128<<10)
	case g.Members < 13:
		g.splitBinary(b, 8<<10)
	case n < 2.3679e-6*size+1.1787:
		g.handOn(1, b, 64<<10)
	case n < 3.2118e-6*size+8.7936:
		g.handOn(1, b, 16<<10)
	default:
		g.handOn(1, b, 8<<10)
	}
}

func openReduce(g *generator) {
	b, n := g.SentBytes, float64(g.Members)
	kb := float64(b) / 1024
	switch {
	case g.Members < 8 && b < 512:
		g.linear(b, b)
	case g.Members < 8 && b < 20480:
		g.up(func(int) int64 { return b }, b)
	case b < 2048:
		g.takeIn(2, b, b)
	case n > 0.6016*kb+1.3496:
		g.takeIn(2, b, 1<<10)
	case n > 0.0410*kb+9.7128:
		g.takeIn(1, b, 1<<10)
	case n > 0.0033*kb+1.6761:
		g.takeIn(1, b, 32<<10)
	default:
		g.takeIn(1, b, 64<<10)
	}
}

func openAllreduce(g *generator) {
	b := g.SentBytes
	if b < openAllreduceRing || b/8 <= int64(g.Members) { // b/8: number of elements, if they have 8 bytes
		g.doubling(b)
		return
	}
	// A ring all-reduce of one piece after the other, each of at most openSegment bytes per member.
	pieces := max(1, (b+int64(g.Members)*openSegment-1)/(int64(g.Members)*openSegment))
	for range pieces {
		part := b / pieces / int64(g.Members)
		g.ringReduce(part)
		g.ring(part)
	}
}

func openAllgather(g *generator) {
	switch {
	case g.ReceivedBytes < openAllgatherLarge && bits.OnesCount(uint(g.Members)) == 1:
		block := g.ReceivedBytes / int64(g.Members)
		for d := 1; d < g.Members; d *= 2 {
			g.exchange(g.OwnMember^d, g.OwnMember^d, block*int64(d))
		}
	case g.ReceivedBytes < openAllgatherLarge:
		g.bruck()
	case g.Members%2 == 1:
		g.ring(g.ReceivedBytes / int64(g.Members))
	default:
		g.neighbourExchange(g.ReceivedBytes / int64(g.Members))
	}
}

func openAlltoall(g *generator) {
	block := g.SentBytes / int64(g.Members)
	switch {
	case block < openAlltoallBruck && g.Members > 12:
		g.bruckAlltoall(block)
	case block < openAlltoallLinear:
		g.together(func(int) int64 { return block })
	default:
		g.pairs(block)
	}
}

func openReduceScatter(g *generator) {
	b := g.SentBytes
	if b <= 12<<10 || b <= 256<<10 && bits.OnesCount(uint(g.Members)) == 1 || float64(g.Members) >= 0.0012*float64(b)+8 {
		reduceScatter(g)
		return
	}
	g.ringReduce(b / int64(g.Members))
}

// segments divides a number of bytes into pieces of a size, but into at most mostSegments pieces: more would change
// little.
func segments(bytes, size int64) (list []int64) {
	size = max(size, (bytes+mostSegments-1)/mostSegments, 1)
	for ; bytes > size; bytes -= size {
		list = append(list, size)
	}
	return append(list, bytes)
}

const mostSegments = 256

// below returns the children of the member with relative number r in a tree with root 0. The degree is the number of
// children: 1 makes a chain, 2 a binary tree.
func (g *generator) below(degree, r int) (list []int) {
	for c := degree*r + 1; c <= degree*r+degree && c < g.Members; c++ {
		list = append(list, c)
	}
	return list
}

// handOn sends bytes from the root down the tree that below describes, in pieces of a size in bytes.
func (g *generator) handOn(degree int, bytes, size int64) {
	r := g.relative()
	for _, b := range segments(bytes, size) {
		if r > 0 {
			g.receive(g.absolute((r - 1) / degree))
		}
		for _, c := range g.below(degree, r) {
			g.send(g.absolute(c), b)
		}
	}
}

// takeIn reduces data of the given bytes to the root, in pieces of size bytes, up the tree whose children g.below
// returns.
func (g *generator) takeIn(degree int, bytes, size int64) {
	r := g.relative()
	for _, b := range segments(bytes, size) {
		for _, c := range g.below(degree, r) {
			g.receive(g.absolute(c))
			g.combine(b)
		}
		if r > 0 {
			g.send(g.absolute((r-1)/degree), b)
		}
	}
}

// splitBinary sends one half of the data down the left half of a binary tree, and the other down the right half. Then
// pairs of members of both halves exchange their halves. A member without a partner gets the other half from the
// root.
func (g *generator) splitBinary(bytes, size int64) {
	if g.Members < 3 {
		g.handOn(1, bytes, size)
		return
	}
	half := [2]int64{bytes - bytes/2, bytes / 2}
	r := g.relative()
	mine := side(r)
	if r == 0 {
		left, right := segments(half[0], size), segments(half[1], size)
		for i := range max(len(left), len(right)) {
			if i < len(left) {
				g.send(g.absolute(1), left[i])
			}
			if i < len(right) {
				g.send(g.absolute(2), right[i])
			}
		}
	} else {
		g.handOn(2, half[mine], size)
	}
	// The n-th member of the tree's left half and the n-th of its right half exchange their halves.
	var sides [2][]int
	for i := 1; i < g.Members; i++ {
		sides[side(i)] = append(sides[side(i)], i)
	}
	for s, list := range sides {
		for n, i := range list {
			partner := 0
			if n < len(sides[1-s]) {
				partner = sides[1-s][n]
			}
			switch {
			case r == i && partner > 0:
				g.exchange(g.absolute(partner), g.absolute(partner), half[mine])
			case r == i:
				g.receive(g.absolute(0))
			case r == 0 && partner == 0:
				g.send(g.absolute(i), half[1-s])
			}
		}
	}
}

// side returns the half of a binary tree that the member with relative number r is in: 0 is the left one, 1 the right
// one.
func side(r int) int {
	for r > 2 {
		r = (r - 1) / 2
	}
	return max(0, r-1)
}

// ringReduce passes each part of the data around the ring once; each member combines it with its own data.
func (g *generator) ringReduce(part int64) {
	for range g.Members - 1 {
		g.exchange((g.OwnMember+1)%g.Members, (g.OwnMember-1+g.Members)%g.Members, part)
		g.combine(part)
	}
}

// neighbourExchange has members exchange alternately with the previous and the next member (Chen et al., 2005): first
// one block, then two at a time.
func (g *generator) neighbourExchange(block int64) {
	even := g.OwnMember%2 == 0
	for step := range g.Members / 2 {
		next := (g.OwnMember + 1) % g.Members
		if even != (step%2 == 0) {
			next = (g.OwnMember - 1 + g.Members) % g.Members
		}
		size := 2 * block
		if step == 0 {
			size = block
		}
		g.exchange(next, next, size)
	}
}
