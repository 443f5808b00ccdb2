package replay

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Memory is there from the first call that uses it until the program freed it.
func TestAllocsOfSegments(t *testing.T) {
	const big, heap1 = 40 << 20, 1<<8 | 1
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		for range 8 {
			r.AllocEvent(0, false, heap0, big)
			r.Call("MPI_Send", 1, heap0, 0, big/4, tracktest.IntType, 0, 7, tracktest.World)
			r.AllocEvent(0, false, heap1, 5000)
			r.Call("MPI_Send", 2, heap1, 0, 3, tracktest.IntType, 0, 7, tracktest.World)
			r.AllocEvent(0, true, heap1, 0)
			r.AllocEvent(0, true, heap0, 0)
		}
		r.Call("MPI_Send", 3, 2<<8|1, 0, 3, tracktest.IntType, 0, 7, tracktest.World) // begins nowhere
		r.End()
	})
	var f *fake
	var most int64
	f = &fake{on: map[string]func(c *Call){"MPI_Send": func(c *Call) {
		most = max(most, f.allocated)
		place := c.Words[0]
		if load(place, 8) == 0 {
			t.Errorf("nothing is in the memory at %#x", place)
		}
	}}}
	if _, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{NoCompute: true}); err != nil {
		t.Fatal(err)
	}
	// Cells, arena and the like aside.
	if most < big || most > 2*big {
		t.Errorf("at most %d bytes were allocated, %d of them alive at a time", most, big)
	}
	if f.allocated > big/2 {
		t.Errorf("%d bytes are left", f.allocated)
	}
}

// However far calls reach beyond a segment, or seem to, there is content as far as its
// size.
func TestReachBeyondSegments(t *testing.T) {
	p := reissue.MemorySegment{Class: trace.AddressHeap}
	for _, follow := range []bool{false, true} {
		f := &fake{}
		plan := &reissue.ResourcePlan{Segments: []reissue.TouchedSegment{{MemorySegment: p, Low: -1 << 20, High: 2 << 20}}}
		g, err := newSegments(plan, nil, 1, f, &allocs{follow: follow, largest: map[reissue.MemorySegment]int64{p: 8000}})
		if err != nil {
			t.Fatal(err)
		}
		size := int64(8000)
		if follow {
			if f.allocated != 0 {
				t.Errorf("%d bytes were allocated before the segment began", f.allocated)
			}
			if size = 4000; g.begin(p, 4000) != nil {
				t.Fatal(err)
			}
		}
		if f.allocated != 3<<20+2*margin {
			t.Errorf("%d bytes of address space", f.allocated)
		}
		at, err := g.address(trace.SymbolicAddress{Class: trace.AddressHeap})
		if err != nil {
			t.Fatal(err)
		}
		for offset, want := range map[int64]bool{0: true, size - 8: true, size + 8: false, 2<<20 - 8: false, -1 << 20: false} {
			if got := load(at+uint64(offset), 8) != 0; got != want {
				t.Errorf("follow %v: content at %d: %v", follow, offset, got)
			}
		}
	}
	g, err := newSegments(&reissue.ResourcePlan{Segments: []reissue.TouchedSegment{{MemorySegment: p, High: 8 * mostSpace}}}, nil, 1, &fake{}, &allocs{largest: map[reissue.MemorySegment]int64{p: 8}})
	if err == nil && g.rooms[p].size > 2*mostSpace {
		t.Errorf("%d bytes of address space", g.rooms[p].size)
	}
}

// Rooms of about the same size are used again, and few are kept.
func TestSpareRooms(t *testing.T) {
	g := &segments{host: &fake{}}
	a, used, err := g.room(1 << 20)
	if err != nil || used {
		t.Fatalf("%v %v", used, err)
	}
	g.giveBack(a)
	if b, used, _ := g.room(3 << 19); used {
		t.Errorf("%d bytes in a room of %d", 3<<19, b.size)
	}
	if b, used, _ := g.room(3 << 18); !used || b != a {
		t.Errorf("got %v, expected %v", b, a)
	}
	for range 2 * mostSpare {
		r, _, err := g.room(4 << 20)
		if err != nil {
			t.Fatal(err)
		}
		defer g.giveBack(r)
	}
	g.giveBack(room{0, 0})
	if len(g.spare) > mostSpare || g.spareBytes > spareBytes {
		t.Errorf("%d rooms of %d bytes are kept", len(g.spare), g.spareBytes)
	}
}
