package dataflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// A loop is the visits of a rank that makes some calls, others in rounds, and some more.
type loop struct {
	before, round, after []visited
	rounds, done         uint64
	at, part             int
	same                 any
}

type visited struct {
	call      int
	gap, took int64
}

func (l *loop) Next() (call int, gap, took int64, ok bool, err error) {
	for {
		list := [][]visited{l.before, l.round, l.after}[l.part]
		if l.part == 1 && l.done == l.rounds {
			list = nil
		}
		if l.at < len(list) {
			v := list[l.at]
			l.at++
			return v.call, v.gap, v.took, true, nil
		}
		l.at = 0
		switch {
		case l.part == 1 && l.done < l.rounds:
			l.done++
		case l.part == 2:
			return 0, 0, 0, false, nil
		default:
			l.part++
		}
	}
}

func (l *loop) EqualityKey() any       { return l.same }
func (l *loop) MainLoopRounds() uint64 { return l.rounds }

func (l *loop) RoundsLeft() (uint64, bool) {
	switch {
	case l.part == 0 && l.at == len(l.before), l.part == 1 && l.at == 0:
		return l.rounds - l.done, true
	case l.part == 1 && l.at == len(l.round):
		return l.rounds - l.done - 1, true
	}
	return 0, false
}

func (l *loop) SkipRounds(rounds uint64) {
	if l.part == 1 && l.at == len(l.round) {
		l.at = 0
		l.done++
	}
	l.part = 1
	l.done += rounds
}

// A ring is some ranks that do the same, but for whom they talk to and what they compute.
type ring struct {
	ranks int
	calls [][]Op
	slots func(r int) []RankOperands
	lists [3][]int // calls: before, in each of the rounds, after
	count []uint64 // by rank
	gaps  []int64  // by rank, with each call
}

func (x *ring) programs(each []Program) []Program {
	type kind struct {
		gap    int64
		rounds uint64
	}
	code := &DistinctCallOps{OpsOfCall: x.calls, RequestMask: 15}
	for r := range x.ranks {
		l := &loop{rounds: x.count[r], same: kind{x.gaps[r], x.count[r]}}
		for i, part := range []*[]visited{&l.before, &l.round, &l.after} {
			for n, call := range x.lists[i] {
				*part = append(*part, visited{call, x.gaps[r] * int64(n+1), 17})
			}
		}
		each = append(each, &CompiledProgram{Code: code, Operands: x.slots(r), Visits: l})
	}
	return each
}

