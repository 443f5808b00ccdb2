package objects

import (
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A history is all that one name stood for.
type history struct {
	makers    []maker
	total     uint64 // how often they ran
	state     state
	positions []binding // if ambiguous, by stream and index
}

// A maker is a terminal that made objects of the name.
type maker struct {
	stream int
	call   *trace.Call
}

type binding struct {
	stream int
	index  uint64
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
	default:
		if h.total > 1 {
			return true
		}
	}
	found := false
	uses(h.makers[0].call, func(k key) { found = found || x.ambiguous(k) })
	return found
}

// locate finds where the objects of a name were made.
func (x *Rank) locate(h *history) {
	if h.total > maxBindings {
		h.state = lost
		return
	}
	calls := make(map[int]*trace.Call)
	for _, m := range h.makers {
		calls[m.call.Terminal] = m.call
	}
	for stream := range x.counts {
		here := slices.ContainsFunc(h.makers, func(m maker) bool { return m.stream == stream })
		if !here {
			continue
		}
		o := x.k.Occurrences(stream, func(t int) bool { return calls[t] != nil })
		for index, t := range o.All() {
			h.positions = append(h.positions, binding{stream, index, calls[t]})
		}
	}
}

// at returns the making of what a name means at a position.
func (x *Rank) at(name key, stream int, index uint64) (binding, bool) {
	h := x.made[name]
	if h == nil || h.state == lost {
		return binding{}, false
	}
	if h.state != ambiguous {
		m := h.makers[len(h.makers)-1]
		return binding{stream: m.stream, call: m.call}, true
	}
	found := h.positions[0]
	for first := range slices.Values(spans(h.positions)) {
		// Of the thread's own, the last one before; of another's, the last.
		list := first
		if list[0].stream == stream {
			n, exact := slices.BinarySearchFunc(list, index, func(b binding, i uint64) int {
				switch {
				case b.index < i:
					return -1
				case b.index > i:
					return 1
				}
				return 0
			})
			if exact {
				n++
			}
			if n > 0 {
				found = list[n-1]
			}
			continue
		}
		found = list[len(list)-1]
	}
	return found, true
}

// spans splits positions by stream.
func spans(list []binding) [][]binding {
	var out [][]binding
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].stream == list[0].stream {
			n++
		}
		out = append(out, list[:n])
		list = list[n:]
	}
	return out
}
