package report

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A Grid is a Cartesian topology that the program made: which rank is where.
type Grid struct {
	Name     string `json:"name"`
	Dims     []int  `json:"dims"`
	Periodic []bool `json:"periodic"`
	Ranks    []int  `json:"ranks"` // of the world, by place, the last dimension fastest; −1: not known
}

// Bounds of topologies.
const (
	maxGrids     = 8
	maxGridRanks = 1 << 14
	// Ranks of a class make the same calls: so many of them are asked which communicators these make.
	maxGridMembers = 64
)

// grids finds the Cartesian topologies, in the order of their communicators; of those with the same ranks in
// the same places only the first.
func grids(r *trace.Reader) ([]Grid, error) {
	comms, err := r.Comms()
	if err != nil {
		return nil, err
	}
	list := []Grid{}
	seen := make(map[int]bool)
	for class := range r.Classes() {
		members := r.Members(class)
		for _, rank := range members[:min(len(members), maxGridMembers)] {
			k, err := r.Rank(rank)
			if err != nil {
				return nil, err
			}
			for n := range k.Terminals() {
				c, err := k.Terminal(n)
				if err != nil {
					return nil, err
				}
				if c.NewComm == nil || c.Param("periods") == nil || c.Param("dims") == nil {
					continue
				}
				g, comm := gridOf(k, c, n, comms)
				if comm == nil || seen[comm.Number] {
					continue
				}
				seen[comm.Number] = true
				if !slices.ContainsFunc(list, func(h Grid) bool { return slices.Equal(h.Dims, g.Dims) && slices.Equal(h.Ranks, g.Ranks) }) {
					list = append(list, g)
				}
				if len(list) == maxGrids {
					return list, nil
				}
			}
		}
	}
	return list, nil
}

// gridOf returns the topology that a call makes, nil if it is none or not known.
func gridOf(k *trace.Rank, c *trace.Call, terminal int, comms *trace.Comms) (Grid, *trace.Comm) {
	dims, periods := c.Param("dims"), c.Param("periods")
	if dims.In.Type != trace.Array || periods.In.Type != trace.Array || len(dims.In.Elems) != len(periods.In.Elems) || len(dims.In.Elems) == 0 {
		return Grid{}, nil
	}
	var made *trace.Param
	for i := range c.Params {
		if p := &c.Params[i]; p.Kind() == "comm" && p.Out.Type == trace.Handle {
			made = p
		}
	}
	if made == nil {
		return Grid{}, nil
	}
	for stream := range k.Streams() {
		o := k.Occurrences(stream, func(t int) bool { return t == terminal })
		if o.Total() == 0 {
			continue
		}
		at, _ := o.Nth(0)
		comm := comms.At(k.Number(), stream, at+1, made.Out.Num)
		if comm == nil || comm.Size > maxGridRanks {
			return Grid{}, nil
		}
		g := Grid{Name: cmp.Or(comm.Name, comm.MadeBy), Ranks: comm.Members()}
		size := 1
		for i := range dims.In.Elems {
			n := int(dims.In.Elems[i].Num)
			if n < 1 || n > maxGridRanks {
				return Grid{}, nil
			}
			size *= n
			if size > comm.Size {
				return Grid{}, nil
			}
			g.Dims, g.Periodic = append(g.Dims, n), append(g.Periodic, periods.In.Elems[i].Num != 0)
		}
		if size != comm.Size || len(g.Ranks) != size {
			return Grid{}, nil
		}
		return g, comm
	}
	return Grid{}, nil
}
