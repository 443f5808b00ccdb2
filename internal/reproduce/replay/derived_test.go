package replay

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// meet replays all ranks of a trace, with receives that follow from sends, where no message has room to wait.
func meet(t mergetest.TB, r *trace.Reader, colors int) (*meeting, []*Process) {
	m := newMeeting(r.Ranks())
	list, errs := make([]*Process, r.Ranks()), make([]error, r.Ranks())
	var all sync.WaitGroup
	for n := range list {
		k, err := r.Rank(n)
		if err != nil {
			t.Fatal(err)
		}
		order, err := NewEventOrder(r, n)
		if err != nil {
			t.Fatal(err)
		}
		h := &member{fake: fake{now: 1e6}, m: m, rank: n, size: r.Ranks(), colors: colors}
		if list[n], err = NewProcess(r, k, h, mpi.FlavourMPICH, Options{NoCompute: true, Order: order}); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			errs[n] = list[n].Streams()[0].Run()
			m.end()
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if m.dead {
		t.Fatal("all ranks wait for each other")
	}
	for _, lists := range []map[link][]*parcel{m.sends, m.receives} {
		for at, list := range lists {
			if len(list) > 0 {
				m.problems = append(m.problems, fmt.Sprintf("%+v: %d messages have no other end", at, len(list)))
			}
		}
	}
	if len(m.problems) > 0 {
		t.Fatal(m.problems)
	}
	return m, list
}

// Whatever ranks send each other, in whatever mode and between which collective calls, without any receives that fit: the replay comes
// to its end, and all that is sent is received.
func TestDerivedMeets(t *testing.T) {
	type step struct{ kind, from, to, tag, count int }
	const kinds = 12
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 5).Draw(t, "ranks")
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.IntRange(0, kinds-1).Draw(t, "kind"), rapid.IntRange(0, ranks-1).Draw(t, "from"), rapid.IntRange(0, ranks-1).Draw(t, "to"),
				rapid.IntRange(0, 1).Draw(t, "tag"), rapid.IntRange(0, 3).Draw(t, "count"),
			}
		}), 0, 60).Draw(t, "steps")
		want := make(map[link][]uint64)
		program := func(r *tracktest.Recorder) {
			me, color := r.Rank, r.Rank%2
			next := int64((me + 1) % ranks)
			r.Begin()
			r.Call("MPI_Comm_split", 2, world, int64(color), 0, split, int64(2*color), 0, int64(me/2), int64((ranks-color+1)/2), -1, 0, 0)
			r.Call("MPI_Rsend_init", 3, heap0, 0, 3, tracktest.IntType, next, 9, world, 1)
			r.Call("MPI_Recv_init", 4, heap0, 0, 3, tracktest.IntType, next, 9, world, 3)
			for _, s := range steps {
				to, tag, count, comm := int64(s.to), int64(s.tag), int64(s.count), int64(world)
				sends := func(name string, more ...int64) {
					if me != s.from {
						return
					}
					at := link{worldHandle, me, s.to, uint64(tag)}
					if s.count == 3 && s.from%2 == s.to%2 {
						at.comm, comm, to = uint64(splitHandle+color), split, to/2
					}
					want[at] = append(want[at], uint64(4*count))
					r.Call(name, 10+s.kind, append([]int64{heap0, 0, count, tracktest.IntType, to, tag}, append(more, comm)...)...)
				}
				switch s.kind {
				case 0:
					sends("MPI_Send")
				case 1:
					sends("MPI_Ssend")
				case 2:
					sends("MPI_Bsend")
				case 3:
					sends("MPI_Rsend")
				case 4, 5, 6:
					if name := []string{"MPI_Isend", "MPI_Issend", "MPI_Irsend"}[s.kind-4]; me == s.from {
						at := link{worldHandle, me, s.to, uint64(tag)}
						want[at] = append(want[at], uint64(4*count))
						r.Call(name, 20+s.kind, heap0, 0, count, tracktest.IntType, to, tag, world, 2)
					}
				case 7:
					if me == s.from {
						at := link{worldHandle, me, s.to, uint64(tag)}
						want[at] = append(want[at], uint64(4*count))
						r.Call("MPI_Sendrecv", 30, heap0, 0, count, tracktest.IntType, to, tag, heap0, 0, 1, tracktest.IntType, tracktest.ProcNull, 0, world, 1, -1, -1, 0, 0)
					}
				case 8: // of those that it starts, one receives
					if me == s.from {
						at := link{worldHandle, me, int(next), 9}
						want[at] = append(want[at], 12)
						r.Call("MPI_Startall", 31, 2, 2, 1, 3)
					}
				case 9: // which nobody sends
					if me == s.from {
						r.Recv(32, 1, -1, 77)
					}
				case 10:
					r.Call("MPI_Barrier", 33, world)
				case 11:
					if s.tag == 0 {
						r.Call("MPI_Ibarrier", 34, world, 2)
					} else if color == s.count%2 {
						r.Call("MPI_Barrier", 35, split)
					}
				}
			}
			r.Call("MPI_Request_free", 5, 1)
			r.End()
		}
		m, list := meet(t, mergetest.Run(t, ranks, program), 2)
		for at, sizes := range want {
			if !slices.Equal(m.sent[at], sizes) {
				t.Fatalf("%+v: %v, recorded %v", at, m.sent[at], sizes)
			}
		}
		receives := int64(0)
		for _, p := range list {
			receives += p.Report().DerivedReceives
		}
		messages := int64(0)
		for at, sizes := range m.sent {
			messages += int64(len(sizes))
			if len(want[at]) != len(sizes) {
				t.Fatalf("%+v: %d messages", at, len(sizes))
			}
		}
		if receives != messages {
			t.Fatalf("%d receives of %d messages", receives, messages)
		}
	})
}

