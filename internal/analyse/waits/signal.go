package waits

import (
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A signal is one side's part in what two ranks do together without a message that the trace has: the n-th that one rank gives on
// a channel is the n-th that the other one waits for. The tags of such channels are below those of messages.
type signal struct {
	ops.Channel
	nth   uint64
	gives bool
}

// What signals say.
const (
	isNeighbour        = iota // a rank has reached a collective along a topology
	isStartedNeighbour        // the same, by starting a persistent request
	hasPosted                 // it has opened its memory, MPI_Win_post
	hasCompleted              // it has ended its access, MPI_Win_complete
	locksAlone                // a rank locks the memory of another, which it informs (lock.go)
	locksShared
	visits  // it waits until its transfers to and from there are done
	returns // the call reported before has returned
	givesAlone
	givesShared
	hadLock // answers: a rank had the lock, or the one that has the memory was outside of MPI
	wasBusy
	signals
)

// signalTag is the tag of a channel of signals. object distinguishes the objects that members of a communicator share.
func signalTag(what, object int) int64 { return -2 - int64(object*signals+what) }

// signalled is the opposite; what is -1 of a message.
func signalled(tag int64) (what, object int) {
	if tag > -2 {
		return -1, 0
	}
	n := int(-2 - tag)
	return n % signals, n / signals
}

// numbered is one more signal on a channel.
func (w *rankAnalysis) numbered(c ops.Channel, gives bool) signal {
	n := once.GetOrMake(w.numbers, c, func() *uint64 { return new(uint64) })
	*n++
	return signal{c, *n, gives}
}

// isSignalled reports whether an act gives or awaits signals.
func isSignalled(x *ops.Act) bool {
	switch x.Kind {
	case ops.ActCollective, ops.ActCollectiveBegin:
		return x.Neighbours != nil
	case ops.ActPost, ops.ActStart, ops.ActComplete, ops.ActWait:
		return true
	}
	return false
}

// signalsOf finds the signals of an act, those that it gives first. They are good until it is asked again.
func (w *rankAnalysis) signalsOf(c *ops.Call, x *ops.Act) []signal {
	w.signals = w.signals[:0]
	same := func(rank int) int { return rank }
	each := func(what, object int, gives bool, ranks []int, world func(rank int) int) {
		for _, rank := range ranks {
			with := world(rank)
			if with < 0 || with == w.Rank() {
				continue
			}
			c := ops.Channel{Comm: x.Comm.Key(), From: with, To: w.Rank(), Tag: signalTag(what, object)}
			if gives {
				c.From, c.To = c.To, c.From
			}
			w.signals = append(w.signals, w.numbered(c, gives))
		}
	}
	switch x.Kind {
	case ops.ActPost:
		each(hasPosted, x.Window.Ordinal, true, x.Group, same)
	case ops.ActStart:
		each(hasPosted, x.Window.Ordinal, false, x.Group, same)
	case ops.ActComplete:
		each(hasCompleted, x.Window.Ordinal, true, x.Group, same)
	case ops.ActWait:
		each(hasCompleted, x.Window.Ordinal, false, x.Group, same)
	default:
		what := isNeighbour
		if c.Func.Has(trace.AttrStarts) {
			what = isStartedNeighbour
		}
		each(what, 0, true, x.Neighbours.Destinations, x.Comm.WorldRank)
		each(what, 0, false, x.Neighbours.Sources, x.Comm.WorldRank)
	}
	return w.signals
}

// signal takes an act that gives or awaits signals.
func (w *rankAnalysis) signal(c *ops.Call, x *ops.Act, here arrival, b *blocked) {
	b.known = true
	list := w.signalsOf(c, x)
	for i := range list {
		if s := &list[i]; s.gives {
			blockFor(w.tell, s.To).add(s.Channel, s.nth, here, 0)
		}
	}
	m := &meeting{need: need{kind: LateSender}}
	for i := range list {
		if s := &list[i]; !s.gives {
			m.from = append(m.from, s.HashMessage(s.nth))
		}
	}
	switch x.Kind {
	case ops.ActCollectiveBegin:
		w.joined[x.ID] = m
		return
	case ops.ActStart: // that, or what ends the access, waits
		m.need = need{kind: LatePost, may: true}
		w.accesses[x.Window] = m
	case ops.ActWait:
		m.need.kind = LateComplete
	case ops.ActComplete:
		if m = w.accesses[x.Window]; m == nil {
			return
		}
		delete(w.accesses, x.Window)
	}
	for _, number := range m.from {
		w.awaits(number, awaiting{b, m.need.kind, m.need.may}, x.Kind != ops.ActStart)
	}
}

// An awaiting call is one whose rank waits for a message, but doesn't receive it, or for a signal.
type awaiting struct {
	call *blocked
	kind Kind
	may  bool // it may have returned before
}

// awaits says that a call waits for a message or signal. last: no further one does.
func (w *rankAnalysis) awaits(number uint64, x awaiting, last bool) {
	m := once.GetOrMake(w.got, number, func() *incoming { return &incoming{} })
	m.last = m.last || last
	x.call.opens()
	m.waiting = append(m.waiting, x)
	if m.isSent {
		w.sentBy(number, m)
	}
}

// sentBy finds whether those waited that wait for a message or signal, which has been sent.
func (w *rankAnalysis) sentBy(number uint64, m *incoming) {
	for _, x := range m.waiting {
		x.call.comes(x.kind, m.sent, -1, x.may)
		w.met(x.call)
	}
	if m.waiting = nil; m.last {
		delete(w.got, number)
	}
}

// comes is waitsFor, but where a call may have returned before the other came: then it did not wait for that.
func (b *blocked) comes(kind Kind, other arrival, free int64, may bool) {
	if !may || other.at < b.end+b.within+other.within {
		b.waitsFor(kind, other, free, 0)
	}
}
