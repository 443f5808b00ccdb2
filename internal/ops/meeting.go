package ops

import (
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Meeting is a rank's part in a collective call. All members of a communicator, or all who share a window or
// a file, make the same ones in the same order, whatever comes of them.
type Meeting struct {
	Comm   *handles.Comm // nil: not all members have to make the call, or it isn't known who they are
	Window *Window       // what they share; nil: the communicator alone
	File   *File
	Self   int    // the rank's own number in Comm, -1: not known
	Nth    uint64 // so many calls the rank made before in the same circle
}

// A Circle tells apart who makes collective calls in one order.
type Circle struct {
	Comm   int // as handles.Comm.Key
	Object int // 0: the communicator itself; else a window (odd) or file (even)
}

// Circle returns that of a meeting.
func (m *Meeting) Circle() Circle {
	switch {
	case m.Window != nil:
		return Circle{m.Comm.Key(), 2*m.Window.Number + 1}
	case m.File != nil:
		return Circle{m.Comm.Key(), 2*m.File.Number + 2}
	}
	return Circle{m.Comm.Key(), 0}
}

// meetsOn returns which parameter says who has to make the calls of a function, -1 if none does: it isn't
// collective, or among those alone who know a tag.
func meetsOn(c *trace.Call) int {
	if !c.Func.Has(trace.Collective) {
		return -1
	}
	on := -1
	for i := range c.Params {
		switch p := &c.Params[i]; p.Kind() {
		case "tag":
			return -1
		case "comm", "win", "file":
			if on < 0 && p.In.Type == trace.Handle {
				on = i
			}
		}
	}
	return on
}

// Members returns the communicator whose members have to make a call that stands at a position, nil if that
// are not all of one, or it isn't known.
func (a *Account) Members(c *trace.Call, stream int, index uint64) *handles.Comm {
	if meetsOn(c) < 0 {
		return nil
	}
	return a.x.CommOf(c, stream, index)
}

// meets says which meeting a call is part of.
func (p *process) meets(q *plan, c *Call) {
	on := &c.Params[q.on]
	m := &c.Met
	switch on.Kind() {
	case "comm":
		m.Comm = q.comm
	case "win":
		if w := p.windows[on.In.Num]; w != nil {
			m.Comm, m.Window = w.Comm, w.Window
		}
	case "file":
		if f := p.files[on.In.Num]; f != nil {
			m.Comm, m.File = f.Comm, f
		}
	}
	if m.Comm == nil {
		return
	}
	if m.Comm != p.own.of {
		p.own.of, p.own.rank = m.Comm, m.Comm.RankOf(p.k.Number())
	}
	m.Self = p.own.rank
	n := q.count
	if n == nil {
		if n = p.met[m.Circle()]; n == nil {
			n = new(uint64)
			p.met[m.Circle()] = n
		}
		if m.Window == nil && m.File == nil {
			q.count = n
		}
	}
	m.Nth = *n
	*n++
}
