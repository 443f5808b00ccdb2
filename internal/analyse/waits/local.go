package waits

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// An arrival is the time in ns at which a rank arrived at an operation, with the call site.
type arrival struct {
	at     int64
	within int64 // approximate error of the time, in ns
	rank   int32
	stream int32
	place  callSite
}

// rankAnalysis is the analysis of one rank. It is an ops.Sink that processes the rank's calls one window of time
// after the other. At the end of a window, ranks exchange what they need of each other.
type rankAnalysis struct {
	ops.NopSink
	Messenger
	s      *ops.Source
	places *Places
	follow *ops.Follower
	k      *trace.Rank // nil: the rank left no track
	each   func(Wait)
	rider  CallVisitor
	world  []int // all ranks
	direct int   // largest group whose members each send the late member a question
	broken error // an error on this rank, which the others learn at the end of the window

	byTerminal []callSite
	known      []bool
	alone      []bool  // by terminal: its calls wait for no other rank
	ownNs      []int64 // by terminal: time in its calls, and before them outside of MPI and the recorder
	threads    []*history
	clock      ops.StreamCallTimes  // reads the times of calls from the rank's log; nil: they come from the trace
	since      int64                // the analysis starts with calls that begin at this time
	part       float64              // share of the run that is analysed
	torn       map[ops.Channel]bool // channels whose sends and receives don't match one to one

	turn     int64                    // number of messages received so far
	posted   map[uint64]arrival       // pending receives, by ops.Act.ID
	sending  map[uint64]*outgoing     // pending sends, by ops.Act.ID
	joined   map[uint64]*meeting      // pending collectives, by ops.Act.ID
	signals  []signal                 // signals of the current act
	accesses map[*ops.Window]*meeting // access epochs begun by MPI_Win_start that have not ended
	numbers  map[ops.Channel]*uint64  // by channel: number of signals so far
	// visited has, by another rank's memory, the number of this rank's last call that informed the owner.
	visited  map[windowMemory]uint64
	visiting map[uint64]*blocked         // calls that await the answer of a memory's owner, by number of their signal
	held     map[windowMemory]bool       // locks on memory that this rank holds; true: exclusive
	memory   map[windowMemory]*visitable // other ranks' calls on this rank's own memory
	late     []lateVisit                 // late ranks that an owner reported before its answer to a visit
	calls    uint64                      // number of calls so far
	started  map[int]uint64              // by communicator: number of persistent collectives started so far
	sent     map[uint64]*outgoing        // sends without the receiver's answer, by number of the message
	got      map[uint64]*incoming
	order    receiveOrder
	groups   []*group
	asked    struct { // function and result of the latest call of the method edge
		function *trace.Function
		kind     Kind
		ok       bool
	}
	in map[int]*group // by ID of a communicator: its members (of both sides of an intercommunicator)

	tell, answers map[int]*block  // by rank: blocks to send to it
	asks          map[int]*asking // by rank: questions to send
	answered      map[int][]answered

	spare       *blocked   // a call that waited for nothing, whose memory the next call reuses
	unsettled   []*blocked // calls in order whose partners have not all arrived
	now         int64      // begin of the latest call
	first, last int64
	began       bool
	hops        *hops  // waits of the rank, for the critical path; nil: the path is not wanted
	waits       uint64 // number of waits so far, over all ranks

	sums
}

// slack multiplies the error bound of a time: the times of ranks that were together may differ by that, as errors add
// up.
const slack = 4

func newLocal(t Transport, s *ops.Source, p *Places) *rankAnalysis {
	return &rankAnalysis{
		world: AllRanks(t.Size()), part: 1, since: math.MinInt64, Messenger: Messenger{t}, s: s, places: p, each: func(Wait) {}, rider: alone{}, direct: maxDirect,
		posted: make(map[uint64]arrival), sending: make(map[uint64]*outgoing), joined: make(map[uint64]*meeting), numbers: make(map[ops.Channel]*uint64), visited: make(map[windowMemory]uint64), visiting: make(map[uint64]*blocked), held: make(map[windowMemory]bool), memory: make(map[windowMemory]*visitable), accesses: make(map[*ops.Window]*meeting), started: make(map[int]uint64),
		sent: make(map[uint64]*outgoing), got: make(map[uint64]*incoming), tell: make(map[int]*block), answers: make(map[int]*block),
		asks: make(map[int]*asking), answered: make(map[int][]answered), sums: newSums(),
	}
}

