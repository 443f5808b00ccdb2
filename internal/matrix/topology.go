package matrix

import "spoor/trace"

// neighbours sends to the neighbours in the communicator's topology.
func (t *traffic) neighbours(s *site, comm *trace.Comm) {
	n, ok := t.x.Neighbours(s.c.Param("comm").In.Num, s.stream, s.index)
	if counts := s.c.Param("sendcounts"); ok && !n.Ordered && counts != nil {
		ok = sameSizes(counts.In.Elems, s.c.Param("sendtypes"))
	}
	if !ok {
		t.out.unknown()
		return
	}
	for i, rank := range n.Out {
		if rank < 0 {
			continue // beyond the edge of a grid
		}
		var b int64
		var sized bool
		switch {
		case s.c.Param("sendcounts") == nil:
			b, sized = t.data(s, "sendcount", "sendtype")
		case s.c.Param("sendtypes") != nil:
			b, sized = t.element(s, "sendcounts", "sendtypes", i)
		default:
			b, sized = t.element(s, "sendcounts", "sendtype", i)
		}
		t.out.send(comm.WorldRank(rank), b, sized)
	}
}

// sameSizes reports whether all neighbours get as much, so that it does not
// matter which is which.
func sameSizes(counts []trace.Value, types *trace.Param) bool {
	for i := range counts {
		if counts[i].Num != counts[0].Num || types != nil && (i >= len(types.In.Elems) || types.In.Elems[i].Num != types.In.Elems[0].Num) {
			return false
		}
	}
	return true
}
