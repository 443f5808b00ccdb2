package replay

import (
	"testing"

	"spoor/internal/merge/mergetest"
	"spoor/internal/reissue"
	"spoor/internal/track/tracktest"
	"spoor/mpi"
	"spoor/trace"
)

// Memory is there from the first call that uses it until the program freed it.
func TestLivesOfSegments(t *testing.T) {
	const big, heap1 = 40 << 20, 1<<8 | 1
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		for range 50 {
			r.Life(0, false, heap0, big)
			r.Call("MPI_Send", 1, heap0, 16, 3, tracktest.IntType, 0, 7, tracktest.World)
			r.Life(0, false, heap1, 5000)
			r.Call("MPI_Send", 2, heap1, 0, 3, tracktest.IntType, 0, 7, tracktest.World)
			r.Life(0, true, heap1, 0)
			r.Life(0, true, heap0, 0)
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
	if _, err := run(t, r, 0, f, mpi.MPICH, Options{NoCompute: true}); err != nil {
		t.Fatal(err)
	}
	// Cells, arena and the like aside.
	if least := int64(big); most < least || most > 2*least {
		t.Errorf("at most %d bytes were allocated, %d of them alive at a time", most, least)
	}
	if f.allocated > big/2 {
		t.Errorf("%d bytes are left", f.allocated)
	}
}

// A segment is as large as it was, however far calls seem to reach.
func TestSegmentsAreAsLargeAsTheyWere(t *testing.T) {
	p := reissue.Place{Class: trace.Heap}
	plan := func() *reissue.Plan {
		return &reissue.Plan{Segments: []reissue.Segment{{Place: p, High: 1 << 40}}}
	}
	f := &fake{}
	g, err := newSegments(plan(), nil, 1, f, &lives{largest: map[reissue.Place]int64{p: 5000}})
	if err != nil || f.allocated != 5000+2*margin || g.rooms[p].size != f.allocated {
		t.Errorf("%d bytes were allocated for 5000, %v", f.allocated, err)
	}
	f = &fake{}
	g, err = newSegments(plan(), nil, 1, f, &lives{follow: true, largest: map[reissue.Place]int64{p: 5000}})
	if err != nil || f.allocated != 0 {
		t.Errorf("%d bytes were allocated before the segment began, %v", f.allocated, err)
	}
	if err := g.begin(p, 3000); err != nil || f.allocated != 3000+2*margin {
		t.Errorf("%d bytes were allocated for 3000, %v", f.allocated, err)
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
