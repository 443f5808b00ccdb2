package dataflow

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// Ranks do the same at the same times if they have the same DistinctCallOps and visits, and if slots with equal indices mean
// the same. Slots for messages must have equal network distances, to and from ranks that also do the same and use
// equal slots. Slots for meetings must be shared with equally many such ranks. The coarsest such partition of the
// ranks is found by refinement: ranks are separated once a difference is known. Hashes only preselect; everything is
// compared.

// lump lets one rank represent all ranks that do the same: the first rank of each part that refine finds.
func (w *wiring) lump(e *engine, programs []Program) {
	of := w.refine(e, programs)
	if of == nil {
		return
	}
	e.lumped = true
	first := make(map[int32]int32)
	for r, part := range of {
		e.ranks[r].like = once.GetOrMake(first, part, func() int32 { return int32(r) })
	}
	contexts := e.contexts()
	alike := parted(contexts, of)
	names := make(map[int32]int32) // contexts with equal numbers in alike get the first one's number
	for _, c := range contexts {
		once.GetOrMake(names, alike[c.number], func() int32 { return c.number })
	}
	for r := range e.ranks {
		x := &e.ranks[r]
		if x.visits == nil || x.like != int32(r) {
			continue
		}
		for i := range x.desc {
			switch s := &x.desc[i]; {
			case s.IsMeeting:
				if x.weights == nil {
					x.weights = make([]int32, len(x.desc))
				}
				x.weights[i] = contexts[s.Context].count(of, of[r], int32(i))
				x.slots[i] = names[alike[s.Context]]
			case !s.IsSend: // the receives match the sends of the rank that represents the peer
				if k := &w.wires[x.slots[i]]; k.out >= 0 {
					x.slots[i] = e.ranks[e.ranks[s.Peer].like].slots[k.out]
				}
			}
		}
	}
	for r := range e.ranks { // data of represented ranks is no longer needed
		if x := &e.ranks[r]; x.like != int32(r) {
			x.visits, x.slots, x.desc, x.program, x.done = nil, nil, nil, nil, true
			programs[r] = nil
		}
	}
}

// A meetingPoint is the ranks that meet in a context, each with its slot for it.
type meetingPoint struct {
	number  int32
	members []member
}

type member struct{ rank, slot int32 }

// count returns how many ranks of a part, a set of ranks that do the same, use the context through a slot. of has the
// part of each rank.
func (m *meetingPoint) count(of []int32, part, slot int32) (n int32) {
	for _, x := range m.members {
		if x.slot == slot && of[x.rank] == part {
			n++
		}
	}
	return n
}

func (e *engine) contexts() map[int32]*meetingPoint {
	list := make(map[int32]*meetingPoint)
	for r := range e.ranks {
		for i, s := range e.ranks[r].desc {
			if !s.IsMeeting {
				continue
			}
			p := once.GetOrMake(list, s.Context, func() *meetingPoint { return &meetingPoint{number: s.Context} })
			p.members = append(p.members, member{int32(r), int32(i)})
		}
	}
	return list
}

// A namer numbers texts: it gives equal texts equal numbers.
type namer map[string]int32

func (n namer) name(text []byte) int32 {
	id, ok := n[string(text)]
	if !ok {
		id = int32(len(n))
		n[string(text)] = id
	}
	return id
}

// parted gives two contexts the same number if equally many ranks of each part, a set of ranks that do the same, use
// them through equal slots. of has the part of each rank.
func parted(contexts map[int32]*meetingPoint, of []int32) map[int32]int32 {
	names, text := make(namer), []byte(nil)
	alike := make(map[int32]int32, len(contexts))
	for number, c := range contexts {
		counts := make(map[member]uint64) // by part (in field rank) and slot: the number of ranks
		for _, x := range c.members {
			counts[member{of[x.rank], x.slot}]++
		}
		list := slices.SortedFunc(maps.Keys(counts), func(a, b member) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.slot, b.slot))
		})
		text = text[:0]
		for _, x := range list {
			text = binary.AppendUvarint(text, uint64(x.rank))
			text = binary.AppendUvarint(text, uint64(x.slot))
			text = binary.AppendUvarint(text, counts[x])
		}
		alike[number] = names.name(text)
	}
	return alike
}

// refine divides the ranks into parts: sets of ranks that do the same at the same times. It returns the part of each
// rank; nil if there are too many parts to be useful.
func (w *wiring) refine(e *engine, programs []Program) []int32 {
	type start struct {
		code *DistinctCallOps
		same any
		slot int
	}
	of := make([]int32, len(e.ranks))
	starts := make(map[start]int32)
	for r := range e.ranks {
		p, ok := programs[r].(*CompiledProgram)
		s := start{}
		if ok {
			if s = (start{p.Code, p.Visits.EqualityKey(), len(p.Operands)}); s.same == nil {
				s.same = r
			}
		}
		if _, ok := starts[s]; !ok {
			starts[s] = int32(len(starts))
		}
		of[r] = starts[s]
	}
	levels := make(map[*machine.NetworkLevel]uint64)
	contexts := e.contexts()
	for n := len(starts); ; {
		if 2*n > len(e.ranks) {
			return nil
		}
		alike := parted(contexts, of)
		names, next, text := make(namer), make([]int32, len(of)), []byte(nil)
		for r := range e.ranks {
			x := &e.ranks[r]
			text = binary.AppendUvarint(text[:0], uint64(of[r]))
			for i := range x.desc {
				s := &x.desc[i]
				if s.IsMeeting {
					text = binary.AppendUvarint(text, uint64(alike[s.Context]))
					continue
				}
				l := e.place.LevelBetween(r, int(s.Peer))
				if _, ok := levels[l]; !ok {
					levels[l] = uint64(len(levels))
				}
				k := &w.wires[x.slots[i]]
				slot := k.out
				if s.IsSend {
					slot = k.in
				}
				text = binary.AppendUvarint(text, levels[l])
				text = binary.AppendUvarint(text, uint64(of[s.Peer]))
				text = binary.AppendVarint(text, int64(slot))
			}
			next[r] = names.name(text)
		}
		of = next
		if len(names) == n {
			return of
		}
		n = len(names)
	}
}
