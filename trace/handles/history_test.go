package handles

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHistory compares with a look at every binding.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h history[int]
		for stream := range 3 {
			for i, index := range slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Uint64Range(0, 9), 0, 4).Draw(t, "calls")))) {
				h = append(h, binding[int]{stream, index, 10*stream + i})
			}
		}
		stream, index := rapid.IntRange(0, 3).Draw(t, "stream"), rapid.Uint64Range(0, 10).Draw(t, "index")
		got, ok := h.at(stream, index)
		if ok != (len(h) > 0) {
			t.Fatalf("%v: found %t", h, ok)
		}
		if !ok {
			return
		}
		want := h[0]
		for _, b := range h {
			if b.stream != stream {
				want = b
			}
		}
		for _, b := range h {
			if b.stream == stream && b.index <= index {
				want = b
			}
		}
		if got != want {
			t.Fatalf("%v at %d/%d is %v, want %v", h, stream, index, got, want)
		}
	})
}
