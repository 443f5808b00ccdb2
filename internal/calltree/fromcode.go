package calltree

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// A placer arranges the calls of a rank by the functions and loops of the machine code.
type placer struct {
	frames int // largest number of recorded frames of a stack
	code   *trace.Code
	ways   *tree.TransitionFinder
	vertex []int // by terminal: its vertex; -1: none
}

func newPlacer(r *trace.Reader, k *trace.Rank, c *trace.Code) (*placer, error) {
	frames, err := tree.StackLimit(r)
	if err != nil {
		return nil, err
	}
	return &placer{frames: frames, code: c, ways: tree.NewTransitionFinder(c), vertex: tree.VertexByTerminal(k, c)}, nil
}

// cutShort reports whether a call's stack has the largest number of recorded frames, so that it may be truncated.
func (b *builder) cutShort(terminal int) bool {
	c := b.k.CallWithoutParams(terminal)
	return b.placer.frames > 1 && len(c.Site.Frames()) == b.placer.frames
}

// cutFrames returns the offsets of the frames of calls that have no vertex and whose stacks may be truncated.
func (b *builder) cutFrames() map[uint64]bool {
	cut := make(map[uint64]bool)
	for terminal, v := range b.placer.vertex {
		if v >= 0 || !b.cutShort(terminal) {
			continue
		}
		c := b.k.CallWithoutParams(terminal)
		for _, f := range c.Site.Frames() {
			cut[f.Offset] = true
		}
	}
	return cut
}

// A nodeKey identifies a node within a body. Only in recursive functions several vertices have the same key.
type nodeKey struct {
	in     *Node
	kind   trace.VertexKind
	name   string
	file   string
	line   int
	offset uint64
}

// count assigns the program's own iteration counts to loops, by file and line. It skips lines with several loops,
// such as copies of one.
func count(top *Node) {
	counted := make(map[string]*AttachedSum)
	for i := range top.Sums.Values {
		v := &top.Sums.Values[i]
		where, _, _ := strings.Cut(v.Name, " ")
		if _, several := counted[where]; several {
			v = nil
		}
		counted[where] = v
	}
	if len(counted) == 0 {
		return
	}
	loops := make(map[string][]*Node)
	var look func(n *Node)
	look = func(n *Node) {
		if n.Kind == "loop" {
			innermost, _, _ := strings.Cut(n.Place, " < ")
			where := innermost[strings.LastIndex(innermost, " ")+1:]
			loops[where] = append(loops[where], n)
		}
		for _, x := range n.Body {
			look(x)
		}
	}
	look(top)
	for where, list := range loops {
		if len(list) == 1 {
			list[0].RoundsByProgram = counted[where]
		}
	}
}

// alike reports, by vertex, whether a vertex at another offset in the same body has the same text.
func alike(c *trace.Code) []bool {
	type text struct {
		parent int
		kind   trace.VertexKind
		name   string
		where  string
	}
	is, first := make([]bool, len(c.Vertices)), make(map[text]int)
	for i := range c.Vertices {
		v := &c.Vertices[i]
		if v.Kind == trace.LoopVertex || v.Line == 0 || v.Parent < 0 {
			continue
		}
		key := text{v.Parent, v.Kind, v.Name, v.SourceLocationText()}
		if j, seen := first[key]; !seen {
			first[key] = i
		} else if c.Vertices[j].Offset != v.Offset {
			is[i], is[j] = true, true
		}
	}
	return is
}

