package handles

import (
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// maxDepth is the largest length of a chain of communicators, each made from the next. In a damaged trace such a chain
// may be cyclic.
const maxDepth = 64

// A Neighbourhood is the source and destination ranks of neighbourhood collectives on a communicator, -1 beyond the
// edge of a grid. Ordered says that Destinations is in the order in which the collectives' send buffers have the data.
type Neighbourhood struct {
	Sources, Destinations  []int
	DestinationsAreOrdered bool
}

// Neighbours returns the neighbours that the rank has in the communicator that a handle means in the call at the given
// stream and index. It returns false if they are unknown, or if the communicator has no topology.
func (x *Rank) Neighbours(comm int64, stream int, index uint64) (Neighbourhood, bool) {
	m, ok := x.CommCreation(comm, stream, index)
	if !ok {
		return Neighbourhood{}, false
	}
	return x.neighbours(m, 0)
}

func (x *Rank) neighbours(m Creation, depth int) (n Neighbourhood, ok bool) {
	c := m.Call
	if depth > maxDepth || c.NewComm == nil || c.NewComm.Rank < 0 {
		return n, false
	}
	self := int(c.NewComm.Rank)
	has := func(param string) bool { return c.Param(param) != nil }
	switch def, _ := mpi.CallByID(c.Func.ID); {
	case def.Has(mpi.AttrDuplicatesComm):
		parent, ok := x.parent(m)
		if !ok {
			return n, false
		}
		return x.neighbours(parent, depth+1)
	case has("periods"), has("remain_dims"):
		g, ok := x.grid(m, 0)
		if !ok {
			return n, false
		}
		list := g.around(self)
		return Neighbourhood{list, list, true}, true
	case has("edges"):
		list, ok := graphEdges(c, self)
		return Neighbourhood{list, list, true}, ok
	case has("indegree"):
		from, to := c.Param("sources"), c.Param("destinations")
		if from == nil || to == nil || from.In.Type != trace.TypeArray || to.In.Type != trace.TypeArray {
			return n, false
		}
		return Neighbourhood{numbers(from.In.Elems), numbers(to.In.Elems), true}, true
	case has("degrees"):
		return x.t.inGraph(x.k.Number(), self, m)
	}
	return n, false
}

// parent returns the creation of the communicator from which the communicator of m was made; false if unknown.
func (x *Rank) parent(m Creation) (Creation, bool) {
	if handle, ok := parentOf(m.Call); ok {
		return x.CommCreation(handle, m.Stream, m.Index)
	}
	return Creation{}, false
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

// maxGrid is the largest number of ranks of a grid; only damaged traces have larger ones.
const maxGrid = 1 << 31

// A Grid is a Cartesian topology. The last coordinate varies fastest.
type Grid struct {
	Dims     []int
	Periodic []bool
}

// SubGrid returns the grid that MPI_Cart_sub makes of the dimensions for which keep returns true.
func (g *Grid) SubGrid(keep func(d int) bool) (sub Grid) {
	for d := range g.Dims {
		if keep(d) {
			sub.Dims, sub.Periodic = append(sub.Dims, g.Dims[d]), append(sub.Periodic, g.Periodic[d])
		}
	}
	return sub
}

func (x *Rank) grid(m Creation, depth int) (Grid, bool) {
	c := m.Call
	var g Grid
	switch {
	case depth > maxDepth:
	case c.Param("periods") != nil:
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
			g.Dims = append(g.Dims, n)
			g.Periodic = append(g.Periodic, periods.In.Elems[i].Num != 0)
		}
		return g, true
	case c.Param("remain_dims") != nil:
		parent, ok := x.parent(m)
		if !ok {
			return g, false
		}
		whole, ok := x.grid(parent, depth+1)
		remain := c.Param("remain_dims")
		if !ok || remain == nil || len(remain.In.Elems) != len(whole.Dims) {
			return g, false
		}
		return whole.SubGrid(func(d int) bool { return remain.In.Elems[d].Num != 0 }), true
	default: // the communicator is a duplicate, and has its parent's grid
		if parent, ok := x.parent(m); ok {
			return x.grid(parent, depth+1)
		}
	}
	return g, false
}

// Size returns how many ranks the grid has.
func (g *Grid) Size() int {
	n := 1
	for _, d := range g.Dims {
		n *= d
	}
	return n
}

// Coordinates returns the coordinates of a rank.
func (g *Grid) Coordinates(rank int) []int {
	at := make([]int, len(g.Dims))
	for d := len(g.Dims) - 1; d >= 0; d-- {
		at[d] = rank % g.Dims[d]
		rank /= g.Dims[d]
	}
	return at
}

// Rank returns the rank at coordinates; -1 outside of the grid.
func (g *Grid) Rank(at []int) int {
	rank := 0
	for d, n := range g.Dims {
		x := at[d]
		if g.Periodic[d] {
			x = (x%n + n) % n
		} else if x < 0 || x >= n {
			return -1
		}
		rank = rank*n + x
	}
	return rank
}

// around lists the neighbours of a rank: in each dimension the one at the next lower coordinate, then the one at the
// next higher one; -1 beyond the edge of the grid.
func (g *Grid) around(rank int) (list []int) {
	at := g.Coordinates(rank)
	for d := range at {
		for _, step := range []int{-1, 1} {
			at[d] += step
			list = append(list, g.Rank(at))
			at[d] -= step
		}
	}
	return list
}