// AllRanks returns the ranks from 0 to n - 1.
func AllRanks(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Begin prepares the analysis of a rank's calls. It is a method of ops.Sink.
func (w *rankAnalysis) Begin(k *trace.Rank) error {
	w.k = k
	w.byTerminal, w.known, w.alone = make([]callSite, k.Terminals()), make([]bool, k.Terminals()), make([]bool, k.Terminals())
	w.ownNs = make([]int64, k.Terminals())
	w.Threads = make([]span, k.Streams())
	for range k.Streams() {
		w.threads = append(w.threads, &history{})
	}
	return nil
}

func (w *rankAnalysis) placeOf(c *ops.Call) callSite {
	if !w.known[c.Terminal] {
		w.known[c.Terminal], w.byTerminal[c.Terminal], w.alone[c.Terminal] = true, w.places.place(c.Func, c.Site), ops.IsLocal(c.Call) || ops.IsPassiveTarget(c.Func)
	}
	return w.byTerminal[c.Terminal]
}

// Enter processes a call.
func (w *rankAnalysis) Enter(c *ops.Call) error {
	if c.StartNs < w.since {
		w.skip(c)
		return nil
	}
	if !w.began || c.StartNs < w.first {
		w.began, w.first = true, c.StartNs
	}
	w.last, w.now = max(w.last, c.EndNs), c.StartNs
	w.calls++
	t := &w.Threads[c.Stream]
	if w.threads[c.Stream].n == 0 {
		t.start = c.StartNs
	}
	t.end = max(t.end, c.EndNs)
	w.rider.AddCall(c.Stream, c.Terminal, c.StartNs, c.EndNs, int64(c.Timing.Gap.Ns))
	at := w.placeOf(c)
	free := w.threads[c.Stream].free(c.StartNs)
	w.MPINs += w.threads[c.Stream].add(c.StartNs, c.EndNs, at)
	w.ownNs[c.Terminal] += int64(c.Timing.Gap.Ns + c.Timing.Duration.Ns)
	edge, isEdge := w.edge(c.Func)
	together := len(c.Acts) == 0 && c.Meeting.Comm != nil && c.Return == 0
	if len(c.Acts) == 0 && !together && (!isEdge || c.Return != 0) {
		w.unclear(c)
		return nil
	}
	here := arrival{c.StartNs, slack * int64(c.Timing.Duration.ErrorBoundNs+c.Timing.Gap.ErrorBoundNs), int32(w.Rank()), int32(c.Stream), at}
	b := w.spare // reused: most calls turn out at once to wait for nothing
	if b == nil {
		b = &blocked{}
	}
	*b = blocked{arrival: here, end: c.EndNs}
	for i := range c.Acts {
		w.act(c, &c.Acts[i], here, free, b)
	}
	if together {
		w.meets(c, &ops.Act{}, here, free, b)
	}
	if isEdge && c.Return == 0 {
		w.meetsAll(edge, here, free, b)
	}
	if !b.known {
		w.unclear(c)
	}
	if w.spare = nil; !b.opened {
		w.spare = b
		return nil
	}
	if b.told = true; b.open == 0 {
		w.settle(b)
	} else {
		w.unsettled = append(w.unsettled, b)
	}
	return nil
}

// unclear adds the duration of a call that the analysis can't interpret to Other, unless the call waits for no rank.
func (w *rankAnalysis) unclear(c *ops.Call) {
	if !w.alone[c.Terminal] {
		w.Other[c.Name()] += c.EndNs - c.StartNs
	}
}

// skip updates the numbers of signals and of started persistent collectives, and the locks held, by a call before the
// analysed part of the run.
func (w *rankAnalysis) skip(c *ops.Call) {
	for i := range c.Acts {
		switch x := &c.Acts[i]; {
		case isSignalled(x):
			w.signalsOf(c, x)
		case x.Kind == ops.ActWinLock && x.PeerInComm != ops.AllMembers:
			w.held[regionOf(x, x.PeerWorldRank())] = x.IsExclusiveLock()
		case x.Kind == ops.ActWinUnlock && x.PeerInComm != ops.AllMembers:
			delete(w.held, regionOf(x, x.PeerWorldRank()))
		case meets(x.Kind) && c.Func.Has(trace.AttrStarts):
			w.started[x.Comm.ID()]++
		}
	}
}

func (w *rankAnalysis) act(c *ops.Call, x *ops.Act, here arrival, free int64, b *blocked) {
	switch x.Kind {
	case ops.ActSend, ops.ActSendBegin, ops.ActSendEnd, ops.ActRecvBegin, ops.ActRecv, ops.ActRecvEnd, ops.ActCollectiveEnd, ops.ActReadEnd, ops.ActWriteEnd, ops.ActProbed:
		b.known = true
	}
	switch x.Kind {
	case ops.ActSend, ops.ActSendBegin:
		if to := x.PeerWorldRank(); x.MessageNumber != 0 && to >= 0 && !w.isTorn(x, w.Rank(), to) {
			m := w.sends(x, to, here)
			if x.Kind == ops.ActSend {
				w.completesSend(m, b)
			} else {
				w.sending[x.ID] = m
			}
		}
	case ops.ActSendEnd:
		if m := w.sending[x.ID]; m != nil {
			delete(w.sending, x.ID)
			w.completesSend(m, b)
		}
	case ops.ActRecvBegin:
		w.posted[x.ID] = here
	case ops.ActRecv, ops.ActRecvEnd:
		posted, ok := w.posted[x.ID]
		if delete(w.posted, x.ID); !ok {
			posted = here
		}
		if from := x.PeerWorldRank(); x.MessageNumber != 0 && from >= 0 && !w.isTorn(x, from, w.Rank()) {
			w.receives(x, from, posted, b)
		}
	case ops.ActProbed:
		if from := x.PeerWorldRank(); !ops.IsLocal(c.Call) && from >= 0 && from != w.Rank() && !w.isTorn(x, from, w.Rank()) {
			w.awaits(x.MessageNumber, awaiting{call: b, kind: LateSender}, false)
		}
	case ops.ActWinLock, ops.ActWinUnlock, ops.ActRMAEndByRequest:
		w.lock(c, x, here, b)
	case ops.ActRMAEndBySync:
		if ops.IsPassiveTarget(c.Func) {
			w.lock(c, x, here, b)
		}
	case ops.ActCancelled:
		delete(w.posted, x.ID)
		delete(w.sending, x.ID)
	case ops.ActCollectiveEnd, ops.ActReadEnd, ops.ActWriteEnd:
		if m := w.joined[x.ID]; m != nil {
			delete(w.joined, x.ID)
			m.ends(w, b)
		}
	default:
		switch {
		case isSignalled(x):
			w.signal(c, x, here, b)
		case meets(x.Kind):
			w.meets(c, x, here, free, b)
		}
	}
}

// meets processes an operation of all members of a communicator.
func (w *rankAnalysis) meets(c *ops.Call, act *ops.Act, here arrival, free int64, b *blocked) {
	m, key := c.Meeting, meetingKey{}
	if c.Func.Has(trace.AttrStarts) {
		comm := act.Comm.ID()
		m = ops.Meeting{Comm: act.Comm, OwnCommRank: act.Comm.RankOf(w.Rank()), Ordinal: w.started[comm]}
		w.started[comm]++
		key.started = true
	}
	made := m.Comm == nil && act.Kind == ops.ActCommMade // all ranks that will be members of the new communicator take part
	if made {
		m = ops.Meeting{Comm: act.Comm, OwnCommRank: act.Comm.RankOf(w.Rank())}
	}
	if m.Comm == nil || m.OwnCommRank < 0 || m.Comm.Size+m.Comm.RemoteSize < 2 {
		return
	}
	g := w.in[m.Comm.ID()]
	if g == nil {
		return
	}
	if key.CollectiveSequence, key.number = m.CollectiveSequence(), m.Ordinal; made {
		key.ObjectCode = math.MinInt32
	}
	x := &meeting{group: g, key: key, self: m.OwnCommRank, when: here, free: free, awaited: m.Comm.Size, comes: true}
	if f := orFunction(act.StartedBy, c.Func); m.Comm.Remote == nil {
		x.need = needs(f, m.OwnCommRank, act.Root)
	} else {
		x.across(f, m.Comm.Remote, act.Root)
		g.pending = append(g.pending, x.other)
	}
	g.pending = append(g.pending, x)
	b.known = b.known || !x.need.unknown
	switch act.Kind {
	case ops.ActCollectiveBegin, ops.ActReadBegin, ops.ActWriteBegin:
		w.joined[act.ID] = x // the call that completes the operation waits
		if c.Func.Has(trace.AttrNonblocking) || c.Func.Has(trace.AttrStarts) {
			return
		}
	}
	x.ends(w, b)
}

// edge returns the kind of wait in a function that initialises or finalises MPI; ok is false for other functions.
func (w *rankAnalysis) edge(f *trace.Function) (kind Kind, ok bool) {
	if f != w.asked.function {
		w.asked.function, w.asked.kind, w.asked.ok = f, WaitAtInit, false
		switch {
		case ops.HasAttr(f, mpi.AttrInitialises):
			w.asked.ok = true
		case ops.HasAttr(f, mpi.AttrFinalises):
			w.asked.kind, w.asked.ok = WaitAtFinalize, true
		}
	}
	return w.asked.kind, w.asked.ok
}

// meetsAll processes a call that all ranks of the world make together without naming a communicator.
func (w *rankAnalysis) meetsAll(kind Kind, here arrival, free int64, b *blocked) {
	world := w.s.Comms.World()
	g := w.in[world.ID()]
	if b.known = true; g == nil {
		return
	}
	key := meetingKey{CollectiveSequence: ops.CollectiveSequence{CommKey: world.ID(), ObjectCode: -int(kind)}}
	x := &meeting{group: g, key: key, self: w.Rank(), when: here, free: free, need: need{kind: kind}, awaited: len(g.members), comes: true}
	g.pending = append(g.pending, x)
	x.ends(w, b)
}

func orFunction(f, g *trace.Function) *trace.Function {
	if f != nil {
		return f
	}
	return g
}

// An answered is a question about a late sender that was answered. It may be taken back and asked again as WrongOrder
// when the history no longer reaches back that far.
type answered struct {
	from, waited int64
	place        callSite
	compute      int64
}

// answer adds another rank's wait to this rank's sums: in which call this rank was late, and how long it computed
// meanwhile.
func (w *rankAnalysis) answer(rank int, q question) {
	compute := q.waited
	if int(q.stream) < len(w.threads) {
		compute -= w.threads[q.stream].within(q.from, q.from+q.waited)
	}
	if q.kind == LateSender || q.kind == WrongOrder {
		list := w.answered[rank]
		i := slices.IndexFunc(list, func(a answered) bool { return a.from == q.from && a.waited == q.waited && a.place == q.place })
		switch {
		case i >= 0 && (q.kind == WrongOrder || q.sign < 0):
			compute = list[i].compute
		case q.kind == LateSender && len(list) < recent:
			w.answered[rank] = append(list, answered{q.from, q.waited, q.place, compute})
		case q.kind == LateSender:
			w.answered[rank] = append(slices.Delete(list, 0, 1), answered{q.from, q.waited, q.place, compute})
		}
	}
	r := w.row(rowKey{q.place, q.kind})
	r.late[int32(w.Rank())] += q.sign * q.waited
	c := r.cause(q.late)
	c.waited += q.sign * q.waited
	c.compute += q.sign * compute
}

// try calls f unless this rank has failed before. It keeps an error or panic of f in w.broken.
func (w *rankAnalysis) try(f func() error) {
	if w.broken != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			w.broken = fmt.Errorf("waits: rank %d: %v\n%s", w.Rank(), p, debug.Stack())
		}
	}()
	if err := f(); err != nil {
		w.broken = fmt.Errorf("waits: rank %d: %w", w.Rank(), err)
	}
}

