package rsd

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// An Event is the calls of all ranks to a function from one call site: an RSD.
type Event struct {
	Func  *trace.Function
	Site  trace.Site
	Ranks []int
	Calls stats.NumberDistribution // distribution of the ranks' numbers of calls
	Slots []*Slot
	// Merged are the merged message sizes of a reduced trace: the least and largest size that each replaces.
	Merged []reduce.MergedSize
	Drawn  *trace.SyntheticMessages // synthetic messages of a reduced trace; nil: none

	slots map[string]*Slot
	size  int
}

// A context identifies calls that form one event.
type context struct {
	function uint16
	site     trace.Site
}

func newEvent(c *trace.Call, size int) *Event {
	return &Event{Func: c.Func, Site: c.Site, slots: make(map[string]*Slot), size: size}
}

// add adds count calls of a terminal.
func (e *Event) add(k *trace.Rank, terminal int, count uint64, marks *reduce.SizeMarks) error {
	c, err := k.Terminal(terminal)
	if err != nil {
		return err
	}
	list := valuesOf(c)
	low, high := list, list
	if k.Lane(terminal) != nil {
		least, most, err := k.BoundingCalls(terminal)
		if err != nil {
			return err
		}
		low, high = valuesOf(least), valuesOf(most)
	}
	at := 0 // index in Slots after the slot of the previous value
	for i := range list {
		v := &list[i]
		s := e.slots[v.name]
		if s == nil {
			s = &Slot{Name: v.name, part: v.part, kind: v.kind}
			e.slots[v.name] = s
			e.Slots = slices.Insert(e.Slots, at, s)
			at++
		} else {
			at = slices.Index(e.Slots, s) + 1
		}
		if l, h := &low[i], &high[i]; l.num && h.num && l.v != h.v {
			s.between(l.v, h.v, count, k.Number())
			continue
		}
		s.take(v, count, k.Number())
	}
	for _, m := range marks.MergedSizesOf(c) {
		e.mark(m)
	}
	if e.Drawn == nil {
		e.Drawn = marks.SyntheticMessage(c)
	}
	return nil
}

// mark records the original sizes of a parameter.
func (e *Event) mark(m reduce.MergedSize) {
	for i := range e.Merged {
		if x := &e.Merged[i]; x.Param == m.Param {
			x.Low, x.High = min(x.Low, m.Low), max(x.High, m.High)
			return
		}
	}
	e.Merged = append(e.Merged, m)
}

// called records a rank's number of calls; ranks come in rising order.
func (e *Event) called(rank int, count uint64) {
	e.Ranks = append(e.Ranks, rank)
	e.Calls.Add(int64(count), 1, rank)
}

func (e *Event) end() {
	for _, s := range e.Slots {
		s.fit(e.size)
	}
}
