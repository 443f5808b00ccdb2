package goal

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// stencil has ranks in a torus exchange with four neighbours, rounds times: non-blocking, then
// a calculation, which takes each rank a little longer or shorter.
func stencil(tb testing.TB, side, rounds int, size uint64) *Schedule {
	tb.Helper()
	var b Builder
	ok := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	add := func(o Op) uint32 {
		op, err := b.Add(o)
		ok(err)
		return op
	}
	for rank := range side * side {
		b.BeginRank()
		x, y := rank%side, rank/side
		at := func(dx, dy int) uint32 { return uint32((x+dx+side)%side + (y+dy+side)%side*side) }
		before := add(Op{Kind: Calc, Size: uint64(rank % 7)})
		for round := range rounds {
			var exchange []uint32
			for i, peer := range []uint32{at(1, 0), at(-1, 0), at(0, 1), at(0, -1)} {
				exchange = append(exchange, add(Op{Kind: Recv, Size: size, Peer: peer, Tag: uint32(i ^ 1)}),
					add(Op{Kind: Send, Size: size, Peer: peer, Tag: uint32(i)}))
			}
			next := add(Op{Kind: Calc, Size: uint64(5000 + (rank*31+round*17)%97)})
			for _, op := range exchange {
				ok(b.AfterEnd(op, before))
				ok(b.AfterEnd(next, op))
			}
			before = next
		}
	}
	return b.Schedule()
}

// chain has ranks in a ring pass messages on, one blocking call after the other.
func chain(tb testing.TB, ranks, rounds int) *Schedule {
	tb.Helper()
	var b Builder
	for rank := range ranks {
		b.BeginRank()
		for round := range rounds {
			for i, o := range []Op{
				{Kind: Calc, Size: uint64(800 + (rank+round)%9)},
				{Kind: Send, Size: 64, Peer: uint32((rank + 1) % ranks)},
				{Kind: Recv, Size: 64, Peer: uint32((rank + ranks - 1) % ranks)},
			} {
				op, err := b.Add(o)
				if err != nil {
					tb.Fatal(err)
				}
				if round+i > 0 {
					if err := b.AfterEnd(op, op-1); err != nil {
						tb.Fatal(err)
					}
				}
			}
		}
	}
	return b.Schedule()
}

func BenchmarkSimulate(b *testing.B) {
	for _, c := range []struct {
		name     string
		schedule *Schedule
		eager    uint64
	}{
		{"stencil-64", stencil(b, 8, 400, 32768), DefaultParameters.Eager},
		{"stencil-64-rendezvous", stencil(b, 8, 400, 32768), 4000},
		{"stencil-1024", stencil(b, 32, 25, 32768), DefaultParameters.Eager},
		{"chain-64", chain(b, 64, 1000), DefaultParameters.Eager},
		{"chain-1024", chain(b, 1024, 60), DefaultParameters.Eager},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := DefaultParameters
			p.Eager = c.eager
			var events uint64
			var spent time.Duration
			for b.Loop() {
				e := newEngine(c.schedule, p)
				began := processorTime(b)
				if err := e.simulate(); err != nil {
					b.Fatal(err)
				}
				spent += processorTime(b) - began
				if err := e.leftOver(); err != nil {
					b.Fatal(err)
				}
				events += uint64(e.order)
			}
			b.ReportMetric(float64(events)/1e6/spent.Seconds(), "Mevents/s") // without setting up
		})
	}
}

// processorTime is what this process has had: others don't slow a figure down by it.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestAllocations shows that what a run allocates doesn't grow with its events.
func TestAllocations(t *testing.T) {
	for _, rounds := range []int{10, 100} {
		s := stencil(t, 4, rounds, 32768)
		const runs = 5
		engines := make([]*engine, 0, runs+1)
		for range runs + 1 {
			engines = append(engines, newEngine(s, DefaultParameters))
		}
		n := testing.AllocsPerRun(runs, func() {
			if err := engines[0].simulate(); err != nil {
				t.Fatal(err)
			}
			engines = engines[1:]
		})
		if n > 30 {
			t.Errorf("%d rounds: %v allocations", rounds, n)
		}
	}
}

func ExampleSimulate() {
	var b Builder
	b.BeginRank()
	b.Add(Op{Kind: Send, Size: 8, Peer: 1})
	b.BeginRank()
	b.Add(Op{Kind: Recv, Size: 8, Peer: 0})
	r, err := Simulate(b.Schedule(), DefaultParameters)
	fmt.Println(r.End, err) // o, and o + L + o + 7G
	// Output: [1500 5542] <nil>
}
