package trace

import (
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/mpi"
)

// withStacks is a trace of two ranks that send from one place in two functions, each with two tags, and receivers that stand
// in columns. Sends from the first function take 10 ns, those from the second 1000 ns with one tag.
func withStacks(t testing.TB) *sections.Content {
	t.Helper()
	send, _ := mpi.CallNamed("MPI_Send")
	barrier, _ := mpi.CallNamed("MPI_Barrier")
	app := func(offset uint64) Site { return Site{Module: "/usr/bin/app", BuildID: "abcd", Offset: offset} }
	c := &sections.Content{
		Ranks:       2,
		Sites:       map[uint64]Site{1: app(0x100), 2: app(0x100), 3: app(0x200), 4: app(0x300), 5: app(0x400)},
		CallerSites: map[uint64]uint64{1: 3, 2: 4},
	}
	class := sections.Class{Ranks: column.ColumnOf(0, 1)}
	terminal := func(call uint16, site uint64, ns uint64, vals ...column.Column) {
		x := sections.Terminal{FunctionID: call, Site: site, Values: vals}
		x.Times = Times{Duration: Stat{Count: 20, Sum: 20 * ns, Min: ns, Max: ns}, Gap: Stat{Count: 20, Sum: 20 * 5, Min: 5, Max: 5}}
		class.Terminals = append(class.Terminals.(sections.TerminalList), x)
	}
	class.Terminals = sections.TerminalList{}
	same := func(v int64) column.Column { return column.ColumnOf(v, v) }
	for _, site := range []uint64{1, 2} {
		for tag := range int64(2) {
			ns := uint64(10)
			if site == 2 && tag == 1 {
				ns = 1000
			}
			terminal(send.ID, site, ns, same(0), same(0), same(0), same(4), same(0x209), column.ColumnOf(3, -7), same(tag), same(257))
		}
	}
	terminal(barrier.ID, 5, 20, same(0), same(257))
	sends := class.Terminals.(sections.TerminalList)
	for k, n := range []int{0, 4} { // what ranks have of the sums stands with the first call from a place
		sum := sends[n].Times.Duration.Sum
		if k == 0 {
			sum = sends[0].Times.Duration.Sum + sends[1].Times.Duration.Sum + sends[2].Times.Duration.Sum + sends[3].Times.Duration.Sum
		}
		sends[n].Times.SiteDurationTotals = Spread{Ranks: 2, Sum: sum, Min: sum/2 - 100, Max: sum/2 + 100, MaxRank: 1}
		sends[n].Times.SiteDurationTotals.SetDeviation(100)
	}
	b := grammar.NewBuilder()
	for range 10 {
		for n := range uint32(5) {
			b.Append(n)
		}
	}
	class.Streams = []*grammar.Grammar{b.Grammar()}
	c.Classes = []sections.Class{class}
	for range 2 {
		c.Processes.Append(Process{Host: "n", PID: 1, EndState: "finished", Threads: 1, InitWallClockNs: 1e18, FirstThreadNs: 1e9, Calls: 50})
	}
	return c
}

// Calls that differ in their stacks alone are one signature and share what is known of their times, but for what would be far off; stacks,
// values and sums come back.
func TestStacks(t *testing.T) {
	c := withStacks(t)
	r := reopened(t, c)
	if err := Check(r); err != nil {
		t.Fatal(err)
	}
	tables, err := r.tables()
	if err != nil {
		t.Fatal(err)
	}
	if s := tables.sigs; s.SignatureCount != 3 || s.DistinctCalls != 5 {
		t.Errorf("%d signatures and %d calls, want 3 and 5", s.SignatureCount, s.DistinctCalls)
	}
	k, err := r.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	outer := []uint64{0x200, 0x200, 0x300, 0x300, 0}
	for n, want := range outer {
		call, err := k.Terminal(n)
		if err != nil {
			t.Fatal(err)
		}
		frames := call.Site.Frames()
		if want == 0 && len(frames) != 1 || want > 0 && (len(frames) != 2 || frames[0].Offset != 0x100 || frames[1].Offset != want) {
			t.Errorf("call %d has the frames %v", n, frames)
		}
		if tag := k.Signature(n); n < 4 && tag[6] != int64(n%2) {
			t.Errorf("call %d has the values %v", n, tag)
		}
	}
	times, err := r.Times(0)
	if err != nil {
		t.Fatal(err)
	}
	sum := uint64(0)
	for n := range times[:4] {
		sum += times[n].Duration.Sum
		if got, want := times[n].SiteDurationTotals.Ranks, 2; n == 0 && got != want {
			t.Errorf("totals of %d ranks", got)
		}
	}
	if math.Abs(float64(sum)-20*(10+10+10+1000)) > 100 {
		t.Errorf("sends took %d ns", sum)
	}
	// Tag 0 took the same on both ways; of tag 1 the two would be far off.
	leaves := k.Leaves(0)
	list, _, err := leaves.Times(k)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{10, 10, 10, 1000, 20}
	for leaf, x := range list {
		if w := want[leaves.Terminal(leaf)]; math.Abs(x.SumDurationNs/float64(x.Calls)-w) > 0.01*w {
			t.Errorf("a call of terminal %d takes %v ns, want %v", leaves.Terminal(leaf), x.SumDurationNs/float64(x.Calls), w)
		}
	}
}

// What was called where is the same, whether the parameters are read too or not.
func TestCalledIsTerminal(t *testing.T) {
	r := reopened(t, withStacks(t))
	k, err := r.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	for n := range k.Terminals() {
		whole, err := k.Terminal(n)
		if err != nil {
			t.Fatal(err)
		}
		called := k.CallWithoutParams(n)
		if called.Name() != whole.Name() || called.Site.String() != whole.Site.String() || (called.Site.Caller == nil) != (whole.Site.Caller == nil) || called.Terminal != n {
			t.Errorf("terminal %d is %s at %v, or %s at %v", n, called.Name(), called.Site, whole.Name(), whole.Site)
		}
	}
}
