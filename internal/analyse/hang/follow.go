package hang

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A follower goes through all calls of a trace. In the end it has their outcome: unreceived messages, pending requests,
// and how many collective calls each member of a communicator has entered.
type follower struct {
	ops.NopSink
	s           *ops.Source
	snap        Snapshot
	groups      map[ops.CollectiveSequence]int
	recent      ops.CollectiveSequence // the key of groups used last, and in recentGroup its value: saves looking it up again
	recentGroup int
	counts      map[Channel]*MessageCount
	last        [16]struct { // entries of counts used last, which saves looking them up again
		Channel
		n *MessageCount
	}
	names []fmt.Stringer // by index in Snapshot.Groups: the communicator, window or file, which gives the group's name

	places []trace.FunctionSite
	number map[trace.FunctionSite]int

	ranks []*rankState
	now   *rankState
}

// A rankState is what the follower knows of one rank.
type rankState struct {
	k       *trace.Rank
	pending map[uint64]*begun // operations that have not completed, by the ID that package ops gives
	order   int
	threads []*thread
	places  []int  // by terminal: 1 + the index of its call site in follower.places; 0: not looked up yet
	kinds   []kind // by terminal; filled when first used
	losses  uint64 // number of losses counted before the rank's first call
	unsure  bool   // what some of the rank's calls did isn't known
	vague   bool   // the rank calls MPI_Isendrecv, in whose status MPICH leaves out the message's source and tag
}

// A kind is what the follower needs to know of a terminal's function.
type kind struct {
	known      bool
	moves      bool // the function sends, receives or otherwise moves data
	collective bool
	blocks     bool // the function isn't nonblocking
	vague      bool // the function's status may leave out the source and tag of the message
	polls      bool
	waiting    meaning.WaitBehaviour
	idle       func(c *trace.Call) bool // reports whether a call changed nothing; nil: every call changes something
	plain      string                   // name without the suffix _c, as ranks may call either variant of a collective
	root       int                      // index of the root parameter; -1: none
}

// kind returns the kind of a call's terminal. It determines that at the terminal's first call.
func (n *rankState) kind(c *ops.Call) *kind {
	x := &n.kinds[c.Terminal]
	if !x.known {
		def, _ := mpi.CallNamed(c.Func.Name)
		nonblocking := c.Func.Has(trace.AttrNonblocking)
		plain := c.Func.Name
		if def != nil {
			plain = def.BaseForm().Name
		}
		*x = kind{
			known: true, moves: meaning.DataMovementOf(c.Func.Name) != nil, collective: c.Func.Has(trace.AttrCollective), blocks: !nonblocking,
			vague: nonblocking && both(c.Func.Name), polls: def.Has(mpi.AttrPolls), waiting: meaning.WaitBehaviourOf(def), idle: idle(c.Func),
			plain: plain, root: slices.IndexFunc(c.Params, func(p trace.Param) bool { return p.Name() == "root" }),
		}
	}
	return x
}

// lost returns how many losses package ops has counted so far, without calls that never returned.
func (f *follower) lost() (n uint64) {
	for what, count := range f.s.Losses {
		if what != ops.LossUnfinished {
			n += count
		}
	}
	return n
}

// A begun is an operation that a rank has begun and that has not completed.
type begun struct {
	Operation
	bytes uint64
	place int
	order int
	// known reports that it is known for which ranks the operation waits, and that it waits for some.
	known bool
}

// A thread is what the follower knows of one stream.
type thread struct {
	under  []*begun         // operations that the open call itself performs, e.g. the receive of MPI_Recv
	awaits []uint64         // IDs of earlier operations that the open call waits for, e.g. of MPI_Wait
	polls  uint64           // number of polls that found nothing since the last call that changed something
	polled map[int][]*begun // what these polls asked for, by terminal
}

func newFollower(s *ops.Source, ranks int) *follower {
	return &follower{
		s: s, snap: Snapshot{Ranks: make([]RankWait, ranks), Messages: make(map[Channel]MessageCount)},
		groups: make(map[ops.CollectiveSequence]int), counts: make(map[Channel]*MessageCount), number: make(map[trace.FunctionSite]int), ranks: make([]*rankState, ranks),
	}
}

// Begin prepares for the calls of a rank. Begin, End and Enter implement ops.Sink.
func (f *follower) Begin(k *trace.Rank) error {
	f.now = &rankState{k: k, pending: make(map[uint64]*begun), places: make([]int, k.Terminals()), kinds: make([]kind, k.Terminals())}
	for range k.Streams() {
		f.now.threads = append(f.now.threads, &thread{})
	}
	f.now.losses = f.lost()
	f.ranks[k.Number()] = f.now
	return nil
}

func (f *follower) End(*trace.Rank) error {
	f.now.places, f.now.kinds = nil, nil
	f.now.k.DropDistinctCalls()
	f.now.unsure = f.now.unsure || f.lost() > f.now.losses
	return nil
}

