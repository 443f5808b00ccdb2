package rounds_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A link is messages between two ranks with a tag.
type link struct {
	from, to int64
	tag      int64
}

// meet has the ranks make their calls as if no message had room to wait in: it reports whether all come to the end, and
// all messages that are sent are received.
func meet(t *testing.T, r *trace.Reader) bool {
	t.Helper()
	sent, received := make(map[link]int), make(map[link]int)
	lists := make([][]trace.Call, r.Ranks())
	for rank := range lists {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			lists[rank] = append(lists[rank], *c)
		}
	}
	at := make([]int, len(lists))     // next call
	begun := make([]bool, len(lists)) // what it needs has been posted
	met := make([]int, len(lists))    // collective calls that a rank has come to
	type need struct {
		link
		n  int
		to map[link]int // in which so many must be there
	}
	needs := make([][]need, len(lists)) // of operations under way
	num := func(c *trace.Call, name string) int64 { return c.Param(name).In.Num }
	step := func(rank int) bool {
		c, me := &lists[rank][at[rank]], int64(rank)
		if !begun[rank] {
			begun[rank] = true
			post := func(from, to, tag int64, own, other map[link]int) {
				if from != mpi.ProcNull && to != mpi.ProcNull {
					l := link{from, to, tag}
					own[l]++
					needs[rank] = append(needs[rank], need{l, own[l], other})
				}
			}
			switch c.Name() {
			case "MPI_Isend", "MPI_Send":
				post(me, num(c, "dest"), num(c, "tag"), sent, received)
			case "MPI_Irecv", "MPI_Recv":
				post(num(c, "source"), me, num(c, "tag"), received, sent)
			case "MPI_Sendrecv":
				post(me, num(c, "dest"), num(c, "sendtag"), sent, received)
				post(num(c, "source"), me, num(c, "recvtag"), received, sent)
			case "MPI_Allreduce":
				met[rank]++
			}
		}
		switch c.Name() {
		case "MPI_Isend", "MPI_Irecv":
		case "MPI_Allreduce":
			for _, n := range met {
				if n < met[rank] {
					return false
				}
			}
		default:
			for _, n := range needs[rank] {
				if n.to[n.link] < n.n {
					return false
				}
			}
			needs[rank] = nil
		}
		at[rank]++
		begun[rank] = false
		return true
	}
	for moved := true; moved; {
		moved = false
		for rank := range lists {
			for at[rank] < len(lists[rank]) && step(rank) {
				moved = true
			}
		}
	}
	for rank := range lists {
		if at[rank] < len(lists[rank]) {
			t.Logf("rank %d is in %s", rank, lists[rank][at[rank]].Text())
			return false
		}
	}
	for l, n := range sent {
		if received[l] != n {
			t.Logf("%+v: %d sent, %d received", l, n, received[l])
			return false
		}
	}
	return len(sent) > 0
}
