package sections

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The k-th of a set and how many are before a number, as by counting.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		o := newOrder(n)
		in := slices.Repeat([]bool{true}, n)
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			if n > 0 {
				i := rapid.IntRange(0, n-1).Draw(t, "which")
				in[i] = !in[i]
				o.set(i, in[i])
			}
		}
		k := 0
		for i := range n {
			if got := o.before(i); got != k {
				t.Fatalf("%d before %d, want %d", got, i, k)
			}
			if !in[i] {
				continue
			}
			if got := o.at(k); got != i {
				t.Fatalf("%d is the %d-th, want %d", got, k, i)
			}
			k++
		}
		if o.n != k || o.at(k) != -1 || o.at(-1) != -1 || o.before(n) != k {
			t.Fatalf("%d of %d", o.n, k)
		}
	})
}
