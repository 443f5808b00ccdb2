package dataflow

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

type program []Op

func (p *program) Next() ([]Op, error) {
	ops := *p
	*p = nil
	return ops, nil
}

// simulateCollective lets all members do a call, each after a computation of its own.
func simulateCollective(t interface{ Fatal(...any) }, m *machine.Machine, calls []Collective, meet bool, before func(member int) int64) *Result {
	place := m.PlaceRanks(len(calls), machine.MappingBlock)
	var programs []Program
	for i := range calls {
		p := program{{Kind: OpCompute, TimePs: before(i)}}
		if meet {
			p = append(p, calls[i].MeetOp(&m.Levels[len(m.Levels)-1]))
		} else {
			p = calls[i].AppendOps(p, [2]int32{0, 1})
		}
		programs = append(programs, &p)
	}
	r, err := Simulate(programs, place, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// callsOf are those of all members; bytes is what the root has, or what each has for itself.
func callsOf(operation meaning.CollectiveOperation, n, root int, bytes int64) []Collective {
	calls := make([]Collective, n)
	for i := range calls {
		c := Collective{Operation: operation, Members: n, OwnMember: i, Root: root, WorldRankOf: func(m int) int { return m }, CombinePsPerByte: 1}
		switch operation {
		case meaning.CollectiveBcast:
			if c.ReceivedBytes = bytes; i == root {
				c.SentBytes, c.ReceivedBytes = bytes, 0
			}
		case meaning.CollectiveScatter, meaning.CollectiveScatterv:
			if c.ReceivedBytes = bytes; i == root {
				c.SentBytes = bytes * int64(n)
			}
		case meaning.CollectiveAllgather, meaning.CollectiveAllgatherv:
			c.SentBytes, c.ReceivedBytes = bytes, bytes*int64(n)
		case meaning.CollectiveAlltoall, meaning.CollectiveAlltoallv, meaning.CollectiveAlltoallw:
			c.SentBytes, c.ReceivedBytes = bytes*int64(n), bytes*int64(n)
		default:
			c.SentBytes = bytes
		}
		calls[i] = c
	}
	return calls
}

// needs says of which members a member needs to have begun before its end.
func needs(operation meaning.CollectiveOperation, member, root, other int) bool {
	switch operation {
	case meaning.CollectiveBcast, meaning.CollectiveScatter, meaning.CollectiveScatterv:
		return other == root
	case meaning.CollectiveReduce, meaning.CollectiveGather, meaning.CollectiveGatherv:
		return member == root
	case meaning.CollectiveScan, meaning.CollectiveExscan:
		return other <= member
	}
	return true
}

// Whatever the algorithm: all messages that are sent are received, nobody is ready before those
// whose data it needs, and without latency and bytes to move the last of these decides.
func TestDependences(t *testing.T) {
	m, err := machine.LoadMachine("ideal")
	if err != nil {
		t.Fatal(err)
	}
	operations := slices.Sorted(maps.Keys(generators))
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(operations).Draw(t, "operation")
		n := rapid.IntRange(1, 19).Draw(t, "members")
		root := rapid.IntRange(0, n-1).Draw(t, "root")
		bytes := rapid.SampledFrom([]int64{0, 1, 300, 5000, 100_000}).Draw(t, "bytes")
		late := rapid.IntRange(0, n-1).Draw(t, "late")
		open := rapid.Bool().Draw(t, "as Open MPI does")
		calls := callsOf(f, n, root, bytes)
		for i := range calls {
			calls[i].CombinePsPerByte, calls[i].UseOpenMPIAlgorithms = 0, open
		}
		for _, meet := range []bool{false, true} {
			r := simulateCollective(t, m, calls, meet, func(member int) int64 {
				if member == late {
					return 1000
				}
				return 0
			})
			for member, x := range r.Ranks {
				if (member == late || needs(f, member, root, late)) && x.EndPs != 1000 && !(meet && (f == meaning.CollectiveScan || f == meaning.CollectiveExscan)) {
					t.Fatalf("%s of %d bytes, root %d: member %d of %d ends at %d, before member %d has begun", f, bytes, root, member, n, x.EndPs, late)
				}
				if x.EndPs != 0 && x.EndPs != 1000 {
					t.Fatalf("%s: member %d ends at %d", f, member, x.EndPs)
				}
			}
		}
	})
}

