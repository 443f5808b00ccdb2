package convert

import (
	"encoding/binary"
	"os"
)

// paraverSteps keeps what threads do as chains of steps. A step is a Paraver state that lasts until the thread's next
// step, and perhaps an event at its beginning.
// The steps of all threads are in one file, in chunks. Each thread's steps are in order, so that they need merging but
// no sorting.
type paraverSteps struct {
	dir   string
	chunk int // largest size of a chunk in bytes
	f     *os.File
	to    int64 // length of the file: where the next chunk begins

	timelines []*timeline
	texts     [][]byte // texts of events: types and values as in the .prv file, ":type:value…"
	numbers   map[string]int
}

// Special numbers of events. Other events have their index in paraverSteps.texts plus noEvents.
const (
	noEvent   = iota // the step has no event
	ownEvent         // the step contains the event's text, as texts is full
	noEvents         // number of the first event in texts
	mostTexts = 1 << 16
)

// A timeline is the steps of a thread, in chunks of the file and in a buffer.
type timeline struct {
	name   []byte // the thread as nodes.who names it
	begin  int64
	chunks []chunk
	buffer []byte // steps not yet in the file
}

// A chunk is a part of the file with whole steps of one thread: its offset and its number of bytes.
type chunk struct {
	from int64
	n    int
}

// newSteps returns a store of steps with a temporary file in dir. The buffers of all threads together take about memory
// bytes.
func newSteps(dir string, threads, memory int) *paraverSteps {
	return &paraverSteps{dir: dir, chunk: min(max(memory/max(threads, 1), 1<<12), 1<<15), numbers: make(map[string]int)}
}

// event returns the number of an event's text, a new one if necessary. It returns ownEvent if texts is full.
func (s *paraverSteps) event(text []byte) int {
	n, ok := s.numbers[string(text)]
	if ok {
		return n
	}
	if len(s.texts) == mostTexts {
		return ownEvent
	}
	n = len(s.texts) + noEvents
	s.texts = append(s.texts, append([]byte(nil), text...))
	s.numbers[string(text)] = n
	return n
}

// add appends a step to a timeline; its state lasts length ns.
func (s *paraverSteps) add(t *timeline, length int64, state, event int, text []byte) error {
	if len(t.buffer)+3*binary.MaxVarintLen64+len(text) > s.chunk {
		if err := s.flush(t); err != nil {
			return err
		}
	}
	b := binary.AppendUvarint(t.buffer, uint64(length))
	b = binary.AppendUvarint(b, uint64(state))
	b = binary.AppendUvarint(b, uint64(event))
	if event == ownEvent {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	t.buffer = b
	return nil
}

// flush appends the steps in a timeline's buffer to the file, as a chunk.
func (s *paraverSteps) flush(t *timeline) error {
	if len(t.buffer) == 0 {
		return nil
	}
	if s.f == nil {
		var err error
		if s.f, err = nameless(s.dir); err != nil {
			return err
		}
	}
	n, err := s.f.Write(t.buffer)
	t.chunks = append(t.chunks, chunk{s.to, n})
	s.to += int64(n)
	t.buffer = t.buffer[:0]
	return err
}

// end writes the remaining steps of a finished timeline.
func (s *paraverSteps) end(t *timeline) error {
	err := s.flush(t)
	t.buffer = nil
	return err
}

func (s *paraverSteps) close() {
	if s.f != nil {
		s.f.Close()
	}
}

// A position is the current step of a timeline, while timelines are merged.
type position struct {
	*timeline
	s         *paraverSteps
	order     int
	at, until int64 // begin and end of the step's state in ns; if equal, the step is an event alone
	state     int
	event     []byte // text of the step's event; nil: none
	digits    []byte // at in decimal; empty: not made yet

	next []chunk
	data fields
	room []byte
}

// advance moves to the next step of the timeline. It returns false at the end of the timeline.
func (c *position) advance() (bool, error) {
	if len(c.data) == 0 {
		if len(c.next) == 0 {
			return false, nil
		}
		x := c.next[0]
		c.next = c.next[1:]
		if cap(c.room) < x.n {
			c.room = make([]byte, x.n)
		}
		c.data = c.room[:x.n]
		if _, err := c.s.f.ReadAt(c.data, x.from); err != nil {
			return false, err
		}
	}
	c.at = c.until
	c.until += int64(c.data.unsigned())
	c.state = int(c.data.unsigned())
	switch n := int(c.data.unsigned()); n {
	case noEvent:
		c.event = nil
	case ownEvent:
		n := c.data.unsigned()
		c.event, c.data = c.data[:n], c.data[n:]
	default:
		c.event = c.s.texts[n-noEvents]
	}
	return true, nil
}

func (c *position) before(o *position) bool { return c.at < o.at || c.at == o.at && c.order < o.order }

// merged returns a merge of all threads' steps in the order of time.
func (s *paraverSteps) merged() (m merge[*position], err error) {
	for i, t := range s.timelines {
		if err := m.add(&position{timeline: t, s: s, order: i, until: t.begin, next: t.chunks}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// A merge is a heap of sequences, each at its current element. The sequence whose element is earliest is the first.
type merge[T interface {
	advance() (more bool, err error) // to the sequence's next element; the first call moves to the first one
	before(T) bool
}] []T

// add adds a sequence to the heap.
func (m *merge[T]) add(x T) error {
	more, err := x.advance()
	if more {
		*m = append(*m, x)
		for i := len(*m) - 1; i > 0 && x.before((*m)[(i-1)/2]); i = (i - 1) / 2 {
			(*m)[i], (*m)[(i-1)/2] = (*m)[(i-1)/2], x
		}
	}
	return err
}

// step moves the first sequence to its next element, and restores the order of the heap.
func (m *merge[T]) step() error {
	more, err := (*m)[0].advance()
	if !more {
		last := len(*m) - 1
		(*m)[0] = (*m)[last]
		*m = (*m)[:last]
	}
	m.sink(0)
	return err
}

// sink moves the sequence at index i down the heap until it is before its children.
func (m merge[T]) sink(i int) {
	for {
		least := 2*i + 1
		if least+1 < len(m) && m[least+1].before(m[least]) {
			least++
		}
		if least >= len(m) || !m[least].before(m[i]) {
			return
		}
		m[i], m[least] = m[least], m[i]
		i = least
	}
}
