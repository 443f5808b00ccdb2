package hang

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// An Analysis is what follows from a Snapshot: which ranks are stuck, and why.
type Analysis struct {
	*Graph
	// OperationWillComplete reports for each of Snapshot.Operations whether the ranks that it needs have done their part, so that
	// it will complete.
	OperationWillComplete []bool
	// Unreceived are sent messages that no receive takes.
	Unreceived []unreceived
	// Mismatches are collective calls in which members of a communicator call different functions, or pass different
	// roots.
	Mismatches []mismatch

	s       *Snapshot
	meeting map[meeting]*arrival
	others  map[int]*Condition // by index in Snapshot.Groups: what a receive with MPI_ANY_SOURCE waits for
}

// A mismatch is the first collective call on a communicator in which members differ.
type mismatch struct {
	Comm     int    // index in Snapshot.Groups
	Position uint64 // number of collective calls on the communicator before it
	Calls    []mismatchedCall
}

// A mismatchedCall is one of the different calls of a mismatch, with the world ranks that made it.
type mismatchedCall struct {
	CollectiveCall
	Ranks []int
}

// A meeting identifies one collective operation: the communicator, the number of collective calls on it before, and the
// call. Ranks that made a different call at that position are not in it.
type meeting struct {
	comm     int
	position uint64
	call     CollectiveCall
}

// An arrival is which ranks a meeting still needs.
type arrival struct {
	missing   []int        // world ranks that have not entered the operation, or made a different call instead
	held      []int        // world ranks that have entered it, but whose processes can't run
	absent    map[int]bool // ranks of missing and held
	everybody *Condition   // all of these must act
	somebody  *Condition   // one of these must act
}

// Analyse determines which ranks of the snapshot are stuck, and why.
func (s *Snapshot) Analyse() *Analysis {
	m := s.match()
	a := &Analysis{OperationWillComplete: m.matched, Unreceived: m.unreceived(), s: s, meeting: make(map[meeting]*arrival), others: make(map[int]*Condition)}
	for i := range s.Operations {
		if o := &s.Operations[i]; o.Kind == OperationCollective {
			a.OperationWillComplete[i] = a.collective(o) == nil
		}
	}
	nodes := make([]RankNode, len(s.Ranks))
	for i := range s.Ranks {
		nodes[i] = RankNode{Ended: s.Ranks[i].EndedOrFinalizing, WaitsFor: a.condition(&s.Ranks[i])}
	}
	a.Graph = NewGraph(nodes)
	a.mismatches()
	return a
}

// MissingRanks lists the world ranks that have not entered a collective operation, or made a different call instead.
// The operation is an index in Snapshot.Operations. held lists ranks that have entered it, but whose processes can't
// run.
func (a *Analysis) MissingRanks(operation int) (missing, held []int) {
	x := a.arrival(&a.s.Operations[operation])
	return x.missing, x.held
}

// condition returns what a rank waits for; nil if it can go on.
func (a *Analysis) condition(r *RankWait) *Condition {
	if r.OtherThreadBusy || len(r.Threads) == 0 {
		return nil
	}
	all := &Condition{AnySuffices: true}
	for i := range r.Threads {
		c := a.wait(&r.Threads[i])
		if c == nil {
			return nil
		}
		all.Conditions = append(all.Conditions, c)
	}
	if len(all.Conditions) == 1 {
		return all.Conditions[0]
	}
	return all
}

// wait returns what a thread's open call waits for; nil if the call can return.
func (a *Analysis) wait(w *ThreadWait) *Condition {
	c := &Condition{AnySuffices: w.AnySuffices}
	for _, i := range w.Operations {
		switch {
		case !a.OperationWillComplete[i]:
			c.Conditions = append(c.Conditions, a.operation(&a.s.Operations[i]))
		case w.AnySuffices:
			return nil
		}
	}
	switch {
	case len(c.Conditions) == 1:
		return c.Conditions[0]
	case len(c.Conditions) == 0:
		return nil
	}
	return c
}

// operation returns what an operation that can't complete yet waits for.
func (a *Analysis) operation(o *Operation) *Condition {
	switch {
	case o.Kind == OperationCollective:
		return a.collective(o)
	case o.PeerWorldRank != AnySource:
		return &Condition{Ranks: []int{o.PeerWorldRank}}
	}
	c := a.others[o.GroupIndex]
	if c == nil {
		// A receive from any source waits for any member. The receiver itself is one of them, as another of its threads
		// could send. If the receiver is stuck, none of its threads can.
		c = &Condition{AnySuffices: true}
		for _, r := range a.s.Groups[o.GroupIndex].Members {
			if r >= 0 {
				c.Ranks = append(c.Ranks, r)
			} else {
				c.Conditions = append(c.Conditions, &Condition{}) // an unknown member may still send: always met
			}
		}
		a.others[o.GroupIndex] = c
	}
	return c
}

