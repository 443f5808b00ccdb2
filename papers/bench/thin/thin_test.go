package main

import "testing"

// TestPrecision: the lower the precision, the smaller the trace of an adaptive-mesh program, whatever else is given up. A percent is left
// for times: ranks whose rounds are drawn spend other times, which take a few bytes more or less.
func TestPrecision(t *testing.T) {
	precisions := []int{100, 95, 90, 80, 50, 0}
	r, err := recorded(8, mesh)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range knobs {
		sizes, err := k.sizes(r, precisions)
		if err != nil {
			t.Fatal(err)
		}
		least := r.Size()
		for i, size := range sizes {
			if float64(size) > 1.01*float64(least) {
				t.Errorf("%s: %d bytes at precision %d, %d above it", k.name, size, precisions[i], least)
			}
			least = min(least, size)
		}
		if want := map[bool]int64{false: r.Size() * 7 / 10, true: r.Size() / 6}[k.partners]; least > want {
			t.Errorf("%s: %d bytes at best, want %d", k.name, least, want)
		}
	}
}
