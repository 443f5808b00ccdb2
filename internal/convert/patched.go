package convert

import "os"

// A Patched file is written in order, but for lines that are filled in later, when it is known what
// they are to say: which message a receive got that takes any. The first error stays.
type Patched struct {
	f    *os.File
	from int64 // where the buffer belongs
	buf  []byte
	err  error
}

// Err is the first error.
func (p *Patched) Err() error { return p.err }

const bufferSize = 1 << 18

// NewPatched begins to write a file.
func NewPatched(f *os.File) *Patched { return &Patched{f: f, buf: make([]byte, 0, bufferSize)} }

// Position is where what is added next will stand.
func (p *Patched) Position() int64 { return p.from + int64(len(p.buf)) }

// Add writes what will be patched as a whole, or not at all.
func (p *Patched) Add(b []byte) {
	if len(p.buf)+len(b) > bufferSize {
		p.flush()
	}
	p.buf = append(p.buf, b...)
}

func (p *Patched) flush() {
	if p.err == nil {
		_, p.err = p.f.Write(p.buf)
	}
	p.from += int64(len(p.buf))
	p.buf = p.buf[:0]
}

// Patch replaces what was added at a position. It lies in the buffer or in the file, since nothing
// is split between the two.
func (p *Patched) Patch(at int64, b []byte) {
	if at >= p.from {
		copy(p.buf[at-p.from:], b)
		return
	}
	if p.err == nil {
		_, p.err = p.f.WriteAt(b, at)
	}
}

// Close ends the file.
func (p *Patched) Close() error {
	p.flush()
	if err := p.f.Close(); p.err == nil {
		p.err = err
	}
	return p.err
}
