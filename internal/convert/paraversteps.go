package convert

import (
	"encoding/binary"
	"os"
)

// A thread's activity is a chain of steps: a state that lasts until the next step, and perhaps an event at its
// beginning. The steps of all threads are in one file, each thread's in chunks and in order, so that they need
// merging but no sorting.
type paraverSteps struct {
	dir   string
	chunk int // largest size of a chunk in bytes
	f     *os.File
	to    int64 // end of the file

	timelines []*timeline
	texts     [][]byte // texts of events: types and values in the form of records, ":type:value…"
	numbers   map[string]int
}

// Special numbers of events. Others are indices of texts, plus noEvents.
const (
	noEvent   = iota // none
	ownEvent         // the text is in the step
	noEvents         // number of special numbers
	mostTexts = 1 << 16
)

// A timeline is the steps of a thread.
type timeline struct {
	name   []byte // thread in the form of records
	begin  int64
	chunks []chunk
	buffer []byte // not yet in the file
}

// A chunk is a part of the file with whole steps.
type chunk struct {
	from int64
	n    int
}

// newSteps keeps steps of threads in a file of a folder, and reads them with a limited amount of memory.
func newSteps(dir string, threads, memory int) *paraverSteps {
	return &paraverSteps{dir: dir, chunk: min(max(memory/max(threads, 1), 1<<12), 1<<15), numbers: make(map[string]int)}
}

// event returns the number of an event's text; ownEvent if the table is full.
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

// add appends a step to a timeline.
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

// flush writes what a timeline has as a chunk.
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

// A position is a step of a timeline.
type position struct {
	*timeline
	s         *paraverSteps
	order     int
	at, until int64 // begin and end of the state; equal: no state
	state     int
	event     []byte // nil: none
	digits    []byte // at, as text

	next []chunk
	data fields
	room []byte
}

// advance moves to the next step; false at the end.
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

// A merge is a heap of sequences; the first has the earliest element.
type merge[T interface {
	advance() (more bool, err error) // to the next; the first one at the beginning
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

// step advances the earliest sequence.
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

// sink moves an element down to its place.
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
