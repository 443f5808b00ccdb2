package convert

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An action is a line of a rank's file.
type action struct {
	name    string
	numbers []int
}

// A channel is what messages don't overtake each other on.
type channel struct{ from, to, tag int }

// A replay goes through the actions of all ranks as smpirun -replay does, in the strictest way
// that MPI allows: a send returns when its receive is posted.
type replay struct {
	ranks [][]action
	next  []int
	posts map[channel]*[2]int // sends and receives that were posted
	open  []map[channel][]request
	bytes map[channel][2]int
}

type request struct {
	side, number int
}

// parse reads a folder by its list.
func parse(t *testing.T, dir string) (ranks [][]action) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(dir, SMPIIndexFile))
	if err != nil {
		t.Fatal(err)
	}
	for rank, name := range strings.Fields(string(list)) {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var actions []action
		for lines := bufio.NewScanner(f); lines.Scan(); {
			words := strings.Fields(lines.Text())
			if len(words) < 2 || words[0] != strconv.Itoa(rank) {
				t.Fatalf("%s: %q", name, lines.Text())
			}
			a := action{name: words[1]}
			for _, w := range words[2:] {
				n, err := strconv.Atoi(w)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				a.numbers = append(a.numbers, n)
			}
			actions = append(actions, a)
		}
		ranks = append(ranks, actions)
	}
	return ranks
}

// run replays to the end and says what is wrong.
func (r *replay) run() error {
	n := len(r.ranks)
	r.next, r.open = make([]int, n), make([]map[channel][]request, n)
	r.posts, r.bytes = make(map[channel]*[2]int), make(map[channel][2]int)
	for i := range r.open {
		r.open[i] = make(map[channel][]request)
	}
	// Which action a rank is in the middle of: the request that it waits for.
	waits := make([]*request, n)
	on := make([]channel, n)
	for moved := true; moved; {
		moved = false
		for rank, list := range r.ranks {
			for r.next[rank] < len(list) {
				if waits[rank] != nil {
					if r.posts[on[rank]][1-waits[rank].side] < waits[rank].number {
						break
					}
					waits[rank] = nil
					r.next[rank]++
					moved = true
					continue
				}
				a := list[r.next[rank]]
				if world(a.name) {
					break
				}
				if q, c := r.begin(rank, a); q != nil {
					waits[rank], on[rank] = q, c
				} else {
					r.next[rank]++
				}
				moved = true
			}
		}
		moved = r.together() || moved
	}
	for rank, list := range r.ranks {
		if r.next[rank] < len(list) {
			return fmt.Errorf("rank %d waits for ever at action %d: %v", rank, r.next[rank], list[r.next[rank]])
		}
		for c, q := range r.open[rank] {
			if len(q) > 0 {
				return fmt.Errorf("rank %d: nobody waited for %v", rank, c)
			}
		}
	}
	for c, p := range r.posts {
		if p[0] != p[1] || r.bytes[c][0] != r.bytes[c][1] {
			return fmt.Errorf("%v: %d sends of %d bytes, %d receives of %d", c, p[0], r.bytes[c][0], p[1], r.bytes[c][1])
		}
	}
	return nil
}

// world reports whether an action takes all ranks.
func world(name string) bool {
	switch name {
	case "barrier", "bcast", "reduce", "allreduce", "alltoall", "gather", "scatter", "allgather":
		return true
	}
	return false
}

// together has all ranks leave a collective that all are at.
func (r *replay) together() bool {
	var first *action
	for rank, list := range r.ranks {
		if r.next[rank] == len(list) || !world(list[r.next[rank]].name) {
			return false
		}
		a := &list[r.next[rank]]
		if first == nil {
			first = a
		}
		if first.name != a.name || fmt.Sprint(first.numbers) != fmt.Sprint(a.numbers) {
			return false
		}
	}
	for rank := range r.ranks {
		r.next[rank]++
	}
	return true
}

// begin begins an action; it returns what has to happen before it ends.
func (r *replay) begin(rank int, a action) (*request, channel) {
	post := func(c channel, side, bytes int) request {
		if r.posts[c] == nil {
			r.posts[c] = new([2]int)
		}
		r.posts[c][side]++
		b := r.bytes[c]
		b[side] += bytes
		r.bytes[c] = b
		return request{side, r.posts[c][side]}
	}
	switch a.name {
	case "send", "isend", "recv", "irecv":
		c, side := channel{rank, a.numbers[0], a.numbers[1]}, 0
		if strings.HasSuffix(a.name, "recv") {
			c, side = channel{a.numbers[0], rank, a.numbers[1]}, 1
		}
		q := post(c, side, a.numbers[2])
		if a.name[0] != 'i' {
			return &q, c
		}
		r.open[rank][c] = append(r.open[rank][c], q)
	case "wait":
		c := channel{a.numbers[0], a.numbers[1], a.numbers[2]}
		if list := r.open[rank][c]; len(list) > 0 {
			r.open[rank][c] = list[1:]
			return &list[0], c
		}
	}
	return nil, channel{}
}
