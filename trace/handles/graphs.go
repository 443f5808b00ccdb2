package handles

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A graph is the topology of a communicator that MPI_Dist_graph_create made. Each process may specify any of its
// edges, so it is known only if all processes have a track.
type graph struct {
	out, in [][]int // by rank in the communicator: the ranks at its edges, in the order in which these were added
	known   bool
	tracks  int
	order   map[int]neighbours // by rank in the communicator: its neighbours as MPI_Dist_graph_neighbors returned them
}

type neighbours struct{ in, out []int }

// maxEdges is the largest number of edges of all graphs of a run; graphs beyond are unknown.
const maxEdges = 1 << 24

// maxGraphs limits how many calls that create or query graphs are processed; in a run with more of them all graphs
// are unknown.
const maxGraphs = 1 << 20

// graph returns the topology of a communicator that MPI_Dist_graph_create made;
// nil if it is not known.
func (t *Table) graph(c *Comm) (*graph, error) {
	of, err := t.graphs()
	if g := of[c]; g != nil && g.known {
		return g, err
	}
	return nil, err
}

// asTold returns the neighbours in list in the order in which neighbourhood collectives use them. MPI leaves that order
// to the library, and only MPI_Dist_graph_neighbors returns it: in the second list, which is empty if the program did
// not call that. Then asTold returns the first list and false.
func asTold(list, told []int) ([]int, bool) {
	if len(list) < 2 {
		return list, true
	}
	if len(told) < len(list) {
		return list, false
	}
	told = told[:len(list)] // the program's array may have more elements than there are neighbours
	a, b := slices.Clone(list), slices.Clone(told)
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		return list, false
	}
	return told, true
}

// inGraph returns the neighbours of a rank in the graph that its call m made; self is its rank in the communicator.
func (t *Table) inGraph(rank, self int, m Creation) (n Neighbourhood, ok bool) {
	made, ok := makes(comm, m.Call)
	if !ok {
		return n, false
	}
	comms, err := t.Comms()
	if err != nil {
		return n, false
	}
	g, err := t.graph(comms.At(rank, m.Stream, m.Index, made.id))
	if g == nil || err != nil || self >= len(g.out) {
		return n, false
	}
	n.Sources, _ = asTold(g.in[self], g.order[self].in)
	n.Destinations, n.DestinationsAreOrdered = asTold(g.out[self], g.order[self].out)
	return n, true
}

const (
	makesGraph = "MPI_Dist_graph_create"
	tellsGraph = "MPI_Dist_graph_neighbors"
)

// findGraphs collects the edges of all graphs from all ranks.
func (t *Table) findGraphs() (map[*Comm]*graph, error) {
	graphs := make(map[*Comm]*graph)
	comms, err := t.Comms()
	if err != nil || !slices.ContainsFunc(t.r.Schema(), func(f *trace.Function) bool { return f.Name == makesGraph }) {
		return graphs, err
	}
	edges, looked := 0, 0
	for k, err := range t.r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		calls := make(map[int]*trace.Call)
		for n := range k.Terminals() {
			if c := k.CallWithoutParams(n); c.Name() != makesGraph && c.Name() != tellsGraph {
				continue
			}
			c, err := k.Terminal(n)
			if err != nil {
				return nil, err
			}
			if c.Return == 0 {
				calls[n] = c
			}
		}
		if len(calls) == 0 {
			continue
		}
		for stream := range k.Streams() {
			for index, n := range k.Occurrences(stream, func(n int) bool { return calls[n] != nil }).All() {
				if looked++; looked > maxGraphs {
					return nil, nil
				}
				c := calls[n]
				if c.Name() == tellsGraph {
					noteOrder(graphs, comms, c, k.Number(), stream, index)
					continue
				}
				p := c.Param("comm_dist_graph")
				if p == nil || p.Out.Type != trace.TypeHandle {
					continue
				}
				comm := comms.At(k.Number(), stream, index, p.Out.Num)
				if comm == nil || comm.Size < 1 || comm.Size > t.r.Ranks() {
					continue
				}
				g := once.GetOrMake(graphs, comm, func() *graph {
					return &graph{out: make([][]int, comm.Size), in: make([][]int, comm.Size), order: make(map[int]neighbours)}
				})
				g.tracks++
				ok := g.add(c)
				if edges += len(c.Param("destinations").In.Elems); !ok || edges > maxEdges {
					g.tracks -= comm.Size + 1 // so g.tracks can't reach comm.Size, and the graph stays unknown
				}
			}
		}
	}
	for comm, g := range graphs {
		g.known = g.tracks == comm.Size
	}
	return graphs, nil
}

// add adds the edges that a process specified in a call of MPI_Dist_graph_create. It returns false if they are invalid.
func (g *graph) add(c *trace.Call) bool {
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

// noteOrder stores what a call of MPI_Dist_graph_neighbors returned in the graph's order. It does nothing if the
// communicator has no entry in graphs.
func noteOrder(graphs map[*Comm]*graph, comms *Comms, c *trace.Call, rank, stream int, index uint64) {
	p := c.Param("comm")
	if p == nil || p.In.Type != trace.TypeHandle {
		return
	}
	comm := comms.At(rank, stream, index, p.In.Num)
	g := graphs[comm]
	if g == nil {
		return
	}
	for own := range comm.Size {
		if comm.WorldRank(own) == rank {
			from, to := c.Param("sources"), c.Param("destinations")
			if from != nil && to != nil {
				g.order[own] = neighbours{numbers(from.Out.Elems), numbers(to.Out.Elems)}
			}
			return
		}
	}
}
