package hang

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/mpi/meaning"
	"pgregory.net/rapid"
)

// What the ranks of the simulated programs do.
const (
	simSend  = iota // waits until the message is taken
	simBsend        // doesn't
	simRecv
	simProbe
	simIsend
	simIrecv
	simWaitall // for all requests
	simWaitany // for one of all requests
	simBarrier
	simBcast
	simKinds
)

type instruction struct{ kind, peer, tag int }

// An envelope is a message or a posted receive of the simulation.
type envelope struct {
	from, to, tag int
	serial        uint64 // of a message, on its channel
	partner       *envelope
	receive       bool
}

// A world of the simulation: an obvious MPI, one step at a time.
type world struct {
	programs [][]instruction
	pc       []int
	inside   []bool
	messages []*envelope // in order of arrival
	posted   []*envelope // in order of posting
	open     []*envelope // by rank: of the blocking call
	requests [][]*envelope
	entered  []int // collectives
	roots    [][]int
	counts   map[Channel]MessageCount
}

func newWorld(programs [][]instruction) *world {
	n := len(programs)
	return &world{
		programs: programs, pc: make([]int, n), inside: make([]bool, n), open: make([]*envelope, n), requests: make([][]*envelope, n),
		entered: make([]int, n), roots: make([][]int, n), counts: make(map[Channel]MessageCount),
	}
}

func fits(r, m *envelope) bool {
	return m.partner == nil && r.partner == nil && r.to == m.to && (r.from == AnySource || r.from == m.from) && (r.tag == AnyTag || r.tag == m.tag)
}

func (w *world) send(from int, i instruction) *envelope {
	m := &envelope{from: from, to: i.peer, tag: i.tag}
	c := Channel{0, from, i.peer, int64(i.tag)}
	n := w.counts[c]
	n.Sent++
	w.counts[c] = n
	m.serial = n.Sent
	w.messages = append(w.messages, m)
	for _, r := range w.posted {
		if fits(r, m) {
			r.partner, m.partner = m, r
			break
		}
	}
	return m
}

func (w *world) post(to int, i instruction) *envelope {
	r := &envelope{from: i.peer, to: to, tag: i.tag, receive: true}
	w.posted = append(w.posted, r)
	for _, m := range w.messages {
		if fits(r, m) {
			r.partner, m.partner = m, r
			break
		}
	}
	return r
}

// steps lists the ranks that can do something.
func (w *world) steps() (list []int) {
	for r := range w.programs {
		if w.pc[r] < len(w.programs[r]) && (!w.inside[r] || w.returns(r)) {
			list = append(list, r)
		}
	}
	return list
}

// returns reports whether a rank's open call can.
func (w *world) returns(r int) bool {
	i := w.programs[r][w.pc[r]]
	switch i.kind {
	case simSend, simRecv:
		return w.open[r].partner != nil
	case simProbe:
		return slices.ContainsFunc(w.messages, func(m *envelope) bool { return fits(&envelope{from: i.peer, to: r, tag: i.tag}, m) })
	case simWaitall:
		return !slices.ContainsFunc(w.requests[r], func(e *envelope) bool { return e.partner == nil })
	case simWaitany:
		return len(w.requests[r]) == 0 || slices.ContainsFunc(w.requests[r], func(e *envelope) bool { return e.partner != nil })
	case simBarrier, simBcast:
		for s := range w.programs {
			if w.entered[s] < w.entered[r] || w.roots[s][w.entered[r]-1] != w.roots[r][w.entered[r]-1] {
				return false
			}
		}
	}
	return true
}

// step lets a rank enter its next call, or return.
func (w *world) step(r int) {
	i := w.programs[r][w.pc[r]]
	if !w.inside[r] {
		w.inside[r] = true
		switch i.kind {
		case simSend, simBsend:
			w.open[r] = w.send(r, i)
		case simRecv:
			w.open[r] = w.post(r, i)
		case simIsend:
			w.requests[r] = append(w.requests[r], w.send(r, i))
		case simIrecv:
			w.requests[r] = append(w.requests[r], w.post(r, i))
		case simBarrier:
			w.entered[r]++
			w.roots[r] = append(w.roots[r], -1)
		case simBcast:
			w.entered[r]++
			w.roots[r] = append(w.roots[r], i.peer)
		}
		return
	}
	switch i.kind {
	case simRecv:
		w.finish(w.open[r])
	case simWaitall:
		for _, e := range w.requests[r] {
			w.finish(e)
		}
		w.requests[r] = nil
	case simWaitany:
		if n := slices.IndexFunc(w.requests[r], func(e *envelope) bool { return e.partner != nil }); n >= 0 {
			w.finish(w.requests[r][n])
			w.requests[r] = slices.Delete(slices.Clone(w.requests[r]), n, n+1)
		}
	}
	w.inside[r], w.open[r] = false, nil
	w.pc[r]++
}

func (w *world) finish(e *envelope) {
	if e.receive {
		m := e.partner
		c := Channel{0, m.from, m.to, int64(m.tag)}
		n := w.counts[c]
		n.Received++
		w.counts[c] = n
	}
}

