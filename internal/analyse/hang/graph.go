// Analyse finds out which ranks of a program can never go on: from what each waits for,
// it makes the wait-for graph of the field's deadlock detectors, and decides in it.
//
// A rank waits for all of some ranks (AND: a barrier, MPI_Waitall) or for one of some (OR: a
// receive with a wildcard, MPI_Waitany), or for both kinds nested. The decision is that of
// Hilbrich, de Supinski, Schulz and Müller, A Graph Based Approach for MPI Deadlock Detection
// (ICS 2009), section 4: who does not wait can go on; who waits for ranks that can go on can go
// on, too; whoever is left when nothing changes any more is stuck. It errs on one side only: a
// rank that is not known to wait counts as one that may do what others wait for.

package hang

import "slices"

// A Condition is what a rank waits for. Several ranks may share a Condition.
type Condition struct {
	AnySuffices bool         // the condition is met if any one of Ranks acts or of Conditions is met; else all must
	Ranks       []int        // world ranks that must act
	Conditions  []*Condition // conditions that must be met
}

// A RankNode is a rank as a vertex of a Graph.
type RankNode struct {
	Ended    bool       // the rank has ended, and can't act any more
	WaitsFor *Condition // what the rank waits for; nil: it can go on
}

// A Graph is a wait-for graph. Its vertices are ranks, then conditions, numbered from 0.
type Graph struct {
	nodes      []RankNode
	conditions []*Condition       // all conditions that ranks wait for, with those in them; each once
	number     map[*Condition]int // index in conditions
	free       []bool             // by rank: whether it can go on
	met        []bool             // by index in conditions: whether the condition can be met
}

// NewGraph makes the graph of a world's ranks, given by rank. Conditions may name only these ranks.
func NewGraph(nodes []RankNode) *Graph {
	g := &Graph{nodes: nodes, number: make(map[*Condition]int), free: make([]bool, len(nodes))}
	for i := range nodes {
		g.add(nodes[i].WaitsFor)
	}
	g.met = make([]bool, len(g.conditions))
	g.release()
	return g
}

func (g *Graph) add(c *Condition) {
	if c == nil {
		return
	}
	if _, ok := g.number[c]; ok {
		return
	}
	g.number[c] = len(g.conditions)
	g.conditions = append(g.conditions, c)
	for _, d := range c.Conditions {
		g.add(d)
	}
}

// vertex returns the number of the vertex that is a condition. Numbers of ranks come before.
func (g *Graph) vertex(c *Condition) int { return len(g.nodes) + g.number[c] }

func (g *Graph) size() int { return len(g.nodes) + len(g.conditions) }

// successors calls visit with the number of each vertex that vertex v waits for.
func (g *Graph) successors(v int, visit func(int)) {
	if v < len(g.nodes) {
		if n := &g.nodes[v]; n.WaitsFor != nil && !n.Ended {
			visit(g.vertex(n.WaitsFor))
		}
		return
	}
	c := g.conditions[v-len(g.nodes)]
	for _, r := range c.Ranks {
		visit(r)
	}
	for _, d := range c.Conditions {
		visit(g.vertex(d))
	}
}

// predecessors lists the vertices that wait for a vertex, by the number of that vertex.
func (g *Graph) predecessors() [][]int {
	list := make([][]int, g.size())
	for v := range list {
		g.successors(v, func(w int) { list[w] = append(list[w], v) })
	}
	return list
}

// release finds the ranks that can go on and the conditions that can be met, and sets free and met. It visits each edge
// of the graph once.
func (g *Graph) release() {
	waiting := g.predecessors()
	missing := make([]int, len(g.conditions)) // by condition: how many more of its ranks and conditions it needs
	var next []int
	for i, c := range g.conditions {
		missing[i] = len(c.Ranks) + len(c.Conditions)
		switch {
		case missing[i] == 0 && !c.AnySuffices:
			next = append(next, len(g.nodes)+i)
		case c.AnySuffices:
			missing[i] = 1
		}
	}
	for i := range g.nodes {
		if g.nodes[i].WaitsFor == nil && !g.nodes[i].Ended {
			next = append(next, i)
		}
	}
	done := make([]bool, g.size())
	for len(next) > 0 {
		v := next[len(next)-1]
		next = next[:len(next)-1]
		if done[v] {
			continue
		}
		done[v] = true
		for _, w := range waiting[v] {
			if w < len(g.nodes) {
				next = append(next, w)
				continue
			}
			if missing[w-len(g.nodes)]--; missing[w-len(g.nodes)] == 0 {
				next = append(next, w)
			}
		}
	}
	copy(g.free, done)
	copy(g.met, done[len(g.nodes):])
}

// IsStuck reports whether a rank waits for a condition that can never be met.
func (g *Graph) IsStuck(rank int) bool { return !g.free[rank] && !g.nodes[rank].Ended }

// IsWaiting reports whether a rank has something to wait for, even if that can still happen.
func (g *Graph) IsWaiting(rank int) bool {
	return g.nodes[rank].WaitsFor != nil && !g.nodes[rank].Ended
}

// AwaitedRanks lists the ranks that a rank waits for directly, in rising order. For a stuck rank, it lists only those
// that can't go on either.
func (g *Graph) AwaitedRanks(rank int) []int {
	var list []int
	stuck := g.IsStuck(rank)
	seen := make(map[int]bool)
	var walk func(v int)
	walk = func(v int) {
		g.successors(v, func(w int) {
			switch {
			case seen[w]:
			case w >= len(g.nodes):
				seen[w] = true
				if !stuck || !g.met[w-len(g.nodes)] {
					walk(w)
				}
			case !stuck || !g.free[w]:
				seen[w] = true
				list = append(list, w)
			}
		})
	}
	walk(rank)
	slices.Sort(list)
	return list
}

// TransitiveDependents lists, in rising order, the ranks that wait for a rank: directly, or for ranks that do.
func (g *Graph) TransitiveDependents(rank int) []int {
	waiting := g.predecessors()
	seen := make([]bool, g.size())
	next := []int{rank}
	seen[rank] = true
	var list []int
	for len(next) > 0 {
		v := next[len(next)-1]
		next = next[:len(next)-1]
		for _, w := range waiting[v] {
			if !seen[w] {
				seen[w] = true
				next = append(next, w)
				if w < len(g.nodes) {
					list = append(list, w)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}
