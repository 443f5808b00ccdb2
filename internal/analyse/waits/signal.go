package waits

import (
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A signal is one side's part in an interaction of two ranks that has no message in the trace. The n-th signal that
// one rank gives on a channel is the n-th that the other awaits. The tags of these channels are below those of
// messages.
type signal struct {
	ops.Channel
	nth   uint64
	gives bool
}

// Meanings of signals: what the rank that gives the signal reports.
const (
	isNeighbour        = iota // the rank has arrived at a neighbourhood collective
	isStartedNeighbour        // the rank has arrived at a neighbourhood collective by starting a persistent request
	hasPosted                 // the rank has opened its memory with MPI_Win_post
	hasCompleted              // the rank has ended its access with MPI_Win_complete
	locksAlone                // the rank locks another rank's memory, and informs the owner (lock.go)
	locksShared
	visits  // the rank waits until its transfers to and from another rank's memory are complete
	returns // the call of the latest locksAlone, locksShared or visits has returned
	givesAlone
	givesShared
	hadLock // answers of an owner: hadLock, another rank held the lock; wasBusy, the owner was outside of MPI
	wasBusy
	signals
)

// signalTag is the tag of a channel of signals. what is their meaning, object a window's number in its communicator, or
// 0.
func signalTag(what, object int) int64 { return -2 - int64(object*signals+what) }

// signalled is the inverse of signalTag; what is -1 for a message's tag.
func signalled(tag int64) (what, object int) {
	if tag > -2 {
		return -1, 0
	}
	n := int(-2 - tag)
	return n % signals, n / signals
}

// numbered returns the next signal of a channel.
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
	case ops.ActWinPost, ops.ActWinStart, ops.ActWinComplete, ops.ActWinWait:
		return true
	}
	return false
}

// signalsOf returns the signals of an act: given ones first, then awaited ones. The slice is valid until the next
// call.
func (w *rankAnalysis) signalsOf(c *ops.Call, x *ops.Act) []signal {
	w.signals = w.signals[:0]
	same := func(rank int) int { return rank }
	each := func(what, object int, gives bool, ranks []int, world func(rank int) int) {
		for _, rank := range ranks {
			with := world(rank)
			if with < 0 || with == w.Rank() {
				continue
			}
			c := ops.Channel{Comm: x.Comm.ID(), FromWorldRank: with, ToWorldRank: w.Rank(), Tag: signalTag(what, object)}
			if gives {
				c.FromWorldRank, c.ToWorldRank = c.ToWorldRank, c.FromWorldRank
			}
			w.signals = append(w.signals, w.numbered(c, gives))
		}
	}
	switch x.Kind {
	case ops.ActWinPost:
		each(hasPosted, x.Window.WindowsAndFilesBefore, true, x.GroupWorldRanks, same)
	case ops.ActWinStart:
		each(hasPosted, x.Window.WindowsAndFilesBefore, false, x.GroupWorldRanks, same)
	case ops.ActWinComplete:
		each(hasCompleted, x.Window.WindowsAndFilesBefore, true, x.GroupWorldRanks, same)
	case ops.ActWinWait:
		each(hasCompleted, x.Window.WindowsAndFilesBefore, false, x.GroupWorldRanks, same)
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

// signal processes an act that gives or awaits signals.
func (w *rankAnalysis) signal(c *ops.Call, x *ops.Act, here arrival, b *blocked) {
	b.known = true
	list := w.signalsOf(c, x)
	for i := range list {
		if s := &list[i]; s.gives {
			blockFor(w.tell, s.ToWorldRank).add(s.Channel, s.nth, here, 0)
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
	case ops.ActWinStart: // MPI_Win_start waits, or the call that ends the access does
		m.need = need{kind: LatePost, may: true}
		w.accesses[x.Window] = m
	case ops.ActWinWait:
		m.need.kind = LateComplete
	case ops.ActWinComplete:
		if m = w.accesses[x.Window]; m == nil {
			return
		}
		delete(w.accesses, x.Window)
	}
	for _, number := range m.from {
		w.awaits(number, awaiting{b, m.need.kind, m.need.may}, x.Kind != ops.ActWinStart)
	}
}

// An awaiting is a call whose rank waits for a signal, or for a message that the call doesn't receive.
type awaiting struct {
	call *blocked
	kind Kind
	may  bool // the call may have returned before the signal
}

// awaits records that a call waits for a message or signal; last: no other call waits for it.
func (w *rankAnalysis) awaits(number uint64, x awaiting, last bool) {
	m := once.GetOrMake(w.got, number, func() *incoming { return &incoming{} })
	m.last = m.last || last
	x.call.opens()
	m.waiting = append(m.waiting, x)
	if m.isSent {
		w.sentBy(number, m)
	}
}

// sentBy determines whether the calls that await a message or signal waited, once it has been sent.
func (w *rankAnalysis) sentBy(number uint64, m *incoming) {
	for _, x := range m.waiting {
		x.call.comes(x.kind, m.sent, -1, x.may)
		w.met(x.call)
	}
	if m.waiting = nil; m.last {
		delete(w.got, number)
	}
}

// comes does what waitsFor does. If may is set and the call returned before the other rank arrived, it waited for
// nobody.
func (b *blocked) comes(kind Kind, other arrival, free int64, may bool) {
	if !may || other.at < b.end+b.within+other.within {
		b.waitsFor(kind, other, free, 0)
	}
}
