package dataflow

// link finds the channels of compiled programs, and lets ranks stand for others that do the same.
func (e *engine) link(programs []Program, alike bool) {
	all, some := true, false
	for r := range e.ranks {
		x := &e.ranks[r]
		x.number, x.like, x.program = int32(r), int32(r), programs[r]
		switch p := programs[r].(type) {
		case nil:
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
	of    map[key]int32
}

// wire numbers the channels of compiled programs: slots have their numbers, or contexts.
func (e *engine) wire(programs []Program) *wiring {
	w := &wiring{of: make(map[key]int32)}
	for r := range e.ranks {
		x := &e.ranks[r]
		if x.visits == nil {
			continue
		}
		x.slots = make([]int32, len(x.desc))
		for i := range x.desc {
			s := &x.desc[i]
			if s.Meet {
				x.slots[i] = s.Context
				continue
			}
			k := key{s.Peer, int32(r), s.Context, s.Tag}
			if s.Out {
				k.from, k.to = int32(r), s.Peer
			}
			n, ok := w.of[k]
			if !ok {
				n = int32(len(w.wires))
				w.of[k] = n
				w.wires = append(w.wires, wire{k, -1, -1})
			}
			if s.Out {
				w.wires[n].out = int32(i)
			} else {
				w.wires[n].in = int32(i)
			}
			x.slots[i] = n
		}
	}
	return w
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
