package objects

import (
	"slices"
	"sync"

	"spoor/trace"
)

// A Graph is the topology of a communicator that MPI_Dist_graph_create made. Each
// process may have given any of its edges, so it is known only if all have a track.
type Graph struct {
	out, in [][]int // by rank of the communicator: neighbours, as the edges came
	known   bool
	tracks  int
	order   map[int]neighbours // by rank: as MPI_Dist_graph_neighbors gave them
}

type neighbours struct{ in, out []int }

// maxEdges bounds the edges of all graphs of a run.
const maxEdges = 1 << 24

// graphs are the distributed graphs of a run, found when first asked for.
type graphs struct {
	once sync.Once
	of   map[*trace.Comm]*Graph
	err  error
}

// Graph returns the topology of a communicator that MPI_Dist_graph_create made;
// nil if it is not known.
func (t *Table) Graph(c *trace.Comm) (*Graph, error) {
	t.graphs.once.Do(func() {
		t.graphs.of = make(map[*trace.Comm]*Graph)
		t.graphs.err = t.findGraphs()
	})
	if g := t.graphs.of[c]; g != nil && g.known {
		return g, t.graphs.err
	}
	return nil, t.graphs.err
}

// Out returns whom a rank of the communicator sends to, and whether this is the
// order in which neighbourhood collectives take them: MPI leaves that to the
// library, which tells it when asked.
func (g *Graph) Out(rank int) (list []int, ordered bool) {
	return asTold(g.out[rank], g.order[rank].out)
}

// In returns whom a rank hears from, as Out does.
func (g *Graph) In(rank int) (list []int, ordered bool) {
	return asTold(g.in[rank], g.order[rank].in)
}

func asTold(list, told []int) ([]int, bool) {
	if len(list) < 2 {
		return list, true
	}
	if len(told) < len(list) {
		return list, false
	}
	told = told[:len(list)] // the array may be longer
	a, b := slices.Clone(list), slices.Clone(told)
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		return list, false
	}
	return told, true
}

// Degrees returns how many neighbours a rank hears from and sends to in the graphs
// that a terminal of it makes: 0 if they differ or are not known.
func (t *Table) Degrees(k *trace.Rank, terminal int) (in, out int, err error) {
	c, err := k.Terminal(terminal)
	if err != nil {
		return 0, 0, err
	}
	p := c.Param("comm_dist_graph")
	if p == nil || c.NewComm == nil {
		return 0, 0, nil
	}
	first := true
	for stream := range k.Streams() {
		for index := range k.Occurrences(stream, func(n int) bool { return n == terminal }).All() {
			g, err := t.Graph(t.comms.At(k.Number(), stream, index, p.Out.Num))
			own := int(c.NewComm.Rank)
			if g == nil || err != nil || own < 0 || own >= len(g.out) {
				return 0, 0, err
			}
			if a, b := len(g.in[own]), len(g.out[own]); first {
				in, out, first = a, b, false
			} else if a != in || b != out {
				return 0, 0, nil
			}
		}
	}
	return in, out, nil
}

const (
	makesGraph = "MPI_Dist_graph_create"
	tellsGraph = "MPI_Dist_graph_neighbors"
)

// findGraphs collects the edges of all graphs from all ranks.
func (t *Table) findGraphs() error {
	if !slices.ContainsFunc(t.r.Schema(), func(f *trace.Function) bool { return f.Name == makesGraph }) {
		return nil
	}
	edges := 0
	for rank := range t.r.Ranks() {
		if t.r.ClassOf(rank) < 0 {
			continue
		}
		k, err := t.r.Rank(rank)
		if err != nil {
			return err
		}
		calls := make(map[int]*trace.Call)
		for n := range k.Terminals() {
			c, err := k.Terminal(n)
			if err != nil {
				return err
			}
			if (c.Name() == makesGraph || c.Name() == tellsGraph) && c.Return == 0 {
				calls[n] = c
			}
		}
		if len(calls) == 0 {
			continue
		}
		for stream := range k.Streams() {
			for index, n := range k.Occurrences(stream, func(n int) bool { return calls[n] != nil }).All() {
				c := calls[n]
				if c.Name() == tellsGraph {
					t.noteOrder(c, rank, stream, index)
					continue
				}
				p := c.Param("comm_dist_graph")
				if p == nil || p.Out.Type != trace.Handle {
					continue
				}
				comm := t.comms.At(rank, stream, index, p.Out.Num)
				if comm == nil || comm.Size < 1 || comm.Size > t.r.Ranks() {
					continue
				}
				g := t.graphs.of[comm]
				if g == nil {
					g = &Graph{out: make([][]int, comm.Size), in: make([][]int, comm.Size), order: make(map[int]neighbours)}
					t.graphs.of[comm] = g
				}
				g.tracks++
				ok := g.add(c)
				if edges += len(c.Param("destinations").In.Elems); !ok || edges > maxEdges {
					g.tracks -= comm.Size + 1 // never all
				}
			}
		}
	}
	for comm, g := range t.graphs.of {
		g.known = g.tracks == comm.Size
	}
	return nil
}

// add takes in the edges that one process gave.
func (g *Graph) add(c *trace.Call) bool {
	sources, degrees, destinations := c.Param("sources"), c.Param("degrees"), c.Param("destinations")
	if sources == nil || degrees == nil || destinations == nil || len(degrees.In.Elems) < len(sources.In.Elems) {
		return false
	}
	to := destinations.In.Elems
	for i := range sources.In.Elems {
		from, n := sources.In.Elems[i].Num, degrees.In.Elems[i].Num
		if from < 0 || from >= int64(len(g.out)) || n < 0 || n > int64(len(to)) {
			return false
		}
		for _, v := range to[:n] {
			if v.Num < 0 || v.Num >= int64(len(g.in)) {
				return false
			}
			g.out[from] = append(g.out[from], int(v.Num))
			g.in[v.Num] = append(g.in[v.Num], int(from))
		}
		to = to[n:]
	}
	return true
}

// noteOrder keeps what MPI_Dist_graph_neighbors said. The graph may not be there
// yet only if the communicator was made otherwise.
func (t *Table) noteOrder(c *trace.Call, rank, stream int, index uint64) {
	p := c.Param("comm")
	if p == nil || p.In.Type != trace.Handle {
		return
	}
	comm := t.comms.At(rank, stream, index, p.In.Num)
	g := t.graphs.of[comm]
	if g == nil {
		return
	}
	for own := range comm.Size {
		if comm.WorldRank(own) == rank {
			g.order[own] = neighbours{numbers(c.Param("sources")), numbers(c.Param("destinations"))}
			return
		}
	}
}

func numbers(p *trace.Param) []int {
	if p == nil {
		return nil
	}
	list := make([]int, len(p.Out.Elems))
	for i := range list {
		list[i] = int(p.Out.Elems[i].Num)
	}
	return list
}