// errElsewhere is the error on ranks that have none of their own while another rank has failed.
var errElsewhere = errors.New("waits: another rank has failed")

// run processes the rank's calls in windows that end at the given times; the last one reaches to the end of the run.
// All ranks have the same windows. An error on one rank ends the analysis on all.
func (w *rankAnalysis) run(windows []int64) error {
	for i, until := range windows {
		last := i == len(windows)-1
		if last {
			until = ops.MaxTime
		}
		w.try(func() error {
			switch {
			case w.follow == nil:
				return nil
			case last:
				return w.follow.Finish()
			}
			return w.follow.AdvanceTo(until)
		})
		if err := w.share(until); err != nil {
			return err
		}
	}
	return nil
}

// share exchanges arrivals, answers and questions with other ranks at the end of a window.
func (w *rankAnalysis) share(until int64) error {
	in, err := w.exchange(encoded(w.tell))
	if err != nil {
		return err
	}
	w.try(func() error {
		if err := w.hear(in, w.hearSent); err != nil {
			return err
		}
		w.answerVisits(until)
		return nil
	})
	if in, err = w.exchange(encoded(w.answers)); err != nil {
		return err
	}
	w.try(func() error { return w.hear(in, w.hearAnswers) })
	for _, g := range w.groups {
		if err := w.meet(g); err != nil {
			return err
		}
	}
	if until == ops.MaxTime {
		w.try(w.end)
	}
	if in, err = w.exchange(encoded(w.asks)); err != nil {
		return err
	}
	w.try(func() error { return w.hear(in, w.hearQuestions) })
	return w.vote()
}

