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
type channel struct {
	key
	level            *machine.Level
	latency          int64
	last             cost      // of the message sent last
	messages         []message // from first on
	first            uint32
	sends, receives  uint32 // begun so far
	sender, receiver int32  // if it waits
	kept             bool   // operations that come again know it
}

// A message is a send and the receive that gets it.
type message struct {
	left, posted  int64 // when it left its sender, when its receive was posted
	time          int64 // that it takes, but for what receiving it costs
	receiving     int64 // that receiving it costs
	begun, wanted bool  // it has left; it was posted
	waits         bool  // it waits for its receive
	sent, done    bool  // its sender knows the end; its receiver has it
}

// many is from how many channels on those that are empty are given up.
const many = 1 << 16

func (e *engine) channel(k key) *channel {
	c := e.channels[k]
	if c == nil {
		l := e.place.Between(int(k.from), int(k.to))
		c = &channel{key: k, level: l, latency: l.Latency(), sender: nobody, receiver: nobody}
		e.channels[k] = c
	}
	return c
}

// of returns the channel of an operation.
func (e *engine) of(o *Op, k key) *channel {
	if o.channel != nil {
		return o.channel
	}
	c := e.channel(k)
	if o.Again {
		o.channel, c.kept = c, true
	}
	return c
}

// tidy forgets messages that are over, and a channel of none if there are many.
func (e *engine) tidy(c *channel) {
	n := 0
	for n < len(c.messages) && c.messages[n].done && (c.messages[n].sent || !c.messages[n].waits) {
		n++
	}
	if n == len(c.messages) {
		c.messages = c.messages[:0]
		c.first += uint32(n)
		if len(e.channels) > many && !c.kept {
			delete(e.channels, c.key)
		}
	} else if n > 64 || n > 0 && n > len(c.messages)/2 {
		c.messages = append(c.messages[:0], c.messages[n:]...)
		c.first += uint32(n)
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
func (c *channel) send(x *rank, o *Op) uint32 {
	number := c.sends
	c.sends++
	m, cost := c.at(number), c.cost(o)
	m.begun, m.time, m.receiving, m.waits = true, cost.Travel, cost.Receive, cost.waits
	m.left = max(x.now, x.free)
	x.free = m.left + cost.Busy
	x.spent.Overhead += x.take(cost.Send)
	return number
}

// post begins a receive and returns the number of the message that it will get.
func (c *channel) post(now int64) uint32 {
	number := c.receives
	c.receives++
	m := c.at(number)
	m.posted, m.wanted = now, true
	return number
}

// arrival is when a message has come in, but for what receiving it costs.
func (c *channel) arrival(m *message) int64 {
	if !m.waits {
		return m.left + m.time
	}
	return m.time + max(m.left, m.posted-c.level.SendOverhead-c.latency)
}

// receive ends a receive; false if its message has not been sent.
func (c *channel) receive(r int32, x *rank, number uint32) bool {
	m := c.at(number)
	if !m.begun {
		c.receiver = r
		return false
	}
	x.until(c.arrival(m), m.left)
	x.spent.Overhead += x.take(m.receiving)
	m.done = true
	return true
}

// sent ends a send that waits for its receive; false if that has not been posted.
func (c *channel) sent(r int32, x *rank, number uint32) bool {
	m := c.at(number)
	if !m.wanted {
		c.sender = r
		return false
	}
	last := c.arrival(m) + m.receiving - c.level.ReceiveOverhead // that the receiver copies, the sender has to keep
	x.until(max(last-c.latency, m.left+c.level.SendOverhead), m.posted)
	m.sent = true
	return true
}
