package reduce

import (
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// stream processes the calls of one thread.
func (c *rankCutter) stream(stream int) error {
	spans := c.spans[c.k.Number()][stream]
	objects := c.k.Occurrences(stream, func(t int) bool { return c.objects[t] })
	r := newRequests(c.k, stream, spans)
	at, last := uint64(0), c.begin // the current position and time
	for _, s := range spans {
		if err := c.stay(stream, objects, at, s.First, last); err != nil {
			return err
		}
		end, err := c.span(stream, s, r, at > 0 && s != spans[0], last)
		if err != nil {
			return err
		}
		at, last = s.End, max(end, last)
	}
	if len(spans) == 0 {
		// A thread outside of the window may make objects that other threads use.
		return c.stay(stream, objects, 0, c.k.CallCount(stream), last)
	}
	return nil
}

// stay keeps the calls between two positions that make or free objects. They all begin and end at time when.
func (c *rankCutter) stay(stream int, objects *trace.Occurrences, from, to uint64, when int64) error {
	for n := objects.CountBefore(from); n < objects.Total(); n++ {
		at, terminal := objects.Nth(n)
		if at >= to {
			break
		}
		call := c.k.CallWithoutParams(terminal)
		number, err := c.out.AddCall(stream, call.Func.ID, c.sites[terminal], c.values(stream, terminal, at))
		if err != nil {
			return err
		}
		c.part.ContextCalls++
		c.handovers.keep(stream, at)
		c.note(stream, number, when, when)
	}
	return nil
}

// values returns the values of the call at a position.
func (c *rankCutter) values(stream, terminal int, at uint64) []int64 {
	if c.k.Lane(terminal) == nil && !c.k.DependsOnEarlierCalls(terminal) {
		return c.k.Signature(terminal)
	}
	for _, vals := range c.k.SignaturesFrom(stream, at) {
		return slices.Clone(vals)
	}
	return nil
}

func (c *rankCutter) note(stream int, number uint32, start, end int64) {
	if stream == 0 {
		c.count++
	}
	if c.timed {
		c.out.SetLastCallTimes(stream, number, uint64(max(start, 0)), uint64(max(end, start, 0)))
	}
}

// aside adds ns before the thread's next call that were not the program's: tracing was switched off or, without off,
// the recorder took them.
func (c *rankCutter) aside(stream int, ns int64, off bool) {
	if stream == 0 && ns > 0 {
		c.asides = append(c.asides, track.Aside{BeforeCall: c.count, Ns: ns, TracingOff: off})
	}
}

// span keeps the calls of a span. If again is set, another span of the stream precedes it, and ended at time last.
func (c *rankCutter) span(stream int, s ops.CallRange, r *requests, again bool, last int64) (end int64, err error) {
	next, stop := iter.Pull2(c.timings(c.k, stream, s.First))
	defer stop()
	// By terminal: 1 + number in the part if all of its calls have the same values there; 0: not known, or values differ.
	known := make([]uint32, c.k.Terminals())
	called := make([]*trace.Call, c.k.Terminals())
	at := s.First
	for terminal, vals := range c.k.SignaturesFrom(stream, s.First) {
		if at >= s.End {
			break
		}
		c.handovers.keep(stream, at)
		if called[terminal] == nil {
			called[terminal] = c.k.CallWithoutParams(terminal)
		}
		number := known[terminal] - 1
		moved := r.moves(terminal)
		if known[terminal] == 0 || !c.out.RepeatCall(stream, number) {
			vals = slices.Clone(vals)
			if moved {
				r.renumber(terminal, at, vals)
			}
			if c.ch != nil {
				c.ch.EditValues(c.k, terminal, vals)
			}
			if number, err = c.out.AddCall(stream, called[terminal].Func.ID, c.sites[terminal], vals); err != nil {
				return 0, err
			}
			if !moved && c.k.Lane(terminal) == nil {
				known[terminal] = number + 1
			}
		}
		if c.timed {
			t, err, _ := next()
			if err != nil {
				return 0, err
			}
			start := t.StartNs - c.zero
			if at == s.First {
				if again {
					c.aside(stream, start-last, true)
					c.out.AddAside(stream, uint64(max(start-last, 0)))
				}
			} else {
				c.aside(stream, int64(t.Timing.TracingOffNs), true)
				c.aside(stream, int64(t.Timing.RecorderNs), false)
				c.out.AddAside(stream, t.Timing.TracingOffNs+t.Timing.RecorderNs)
			}
			end = t.EndNs() - c.zero
			c.note(stream, number, start, end)
		} else {
			c.note(stream, number, 0, 0)
		}
		at++
	}
	return end, nil
}
