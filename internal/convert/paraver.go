package convert

// Paraver and Dimemas are tools of the Barcelona Supercomputing Center. A Paraver trace is three files: records of
// states, events and messages (.prv), names of event types and values (.pcf), and names of nodes and threads (.row).
// Event types and values are those of Extrae, so that Paraver's configurations work. The formats are described in
// "Paraver: Trace file description".
//
// The .prv file has the records of all ranks in the order of time, and one record for both ends of a message. So the
// states and events of threads are merged, and messages are sorted on disk.

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// inMemory is the memory in bytes for each of the two sorters, and for the buffered steps of all threads together.
const inMemory = 8 << 20

// ParaverBaseName is the name of the three files of a Paraver trace, without suffix.
const ParaverBaseName = "trace"

// A ParaverWriter writes a trace for Paraver into a folder. It is an ops.Sink and needs ops.Options.Messages.
type ParaverWriter struct {
	s     *ops.Source
	dir   string
	o     Options
	nodes *nodes

	steps    *paraverSteps
	messages *sorter // whole messages, by time of the send
	ends     *sorter // sends and receives, by Act.Message: both ends of a message have the same number
	buffer   []byte
	last     int64

	functions map[uint16]*function
	// by call: number of the event at its beginning, if the event has function and call site alone
	enters  map[call]int
	values  []string         // names of attached values; valueType plus the index is the event type
	threads []thread         // by stream of the current rank
	posted  map[uint64]int64 // by Act.ID of a pending receive: when it was posted, in ns
}

// A call is a function, by its event value in Paraver, and a call site, by its index in ops.Source.Places.
type call struct{ function, place int }

// A thread is what has to be remembered about a thread of the rank that is being written.
type thread struct {
	*timeline
	number int   // index in paraverSteps.timelines
	since  int64 // begin of the current Paraver state in ns; -1: before the first call
	event  int   // number of the event at time since, which is not written yet; noEvent: none
	text   []byte
	open   []*function
}

// NewParaverWriter starts writing into an existing folder. Temporary files are beside that folder.
func NewParaverWriter(s *ops.Source, dir string, o Options) (*ParaverWriter, error) {
	n, err := newNodes(s.Reader)
	if err != nil {
		return nil, err
	}
	beside := filepath.Dir(dir)
	return &ParaverWriter{
		s: s, dir: dir, o: o, nodes: n, steps: newSteps(beside, n.all(), inMemory), messages: newSorter(beside, inMemory), ends: newSorter(beside, inMemory),
		functions: make(map[uint16]*function), enters: make(map[call]int),
	}, nil
}

// Begin starts a timeline for each of a rank's threads.
func (w *ParaverWriter) Begin(k *trace.Rank) error {
	w.threads, w.posted = make([]thread, k.Streams()), make(map[uint64]int64)
	for i := range w.threads {
		t := &timeline{name: w.nodes.who(k.Number(), i)}
		w.threads[i] = thread{timeline: t, number: len(w.steps.timelines), since: -1}
		w.steps.timelines = append(w.steps.timelines, t)
	}
	return nil
}

// End writes the last events of the rank's threads. After a thread's last call no state is written, as it is unknown.
func (w *ParaverWriter) End(*trace.Rank) error {
	for i := range w.threads {
		t := &w.threads[i]
		if t.event != noEvent {
			if err := w.step(t, t.since); err != nil {
				return err
			}
		}
		if err := w.steps.end(t.timeline); err != nil {
			return err
		}
	}
	return nil
}

// step writes the thread's pending event, and its Paraver state from t.since to now.
func (w *ParaverWriter) step(t *thread, now int64) error {
	w.last = max(w.last, now)
	if t.since < 0 {
		t.since, t.begin = now, now
	}
	if now <= t.since && t.event == noEvent {
		return nil
	}
	state := running
	if n := len(t.open); n > 0 {
		state = t.open[n-1].state
	}
	until := max(now, t.since)
	err := w.steps.add(t.timeline, until-t.since, state, t.event, t.text)
	t.since, t.event, t.text = until, noEvent, t.text[:0]
	return err
}

// happens makes an event with this text the pending one, at the beginning of the thread's current state.
func (w *ParaverWriter) happens(t *thread, text []byte) {
	if t.event = w.steps.event(text); t.event == ownEvent {
		t.text = append(t.text[:0], text...)
	}
}

