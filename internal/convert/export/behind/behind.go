// Package behind writes a file beside what makes its contents: another goroutine passes them on to the
// operating system, which takes a third of the time of a large export.
package behind

import (
	"io"
	"sync/atomic"
)

// A Writer hands on what is written in large pieces. Close it, for all to be written.
type Writer struct {
	out   io.Writer
	piece []byte
	full  chan []byte
	empty chan []byte
	done  chan struct{}
	err   atomic.Pointer[error] // the first one
}

const (
	size   = 1 << 17
	pieces = 4 // that are filled, waiting or being written
)

// New begins to write.
func New(out io.Writer) *Writer {
	w := &Writer{out: out, piece: make([]byte, 0, size), full: make(chan []byte, pieces), empty: make(chan []byte, pieces), done: make(chan struct{})}
	for range pieces - 1 {
		w.empty <- make([]byte, 0, size)
	}
	go w.passes()
	return w
}

// passes passes pieces on until there are no more; after an error they only come back.
func (w *Writer) passes() {
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

func (w *Writer) failed() error {
	if err := w.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Write takes what is to be written. An error may be that of an earlier piece.
func (w *Writer) Write(b []byte) (n int, err error) {
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
func (w *Writer) Close() error {
	w.full <- w.piece
	close(w.full)
	<-w.done
	return w.failed()
}
