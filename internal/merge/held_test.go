package merge

import (
	"runtime"
	"testing"

	"github.com/spoor-hpc/spoor/test/tracktest"
)

// What a node of the tree holds follows from what ranks do differently: the formula
// is what the heap says, and more ranks that do the same add their lines of the table of
// processes only.
func TestHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("a long loop of one goroutine")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, program := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "butterfly": tracktest.Butterfly(3), "transpose": tracktest.Transpose(4),
		"counting": tracktest.Counting(200), "workers": tracktest.Workers(400),
	} {
		held := make(map[int]int)
		for _, ranks := range []int{64, 512} {
			if name == "workers" && ranks > 64 {
				continue // each rank is another
			}
			// Messages as from others, so that nothing is shared with the tracks.
			own, err := MergeAll(tracktest.RunAll(ranks, program), ranks)
			if err != nil {
				t.Fatal(err)
			}
			msg := own.encode()
			own = nil
			before := heap()
			s, err := decode(msg, &MergedBlock{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range s.classes {
				c.shape()
			}
			got := int(heap() - before)
			held[ranks] = s.HeldBytes()
			t.Logf("%s on %d ranks: %d bytes of heap, %d by the formula, %d classes", name, ranks, got, s.HeldBytes(), s.Classes())
			if limit := s.HeldBytes() + s.HeldBytes()/4 + 16<<10; got > limit {
				t.Errorf("%s on %d ranks: %d bytes of heap, at most %d expected", name, ranks, got, limit)
			}
			runtime.KeepAlive(s)
			runtime.KeepAlive(msg)
		}
		if more := held[512] - held[64]; name == "stencil" && more > 300*(512-64) {
			t.Errorf("%s: 448 more ranks take %d bytes", name, more)
		}
	}
}
