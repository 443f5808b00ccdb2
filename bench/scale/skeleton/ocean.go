package skeleton

import (
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/mpi"
)

// Ocean steps through two modes of motion. Each step solves for the surface by conjugate gradients, in as many iterations
// as the wind of that step wants, and then passes what moves fast to the neighbours east and west, in as many rounds as
// the deeper of the two wants.
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
