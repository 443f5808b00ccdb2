package merge_test

import (
	"bytes"
	"iter"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// sweeps is a pipeline whose messages have sizes that depend on place and
// step, two of them in turn, so that hardly two ranks have equal grammars.
func sweeps(r *tracktest.Recorder) {
	r.Begin()
	for range 3 {
		for step := range 24 {
			n := int64(100)
			if (step*step+5*r.Rank*r.Rank)%23 < 9 {
				n = 120
			}
			r.Send(10, n, int64((r.Rank+1)%r.Size), 3)
			r.Recv(11, n, int64((r.Rank+r.Size-1)%r.Size), 3)
		}
		r.Allreduce(12, 1)
	}
	r.End()
}

// Ranks that make the same calls with other sizes become one class, and each
// call comes back with its values.
func TestRefine(t *testing.T) {
	for _, size := range []int{16, 64, 100} {
		tracks := tracktest.RunAll(size, sweeps)
		s := throughTree(t, tracks)
		if s.Classes() != 1 {
			t.Errorf("%d ranks: %d classes", size, s.Classes())
		}
		b := file(t, s)
		sameCalls(t, b, tracks)
		all, err := merge.MergeAll(tracks, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, file(t, all)) {
			t.Errorf("%d ranks: merged at once, they make another file", size)
		}
	}
}

// What ranks do at random comes back, too, however it is held.
func TestRefineRandom(t *testing.T) {
	tracks := tracktest.RunAll(16, func(r *tracktest.Recorder) {
		r.Begin()
		x := uint64(r.Rank)*0x9e3779b97f4a7c15 + 1
		for range 200 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			r.Send(10, int64(x%50), int64(x>>8%16), int64(x>>16%3))
		}
		r.End()
	})
	sameCalls(t, file(t, throughTree(t, tracks)), tracks)
}

// sameCalls checks every call of every rank, however terminals are numbered.
func sameCalls(t *testing.T, b []byte, tracks []*track.Track) {
	t.Helper()
	r, err := trace.ReadBytes(b, "test")
	if err != nil {
		t.Fatal(err)
	}
	for rank, tr := range tracks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		next, stop := iter.Pull(tr.Streams[0].Grammar.All())
		defer stop()
		calls := 0
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			want, ok := next()
			if !ok || !slices.Equal(k.Signature(c.Terminal), tr.Signatures[want].Values) {
				t.Fatalf("rank %d: call %d: %v", rank, c.Index, k.Signature(c.Terminal))
			}
			calls++
		}
		if _, ok := next(); ok {
			t.Fatalf("rank %d: only %d calls", rank, calls)
		}
		times, err := k.ClassTimes()
		if err != nil {
			t.Fatal(err)
		}
		var sum, want uint64
		for i := range times {
			sum += times[i].Duration.Count
		}
		for _, i := range r.Members(k.Class()) {
			for _, x := range tracks[i].Times {
				want += x.Duration.Count
			}
		}
		if sum != want {
			t.Fatalf("rank %d: times of %d calls, %d were made", rank, sum, want)
		}
	}
}
