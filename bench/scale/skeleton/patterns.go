package skeleton

import "github.com/spoor-hpc/spoor/bench/scale/vmpi"

// Nek reads and writes through rank 0, which exchanges messages with one rank after another. In between, ranks exchange
// data with their neighbours, sum with MPI_Allreduce, and gather over a binomial tree.
func Nek(v *vmpi.Rank) {
	px, py, pz := grid3(v.Size)
	x, y, z := v.Rank%px, v.Rank/px%py, v.Rank/px/py
	var around []int64
	for _, d := range [6][3]int{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}} {
		if n := neighbour(x, y, z, d[0], d[1], d[2], px, py, pz, false); n >= 0 {
			around = append(around, n)
		}
	}
	v.Start(1)
	comm := v.CommDup(4, vmpi.World, vmpi.Members{Leader: 0, Rank: int64(v.Rank), Size: int64(v.Size)})
	// Rank 0 sends each rank the rank's part of the input: a number, then the elements.
	if v.Rank == 0 {
		for r := int64(1); r < int64(v.Size); r++ {
			v.Send(5, vmpi.Static(0), 1, vmpi.Int, r, r, comm)
			v.Send(6, vmpi.Heap(0), 512, vmpi.Double, r, r, comm)
		}
	} else {
		v.Recv(7, vmpi.Static(0), 1, vmpi.Int, 0, int64(v.Rank), comm)
		v.Recv(8, vmpi.Heap(0), 512, vmpi.Double, 0, int64(v.Rank), comm)
	}
	var rs []vmpi.Request
	for range 6 {
		for range 10 {
			rs = rs[:0]
			for i, n := range around {
				rs = append(rs, v.Irecv(10, vmpi.Heap(1).Plus(int64(i)*2048), 256, vmpi.Double, n, 3, comm))
			}
			for i, n := range around {
				rs = append(rs, v.Isend(11, vmpi.Heap(2).Plus(int64(i)*2048), 256, vmpi.Double, n, 3, comm))
			}
			v.Waitall(12, rs)
			v.Allreduce(13, vmpi.Stack(8), vmpi.Stack(16), 1, vmpi.Double, vmpi.Sum, comm)
		}
		binomial(v, comm)
	}
	if v.Rank == 0 {
		for r := int64(1); r < int64(v.Size); r++ {
			v.Send(30, vmpi.Static(0), 1, vmpi.Int, r, r, comm)
			v.Recv(31, vmpi.Heap(0), 4096, vmpi.Double, r, r, comm)
		}
	} else {
		v.Recv(32, vmpi.Static(0), 1, vmpi.Int, 0, int64(v.Rank), comm)
		v.Send(33, vmpi.Heap(0), 4096, vmpi.Double, 0, int64(v.Rank), comm)
	}
	v.Finalize(34)
}

// binomial gathers at rank 0 over a binomial tree, so messages get larger from step to step.
func binomial(v *vmpi.Rank, comm vmpi.Comm) {
	for bit := 1; bit < v.Size; bit <<= 1 {
		if v.Rank&bit != 0 {
			v.Send(21, vmpi.Heap(3), int64(min(bit, v.Size-v.Rank))*8, vmpi.Double, int64(v.Rank-bit), 9, comm)
			return
		}
		if from := v.Rank + bit; from < v.Size {
			n := int64(min(bit, v.Size-from)) * 8
			v.Recv(20, vmpi.Heap(3).Plus(int64(bit)*64), n, vmpi.Double, int64(from), 9, comm)
		}
	}
}

// Butterfly reduces by recursive doubling and synchronises by dissemination. Ranks beyond the largest power of two send
// their data to a rank below it before the reduction, and get the result from that rank afterwards.
func Butterfly(v *vmpi.Rank) {
	whole := 1
	for whole*2 <= v.Size {
		whole *= 2
	}
	v.Start(1)
	for range 10 {
		switch extra := v.Size - whole; {
		case v.Rank >= whole:
			v.Send(10, vmpi.Heap(0), 4, vmpi.Double, int64(v.Rank-whole), 1, vmpi.World)
		case v.Rank < extra:
			v.Recv(11, vmpi.Heap(1), 4, vmpi.Double, int64(v.Rank+whole), 1, vmpi.World)
		}
		for bit := 1; bit < whole && v.Rank < whole; bit <<= 1 {
			p := int64(v.Rank ^ bit)
			r := v.Irecv(12, vmpi.Heap(1), 4, vmpi.Double, p, int64(bit), vmpi.World)
			v.Send(13, vmpi.Heap(0), 4, vmpi.Double, p, int64(bit), vmpi.World)
			v.Wait(14, &r)
		}
		switch extra := v.Size - whole; {
		case v.Rank >= whole:
			v.Recv(15, vmpi.Heap(0), 4, vmpi.Double, int64(v.Rank-whole), 2, vmpi.World)
		case v.Rank < extra:
			v.Send(16, vmpi.Heap(0), 4, vmpi.Double, int64(v.Rank+whole), 2, vmpi.World)
		}
		for step := 1; step < v.Size; step *= 2 {
			to, from := (v.Rank+step)%v.Size, (v.Rank-step+v.Size)%v.Size
			v.Sendrecv(20, vmpi.Stack(1), 0, int64(to), 4, vmpi.Stack(2), 0, int64(from), 4, vmpi.Byte, vmpi.World)
		}
	}
	v.Finalize(30)
}

// Cannon is Cannon's matrix multiplication on a square torus of ranks: blocks are first skewed, then shifted left and
// up.
func Cannon(v *vmpi.Rank) {
	q := root(v.Size)
	x, y := v.Rank%q, v.Rank/q
	rank := func(x, y int) int64 { return int64((x+2*q)%q + (y+2*q)%q*q) }
	const n = 65536
	v.Start(1)
	cart := v.CartCreate(4, []int64{int64(q), int64(q)}, []int64{1, 1})
	shift := func(site int, b int64, dx, dy int) {
		v.SendrecvReplace(site, vmpi.Heap(b), n, vmpi.Double, rank(x-dx, y-dy), 1, rank(x+dx, y+dy), 1, cart)
	}
	shift(10, 0, y, 0)
	shift(11, 1, 0, x)
	for range q - 1 {
		shift(12, 0, 1, 0)
		shift(13, 1, 0, 1)
	}
	shift(14, 0, -(y + q - 1), 0)
	shift(15, 1, 0, -(x + q - 1))
	v.Finalize(16)
}
