package waits

import (
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
)

// A rank that locks another rank's memory, or completes transfers to or from it, waits without the owner's knowledge.
// So it informs the owner, which determines the late rank: one that held the lock, or the owner itself, if the MPI
// library needed the owner for progress while the owner was outside of MPI.

// A windowMemory is one rank's memory in a window.
type windowMemory struct {
	comm, ordinal, rank int // comm and ordinal identify the window, rank is the owner
}

func regionOf(x *ops.Act, rank int) windowMemory {
	return windowMemory{x.Comm.ID(), x.Window.WindowsAndFilesBefore, rank}
}

// A visit is a call that may wait for the owner of memory, as the owner knows it.
type visit struct {
	ops.Channel
	nth  uint64
	when arrival
	end  int64
}

// A release is the end of a rank's lock on memory. alone: the lock was exclusive.
type release struct {
	arrival
	alone bool
}

// visitable is the visits and releases that a rank knows of its own memory in a window.
type visitable struct {
	releases []release // in the order in which they were reported
	visits   []visit   // not answered yet
}

// visits informs the owner, rank, of memory that a call may wait for it. what is locksAlone, locksShared or visits.
func (w *rankAnalysis) visits(what int, x *ops.Act, rank int, here arrival, b *blocked) {
	if rank < 0 {
		return
	}
	if at := regionOf(x, rank); w.visited[at] != w.calls {
		w.visited[at] = w.calls
		s := w.give(x, what, rank)
		w.visiting[s.HashMessage(s.nth)] = b
		b.opens()
		out := blockFor(w.tell, rank)
		out.add(s.Channel, s.nth, here, 0)
		here.at = b.end
		s = w.give(x, returns, rank)
		out.add(s.Channel, s.nth, here, 0)
	}
}

// give returns the next signal with a meaning, what, to the owner of memory in a window.
func (w *rankAnalysis) give(x *ops.Act, what, to int) signal {
	return w.numbered(ops.Channel{Comm: x.Comm.ID(), FromWorldRank: w.Rank(), ToWorldRank: to, Tag: signalTag(what, x.Window.WindowsAndFilesBefore)}, true)
}

// lock processes an act that locks or unlocks memory, or completes transfers.
func (w *rankAnalysis) lock(c *ops.Call, x *ops.Act, here arrival, b *blocked) {
	b.known = true
	members := []int{x.PeerInComm}
	if x.PeerInComm == ops.AllMembers {
		if members = x.Comm.Members(); len(members) > maxDirect {
			w.Other[c.Name()] += c.EndNs - c.StartNs // too many ranks to inform
			return
		}
	} else {
		members[0] = x.PeerWorldRank()
	}
	if x.Kind != ops.ActWinLock {
		for _, rank := range members {
			if x.Kind == ops.ActWinUnlock && rank >= 0 {
				what := givesShared
				if w.held[regionOf(x, rank)] {
					what = givesAlone
				}
				delete(w.held, regionOf(x, rank))
				s := w.give(x, what, rank)
				blockFor(w.tell, rank).add(s.Channel, s.nth, here, 0)
			}
			// MPI_Win_unlock_all waits only for owners with transfers, whose ends are acts of their own
			if x.Kind != ops.ActWinUnlock || x.PeerInComm != ops.AllMembers {
				w.visits(visits, x, rank, here, b)
			}
		}
		return
	}
	what := locksShared
	if x.IsExclusiveLock() {
		what = locksAlone
	}
	for _, rank := range members {
		w.held[regionOf(x, rank)] = x.IsExclusiveLock()
		w.visits(what, x, rank, here, b)
	}
}

// hearVisit records another rank's call on this rank's memory.
func (w *rankAnalysis) hearVisit(c ops.Channel, nth uint64, a arrival) {
	what, ordinal := signalled(c.Tag)
	at := once.GetOrMake(w.memory, windowMemory{c.Comm, ordinal, w.Rank()}, func() *visitable { return &visitable{} })
	switch what {
	case returns:
		if n := len(at.visits); n > 0 {
			at.visits[n-1].end = a.at
		}
	case givesAlone, givesShared:
		at.releases = append(at.releases, release{a, what == givesAlone})
	default:
		at.visits = append(at.visits, visit{Channel: c, nth: nth, when: a})
	}
}

// answerVisits answers the visits whose calls returned before a time, until which all visits are known.
func (w *rankAnalysis) answerVisits(until int64) {
	for _, at := range w.memory {
		left, first := at.visits[:0], until
		for _, v := range at.visits {
			if v.end > until {
				left, first = append(left, v), min(first, v.when.at)
				continue
			}
			out := blockFor(w.answers, v.FromWorldRank)
			since := v.when.at
			if r, ok := at.last(&v); ok {
				since = r.at
				out.add(ops.Channel{Comm: int(r.rank), Tag: signalTag(hadLock, 0)}, 1, r, 0)
			}
			if a, ok := w.busy(&v, since); ok {
				out.add(ops.Channel{Comm: w.Rank(), Tag: signalTag(wasBusy, 0)}, 1, a, 0)
			}
			out.add(v.Channel, v.nth, v.when, 0)
		}
		at.visits = left
		rest := at.releases[:0]
		for _, r := range at.releases {
			if r.at >= first {
				rest = append(rest, r)
			}
		}
		at.releases = rest
	}
}

// last returns the last release during a visit of a lock that excluded the visitor.
func (m *visitable) last(v *visit) (a arrival, ok bool) {
	what, _ := signalled(v.Tag)
	if what == visits {
		return a, false
	}
	for _, r := range m.releases {
		if (r.alone || what == locksAlone) && int(r.rank) != v.FromWorldRank && r.at > v.when.at && r.at < v.end+v.when.within+r.within && (!ok || r.at > a.at || r.at == a.at && r.rank < a.rank) {
			a, ok = r.arrival, true
		}
	}
	return a, ok
}

// busy reports whether another rank's call waited until this rank entered MPI, and returns when that was. This rank
// must have been outside when the call began. From since on, it must have kept the call waiting for longer than the
// call then still took.
func (w *rankAnalysis) busy(v *visit, since int64) (a arrival, ok bool) {
	if v.FromWorldRank == w.Rank() {
		return a, false
	}
	for stream, h := range w.threads {
		s, inside := h.next(v.when.at)
		if inside {
			return a, false
		}
		if s != nil && (!ok || s.start < a.at) {
			a, ok = arrival{at: s.start, rank: int32(w.Rank()), stream: int32(stream), place: s.place}, true
		}
	}
	return a, ok && a.at < v.end && a.at-since > v.end-a.at
}

// hearVisited processes an owner's answer to a visit. The late ranks come first, then the number of the visit.
func (w *rankAnalysis) hearVisited(c ops.Channel, nth uint64, a arrival) {
	switch what, _ := signalled(c.Tag); what {
	case hadLock, wasBusy:
		if a.rank = int32(c.Comm); c.Comm < 0 || c.Comm >= w.Size() {
			return
		}
		kind := WaitForLock
		if what == wasBusy {
			kind = WaitForProgress
		}
		w.late = append(w.late, lateVisit{a, kind})
	default:
		number := c.HashMessage(nth)
		if b := w.visiting[number]; b != nil {
			delete(w.visiting, number)
			for _, x := range w.late {
				b.comes(x.kind, x.arrival, -1, true)
			}
			w.met(b)
		}
		w.late = w.late[:0]
	}
}

// A lateVisit is the rank for which a call waited, and when that rank arrived or entered MPI.
type lateVisit struct {
	arrival
	kind Kind
}
