package goal

import "github.com/spoor-hpc/spoor/internal/once"

// none ends a list of operations.
const none = ^uint32(0)

// A list is operations in order of arrival, linked by state.next.
type list struct{ first, last uint32 }

// A channel is the messages for a rank without a receive yet, and the receives without a message yet. A rank without
// wildcard receives has a channel for each peer and tag, in which everything matches. Other ranks have one channel
// for all messages.
type channel struct {
	unexpected, posted list
	mixed              bool
	cpu                int // CPU of the receives: noCPU without any, anyCPU if on several
}

const noCPU, anyCPU = -1, -2

// A channelKey identifies a channel.
type channelKey struct{ rank, peer, tag uint32 }

// assignChannels assigns each send and receive to a channel. A message is received by the CPU whose receives are in
// its channel. If the channel has receives of several CPUs, or none, it is the CPU with the number of the sending CPU.
func (e *engine) assignChannels() {
	wild := make([]bool, e.schedule.Ranks())
	for i := range e.ops {
		if o := &e.ops[i]; o.Kind == Recv && (o.Peer == AnyPeerOrTag || o.Tag == AnyPeerOrTag) {
			wild[e.state[i].rank] = true
		}
	}
	numbers := make(map[channelKey]uint32)
	for i := range e.ops {
		o := &e.ops[i]
		var k channelKey
		switch o.Kind {
		case Send:
			k = channelKey{o.Peer, e.state[i].rank, o.Tag}
		case Recv:
			k = channelKey{e.state[i].rank, o.Peer, o.Tag}
		default:
			continue
		}
		mixed := wild[k.rank]
		if mixed {
			k.peer, k.tag = AnyPeerOrTag, AnyPeerOrTag
		}
		n, fresh := once.NumberOf(numbers, k)
		if fresh {
			empty := list{none, none}
			e.channels = append(e.channels, channel{empty, empty, mixed, noCPU})
		}
		e.state[i].channel = n
		if ch := &e.channels[n]; o.Kind == Recv {
			if ch.cpu != noCPU && ch.cpu != int(o.CPU) {
				ch.cpu = anyCPU
			} else {
				ch.cpu = int(o.CPU)
			}
		}
	}
	for i := range e.ops {
		if e.ops[i].Kind == Send {
			if cpu := e.channels[e.state[i].channel].cpu; cpu >= 0 {
				e.state[i].in = uint8(cpu)
			}
		}
	}
}

// append puts an operation at the end of a list.
func (e *engine) append(l *list, op uint32) {
	e.state[op].next = none
	if l.first == none {
		l.first = op
	} else {
		e.state[l.last].next = op
	}
	l.last = op
}

// match removes the first operation that matches op from a list, and returns it; none if there is no match.
func (e *engine) match(l *list, op uint32, mixed bool) uint32 {
	before := none
	for found := l.first; found != none; found = e.state[found].next {
		if mixed && !e.fit(found, op) {
			before = found
			continue
		}
		next := e.state[found].next
		if before == none {
			l.first = next
		} else {
			e.state[before].next = next
		}
		if next == none {
			l.last = before
		}
		return found
	}
	return none
}

// fit reports whether one of two operations is a receive that takes the other's message.
func (e *engine) fit(a, b uint32) bool {
	if e.ops[a].Kind == Send {
		a, b = b, a
	}
	recv, send := &e.ops[a], &e.ops[b]
	return (recv.Peer == AnyPeerOrTag || recv.Peer == e.state[b].rank) && (recv.Tag == AnyPeerOrTag || recv.Tag == send.Tag)
}

// A rank is the first CPU of a simulated rank, its NIC, and the backlogs of events that wait for these. In
// engine.others it is a further CPU, whose NIC is that of the first one.
type rank struct {
	cpu, sends, recvs uint64 // times from which the CPU is free, and the NIC for sends and for receives
	calcs, out, in    backlog
}

var idle = rank{calcs: noBacklog, out: noBacklog, in: noBacklog}

// A place is a CPU of a rank.
type place struct {
	rank uint32
	cpu  uint8
}

// cpu returns a CPU of a rank, made at the first use of its number.
func (e *engine) cpu(of uint32, number uint8) *rank {
	if number == 0 {
		return &e.ranks[of]
	}
	c := e.others[place{of, number}]
	if c == nil {
		x := idle
		c = &x
		e.others[place{of, number}] = c
	}
	return c
}

// A backlog is the events of one kind (send, arrival or calculation) that wait for a CPU, and for its NIC if needed.
// When these become free, the oldest event continues and the others wait again. So only the oldest one, the head, must
// be in the engine's queue. As clocks only advance, events of ranks with one CPU enter a backlog in the order in which
// they were made. An event that waited for another CPU may enter after newer events. Then it becomes the head, and the
// old head stays in the queue, too.
type backlog struct {
	list
	head uint32 // number of the head's event, noHead if nothing waits; all events in the list are newer
}

const noHead = ^uint32(0)

var noBacklog = backlog{list{none, none}, noHead}

// delay makes an event wait in a backlog. until is when the CPU, and the NIC if needed, may be free.
func (e *engine) delay(ev event, until uint64, b *backlog) {
	if b.head < ev.order() {
		e.state[ev.op()].order = ev.order()
		e.insert(&b.list, ev.op())
		return
	}
	b.head = ev.order()
	ev.time = until
	e.events.put(ev)
}

// insert inserts an operation into a list that is sorted by state.order, the number of the operation's event.
func (e *engine) insert(l *list, op uint32) {
	order := e.state[op].order
	if l.first == none || e.state[l.last].order < order {
		e.append(l, op)
		return
	}
	at := &l.first
	for e.state[*at].order < order {
		at = &e.state[*at].next
	}
	e.state[op].next = *at
	*at = op
}

// advance is called when an event (began) begins. If that was the backlog's head, the oldest event in the list becomes
// the head: it is put into the engine's queue, for time until.
func (e *engine) advance(began event, until uint64, b *backlog) {
	if began.order() != b.head {
		return
	}
	op := b.first
	if op == none {
		b.head = noHead
		return
	}
	b.first = e.state[op].next
	b.head = e.state[op].order
	e.events.put(newEvent(until, b.head, op|began.message()))
}