// placed makes the nodes of a thread from vertices, without searching for loops. tree.TransitionFinder counts entries
// and iterations in the compressed form. TransitionFinder.CodeGrammar would give the same, but goes through the calls
// one by one.
func (b *builder) placed(stream int) Thread {
	n := len(b.placer.code.Vertices)
	x := &placing{
		builder: b, code: b.placer.code, counts: b.placer.ways.CountRuns(b.k.Structure(stream), b.placer.vertex), top: &Node{},
		byKey: make(map[nodeKey]*Node), alike: alike(b.placer.code), deeper: b.truncatedRecursions(),
		nodes: make([]*Node, n), bodies: make([]*Node, n), lists: make(map[*Node]terms),
	}
	for i := range x.code.Vertices {
		x.addVertex(i)
	}
	x.addCalls()
	x.fill(x.top)
	b.parts, b.known, b.shapes = make(map[int]int), make(map[*node]Sums), make(map[string]int)
	b.recursive(x.nodes)
	b.branch(x.nodes, x.counts.UnexplainedSteps == 0, x.counts.VertexIterations)
	count(x.top)
	return Thread{
		Number: stream, StartFunction: b.of[stream], SharedMeanCalls: b.shared, NoPathTransitions: x.counts.UnexplainedSteps,
		Body: append([]*Node{}, x.top.Body...), Total: x.top.Sums,
	}
}

// truncatedRecursions reports which functions' truncated stacks include a recursive call, by vertex.
func (b *builder) truncatedRecursions() []bool {
	cut, vertices := b.cutFrames(), b.placer.code.Vertices
	is := make([]bool, len(vertices))
	for i := range vertices {
		if v := &vertices[i]; v.RecursionOf >= 0 && cut[v.Offset] {
			is[v.RecursionOf] = true
		}
	}
	return is
}

// A placing is the state of making a thread's nodes.
type placing struct {
	*builder
	code   *trace.Code
	counts tree.Counts
	top    *Node
	byKey  map[nodeKey]*Node
	lists  map[*Node]terms // calls of each node

	alike, deeper []bool  // by vertex: results of alike and of truncatedRecursions
	nodes, bodies []*Node // by vertex: its node, and the node whose body gets the vertices below it
}

// addVertex adds the counts of a vertex to its node.
func (x *placing) addVertex(i int) {
	v, n := &x.code.Vertices[i], &x.counts.VertexRounds[i]
	if n.Entries == 0 {
		return
	}
	if v.RecursionOf >= 0 {
		x.bodies[i] = x.bodies[v.RecursionOf]
		return
	}
	node := x.nodeOf(i)
	if node.Entries == 0 {
		node.LeastRounds, node.MostRounds, node.RoundsStep = n.LeastRounds, n.MostRounds, n.RoundsStep
	} else {
		node.RoundsStep = 0 // two vertices share the node
	}
	node.Entries += n.Entries
	node.Rounds += n.Rounds
	node.LeastRounds, node.MostRounds = min(node.LeastRounds, n.LeastRounds), max(node.MostRounds, n.MostRounds)
	node.RoundsAreLowerBound, node.EntriesAreLowerBound = node.RoundsAreLowerBound || v.RoundsAreLowerBound, node.EntriesAreLowerBound || v.EntriesAreLowerBound
	x.nodes[i], x.bodies[i] = node, node
	switch v.Kind {
	case trace.LoopVertex:
		node.Kind = "loop"
	case trace.CallVertex:
		node.Kind = "call"
	default:
		node.Kind, node.Function, node.CallerPlace, node.Place = "function", v.Name, node.Place, ""
		if a := &x.counts.VertexRecursions[i]; a.Rounds > a.Entries {
			inner := &Node{Kind: "recursion", Entries: a.Entries, Rounds: a.Rounds, LeastRounds: a.LeastRounds, MostRounds: a.MostRounds, RoundsStep: a.RoundsStep, RoundsAreLowerBound: x.deeper[i]}
			node.Body = append(node.Body, inner)
			x.bodies[i] = inner
		}
	}
}

// nodeOf returns the node of a vertex, which it makes at the first use. Vertices in one body that have the same text
// and offset share a node.
func (x *placing) nodeOf(i int) *Node {
	v, in := &x.code.Vertices[i], x.top
	if v.Parent >= 0 {
		in = x.bodies[v.Parent]
	}
	return once.GetOrMake(x.byKey, nodeKey{in, v.Kind, v.Name, v.File, v.Line, v.Offset}, func() *Node {
		where := v.SourceLocationText()
		if x.alike[i] {
			where += fmt.Sprintf(" +0x%x", v.Offset)
		}
		n := &Node{Place: where, offset: v.Offset}
		in.Body = append(in.Body, n)
		return n
	})
}

