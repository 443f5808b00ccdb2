package trace

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/mpi"
)

// made are calls that are all different, made when they are asked for.
type made struct {
	n    int
	call uint16
	vals func(n int, to []int64) []int64
	room []int64
}

func (m *made) Len() int { return m.n }

func (m *made) Describe(n int, t *sections.Terminal) {
	m.room = m.vals(n, m.room[:0])
	*t = sections.Terminal{FunctionID: m.call, Values: column.ColumnsOfOneValue(m.room)}
}

func (m *made) Times(int) Times { return Times{Duration: stat(1, 5, 5, 5)} }

// roundTrip writes calls of one rank that are all different, and reads some of them.
func roundTrip(t *testing.T, name string, n int, vals func(n int, to []int64) []int64) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long loop of one goroutine")
	}
	call, ok := mpi.CallNamed(name)
	if !ok {
		t.Fatalf("no call %s", name)
	}
	b := grammar.NewBuilder()
	for i := range n {
		b.Append(uint32(i))
	}
	c := &sections.Content{Ranks: 1, Classes: []sections.Class{{Ranks: column.ColumnOf(0), Streams: []*grammar.Grammar{b.Grammar()}, Terminals: &made{n: n, call: call.ID, vals: vals}}}}
	c.Processes.Append(Process{Host: "n", PID: 1, EndState: "finished", Threads: 1, InitWallClockNs: 1e18, FirstThreadNs: 1e9, Calls: int64(n)})
	file, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d calls of %s in %d bytes", n, name, len(file))
	r, err := ReadBytes(file, "test.spoor")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.SignatureCount(); err != nil || got != n {
		t.Fatalf("%d signatures of %d: %v", got, n, err)
	}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for _, i := range []int{0, n / 2, n - 1} {
		want = vals(i, want[:0])
		got := k.Signature(i)
		if len(got) != len(want) {
			t.Fatalf("call %d has %d values, want %d", i, len(got), len(want))
		}
		for at := range want {
			if got[at] != want[at] {
				t.Fatalf("call %d: value %d is %d, want %d", i, at, got[at], want[at])
			}
		}
	}
	if n <= 1<<17 {
		if err := Check(r); err != nil {
			t.Fatal(err)
		}
	}
}

// however returns n, or what the environment says instead: SPOOR_TEST_SIGNATURES=5000000.
func however(n int) int {
	if v, err := strconv.Atoi(os.Getenv("SPOOR_TEST_SIGNATURES")); err == nil {
		return v
	}
	return n
}

// A million datatypes, each one made like the one before.
func TestManyAlike(t *testing.T) {
	roundTrip(t, "MPI_Type_vector", however(1_000_000), func(n int, to []int64) []int64 {
		i := int64(n)
		return append(to, 0, 2, 1, i+2, 0x209, 1, 8, 0, 4*(i+3), 0, 4*(i+3))
	})
}

// A table of calls that have nothing in common.
func TestManyUnlike(t *testing.T) {
	roundTrip(t, "MPI_Send", however(200_000), func(n int, to []int64) []int64 {
		r := rand.New(rand.NewPCG(uint64(n), 7))
		return append(to, 0, r.Int64N(8), r.Int64N(1<<20), int64(n), 0x209, r.Int64N(1<<16), r.Int64N(1<<30), 0x101)
	})
}

// Kinds of forms that go by a rule which takes next to no room.
func TestManyKinds(t *testing.T) {
	roundTrip(t, "MPI_Group_incl", 40, func(n int, to []int64) []int64 { return members(to, 60_000, int64(n)) })
}

// One call may have millions of values that stand in a few bytes.
func TestWideCall(t *testing.T) {
	for _, n := range []int{sections.MaxCallValues - 4, 6_000_000} {
		roundTrip(t, "MPI_Group_incl", 1, func(_ int, to []int64) []int64 { return members(to, n, 3) })
	}
}

// members is the values of a call that takes so many ranks from a group.
func members(to []int64, n int, step int64) []int64 {
	to = append(to, 0, 1, int64(n), int64(n))
	for i := range n {
		to = append(to, int64(i)*step)
	}
	return append(to, 2)
}
