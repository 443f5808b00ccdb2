package dataflow

import "github.com/spoor-hpc/spoor/internal/simulate/machine"

// A key identifies a channel by sender, receiver, context and tag: messages with equal keys don't overtake each
// other.
type key struct {
	from, to, context int32
	tag               int64
}

const nobody = int32(-1)

// A cost is the cost of messages of one size on a network level. Messages of equal cost share one entry of
// engine.costs.
type cost struct {
	costKey
	waits                    bool // messages wait for their receive (rendezvous)
	word, latency, receiving int64
	machine.MessageCost
}

type costKey struct {
	level                 *machine.NetworkLevel
	bytes                 int64
	synchronous, buffered bool
}

// cost returns the index in engine.costs of the cost of send o on network level l.
func (e *engine) cost(l *machine.NetworkLevel, o *Op) int32 {
	k := costKey{l, o.Bytes, o.IsSynchronous, o.IsBuffered}
	n, ok := e.costOf[k]
	if !ok {
		x := cost{costKey: k, waits: (o.Bytes > l.EagerLimitBytes || o.IsSynchronous) && !o.IsBuffered, latency: l.LatencyPs(), receiving: l.ReceiveOverheadPs}
		x.word = l.SendOverheadPs + x.latency
		x.MessageCost = l.CostOfMessage(o.Bytes, x.waits)
		n = int32(len(e.costs))
		e.costs, e.costOf[k] = append(e.costs, x), n
	}
	return n
}

// A channel has the messages between two ranks that are sent or awaited, with one context and tag. It has the size of
// a cache line, as memory access dominates the time with many ranks.
type channel struct {
	own                    message // the oldest message that is not over
	more                   *queue  // the messages after own; nil: none
	first, sends, receives uint32  // first: index of message own; sends, receives: how many have begun so far
	sender, receiver       int32   // the rank that waits to complete a send, or a receive; nobody if none does
	// Key under which the channel is deleted when it is empty; nil: it stays, as slots refer to it.
	free *key
}

func (c *channel) reset() { *c = channel{sender: nobody, receiver: nobody} }

// A message is a send and its matching receive.
type message struct {
	left, posted int64 // time when the message left its sender, and when its receive was posted; in ps
	cost         int32 // index in engine.costs, valid once the message is begun
	state        messageState
}

// A messageState is a set of the steps that a message has gone through.
type messageState uint8

const (
	begun  messageState = 1 << iota // the message has left its sender
	wanted                          // its receive was posted
	waits                           // its send completes only after its receive was posted (rendezvous)
	sent                            // its send has completed
	done                            // its receive has completed
)

func (s messageState) is(what messageState) bool { return s&what != 0 }

// over reports whether nobody waits for the message any more: its receive has completed, and so has its send if it
// had to wait.
func (s messageState) over() bool { return s.is(done) && (s.is(sent) || !s.is(waits)) }

// A queue is the messages of a channel in order; head is the index in list of the first one that is not over.
type queue struct {
	list []message
	head int
}

// many is the number of an engine's channels above which empty ones are deleted.
const many = 1 << 16

func (e *engine) channel(k key) *channel {
	c := e.channels[k]
	if c == nil {
		c = &channel{}
		c.reset()
		c.free = &k
		e.channels[k] = c
	}
	return c
}

// tidy drops the channel's messages that are over. If the engine has many channels, it deletes the channel when it is
// empty.
func (e *engine) tidy(c *channel) {
	for c.own.state.over() {
		if e.noting {
			delete(e.trails, trailKey{c, c.first})
		}
		c.first++
		q := c.more
		if q == nil {
			c.own = message{cost: c.own.cost} // kept, as the next message may have the same cost
			break
		}
		c.own = q.list[q.head]
		if q.head++; q.head == len(q.list) {
			q.head, q.list, c.more = 0, q.list[:0], nil
			e.queuesOver = append(e.queuesOver, q)
		} else if q.head > 64 && q.head > len(q.list)/2 {
			q.list = append(q.list[:0], q.list[q.head:]...)
			q.head = 0
		}
	}
	// Without teams, Op.MatchIndex numbers no messages, so the channel's counts aren't needed.
	if c.free != nil && c.own.state == 0 && c.more == nil && len(e.channels) > many && e.teams == nil {
		delete(e.channels, *c.free)
	}
}

// at returns a channel's message by its number, the count of messages before it.
func (e *engine) at(c *channel, number uint32) *message {
	if number == c.first {
		return &c.own
	}
	q := c.more
	if q == nil {
		if n := len(e.queuesOver); n > 0 {
			q, e.queuesOver = e.queuesOver[n-1], e.queuesOver[:n-1]
		} else {
			q = &queue{}
		}
		c.more = q
	}
	n := int(number-c.first) - 1 + q.head
	for n >= len(q.list) {
		q.list = append(q.list, message{})
	}
	return &q.list[n]
}

