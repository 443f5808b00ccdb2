package skeleton

import (
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/mpi"
)

// Stencil2D exchanges the four edges of a block of a 2D grid with the
// neighbours, in column and row types, and checks for convergence.
func Stencil2D(periodic bool) func(v *vmpi.Rank) {
	return func(v *vmpi.Rank) {
		px, py := grid2(v.Size)
		x, y := v.Rank%px, v.Rank/px
		nx, ny := share(16384, px, 0), share(16384, py, 0)
		at := func(dx, dy int) int64 { return neighbour(x, y, 0, dx, dy, 0, px, py, 1, periodic) }
		around := [4]int64{at(-1, 0), at(1, 0), at(0, -1), at(0, 1)}
		v.Start(1)
		wrap := int64(0)
		if periodic {
			wrap = 1
		}
		cart := v.CartCreate(4, []int64{int64(py), int64(px)}, []int64{wrap, wrap})
		v.CartShift(5, cart, 1, 1, around[0], around[1])
		v.CartShift(6, cart, 0, 1, around[2], around[3])
		column := v.TypeContiguous(7, ny, vmpi.Double)
		row := v.TypeContiguous(9, nx, vmpi.Double)
		grids := [2]vmpi.Buf{vmpi.Heap(0), vmpi.Heap(1)}
		var rs []vmpi.Request
		for step := range 20 {
			grid := grids[step%2]
			rs = rs[:0]
			for i, n := range around {
				t := column
				if i > 1 {
					t = row
				}
				rs = append(rs, v.Irecv(11+2*i, grid.Plus(int64(i)*8192), 1, t, n, int64(i^1), cart),
					v.Isend(12+2*i, grid.Plus(65536+int64(i)*8192), 1, t, n, int64(i), cart))
			}
			v.Waitall(20, rs)
			if step%10 == 9 {
				v.Allreduce(21, vmpi.Stack(64), vmpi.Stack(72), 1, vmpi.Double, vmpi.Max, cart)
			}
		}
		v.Finalize(22)
	}
}

// neighbour returns the rank at (x+dx, y+dy, z+dz) of a px×py×pz grid. Outside a grid that isn't periodic, it is
// MPI_PROC_NULL.
func neighbour(x, y, z, dx, dy, dz, px, py, pz int, periodic bool) int64 {
	x, y, z = x+dx, y+dy, z+dz
	if periodic {
		x, y, z = (x+px)%px, (y+py)%py, (z+pz)%pz
	} else if x < 0 || x >= px || y < 0 || y >= py || z < 0 || z >= pz {
		return mpi.ProcNull
	}
	return int64(x + px*(y+py*z))
}

// Stencil3D exchanges the six faces of a block of a 3D grid, whose blocks
// differ in size where the grid doesn't divide evenly.
func Stencil3D(periodic bool) func(v *vmpi.Rank) {
	return func(v *vmpi.Rank) {
		px, py, pz := grid3(v.Size)
		x, y, z := v.Rank%px, v.Rank/px%py, v.Rank/px/py
		nx, ny, nz := share(1000, px, x), share(1000, py, y), share(1000, pz, z)
		at := func(dx, dy, dz int) int64 { return neighbour(x, y, z, dx, dy, dz, px, py, pz, periodic) }
		around := [6]int64{at(-1, 0, 0), at(1, 0, 0), at(0, -1, 0), at(0, 1, 0), at(0, 0, -1), at(0, 0, 1)}
		size := [3]int64{ny * nz, nx * nz, nx * ny}
		v.Start(1)
		comm := v.CommDup(4, vmpi.World, vmpi.Members{Leader: 0, Rank: int64(v.Rank), Size: int64(v.Size)})
		v.Bcast(5, vmpi.Static(512), 12, vmpi.Int, 0, comm)
		var rs []vmpi.Request
		for step := range 20 {
			rs = rs[:0]
			for i, n := range around {
				rs = append(rs, v.Irecv(10, vmpi.Heap(int64(i)), size[i/2], vmpi.Double, n, 7, comm))
			}
			for i, n := range around {
				rs = append(rs, v.Isend(11, vmpi.Heap(int64(6+i)), size[i/2], vmpi.Double, n, 7, comm))
			}
			v.Waitall(12, rs)
			if step%5 == 4 {
				v.Allreduce(13, vmpi.InPlace, vmpi.Static(64), 3, vmpi.Double, vmpi.Sum, comm)
			}
		}
		v.Finalize(14)
	}
}

// Ocean is an ocean model's communication. Each step solves for the surface by conjugate gradients, with a random
// number of iterations, the same on all ranks. Then a rank exchanges with its neighbours west and east. Each rank has a
// random depth, and the larger depth of the two neighbours is the number of their exchanges.
func Ocean(v *vmpi.Rank) {
	px, py := grid2(v.Size)
	x, y := v.Rank%px, v.Rank/px
	at := func(dx, dy int) int64 { return neighbour(x, y, 0, dx, dy, 0, px, py, 1, false) }
	around := [4]int64{at(-1, 0), at(1, 0), at(0, -1), at(0, 1)}
	v.Start(1)
	var rs []vmpi.Request
	for step := range 40 {
		for range 24 + int(Random(step)%16) {
			rs = rs[:0]
			for i, n := range around {
				rs = append(rs, v.Irecv(4+2*i, vmpi.Heap(0).Plus(int64(i)*1024), 64, vmpi.Double, n, int64(i^1), vmpi.World),
					v.Isend(5+2*i, vmpi.Heap(1).Plus(int64(i)*1024), 64, vmpi.Double, n, int64(i), vmpi.World))
			}
			v.Waitall(12, rs)
			v.Allreduce(13, vmpi.Stack(16), vmpi.Stack(32), 2, vmpi.Double, vmpi.Sum, vmpi.World)
		}
		for i, n := range around[:2] {
			if n == mpi.ProcNull {
				continue
			}
			deep := func(rank int) int { return 1 + int(Random(rank, step)%8) }
			for range max(deep(v.Rank), deep(int(n))) {
				v.Sendrecv(14+i, vmpi.Heap(2), 64, n, 5, vmpi.Heap(3), 64, n, 5, vmpi.Double, vmpi.World)
			}
		}
	}
	v.Finalize(16)
}