func (f *follower) Enter(c *ops.Call) error {
	t, x := f.now.threads[c.Stream], f.now.kind(c)
	open := c.Return == trace.ReturnCodeNeverReturned
	if c.Return != 0 && !open && x.moves {
		f.now.unsure = true // a failed call may or may not have sent or received its message
	}
	f.now.vague = f.now.vague || x.vague
	var collective *begun
	if x.collective {
		collective = f.collective(c)
		if open && collective != nil && x.blocks {
			t.under = append(t.under, collective)
		}
	}
	for i := range c.Acts {
		f.act(c, t, &c.Acts[i], open, collective)
	}
	if open && x.waiting.Probes && x.waiting.Blocks {
		if b := f.probe(c); b != nil {
			t.under = append(t.under, b)
		}
	}
	f.poll(c, t, x)
	return nil
}

// both reports whether a function both sends to and receives from a rank, e.g. MPI_Sendrecv.
func both(function string) bool {
	m := meaning.DataMovementOf(function)
	return m != nil && m.Pattern == meaning.PatternToPeer && m.Out != nil && m.In != nil
}

// act processes one of the actions that a call performed. open is true if the call never returned. collective is the
// call's collective operation; nil: it has none.
func (f *follower) act(c *ops.Call, t *thread, a *ops.Act, open bool, collective *begun) {
	switch a.Kind {
	case ops.ActSend, ops.ActSendBegin:
		b := f.send(c, a)
		if a.Kind == ops.ActSendBegin {
			f.now.hold(a.ID, b)
		} else if open {
			t.under = append(t.under, b)
		}
	case ops.ActRecv:
		if open {
			t.under = append(t.under, f.receive(c, a))
		} else {
			f.got(a)
		}
	case ops.ActRecvBegin:
		f.now.hold(a.ID, f.receive(c, a))
	case ops.ActRecvEnd:
		f.got(a)
		delete(f.now.pending, a.ID)
	case ops.ActCollectiveBegin:
		if collective == nil {
			collective = &begun{place: f.place(c)}
		}
		f.now.hold(a.ID, collective)
	case ops.ActCancelled:
		if b := f.now.pending[a.ID]; b != nil && b.known && b.Kind == OperationSend {
			f.count(b.channel()).Sent--
		}
		delete(f.now.pending, a.ID)
	case ops.ActSendEnd, ops.ActCollectiveEnd, ops.ActRMAEndByRequest, ops.ActReadEnd, ops.ActWriteEnd:
		delete(f.now.pending, a.ID)
	case ops.ActPut, ops.ActGet, ops.ActAtomic, ops.ActReadBegin, ops.ActWriteBegin:
		if a.ID > 0 {
			f.now.hold(a.ID, &begun{place: f.place(c)})
		}
	case ops.ActNeverCompleted:
		t.awaits = append(t.awaits, a.ID)
	}
}

func (b *begun) channel() Channel {
	return Channel{GroupIndex: b.GroupIndex, From: b.Rank, To: b.PeerWorldRank, Tag: b.Tag}
}

func (n *rankState) hold(id uint64, b *begun) {
	b.order = n.order
	n.order++
	n.pending[id] = b
}

// send counts a sent message on its channel, and returns the operation.
func (f *follower) send(c *ops.Call, a *ops.Act) *begun {
	b := &begun{place: f.place(c), bytes: a.SentBytes}
	to := a.PeerWorldRank()
	if to < 0 {
		return b
	}
	b.Operation = Operation{Kind: OperationSend, Rank: c.Rank, GroupIndex: f.channelGroup(a.Comm), PeerWorldRank: to, Tag: a.Tag}
	// All sends but buffered ones may wait for the receiver.
	b.known = !ops.HasAttr(a.StartedBy, mpi.AttrBuffered)
	n := f.count(b.channel())
	n.Sent, n.place = n.Sent+1, b.place
	b.MessageNumber = n.Sent
	return b
}

// receive returns the operation of a receive, with the source and tag that the program asked for, perhaps wildcards.
func (f *follower) receive(c *ops.Call, a *ops.Act) *begun {
	return f.wanted(OperationReceive, c, a.Comm, int64(a.PeerInComm), a.Tag)
}

func (f *follower) wanted(kind OperationKind, c *ops.Call, comm *handles.Comm, source, tag int64) *begun {
	b := &begun{place: f.place(c), known: true}
	b.Operation = Operation{Kind: kind, Rank: c.Rank, GroupIndex: f.channelGroup(comm), PeerWorldRank: AnySource, Tag: tag}
	if source >= 0 {
		b.PeerWorldRank = comm.PeerWorldRank(int(source))
		b.known = b.PeerWorldRank >= 0
	}
	if tag < 0 {
		b.Tag = AnyTag
	}
	return b
}

