package otf2

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Chunks have a fixed size and are filled up with zeros, but for the last one of a file:
//
//	chunk     = 3 'B' (byte order: little) first last record…
//	first     = u64, number of the chunk's first record, counted from 1 over the file; last: that of its last
//	timestamp = 5 u64; holds for all events up to the next. A new chunk repeats it
//	record    = id length data; the oldest kinds, whose data is one number, have no length:
//	            Enter, Leave, and records that only name a request
//	length    = u8, or 255 u64
//	end       = after the last record: 0 if another chunk follows; else 2 (end of the file) 1 (end of the buffer)
//
// Integers of more than a byte are the number of bytes that follow, and those bytes, the lowest
// first, without leading zeros; 0 and all ones are that byte alone.
const (
	longestTime  = 9
	eventChunk   = 1 << 20
	defChunk     = 4 << 20
	largestChunk = 16 << 20
)

// A file is an output file, written chunk by chunk.
type file struct {
	f       *os.File
	w       *bufio.Writer
	size    int
	chunk   []byte
	record  []byte // the current record
	records uint64
	first   uint64 // number of the chunk's first record
	timed   bool   // records have times
	time    uint64
	stamped bool // the chunk has a timestamp
}

func create(path string, size int, timed bool) (*file, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	x := &file{f: f, w: bufio.NewWriter(f), size: size, timed: timed}
	x.begin()
	return x, nil
}

// begin starts a chunk.
func (x *file) begin() {
	x.chunk = append(x.chunk[:0], BufferChunkHeader, LittleEndian)
	x.chunk = append(x.chunk, make([]byte, ChunkHeaderBytes-2)...)
	x.first, x.stamped = x.records+1, false
}

// finish completes the head of a chunk.
func (x *file) finish() {
	binary.LittleEndian.PutUint64(x.chunk[2:], x.first)
	binary.LittleEndian.PutUint64(x.chunk[10:], x.records)
}

// write appends the record to the file, preceded by a timestamp for an event.
func (x *file) write(time uint64) error {
	if len(x.chunk)+len(x.record)+longestTime+2 > x.size {
		x.finish()
		if _, err := x.w.Write(x.chunk); err != nil {
			return err
		}
		if _, err := x.w.Write(make([]byte, x.size-len(x.chunk))); err != nil {
			return err
		}
		x.begin()
	}
	if x.timed && (!x.stamped || time != x.time) {
		x.chunk = binary.LittleEndian.AppendUint64(append(x.chunk, BufferTimestamp), time)
		x.time, x.stamped = time, true
	}
	x.chunk = append(x.chunk, x.record...)
	x.records++
	return nil
}

func (x *file) close() error {
	x.finish()
	x.chunk = append(x.chunk, BufferEndOfFile, BufferEndOfBuffer)
	_, err := x.w.Write(x.chunk)
	if err == nil {
		err = x.w.Flush()
	}
	if failed := x.f.Close(); err == nil {
		err = failed
	}
	return err
}

// start begins a record with a length.
func (x *file) start(id byte) { x.record = append(x.record[:0], id, 0) }

// end writes a record that start began.
func (x *file) end(time uint64) error {
	x.measure(0)
	return x.write(time)
}

// A field is one value of a record: uint8 (one byte), uint32, uint64, int (must fit into 32 bits), a list of uint64,
// or a text.
type field any

// add writes a record of fields with a length.
func (x *file) add(time uint64, id byte, fields ...field) error {
	x.start(id)
	for _, v := range fields {
		switch v := v.(type) {
		case uint8:
			x.u8(v)
		case uint32:
			x.u32(v)
		case int:
			x.u32(uint32(v))
		case uint64:
			x.u64(v)
		case []uint64:
			x.u32(uint32(len(v)))
			for _, n := range v {
				x.u64(n)
			}
		case string:
			x.text(v)
		default:
			panic(fmt.Sprintf("otf2: no field is a %T", v))
		}
	}
	return x.end(time)
}

