package waits

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
)

// An outgoing is a message that this rank sent. It is kept until the send's call and the receiver's answer are known.
type outgoing struct {
	synchronous bool     // the send can't complete before its receive is posted
	call        *blocked // the call in which the sender may wait; nil: not known yet
	ends        bool     // call was set
	answered    bool     // the receiver has reported its arrival
	late        bool     // the receiver arrived after the send
	posted      arrival
}

// An incoming is a message or signal to this rank. isSent: its sending is known; isGot: its receipt is known.
type incoming struct {
	isSent, isGot bool
	sent, posted  arrival
	call          *blocked // the call in which the rank waited for the message
	turn          int64
	channel       ops.Channel
	nth           uint64
	waiting       []awaiting
	last          bool // waiting has all calls that wait for it
}

// sends records that the rank sends a message to another rank, and queues a report to that rank.
func (w *rankAnalysis) sends(x *ops.Act, to int, from arrival) *outgoing {
	m := &outgoing{synchronous: synchronous(x.StartedBy)}
	w.sent[x.MessageNumber] = m
	blockFor(w.tell, to).add(x.Channel(w.Rank(), to), x.ChannelIndex, from, 0)
	return m
}

// completesSend sets the call in which a sender waits for the receiver.
func (w *rankAnalysis) completesSend(m *outgoing, b *blocked) {
	m.ends, m.call = true, b
	b.opens()
	if m.answered {
		w.lateReceiver(m)
	}
}

// receives records that a posted receive got a message, and the call in which its rank waited for it.
func (w *rankAnalysis) receives(x *ops.Act, from int, posted arrival, b *blocked) {
	m := once.GetOrMake(w.got, x.MessageNumber, func() *incoming { return &incoming{} })
	w.turn++
	m.isGot, m.posted, m.call, m.turn, m.channel, m.nth = true, posted, b, w.turn, x.Channel(from, w.Rank()), x.ChannelIndex
	w.order.takes(b)
	b.opens()
	if m.isSent {
		w.matched(x.MessageNumber, m)
	}
}

// matched determines whether the receiver waited, and reports the receiver's arrival to the sender.
func (w *rankAnalysis) matched(number uint64, m *incoming) {
	w.Messages++
	b := m.call
	if early := m.sent.at - b.end; early > 0 {
		w.Backwards++
		w.OffNs = max(w.OffNs, early)
	}
	flags := 0
	if m.posted.at > m.sent.at {
		flags = isLate
	}
	blockFor(w.answers, m.channel.FromWorldRank).add(m.channel, m.nth, m.posted, flags)
	w.order.knows(w, m.turn, m.sent.at)
	b.waitsFor(LateSender, m.sent, -1, m.turn)
	delete(w.got, number)
	w.met(b)
}

func (w *rankAnalysis) lateReceiver(m *outgoing) {
	b := m.call
	if m.late && (m.synchronous || m.posted.at < b.end+b.within+m.posted.within) { // otherwise the sender didn't wait for the receive
		b.waitsFor(LateReceiver, m.posted, -1, 0)
	}
	m.call = nil
	w.met(b)
}

// hearSent processes another rank's reports of the messages and signals that it sent to this rank.
func (w *rankAnalysis) hearSent(from int, r *wire.Reader) {
	readBlock(r, from, w.Rank(), func(c ops.Channel, nth uint64, sent arrival, _ int) {
		sent.rank = int32(from)
		if what, _ := signalled(c.Tag); what >= locksAlone {
			w.hearVisit(c, nth, sent)
			return
		}
		number := c.HashMessage(nth)
		m := once.GetOrMake(w.got, number, func() *incoming { return &incoming{} })
		m.isSent, m.sent = true, sent
		w.sentBy(number, m)
		if m.isGot {
			w.matched(number, m)
		}
	})
}

// hearAnswers processes the reported arrivals of receivers.
func (w *rankAnalysis) hearAnswers(from int, r *wire.Reader) {
	readBlock(r, w.Rank(), from, func(c ops.Channel, nth uint64, posted arrival, flags int) {
		if what, _ := signalled(c.Tag); what >= 0 {
			w.hearVisited(c, nth, posted)
			return
		}
		number := c.HashMessage(nth)
		m := w.sent[number]
		if m == nil {
			return
		}
		posted.rank = int32(from)
		m.answered, m.late, m.posted = true, flags&isLate != 0, posted
		delete(w.sent, number)
		if m.call != nil {
			w.lateReceiver(m)
		}
	})
}

// receiveOrder finds waits that are WrongOrder: the rank waited for a message while one that it received later had
// already been sent. It looks at the rank's next 64 messages.
type receiveOrder struct {
	turns []received
	first int64 // number of messages dropped before turns[0]
}

const recent = 64

// A received is a message for which a call may have waited.
type received struct {
	call  *blocked // the call that received it
	sent  int64
	known bool // sent is known
	late  bool // the call waited for the message, and not in the wrong order
}

// takes appends a message, received by call b, in the order of receipt.
func (o *receiveOrder) takes(b *blocked) { o.turns = append(o.turns, received{call: b}) }

// mostTurns is the largest number of received messages that receiveOrder keeps.
const mostTurns = 1 << 20

// forget drops the messages that no later message can be compared with.
func (o *receiveOrder) forget() {
	n := slices.IndexFunc(o.turns, func(t received) bool { return !t.known || !t.call.settled })
	if n < 0 {
		n = len(o.turns)
	}
	if n = max(n-recent, len(o.turns)-mostTurns); n > 0 {
		o.turns, o.first = slices.Delete(o.turns, 0, n), o.first+int64(n)
	}
}

// at returns the message at a position, from 1; nil if it was dropped.
func (o *receiveOrder) at(n int64) *received {
	if i := n - 1 - o.first; i >= 0 && i < int64(len(o.turns)) {
		return &o.turns[i]
	}
	return nil
}

// knows sets the time when the n-th message was sent. By it, earlier LateSender waits may turn out to be WrongOrder.
func (o *receiveOrder) knows(w *rankAnalysis, n, sent int64) {
	t := o.at(n)
	if t == nil {
		return
	}
	t.sent, t.known = sent, true
	for i := n - 1; i >= n-recent; i-- {
		if x := o.at(i); x != nil && x.late && t.call.after(x.call) && t.sent < x.sent {
			w.wrongOrder(x.call)
			x.late = false
		}
	}
}

// late decides whether a call's wait, counted as LateSender, is WrongOrder.
func (o *receiveOrder) late(w *rankAnalysis, b *blocked) {
	x := o.at(b.got)
	if x == nil {
		return
	}
	for i := b.got + 1; i <= b.got+recent; i++ {
		t := o.at(i)
		if t == nil {
			break
		}
		if t.known && t.call.after(b) && t.sent < x.sent {
			w.wrongOrder(b)
			return
		}
	}
	x.late = true
}

// after reports whether a call begins after another call of the same thread.
func (b *blocked) after(o *blocked) bool { return b.stream == o.stream && b.at > o.at }
