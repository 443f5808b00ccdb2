package convert

import (
	"io"
	"os"
	"sync/atomic"
)

// BackgroundWriter writes a file in the background. Another goroutine passes large pieces on to the operating system, which saves
// a third of the time of a large export. Close waits for the rest.
type BackgroundWriter struct {
	out   io.Writer
	piece []byte
	full  chan []byte
	empty chan []byte
	done  chan struct{}
	err   atomic.Pointer[error] // the first error
}

const (
	size   = 1 << 17
	pieces = 4 // number of pieces, filled or empty
)

// NewBackgroundWriter starts the background writer.
func NewBackgroundWriter(out io.Writer) *BackgroundWriter {
	w := &BackgroundWriter{out: out, piece: make([]byte, 0, size), full: make(chan []byte, pieces), empty: make(chan []byte, pieces), done: make(chan struct{})}
	for range pieces - 1 {
		w.empty <- make([]byte, 0, size)
	}
	go w.passes()
	return w
}

// passes writes pieces until the channel is closed. After an error it only recycles them.
func (w *BackgroundWriter) passes() {
	for b := range w.full {
		if w.failed() == nil {
			if _, err := w.out.Write(b); err != nil {
				w.err.Store(&err)
			}
		}
		w.empty <- b[:0]
	}
	close(w.done)
}

func (w *BackgroundWriter) failed() error {
	if err := w.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Write buffers b. The error may be an earlier piece's.
func (w *BackgroundWriter) Write(b []byte) (n int, err error) {
	n = len(b)
	for len(w.piece)+len(b) >= size {
		room := size - len(w.piece)
		w.piece = append(w.piece, b[:room]...)
		b = b[room:]
		w.full <- w.piece
		w.piece = <-w.empty
		if err := w.failed(); err != nil {
			return 0, err
		}
	}
	w.piece = append(w.piece, b...)
	return n, nil
}

// Close waits until all is written.
func (w *BackgroundWriter) Close() error {
	w.full <- w.piece
	close(w.full)
	<-w.done
	return w.failed()
}

// A PatchedFile is a file that is written in order, except lines that are filled in when their content becomes known,
// such as the message of a wildcard receive. It keeps the first error.
type PatchedFile struct {
	f    *os.File
	from int64 // offset of the buffer in the file
	buf  []byte
	err  error
}

// Err is the first error.
func (p *PatchedFile) Err() error { return p.err }

const bufferSize = 1 << 18

// NewPatchedFile starts writing a file.
func NewPatchedFile(f *os.File) *PatchedFile {
	return &PatchedFile{f: f, buf: make([]byte, 0, bufferSize)}
}

// Position is the offset of the next Append.
func (p *PatchedFile) Position() int64 { return p.from + int64(len(p.buf)) }

// Append writes bytes that can be patched later. They are never split between buffer and file.
func (p *PatchedFile) Append(b []byte) {
	if len(p.buf)+len(b) > bufferSize {
		p.flush()
	}
	p.buf = append(p.buf, b...)
}

func (p *PatchedFile) flush() {
	if p.err == nil {
		_, p.err = p.f.Write(p.buf)
	}
	p.from += int64(len(p.buf))
	p.buf = p.buf[:0]
}

// Patch replaces bytes appended at a position, in the buffer or in the file.
func (p *PatchedFile) Patch(at int64, b []byte) {
	if at >= p.from {
		copy(p.buf[at-p.from:], b)
		return
	}
	if p.err == nil {
		_, p.err = p.f.WriteAt(b, at)
	}
}

// Close flushes the buffer.
func (p *PatchedFile) Close() error {
	p.flush()
	if err := p.f.Close(); p.err == nil {
		p.err = err
	}
	return p.err
}
