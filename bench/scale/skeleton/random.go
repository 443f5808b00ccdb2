package skeleton

import (
	"sync"

	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/mpi"
)

// AMR changes its neighbours every few steps: who they are and how much they
// get depends on a refinement that looks random.
func AMR(v *vmpi.Rank) {
	v.Start(1)
	var rs []vmpi.Request
	for phase := range 6 {
		// Pairs are drawn by their lower rank, so that both sides agree.
		var peers []int
		var sizes []int64
		link := func(low, k int) (high int, size int64, ok bool) {
			h := Random(phase, low, k)
			reach := []int{1, 2, 3, root(v.Size), root(v.Size) + 1, 2 * root(v.Size)}[k]
			high = low + reach + int(h%3)
			return high, int64(64 << (h >> 8 % 4)), h>>16%3 > 0 && high < v.Size
		}
		for low := max(0, v.Rank-2*root(v.Size)-3); low <= v.Rank; low++ {
			for k := range 6 {
				high, size, ok := link(low, k)
				switch {
				case ok && low == v.Rank:
					peers, sizes = append(peers, high), append(sizes, size)
				case ok && high == v.Rank:
					peers, sizes = append(peers, low), append(sizes, size)
				}
			}
		}
		v.Allreduce(4, vmpi.InPlace, vmpi.Static(0), 1, vmpi.Int, vmpi.Max, vmpi.World)
		for range 8 {
			rs = rs[:0]
			for i, p := range peers {
				rs = append(rs, v.Irecv(5, vmpi.Heap(0).Plus(int64(i)<<12), sizes[i], vmpi.Double, int64(p), int64(phase), vmpi.World))
			}
			for i, p := range peers {
				rs = append(rs, v.Isend(6, vmpi.Heap(1).Plus(int64(i)<<12), sizes[i], vmpi.Double, int64(p), int64(phase), vmpi.World))
			}
			v.Waitall(7, rs)
		}
	}
	v.Finalize(8)
}

// Scatter sends random-looking numbers of bytes to random-looking ranks, like updates of a distributed table. First
// all ranks exchange the numbers of messages.
func Scatter(v *vmpi.Rank) {
	const messages = 8
	v.Start(1)
	for step := range 10 {
		var rs []vmpi.Request
		update := func(from, k int) (to int, size int64) {
			h := Random(step, from, k)
			return (from + 1 + int(h%uint64(v.Size-1))) % v.Size, int64(1 + h>>32%4096)
		}
		v.Alltoall(4, vmpi.Heap(0), 1, vmpi.Heap(1), 1, vmpi.Int, vmpi.World)
		for from := 0; from < v.Size && v.Size > 1; from++ {
			for k := range messages {
				if to, size := update(from, k); to == v.Rank {
					rs = append(rs, v.Irecv(5, vmpi.Heap(2).Plus(int64(len(rs))<<12), size, vmpi.Byte, int64(from), 1, vmpi.World))
				}
			}
		}
		for k := 0; k < messages && v.Size > 1; k++ {
			to, size := update(v.Rank, k)
			rs = append(rs, v.Isend(6, vmpi.Heap(3).Plus(int64(k)<<12), size, vmpi.Byte, int64(to), 1, vmpi.World))
		}
		v.Waitall(7, rs)
	}
	v.Finalize(8)
}

