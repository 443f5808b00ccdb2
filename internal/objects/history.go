package objects

import (
	"github.com/spoor-hpc/spoor/internal/naming"
	"github.com/spoor-hpc/spoor/trace"
)

// A history is all that one name stood for.
type history struct {
	makers    []maker
	total     uint64 // how often they ran
	state     state
	positions naming.History[*trace.Call] // if ambiguous
}

// A maker is a terminal that made objects of the name.
type maker struct {
	stream int
	call   *trace.Call
}

type state uint8

const (
	unseen    state = iota
	plain           // the name always means the same
	ambiguous       // it depends on the position
	lost            // and there are too many of those
)

// ambiguous reports whether what a name means depends on the position.
func (x *Rank) ambiguous(name key) bool {
	h := x.made[name]
	if h == nil {
		return false
	}
	if h.state == unseen {
		h.state = plain // meanwhile, to break circles, which no real trace has
		if x.changes(name, h) {
			h.state = ambiguous
		}
	}
	return h.state == ambiguous
}

func (x *Rank) changes(name key, h *history) bool {
	switch name.kind {
	case datatype:
		for _, m := range h.makers {
			if m.call.NewType.Size != h.makers[0].call.NewType.Size {
				return true
			}
		}
		return false
	case request:
		for _, m := range h.makers {
			if m.call != h.makers[0].call {
				return true
			}
		}
	case file: // of which nobody asks but for the communicator
		for _, m := range h.makers {
			if m.call.Param("comm") == nil || h.makers[0].call.Param("comm") == nil ||
				m.call.Param("comm").In.Num != h.makers[0].call.Param("comm").In.Num {
				return true
			}
		}
	default:
		if h.total > 1 {
			return true
		}
	}
	found := false
	uses(h.makers[0].call, func(k key) { found = found || x.ambiguous(k) })
	return found
}

// locate finds where the objects of names were made, in one pass for all of them.
func (x *Rank) locate(names ...*history) {
	calls := make(map[int]*trace.Call)
	of := make(map[int]*history) // by terminal
	for _, h := range names {
		if h.total > maxBindings {
			h.state = lost
			continue
		}
		for _, m := range h.makers {
			calls[m.call.Terminal], of[m.call.Terminal] = m.call, h
		}
	}
	for stream := range x.counts {
		for index, t := range x.k.Occurrences(stream, func(t int) bool { return of[t] != nil }).All() {
			of[t].positions = append(of[t].positions, naming.Binding[*trace.Call]{Stream: stream, Index: index, To: calls[t]})
		}
	}
}

// at returns the making of what a name means at a position.
func (x *Rank) at(name key, stream int, index uint64) (Making, bool) {
	h := x.made[name]
	if h == nil || h.state == lost {
		return Making{}, false
	}
	if h.state != ambiguous {
		m := h.makers[len(h.makers)-1]
		return Making{Call: m.call, Stream: m.stream}, true
	}
	b, ok := h.positions.At(stream, index)
	return Making{b.To, b.Stream, b.Index}, ok
}
