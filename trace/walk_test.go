package trace

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A walk gives what Timed does, wherever it begins, and says rightly which calls are
// the ones before once more.
func TestWalk(t *testing.T) {
	r, err := open(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	timed := cmp.AllowUnexported(TimedCall{})
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if errors.Is(err, ErrNoTrack) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for stream := range k.Streams() {
			for from := uint64(0); from < k.CallCount(stream); from += 1 + k.CallCount(stream)/5 {
				w, err := k.TimedWalk(stream, from)
				if err != nil {
					t.Fatal(err)
				}
				var before *Call
				for c, err := range k.TimedCallsFrom(stream, from) {
					if err != nil {
						t.Fatal(err)
					}
					if !w.Next() {
						t.Fatalf("rank %d: walk from %d ends before call %d: %v", rank, from, c.Index, w.Err())
					}
					if d := cmp.Diff(&c, w.Timed(), timed); d != "" {
						t.Fatalf("rank %d, call %d, from %d: -timed +walked:\n%s", rank, c.Index, from, d)
					}
					now := *c.Call
					now.Index = 0
					if before != nil && w.Repeated() && !cmp.Equal(before, &now) {
						t.Fatalf("rank %d, call %d is said to be the one before: %s, %s", rank, c.Index, before.Text(), now.Text())
					}
					if text := string(w.AppendText(nil)); text != now.Text() {
						t.Fatalf("rank %d, call %d: %s in place of %s", rank, c.Index, text, now.Text())
					}
					before = &now
				}
				if w.Next() || w.Err() != nil {
					t.Fatalf("rank %d: walk from %d goes on, or error %v", rank, from, w.Err())
				}
			}
		}
	}
}