// MasterWorker distributes tasks to the worker that asks first.
func MasterWorker(v *vmpi.Rank) {
	const (
		ask  = 1
		work = 2
		stop = 3
	)
	v.Start(1)
	workers := v.Size - 1
	tasks := 8 * workers
	get := func(site, n int, source, tag int64, st vmpi.Status) {
		v.RecvOf(site, vmpi.Stack(64), int64(n), vmpi.Double, source, tag, vmpi.World, st)
	}
	if v.Rank == 0 {
		// A worker that gets k tasks asks k+1 times: the last answer is stop.
		for t := range tasks {
			w := int64(worker(t, workers))
			get(10, 4, mpi.AnySource, ask, vmpi.Status{Source: w, Tag: ask, Bytes: 32})
			v.Send(11, vmpi.Heap(0), 16, vmpi.Double, w, work, vmpi.World)
		}
		for _, w := range shuffled(workers, 77) {
			get(12, 4, mpi.AnySource, ask, vmpi.Status{Source: int64(w + 1), Tag: ask, Bytes: 32})
			v.Send(13, vmpi.Heap(0), 0, vmpi.Double, int64(w+1), stop, vmpi.World)
		}
	} else {
		mine := counts(workers)[v.Rank]
		for i := range mine + 1 {
			v.Send(20, vmpi.Stack(32), 4, vmpi.Double, 0, ask, vmpi.World)
			if i < mine {
				get(21, 16, 0, mpi.AnyTag, vmpi.Status{Source: 0, Tag: work, Bytes: 128})
			} else {
				get(21, 16, 0, mpi.AnyTag, vmpi.Status{Source: 0, Tag: stop, Bytes: 0})
			}
		}
	}
	v.Finalize(30)
}

// worker returns the worker that gets a task: the workers take turns, but every fourth task goes to a pseudorandom
// one.
func worker(task, workers int) int {
	if task%4 == 3 {
		return 1 + int(Random(task)%uint64(workers))
	}
	return 1 + task%workers
}

// counts returns the number of tasks by worker's rank. It computes them once for all virtual ranks.
func counts(workers int) []int {
	if c, ok := counted.Load(workers); ok {
		return c.([]int)
	}
	n := make([]int, workers+1)
	for t := range 8 * workers {
		n[worker(t, workers)]++
	}
	counted.Store(workers, n)
	return n
}

var counted sync.Map

// Waitany exchanges with six neighbours and waits for the receives one by one with MPI_Waitany, in random order.
func Waitany(v *vmpi.Rank) {
	px, py, pz := grid3(v.Size)
	x, y, z := v.Rank%px, v.Rank/px%py, v.Rank/px/py
	v.Start(1)
	for step := range 20 {
		var recv, send []vmpi.Request
		for i, d := range faces {
			n := neighbour(x, y, z, d[0], d[1], d[2], px, py, pz, true)
			recv = append(recv, v.Irecv(10, vmpi.Heap(int64(i)), 500, vmpi.Double, n, int64(i^1), vmpi.World))
			send = append(send, v.Isend(11, vmpi.Heap(int64(6+i)), 500, vmpi.Double, n, int64(i), vmpi.World))
		}
		for _, i := range shuffled(6, v.Rank, step) {
			v.Waitany(12, recv, i)
		}
		v.Waitall(13, send)
	}
	v.Finalize(14)
}

var faces = [6][3]int{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}}

// Testsome polls with MPI_Testsome: some of these calls find no completed request, others one or two.
func Testsome(v *vmpi.Rank) {
	px, py, pz := grid3(v.Size)
	x, y, z := v.Rank%px, v.Rank/px%py, v.Rank/px/py
	v.Start(1)
	for step := range 20 {
		var rs []vmpi.Request
		for i, d := range faces {
			n := neighbour(x, y, z, d[0], d[1], d[2], px, py, pz, true)
			rs = append(rs, v.Irecv(10, vmpi.Heap(int64(i)), 500, vmpi.Double, n, int64(i^1), vmpi.World))
			v.Send(11, vmpi.Heap(int64(6+i)), 500, vmpi.Double, n, int64(i), vmpi.World)
		}
		order := shuffled(6, v.Rank, step)
		for turn := 0; len(order) > 0; turn++ {
			n := int(Random(v.Rank, step, turn) % 4)
			n = min(max(n-1, 0), len(order))
			v.Testsome(12, rs, order[:n])
			order = order[n:]
		}
		v.Allreduce(13, vmpi.Stack(8), vmpi.Stack(16), 1, vmpi.Double, vmpi.Sum, vmpi.World)
	}
	v.Finalize(14)
}
