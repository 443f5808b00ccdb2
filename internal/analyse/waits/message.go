package waits

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A message is one of which not everything is known yet.
type message struct {
	isSent, isGot  bool
	synchronous    bool // the send can't end before its receive is posted
	sent, posted   arrival
	sendCall       *blocked // in which the sender may wait
	recvCall       *blocked
	sendEnds, ends bool  // sendCall and recvCall are what they will be
	turn           int64 // of the receiver: which of its messages
	gone           int64 // when the receiver had it
}

func (a *analysis) message(number uint64) *message {
	m := a.messages[number]
	if m == nil {
		m = &message{}
		a.messages[number] = m
	}
	return m
}

// sends says that a message was sent. Where its call can't be waited in, b is nil, and later tells of
// one that completes it.
func (a *analysis) sends(m *message, by *trace.Function, from arrival, b *blocked) {
	m.isSent, m.sent, m.synchronous = true, from, ops.Is(by, mpi.Synchronous)
	if b != nil {
		a.completesSend(m, b)
	}
	if m.isGot {
		a.lateSender(m)
	}
}

// completesSend says in which call a sender waits for the receiver.
func (a *analysis) completesSend(m *message, b *blocked) {
	m.sendEnds, m.sendCall = true, b
	b.open++
	if m.isGot {
		a.lateReceiver(m)
	}
}

// receives says that a message was received that a receive was posted for, by a call in which
// its rank waited for it.
func (a *analysis) receives(m *message, posted arrival, b *blocked, turn int64) {
	m.isGot, m.posted, m.recvCall, m.turn, m.gone = true, posted, b, turn, b.end
	b.open++
	if m.isSent {
		a.lateSender(m)
	}
	if m.sendCall != nil {
		a.lateReceiver(m)
	}
}

func (a *analysis) lateSender(m *message) {
	a.matched++
	if early := m.sent.at - m.gone; early > 0 {
		a.backwards++
		a.off = max(a.off, early)
	}
	b := m.recvCall
	a.ranks[b.rank].received(m)
	b.waitsFor(LateSender, m.sent, m)
	m.recvCall = nil
	a.met(b)
}

func (a *analysis) lateReceiver(m *message) {
	b := m.sendCall
	if m.synchronous || m.posted.at < b.end+b.within+m.posted.within { // else it did not wait for that
		b.waitsFor(LateReceiver, m.posted, nil)
	}
	m.sendCall = nil
	a.met(b)
}

// done forgets a message of which everything is known.
func (a *analysis) done(number uint64, m *message) {
	if m.isGot && m.isSent && m.sendEnds {
		delete(a.messages, number)
	}
}

// recent is how many of a rank's messages are remembered to tell which came in the wrong order.
const recent = 64

// A late message is one that its receiver waited for.
type late struct {
	turn    int64
	sentAt  int64
	b       *blocked
	compute int64
}

// A taken message is one that was received.
type taken struct {
	turn   int64
	sentAt int64
	call   int64 // when the call began that received it
}

// received looks whether a message had been sent before others that the rank waited for earlier.
func (w *watcher) received(m *message) {
	t := taken{m.turn, m.sent.at, m.recvCall.at}
	for i := range w.late {
		if x := &w.late[i]; x.b != nil && t.call > x.b.at && t.turn > x.turn && t.sentAt < x.sentAt {
			w.wrongOrder(x)
		}
	}
	w.taken[w.takes%recent] = t
	w.takes++
}

// lateSender looks whether a message that a rank waited for was sent after others that it received later.
func (w *watcher) lateSender(x late) {
	for _, t := range w.taken[:min(w.takes, recent)] {
		if t.call > x.b.at && t.turn > x.turn && t.sentAt < x.sentAt {
			w.wrongOrder(&x)
			return
		}
	}
	w.late[w.lates%recent] = x
	w.lates++
}

// wrongOrder moves what a call waited from one kind to another.
func (w *watcher) wrongOrder(x *late) {
	b := x.b
	x.b = nil
	w.a.row(b.place, LateSender).take(b.rank, b.by, b.waited, x.compute)
	w.a.row(b.place, WrongOrder).add(b.rank, b.by, b.waited, x.compute)
	w.a.each(b.as(LateSender, -b.waited))
	w.a.each(b.as(WrongOrder, b.waited))
}
