package matrix

import (
	"spoor/internal/objects"
	"spoor/trace"
)

// maxDepth bounds chains of communicators made from each other: each link is a
// call of the trace, but a damaged one may go in circles.
const maxDepth = 64

// neighbours sends to the neighbours in the communicator's topology.
func (t *traffic) neighbours(r role, s *site, comm *trace.Comm, self int) {
	p := s.c.Param("comm")
	m, ok := t.x.CommMaker(&p.In, s.stream, s.index)
	var list []int
	ordered := false
	if ok {
		list, ordered, ok = t.destinations(m, comm, self, 0)
	}
	if counts := s.c.Param("sendcounts"); ok && !ordered && counts != nil {
		ok = sameSizes(counts.In.Elems, s.c.Param("sendtypes"))
	}
	if !ok {
		t.out.unknown()
		return
	}
	for i, n := range list {
		if n < 0 {
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
		t.out.send(comm.WorldRank(n), b, sized)
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

// destinations lists the ranks of the communicator that self sends to in
// neighbourhood collectives, -1 for none, and says whether in their order.
func (t *traffic) destinations(m objects.Making, comm *trace.Comm, self, depth int) (list []int, ordered, known bool) {
	c := m.Call
	if depth > maxDepth || self < 0 {
		return nil, false, false
	}
	switch c.Name() {
	case "MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_idup", "MPI_Comm_idup_with_info":
		parent, ok := t.parent(m)
		if !ok {
			return nil, false, false
		}
		return t.destinations(parent, t.parentComm(m), self, depth+1)
	case "MPI_Cart_create", "MPI_Cart_sub":
		g, ok := t.grid(m, 0)
		if !ok {
			return nil, false, false
		}
		return g.around(self), true, true
	case "MPI_Graph_create":
		list, known = graphEdges(c, self)
		return list, true, known
	case "MPI_Dist_graph_create_adjacent":
		p := c.Param("destinations")
		if p == nil || p.In.Type != trace.Array {
			return nil, false, false
		}
		return numbers(p.In.Elems), true, true
	case "MPI_Dist_graph_create":
		if comm == nil {
			return nil, false, false
		}
		g, err := t.x.Table().Graph(comm)
		if g == nil || err != nil {
			return nil, false, false
		}
		list, ordered = g.Out(self)
		return list, ordered, true
	}
	return nil, false, false
}

// parentComm is the communicator that another was made from.
func (t *traffic) parentComm(m objects.Making) *trace.Comm {
	for i := range m.Call.Params {
		if p := &m.Call.Params[i]; p.Kind() == "comm" && p.In.Type == trace.Handle {
			return t.x.Comm(&p.In, m.Stream, m.Index)
		}
	}
	return nil
}

// parent is the making of the communicator that another was made from.
func (t *traffic) parent(m objects.Making) (objects.Making, bool) {
	for i := range m.Call.Params {
		if p := &m.Call.Params[i]; p.Kind() == "comm" && p.In.Type == trace.Handle {
			return t.x.CommMaker(&p.In, m.Stream, m.Index)
		}
	}
	return objects.Making{}, false
}

func numbers(list []trace.Value) []int {
	out := make([]int, len(list))
	for i := range list {
		out[i] = int(list[i].Num)
	}
	return out
}

func graphEdges(c *trace.Call, self int) ([]int, bool) {
	index, edges := c.Param("index"), c.Param("edges")
	if index == nil || edges == nil || self >= len(index.In.Elems) {
		return nil, false
	}
	ends := numbers(index.In.Elems)
	first := 0
	if self > 0 {
		first = ends[self-1]
	}
	if first < 0 || first > ends[self] || ends[self] > len(edges.In.Elems) {
		return nil, false
	}
	return numbers(edges.In.Elems[first:ends[self]]), true
}

// maxGrid is more than any grid has ranks.
const maxGrid = 1 << 31

// A grid is a cartesian topology.
type grid struct {
	dims     []int
	periodic []bool
}

func (t *traffic) grid(m objects.Making, depth int) (grid, bool) {
	c := m.Call
	var g grid
	switch {
	case depth > maxDepth:
	case c.Name() == "MPI_Cart_create":
		dims, periods := c.Param("dims"), c.Param("periods")
		if dims == nil || periods == nil || len(dims.In.Elems) != len(periods.In.Elems) {
			return g, false
		}
		size := 1
		for i := range dims.In.Elems {
			n := int(dims.In.Elems[i].Num)
			if n < 1 || n > maxGrid/size {
				return g, false
			}
			size *= n
			g.dims = append(g.dims, n)
			g.periodic = append(g.periodic, periods.In.Elems[i].Num != 0)
		}
		return g, true
	case c.Name() == "MPI_Cart_sub":
		parent, ok := t.parent(m)
		if !ok {
			return g, false
		}
		whole, ok := t.grid(parent, depth+1)
		remain := c.Param("remain_dims")
		if !ok || remain == nil || len(remain.In.Elems) != len(whole.dims) {
			return g, false
		}
		for i, v := range remain.In.Elems {
			if v.Num != 0 {
				g.dims = append(g.dims, whole.dims[i])
				g.periodic = append(g.periodic, whole.periodic[i])
			}
		}
		return g, true
	default: // a duplicate
		if parent, ok := t.parent(m); ok {
			return t.grid(parent, depth+1)
		}
	}
	return g, false
}

// around lists the neighbours of a rank: in each dimension the one below, then
// the one above; -1 where there is none.
func (g *grid) around(rank int) []int {
	stride := 1
	list := make([]int, 2*len(g.dims))
	for d := len(g.dims) - 1; d >= 0; d-- {
		n := g.dims[d]
		at := rank / stride % n
		for k, step := range []int{-1, 1} {
			next := at + step
			if next < 0 || next >= n {
				if !g.periodic[d] {
					list[2*d+k] = -1
					continue
				}
				next = (next + n) % n
			}
			list[2*d+k] = rank + (next-at)*stride
		}
		stride *= n
	}
	return list
}
