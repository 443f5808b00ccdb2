package report

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/objects"
	"github.com/spoor-hpc/spoor/trace"
)

// A Topology is one that the program made: a Cartesian grid, which has dimensions, or a graph, which has edges.
type Topology struct {
	Name     string   `json:"name"`
	Dims     []int    `json:"dims,omitempty"`
	Periodic []bool   `json:"periodic,omitempty"`
	Ranks    []int    `json:"ranks"`           // of the world, by their number in the communicator (of a grid the last dimension fastest); −1: not known
	Edges    [][2]int `json:"edges,omitempty"` // from whom to whom, by number in the communicator
}

// Bounds of topologies.
const (
	maxTopologies = 8
	maxGridRanks  = 1 << 14
	// A picture of more is a blot.
	maxGraphRanks, maxGraphEdges = 512, 1 << 13
	// Ranks of a class make the same calls: so many of them are asked which communicators these make.
	maxTopologyMembers = 64
)

// topologies finds them in the order of their communicators; of those with the same ranks in the same
// places only the first.
func topologies(r *trace.Reader) ([]Topology, error) {
	comms, err := r.Comms()
	if err != nil {
		return nil, err
	}
	f := &finder{comms: comms, graphs: graphs{r: r, comms: comms, table: objects.New(r), asked: make(map[int]bool), of: make(map[*trace.Comm]*graph)}}
	list := []Topology{}
	seen := make(map[int]bool)
	for class := range r.Classes() {
		members := r.Members(class)
		for _, rank := range members[:min(len(members), maxTopologyMembers)] {
			k, err := r.Rank(rank)
			if err != nil {
				return nil, err
			}
			for n := range k.Terminals() {
				c, err := k.Terminal(n)
				if err != nil {
					return nil, err
				}
				if c.NewComm == nil || !isGrid(c) && !isGraph(c) {
					continue
				}
				comm := f.made(k, c, n)
				if comm == nil || seen[comm.Number] {
					continue
				}
				seen[comm.Number] = true
				t, err := f.of(c, comm)
				if err != nil {
					return nil, err
				}
				if t.Ranks != nil && !slices.ContainsFunc(list, func(u Topology) bool {
					return slices.Equal(u.Dims, t.Dims) && slices.Equal(u.Edges, t.Edges) && slices.Equal(u.Ranks, t.Ranks)
				}) {
					list = append(list, t)
				}
				if len(list) == maxTopologies {
					return list, nil
				}
			}
		}
	}
	return list, nil
}

func isGrid(c *trace.Call) bool { return c.Param("periods") != nil && c.Param("dims") != nil }

func isGraph(c *trace.Call) bool {
	return c.Param("edges") != nil || c.Param("indegree") != nil || c.Param("degrees") != nil
}

// A finder knows what topologies are found by.
type finder struct {
	comms  *trace.Comms
	graphs graphs
}

// made returns the communicator that the first call of a terminal makes, nil if there is none.
func (f *finder) made(k *trace.Rank, c *trace.Call, terminal int) *trace.Comm {
	handle, ok := newHandle(c)
	for stream := range k.Streams() {
		o := k.Occurrences(stream, func(t int) bool { return t == terminal })
		if ok && o.Total() > 0 {
			at, _ := o.Nth(0)
			return f.comms.At(k.Number(), stream, at+1, handle)
		}
	}
	return nil
}

// newHandle is what a call calls the communicator that it makes.
func newHandle(c *trace.Call) (handle int64, ok bool) {
	for i := range c.Params {
		if p := &c.Params[i]; p.Kind() == "comm" && p.Out.Type == trace.Handle {
			handle, ok = p.Out.Num, true
		}
	}
	return handle, ok
}

// of returns the topology of a communicator by a call that made it, without ranks if it is not known or too large.
func (f *finder) of(c *trace.Call, comm *trace.Comm) (Topology, error) {
	t := Topology{Name: cmp.Or(comm.Name, comm.MadeBy)}
	if isGrid(c) {
		if comm.Size <= maxGridRanks && t.dims(c, comm.Size) {
			t.Ranks = comm.Members()
		}
		return t, nil
	}
	edges, err := f.graphs.edges(comm)
	if err == nil && edges != nil {
		t.Edges, t.Ranks = edges, comm.Members()
	}
	return t, err
}

// dims takes the dimensions from a call; false if they don't fit the number of ranks.
func (t *Topology) dims(c *trace.Call, size int) bool {
	dims, periods := c.Param("dims"), c.Param("periods")
	if dims.In.Type != trace.Array || periods.In.Type != trace.Array || len(dims.In.Elems) != len(periods.In.Elems) || len(dims.In.Elems) == 0 {
		return false
	}
	product := 1
	for i := range dims.In.Elems {
		n := int(dims.In.Elems[i].Num)
		if n < 1 || n > maxGridRanks {
			return false
		}
		if product *= n; product > size {
			return false
		}
		t.Dims, t.Periodic = append(t.Dims, n), append(t.Periodic, periods.In.Elems[i].Num != 0)
	}
	return product == size
}

// graphs know the edges of the graphs that ranks made which were asked so far.
type graphs struct {
	r     *trace.Reader
	comms *trace.Comms
	table *objects.Table
	asked map[int]bool
	of    map[*trace.Comm]*graph
}

type graph struct {
	edges [][2]int
	told  int // how many ranks said what theirs are
	much  bool
}

// edges returns those of a communicator, sorted; nil if they aren't all known, or are too many.
func (g *graphs) edges(comm *trace.Comm) ([][2]int, error) {
	if comm.Size > maxGraphRanks {
		return nil, nil
	}
	for _, rank := range comm.Members() {
		if rank < 0 || g.asked[rank] {
			continue
		}
		g.asked[rank] = true
		if err := g.collect(rank); err != nil {
			return nil, err
		}
	}
	x := g.of[comm]
	if x == nil || x.told != comm.Size || x.much {
		return nil, nil
	}
	slices.SortFunc(x.edges, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return slices.Compact(x.edges), nil
}

// collect takes in what a rank's own edges are, of the first communicator that each of its calls made.
func (g *graphs) collect(rank int) error {
	if g.r.ClassOf(rank) < 0 {
		return nil
	}
	k, err := g.r.Rank(rank)
	if err != nil {
		return err
	}
	var view *objects.Rank
	for n := range k.Terminals() {
		c, err := k.Terminal(n)
		if err != nil {
			return err
		}
		if c.NewComm == nil || !isGraph(c) {
			continue
		}
		if view == nil {
			if view, err = g.table.Rank(k); err != nil {
				return err
			}
		}
		handle, ok := newHandle(c)
		for stream := range k.Streams() {
			o := k.Occurrences(stream, func(t int) bool { return t == n })
			if !ok || o.Total() == 0 {
				continue
			}
			at, _ := o.Nth(0)
			if comm := g.comms.At(rank, stream, at+1, handle); comm != nil && comm.Size <= maxGraphRanks {
				around, known := view.Neighbours(handle, stream, at+1)
				g.add(comm, int(c.NewComm.Rank), around.Out, known)
			}
			break
		}
	}
	return nil
}

func (g *graphs) add(comm *trace.Comm, self int, out []int, known bool) {
	x := g.of[comm]
	if x == nil {
		x = &graph{}
		g.of[comm] = x
	}
	if x.much = x.much || len(x.edges)+len(out) > maxGraphEdges; x.much || !known || self < 0 {
		return
	}
	x.told++
	for _, to := range out {
		if to >= 0 && to < comm.Size {
			x.edges = append(x.edges, [2]int{self, to})
		}
	}
}
