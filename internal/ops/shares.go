package ops

import (
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// shares fills in how much of what a collective moves goes to each member, and comes from each, where
// the call has an array of counts.
func (p *process) shares(op *Operation, m *meaning.Call, c *trace.Call, stream int, index uint64) {
	if !p.s.o.Shares || !m.Pattern.Collective() {
		return
	}
	op.SentTo, op.ReceivedFrom = p.share(m, m.Out, c, stream, index), p.share(m, m.In, c, stream, index)
	if out := m.Out; out != nil && out.InPlace && inPlace(c, out.Buffer) {
		op.SentTo = op.ReceivedFrom
	}
}

// share returns the bytes by member of one direction; nil if the call has no array for them.
func (p *process) share(m *meaning.Call, side *meaning.Side, c *trace.Call, stream int, index uint64) []uint64 {
	if side == nil || !m.Array(side.Count) {
		return nil
	}
	counts, types := input(c, side.Count), input(c, side.Type)
	if counts == nil || types == nil || len(counts.Elems) == 0 {
		return nil
	}
	list := make([]uint64, len(counts.Elems))
	for i := range list {
		t := types
		if i < len(types.Elems) {
			t = &types.Elems[i]
		}
		size, _ := p.x.TypeSize(t.Num, stream, index)
		list[i] = uint64(max(0, counts.Elems[i].Num) * max(0, size))
	}
	return list
}

func inPlace(c *trace.Call, buffer string) bool {
	v := input(c, buffer)
	return v != nil && v.Type == trace.Address && v.Addr.Class == trace.Special && v.Addr.Offset == trace.SpecialInPlace
}
