package goal

// A rank has a CPU and a NIC, and what waits until they are free. CPUs of a rank but the first are others, without a NIC.
type rank struct {
	cpu, sends, recvs uint64 // from when on the CPU is free, and the NIC in either direction
	calcs, out, in    backlog
}

var idle = rank{calcs: noBacklog, out: noBacklog, in: noBacklog}

// A place is a CPU of a rank.
type place struct {
	rank uint32
	cpu  uint8
}

// cpu returns a CPU of a rank. There is one of each number that something comes to.
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

// A backlog has the events of a rank that wait for the same. When they can go on, the one that
// was made first does, and the others wait again: only that one, the head, has to be in the
// queue. As clocks only go forward, events of ranks with one CPU come to a backlog in the order in which they were made.
// What waited for another CPU may come later than what was made behind it: then it is the head, and the one that was
// goes on by itself.
type backlog struct {
	list
	head uint32 // its order, noHead if nothing waits; all in the list were made later
}

const noHead = ^uint32(0)

var noBacklog = backlog{list{none, none}, noHead}

// delay has an event wait until a time, when what it needs may be free.
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

// insert puts an operation into a list that is in order of events.
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

// advance lets the next event of a backlog take the place of its head, if that is what began.
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
