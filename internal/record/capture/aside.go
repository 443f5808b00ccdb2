package capture

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/track"
)

// An aside is time of a thread that belongs neither to its calls nor to the gaps between
// them: the recorder's and a plugin's, or, with off, while tracing was switched off.
type aside struct {
	call  uint64 // index of the thread's call that it precedes
	ticks uint64
	off   bool
}

// mostAsides is the largest number of asides of each kind. Above it neighbours are merged, at the position of the
// first. So the position of the thousandth drain is known to a thousandth of the run.
const mostAsides = 32

// asides are the asides of the first thread, in order.
type asides struct {
	list  []aside
	apart bool // asides with off set are never merged with their neighbours
}

func (a *asides) add(call, ticks uint64, off bool) {
	if ticks == 0 {
		return
	}
	n, same := len(a.list), 0
	for i := max(0, n-2); i < n; i++ {
		if x := &a.list[i]; x.call == call && x.off == off {
			x.ticks += ticks
			return
		}
	}
	a.list = append(a.list, aside{call, ticks, off})
	if off && a.apart {
		return
	}
	for i := range a.list {
		if a.list[i].off == off {
			same++
		}
	}
	if same > mostAsides {
		a.thin(off)
	}
}

// thin merges pairs of neighbours of a kind, except the first aside, which is the recorder's start.
func (a *asides) thin(off bool) {
	kept, open, first := a.list[:0], -1, true
	for _, x := range a.list {
		switch {
		case x.off != off:
			kept = append(kept, x)
		case first:
			first = false
			kept = append(kept, x)
		case open >= 0:
			kept[open].ticks += x.ticks
			open = -1
		default:
			open = len(kept)
			kept = append(kept, x)
		}
	}
	a.list = kept
}

// sum returns the total of all asides in ticks.
func (a *asides) sum() (ticks uint64) {
	for i := range a.list {
		ticks += a.list[i].ticks
	}
	return ticks
}

// spend adds an aside for time that a stream's gaps exclude. It was spent since the last call, outside of calls.
func (c *Capture) spend(s *stream, ticks uint64, off bool) {
	if s.thread == 0 && c.first != 0 && !c.timeless {
		c.asides.add(s.grammar.Len()+uint64(len(s.held)), ticks, off)
	}
}

// spent subtracts ticks from the gap before the stream's next call. A thread's first call has no gap.
func (s *stream) spent(ticks uint64) {
	if s.last != 0 {
		s.last += ticks
	}
}

// switched handles a record that tracing was switched on or off at ticks.
func (c *Capture) switched(s *stream, on bool, ticks uint64) {
	switch {
	case !on && s.off == 0:
		s.off = max(s.last, 1) // the time since the last call belongs to no gap either
	case on && s.off != 0:
		if s.last != 0 {
			c.spend(s, since(s.off, ticks), true)
		}
		s.off = 0
	}
	s.last = ticks
}

func (c *Capture) trackAsides() []track.Aside {
	var list []track.Aside
	for _, x := range c.asides.list {
		list = append(list, track.Aside{BeforeCall: x.call, Ns: int64(c.toNs(x.ticks)), TracingOff: x.off})
	}
	return list
}

func (a *asides) code(c *wire.Coder) {
	wire.CodeList(c, &a.list, 3, func(i int, x *aside) {
		wire.CodeUints(c, &x.call, &x.ticks)
		c.Bool(&x.off)
		c.RefuseIf(i > 0 && x.call < a.list[i-1].call, "asides out of order")
	})
}
