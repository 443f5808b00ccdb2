package calltree

import (
	"slices"
	"testing"
)

func TestTrips(t *testing.T) {
	of := func(list ...uint64) (all trips) {
		for i, n := range list {
			if x := constant(n, 1); i == 0 {
				all = x
			} else {
				all = all.then(x)
			}
		}
		return all
	}
	for _, c := range []struct {
		got  trips
		step int64
	}{
		{of(1, 2, 3, 4), 1},
		{of(9, 6, 3, 0), -3},
		{of(1, 2), 0},
		{of(5, 5, 5), 0},
		{of(1, 2, 4), 0},
		{of(1, 2, 3, 1, 2, 3), 0}, // one by one they don't go on
		{of(1, 2, 3).then(of(1, 2, 3)), 1},
		{of(1, 2, 3).then(of(4, 5)), 1},
		{of(1, 2, 3).then(of(4, 6)), 0},
		{of(1, 2, 3).then(of(1, 2, 3, 4)), 0},
		{of(1, 2, 3).times(7), 1},
		{of(4).times(7).then(of(5)), 0},
	} {
		if got := c.got.each(); got != c.step {
			t.Errorf("%v: step %d, want %d", c.got, got, c.step)
		}
	}
}

// bounds makes the sites of a loop of n rounds over a call, an inner loop over two others
// that is run from, from+step … times, and another call.
func bounds(n, from, step int) (list []int) {
	for range n {
		list = append(list, 0)
		for range from {
			list = append(list, 1, 2)
		}
		list = append(list, 3)
		from += step
	}
	return list
}

// Loops are whole, with the rounds in which an inner loop is run once or not at all.
func TestFoldProgressions(t *testing.T) {
	for want, sites := range map[string][]int{
		"(a (b c)0-29 d)30":             bounds(30, 0, 1),
		"(a (b c)1-30 d)30":             bounds(30, 1, 1),
		"(a (b c)0-30 d)31":             bounds(31, 30, -1),
		"(a (b c)1-88 d)30":             bounds(30, 1, 3),
		"(a (b c)2-60 d)30":             bounds(30, 60, -2),
		"e (a (b c)0-29 d)30 e":         slices.Concat([]int{4}, bounds(30, 0, 1), []int{4}),
		"(e (a (b c)0-29 d)30)5":        slices.Repeat(slices.Concat([]int{4}, bounds(30, 0, 1)), 5),
		"((a (b c)1-30 d)30 e)5":        slices.Repeat(slices.Concat(bounds(30, 1, 1), []int{4}), 5),
		"e (a (b c)0-30 d)31 e (a d)12": slices.Concat([]int{4}, bounds(31, 30, -1), []int{4}, bounds(12, 0, 0)),
	} {
		if got := shapeOfCalls(t, 1, sites); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
