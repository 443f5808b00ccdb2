package convert

import (
	"io"
	"strconv"
)

// A printer writes steps and messages as lines of the .prv file, in the order of time. At equal times, states precede
// events, and events precede messages.
type printer struct {
	out    io.Writer
	steps  merge[*position]
	s      *paraverSteps
	text   []byte // lines not yet written to out
	at     int64
	events []byte // event lines at time at; they go after its state lines
	marks  []TimeMark
	marked int // number of marks already printed
}

// The first field of a line in a .prv file: what the line is.
const (
	stateLine   = "1:"
	eventLine   = "2:"
	messageLine = "3:"
)

// inText is the number of bytes of lines that are collected before they are written.
const inText = 1 << 14

// until prints all steps that begin at a time (in ns) or before it.
func (p *printer) until(ns int64) error {
	for len(p.steps) > 0 && p.steps[0].at <= ns {
		c := p.steps[0]
		if c.at != p.at {
			p.moment()
			// A mark becomes an event of the first thread, as Paraver has no events without thread.
			for ; p.marked < len(p.marks) && p.marks[p.marked].Ns <= c.at; p.marked++ {
				b := append(append(p.text, eventLine...), p.s.timelines[0].name...)
				p.text = append(field(field(field(b, p.marks[p.marked].Ns), finding), int64(p.marked+1)), '\n')
			}
			p.at = c.at
		}
		if len(c.digits) == 0 {
			c.digits = strconv.AppendInt(c.digits, c.at, 10)
		}
		if c.event != nil {
			b := append(append(append(p.events, eventLine...), c.name...), ':')
			p.events = append(append(append(b, c.digits...), c.event...), '\n')
		}
		if c.until != c.at {
			b := append(append(append(p.text, stateLine...), c.name...), ':')
			b = append(append(b, c.digits...), ':')
			c.digits = strconv.AppendInt(c.digits[:0], c.until, 10)
			b = append(b, c.digits...)
			p.text = append(field(b, int64(c.state)), '\n')
		}
		if err := p.steps.step(); err != nil {
			return err
		}
		if err := p.write(); err != nil {
			return err
		}
	}
	return nil
}

// message prints a message after all steps up to its send.
func (p *printer) message(_ uint64, data []byte) error {
	f := fields(data)
	from, to := f.end(), f.end()
	if err := p.until(from.logical); err != nil {
		return err
	}
	p.moment()
	b := append(append(p.text, messageLine...), p.s.timelines[from.thread].name...)
	b = field(field(b, from.logical), from.physical)
	b = append(append(b, ':'), p.s.timelines[to.thread].name...)
	b = field(field(b, to.logical), to.physical)
	p.text = append(field(field(b, int64(from.bytes)), from.tag), '\n')
	return p.write()
}

// moment prints the event lines of the time p.at, after its last state line.
func (p *printer) moment() {
	p.text = append(p.text, p.events...)
	p.events = p.events[:0]
}

// write writes the collected lines to out if they are at least inText bytes.
func (p *printer) write() error {
	if len(p.text) < inText {
		return nil
	}
	return p.flush()
}

func (p *printer) flush() error {
	_, err := p.out.Write(p.text)
	p.text = p.text[:0]
	return err
}

func field(b []byte, n int64) []byte { return strconv.AppendInt(append(b, ':'), n, 10) }
