package loggops

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/goal"
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
	} {
		s, err := goal.Read(strings.NewReader(c.text), c.name)
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
