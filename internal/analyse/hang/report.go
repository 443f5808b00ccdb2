package hang

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

// report makes the Report of what the view found.
func (v *view) report() *Report {
	r := &Report{Ranks: len(v.last), Receives: v.unmet(), Messages: v.messages(), Mismatches: v.mismatches(), WaitChainEnds: v.awaited()}
	delete(v.s.Losses, ops.LossUnfinished) // calls that never returned are no losses here: the report is about them
	r.Losses = v.s.Losses.List()
	r.RanksWithUnknownCalls = []int{}
	for rank := range v.last {
		if v.last[rank].unsure {
			r.RanksWithUnknownCalls = append(r.RanksWithUnknownCalls, rank)
		}
	}
	r.Verdict = v.verdict()
	a := v.analysis
	if r.Verdict == VerdictLivelock {
		a = v.patient
	}
	r.Cycles = v.cycles(a)
	r.States = v.states(a)
	return r
}

// verdict determines the verdict on the world from the states of its ranks.
func (v *view) verdict() Verdict {
	stuck, waits, livelock, ended, unknown := false, false, false, true, false
	for rank := range v.last {
		stuck = stuck || v.analysis.IsStuck(rank)
		waits = waits || v.analysis.IsWaiting(rank)
		livelock = livelock || v.last[rank].kind == StatePolling && v.patient.IsStuck(rank)
		unknown = unknown || v.last[rank].kind == StateUnknown
		ended = ended && v.last[rank].kind == StateFinalized
	}
	switch {
	case ended:
		return VerdictEnded
	case stuck && len(v.analysis.Cycles()) > 0:
		return VerdictDeadlock
	case stuck:
		return VerdictStuck
	case livelock:
		return VerdictLivelock
	case unknown:
		return VerdictMissingRecords
	case waits:
		return VerdictWaiting
	}
	return VerdictProgressing
}

// cycles lists the cycles of an analysis, with what each rank waits for.
func (v *view) cycles(a *Analysis) []Cycle {
	list := []Cycle{}
	for _, ranks := range a.Cycles() {
		c := Cycle{Ranks: ranks}
		for i, rank := range ranks {
			c.Links = append(c.Links, v.link(a, rank, ranks[(i+1)%len(ranks)]))
		}
		list = append(list, c)
	}
	return list
}

// link says in which call a rank of a cycle waits for the next, and for what.
func (v *view) link(a *Analysis, rank, next int) CycleLink {
	t := v.last[rank].threads[v.last[rank].shown]
	l := CycleLink{Rank: rank, TimeInCallNs: t.since}
	if t.call != nil {
		p := v.places[t.place]
		l.Function, l.Place = p.Function, v.o.NameSite(p.Site)
	}
	l.WaitsForText = v.wanted(a, &t, next)
	return l
}