// messages calls visit for all messages of a channel that are not over, in order.
func (c *channel) messages(visit func(m *message)) {
	if visit(&c.own); c.more != nil {
		for i := range c.more.list[c.more.head:] {
			visit(&c.more.list[c.more.head+i])
		}
	}
}

// send begins send o of rank x and returns the message's number in the channel. waiting: the send is not complete
// before the receive is posted.
func (e *engine) send(c *channel, x *rank, o *Op, peer int32) (number uint32, waiting bool) {
	number = o.nth(c.sends)
	c.sends++
	n := c.own.cost
	if k := &e.costs[n].costKey; n == 0 || k.bytes != o.Bytes || k.synchronous != o.IsSynchronous || k.buffered != o.IsBuffered {
		if peer < 0 {
			peer = x.desc[o.OperandsIndex].Peer
		}
		n = e.cost(e.place.LevelBetween(int(x.of), int(peer)), o)
	}
	m, cost := e.at(c, number), &e.costs[n]
	m.cost = n
	if m.state |= begun; cost.waits {
		m.state |= waits
	}
	if m.left = x.now; x.free > x.now {
		m.left = x.free
	} else if e.noting {
		x.idle = x.now
	}
	x.free = m.left + cost.SenderBusyPs
	if e.noting {
		e.leaves(x, e.trail(c, number))
	}
	e.spend(x, o.CallIndex, overhead, cost.SenderCorePs)
	return number, cost.waits
}

// post begins receive o of rank x and returns the number of the message in the channel that it will get.
func (e *engine) post(c *channel, x *rank, o *Op) uint32 {
	number := o.nth(c.receives)
	c.receives++
	m := e.at(c, number)
	m.posted = x.now
	m.state |= wanted
	if e.noting {
		e.wants(x, e.trail(c, number))
	}
	return number
}

// arrival returns the time when a message of cost x has arrived, without the receive overhead. late: its receive was
// posted after the message was announced, which delayed it.
func (m *message) arrival(x *cost) (time int64, late bool) {
	if !x.waits {
		return m.left + x.TravelPs, false
	}
	if word := m.posted - x.word; word > m.left {
		return x.TravelPs + word, true
	}
	return x.TravelPs + m.left, false
}

// receive completes rank r's receive of a message by its number; false if the message has not been sent.
func (e *engine) receive(c *channel, r int32, x *rank, site int32, number uint32) bool {
	m := e.at(c, number)
	if !m.state.is(begun) {
		e.await(c, &c.receiver, r)
		return false
	}
	cost := &e.costs[m.cost]
	time, late := m.arrival(cost)
	if e.until(x, site, time, m.left) && e.noting {
		e.came(x, m, e.trail(c, number), late)
	}
	e.spend(x, site, overhead, cost.ReceiverCorePs)
	m.state |= done
	return true
}

// sent completes rank r's send of a message by its number, if the send waits for the receive; false if that has not
// been posted.
func (e *engine) sent(c *channel, r int32, x *rank, site int32, number uint32) bool {
	m := e.at(c, number)
	if !m.state.is(wanted) {
		e.await(c, &c.sender, r)
		return false
	}
	cost := &e.costs[m.cost]
	time, late := m.arrival(cost)
	time += cost.ReceiverCorePs - cost.receiving // the sender must keep the data until the receiver has copied them
	if least := m.left + cost.word - cost.latency; time-cost.latency > least {
		time -= cost.latency
	} else {
		time, late = least, false
	}
	if e.until(x, site, time, m.posted) && e.noting {
		e.came(x, m, e.trail(c, number), late)
	}
	m.state |= sent
	return true
}

// A late is an operation whose end is known when it begins, as it depends on no other rank: OpPut, OpGet or OpBackground.
type late struct {
	at, left int64 // time of its end, and time when a critical path through it leaves the rank that began it; in ps
	hop      *hop  // the last hop of the rank that began it, at that time
	by       int32 // index of the rank that began it
}

// later begins a put, a get or another independent operation. A put occupies the sender like a message, and ends when
// the acknowledgement is back. A get begins with a request. The target's memory is ready: large transfers don't wait
// for a receive.
func (e *engine) later(x *rank, o *Op) *late {
	l := &late{left: x.now, hop: x.hop, by: x.number}
	if o.Kind == OpBackground {
		l.at = x.now + min(o.TimePs, horizon)
		return l
	}
	level := e.place.LevelBetween(int(x.of), int(o.Peer))
	cost := level.CostOfMessage(o.Bytes, o.Bytes > level.EagerLimitBytes)
	l.at = level.LatencyPs() + cost.TravelPs + cost.ReceiverCorePs
	if o.Kind == OpGet {
		l.at += x.now
	} else {
		leaves := x.free
		if x.free <= x.now {
			leaves, x.idle, x.idleHop = x.now, x.now, x.hop
		}
		x.free = leaves + cost.SenderBusyPs
		l.at += leaves
		l.left, l.hop = x.idle, x.idleHop
	}
	e.spend(x, o.CallIndex, overhead, cost.SenderCorePs)
	return l
}
