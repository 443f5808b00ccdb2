package dataflow

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// betweensOf are the calls of two groups, of which the second has the root of what has one; bytes is what one has for one.
func betweensOf(operation meaning.CollectiveOperation, first, second, root int, bytes int64) []InterCollective {
	var calls []InterCollective
	for i := range first + second {
		b := InterCollective{OtherGroupSize: second, OwnGroupSendsFirst: i < first, OtherWorldRank: func(m int) int { return first + m }}
		b.Operation, b.Members, b.OwnMember, b.Root, b.WorldRankOf = operation, first, i, root, func(m int) int { return m }
		if i >= first {
			b.Members, b.OwnMember, b.OtherGroupSize, b.WorldRankOf, b.OtherWorldRank = second, i-first, first, b.OtherWorldRank, b.WorldRankOf
			if b.Root = RootOwnGroup; b.OwnMember == root {
				b.Root = RootThisMember
			}
		}
		switch operation {
		case meaning.CollectiveBcast, meaning.CollectiveScatter, meaning.CollectiveScatterv:
			if b.Root >= 0 {
				b.ReceivedBytes = bytes
			} else if b.Root == RootThisMember {
				if b.SentBytes = bytes; operation != meaning.CollectiveBcast {
					b.SentBytes *= int64(b.OtherGroupSize)
				}
			}
		case meaning.CollectiveReduce, meaning.CollectiveGather, meaning.CollectiveGatherv:
			if b.Root >= 0 {
				b.SentBytes = bytes
			} else if b.Root == RootThisMember && operation != meaning.CollectiveReduce {
				b.ReceivedBytes = bytes * int64(b.OtherGroupSize)
			}
		case meaning.CollectiveAllgather, meaning.CollectiveAllgatherv:
			b.SentBytes, b.ReceivedBytes = bytes, bytes*int64(b.OtherGroupSize)
		case meaning.CollectiveAlltoall, meaning.CollectiveAlltoallv, meaning.CollectiveAlltoallw:
			b.SentBytes, b.ReceivedBytes = bytes*int64(b.OtherGroupSize), bytes*int64(b.OtherGroupSize)
		case meaning.CollectiveReduceScatter, meaning.CollectiveReduceScatterBlock:
			b.SentBytes, b.ReceivedBytes = bytes*int64(first*second), bytes*int64(b.OtherGroupSize)
		default:
			b.SentBytes = bytes
		}
		calls = append(calls, b)
	}
	return calls
}

func simulateBetween(t interface{ Fatal(...any) }, m *machine.Machine, calls []InterCollective, before func(rank int) int64) *Result {
	var programs []Program
	for i := range calls {
		p := program(calls[i].AppendOps([]Op{{Kind: OpCompute, TimePs: before(i)}}, [2]int32{0, 1}))
		programs = append(programs, &p)
	}
	r, err := Simulate(programs, m.PlaceRanks(len(calls), machine.MappingBlock), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Nobody is ready before those of the other group whose data it needs, nor later than the last of all.
func TestBetween(t *testing.T) {
	m, err := machine.ParseMachine("ideal", []byte("[[level]]\nname = \"switch\"\neager_limit = 1000\neager = [[0, 0]]\n"))
	if err != nil {
		t.Fatal(err)
	}
	operations := slices.Sorted(maps.Keys(betweens))
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(operations).Draw(t, "operation")
		first, second := rapid.IntRange(1, 9).Draw(t, "first"), rapid.IntRange(1, 9).Draw(t, "second")
		root := rapid.IntRange(0, second-1).Draw(t, "root")
		late := rapid.IntRange(0, first+second-1).Draw(t, "late")
		calls := betweensOf(f, first, second, root, rapid.SampledFrom([]int64{0, 1, 5000, 100_000}).Draw(t, "bytes"))
		open := rapid.Bool().Draw(t, "as Open MPI does")
		for i := range calls {
			calls[i].UseOpenMPIAlgorithms = open
		}
		r := simulateBetween(t, m, calls, func(rank int) int64 {
			if rank == late {
				return 1000
			}
			return 0
		})
		for rank, x := range r.Ranks {
			needs := (rank < first) != (late < first)
			switch f {
			case meaning.CollectiveBcast, meaning.CollectiveScatter, meaning.CollectiveScatterv:
				needs = needs && late == first+root
			case meaning.CollectiveReduce, meaning.CollectiveGather, meaning.CollectiveGatherv:
				needs = needs && rank == first+root
			}
			if (needs || rank == late) && x.EndPs != 1000 || x.EndPs != 0 && x.EndPs != 1000 {
				t.Fatalf("%s: rank %d of %d and %d ends at %d, rank %d is late", f, rank, first, second, x.EndPs, late)
			}
		}
	})
}

