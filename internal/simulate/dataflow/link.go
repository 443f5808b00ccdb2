package dataflow

import (
	"cmp"
	"slices"
)

// link finds the channels of compiled programs, and lets ranks stand for others that do the same.
func (e *engine) link(programs []Program, alike bool) {
	all, some := true, false
	for r := range e.ranks {
		x := &e.ranks[r]
		x.number, x.of, x.like, x.program = int32(r), int32(r), int32(r), programs[r]
		switch p := programs[r].(type) {
		case nil:
		case *Thread:
			all, x.of, x.team = false, int32(p.Rank), e.team(int32(p.Rank))
		case *Compiled:
			x.visits, x.calls, x.mask, x.desc, some = p.Visits, p.Code.Calls, p.Code.Mask, p.Slots, true
		default:
			all = false
		}
	}
	if some {
		w := e.wire(programs)
		if alike && all {
			w.lump(e, programs)
		}
		w.connect(e, !all)
	}
	for r := len(e.ranks) - 1; r >= 0; r-- {
		if e.ranks[r].like == int32(r) {
			e.ready = append(e.ready, int32(r))
		}
	}
}

// A wire is a channel, with the slots that its ends know it by; -1: none does.
type wire struct {
	key
	out, in int32
}

type wiring struct {
	wires []wire
}

// An end is a slot of a rank.
type end struct{ rank, slot int32 }

// wire numbers the channels of compiled programs: slots have their numbers, or contexts. With
// many ranks there are millions of ends: those of messages to a rank are brought together, and put in order.
func (e *engine) wire(programs []Program) *wiring {
	to := func(x *rank, s *Slot) int32 {
		if s.Out {
			return s.Peer
		}
		return x.number
	}
	next := make([]int32, len(e.ranks)+1) // where the ends of messages to a rank go
	for r := range e.ranks {
		x := &e.ranks[r]
		if x.visits == nil {
			continue
		}
		x.slots = make([]int32, len(x.desc))
		for i := range x.desc {
			if s := &x.desc[i]; s.Meet {
				x.slots[i] = s.Context
			} else {
				next[to(x, s)+1]++
			}
		}
	}
	for r := range e.ranks {
		next[r+1] += next[r]
	}
	ends := make([]end, next[len(e.ranks)])
	first := slices.Clone(next)
	for r := range e.ranks {
		x := &e.ranks[r]
		for i := range x.slots {
			if s := &x.desc[i]; !s.Meet {
				n := to(x, s)
				ends[next[n]] = end{int32(r), int32(i)}
				next[n]++
			}
		}
	}
	w := &wiring{wires: make([]wire, 0, len(ends)/2+1)}
	var list []keyedEnd
	for r := range e.ranks {
		list = list[:0]
		for _, n := range ends[first[r]:first[r+1]] {
			s := &e.ranks[n.rank].desc[n.slot]
			k := keyedEnd{end: n, out: s.Out, key: key{from: s.Peer, to: int32(r), context: s.Context, tag: s.Tag}}
			if s.Out {
				k.from = n.rank
			}
			list = append(list, k)
		}
		slices.SortFunc(list, func(a, b keyedEnd) int {
			switch {
			case a.from != b.from:
				return cmp.Compare(a.from, b.from)
			case a.context != b.context:
				return cmp.Compare(a.context, b.context)
			}
			return cmp.Compare(a.tag, b.tag)
		})
		for i := range list {
			k := &list[i]
			if i == 0 || list[i-1].key != k.key {
				w.wires = append(w.wires, wire{k.key, -1, -1})
			}
			n := len(w.wires) - 1
			if k.out {
				w.wires[n].out = k.slot
			} else {
				w.wires[n].in = k.slot
			}
			e.ranks[k.rank].slots[k.slot] = int32(n)
		}
	}
	return w
}

// A keyedEnd is an end with what it is of.
type keyedEnd struct {
	end
	key
	out bool
}

// connect makes the channels that are used, and has slots say which. Programs that are not
// compiled find them by what they are of.
func (w *wiring) connect(e *engine, byKey bool) {
	number := make([]int32, len(w.wires))
	used := int32(0)
	for r := range e.ranks {
		x := &e.ranks[r]
		for i, n := range x.slots {
			if x.desc[i].Meet {
				continue
			}
			if number[n] == 0 {
				used++
				number[n] = used
			}
			x.slots[i] = number[n] - 1
		}
	}
	e.fixed = make([]channel, used)
	for n := range w.wires {
		if number[n] > 0 {
			k := &w.wires[n]
			e.fixed[number[n]-1].set(e.place.Between(int(k.from), int(k.to)), k.from, k.to)
			if byKey {
				e.channels[k.key] = &e.fixed[number[n]-1]
			}
		}
	}
}