// count returns the number of messages sent and received so far on a channel.
func (f *follower) count(by Channel) *MessageCount {
	x := &f.last[uint64(by.From^by.To^int(by.Tag))%uint64(len(f.last))]
	if x.n == nil || x.Channel != by {
		x.Channel, x.n = by, once.GetOrMake(f.counts, by, func() *MessageCount { return &MessageCount{} })
	}
	return x.n
}

// got counts a message, on its channel, that a completed receive took.
func (f *follower) got(a *ops.Act) {
	if from := a.PeerWorldRank(); from >= 0 {
		ch := Channel{GroupIndex: f.channelGroup(a.Comm), From: from, To: f.now.k.Number(), Tag: a.Tag}
		f.count(ch).Received++
	}
}

// poll counts how often in a row a thread polled in vain, and keeps what it asked for.
func (f *follower) poll(c *ops.Call, t *thread, x *kind) {
	switch {
	case x.idle == nil || !x.idle(c.Call):
		t.polls, t.polled = 0, nil
		return
	case !x.polls || c.Return == trace.ReturnCodeNeverReturned:
		return
	}
	var asked []*begun
	if x.waiting.Probes {
		if b := f.probe(c); b != nil {
			asked = append(asked, b)
		}
	}
	for i := range c.Acts {
		if b := f.now.pending[c.Acts[i].ID]; b != nil {
			asked = append(asked, b)
		}
	}
	t.polls++
	if t.polled == nil {
		t.polled = make(map[int][]*begun)
	}
	t.polled[c.Terminal] = asked
}

// MayBeAwaited reports whether other ranks can wait for a call of a function, or a call can end their waiting. Polls,
// and queries that a process answers alone, can't.
func MayBeAwaited(c *mpi.Call) bool {
	const begins = mpi.AttrNonblocking | mpi.AttrStarts | mpi.AttrCompletes | mpi.AttrPersistent
	return !c.Has(mpi.AttrPolls) && (!c.Has(mpi.AttrLocal) || meaning.DataMovementOf(c.Name) != nil || c.Attrs&begins != 0)
}

// idle returns a function that reports whether a call of f changed nothing, as it polled in vain or queried local
// state. It returns nil if each call of f changes something.
func idle(f *trace.Function) func(c *trace.Call) bool {
	def, ok := mpi.CallNamed(f.Name)
	switch {
	case !ok || !def.Has(mpi.AttrPolls) && MayBeAwaited(def):
		return nil
	case !def.Has(mpi.AttrPolls):
		return func(c *trace.Call) bool { return c.Return == 0 }
	}
	return func(c *trace.Call) bool { return c.Return == trace.ReturnCodeNeverReturned || ops.FoundNothing(c) }
}

// pollsAtEnd returns how many polls a stream made after its last call that changed something.
func pollsAtEnd(k *trace.Rank, stream int) (n uint64, err error) {
	is, asks := make([]bool, k.Terminals()), make([]bool, k.Terminals())
	for t := range is {
		c, err := k.Terminal(t)
		if err != nil {
			return 0, err
		}
		idle := idle(c.Func)
		is[t] = k.Lane(t) == nil && idle != nil && idle(c)
		asks[t] = is[t] && ops.HasAttr(c.Func, mpi.AttrPolls)
	}
	last := uint64(0)
	if o := k.Occurrences(stream, func(t int) bool { return !is[t] }); o.Total() > 0 {
		last, _ = o.Nth(o.Total() - 1)
	}
	o := k.Occurrences(stream, func(t int) bool { return asks[t] })
	return o.Total() - o.CountBefore(last), nil
}

// probe returns the operation of a probe; nil if its communicator's members aren't known, or its source is
// MPI_PROC_NULL.
func (f *follower) probe(c *ops.Call) *begun {
	comm, source, tag := c.Param("comm"), c.Param("source"), c.Param("tag")
	if comm == nil || source == nil || tag == nil || source.In.Num == mpi.ProcNull {
		return nil
	}
	of := f.s.Comms.At(c.Rank, c.Stream, c.Index, comm.In.Num)
	if of == nil || of.RemoteSize > 0 && of.Remote == nil {
		return nil
	}
	return f.wanted(OperationProbe, c, of, source.In.Num, tag.In.Num)
}

// place returns the index of a call's site in f.places.
func (f *follower) place(c *ops.Call) int {
	if n := f.now.places[c.Terminal]; n > 0 {
		return n - 1
	}
	n := f.placeOf(c.Call)
	f.now.places[c.Terminal] = n + 1
	return n
}

func (f *follower) placeOf(c *trace.Call) int {
	p := c.FunctionSite()
	n, fresh := once.NumberOf(f.number, p)
	if fresh {
		f.places = append(f.places, p)
	}
	return n
}