// hear passes each message of another rank to take, repeatedly until the message is read.
func (w *rankAnalysis) hear(in map[int][]byte, take func(from int, r *wire.Reader)) error {
	for from, b := range in {
		r := wire.NewReader(b, fmt.Sprintf("block of rank %d", from))
		for r.RemainingLen() > 0 {
			take(from, r)
		}
		if err := r.Err(); err != nil {
			return err
		}
	}
	return nil
}

// vote finds out whether any rank has failed, and the time before which no question will come any more.
func (w *rankAnalysis) vote() error {
	left := w.unsettled[:0]
	for _, b := range w.unsettled {
		if !b.settled {
			left = append(left, b)
		}
	}
	w.unsettled = left
	horizon := int64(ops.MaxTime)
	if w.follow != nil {
		horizon = w.now
		for _, b := range left {
			horizon = min(horizon, b.at)
		}
	}
	own := wire.AppendVarint([]byte{0}, horizon)
	if w.hops != nil {
		own = wire.AppendUvarint(own, uint64(w.hops.n))
	} else {
		own = wire.AppendUvarint(own, 0)
	}
	if w.broken != nil {
		own[0] = 1
	}
	got, err := w.Reduce(w.world, w.Rank(), own, func(a, b []byte) []byte {
		x, y := wire.NewReader(a, "vote"), wire.NewReader(b, "vote")
		flag := x.Byte() | y.Byte()
		return wire.AppendUvarint(wire.AppendVarint([]byte{flag}, min(x.Varint(), y.Varint())), x.Uvarint()+y.Uvarint())
	})
	if err != nil {
		return err
	}
	r := wire.NewReader(got, "vote")
	if r.Byte() != 0 {
		if w.broken != nil {
			return w.broken
		}
		return errElsewhere
	}
	horizon, w.waits = r.Varint(), r.Uvarint()
	for _, h := range w.threads {
		h.forget(horizon)
	}
	w.order.forget()
	return nil
}

// end counts the waits of calls of which some partner's arrival will never be known.
func (w *rankAnalysis) end() error {
	for _, m := range w.sent {
		if m.call != nil {
			w.met(m.call)
		}
	}
	for _, m := range w.got {
		if m.call != nil {
			w.met(m.call)
		}
		for _, x := range m.waiting {
			w.met(x.call)
		}
	}
	for _, b := range w.visiting {
		w.met(b)
	}
	for _, g := range w.groups {
		for _, x := range g.pending {
			for _, b := range x.waiting {
				w.met(b)
			}
		}
	}
	return nil
}

// enterGroups sets the groups that the rank is a member of.
func (w *rankAnalysis) enterGroups(comms *handles.Comms) {
	w.groups, w.in = groupsOf(comms, w.Rank())
	for _, g := range w.groups {
		if len(g.members) > w.direct {
			g.large = true
		}
	}
}

// synchronous reports whether a send can't complete before its receive is posted.
func synchronous(f *trace.Function) bool { return ops.HasAttr(f, mpi.AttrSynchronous) }
