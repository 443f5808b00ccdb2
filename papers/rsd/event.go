package rsd

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// An Event is the calls of all ranks to one function from one call site: a regular section descriptor (RSD).
type Event struct {
	Func         *trace.Function
	Site         trace.Site
	Ranks        []int
	CallsPerRank stats.NumberDistribution // over the ranks: the number of these calls of each
	Slots        []*Slot
	// Merged is for a reduced trace, in which one message size replaces several. By parameter, it has the least and
	// largest of the replaced sizes.
	Merged []reduce.MergedSize
	Drawn  *trace.SyntheticMessages // in a reduced trace: how its messages were drawn; nil: they were recorded

	slots map[string]*Slot
	size  int
}

// A context is the function and call site that the calls of an event have in common.
type context struct {
	function uint16
	site     trace.Site
}

func newEvent(c *trace.Call, size int) *Event {
	return &Event{Func: c.Func, Site: c.Site, slots: make(map[string]*Slot), size: size}
}

// add adds to the event count calls of a terminal of rank k.
func (e *Event) add(k *trace.Rank, terminal int, count uint64, marks *reduce.CallReductions) error {
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
	at := 0 // where a new slot is inserted in e.Slots: after that of the call's previous value
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

// mark adds the range of original message sizes of a parameter to e.Merged.
func (e *Event) mark(m reduce.MergedSize) {
	for i := range e.Merged {
		if x := &e.Merged[i]; x.Param == m.Param {
			x.Low, x.High = min(x.Low, m.Low), max(x.High, m.High)
			return
		}
	}
	e.Merged = append(e.Merged, m)
}

// called stores how many of the event's calls a rank makes. It must be called in rising order of ranks.
func (e *Event) called(rank int, count uint64) {
	e.Ranks = append(e.Ranks, rank)
	e.CallsPerRank.Add(int64(count), 1, rank)
}

func (e *Event) end() {
	for _, s := range e.Slots {
		s.fit(e.size)
	}
}
