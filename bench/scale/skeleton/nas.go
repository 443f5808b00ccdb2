package skeleton

import (
	"math"

	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
)

// CG is a conjugate gradient solver on a 2D grid of ranks: partial products are summed along rows by recursive halving,
// then exchanged with the rank at the transposed position of the grid.
func CG(v *vmpi.Rank) {
	rows, cols := 1, 1
	for rows*cols < v.Size {
		if rows == cols {
			cols *= 2
		} else {
			rows *= 2
		}
	}
	row, col := v.Rank/cols, v.Rank%cols
	var partners []int64
	for d := cols; d > 1; d /= 2 {
		partners = append(partners, int64(row*cols+(col^d/2)))
	}
	me := v.Rank
	other := int64(me%rows*rows + me/rows)
	if rows != cols {
		other = int64(2*(me/2%rows*rows+me/2/rows) + me%2)
	}
	n := share(150000, rows, row)
	v.Start(1)
	v.Bcast(4, vmpi.Static(0), 8, vmpi.Int, 0, vmpi.World)
	exchange := func(site int, from, to vmpi.Buf, count, with int64) {
		r := v.Irecv(site, to, count, vmpi.Double, with, 1, vmpi.World)
		v.Send(site+1, from, count, vmpi.Double, with, 1, vmpi.World)
		v.Wait(site+2, &r)
	}
	sum := func(site int) {
		for _, p := range partners {
			exchange(site, vmpi.Static(40), vmpi.Static(48), 1, p)
		}
	}
	for range 3 {
		sum(10)
		for range 5 {
			for _, p := range partners {
				exchange(13, vmpi.Static(1<<20), vmpi.Static(2<<20), n, p)
			}
			exchange(16, vmpi.Static(1<<20), vmpi.Static(3<<20), n/2, other)
			sum(19)
			sum(22)
		}
		sum(25)
		v.Barrier(28, vmpi.World)
	}
	v.Reduce(29, vmpi.Stack(32), vmpi.Stack(40), 1, vmpi.Double, vmpi.Max, 0, vmpi.World)
	v.Finalize(30)
}

// FT is a 3D FFT on a 2D grid of ranks: transposes are all-to-alls within
// rows and columns.
func FT(v *vmpi.Rank) {
	rows, cols := grid2(v.Size)
	row, col := v.Rank/cols, v.Rank%cols
	v.Start(1)
	v.Bcast(4, vmpi.Static(0), 3, vmpi.Int, 0, vmpi.World)
	inRow := v.CommSplit(5, vmpi.World, int64(row), int64(col),
		vmpi.Members{Leader: int64(row * cols), Rank: int64(col), Size: int64(cols)})
	inCol := v.CommSplit(6, vmpi.World, int64(col), int64(row),
		vmpi.Members{Leader: int64(col), Rank: int64(row), Size: int64(rows)})
	points := int64(1<<30) / int64(v.Size)
	for range 20 {
		v.Alltoall(7, vmpi.Heap(0), points/int64(cols), vmpi.Heap(1), points/int64(cols), vmpi.Complex, inRow)
		v.Alltoall(8, vmpi.Heap(1), points/int64(rows), vmpi.Heap(0), points/int64(rows), vmpi.Complex, inCol)
		v.Reduce(9, vmpi.Stack(16), vmpi.Stack(48), 1, vmpi.Complex, vmpi.Sum, 0, vmpi.World)
	}
	v.Barrier(10, vmpi.World)
	v.Finalize(11)
}

