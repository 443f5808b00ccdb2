package otf2

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A chunked file is read chunk by chunk.
type chunked struct {
	reading
	f     *os.File
	name  string
	size  int64 // of a chunk
	base  int64 // where the chunk begins
	end   int64 // of the file
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
	if n < ChunkHead {
		return fmt.Errorf("%s: byte %d: a chunk is missing", c.name, c.base)
	}
	b := c.buf[:n]
	if _, err := c.f.ReadAt(b, c.base); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if b[0] != BeginChunk {
		return fmt.Errorf("%s: byte %d: no chunk begins here (%#x)", c.name, c.base, b[0])
	}
	order, err := orderOf(b[1])
	if err != nil {
		return fmt.Errorf("%s: byte %d: %w", c.name, c.base+1, err)
	}
	c.reading = reading{b: b, at: ChunkHead, order: order}
	return nil
}

// next returns the id of the next record; false at the end of the file.
func (c *chunked) next() (id byte, ok bool, err error) {
	for !c.ended {
		if c.at == len(c.b) {
			if c.base+int64(len(c.b)) >= c.end {
				return 0, false, c.wrong(errShort)
			}
			id = EndChunk
		} else {
			id = c.u8()
		}
		switch id {
		case EndChunk:
			c.base += c.size
			if err := c.load(); err != nil {
				return 0, false, err
			}
		case EndBuffer, EndFile:
			c.ended = true
		default:
			return id, true, nil
		}
	}
	return 0, false, nil
}

// wrong says where an error was found.
func (c *chunked) wrong(err error) error {
	return fmt.Errorf("%s: byte %d: %w", c.name, c.base+int64(c.at), err)
}
