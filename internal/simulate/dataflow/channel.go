package dataflow

import "github.com/spoor-hpc/spoor/internal/machine"

// A key is what messages don't overtake each other on.
type key struct {
	from, to, context int32
	tag               int64
}

const nobody = int32(-1)

// A channel has the messages between two ranks that are sent or awaited.
type channel struct {
	key
	level            *machine.Level
	messages         []message // from first on
	first            uint32
	sends, receives  uint32 // begun so far
	sender, receiver int32  // if it waits
}

// A message is a send and the receive that gets it.
type message struct {
	left, posted  int64 // when it left its sender, when its receive was posted
	bytes         int64
	begun, wanted bool // it has left; it was posted
	waits         bool // it waits for its receive
	sent, done    bool // its sender knows the end; its receiver has it
}

// many is from how many channels on those that are empty are given up.
const many = 1 << 16

func (e *engine) channel(k key) *channel {
	c := e.channels[k]
	if c == nil {
		c = &channel{key: k, level: e.place.Between(int(k.from), int(k.to)), sender: nobody, receiver: nobody}
		e.channels[k] = c
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
		if len(e.channels) > many {
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
	m := c.at(number)
	m.begun, m.bytes = true, o.Bytes
	m.waits = (o.Bytes > c.level.EagerLimit || o.Synchronous) && !o.Buffered
	m.left = max(x.now, x.free)
	x.free = m.left + c.level.Busy(o.Bytes, m.waits)
	x.spent.Overhead += x.take(c.level.SendOverhead)
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

// arrival is when a message has come in, but for what receiving it costs, and when the later
// of both sides began.
func (c *channel) arrival(m *message) int64 {
	l := c.level
	if !m.waits {
		return m.left + l.EagerTime(m.bytes) - l.ReceiveOverhead
	}
	t := l.RendezvousTime(m.bytes) - l.ReceiveOverhead
	return max(m.left+t, m.posted+t-l.SendOverhead-l.Latency())
}

// receive ends a receive; false if its message has not been sent.
func (c *channel) receive(r int32, x *rank, number uint32) bool {
	m := c.at(number)
	if !m.begun {
		c.receiver = r
		return false
	}
	x.until(c.arrival(m), m.left)
	x.spent.Overhead += x.take(c.level.ReceiveOverhead)
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
	x.until(max(c.arrival(m)-c.level.Latency(), m.left+c.level.SendOverhead), m.posted)
	m.sent = true
	return true
}
