package capture

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/pack"
)

// Whatever is packed when, and saved and loaded in between, the terminals are those that
// were appended.
func TestSequence(t *testing.T) {
	defer func(n int) { maxLive = n }(maxLive)
	rapid.Check(t, func(t *rapid.T) {
		maxLive = 1
		q := newSequence()
		var want []uint32
		for _, part := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 5), 0, 40), 0, 6).Draw(t, "parts") {
			for _, n := range part {
				q.Append(n)
				want = append(want, n)
			}
			switch rapid.IntRange(0, 2).Draw(t, "then") {
			case 0:
				q.settle()
			case 1:
				w := &pack.Writer{}
				q.save(w, nil)
				r := pack.NewReader(w.B)
				if q = loadSequence(r, 6); r.Done() != nil {
					t.Fatal(r.Done())
				}
			}
			if q.Len() != uint64(len(want)) {
				t.Fatalf("%d terminals, want %d", q.Len(), len(want))
			}
		}
		g, err := q.Grammar()
		if err == nil {
			err = g.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(g.All()); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}
