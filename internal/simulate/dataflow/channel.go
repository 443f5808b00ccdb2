package dataflow

import "github.com/spoor-hpc/spoor/internal/machine"

// A key is what messages don't overtake each other on.
type key struct {
	from, to, context int32
	tag               int64
}

const nobody = int32(-1)

// A cost is what a message of a size costs on a channel.
type cost struct {
	bytes                 int64
	synchronous, buffered bool
	known                 bool

	waits bool // for its receive
	machine.Cost
}

// cost returns that of a send.
func (c *channel) cost(o *Op) *cost {
	x := &c.last
	if x.known && x.bytes == o.Bytes && x.synchronous == o.Synchronous && x.buffered == o.Buffered {
		return x
	}
	l := c.level
	*x = cost{bytes: o.Bytes, synchronous: o.Synchronous, buffered: o.Buffered, known: true}
	x.waits = (o.Bytes > l.EagerLimit || o.Synchronous) && !o.Buffered
	x.Cost = l.Message(o.Bytes, x.waits)
	return x
}

// A channel has the messages between two ranks that are sent or awaited.
type channel struct { // what each message needs comes first: with many ranks memory is what takes time
	messages         []message // from first on
	first            uint32
	sends, receives  uint32 // begun so far
	sender, receiver int32  // if it waits
	own              [1]message
	last             cost // of the message sent last
	latency          int64
	level            *machine.Level
	from, to         int32
	free             *key // what to forget it by when it is empty; nil: slots know it
}

func (c *channel) set(level *machine.Level, from, to int32) {
	*c = channel{level: level, latency: level.Latency(), from: from, to: to, sender: nobody, receiver: nobody}
	c.messages = c.own[:0]
}

// message is a send and the receive that gets it.
type message struct {
	left, posted  int64 // when it left its sender, when its receive was posted
	time          int64 // that it takes, but for what receiving it costs
	receiving     int64 // that receiving it costs
	begun, wanted bool  // it has left; it was posted
	waits         bool  // it waits for its receive
	sent, done    bool  // its sender knows the end; its receiver has it

	trail *trail // if paths are wanted
}

// many is from how many channels on those that are empty are given up.
const many = 1 << 16

func (e *engine) channel(k key) *channel {
	c := e.channels[k]
	if c == nil {
		c = &channel{}
		c.set(e.place.Between(int(k.from), int(k.to)), k.from, k.to)
		c.free = &k
		e.channels[k] = c
	}
	return c
}

// tidy forgets messages that are over, and a channel of none if there are many.
func (e *engine) tidy(c *channel) {
	if len(c.messages) == 1 && c.messages[0].done && (c.messages[0].sent || !c.messages[0].waits) {
		c.messages = c.messages[:0]
		c.first++
		e.forget(c)
		return
	}
	n := 0
	for n < len(c.messages) && c.messages[n].done && (c.messages[n].sent || !c.messages[n].waits) {
		n++
	}
	if n == len(c.messages) {
		c.messages = c.messages[:0]
		c.first += uint32(n)
		e.forget(c)
	} else if n > 64 || n > 0 && n > len(c.messages)/2 {
		c.messages = append(c.messages[:0], c.messages[n:]...)
		c.first += uint32(n)
	}
}

// forget gives up an empty channel, if nobody counts its messages.
func (e *engine) forget(c *channel) {
	if c.free != nil && len(e.channels) > many && e.teams == nil {
		delete(e.channels, *c.free)
	}
}

// at returns a message by its number.
func (c *channel) at(number uint32) *message {
	for int(number-c.first) >= len(c.messages) {
		c.messages = append(c.messages, message{})
	}
	return &c.messages[number-c.first]
}

// send lets a message leave and returns its number.
func (c *channel) send(e *engine, x *rank, o *Op) (number uint32, waits bool) {
	number = o.nth(c.sends)
	c.sends++
	m, cost := c.at(number), c.cost(o)
	m.begun, m.time, m.receiving, m.waits = true, cost.Travel, cost.Receive, cost.waits
	if m.left = x.now; x.free > x.now {
		m.left = x.free
	} else {
		x.idle = x.now
	}
	x.free = m.left + cost.Busy
	if e.noting {
		e.leaves(x, m)
	}
	e.spend(x, o.Site, overhead, cost.Send)
	return number, cost.waits
}

// post begins a receive and returns the number of the message that it will get.
func (c *channel) post(e *engine, x *rank, o *Op) uint32 {
	number := o.nth(c.receives)
	c.receives++
	m := c.at(number)
	m.posted, m.wanted = x.now, true
	if e.noting {
		e.wants(x, m)
	}
	return number
}

// arrival is when a message has come in, but for what receiving it costs, and whether it was its
// receive that it waited for.
func (c *channel) arrival(m *message) (time int64, late bool) {
	if !m.waits {
		return m.left + m.time, false
	}
	if word := m.posted - c.level.SendOverhead - c.latency; word > m.left {
		return m.time + word, true
	}
	return m.time + m.left, false
}

// receive ends a receive; false if its message has not been sent.
func (c *channel) receive(e *engine, r int32, x *rank, site int32, number uint32) bool {
	m := c.at(number)
	if !m.begun {
		e.await(c, &c.receiver, r)
		return false
	}
	time, late := c.arrival(m)
	if e.until(x, site, time, m.left) && e.noting {
		e.came(x, m, late)
	}
	e.spend(x, site, overhead, m.receiving)
	m.done = true
	return true
}

// sent ends a send that waits for its receive; false if that has not been posted.
func (c *channel) sent(e *engine, r int32, x *rank, site int32, number uint32) bool {
	m := c.at(number)
	if !m.wanted {
		e.await(c, &c.sender, r)
		return false
	}
	time, late := c.arrival(m)
	time += m.receiving - c.level.ReceiveOverhead // that the receiver copies, the sender has to keep
	if least := m.left + c.level.SendOverhead; time-c.latency > least {
		time -= c.latency
	} else {
		time, late = least, false
	}
	if e.until(x, site, time, m.posted) && e.noting {
		e.came(x, m, late)
	}
	m.sent = true
	return true
}
