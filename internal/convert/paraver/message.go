package paraver

import "encoding/binary"

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

// key is when a message was sent.
func (m *message) key() uint64 { return uint64(max(0, m.from.logical)) }

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
	if b := *f; b[0] < 0x80 {
		*f = b[1:]
		return uint64(b[0])
	}
	v, n := binary.Uvarint(*f)
	*f = (*f)[n:]
	return v
}

func (f *fields) signed() int64 {
	v, n := binary.Varint(*f)
	*f = (*f)[n:]
	return v
}
