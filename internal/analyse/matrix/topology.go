package matrix

import (
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// neighbours sends to the neighbours in the communicator's topology.
func (t *traffic) neighbours(s *site, comm *handles.Comm) {
	n, ok := t.x.Neighbours(s.c.Param("comm").In.Num, s.stream, s.index)
	x := s.means.Out
	counts := s.means.Array(x.Count)
	if ok && !n.Ordered && counts {
		ok = sameSizes(s.c.Param(x.Count), s.c.Param(x.Type))
	}
	if !ok {
		t.out.unknown()
		return
	}
	for i, rank := range n.Out {
		if rank < 0 {
			continue // beyond the edge of a grid
		}
		b, sized := t.data(s, x)
		if counts {
			b, sized = t.element(s, x, i)
		}
		t.out.send(comm.WorldRank(rank), b, sized)
	}
}

// sameSizes reports whether all neighbours get as much, so that it does not
// matter which is which.
func sameSizes(counts, types *trace.Param) bool {
	if counts == nil || types == nil {
		return false
	}
	for _, p := range []*trace.Param{counts, types} {
		for i := range p.In.Elems {
			if p.In.Elems[i].Num != p.In.Elems[0].Num {
				return false
			}
		}
	}
	return true
}