// snapshot is what a recorder knows of the world: not which message a receive got that has not completed.
func (w *world) snapshot() *Snapshot {
	s := &Snapshot{Messages: w.counts, Ranks: make([]RankWait, len(w.programs)), Groups: make([]CollectiveGroup, 1)}
	for r := range w.programs {
		s.Groups[0].Members = append(s.Groups[0].Members, r)
		p := CollectiveProgress{Count: uint64(w.entered[r])}
		for _, root := range w.roots[r] {
			p.LatestCalls = append(p.LatestCalls, call(root))
		}
		s.Groups[0].CollectiveProgress = append(s.Groups[0].CollectiveProgress, p)
	}
	number := make(map[*envelope]int)
	add := func(e *envelope, kind OperationKind) int {
		number[e] = len(s.Operations)
		o := Operation{Kind: kind, Rank: e.from, PeerWorldRank: e.to, Tag: int64(e.tag), MessageNumber: e.serial}
		if kind != OperationSend {
			o.Rank, o.PeerWorldRank = e.to, e.from
		}
		s.Operations = append(s.Operations, o)
		return number[e]
	}
	for r := range w.programs {
		rank := &s.Ranks[r]
		for _, e := range w.requests[r] {
			add(e, map[bool]OperationKind{true: OperationReceive}[e.receive])
		}
		if w.pc[r] == len(w.programs[r]) {
			rank.EndedOrFinalizing = true
			continue
		}
		if !w.inside[r] {
			continue
		}
		i := w.programs[r][w.pc[r]]
		wait := ThreadWait{AnySuffices: i.kind == simWaitany}
		switch i.kind {
		case simSend:
			wait.Operations = append(wait.Operations, add(w.open[r], OperationSend))
		case simRecv:
			wait.Operations = append(wait.Operations, add(w.open[r], OperationReceive))
		case simProbe:
			wait.Operations = append(wait.Operations, add(&envelope{from: i.peer, to: r, tag: i.tag}, OperationProbe))
		case simWaitall, simWaitany:
			for _, e := range w.requests[r] {
				wait.Operations = append(wait.Operations, number[e])
			}
		case simBarrier, simBcast:
			o := Operation{Kind: OperationCollective, Rank: r, CollectiveIndex: uint64(w.entered[r] - 1), RootWorldRank: i.peer}
			if i.kind == simBcast {
				o.AwaitedMembers = map[bool]meaning.AwaitedMembers{true: meaning.AwaitsSomeMembers, false: meaning.AwaitsRoot}[i.peer == r]
			}
			wait.Operations = append(wait.Operations, len(s.Operations))
			s.Operations = append(s.Operations, o)
		}
		rank.Threads = []ThreadWait{wait}
	}
	return s
}

func call(root int) CollectiveCall {
	if root < 0 {
		return CollectiveCall{Function: "MPI_Barrier", RootInComm: -1}
	}
	return CollectiveCall{Function: "MPI_Bcast", RootInComm: root}
}

func drawPrograms(t *rapid.T) (programs [][]instruction, sure bool) {
	n := rapid.IntRange(2, 4).Draw(t, "ranks")
	programs = make([][]instruction, n)
	sure = true
	if rapid.Bool().Draw(t, "matching") {
		// Half of the programs were made from messages: they might well go through.
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			tag := rapid.IntRange(0, 1).Draw(t, "tag")
			source := rapid.SampledFrom([]int{from, from, AnySource}).Draw(t, "source")
			programs[from] = append(programs[from], instruction{rapid.SampledFrom([]int{simSend, simBsend, simIsend}).Draw(t, "send"), to, tag})
			receive := rapid.SampledFrom([]int{simRecv, simRecv, simIrecv}).Draw(t, "receive")
			sure = sure && (receive == simRecv || source == from)
			programs[to] = append(programs[to], instruction{receive, source, tag})
			if rapid.IntRange(0, 3).Draw(t, "wait") == 0 {
				programs[to] = append(programs[to], instruction{kind: simWaitall})
			}
		}
	}
	for r := range programs {
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			i := instruction{rapid.IntRange(0, simKinds-1).Draw(t, "kind"), rapid.IntRange(0, n-1).Draw(t, "peer"), rapid.IntRange(0, 1).Draw(t, "tag")}
			switch i.kind {
			case simRecv, simIrecv, simProbe:
				i.peer = rapid.IntRange(-1, n-1).Draw(t, "source")
				i.tag = rapid.IntRange(-1, 1).Draw(t, "of tag")
				sure = sure && (i.kind != simIrecv || i.peer >= 0 && i.tag >= 0)
			case simBarrier:
				i.peer = -1
			}
			programs[r] = append(programs[r], i)
		}
	}
	return programs, sure
}

// TestSimulation: nobody is called stuck who can return in some order of events, and where nobody
// can do anything any more, all who are inside of a call are.
func TestSimulation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		programs, sure := drawPrograms(t)
		w := newWorld(programs)
		random := rapid.Uint64().Draw(t, "order")
		choose := func(list []int) int {
			random = random*6364136223846793005 + 1442695040888963407
			return list[int(random>>33)%len(list)]
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			list := w.steps()
			if len(list) == 0 {
				break
			}
			w.step(choose(list))
		}
		a := w.snapshot().Analyse()
		inside, pc := slices.Clone(w.inside), slices.Clone(w.pc)
		if len(w.steps()) == 0 && sure {
			for r := range inside {
				if inside[r] && !a.IsStuck(r) {
					t.Fatalf("rank %d is not known to be stuck", r)
				}
			}
		}
		for {
			list := w.steps()
			if len(list) == 0 {
				break
			}
			w.step(choose(list))
		}
		for r := range inside {
			if inside[r] && w.pc[r] > pc[r] && a.IsStuck(r) {
				t.Fatalf("rank %d went on, and was said to be stuck", r)
			}
		}
	})
}
