package once_test

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/once"
)

// What has come before is what it was, and nothing is made again.
func TestOnce(t *testing.T) {
	squares, made := make(map[int]int), []int(nil)
	numbers := make(map[string]uint32)
	for _, x := range []int{3, 0, 3, 0, 5} {
		if got := once.GetOrAppend(squares, x, &made, func() int { return x * x }); got != x*x {
			t.Errorf("%d of %d", got, x)
		}
		once.GetOrMake(squares, x, func() int { t.Errorf("%d is made again", x); return 0 })
	}
	if !slices.Equal(made, []int{9, 0, 25}) {
		t.Errorf("made: %d", made)
	}
	var got []uint32
	for _, x := range []string{"b", "a", "b", "c"} {
		n, first := once.NumberOf(numbers, x)
		if first != !slices.Contains(got, n) {
			t.Errorf("%s: %d for the first time: %v", x, n, first)
		}
		got = append(got, n)
	}
	if !slices.Equal(got, []uint32{0, 1, 0, 2}) {
		t.Errorf("numbers %d", got)
	}
}
