package paraver

import (
	"bufio"
	"encoding/binary"
	"strconv"
)

// A step is an event of a thread, if there is one, and the state in which that is from then on.
type step struct {
	thread    int
	at, until int64 // no state if they are the same
	state     int
	event     []byte // types and values as records have them: ":type:value…"
}

// A message is what is known of its two ends.
type message struct{ from, to end }

// An end of a message: when the program asked for it, and when it was there.
type end struct {
	side              byte
	thread            int
	logical, physical int64
	bytes             uint64
	tag               int64
}

// Sides of a message.
const (
	sent     = 0
	received = 1
)

// The keys of records are times, those of messages behind those of steps.
func (x *step) key() uint64    { return uint64(max(0, x.at)) << 1 }
func (m *message) key() uint64 { return uint64(max(0, m.from.logical))<<1 | 1 }

func (x *step) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(x.thread))
	b = binary.AppendVarint(b, x.at)
	b = binary.AppendUvarint(b, uint64(x.until-x.at))
	b = binary.AppendUvarint(b, uint64(x.state))
	return append(b, x.event...)
}

func readStep(b []byte) (x step) {
	f := fields(b)
	x.thread, x.at = int(f.unsigned()), f.signed()
	x.until, x.state = x.at+int64(f.unsigned()), int(f.unsigned())
	x.event = f
	return x
}

func (e *end) append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, e.side), uint64(e.thread))
	b = binary.AppendVarint(b, e.logical)
	b = binary.AppendVarint(b, e.physical-e.logical)
	b = binary.AppendUvarint(b, e.bytes)
	return binary.AppendVarint(b, e.tag)
}

func (f *fields) end() (e end) {
	e.side, *f = (*f)[0], (*f)[1:]
	e.thread, e.logical = int(f.unsigned()), f.signed()
	e.physical = e.logical + f.signed()
	e.bytes, e.tag = f.unsigned(), f.signed()
	return e
}

func readEnd(b []byte) end {
	f := fields(b)
	return f.end()
}

func (m *message) append(b []byte) []byte { return m.to.append(m.from.append(b)) }

// fields are numbers behind each other, as this package itself wrote them.
type fields []byte

func (f *fields) unsigned() uint64 {
	v, n := binary.Uvarint(*f)
	*f = (*f)[n:]
	return v
}

func (f *fields) signed() int64 {
	v, n := binary.Varint(*f)
	*f = (*f)[n:]
	return v
}

// A printer writes records that come in the order of their keys as lines: of one time, states stand
// before events and these before messages.
type printer struct {
	out    *bufio.Writer
	names  [][]byte
	key    uint64
	line   []byte
	events []byte // of this time
}

// Kinds of lines.
const (
	stateLine   = "1:"
	eventLine   = "2:"
	messageLine = "3:"
)

func (p *printer) record(key uint64, data []byte) error {
	if key != p.key {
		p.moment()
		p.key = key
	}
	if key&1 > 0 {
		return p.message(data)
	}
	x := readStep(data)
	if len(x.event) > 0 {
		b := field(append(append(p.events, eventLine...), p.names[x.thread]...), x.at)
		p.events = append(append(b, x.event...), '\n')
	}
	if x.until == x.at {
		return nil
	}
	b := field(append(append(p.line[:0], stateLine...), p.names[x.thread]...), x.at)
	return p.write(field(field(b, x.until), int64(x.state)))
}

func (p *printer) message(data []byte) error {
	f := fields(data)
	from, to := f.end(), f.end()
	b := append(append(p.line[:0], messageLine...), p.names[from.thread]...)
	b = field(field(b, from.logical), from.physical)
	b = append(append(b, ':'), p.names[to.thread]...)
	b = field(field(b, to.logical), to.physical)
	return p.write(field(field(b, int64(from.bytes)), from.tag))
}

func (p *printer) write(b []byte) error {
	p.line = append(b, '\n')
	_, err := p.out.Write(p.line)
	return err
}

// moment writes what happened at a time that is over. The writer keeps the error.
func (p *printer) moment() {
	p.out.Write(p.events)
	p.events = p.events[:0]
}

func field(b []byte, n int64) []byte { return strconv.AppendInt(append(b, ':'), n, 10) }
