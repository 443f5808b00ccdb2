package merge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Ranks allocate and free blocks in a loop, of a size and for a time that are their
// own; odd ones keep another block. Everything comes out again, through messages
// and files, and ranks whose allocation events differ in numbers alone are one set.
func TestAllocs(t *testing.T) {
	const ranks, rounds = 12, 50
	type seen struct {
		At         uint64
		AllocEvent trace.AllocEvent
	}
	want := make([][]seen, ranks)
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		note := func(free bool, id int64, size uint64) {
			r.AllocEvent(0, free, id<<8|1, size)
		}
		see := func(at int, free bool, id int64, size uint64) {
			want[r.Rank] = append(want[r.Rank], seen{uint64(at), trace.AllocEvent{IsFree: free, Segment: trace.SymbolicAddress{Class: trace.AddressHeap, ID: id}, Size: size}})
		}
		size, n := uint64(4096+8*r.Rank), 2+r.Rank%3
		for i := range rounds {
			note(false, 0, size)
			see(i*n, false, 0, size)
			for range n {
				r.Allreduce(1, 1)
			}
			note(true, 0, 0)
			see((i+1)*n, true, 0, 0)
		}
		if r.Rank%2 == 1 {
			note(false, 7, 1<<40)
			see(rounds*n, false, 7, 1<<40)
		}
	})
	s := throughTree(t, tracks)
	c, err := s.Content(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Allocs) != 2 {
		t.Errorf("%d sets of allocation events, expected those of even and those of odd ranks", len(c.Allocs))
	}
	b := file(t, s)
	all, err := merge.MergeAll(tracks, ranks)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, file(t, all)); d != "" {
		t.Errorf("other bytes without messages: %s", d)
	}
	r, err := readerOf(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	for rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		allocs, err := k.Allocs()
		if err != nil {
			t.Fatal(err)
		}
		var got []seen
		for at, l := range allocs.All(0) {
			l.CallsSincePrevious = 0
			got = append(got, seen{at, l})
		}
		if d := cmp.Diff(want[rank], got); d != "" {
			t.Errorf("rank %d: -want +got:\n%s", rank, d)
		}
	}
	size := 0
	for _, x := range r.Sections() {
		if x.Name == "lives" {
			size = int(x.StoredBytes)
		}
	}
	if size == 0 || size > 300 {
		t.Errorf("%d bytes of allocation events", size)
	}
}