// draw draws ranks that exchange messages at distances around a ring, in loops that may be shifted
// against each other, with meetings of all and of halves.
func draw(t *rapid.T) *ring {
	n := 2 * rapid.IntRange(1, 6).Draw(t, "half of the ranks")
	x := &ring{ranks: n}
	var distances []int
	var meets []bool // of all; else of those that are as far from an even rank
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		d := rapid.IntRange(1, n-1).Draw(t, "distance")
		bytes := rapid.SampledFrom([]int64{0, 80, 300}).Draw(t, "bytes")
		slot := int32(3 * len(distances)) // that of messages that come, of those that go, and of meetings
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // a message that is sent and got
			x.calls = append(x.calls, []Op{{Kind: OpReceive, OperandsIndex: slot, Request: 0}, {Kind: OpSend, Bytes: bytes, OperandsIndex: slot + 1, Request: 1}, {Kind: OpWait, Request: 1}, {Kind: OpWait, Request: 0}})
			distances, meets = append(distances, d), append(meets, false)
		case 1: // begun here, waited for in the end of the round
			x.calls = append(x.calls, []Op{{Kind: OpReceive, OperandsIndex: slot, RequestCountsBack: true}, {Kind: OpSend, Bytes: bytes, OperandsIndex: slot + 1, RequestCountsBack: true}, {Kind: OpCompletedRequest, RequestCountsBack: true},
				{Kind: OpRecorded, TakesVisitTime: true, Request: NoRequest}, {Kind: OpWait, RequestCountsBack: true, Request: 3}, {Kind: OpWait, RequestCountsBack: true, Request: 2}})
			distances, meets = append(distances, d), append(meets, false)
		case 2: // the messages of two rounds are under way
			x.calls = append(x.calls, []Op{{Kind: OpReceive, OperandsIndex: slot, RequestCountsBack: true}, {Kind: OpSend, Bytes: min(bytes, 80), OperandsIndex: slot + 1, Request: NoRequest}, {Kind: OpWait, RequestCountsBack: true, Request: 2}})
			distances, meets = append(distances, d), append(meets, false)
		default:
			members := n
			all := rapid.Bool().Draw(t, "all")
			if !all {
				members = 2
			}
			x.calls = append(x.calls, []Op{{Kind: OpMeet, Members: int32(members), TimePs: 5000, OperandsIndex: slot + 2, Request: NoRequest}})
			distances, meets = append(distances, 0), append(meets, all)
		}
	}
	calls := rapid.SliceOfN(rapid.IntRange(0, len(x.calls)-1), 0, 4)
	x.lists = [3][]int{calls.Draw(t, "before"), rapid.SliceOfN(rapid.IntRange(0, len(x.calls)-1), 1, 4).Draw(t, "round"), calls.Draw(t, "after")}
	x.slots = func(r int) (list []RankOperands) {
		for i, d := range distances {
			to, from := (r+d)%n, (r-d+n)%n
			context := int32(1000 + 100*i)
			if !meets[i] {
				context += int32(r / 2)
			}
			list = append(list, RankOperands{Peer: int32(from), Context: int32(i)}, RankOperands{Peer: int32(to), Context: int32(i), IsSend: true}, RankOperands{IsMeeting: true, Context: context})
		}
		return list
	}
	rounds := rapid.Uint64Range(0, 60).Draw(t, "rounds")
	few := rapid.SampledFrom([]int{1, 2, n}).Draw(t, "gaps")
	gaps := rapid.SliceOfN(rapid.SampledFrom([]int64{0, 3000, 7777, 12_345}), n, n).Draw(t, "gap")
	for r := range n {
		x.count = append(x.count, rounds)
		x.gaps = append(x.gaps, gaps[r%few])
	}
	return x
}

// Short cuts change no digit.
func TestShortCuts(t *testing.T) {
	m, err := machine.ParseMachine("levels", []byte(levels))
	if err != nil {
		t.Fatal(err)
	}
	var passed, stood int
	rapid.Check(t, func(t *rapid.T) {
		x := draw(t)
		place := m.PlaceRanks(x.ranks, machine.Mapping(rapid.IntRange(0, 1).Draw(t, "mapping")))
		want, failed := Simulate(x.programs(nil), place, Options{SimulateEachRank: true, SimulateEachRound: true})
		for _, o := range []Options{{}, {SimulateEachRank: true}, {SimulateEachRound: true}} {
			got, err := Simulate(x.programs(nil), place, o)
			if (err == nil) != (failed == nil) || err != nil && err.Error() != failed.Error() {
				t.Fatal(o, err, ", without short cuts ", failed)
			}
			if err != nil {
				continue
			}
			if got.ShortCuts.SkippedRounds > 0 {
				passed++
			}
			if got.ShortCuts.SimulatedRanks < x.ranks {
				stood++
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Result{}, "ShortCuts")); diff != "" {
				t.Fatal(o, got.ShortCuts, diff)
			}
		}
		if failed == nil {
			checkSites(t, x, place, want)
			checkPath(t, func() ([]Program, error) { return x.programs(nil), nil }, place, want)
		}
	})
	if passed < 10 || stood < 10 {
		t.Errorf("rounds were passed over in %d runs, ranks stood for others in %d", passed, stood)
	}
}

