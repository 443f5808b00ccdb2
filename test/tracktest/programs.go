package tracktest

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// heap is the segment value of a heap allocation.
func heap(id int64) int64 { return id<<8 | 1 }

// Send, Isend and so on record a call with the usual parameters.

func (r *Recorder) Send(site int, count, dest, tag int64) {
	r.Call("MPI_Send", site, heap(0), 0, count, IntType, dest, tag, World)
}

func (r *Recorder) Recv(site int, count, source, tag int64) {
	r.Call("MPI_Recv", site, heap(1), 0, count, IntType, source, tag, World, 1, source, tag, 4*count, 0)
}

func (r *Recorder) Isend(site int, count, dest, tag int64) {
	r.Call("MPI_Isend", site, heap(0), 8*dest, count, IntType, dest, tag, World, 2)
}

func (r *Recorder) Irecv(site int, count, source, tag int64) {
	r.Call("MPI_Irecv", site, heap(1), 8*source, count, IntType, source, tag, World, 2)
}

// Waitall waits for the n newest requests, with statuses ignored.
func (r *Recorder) Waitall(site int, n int64) {
	vals := []int64{n, n}
	for i := range n {
		vals = append(vals, 2*(n-i))
	}
	r.Call("MPI_Waitall", site, append(vals, -5)...)
}

func (r *Recorder) Allreduce(site int, count int64) {
	r.Call("MPI_Allreduce", site, heap(2), 0, heap(3), 0, count, IntType, 0x23, World)
}

func (r *Recorder) Begin() { r.Call("MPI_Init", 1) }

func (r *Recorder) End() { r.Call("MPI_Finalize", 2) }

// Stencil is a 2D grid that is open at its edges, exchanging halos with four
// neighbours.
func Stencil(steps int) func(r *Recorder) {
	return func(r *Recorder) {
		side := square(r.Size)
		x, y := r.Rank%side, r.Rank/side
		near := func(dx, dy int) int64 {
			nx, ny := x+dx, y+dy
			if nx < 0 || nx >= side || ny < 0 || ny >= r.Size/side {
				return ProcNull
			}
			return int64(nx + ny*side)
		}
		around := []int64{near(-1, 0), near(1, 0), near(0, -1), near(0, 1)}
		r.Begin()
		for range steps {
			for i, n := range around {
				r.Call("MPI_Irecv", 10+i, heap(1), int64(i)*800, 100, IntType, n, 7, World, 2)
			}
			for i, n := range around {
				r.Call("MPI_Isend", 20+i, heap(0), int64(i)*800, 100, IntType, n, 7, World, 2)
			}
			r.Waitall(30, 8)
			r.Allreduce(31, 1)
		}
		r.End()
	}
}

// Butterfly exchanges with rank xor 2^k in each round.
func Butterfly(rounds int) func(r *Recorder) {
	return func(r *Recorder) {
		r.Begin()
		for range rounds {
			for bit := 1; bit < r.Size; bit <<= 1 {
				if p := r.Rank ^ bit; p < r.Size {
					r.Irecv(10, 64, int64(p), int64(bit))
					r.Send(11, 64, int64(p), int64(bit))
					r.Waitall(12, 1)
				}
			}
		}
		r.End()
	}
}

// Transpose sends blocks to the transposed place of a square grid, with sizes
// that depend on row and column.
func Transpose(steps int) func(r *Recorder) {
	return func(r *Recorder) {
		side := square(r.Size)
		x, y := r.Rank%side, r.Rank/side
		other := int64(y + x*side)
		r.Begin()
		for range steps {
			r.Irecv(10, int64(10+3*(x*x%7)), other, 3)
			r.Send(11, int64(10+3*(y*y%7)), other, 3)
			r.Waitall(12, 1)
			r.Allreduce(13, 2)
		}
		r.End()
	}
}

// Workers is a master that distributes work in an order that looks random.
func Workers(tasks int) func(r *Recorder) {
	return func(r *Recorder) {
		r.Begin()
		x := uint64(88172645463325252)
		for range tasks {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			w := 1 + int(x%uint64(max(r.Size-1, 1)))
			switch r.Rank {
			case 0:
				r.Recv(10, 1, int64(w), 1)
				r.Send(11, 50, int64(w), 2)
			case w:
				r.Send(12, 1, 0, 1)
				r.Recv(13, 50, 0, 2)
			}
		}
		r.End()
	}
}

func square(n int) int {
	s := 1
	for (s+1)*(s+1) <= n {
		s++
	}
	for n%s != 0 {
		s--
	}
	return s
}

// Counting is a loop with the step number as tag, changing partners, and three sizes in turn: each of these becomes a
// lane. The recorder finds the lanes in the first phase, if at all the merge in the second, which is shorter.
func Counting(steps int) func(r *Recorder) {
	return func(r *Recorder) {
		r.Begin()
		n := int64(r.Size)
		for phase := range 2 {
			for i := range int64(steps / (1 + phase)) {
				d := int64(0)
				if n > 1 {
					d = 1 + i%(n-1)
				}
				to, from, count := (int64(r.Rank)+d)%n, (int64(r.Rank)+n-d)%n, 10+i%3
				send := []int64{0, heap(0), 8 * i, count, IntType, to, i, World}
				recv := []int64{0, heap(1), 0, 20, IntType, from, i, World, 1, from, i, 4 * count, 0}
				if phase == 0 {
					r.LaneOn(0, "MPI_Send", 40, []int{2, 6}, send...)
					r.LaneOn(0, "MPI_Recv", 41, []int{6, 10}, recv...)
				} else {
					r.CallOn(0, "MPI_Send", 42, send...)
					r.CallOn(0, "MPI_Recv", 43, recv...)
				}
			}
			r.Allreduce(44, 1)
		}
		r.End()
	}
}

// Timed gives the calls of a track's first thread times, by position, in the form that a recording in this mode
// keeps.
func Timed(t *track.Track, mode timing.Mode, times func(i int) (gap, duration uint64)) {
	clear(t.Times)
	paths, i := track.TimesByPreviousOf(t, true, mode == timing.ModeHist), 0
	t.Process.SpanNs = 0
	for n := range t.Streams[0].Grammar.All() {
		gap, duration := times(i)
		i++
		t.Times[n].Add(gap, duration)
		t.Process.SpanNs += int64(gap + duration)
		paths.Add(n, gap, duration)
	}
	t.TimeLog = nil
	if mode.NeedsLog() {
		t.TimeLog = &track.TimeLog{Options: timing.Options{Mode: mode}, TicksPerNs: 1, StartNs: t.Process.StartNs}
		t.TimeLog.Streams = []iter.Seq2[[]timing.CallTicks, error]{func(yield func([]timing.CallTicks, error) bool) {
			for k := range i {
				gap, duration := times(k)
				if !yield([]timing.CallTicks{{Duration: duration, Gap: gap}}, nil) {
					return
				}
			}
		}}
	}
	t.Courses, t.Hists = paths.CoursesAndHists(nil)
}