// There is room for so many receives, and so many bytes: what comes behind these waits for them.
func TestDerivedRoom(t *testing.T) {
	for _, x := range []struct{ messages, count int64 }{{3 * mostUnderWay, 1}, {1000, 25_000}, {3, receiveRoom/4 + 100}} {
		for _, name := range []string{"MPI_Ssend", "MPI_Isend"} {
			m, list := meet(t, mergetest.Run(t, 3, func(r *tracktest.Recorder) {
				r.Begin()
				for range x.messages {
					for d := range int64(2) {
						vals := []int64{heap0, 0, x.count, tracktest.IntType, (int64(r.Rank) + 1 + d) % 3, 1, world}
						if name == "MPI_Isend" {
							vals = append(vals, 2)
						}
						r.Call(name, 3, vals...)
					}
				}
			}), 1)
			for rank, p := range list {
				if got := p.Report(); got.DerivedReceives != 2*x.messages || got.Calls != 1+2*x.messages || len(m.sent[link{worldHandle, rank, (rank + 1) % 3, 1}]) != int(x.messages) {
					t.Errorf("%+v: %+v", x, got)
				}
			}
		}
	}
}

// What a program computes before calls that aren't made is computed before the next one that is.
func TestDerivedGaps(t *testing.T) {
	const rounds, gap = 10, 10_000
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Send(3, 4, int64(1-r.Rank), 1)
			r.Recv(4, 4, int64(1-r.Rank), 1)
		}
		r.Call("MPI_Barrier", 5, world)
		r.End()
	})
	for _, tr := range tracks {
		tracktest.Timed(tr, timing.ModeStats, func(i int) (uint64, uint64) { return uint64(min(i, 1) * gap), 500 })
	}
	r := mergetest.Open(t, tracks, nil)
	order, err := NewEventOrder(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{now: 1e6}
	p, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{Pace: PaceGaps, Order: order})
	if err != nil {
		t.Fatal(err)
	}
	var begins []int64 // of what is the trace's
	for i, name := range f.log {
		if name != "MPI_Irecv" && name != "MPI_Waitall" {
			begins = append(begins, f.calls[i].BeginNs)
		}
	}
	if len(begins) != rounds+3 {
		t.Fatalf("calls %v", f.log)
	}
	for i := range begins[1:] {
		want := int64(2 * gap)
		if i == 0 || i == rounds+1 { // nothing is left out before it
			want = gap
		}
		if took := begins[i+1] - begins[i]; math.Abs(float64(took-want)) > gap/20 {
			t.Errorf("call %d comes %d ns after the one before, expected %d", i+1, took, want)
		}
	}
	x := p.Report()
	if x.DroppedCalls != rounds || x.DerivedReceives != rounds || math.Abs(float64(x.RecordedComputeNs)/(gap*(2*rounds+2))-1) > 0.02 || math.Abs(float64(x.ComputeNs)/float64(x.RecordedComputeNs)-1) > 0.02 {
		t.Errorf("%+v", x)
	}
}

// What is sent is waited for before the memory goes away that it is in.
func TestDerivedFreesMemory(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		for range 3 {
			r.AllocEvent(0, false, heap0, 64)
			r.Call("MPI_Isend", 3, heap0, 0, 4, tracktest.IntType, 0, 1, world, 2)
			r.AllocEvent(0, true, heap0, 0)
			r.Call("MPI_Comm_rank", 4, world, 0)
		}
		r.End()
	})
	order, err := NewEventOrder(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{now: 1e6}
	p, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	round := []string{"MPI_Isend", "MPI_Waitall", "MPI_Comm_rank"}
	want := slices.Concat([]string{"MPI_Init", "MPI_Irecv", "MPI_Irecv", "MPI_Irecv"}, round, round, round, []string{"MPI_Waitall", "MPI_Finalize"})
	if !slices.Equal(f.log, want) || len(p.segments.base) != 0 {
		t.Errorf("%d segments; %v, expected %v", len(p.segments.base), f.log, want)
	}
}