// Times worked out by hand where messages take 1 µs, and 1 ns for each byte; combining takes 1 ps
// a byte. Nothing but its bytes keeps a sender from the next message.
func TestTimes(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte("[[level]]\nname = \"switch\"\neager = [[0, 1000], [1000, 2000]]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		operation meaning.CollectiveOperation
		n         int
		bytes     int64
		want      int64 // ps
	}{
		{meaning.CollectiveBarrier, 2, 0, 1_000_000},
		{meaning.CollectiveBarrier, 9, 0, 4_000_000},
		{meaning.CollectiveBcast, 8, 100, 3 * 1_100_000},
		{meaning.CollectiveReduce, 8, 100, 3 * (1_100_000 + 100)},
		{meaning.CollectiveAllreduce, 2, 8, 1_008_000 + 8},
		{meaning.CollectiveAllreduce, 16, 8, 4 * (1_008_000 + 8)},
		{meaning.CollectiveAllreduce, 5, 8, 3 * (1_008_000 + 8)}, // 0 to 1 to 2 to 4: the others needn't wait for 0 in the first step
		// Half of the data, a quarter, and both back again.
		{meaning.CollectiveAllreduce, 4, 4000, 2*(3_000_000+2_000_000) + 3000},
		{meaning.CollectiveAllgather, 4, 10, 1_010_000 + 1_020_000},
		{meaning.CollectiveAlltoall, 4, 500, 3 * 1_500_000},
		{meaning.CollectiveAlltoall, 8, 10, 3 * 1_040_000}, // half of the blocks in each step
		{meaning.CollectiveGather, 4, 100, 1_100_000 + 1_200_000},
		{meaning.CollectiveScatter, 4, 100, 1_200_000 + 1_100_000},
		{meaning.CollectiveGatherv, 4, 100, 1_100_000},
		{meaning.CollectiveScatterv, 4, 100, 2*100_000 + 1_100_000},
		{meaning.CollectiveReduceScatter, 4, 4000, 3_000_000 + 2_000_000 + 3000},
		{meaning.CollectiveScan, 4, 100, 2 * (1_100_000 + 100)},
	} {
		r := simulateCollective(t, m, callsOf(c.operation, c.n, 0, c.bytes), false, func(int) int64 { return 0 })
		if r.EndPs() != c.want {
			t.Errorf("%s of %d bytes on %d ranks: %d ps, want %d", c.operation, c.bytes, c.n, r.EndPs(), c.want)
		}
	}
}

// The same of Open MPI's algorithms.
func TestOpenMPI(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte("[[level]]\nname = \"switch\"\neager = [[0, 1000], [1000, 2000]]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		operation meaning.CollectiveOperation
		n         int
		bytes     int64
		want      int64 // ps
	}{
		{meaning.CollectiveBcast, 8, 100, 3 * 1_100_000},
		// Halves in 2 pieces each: the last one of the right half leaves after the three others; then members 1
		// and 2 exchange theirs.
		{meaning.CollectiveBcast, 3, 4096, 3*1_024_000 + 2_024_000 + 3_048_000},
		// A pipeline of 4 pieces of 128 KiB along 2 members.
		{meaning.CollectiveBcast, 2, 512 << 10, 1_000_000 + 4*(128<<10)*1000},
		{meaning.CollectiveReduce, 4, 100, 1_100_000 + 3*100},                      // all at once to the root
		{meaning.CollectiveReduce, 4, 1000, 2 * (2_000_000 + 1000)},                // a binomial tree
		{meaning.CollectiveAllreduce, 4, 20_000, 2*3*6_000_000 + 3*5000},           // twice around, in quarters
		{meaning.CollectiveAllgather, 4, 10, 1_010_000 + 1_020_000},                // doubling
		{meaning.CollectiveAllgather, 4, 20_000, 21_000_000 + 41_000_000},          // one block, then two
		{meaning.CollectiveAlltoall, 4, 500, 2*500_000 + 1_500_000},                // all sent at once
		{meaning.CollectiveAlltoall, 4, 4000, 3 * 5_000_000},                       // in pairs
		{meaning.CollectiveGather, 4, 100, 1_100_000},                              // each to the root
		{meaning.CollectiveReduceScatter, 4, 400_000, 3 * (101_000_000 + 100_000)}, // around a ring
		{meaning.CollectiveReduceScatter, 4, 4000, 3_000_000 + 2_000_000 + 3000},   // halving
		{meaning.CollectiveAlltoallv, 4, 500, 3 * 1_500_000},                       // as MPICH does it
	} {
		calls := callsOf(c.operation, c.n, 0, c.bytes)
		for i := range calls {
			calls[i].UseOpenMPIAlgorithms = true
		}
		r := simulateCollective(t, m, calls, false, func(int) int64 { return 0 })
		if r.EndPs() != c.want {
			t.Errorf("%s of %d bytes on %d ranks: %d ps, want %d", c.operation, c.bytes, c.n, r.EndPs(), c.want)
		}
	}
}

