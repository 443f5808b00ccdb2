package dataflow

import "slices"

// link finds the channels of compiled programs. With alike set it lets ranks represent others that do the same.
func (e *engine) link(programs []Program, alike bool) {
	all, some := true, false
	for r := range e.ranks {
		x := &e.ranks[r]
		x.number, x.of, x.like, x.program = int32(r), int32(r), int32(r), programs[r]
		switch p := programs[r].(type) {
		case nil:
			x.done = true
		case *ThreadProgram:
			all, x.of, x.team = false, int32(p.Rank), e.team(int32(p.Rank))
		case *CompiledProgram:
			x.visits, x.code, x.mask, x.desc, some = p.Visits, p.Code, p.Code.RequestMask, p.Operands, true
		default:
			all = false
		}
	}
	if some {
		w := e.wire()
		if alike && all {
			w.lump(e, programs)
		}
		w.connect(e, !all)
		e.room()
	}
	for r := len(e.ranks) - 1; r >= 0; r-- {
		if e.ranks[r].like == int32(r) {
			e.ready = append(e.ready, int32(r))
		}
	}
}

// fewRequests decides whose requests are allocated in advance: those of ranks with at most this number.
const fewRequests = 64

// room allocates the ranks' requests contiguously.
func (e *engine) room() {
	n := 0
	few := func(x *rank) bool { return x.visits != nil && x.mask < fewRequests }
	for r := range e.ranks {
		if x := &e.ranks[r]; few(x) {
			n += int(x.mask) + 1
		}
	}
	all := make([]request, n)
	for r := range e.ranks {
		if x := &e.ranks[r]; few(x) {
			n = int(x.mask) + 1
			x.requests, all = all[:n:n], all[n:]
		}
	}
}

// A wire is the key of a channel, and the slots that refer to it: out on the sending rank, in on the receiving rank;
// -1: no slot.
type wire struct {
	key
	out, in int32
}

type wiring struct {
	wires []wire
}

// An endpoint is a rank with the index of one of its slots.
type endpoint struct{ rank, slot int32 }

// wire finds the channel, or for meetings the context, of each slot of the compiled programs. With many ranks there
// are millions of endpoints. So those of messages to the same rank are collected, and a hash table matches sends with
// receives.
func (e *engine) wire() *wiring {
	to := func(x *rank, s *RankOperands) int32 {
		if s.IsSend {
			return s.Peer
		}
		return x.number
	}
	// By receiving rank: the index in ends where the next endpoint of a message to this rank is stored.
	next := make([]int32, len(e.ranks)+1)
	for r := range e.ranks {
		x := &e.ranks[r]
		if x.visits == nil {
			continue
		}
		x.slots = make([]int32, len(x.desc))
		for i := range x.desc {
			if s := &x.desc[i]; s.IsMeeting {
				x.slots[i] = s.Context
			} else {
				next[to(x, s)+1]++
			}
		}
	}
	for r := range e.ranks {
		next[r+1] += next[r]
	}
	ends := make([]endpoint, next[len(e.ranks)])
	first := slices.Clone(next)
	for r := range e.ranks {
		x := &e.ranks[r]
		for i := range x.slots {
			if s := &x.desc[i]; !s.IsMeeting {
				n := to(x, s)
				ends[next[n]] = endpoint{int32(r), int32(i)}
				next[n]++
			}
		}
	}
	w := &wiring{wires: make([]wire, 0, len(ends)/2+1)}
	var t wireTable
	for r := range e.ranks {
		own := ends[first[r]:first[r+1]]
		t.clear(len(own))
		for _, n := range own {
			s := &e.ranks[n.rank].desc[n.slot]
			k := key{from: s.Peer, to: int32(r), context: s.Context, tag: s.Tag}
			if s.IsSend {
				k.from = n.rank
			}
			at := t.find(w, &k)
			if s.IsSend {
				w.wires[at].out = n.slot
			} else {
				w.wires[at].in = n.slot
			}
			e.ranks[n.rank].slots[n.slot] = at
		}
	}
	return w
}

// A wireTable is a hash table of the wires whose messages one rank receives.
type wireTable struct {
	wires []int32 // indices in wiring.wires; the constant nobody in an empty entry
	mask  uint32
}

// clear empties the table, and makes room for up to most wires.
func (t *wireTable) clear(most int) {
	size := 4
	for size < 2*most {
		size *= 2
	}
	if size > cap(t.wires) {
		t.wires = make([]int32, size)
	}
	t.wires, t.mask = t.wires[:size], uint32(size-1)
	for i := range t.wires {
		t.wires[i] = nobody
	}
}

// find returns the index in w.wires of the wire with a key. If it is missing, find adds it, without slots.
func (t *wireTable) find(w *wiring, k *key) int32 {
	h := uint64(uint32(k.from))*0x9e3779b97f4a7c15 ^ uint64(uint32(k.context))*0xc2b2ae3d27d4eb4f ^ uint64(k.tag)*0x165667b19e3779f9
	for i := uint32(h >> 32); ; i++ {
		at := &t.wires[i&t.mask]
		if *at == nobody {
			*at = int32(len(w.wires))
			w.wires = append(w.wires, wire{*k, -1, -1})
			return *at
		}
		if w.wires[*at].key == *k {
			return *at
		}
	}
}

// seldom decides which slots are in engine.table: those that at least 1 of seldom ranks with slots have. Other slots
// are stored with their ranks.
const seldom = 4

// connect makes the channels that slots refer to, and stores their numbers in the slots. If byKey is set, programs that
// are not compiled find these channels by key.
//
// Ranks that do the same use the same slots, one rank after the other. So channels of equal slots are adjacent in
// memory, and so are the slots that most ranks have.
func (w *wiring) connect(e *engine, byKey bool) {
	var having []int // by slot: number of ranks that have it
	for r := range e.ranks {
		for len(having) < len(e.ranks[r].slots) {
			having = append(having, 0)
		}
		for i := range e.ranks[r].slots {
			having[i]++
		}
	}
	for _, n := range having {
		if n*seldom >= having[0] {
			e.columns++
		}
	}
	e.table, e.met = make([]int32, int(e.columns)*len(e.ranks)), make([]uint32, int(e.columns)*len(e.ranks))
	number, used := make([]int32, len(w.wires)), int32(0)
	for i := range having {
		for r := range e.ranks {
			x := &e.ranks[r]
			if i >= len(x.slots) {
				continue
			}
			if n := x.slots[i]; !x.desc[i].IsMeeting {
				if number[n] == 0 {
					used++
					number[n] = used
				}
				x.slots[i] = number[n] - 1
			}
			if i < int(e.columns) {
				e.table[i*len(e.ranks)+r] = x.slots[i]
			}
		}
	}
	for r := range e.ranks {
		if x := &e.ranks[r]; len(x.slots) > int(e.columns) {
			x.slots = x.slots[e.columns:]
		} else {
			x.slots = nil
		}
	}
	e.fixed = make([]channel, used)
	for n := range w.wires {
		if number[n] > 0 {
			k := &w.wires[n]
			e.fixed[number[n]-1].reset()
			if byKey {
				e.channels[k.key] = &e.fixed[number[n]-1]
			}
		}
	}
}
