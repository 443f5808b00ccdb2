package merge

import (
	"testing"

	"pgregory.net/rapid"
)

// A row of numbers says what a list does, whatever is set in whatever order, and changed.
func TestNumberRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := make([]uint32, rapid.IntRange(0, 1000).Draw(t, "n"))
		row := newNumberRow(len(want))
		few := rapid.IntRange(1, 3).Draw(t, "numbers")
		backwards := rapid.Bool().Draw(t, "backwards")
		for k := range want {
			i := k
			if backwards {
				i = len(want) - 1 - k
			}
			want[i] = uint32(i / 300 % few)
			row.set(i, want[i])
		}
		step := rapid.IntRange(1, 1000).Draw(t, "step")
		row.change(func(at int, x uint32) uint32 {
			if x != want[at] {
				t.Fatalf("place %d: %d, want %d", at, x, want[at])
			}
			want[at] = x + uint32(at/step)
			return want[at]
		})
		for i, x := range want {
			if got := row.at(i); got != x {
				t.Fatalf("place %d: %d, want %d", i, got, x)
			}
		}
	})
}