// LU sweeps wavefronts over a 2D grid, plane by plane: each rank waits for its
// neighbours on one side and serves those on the other.
func LU(v *vmpi.Rank) {
	px, py := grid2(v.Size)
	x, y := v.Rank%px, v.Rank/px
	nx, ny := share(408, px, x), share(408, py, y)
	const planes = 40
	at := func(dx, dy int) int64 { return neighbour(x, y, 0, dx, dy, 0, px, py, 1, false) }
	north, south, west, east := at(-1, 0), at(1, 0), at(0, -1), at(0, 1)
	v.Start(1)
	for i := range 3 {
		v.Bcast(4+i, vmpi.Static(int64(i)*64), int64(3+i), vmpi.Int, 0, vmpi.World)
	}
	in := func(site int, from, n, tag int64) {
		if from >= 0 {
			v.Recv(site, vmpi.Stack(9000), 5*n, vmpi.Double, from, tag, vmpi.World)
		}
	}
	out := func(site int, to, n, tag int64) {
		if to >= 0 {
			v.Send(site, vmpi.Stack(9000), 5*n, vmpi.Double, to, tag, vmpi.World)
		}
	}
	faces := func(site int, a, b, n, tag int64) {
		for i, d := range [2][2]int64{{a, b}, {b, a}} {
			var r vmpi.Request
			if d[0] >= 0 {
				r = v.Irecv(site+4*i, vmpi.Static(1<<16), 10*n*planes, vmpi.Double, d[0], tag, vmpi.World)
			}
			if d[1] >= 0 {
				v.Send(site+4*i+1, vmpi.Static(1<<18), 10*n*planes, vmpi.Double, d[1], tag, vmpi.World)
			}
			if r.Active() {
				v.Wait(site+4*i+2, &r)
			}
		}
	}
	for range 5 {
		for range planes {
			in(10, north, ny, 1)
			in(11, west, nx, 2)
			out(12, south, ny, 1)
			out(13, east, nx, 2)
		}
		for range planes {
			in(14, south, ny, 3)
			in(15, east, nx, 4)
			out(16, north, ny, 3)
			out(17, west, nx, 4)
		}
		faces(20, north, south, ny, 5)
		faces(30, west, east, nx, 6)
	}
	v.Allreduce(40, vmpi.Stack(40), vmpi.Stack(80), 5, vmpi.Double, vmpi.Sum, vmpi.World)
	v.Finalize(41)
}

// IS sorts integers in buckets: how much goes where depends on the data.
func IS(v *vmpi.Rank) {
	p := v.Size
	v.Start(1)
	const keys = 1 << 27
	out, in := make([]int64, p), make([]int64, p)
	for step := range 4 {
		v.Allreduce(4, vmpi.Static(0), vmpi.Static(8192), int64(p+5), vmpi.Int, vmpi.Sum, vmpi.World)
		v.Alltoall(5, vmpi.Static(1<<16), 1, vmpi.Static(1<<17), 1, vmpi.Int, vmpi.World)
		for i := range p {
			out[i] = bucket(keys, p, step, v.Rank, i)
			in[i] = bucket(keys, p, step, i, v.Rank)
		}
		v.Alltoallv(6, vmpi.Heap(0), out, vmpi.Heap(1), in, vmpi.Int, vmpi.World)
	}
	v.Reduce(7, vmpi.Stack(8), vmpi.Stack(16), 1, vmpi.Int, vmpi.Sum, 0, vmpi.World)
	v.Finalize(8)
}

// bucket returns the number of keys that one of p ranks sends to another: near the mean, with the deviation of a sum
// of independent draws. Keys hardly change between steps.
func bucket(keys, p, step, from, to int) int64 {
	h := Random(step/4, from, to)
	mean := keys / p / p
	if mean == 0 {
		return few(float64(keys)/float64(p)/float64(p), h)
	}
	spread := int64(root(mean))
	return max(0, int64(mean)+(int64(h&255+h>>8&255+h>>16&255+h>>24&255)-510)*spread/128)
}

// few returns a sample of the Poisson distribution with a mean below 1: if there are fewer keys than pairs of ranks,
// most pairs exchange none.
func few(mean float64, h uint64) int64 {
	u, p, n := float64(h>>11)/(1<<53), math.Exp(-mean), int64(0)
	for u >= p && p > 0 {
		u -= p
		n++
		p *= mean / float64(n)
	}
	return n
}

// MG is a multigrid V-cycle on a periodic 3D grid. On coarse levels there are fewer points than ranks: one rank of
// each pair becomes idle and sends its part to the other.
func MG(v *vmpi.Rank) {
	var p, at [3]int
	p[2], p[1], p[0] = grid3(v.Size)
	rest := v.Rank
	for d := range 3 {
		at[d] = rest % p[d]
		rest /= p[d]
	}
	const finest = 9 // the finest level has 2⁹ = 512 points per side
	rank := func(x [3]int) int64 { return int64(x[0] + p[0]*(x[1]+p[1]*x[2])) }
	shift := func(d, by int) int64 {
		x := at
		x[d] = (x[d] + by + p[d]) % p[d]
		return rank(x)
	}
	// stride returns the distance, in ranks along dimension d, between neighbours among the ranks that are active on a
	// level.
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
	// hand moves data between the ranks that are active only on a level and their neighbours, which are active on the
	// next coarser level, too. With up it goes to the coarser level, else from it.
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
