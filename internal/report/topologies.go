package report

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Topology is a topology of the program: a Cartesian grid, which has dimensions, or a graph, which has edges. In a
// grid the last dimension varies fastest from rank to rank.
type Topology struct {
	Name       string   `json:"name"`
	Dims       []int    `json:"dims,omitempty"`
	Periodic   []bool   `json:"periodic,omitempty"`
	WorldRanks []int    `json:"ranks"`           // world rank of each of the communicator's ranks; −1: not known
	Edges      [][2]int `json:"edges,omitempty"` // source and destination, as ranks in the communicator
}

// Bounds of topologies.
const (
	maxTopologies = 8
	maxGridRanks  = 1 << 14
	// Larger graphs are not drawn: they would be unreadable.
	maxGraphRanks, maxGraphEdges = 512, 1 << 13
	// Ranks of a class make the same calls: at most this number of them is searched for communicators.
	maxTopologyMembers = 64
)

// topologies finds the run's topologies. Of several with the same dimensions or edges, and with the same world rank for
// each of their ranks, it lists only the first.
func topologies(r *trace.Reader) ([]Topology, error) {
	comms, err := handles.TableOf(r).Comms()
	if err != nil {
		return nil, err
	}
	g := graphs{r: r, comms: comms, asked: make(map[int]bool), of: make(map[*handles.Comm]*graph)}
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
				comm := firstMade(comms, k, c).Comm
				if comm == nil || seen[comm.Number] {
					continue
				}
				seen[comm.Number] = true
				t, err := g.topology(c, comm)
				if err != nil {
					return nil, err
				}
				if t.WorldRanks != nil && !slices.ContainsFunc(list, func(u Topology) bool {
					return slices.Equal(u.Dims, t.Dims) && slices.Equal(u.Edges, t.Edges) && slices.Equal(u.WorldRanks, t.WorldRanks)
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

// A createdComm is the communicator that the first call of a terminal made.
type createdComm struct {
	*handles.Comm // nil: the call made none, or it is not known
	handle        int64
	stream        int
	after         uint64 // index, in the stream, of the first call in which the handle means the communicator
}

func firstMade(comms *handles.Comms, k *trace.Rank, c *trace.Call) (m createdComm) {
	for i := range c.Params {
		if p := &c.Params[i]; p.Kind() == mpi.KindComm && p.Out.Type == trace.TypeHandle {
			m.handle = p.Out.Num
		}
	}
	for m.stream = range k.Streams() {
		if o := k.Occurrences(m.stream, func(t int) bool { return t == c.Terminal }); o.Total() > 0 {
			at, _ := o.Nth(0)
			m.after = at + 1
			m.Comm = comms.At(k.Number(), m.stream, m.after, m.handle)
			break
		}
	}
	return m
}

// topology returns the topology of a communicator, from the call that made it. Ranks is nil if the topology is unknown
// or too large.
func (g *graphs) topology(c *trace.Call, comm *handles.Comm) (Topology, error) {
	t := Topology{Name: cmp.Or(comm.Name, comm.MadeBy)}
	if isGrid(c) {
		if comm.Size <= maxGridRanks && t.dims(c, comm.Size) {
			t.WorldRanks = comm.Members()
		}
		return t, nil
	}
	edges, err := g.edges(comm)
	if err == nil && edges != nil {
		t.Edges, t.WorldRanks = edges, comm.Members()
	}
	return t, err
}

// dims reads the dimensions from a call; false if they don't fit the number of ranks.
func (t *Topology) dims(c *trace.Call, size int) bool {
	dims, periods := c.Param("dims"), c.Param("periods")
	if dims.In.Type != trace.TypeArray || periods.In.Type != trace.TypeArray || len(dims.In.Elems) != len(periods.In.Elems) || len(dims.In.Elems) == 0 {
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

// graphs caches the edges of graph communicators.
type graphs struct {
	r     *trace.Reader
	comms *handles.Comms
	asked map[int]bool
	of    map[*handles.Comm]*graph
}

type graph struct {
	edges [][2]int
	told  int // number of ranks whose outgoing edges are known
	much  bool
}

// edges returns the edges of a communicator, sorted; nil if some are unknown, or there are too many.
func (g *graphs) edges(comm *handles.Comm) ([][2]int, error) {
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

// collect adds a rank's own edges, for the first communicator that each of its calls made.
func (g *graphs) collect(rank int) error {
	if g.r.ClassOf(rank) < 0 {
		return nil
	}
	k, err := g.r.Rank(rank)
	if err != nil {
		return err
	}
	view, err := handles.TableOf(g.r).Rank(k)
	if err != nil {
		return err
	}
	for n := range k.Terminals() {
		c, err := k.Terminal(n)
		if err != nil {
			return err
		}
		if c.NewComm == nil || !isGraph(c) {
			continue
		}
		if m := firstMade(g.comms, k, c); m.Comm != nil && m.Size <= maxGraphRanks {
			around, known := view.Neighbours(m.handle, m.stream, m.after)
			g.add(m.Comm, int(c.NewComm.Rank), around.Destinations, known)
		}
	}
	return nil
}

func (g *graphs) add(comm *handles.Comm, self int, out []int, known bool) {
	x := once.GetOrMake(g.of, comm, func() *graph { return &graph{} })
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