// So it is where they meet; and who has no part in it goes on at once.
func TestBetweenMeets(t *testing.T) {
	m, err := machine.ParseMachine("ideal", []byte("[[level]]\nname = \"switch\"\neager_limit = 1000\neager = [[0, 0]]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Sorted(maps.Keys(betweens)) {
		for late := range 7 {
			calls := betweensOf(f, 4, 3, 1, 100)
			r := meetBetween(t, m, calls, func(rank int) int64 {
				if rank == late {
					return 1000
				}
				return 0
			})
			for rank, x := range r.Ranks {
				waits := rank == late
				switch f {
				case meaning.CollectiveBcast, meaning.CollectiveScatter, meaning.CollectiveScatterv:
					waits = waits || rank < 4 && late == 5
				case meaning.CollectiveReduce, meaning.CollectiveGather, meaning.CollectiveGatherv:
					waits = waits || late < 4 && rank == 5
				default:
					waits = true
				}
				if want := map[bool]int64{true: 1000}[waits]; x.EndPs != want {
					t.Errorf("%s: rank %d ends at %d, rank %d is late", f, rank, x.EndPs, late)
				}
			}
		}
	}
}

func meetBetween(t interface{ Fatal(...any) }, m *machine.Machine, calls []InterCollective, before func(rank int) int64) *Result {
	var programs []Program
	for i := range calls {
		p := program([]Op{{Kind: OpCompute, TimePs: before(i)}, calls[i].MeetOp(&m.Levels[0])})
		programs = append(programs, &p)
	}
	r, err := Simulate(programs, m.PlaceRanks(len(calls), machine.MappingBlock), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The formula is near what the messages take.
func TestBetweenFormulas(t *testing.T) {
	m, err := machine.LoadMachine("infiniband")
	if err != nil {
		t.Fatal(err)
	}
	m.Levels = m.Levels[2:]
	for _, f := range slices.Sorted(maps.Keys(betweens)) {
		for _, n := range [][2]int{{2, 2}, {8, 4}, {30, 64}} {
			for _, bytes := range []int64{8, 4000, 200_000} {
				calls := betweensOf(f, n[0], n[1], 0, bytes)
				by := simulateBetween(t, m, calls, func(int) int64 { return 0 }).EndPs()
				formula := meetBetween(t, m, calls, func(int) int64 { return 0 }).EndPs()
				if ratio := float64(formula) / float64(by); ratio < 0.4 || ratio > 2.5 {
					t.Errorf("%s of %d bytes between %v ranks: %d ps by messages, %d by the formula: %.2f", f, bytes, n, by, formula, ratio)
				}
			}
		}
	}
}

// Times worked out by hand, as in TestTimes.
func TestBetweenTimes(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte("[[level]]\nname = \"switch\"\neager = [[0, 1000], [1000, 2000]]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		operation     meaning.CollectiveOperation
		first, second int
		bytes         int64
		want          int64 // ps
	}{
		// A barrier of each; word goes over, to the mate, back behind that, and to the mate there.
		{meaning.CollectiveBarrier, 2, 2, 0, 1_000_000 + 1_001_000 + 1_000 + 2*1_001_000},
		{meaning.CollectiveBcast, 4, 2, 100, 3 * 1_100_000},  // over, then down a tree of four
		{meaning.CollectiveReduce, 4, 1, 100, 3 * 1_100_000}, // up, then over
		{meaning.CollectiveAllreduce, 4, 4, 100, (2 + 1 + 2) * 1_100_000},
		{meaning.CollectiveGather, 4, 1, 100, 1_100_000 + 1_200_000 + 1_400_000},
		{meaning.CollectiveGather, 4, 1, 2048, 3_048_000}, // each to the root
		{meaning.CollectiveScatter, 4, 1, 100, 1_400_000 + 1_200_000 + 1_100_000},
		{meaning.CollectiveScatter, 4, 1, 2048, 3*2_048_000 + 3_048_000},
		{meaning.CollectiveScatterv, 4, 1, 100, 3*100_000 + 1_100_000},
		{meaning.CollectiveAlltoall, 3, 2, 500, 3 * 1_500_000},
		{meaning.CollectiveAllgatherv, 1, 1, 100, 2 * 1_100_000},
		{meaning.CollectiveReduceScatter, 2, 2, 100, 1_400_000 + 1_400_000 + 1_200_000},
	} {
		r := simulateBetween(t, m, betweensOf(c.operation, c.first, c.second, 0, c.bytes), func(int) int64 { return 0 })
		if r.EndPs() != c.want {
			t.Errorf("%s of %d bytes between %d and %d: %d ps, want %d", c.operation, c.bytes, c.first, c.second, r.EndPs(), c.want)
		}
	}
}
