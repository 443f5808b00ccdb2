package main

import (
	"math/rand/v2"

	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
)

// counter is a ring in which each message has the number of the iteration as
// its tag, so that no two calls of a rank are alike.
func counter(iterations int) func(v *vmpi.Rank) {
	return func(v *vmpi.Rank) {
		left, right := int64((v.Rank+v.Size-1)%v.Size), int64((v.Rank+1)%v.Size)
		v.Start(1)
		for i := range int64(iterations) {
			r := v.Irecv(4, vmpi.Heap(0), 128, vmpi.Double, left, i, vmpi.World)
			v.Send(5, vmpi.Heap(1), 128, vmpi.Double, right, i, vmpi.World)
			v.Wait(6, &r)
			if i%10 == 9 {
				v.Allreduce(7, vmpi.Stack(8), vmpi.Stack(16), 1, vmpi.Double, vmpi.Sum, vmpi.World)
			}
		}
		v.Finalize(8)
	}
}

// rotate exchanges with another peer in each iteration, in a cycle.
func rotate(iterations int) func(v *vmpi.Rank) {
	return func(v *vmpi.Rank) {
		v.Start(1)
		for i := range iterations {
			if v.Size == 1 {
				break
			}
			d := 1 + i%(v.Size-1)
			to, from := int64((v.Rank+d)%v.Size), int64((v.Rank+v.Size-d)%v.Size)
			r := v.Irecv(4, vmpi.Heap(0), 128, vmpi.Double, from, 3, vmpi.World)
			v.Send(5, vmpi.Heap(1), 128, vmpi.Double, to, 3, vmpi.World)
			v.Wait(6, &r)
		}
		v.Finalize(8)
	}
}

// teams is rings in communicators whose members have no rule.
func teams(v *vmpi.Rank) {
	const colours = 5
	colour := func(rank int) uint64 { return rand.New(rand.NewPCG(uint64(rank), 1)).Uint64N(colours) }
	m := vmpi.Members{Leader: -1}
	for r := range v.Size {
		if colour(r) != colour(v.Rank) {
			continue
		}
		if m.Leader < 0 {
			m.Leader = int64(r)
		}
		if r < v.Rank {
			m.Rank++
		}
		m.Size++
	}
	v.Start(1)
	team := v.CommSplit(4, vmpi.World, int64(colour(v.Rank)), 0, m)
	for _, d := range []int64{1, 2, 3} {
		for range 20 {
			r := v.Irecv(5, vmpi.Heap(0), 64, vmpi.Double, (m.Rank+(m.Size-1)*d)%m.Size, 1, team)
			v.Send(6, vmpi.Heap(1), 64, vmpi.Double, (m.Rank+d)%m.Size, 1, team)
			v.Wait(7, &r)
		}
	}
	v.Finalize(8)
}