// wanted describes what a thread waits for. If of is a rank, it describes only what that rank must do; -1: all.
func (v *view) wanted(a *Analysis, t *threadEnd, of int) string {
	var list []string
	for _, i := range t.wait.Operations {
		o := &v.snap.Operations[i]
		if a.OperationWillComplete[i] || of >= 0 && !v.concerns(o, of) {
			continue
		}
		if text := v.describe(i, o); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	const most = 4
	if n := len(list) - most; n > 1 {
		list = append(list[:most], fmt.Sprintf("%d more", n))
	}
	joint := " and "
	if t.wait.AnySuffices {
		joint = " or "
	}
	return strings.Join(list, joint)
}

// concerns reports whether an operation may be waiting for a rank.
func (v *view) concerns(o *Operation, rank int) bool {
	return o.Kind == OperationCollective || o.PeerWorldRank == rank || o.PeerWorldRank == AnySource
}

// describe returns in words what an operation waits for. i is its index in Snapshot.Operations.
func (v *view) describe(i int, o *Operation) string {
	tag, from := fmt.Sprintf("tag %d", o.Tag), fmt.Sprintf("rank %d", o.PeerWorldRank)
	if o.Tag == AnyTag {
		tag = "any tag"
	}
	if o.PeerWorldRank == AnySource {
		from = "any rank"
	}
	on := ""
	if name := v.names[o.GroupIndex].String(); name != v.s.Comms.World().String() {
		on = ", " + name
	}
	switch o.Kind {
	case OperationSend:
		return fmt.Sprintf("%s to receive %s%s", from, tag, on)
	case OperationCollective:
		return v.meeting(i, o)
	}
	return fmt.Sprintf("a message from %s, %s%s", from, tag, on)
}

// meeting names the ranks that a collective operation waits for. i is its index in Snapshot.Operations.
func (v *view) meeting(i int, o *Operation) string {
	missing, held := v.analysis.MissingRanks(i)
	on := v.names[o.GroupIndex].String()
	function := v.places[v.placeOfOperation[i]].Function
	if len(missing) == 0 && len(held) > 0 {
		ranks := "ranks"
		if len(held) == 1 {
			ranks = "rank"
		}
		return fmt.Sprintf("%s %s to go on in %s on %s", ranks, show.FormatRanges(held), function, on)
	}
	if len(missing) == 1 {
		return fmt.Sprintf("rank %d to call %s on %s", missing[0], function, on)
	}
	return fmt.Sprintf("ranks %s to call %s on %s", show.FormatRanges(missing), function, on)
}

// states groups ranks that are in equal states. Groups of stuck ranks come first, those of ranks without records last,
// and else the largest group first.
func (v *view) states(a *Analysis) []RankGroupState {
	type key struct {
		kind  string
		place int
		stuck bool
		held  string
		comm  int
		round uint64
	}
	index := make(map[key]int)
	list := []RankGroupState{}
	for rank := range v.last {
		e := &v.last[rank]
		k := key{kind: e.kind, place: -1, stuck: a.IsStuck(rank), held: e.process.HeldBy, comm: -1}
		var t *threadEnd
		if e.known && e.threads[e.shown].call != nil {
			t = &e.threads[e.shown]
			k.place = t.place
			if t.in != nil {
				k.comm, k.round = t.in.GroupIndex, t.in.CollectiveIndex+1
			}
		}
		n, fresh := once.NumberOf(index, k)
		if fresh {
			s := RankGroupState{Kind: e.kind, Stuck: k.stuck, HeldBy: k.held, CollectiveNumber: k.round}
			if k.comm >= 0 {
				s.Comm = v.names[k.comm].String()
			}
			if k.place >= 0 {
				s.Function, s.Place = v.places[k.place].Function, v.o.NameSite(v.places[k.place].Site)
			}
			list = append(list, s)
		}
		list[n].Ranks = append(list[n].Ranks, v.rank(a, rank, t))
	}
	for i := range list {
		s := &list[i]
		if s.WaitsForText = s.Ranks[0].WaitsForText; slices.ContainsFunc(s.Ranks, func(r RankState) bool { return r.WaitsForText != s.WaitsForText }) {
			s.WaitsForText = ""
		}
	}
	slices.SortStableFunc(list, func(a, b RankGroupState) int {
		return cmp.Or(cmp.Compare(order(&a), order(&b)), cmp.Compare(len(b.Ranks), len(a.Ranks)))
	})
	return list
}

func order(s *RankGroupState) int {
	switch {
	case s.Stuck:
		return 0
	case s.Kind == StateUnknown:
		return 2
	}
	return 1
}

// rank returns the state of one rank. t is its thread that is shown; nil: it made no call.
func (v *view) rank(a *Analysis, rank int, t *threadEnd) RankState {
	e := &v.last[rank]
	s := RankState{Rank: rank, Host: e.process.Host, PID: e.process.PID, Calls: e.calls, WaitsFor: []int{}}
	if t != nil {
		s.TimeInStateNs, s.Polls, s.LastCallText, s.SpawnedProcesses = t.since, t.polls, t.call.Text(), spawns(t.call)
		if t.blocked || t.kind == StatePolling {
			s.WaitsForText = v.wanted(a, t, -1)
		}
	}
	if a.IsWaiting(rank) {
		if s.WaitsFor = a.AwaitedRanks(rank); len(s.WaitsFor) > 1 { // the rank itself may be among possible senders
			s.WaitsFor = slices.DeleteFunc(s.WaitsFor, func(r int) bool { return r == rank })
		}
	}
	for i := range e.threads {
		if x := &e.threads[i]; len(e.threads) > 1 && x.call != nil {
			p := v.places[x.place]
			s.Threads = append(s.Threads, RankGroupState{Kind: x.kind, Function: p.Function, Place: v.o.NameSite(p.Site), WaitsForText: v.wanted(a, x, -1), ThreadFunction: x.of})
		}
	}
	return s
}

// spawns returns the number of processes that an open MPI_Comm_spawn is to start. Only the root's call has it; else 0.
func spawns(c *trace.Call) (n int) {
	if c.Return != trace.ReturnCodeNeverReturned {
		return 0
	}
	if p := c.Param("maxprocs"); p != nil && p.In.Type == trace.TypeInt {
		return int(p.In.Num)
	}
	if p := c.Param("array_of_maxprocs"); p != nil {
		for i := range p.In.Elems {
			n += int(p.In.Elems[i].Num)
		}
	}
	return n
}

// awaited lists the ranks that wait for no rank themselves, but for which others wait, most awaited first.
func (v *view) awaited() []WaitChainEnd {
	list := []WaitChainEnd{}
	for rank := range v.last {
		if v.analysis.IsWaiting(rank) {
			continue
		}
		if by := v.analysis.TransitiveDependents(rank); len(by) > 0 {
			list = append(list, WaitChainEnd{rank, by})
		}
	}
	slices.SortStableFunc(list, func(a, b WaitChainEnd) int { return cmp.Compare(len(b.WaitingRanks), len(a.WaitingRanks)) })
	return list
}

// messages lists the sent messages that no receive takes, with the call site that sent the last of them.
func (v *view) messages() []UnreceivedMessages {
	list := []UnreceivedMessages{}
	for _, m := range v.analysis.Unreceived {
		x := UnreceivedMessages{From: m.From, To: m.To, Tag: m.Tag, Comm: v.names[m.GroupIndex].String(), Count: m.Count}
		if n := v.snap.Messages[m.Channel]; n.Sent > 0 {
			p := v.places[n.place]
			x.Function, x.Place = p.Function, v.o.NameSite(p.Site)
		}
		list = append(list, x)
	}
	return list
}

func (v *view) mismatches() []Mismatch {
	list := []Mismatch{}
	for _, m := range v.analysis.Mismatches {
		if slices.ContainsFunc(m.Calls, func(c mismatchedCall) bool {
			return slices.ContainsFunc(c.Ranks, func(rank int) bool { return v.last[rank].unsure })
		}) {
			continue // the mismatch may be due to a call that is missing in the trace
		}
		x := Mismatch{Comm: v.names[m.Comm].String(), CollectiveIndex: m.Position}
		for _, c := range m.Calls {
			x.Calls = append(x.Calls, MismatchedCall{c.Function, c.RootInComm, v.o.NameSite(v.places[c.UserData].Site), c.Ranks})
		}
		list = append(list, x)
	}
	return list
}
