package waits

import (
	"cmp"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A watcher follows one rank. It is an ops.Sink.
type watcher struct {
	a       *analysis
	k       *trace.Rank
	threads []*history

	turn        int64                    // messages received
	posted      map[uint64]arrival       // receives under way, by ID
	sending     map[uint64]*message      // sends under way, by ID
	joined      map[uint64]joined        // collectives under way, by ID
	started     map[*handles.Comm]uint64 // persistent collectives so far
	late        [recent]late
	lates       int
	taken       [recent]taken
	takes       int
	unsettled   []*blocked // calls, in order, whose partners have not come yet
	now         int64      // when its latest call began
	first, last int64
	began       bool
	starts      []int64 // by thread: when its first call began
	ends        []int64 // when its last one ended
}

// slack is how many times the error of one time two ranks may be apart that were together: errors add up.
const slack = 4

// joined is a collective that was begun.
type joined struct {
	key  meetingKey
	x    *meeting
	mine waiting
}

func (a *analysis) watch(k *trace.Rank) *watcher {
	w := &watcher{
		a: a, k: k, posted: make(map[uint64]arrival), sending: make(map[uint64]*message), joined: make(map[uint64]joined),
		started: make(map[*handles.Comm]uint64), threads: make([]*history, k.Streams()),
		starts: make([]int64, k.Streams()), ends: make([]int64, k.Streams()),
	}
	for i := range w.threads {
		w.threads[i] = &history{}
	}
	a.ranks[k.Number()] = w
	a.here = append(a.here, w)
	return w
}

func (w *watcher) history(stream int32) *history { return w.threads[stream] }

// Begin, Leave and End are there for ops.Sink.
func (w *watcher) Begin(*trace.Rank) error { return nil }

// Leave does nothing: all there is to say of a call is known when it begins.
func (w *watcher) Leave(*ops.Call) error { return nil }

// End does nothing.
func (w *watcher) End(*trace.Rank) error { return nil }

// Enter takes a call.
func (w *watcher) Enter(c *ops.Call) error {
	if !w.began || c.Start < w.first {
		w.began, w.first = true, c.Start
	}
	w.last, w.now = max(w.last, c.End), c.Start
	if w.threads[c.Stream].n == 0 {
		w.starts[c.Stream] = c.Start
	}
	w.ends[c.Stream] = max(w.ends[c.Stream], c.End)
	w.a.spent[w.k.Number()] += w.threads[c.Stream].add(c.Start, c.End)
	here := arrival{c.Start, slack * int64(c.Timing.Duration.Bound+c.Timing.Gap.Bound), int32(w.k.Number()), int32(c.Stream), w.a.place(c)}
	b := &blocked{arrival: here, end: c.End}
	for i := range c.Acts {
		w.act(c, &c.Acts[i], here, b)
	}
	if !b.known {
		w.a.other[c.Name()] += c.End - c.Start
	}
	if b.told = true; b.open == 0 {
		w.a.settle(b)
	} else {
		w.unsettled = append(w.unsettled, b)
	}
	w.a.forget(w.threads[c.Stream])
	return nil
}

func (w *watcher) act(c *ops.Call, x *ops.Act, here arrival, b *blocked) {
	a := w.a
	switch x.Kind {
	case ops.Send, ops.SendBegin, ops.SendEnd, ops.RecvBegin, ops.Recv, ops.RecvEnd, ops.CollectiveEnd:
		b.known = true
	}
	switch x.Kind {
	case ops.Send, ops.SendBegin:
		if x.Message == 0 || w.torn(x, w.k.Number(), x.World()) {
			return
		}
		m := a.message(x.Message)
		if x.Kind == ops.Send {
			a.sends(m, x.Function, here, b)
			a.done(x.Message, m)
			return
		}
		w.sending[x.ID] = m
		a.sends(m, x.Function, here, nil)
	case ops.SendEnd:
		if m := w.sending[x.ID]; m != nil {
			delete(w.sending, x.ID)
			a.completesSend(m, b)
			a.done(x.Message, m)
		}
	case ops.RecvBegin:
		w.posted[x.ID] = here
	case ops.Recv, ops.RecvEnd:
		posted, ok := w.posted[x.ID]
		if delete(w.posted, x.ID); !ok {
			posted = here
		}
		if x.Message == 0 || w.torn(x, x.World(), w.k.Number()) {
			return
		}
		m := a.message(x.Message)
		w.turn++
		a.receives(m, posted, b, w.turn)
		a.done(x.Message, m)
	case ops.Cancelled:
		delete(w.posted, x.ID)
		delete(w.sending, x.ID)
	case ops.CollectiveEnd:
		if j, ok := w.joined[x.ID]; ok {
			delete(w.joined, x.ID)
			j.mine.b = b
			a.ends(j.key, j.x, j.mine)
		}
	default:
		w.meets(c, x, here, b)
	}
}

// meets takes an act that all members of a communicator do together.
func (w *watcher) meets(c *ops.Call, act *ops.Act, here arrival, b *blocked) {
	if !meets(act.Kind) {
		return
	}
	a, m, key := w.a, c.Met, meetingKey{}
	if c.Func.Has(trace.Starts) {
		m = ops.Meeting{Comm: act.Comm, Self: act.Comm.RankOf(w.k.Number()), Nth: w.started[act.Comm]}
		w.started[act.Comm]++
		key.started = true
	}
	if m.Comm == nil || m.Comm.RemoteSize > 0 || m.Self < 0 || m.Comm.Size < 2 {
		return
	}
	key.Circle, key.number = m.Circle(), m.Nth
	x := a.comes(key, m.Comm, m.Self, here)
	mine := waiting{m.Self, b, needs(cmp.Or(act.Function, c.Func), m.Self, act.Root)}
	b.known = b.known || !mine.need.unknown
	if act.Kind == ops.CollectiveBegin {
		w.joined[act.ID] = joined{key, x, mine}
		return
	}
	a.ends(key, x, mine)
}
