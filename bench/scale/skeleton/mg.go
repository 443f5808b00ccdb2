package skeleton

import "github.com/spoor-hpc/spoor/bench/scale/vmpi"

// MG is a multigrid V-cycle on a periodic 3D grid. On coarse levels there are
// fewer points than ranks: of each pair one drops out and hands its part over.
func MG(v *vmpi.Rank) {
	var p, at [3]int
	p[2], p[1], p[0] = grid3(v.Size)
	rest := v.Rank
	for d := range 3 {
		at[d] = rest % p[d]
		rest /= p[d]
	}
	const finest = 9 // 512 points a side
	rank := func(x [3]int) int64 { return int64(x[0] + p[0]*(x[1]+p[1]*x[2])) }
	shift := func(d, by int) int64 {
		x := at
		x[d] = (x[d] + by + p[d]) % p[d]
		return rank(x)
	}
	// stride is how far apart the ranks of a level are.
	stride := func(level, d int) int { return max(1, p[d]>>level) }
	active := func(level int) bool {
		for d := range 3 {
			if at[d]%stride(level, d) != 0 {
				return false
			}
		}
		return true
	}
	halo := func(site, level int) {
		if !active(level) {
			return
		}
		var n [3]int64
		for d := range 3 {
			n[d] = int64(max(1, 1<<level/p[d]) + 2)
		}
		for d := range 3 {
			s := stride(level, d)
			if p[d]/s < 2 {
				continue
			}
			count := n[(d+1)%3] * n[(d+2)%3]
			for i, by := range [2]int{-s, s} {
				r := v.Irecv(site, vmpi.Static(int64(1<<20+i<<18)), count, vmpi.Double, shift(d, -by), int64(100*d+i), vmpi.World)
				v.Send(site+1, vmpi.Static(int64(1<<21+i<<18)), count, vmpi.Double, shift(d, by), int64(100*d+i), vmpi.World)
				v.Wait(site+2, &r)
			}
		}
	}
	// hand moves data between the ranks of a level and those of the next
	// coarser one: up to it, or down from it.
	hand := func(site, level int, up bool) {
		if !active(level) {
			return
		}
		for d := range 3 {
			s, c := stride(level, d), stride(level-1, d)
			if s == c {
				continue
			}
			const count = 64
			if (at[d]%c != 0) == up {
				v.Send(site, vmpi.Static(3<<20), count, vmpi.Double, shift(d, -s), int64(500+d), vmpi.World)
				v.Send(site, vmpi.Static(3<<20), count, vmpi.Double, shift(d, s), int64(500+d), vmpi.World)
			} else {
				v.Recv(site+1, vmpi.Static(4<<20), count, vmpi.Double, shift(d, -s), int64(500+d), vmpi.World)
				v.Recv(site+1, vmpi.Static(4<<20), count, vmpi.Double, shift(d, s), int64(500+d), vmpi.World)
			}
		}
	}
	v.Start(1)
	v.Bcast(4, vmpi.Static(0), 8, vmpi.Int, 0, vmpi.World)
	for range 4 {
		for level := finest; level > 1; level-- {
			halo(10, level)
			hand(20, level, true)
		}
		halo(30, 1)
		for level := 2; level <= finest; level++ {
			hand(40, level, false)
			halo(50, level)
			halo(60, level)
		}
		v.Allreduce(70, vmpi.Stack(24), vmpi.Stack(32), 1, vmpi.Double, vmpi.Sum, vmpi.World)
	}
	v.Finalize(71)
}