// addCalls assigns calls to nodes. Calls without a vertex get a node of kind elsewhere for each site.
func (x *placing) addCalls() {
	elsewhere := make(map[int]*Node) // by site
	var others []*Node
	for leaf, count := range x.leaves.Counts(x.k) {
		if count == 0 {
			continue
		}
		var n *Node
		terminal := x.leaves.Terminal(leaf)
		if v := x.placer.vertex[terminal]; v >= 0 {
			n = x.nodes[v]
		} else if n = elsewhere[x.label[leaf]]; n == nil {
			n = &Node{Kind: "call", LeastRounds: 1, MostRounds: 1}
			elsewhere[x.label[leaf]] = n
			others = append(others, n)
			if x.cutShort(terminal) {
				x.p.ExceededStackLimit = x.placer.frames
			}
		}
		x.lists[n] = append(x.lists[n], term{leaf, count})
	}
	if others != nil {
		x.top.Body = append(x.top.Body, &Node{Kind: "elsewhere", Entries: 1, Rounds: 1, LeastRounds: 1, MostRounds: 1, Body: others})
	}
}

// fill computes the times of a node and everything below it.
func (x *placing) fill(n *Node) {
	if n.Kind == "loop" {
		x.enter(n)
	}
	if list := x.lists[n]; list != nil {
		x.call(n, list, 1)
		n.Entries, n.Rounds, n.LeastRounds, n.MostRounds = n.Sums.Calls, n.Sums.Calls, 1, 1
	}
	for _, in := range n.Body {
		x.fill(in)
		n.Sums.Add(&in.Sums)
	}
	if n.Kind == "loop" {
		n.sayOnce()
	}
}

// enter sets the compute time before the entries of a loop: that before its first call. This is known if that call
// enters a loop equally often in the compressed order of calls.
func (x *placing) enter(n *Node) {
	first := n
	for len(first.Body) > 0 {
		first = first.Body[0]
	}
	defer func() { x.firstOf(n, x.lists[first], 1, n.EntryComputeNs) }()
	for loops, more := 0, true; more && n.EntryComputeNs == nil && n.MostRounds > 1; loops++ {
		calls, sum, further := 0.0, 0.0, 0.0
		more = false
		for _, t := range x.lists[first] {
			if list := x.enters[t.leaf]; len(list) > 0 {
				e := list[min(loops, len(list)-1)]
				k := e.part * float64(t.count)
				calls, sum, further = calls+k, sum+k*e.gap, further+k*e.further
				more = more || loops+1 < len(list)
			}
		}
		if calls > 0 && math.Abs(calls-float64(n.Entries)) < 0.5 {
			sum /= calls
			n.EntryComputeNs = &sum
			if further /= calls; !math.IsNaN(further) {
				n.LaterIterationComputeNs = &further
			}
		}
	}
}

// branch sets the branches of bodies, given the node of each vertex. It skips nodes of several vertices, as these
// are several places in the code. counted reports whether iterations are known; taken is by vertex the iterations
// that reached it.
func (b *builder) branch(nodes []*Node, counted bool, taken []code.IterationPattern) {
	c := b.placer.code
	of := make(map[*Node]int) // number of vertices of each node
	for _, n := range nodes {
		of[n]++
	}
	in := make(map[*Node]code.IterationPattern)
	for i, n := range nodes {
		if n != nil && of[n] == 1 {
			in[n] = taken[i]
		}
	}
	apart := make(map[[2]*Node]bool)
	for _, p := range c.ExclusivePairs {
		x, y := nodes[p[0]], nodes[p[1]]
		up := c.Vertices[p[0]].Parent
		if x == nil || y == nil || up < 0 || nodes[up] == nil || of[x] > 1 || of[y] > 1 || of[nodes[up]] > 1 {
			continue
		}
		apart[[2]*Node{x, y}], apart[[2]*Node{y, x}] = true, true
		nodes[up].Branches = []code.Branch{} // not nil: branches are to be determined
	}
	for _, n := range nodes {
		if n == nil || of[n] > 1 {
			continue
		}
		if n.Branches != nil {
			n.Branches = code.Branches(len(n.Body), func(i, j int) bool { return apart[[2]*Node{n.Body[i], n.Body[j]}] })
		}
		if counted && n.Kind == "loop" && !n.RoundsAreLowerBound {
			n.taken(n.Branches, n.Rounds, true)
			if !n.EntriesAreLowerBound {
				n.iterations(in)
			}
		}
	}
}

