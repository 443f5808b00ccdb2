package convert

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"os"
	"slices"
)

// A sorter sorts records by key; records with equal keys keep their order. Records that don't fit into memory are
// written to a temporary file in sorted runs.
type sorter struct {
	dir  string
	most int // largest number of bytes in memory
	f    *os.File
	to   int64 // length of the file: where the next run begins
	runs []fileRange

	data    []byte
	records []record
}

// A record is a key, and where the record's bytes begin and end in sorter.data.
type record struct {
	key      uint64
	from, to uint32
}

const recordSize = 16

// A fileRange is the part of the sorter's file that holds one run, as offsets in bytes.
type fileRange struct{ from, to int64 }

// newSorter returns a sorter that keeps up to most bytes in memory, the rest in a temporary file in the folder dir.
func newSorter(dir string, most int) *sorter { return &sorter{dir: dir, most: most} }

func (s *sorter) add(key uint64, data []byte) error {
	switch {
	case s.records == nil: // in full size: slices that grow need the old memory and the new at once
		s.records, s.data = make([]record, 0, s.most/2/recordSize), make([]byte, 0, s.most/2)
	case len(s.records) > 0 && (len(s.records) >= cap(s.records) || len(s.data)+len(data) > cap(s.data)):
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.records = append(s.records, record{key, uint32(len(s.data)), uint32(len(s.data) + len(data))})
	s.data = append(s.data, data...)
	return nil
}

func (s *sorter) sort() {
	slices.SortFunc(s.records, func(a, b record) int {
		if c := cmp.Compare(a.key, b.key); c != 0 { // compared first and alone: most of an export's time goes here
			return c
		}
		return cmp.Compare(a.from, b.from)
	})
}

// nameless makes a temporary file without a name. It disappears when it is closed, even by the end of the process.
func nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "sort")
	if err == nil {
		os.Remove(f.Name())
	}
	return f, err
}

// spill sorts the records in memory and appends them to the file as a run.
func (s *sorter) spill() error {
	if s.f == nil {
		var err error
		if s.f, err = nameless(s.dir); err != nil {
			return err
		}
	}
	s.sort()
	w := bufio.NewWriterSize(s.f, 1<<16)
	r := fileRange{from: s.to}
	for _, x := range s.records {
		var head [8 + binary.MaxVarintLen64]byte
		binary.LittleEndian.PutUint64(head[:], x.key)
		n := 8 + binary.PutUvarint(head[8:], uint64(x.to-x.from))
		w.Write(head[:n])
		w.Write(s.data[x.from:x.to])
		s.to += int64(n) + int64(x.to-x.from)
	}
	r.to = s.to
	s.runs = append(s.runs, r)
	s.records, s.data = s.records[:0], s.data[:0]
	return w.Flush()
}

// each calls f with all records in order; data is valid only during the call. The sorter is empty afterwards.
func (s *sorter) each(f func(key uint64, data []byte) error) error {
	if s.f == nil {
		s.sort()
		for _, x := range s.records {
			if err := f(x.key, s.data[x.from:x.to]); err != nil {
				return err
			}
		}
		s.records, s.data = nil, nil
		return nil
	}
	defer s.f.Close()
	if err := s.spill(); err != nil {
		return err
	}
	s.records, s.data = nil, nil
	var m merge[*cursor]
	ahead := min(max(s.most/len(s.runs), 1<<12), 1<<16) // bytes that are read at once from each run
	for i, r := range s.runs {
		if err := m.add(&cursor{order: i, r: bufio.NewReaderSize(io.NewSectionReader(s.f, r.from, r.to-r.from), ahead)}); err != nil {
			return err
		}
	}
	for len(m) > 0 {
		if err := f(m[0].key, m[0].data); err != nil {
			return err
		}
		if err := m.step(); err != nil {
			return err
		}
	}
	return nil
}

// A cursor is the current record of a run, while runs are merged. order is the run's index.
type cursor struct {
	order int
	r     *bufio.Reader
	key   uint64
	data  []byte
}

func (c *cursor) advance() (more bool, err error) {
	var key [8]byte
	if _, err := io.ReadFull(c.r, key[:]); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	n, err := binary.ReadUvarint(c.r)
	if err != nil {
		return false, err
	}
	c.key, c.data = binary.LittleEndian.Uint64(key[:]), slices.Grow(c.data[:0], int(n))[:n]
	_, err = io.ReadFull(c.r, c.data)
	return true, err
}

func (c *cursor) before(o *cursor) bool { return c.key < o.key || c.key == o.key && c.order < o.order }

// A message is the two ends of one message.
type message struct{ from, to messageEnd }

// A messageEnd is a message's send or receive: when the program called (logical) and when the data moved (physical).
type messageEnd struct {
	side              byte
	thread            int
	logical, physical int64
	bytes             uint64
	tag               int64
}

// Values of messageEnd.side.
const (
	sent     = 0
	received = 1
)

// key is when a message was sent, in ns; messages are sorted by it.
func (m *message) key() uint64 { return uint64(max(0, m.from.logical)) }

func (e *messageEnd) append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, e.side), uint64(e.thread))
	b = binary.AppendVarint(b, e.logical)
	b = binary.AppendVarint(b, e.physical-e.logical)
	b = binary.AppendUvarint(b, e.bytes)
	return binary.AppendVarint(b, e.tag)
}

func (f *fields) end() (e messageEnd) {
	e.side, *f = (*f)[0], (*f)[1:]
	e.thread, e.logical = int(f.unsigned()), f.signed()
	e.physical = e.logical + f.signed()
	e.bytes, e.tag = f.unsigned(), f.signed()
	return e
}

func (m *message) append(b []byte) []byte { return m.to.append(m.from.append(b)) }

// fields are encoded numbers in a row, which unsigned and signed take off one by one.
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