// Rounds that take equally long for a while, before something comes about that was under way all the
// time: they are no reason to take the rest for the same.
func TestTransients(t *testing.T) {
	m, err := machine.ParseMachine("x", []byte(`
[[level]]
name = "switch"
gap_ns = [[0, 1], [8, 10_500], [1000, 1]]
eager = [[0, 1000], [8, 1000], [1000, 2_000_000]]`))
	if err != nil {
		t.Fatal(err)
	}
	const none, eight, large, get, all = 0, 1, 2, 0, 3
	send := func(bytes int64) []Op { return []Op{{Kind: OpSend, Bytes: bytes, Request: NoRequest}} }
	meet := []Op{{Kind: OpMeet, Members: 2, OperandsIndex: 1, Request: NoRequest}}
	from := &DistinctCallOps{OpsOfCall: [][]Op{none: send(0), eight: send(8), large: send(1000), all: meet}, RequestMask: 1}
	to := &DistinctCallOps{OpsOfCall: [][]Op{get: {{Kind: OpReceive, Request: NoRequest}}, all: meet}, RequestMask: 1}
	list := func(gap int64, calls ...int) (l []visited) {
		for _, c := range calls {
			l = append(l, visited{call: c, gap: gap * ns})
			gap = 0
		}
		return l
	}
	for _, c := range []struct {
		name   string
		rounds uint64
		sender [3][]visited
		gets   [2][]visited // in each round, and behind them
	}{
		// Each message leaves half a microsecond later than the one before, until that is when the
		// receiver has computed.
		{"the sender is ever busier", 90, [3][]visited{nil, list(0, eight, all)}, [2][]visited{list(10_000, get, all)}},
		// The receiver is seven messages behind, and one of those takes long.
		{"a message is long under way", 90, [3][]visited{list(0, none, none, none, none, none, large, none), list(0, none, all)}, [2][]visited{list(10_000, get, all), list(0, get, get, get, get, get, get, get)}},
	} {
		programs := func() []Program {
			slots := []RankOperands{{Peer: 1, IsSend: true}, {IsMeeting: true, Context: 9}}
			back := []RankOperands{{Peer: 0}, slots[1]}
			return []Program{
				&CompiledProgram{Code: from, Operands: slots, Visits: &loop{before: c.sender[0], round: c.sender[1], after: c.sender[2], rounds: c.rounds}},
				&CompiledProgram{Code: to, Operands: back, Visits: &loop{round: c.gets[0], after: c.gets[1], rounds: c.rounds}},
			}
		}
		want, err := Simulate(programs(), m.PlaceRanks(2, machine.MappingBlock), Options{SimulateEachRound: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Simulate(programs(), m.PlaceRanks(2, machine.MappingBlock), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Result{}, "ShortCuts")); diff != "" || got.ShortCuts.SkippedRounds == 0 {
			t.Errorf("%s: %+v %s", c.name, got.ShortCuts, diff)
		}
		if least := int64(c.rounds) * 10_000 * ns; want.EndPs() < least+least/100 {
			t.Errorf("%s: nothing comes about: %d ps", c.name, want.EndPs())
		}
	}
}

// checkPath shows that the parts of a path add up to the end.
func checkPath(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, programs func() ([]Program, error), place *machine.Placement, want *Result) *CriticalPath {
	t.Helper()
	got, p, err := SimulateWithPath(programs, place)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Result{}, "ShortCuts")); diff != "" {
		t.Fatal(diff)
	}
	sum := int64(0)
	for _, s := range p.Shares {
		sum += s.ComputePs + s.OverheadPs + s.TransferPs + s.RecordedPs
	}
	if p.EndPs != want.EndPs() || sum != p.EndPs {
		t.Fatalf("a path of %d has parts of %d, the end is %d", p.EndPs, sum, want.EndPs())
	}
	return p
}

// plus adds the parts of another time.
func (t *RankTime) plus(o *RankTime) {
	t.ComputePs += o.ComputePs
	t.OverheadPs += o.OverheadPs
	t.WaitPs += o.WaitPs
	t.TransferPs += o.TransferPs
	t.RecordedPs += o.RecordedPs
}

// checkSites shows that the times of calls are those of ranks.
func checkSites(t *rapid.T, x *ring, place *machine.Placement, want *Result) {
	sites := &CallTimes{GroupOfRank: make([]int, x.ranks)}
	var sums []RankTime
	for r := range sites.GroupOfRank {
		sites.GroupOfRank[r] = r % 2
	}
	got, err := Simulate(x.programs(nil), place, Options{CallTimes: sites})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Ranks, got.Ranks); diff != "" {
		t.Fatal(diff)
	}
	for group := range 2 {
		var ranks, calls RankTime
		for r := group; r < x.ranks; r += 2 {
			ranks.plus(&got.Ranks[r])
		}
		for i := range sites.TimesByGroupAndCall {
			if i == group {
				for c := range sites.TimesByGroupAndCall[i] {
					calls.plus(&sites.TimesByGroupAndCall[i][c])
				}
			}
		}
		sums = append(sums, ranks, calls)
	}
	if sums[0] != sums[1] || sums[2] != sums[3] {
		t.Fatal(sums)
	}
}