// taken determines how many of a loop's iterations took each arm of a branch. rounds is the number of iterations
// that reached the branch, an upper bound unless known is set. If an arm's direct calls were made equally often,
// that is how often it was taken. Functions may be called, and loops entered, without an MPI call, so that arms
// without direct calls have only a lower bound. If all bounds add up to the iterations, they are exact.
func (n *Node) taken(list []code.Branch, rounds uint64, known bool) {
	for _, branch := range list {
		sum, exact := uint64(0), true
		least := make([]uint64, len(branch.Arms))
		for i := range branch.Arms {
			w := &branch.Arms[i]
			for k := w.FirstItem; k < w.EndItem; k++ {
				x := n.Body[k]
				if slices.ContainsFunc(w.Branches, func(inner code.Branch) bool {
					return k >= inner.Arms[0].FirstItem && k < inner.Arms[len(inner.Arms)-1].EndItem
				}) {
					continue
				}
				if x.Kind == "call" {
					exact = exact && (w.TakenCount == 0 || w.TakenCount == x.Sums.Calls)
					w.TakenCount = x.Sums.Calls
				}
				least[i] = max(least[i], x.Entries)
			}
			if w.TakenCount > 0 {
				least[i] = w.TakenCount
			}
			sum += least[i]
		}
		for i := range branch.Arms {
			w := &branch.Arms[i]
			switch {
			case !exact || sum > rounds:
				w.TakenCount = 0
			case sum == rounds && known:
				w.TakenCount = least[i]
			}
			if w.TakenCount > 0 {
				n.taken(w.Branches, w.TakenCount, true)
			} else {
				n.taken(w.Branches, rounds, false)
			}
		}
	}
}

// iterations determines in which iterations of a loop arms were taken, from those of the nodes. A node outside of
// branches that only some iterations reach gets a branch of its own.
func (n *Node) iterations(in map[*Node]code.IterationPattern) {
	covered := make([]bool, len(n.Body))
	var ways func(list []code.Branch)
	ways = func(list []code.Branch) {
		for _, b := range list {
			for i := range b.Arms {
				w := &b.Arms[i]
				for k := w.FirstItem; k < w.EndItem; k++ {
					covered[k] = true
					if at := in[n.Body[k]]; w.TakenIterations == nil && at.Count > 0 && !at.IsIrregular && at.Count*n.Entries == w.TakenCount {
						w.TakenIterations = &at
					}
				}
				ways(w.Branches)
			}
		}
	}
	ways(n.Branches)
	for i := 0; i < len(n.Body); {
		at, from := in[n.Body[i]], i
		for i++; i < len(n.Body) && !covered[i] && in[n.Body[i]] == at; i++ {
		}
		if taken := at.Count * n.Entries; !covered[from] && n.Body[from].Kind != "loop" && !at.IsIrregular && 0 < taken && taken < n.Rounds {
			n.Branches = append(n.Branches, code.Branch{Arms: []code.BranchArm{{FirstItem: from, EndItem: i, TakenCount: taken, TakenIterations: &at}}})
		}
	}
	slices.SortFunc(n.Branches, func(a, b code.Branch) int { return a.Arms[0].FirstItem - b.Arms[0].FirstItem })
}
