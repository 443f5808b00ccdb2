// Package paraver writes traces for Paraver: what happened (.prv), what numbers stand for (.pcf), and
// names of nodes and threads (.row). Types of events and their values are those that Extrae writes, so
// that Paraver's own configurations work. The formats are described in "Paraver: Trace file
// description" of the Barcelona Supercomputing Center.
//
// Records of all ranks stand in the order of time, and a message is one record with both of its ends:
// they are sorted outside of memory.
package paraver

import (
	"bufio"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/export"
	"github.com/spoor-hpc/spoor/trace"
)

// Options say what to write besides calls.
type Options struct {
	Line  func(trace.Site) (file string, line int)
	About map[string]string
}

// inMemory is how many bytes of records are sorted at once.
const inMemory = 16 << 20

// Name is that of the files but for their endings.
const Name = "trace"

// A Writer fills a folder. It is an export.Sink and needs export.Options.Messages.
type Writer struct {
	s     *export.Source
	dir   string
	o     Options
	nodes *nodes

	lines *sorter // of the .prv, by time
	ends  *sorter // of messages, by number
	line  []byte
	last  int64

	functions map[uint16]function
	sites     map[trace.Site]int
	places    []trace.Site // by number, from 1

	threads []thread
	posted  map[uint64]int64 // when receives under way were posted, by number of their request
}

// A thread is what is known of one while its rank is gone through.
type thread struct {
	who   []byte // how its records name it
	since int64  // begin of the state that it is in; before its first call, -1
	open  []function
}

// Kinds of records at one time, in their order.
const (
	stateRecord = iota + 1
	eventRecord
	messageRecord
)

// New begins to write into a folder that is there. What is to be sorted waits beside it.
func New(s *export.Source, dir string, o Options) (*Writer, error) {
	n, err := newNodes(s.Reader)
	if err != nil {
		return nil, err
	}
	beside := filepath.Dir(dir)
	return &Writer{
		s: s, dir: dir, o: o, nodes: n, lines: newSorter(beside, inMemory), ends: newSorter(beside, inMemory),
		functions: make(map[uint16]function), sites: make(map[trace.Site]int),
	}, nil
}

// Begin prepares the threads of a rank.
func (w *Writer) Begin(k *trace.Rank) error {
	w.threads, w.posted = make([]thread, k.Streams()), make(map[uint64]int64)
	for i := range w.threads {
		w.threads[i] = thread{who: w.nodes.who(k.Number(), i), since: -1}
	}
	return nil
}

// End has nothing to add: behind its last call, what a thread does is not known.
func (w *Writer) End(*trace.Rank) error { return nil }

// begin starts a record of a thread.
func (w *Writer) begin(kind int, t *thread, at int64) []byte {
	b := strconv.AppendInt(w.line[:0], int64(kind), 10)
	b = append(append(b, ':'), t.who...)
	return field(b, at)
}

func field(b []byte, n int64) []byte { return strconv.AppendInt(append(b, ':'), n, 10) }

// end hands a record to be sorted.
func (w *Writer) end(kind int, at int64, b []byte) error {
	w.line = b
	return w.lines.add(uint64(max(0, at))<<2|uint64(kind), b)
}

// state ends the state that a thread is in.
func (w *Writer) state(t *thread, now int64) error {
	w.last = max(w.last, now)
	if t.since < 0 {
		t.since = now
	}
	if now <= t.since {
		return nil
	}
	number := running
	if n := len(t.open); n > 0 {
		number = t.open[n-1].state
	}
	b := w.begin(stateRecord, t, t.since)
	b = field(field(b, now), int64(number))
	at := t.since
	t.since = now
	return w.end(stateRecord, at, b)
}

