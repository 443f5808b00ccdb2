package goal

// An event is an operation that may begin at a time, or the arrival of a send's message.
type event struct {
	time uint64
	what uint64 // upper half: the event's number, so that of events at one time the older is first; lower: operation
}

// message is the bit that distinguishes the arrival of an operation's message from the operation itself in event.what.
const message = 1 << 31

func newEvent(time uint64, order, op uint32) event {
	return event{time, uint64(order)<<32 | uint64(op)}
}

func (e *event) order() uint32   { return uint32(e.what >> 32) }
func (e *event) op() uint32      { return uint32(e.what) &^ message }
func (e *event) message() uint32 { return uint32(e.what) & message }

func (e *event) before(o *event) bool {
	return e.time < o.time || e.time == o.time && e.what < o.what
}

// A queue is events sorted by time: a heap with four children per node.
//
// Most events cause another one soon after. So taking the first event leaves its place empty, and the next added
// event sinks from there, mostly not far. Messages in transit are in a ring instead: all take equally long, so the
// first sent arrives first.
type queue struct {
	heap   []event
	vacant bool

	ring         []event // its length is a power of two
	first, after uint64  // positions of the first message and after the last one; the index in ring is a position modulo the ring's length
}

const children = 4

// takeFirst removes and returns the first event; false if the queue is empty.
func (q *queue) takeFirst() (event, bool) {
	if q.vacant {
		q.vacant = false
		last := len(q.heap) - 1
		e := q.heap[last]
		q.heap = q.heap[:last]
		if last > 0 {
			q.sink(e)
		}
	}
	if q.first < q.after {
		if m := &q.ring[q.first%uint64(len(q.ring))]; len(q.heap) == 0 || m.before(&q.heap[0]) {
			q.first++
			return *m, true
		}
	}
	if len(q.heap) == 0 {
		return event{}, false
	}
	q.vacant = true
	return q.heap[0], true
}

// post adds a message in transit, which arrives after all others there.
func (q *queue) post(e event) {
	if n := uint64(len(q.ring)); q.after-q.first == n {
		ring := make([]event, max(64, 2*n))
		for i := q.first; i < q.after; i++ {
			ring[i%uint64(len(ring))] = q.ring[i%n]
		}
		q.ring = ring
	}
	q.ring[q.after%uint64(len(q.ring))] = e
	q.after++
}

func (q *queue) put(e event) {
	if q.vacant {
		q.vacant = false
		q.sink(e)
		return
	}
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / children
		if !e.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

// sink moves an event from the top of the heap to its position.
func (q *queue) sink(e event) {
	heap := q.heap
	i := 0
	for {
		child := children*i + 1
		if child >= len(heap) {
			break
		}
		first := child
		for c := child + 1; c < min(child+children, len(heap)); c++ {
			if heap[c].before(&heap[first]) {
				first = c
			}
		}
		if e.before(&heap[first]) {
			break
		}
		heap[i] = heap[first]
		i = first
	}
	heap[i] = e
}