// collective returns what a rank in a collective operation waits for; nil if it waits for no rank.
func (a *Analysis) collective(o *Operation) *Condition {
	x := a.arrival(o)
	if len(x.missing)+len(x.held) == 0 || len(x.missing) == 0 && a.s.Ranks[o.Rank].IsProcessHeld {
		return nil
	}
	switch o.AwaitedMembers {
	case meaning.AwaitsRoot:
		if x.absent[o.RootWorldRank] {
			return &Condition{Ranks: []int{o.RootWorldRank}}
		}
		return x.somebody
	case meaning.AwaitsSomeMembers, meaning.AwaitsNoMember:
		return x.somebody
	case meaning.AwaitsLowerRanks:
		members := a.s.Groups[o.GroupIndex].Members
		c := &Condition{}
		for _, r := range members[:max(0, slices.Index(members, o.Rank))] {
			if x.absent[r] {
				c.Ranks = append(c.Ranks, r)
			}
		}
		if len(c.Ranks) == 0 {
			return nil
		}
		return c
	}
	return x.everybody
}

// arrival finds which ranks a collective operation still needs.
func (a *Analysis) arrival(o *Operation) *arrival {
	g := &a.s.Groups[o.GroupIndex]
	key := meeting{comm: o.GroupIndex, position: o.CollectiveIndex}
	own := slices.Index(g.Members, o.Rank)
	called, known := CollectiveCall{}, false
	if own >= 0 && own < len(g.CollectiveProgress) {
		if called, known = g.CollectiveProgress[own].at(o.CollectiveIndex); known {
			key.call = called
			key.call.UserData = 0
		}
	}
	if x := a.meeting[key]; x != nil {
		return x
	}
	x := &arrival{absent: make(map[int]bool), everybody: &Condition{}, somebody: &Condition{AnySuffices: true}}
	for i, r := range g.Members {
		if r < 0 {
			continue // the member isn't known, so it may have entered the operation
		}
		var p CollectiveProgress
		if i < len(g.CollectiveProgress) {
			p = g.CollectiveProgress[i]
		}
		other, ok := p.at(o.CollectiveIndex)
		if p.Count <= o.CollectiveIndex || ok && known && !called.Matches(other) {
			x.missing = append(x.missing, r)
			x.absent[r] = true
		}
	}
	if len(x.missing) == 0 { // all have entered the operation: only processes that can't run delay it
		for i := range a.s.Operations {
			if p := &a.s.Operations[i]; p.Kind == OperationCollective && p.GroupIndex == o.GroupIndex && p.CollectiveIndex == o.CollectiveIndex && a.s.Ranks[p.Rank].IsProcessHeld {
				x.held = append(x.held, p.Rank)
				x.absent[p.Rank] = true
			}
		}
	}
	late := slices.Concat(x.missing, x.held)
	x.everybody.Ranks, x.somebody.Ranks = late, late
	a.meeting[key] = x
	return x
}

// mismatches finds, for each communicator, the first collective call in which members differ, of those that are kept.
func (a *Analysis) mismatches() {
	for comm := range a.s.Groups {
		g := &a.s.Groups[comm]
		if len(g.CollectiveProgress) == 0 {
			continue
		}
		low, high := ^uint64(0), uint64(0)
		for i := range g.CollectiveProgress {
			if p := &g.CollectiveProgress[i]; len(p.LatestCalls) > 0 {
				low = min(low, p.Count-uint64(len(p.LatestCalls)))
				high = max(high, p.Count)
			}
		}
		for position := low; position < high; position++ {
			if calls := g.calls(position); len(calls) > 1 {
				a.Mismatches = append(a.Mismatches, mismatch{comm, position, calls})
				break
			}
		}
	}
}

// calls lists the different collective calls that members made after position others, the most frequent first.
func (g *CollectiveGroup) calls(position uint64) []mismatchedCall {
	var list []mismatchedCall
	for i := range g.CollectiveProgress {
		c, ok := g.CollectiveProgress[i].at(position)
		if !ok || i >= len(g.Members) || g.Members[i] < 0 {
			continue
		}
		n := slices.IndexFunc(list, func(m mismatchedCall) bool { return m.Matches(c) })
		if n < 0 {
			n = len(list)
			list = append(list, mismatchedCall{CollectiveCall: c})
		}
		list[n].Ranks = append(list[n].Ranks, g.Members[i])
	}
	slices.SortStableFunc(list, func(a, b mismatchedCall) int { return cmp.Compare(len(b.Ranks), len(a.Ranks)) })
	return list
}
