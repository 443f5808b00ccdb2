package main

import (
	"testing"

	"spoor/bench/scale/skeleton"
)

// A peer that changes with every iteration costs what the formula does, and a
// counter as tag a fraction of a byte an iteration.
func TestLoops(t *testing.T) {
	for _, tc := range []struct {
		name         string
		run          skeleton.Program
		ranks, limit int
	}{
		{"rotate", skeleton.Program{Name: "rotate", Run: skeleton.Rotate(20_000)}, 4, 150},
		{"rotate", skeleton.Program{Name: "rotate", Run: skeleton.Rotate(1000)}, 64, 150},
		{"counter", skeleton.Program{Name: "counter", Run: skeleton.Counter(100)}, 64, 300},
		{"counter", skeleton.Program{Name: "counter", Run: skeleton.Counter(4000)}, 2, 300 + 4000/5},
	} {
		r, err := measure(tc.run, tc.ranks, false, "")
		if err != nil {
			t.Fatal(err)
		}
		if r.Content > tc.limit {
			t.Errorf("%s on %d ranks, %d calls: %d bytes, limit %d", tc.name, tc.ranks, r.Events, r.Content, tc.limit)
		}
	}
}