// Parts of sizes of their own in all-gathers and reductions.
func TestOwnParts(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte("[[level]]\nname = \"switch\"\neager = [[0, 1000], [1000, 2000]]\n"))
	if err != nil {
		t.Fatal(err)
	}
	parts := []uint64{10, 700, 0, 90}
	gather := callsOf(meaning.CollectiveAllgatherv, 4, 0, 0)
	for i := range gather {
		gather[i].ReceivedBytes, gather[i].BytesFromMember = 800, parts
	}
	// Each sends its own to the one before, then that and the next to the one before that.
	r := simulateCollective(t, m, gather, false, func(int) int64 { return 0 })
	for i, want := range []int64{1_090_000 + 1_090_000, 1_010_000 + 1_100_000, 1_700_000 + 1_710_000, 1_000_000 + 1_700_000} {
		if got := r.Ranks[i].EndPs; got != want {
			t.Errorf("allgatherv: member %d ends at %d ps, want %d", i, got, want)
		}
	}
	ring := callsOf(meaning.CollectiveAllgatherv, 3, 0, 0)
	for i := range ring { // the large part goes from 0 over 1 to 2
		ring[i].ReceivedBytes, ring[i].BytesFromMember = 100_000, []uint64{100_000, 0, 0}
	}
	if r := simulateCollective(t, m, ring, false, func(int) int64 { return 0 }); r.Ranks[1].EndPs != 101_000_000 || r.Ranks[2].EndPs != 2*101_000_000 {
		t.Errorf("allgatherv around a ring: %+v", r.Ranks)
	}
	reduce := callsOf(meaning.CollectiveReduceScatter, 4, 0, 800)
	for i := range reduce {
		reduce[i].BytesToMember, reduce[i].CombinePsPerByte = parts, 0
	}
	// 0 and 2 exchange 90 and 710, as 1 and 3 do; then 0 gets its 10 and 1 its 700.
	if r := simulateCollective(t, m, reduce, false, func(int) int64 { return 0 }); r.Ranks[1].EndPs != 1_710_000+1_700_000 {
		t.Errorf("reduce_scatter: %+v", r.Ranks)
	}
}

// The formulas give what the messages take within a factor of two.
func TestFormulas(t *testing.T) {
	m, err := machine.LoadMachine("infiniband")
	if err != nil {
		t.Fatal(err)
	}
	m.Levels = m.Levels[2:]
	for _, f := range slices.Sorted(maps.Keys(generators)) {
		for _, n := range []int{2, 8, 64} {
			for _, bytes := range []int64{8, 4000, 200_000} {
				calls := callsOf(f, n, 0, bytes)
				by := simulateCollective(t, m, calls, false, func(int) int64 { return 0 }).EndPs()
				formula := simulateCollective(t, m, calls, true, func(int) int64 { return 0 }).EndPs()
				if ratio := float64(formula) / float64(by); ratio < 0.5 || ratio > 2 {
					t.Errorf("%s of %d bytes on %d ranks: %d ps by messages, %d by the formula: %.2f", f, bytes, n, by, formula, ratio)
				}
			}
		}
	}
}

// Parts of sizes of their own: a member's last one arrives when the parts before have left.
func TestParts(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte("[[level]]\nname = \"switch\"\neager = [[0, 1000], [1000, 2000]]\n"))
	if err != nil {
		t.Fatal(err)
	}
	scatter := callsOf(meaning.CollectiveScatterv, 4, 0, 100)
	scatter[0].BytesToMember = []uint64{0, 10, 20, 500}
	r := simulateCollective(t, m, scatter, false, func(int) int64 { return 0 })
	for i, want := range []int64{0, 1_010_000, 1_030_000, 1_530_000} {
		if got := r.Ranks[i].EndPs; got != want {
			t.Errorf("member %d gets its part at %d ps, want %d", i, got, want)
		}
	}
	all := callsOf(meaning.CollectiveAlltoallv, 3, 0, 100)
	for i := range all {
		all[i].BytesToMember = []uint64{0, 0, 0}
	}
	all[0].BytesToMember[2] = 700 // in the second step, which begins after 1 µs
	if r := simulateCollective(t, m, all, false, func(int) int64 { return 0 }); r.EndPs() != 2_700_000 || r.Ranks[1].EndPs != 2_000_000 {
		t.Errorf("%+v", r.Ranks)
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		operation meaning.CollectiveOperation
		n         int
		bytes     int64
		want      bool
	}{
		{meaning.CollectiveAlltoall, 257, 1000, true}, {meaning.CollectiveAlltoall, 258, 1000, false}, {meaning.CollectiveAlltoall, 258, 10, true}, {meaning.CollectiveAllreduce, 1 << 14, 1 << 20, true},
		{meaning.CollectiveBcast, 300, 100, true}, {meaning.CollectiveBcast, 300, 1 << 20, false}, {meaning.CollectiveAllgather, 1000, 8, true}, {meaning.CollectiveAllgather, 1000, 800, false}, {meaning.CollectiveGatherv, 1000, 8, false},
	} {
		if got := callsOf(c.operation, c.n, 0, c.bytes)[0].Decomposes(); got != c.want {
			t.Errorf("%s of %d bytes on %d ranks: %v", c.operation, c.bytes, c.n, got)
		}
		x := callsOf(c.operation, c.n, 0, c.bytes)[0]
		x.AlwaysAsMessages = true
		if !x.Decomposes() {
			t.Errorf("%s of %d bytes on %d ranks is no messages where these are asked for", c.operation, c.bytes, c.n)
		}
	}
}