// Enter writes that a call begins.
func (w *Writer) Enter(c *export.Call) error {
	t := &w.threads[c.Stream]
	if err := w.state(t, c.Start); err != nil {
		return err
	}
	f := w.function(c.Func)
	t.open = append(t.open, f)
	b := w.begin(eventRecord, t, c.Start)
	b = field(field(b, int64(f.event)), int64(f.value))
	b = field(field(b, lineType), int64(w.site(c.Site)))
	for i := range c.Acts {
		x := &c.Acts[i]
		if x.Kind != export.Collective && x.Kind != export.CollectiveBegin {
			continue
		}
		b = field(field(b, sentType), int64(x.Sent))
		b = field(field(b, receivedType), int64(x.Received))
		if x.Root >= 0 && x.Comm.WorldRank(x.Root) == c.Rank || x.Root == export.RootSelf {
			b = field(field(b, rootType), 1)
		}
		b = field(field(b, commType), int64(x.Comm.Number+1)) // 0 is MPI_COMM_SELF
	}
	if err := w.end(eventRecord, c.Start, b); err != nil {
		return err
	}
	for i := range c.Acts {
		if err := w.act(t, c, &c.Acts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Leave writes that a call returned, to the one that it was called from if there is one.
func (w *Writer) Leave(c *export.Call) error {
	t := &w.threads[c.Stream]
	if err := w.state(t, c.End); err != nil {
		return err
	}
	f := w.function(c.Func)
	t.open = t.open[:len(t.open)-1]
	b := w.begin(eventRecord, t, c.End)
	b = field(field(b, int64(f.event)), 0)
	if n := len(t.open); n > 0 {
		b = field(field(b, int64(t.open[n-1].event)), int64(t.open[n-1].value))
	} else {
		b = field(field(b, lineType), 0)
	}
	return w.end(eventRecord, c.End, b)
}

func (w *Writer) function(f *trace.Function) function {
	x, ok := w.functions[f.ID]
	if !ok {
		x = describe(f)
		w.functions[f.ID] = x
	}
	return x
}

func (w *Writer) site(s trace.Site) int {
	n, ok := w.sites[s]
	if !ok {
		w.places = append(w.places, s)
		n = len(w.places)
		w.sites[s] = n
	}
	return n
}

// act notes the ends of messages, and counts what there are no records for.
func (w *Writer) act(t *thread, c *export.Call, x *export.Act) error {
	switch x.Kind {
	case export.Send, export.SendBegin:
		return w.messageEnd(0, t, x, c.Start, c.Start, x.Sent)
	case export.RecvBegin:
		w.posted[x.ID] = c.Start
	case export.Recv:
		return w.messageEnd(1, t, x, c.Start, c.End, x.Received)
	case export.RecvEnd:
		at := w.posted[x.ID]
		delete(w.posted, x.ID)
		return w.messageEnd(1, t, x, at, c.End, x.Received)
	case export.Cancelled:
		delete(w.posted, x.ID)
	case export.Put, export.Get, export.Atomic:
		w.s.Losses.Add("one-sided transfers: calls, without who and how much", 1)
	case export.Read, export.ReadBegin, export.Write, export.WriteBegin:
		w.s.Losses.Add("reads and writes of files: calls, without how much", 1)
	}
	return nil
}

// messageEnd notes an end of a message: when the program asked for it, and when it was there.
func (w *Writer) messageEnd(side byte, t *thread, x *export.Act, logical, physical int64, bytes uint64) error {
	b := append(w.line[:0], side)
	b = binary.AppendVarint(b, logical)
	b = binary.AppendVarint(b, physical)
	b = binary.AppendUvarint(b, bytes)
	b = binary.AppendVarint(b, x.Tag)
	b = append(b, t.who...)
	w.line = b
	return w.ends.add(x.Message, b)
}

// An end of a message as it was noted.
type end struct {
	side              byte
	logical, physical int64
	bytes             uint64
	tag               int64
	who               []byte
}

func decode(b []byte) (x end) {
	x.side, b = b[0], b[1:]
	next := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	x.logical, x.physical = next(), next()
	n := 0
	x.bytes, n = binary.Uvarint(b)
	b = b[n:]
	x.tag = next()
	x.who = append([]byte(nil), b...)
	return x
}

// join makes records of messages of which both ends are known.
func (w *Writer) join() error {
	var first end
	var number uint64
	open := false
	lost := func() {
		if open {
			w.s.Losses.Add("messages of which one end is not in the export", 1)
		}
	}
	err := w.ends.each(func(key uint64, data []byte) error {
		x := decode(data)
		if !open || key != number || x.side == first.side {
			lost()
			first, number, open = x, key, true
			return nil
		}
		open = false
		from, to := first, x
		if from.side == 1 {
			from, to = to, from
		}
		b := append(w.line[:0], "3:"...)
		b = append(b, from.who...)
		b = field(field(b, from.logical), from.physical)
		b = append(append(b, ':'), to.who...)
		b = field(field(b, to.logical), to.physical)
		b = field(field(b, int64(from.bytes)), from.tag)
		return w.end(messageRecord, from.logical, b)
	})
	lost()
	return err
}

// Close writes the files.
func (w *Writer) Close() error {
	if err := w.join(); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(w.dir, Name+".prv"))
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	w.header(out)
	err = w.lines.each(func(_ uint64, data []byte) error {
		out.Write(data)
		return out.WriteByte('\n')
	})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := w.labels(); err != nil {
		return err
	}
	if err := w.nodes.rows(filepath.Join(w.dir, Name+".row")); err != nil {
		return err
	}
	return f.Close()
}
