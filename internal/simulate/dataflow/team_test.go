package dataflow

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// threads draws threads of ranks that talk to each other and come to their end; of are their ranks.
func threads(t *rapid.T) (lists [][]Op, of []int, ranks int) {
	ranks = rapid.IntRange(1, 4).Draw(t, "ranks")
	for r := range ranks {
		of = append(of, r)
	}
	for range rapid.IntRange(0, 4).Draw(t, "threads more") {
		of = append(of, rapid.IntRange(0, ranks-1).Draw(t, "rank"))
	}
	lists = make([][]Op, len(of))
	alone := make([]int, ranks)
	for _, r := range of {
		alone[r]++
	}
	type place struct {
		rank int
		Op
	}
	counts := make(map[place]int32)
	open := make([][]int32, ranks)
	made := make([]int32, ranks)
	add := func(x int, o Op) {
		r := of[x]
		if o.Request = NoRequest; rapid.Bool().Draw(t, "later") {
			o.Request = ReservedRequestCount + made[r]
			made[r]++
			open[r] = append(open[r], o.Request)
		}
		if alone[r] > 1 {
			k := place{r, Op{Kind: o.Kind, Peer: o.Peer, Tag: o.Tag}}
			counts[k]++
			o.MatchIndex = counts[k]
		}
		lists[x] = append(lists[x], o)
	}
	thread := func(r int) int { // one of a rank
		var list []int
		for x := range of {
			if of[x] == r {
				list = append(list, x)
			}
		}
		return rapid.SampledFrom(list).Draw(t, "thread")
	}
	wait := func(r, i int) {
		x := thread(r)
		lists[x] = append(lists[x], Op{Kind: OpWait, Request: open[r][i]})
		open[r] = append(open[r][:i], open[r][i+1:]...)
	}
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		x := rapid.IntRange(0, len(of)-1).Draw(t, "thread")
		switch r := of[x]; rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			lists[x] = append(lists[x], Op{Kind: OpCompute, TimePs: rapid.Int64Range(0, 1e6).Draw(t, "time")})
		case 1:
			if len(open[r]) > 0 {
				wait(r, rapid.IntRange(0, len(open[r])-1).Draw(t, "request"))
			}
		case 2:
			for m := range ranks {
				add(thread(m), Op{Kind: OpMeet, Context: 9, Members: int32(ranks), TimePs: rapid.Int64Range(0, 1e5).Draw(t, "time")})
			}
		default:
			y := rapid.IntRange(0, len(of)-1).Draw(t, "to")
			if of[y] == r {
				continue
			}
			tag := rapid.Int64Range(0, 1).Draw(t, "tag")
			add(x, Op{Kind: OpSend, Peer: int32(of[y]), Tag: tag, Bytes: rapid.Int64Range(0, 300).Draw(t, "bytes")})
			add(y, Op{Kind: OpReceive, Peer: int32(r), Tag: tag})
		}
	}
	for r := range open {
		for len(open[r]) > 0 {
			wait(r, 0)
		}
	}
	return lists, of, ranks
}

// Threads go on side by side, share what their rank receives and wait for each other's requests; a rank with one thread
// need not be one.
func TestThreads(t *testing.T) {
	m, err := machine.ParseMachine("levels", []byte(levels))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		lists, of, ranks := threads(t)
		place := m.PlaceRanks(ranks, machine.MappingBlock)
		many := make([]int, ranks)
		for _, r := range of {
			many[r]++
		}
		all := func() (list []Program, err error) {
			for x := range lists {
				var p Program = newList(lists[x])
				if many[of[x]] > 1 {
					p = &ThreadProgram{p, of[x]}
				}
				list = append(list, p)
			}
			return list, nil
		}
		programs, err := all()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Simulate(programs, place, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newSlow(lists, of, place)
		for x := range lists {
			r := got.Ranks[x]
			if want := s.clock(x, len(lists[x])); r.EndPs != want {
				t.Fatalf("thread %d of rank %d ends at %d, want %d", x, of[x], r.EndPs, want)
			}
			if sum := r.ComputePs + r.OverheadPs + r.WaitPs + r.TransferPs + r.RecordedPs; sum != r.EndPs {
				t.Fatalf("thread %d: the parts of %+v are %d", x, r, sum)
			}
		}
		checkPath(t, all, place, got)
	})
}
