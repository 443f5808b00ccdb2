package goal

import (
	"slices"
	"strings"
	"testing"
)

// CPUs of a rank go on side by side, and wait for each other where they are said to.
func TestCPUs(t *testing.T) {
	p := Parameters{Latency: 1000, Overhead: 10, MessageGap: 300, Eager: 100}
	for _, c := range []struct {
		name, text string
		want       []uint64
	}{
		{"side by side", "num_ranks 1\nrank 0 {\ncalc 700\ncalc 500 cpu 1\ncalc 100 cpu 1\n}", []uint64{700}},
		{"one behind the other", "num_ranks 1\nrank 0 {\na: calc 700\nb: calc 500 cpu 1\nb requires a\n}", []uint64{1200}},
		{"one NIC", "num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 1b to 1 tag 1 cpu 1\n}\nrank 1 {\nrecv 1b from 0\nrecv 1b from 0 tag 1\n}", []uint64{310, 300 + 10 + 1000 + 10}},
		{"received on another", "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\ncalc 5000\na: recv 1b from 0 cpu 3\nb: calc 70 cpu 3\nb requires a\n}", []uint64{10, 5000}},
		{"and nothing else there", "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: recv 1b from 0 cpu 3\nb: calc 70 cpu 3\nb requires a\n}", []uint64{10, 10 + 1000 + 10 + 70}},
		// c keeps CPU 0 from 80 to 120. y comes at 90, x at 100, though x was made first: so x goes on first.
		{"in the order in which they were made", `num_ranks 1
rank 0 {
a: calc 100 cpu 1
x: calc 7
x requires a
b: calc 80 cpu 2
c: calc 40
c requires b
d: calc 10 cpu 3
e: calc 80 cpu 3
e requires d
y: calc 1
y requires e
f: calc 50 cpu 4
f requires y
}`, []uint64{120 + 7 + 1 + 50}},
	} {
		s, err := Read(strings.NewReader(c.text), c.name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Simulate(s, p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.End, c.want) {
			t.Errorf("%s: %v, want %v", c.name, r.End, c.want)
		}
	}
}
