package smpi

import "os"

// A patched is a file that is written in order, but for lines that are filled in later. The first
// error stays.
type patched struct {
	f    *os.File
	from int64 // where the buffer belongs
	buf  []byte
	err  error
}

const bufferSize = 1 << 18

func newPatched(f *os.File) *patched { return &patched{f: f, buf: make([]byte, 0, bufferSize)} }

func (p *patched) position() int64 { return p.from + int64(len(p.buf)) }

func (p *patched) add(b []byte) {
	if len(p.buf)+len(b) > bufferSize {
		p.flush()
	}
	p.buf = append(p.buf, b...)
}

func (p *patched) flush() {
	if p.err == nil {
		_, p.err = p.f.Write(p.buf)
	}
	p.from += int64(len(p.buf))
	p.buf = p.buf[:0]
}

// patch replaces what was added at a position. It lies in the buffer or in the file, since nothing
// is split between the two.
func (p *patched) patch(at int64, b []byte) {
	if at >= p.from {
		copy(p.buf[at-p.from:], b)
		return
	}
	if p.err == nil {
		_, p.err = p.f.WriteAt(b, at)
	}
}

func (p *patched) close() error {
	p.flush()
	if err := p.f.Close(); p.err == nil {
		p.err = err
	}
	return p.err
}