// event writes an event in the layout of its record kind.
func (x *file) event(time uint64, id byte, fields ...field) error {
	x.start(id)
	layout := RecordLayouts[id].Layout
	bare := strings.HasPrefix(layout, "-")
	if bare {
		x.record, layout = x.record[:1], layout[1:]
	}
	if len(fields) != len(layout) {
		panic(fmt.Sprintf("otf2: %d fields in a record %s", len(fields), RecordName(id)))
	}
	for i, v := range fields {
		n := uint64(0)
		switch v := v.(type) {
		case uint8:
			n = uint64(v)
		case uint32:
			n = uint64(v)
		case int:
			n = uint64(uint32(v))
		case uint64:
			n = v
		default:
			panic(fmt.Sprintf("otf2: no field is a %T", v))
		}
		switch layout[i] {
		case 'b':
			x.u8(byte(n))
		case 'q', 'i':
			x.u64(n)
		default:
			x.u32(uint32(n))
		}
	}
	if bare {
		return x.write(time)
	}
	return x.end(time)
}

// measure sets the length of the part of the record at index at, which begins with an id and a length byte.
func (x *file) measure(at int) {
	n := len(x.record) - at - 2
	if n < 255 {
		x.record[at+1] = byte(n)
		return
	}
	x.record = append(x.record, make([]byte, 8)...)
	copy(x.record[at+10:], x.record[at+2:at+2+n])
	x.record[at+1] = 255
	binary.LittleEndian.PutUint64(x.record[at+2:], uint64(n))
}

func (x *file) u8(v byte) { x.record = append(x.record, v) }

func (x *file) u32(v uint32) {
	if v == UndefinedRef {
		x.u8(255)
		return
	}
	x.number(uint64(v))
}

func (x *file) u64(v uint64) {
	if v == 1<<64-1 {
		x.u8(255)
		return
	}
	x.number(v)
}

// number writes an integer other than all ones.
func (x *file) number(v uint64) {
	at := len(x.record)
	x.u8(0)
	for ; v != 0; v >>= 8 {
		x.u8(byte(v))
	}
	x.record[at] = byte(len(x.record) - at - 1)
}

func (x *file) text(s string) { x.record = append(append(x.record, s...), 0) }

// A chunked is an input file, read chunk by chunk.
type chunked struct {
	byteReader
	f     *os.File
	name  string
	size  int64 // bytes of a chunk
	base  int64 // offset of the chunk
	end   int64 // size of the file
	buf   []byte
	ended bool
}

func openChunked(path string, size int64) (*chunked, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	c := &chunked{f: f, name: path, size: size, end: info.Size()}
	c.buf = make([]byte, min(size, c.end))
	if err := c.load(); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

func (c *chunked) close() error { return c.f.Close() }

// load reads the chunk at base.
func (c *chunked) load() error {
	n := min(c.size, c.end-c.base)
	if n < ChunkHeaderBytes {
		return fmt.Errorf("%s: byte %d: a chunk is missing", c.name, c.base)
	}
	b := c.buf[:n]
	if _, err := c.f.ReadAt(b, c.base); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if b[0] != BufferChunkHeader {
		return fmt.Errorf("%s: byte %d: no chunk begins here (%#x)", c.name, c.base, b[0])
	}
	order, err := orderOf(b[1])
	if err != nil {
		return fmt.Errorf("%s: byte %d: %w", c.name, c.base+1, err)
	}
	c.byteReader = byteReader{b: b, at: ChunkHeaderBytes, order: order}
	return nil
}

// next returns the id of the next record; false at the end of the file.
func (c *chunked) next() (id byte, ok bool, err error) {
	for !c.ended {
		if c.at == len(c.b) {
			if c.base+int64(len(c.b)) >= c.end {
				return 0, false, c.wrong(errShort)
			}
			id = BufferEndOfChunk
		} else {
			id = c.u8()
		}
		switch id {
		case BufferEndOfChunk:
			c.base += c.size
			if err := c.load(); err != nil {
				return 0, false, err
			}
		case BufferEndOfBuffer, BufferEndOfFile:
			c.ended = true
		default:
			return id, true, nil
		}
	}
	return 0, false, nil
}

// wrong adds file and offset to an error.
func (c *chunked) wrong(err error) error {
	return fmt.Errorf("%s: byte %d: %w", c.name, c.base+int64(c.at), err)
}