// Enter writes the beginning of a call.
func (w *ParaverWriter) Enter(c *ops.Call) error {
	t := &w.threads[c.Stream]
	if err := w.step(t, c.StartNs); err != nil {
		return err
	}
	f := w.function(c.Func)
	t.open = append(t.open, f)
	w.entered(t, c, f)
	for i := range c.Acts {
		if err := w.act(t, c, &c.Acts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Leave writes the end of a call, and the return to the calling call if there is one.
func (w *ParaverWriter) Leave(c *ops.Call) error {
	t := &w.threads[c.Stream]
	if err := w.step(t, c.EndNs); err != nil {
		return err
	}
	f := w.function(c.Func)
	t.open = t.open[:len(t.open)-1]
	b := field(field(w.buffer[:0], int64(f.event)), 0)
	if n := len(t.open); n > 0 {
		b = field(field(b, int64(t.open[n-1].event)), int64(t.open[n-1].value))
	} else if t.event = f.left; f.left != noEvent {
		return nil
	} else {
		b = field(field(b, lineType), 0)
	}
	w.happens(t, b)
	if w.buffer = b; len(t.open) == 0 && t.event != ownEvent {
		f.left = t.event
	}
	return nil
}

// entered makes the event at the beginning of a call: function, call site, bytes of collectives and attached values.
func (w *ParaverWriter) entered(t *thread, c *ops.Call, f *function) {
	at := call{f.value, c.SiteIndex}
	if n, ok := w.enters[at]; ok && !says(c) {
		t.event = n
		return
	}
	b := field(field(w.buffer[:0], int64(f.event)), int64(f.value))
	b = field(field(b, lineType), int64(c.SiteIndex+1)) // from 1, as 0 means that the call ended
	for i := range c.Acts {
		x := &c.Acts[i]
		if !collects(x) {
			continue
		}
		b = field(field(b, sentType), int64(x.SentBytes))
		b = field(field(b, receivedType), int64(x.ReceivedBytes))
		if x.Root >= 0 && x.Comm.WorldRank(x.Root) == c.Rank || x.Root == ops.RootSelf {
			b = field(field(b, rootType), 1)
		}
		b = field(field(b, commType), int64(x.Comm.Number+1)) // 0 is MPI_COMM_SELF, whose Number is -1
	}
	for i := range c.Values {
		v := &c.Values[i]
		b = field(field(b, int64(w.value(v.Name))), int64(math.Round(v.Sum)))
	}
	w.happens(t, b)
	if w.buffer = b; t.event != ownEvent && !says(c) {
		w.enters[at] = t.event
	}
}

// says reports whether a call's event has more than function and call site: values of a collective, or attached values.
func says(c *ops.Call) bool {
	if len(c.Values) > 0 {
		return true
	}
	for i := range c.Acts {
		if collects(&c.Acts[i]) {
			return true
		}
	}
	return false
}

func collects(x *ops.Act) bool {
	return x.Kind == ops.ActCollective || x.Kind == ops.ActCollectiveBegin
}

func (w *ParaverWriter) function(f *trace.Function) *function {
	return once.GetOrMake(w.functions, f.ID, func() *function { return describe(f) })
}

// value returns the event type for the values that programs attach under a name.
func (w *ParaverWriter) value(name string) int {
	n := slices.Index(w.values, name)
	if n < 0 {
		n = len(w.values)
		w.values = append(w.values, name)
	}
	return valueType + n
}

// act stores sends and receives for join. It counts actions for which Paraver has no record as losses.
func (w *ParaverWriter) act(t *thread, c *ops.Call, x *ops.Act) error {
	switch x.Kind {
	case ops.ActSend, ops.ActSendBegin:
		return w.end(x, messageEnd{sent, t.number, c.StartNs, c.StartNs, x.SentBytes, x.Tag})
	case ops.ActRecvBegin:
		w.posted[x.ID] = c.StartNs
	case ops.ActRecv:
		return w.end(x, messageEnd{received, t.number, c.StartNs, c.EndNs, x.ReceivedBytes, x.Tag})
	case ops.ActRecvEnd:
		at := w.posted[x.ID]
		delete(w.posted, x.ID)
		return w.end(x, messageEnd{received, t.number, at, c.EndNs, x.ReceivedBytes, x.Tag})
	case ops.ActCancelled:
		delete(w.posted, x.ID)
	case ops.ActPut, ops.ActGet, ops.ActAtomic:
		w.s.Losses.Add("one-sided transfers: calls, without who and how much", 1)
	case ops.ActRead, ops.ActReadBegin, ops.ActWrite, ops.ActWriteBegin:
		w.s.Losses.Add("reads and writes of files: calls, without how much", 1)
	}
	return nil
}

// end stores a send or receive, for join.
func (w *ParaverWriter) end(x *ops.Act, e messageEnd) error {
	w.buffer = e.append(w.buffer[:0])
	return w.ends.add(x.MessageNumber, w.buffer)
}

// join pairs sends with receives by Act.Message, and stores the pairs sorted by the time of the send. A send or receive
// without its other end is counted as lost.
func (w *ParaverWriter) join() error {
	var first messageEnd
	var number uint64
	open := false
	lost := func() {
		if open {
			w.s.Losses.Add("messages with one end outside the export", 1)
		}
	}
	err := w.ends.each(func(key uint64, data []byte) error {
		at := fields(data)
		x := at.end()
		if !open || key != number || x.side == first.side {
			lost()
			first, number, open = x, key, true
			return nil
		}
		open = false
		m := message{first, x}
		if first.side == received {
			m = message{x, first}
		}
		w.buffer = m.append(w.buffer[:0])
		return w.messages.add(m.key(), w.buffer)
	})
	lost()
	return err
}

// Close writes the three files of the Paraver trace.
func (w *ParaverWriter) Close() error {
	if err := w.join(); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(w.dir, ParaverBaseName+".prv"))
	if err != nil {
		return err
	}
	defer f.Close()
	defer w.steps.close()
	out := NewBackgroundWriter(f)
	if err := errors.Join(w.print(out), out.Close()); err != nil {
		return err
	}
	if err := w.labels(); err != nil {
		return err
	}
	if err := w.nodes.rows(filepath.Join(w.dir, ParaverBaseName+".row")); err != nil {
		return err
	}
	return f.Close()
}

// print writes the .prv file: the header, then states, events and messages in the order of time.
func (w *ParaverWriter) print(out io.Writer) (err error) {
	p := printer{out: out, s: w.steps, text: w.header(nil), marks: w.o.Marks}
	if p.steps, err = w.steps.merged(); err != nil {
		return err
	}
	if err := w.messages.each(p.message); err != nil {
		return err
	}
	if err := p.until(math.MaxInt64); err != nil {
		return err
	}
	p.moment()
	return p.flush()
}
