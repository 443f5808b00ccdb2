package extrapolate

import (
	"errors"
	"slices"

	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// An outline is the machine code around the calls of all runs: functions, loops and calls, each in its context.
type outline struct {
	named bool // runs use different builds of the program: code is matched by names and order
	nodes []outlined
	of    map[outlineKey]int32
}

type outlined struct {
	kind     trace.VertexKind
	children []int32 // indices of the nodes in it, in the order of the code
	places   []int32 // of a call: its indices in program.places
}

// An outlineKey identifies a vertex in all runs.
type outlineKey struct {
	parent int32
	nth    int // number among siblings that are otherwise equal, from 0
	kind   trace.VertexKind
	offset uint64
	name   string
}

// top is the index of the node around the outermost functions.
const top = 0

// add adds a run's code to the outline, and returns the index of each vertex's node.
func (o *outline) add(c *trace.Code) []int32 {
	list := make([]int32, len(c.Vertices))
	equal := make(map[outlineKey]int)
	next := make(map[int32]int) // by node: position for a new child
	for i := range c.Vertices {
		v := &c.Vertices[i]
		k := outlineKey{parent: top, kind: v.Kind, offset: v.Offset, name: v.Name}
		if o.named {
			k.offset = 0
		}
		if v.Parent >= 0 {
			k.parent = list[v.Parent]
		}
		equal[k]++
		k.nth = equal[k] - 1
		n, known := o.of[k]
		in := &o.nodes[k.parent].children
		if known {
			next[k.parent] = max(next[k.parent], slices.Index(*in, n)+1)
		} else {
			n = int32(len(o.nodes))
			o.of[k] = n
			*in = slices.Insert(*in, next[k.parent], n)
			next[k.parent]++
			o.nodes = append(o.nodes, outlined{kind: v.Kind})
		}
		list[i] = n
	}
	return list
}

// A way finds the loop transitions between a run's calls in its machine code.
type way struct {
	code  *trace.Code
	ways  *tree.TransitionFinder
	nodes []int32 // by vertex: index of its node in the program's outline
	known map[[2]int]turn
}

// A turn is the loop transition between two consecutive calls: the number of loops that stay open, and whether the
// innermost of these begins another iteration.
type turn struct {
	kept  int8
	round bool
}

var errNoWay = errors.New("the machine code has no way from one call to the next")

// turn returns the loop transition between two calls, given by their vertices; a = -1 is the beginning of the run.
func (w *way) turn(a, b int) (turn, error) {
	if t, ok := w.known[[2]int{a, b}]; ok {
		return t, nil
	}
	if a >= 0 && w.ways.Transition(a, b) == trace.UnknownIteratedLoop {
		return turn{}, errNoWay
	}
	kept, round := w.ways.CommonVertices(a, b)
	t := turn{round: round}
	for _, v := range w.ways.VerticesAround(b)[:kept] {
		if w.code.Vertices[v].RecursionOf >= 0 {
			return turn{}, errNoWay // a recursion is not a loop
		}
		if w.code.Vertices[v].Kind == trace.LoopVertex {
			t.kept++
		}
	}
	w.known[[2]int{a, b}] = t
	return t, nil
}

// shape makes the shape of the code: a node for each loop around places, and for each place. All places must be in
// the code.
func (o *outline) shape(places int) (*shape, error) {
	s := newShape(places)
	s.coded = true
	var list func(n int32, in *node)
	list = func(n int32, in *node) {
		x := &o.nodes[n]
		if x.kind == trace.LoopVertex && o.reached(n) {
			in = s.add(&node{place: -1, lo: s.size}, in)
		}
		for _, p := range x.places {
			s.leaf(p, in)
		}
		for _, c := range x.children {
			list(c, in)
		}
		in.hi = s.size - 1
	}
	list(top, s.root)
	switch {
	case s.size < places:
		return nil, errNoWay
	case slices.ContainsFunc(s.nodes, func(n *node) bool { return len(n.around) > maxDepth+1 }):
		return nil, errDeep
	}
	return s, nil
}

// reached reports whether any run made a call at the node with index n or at a node inside it.
func (o *outline) reached(n int32) bool {
	return len(o.nodes[n].places) > 0 || slices.ContainsFunc(o.nodes[n].children, o.reached)
}

// wayOf adds a run's machine code to the outline, and returns the run's way; nil without machine code.
func (o *outline) wayOf(r *trace.Reader) (*way, error) {
	c, err := r.Code()
	if c == nil {
		return nil, err
	}
	return &way{c, tree.NewTransitionFinder(c), o.add(c), make(map[[2]int]turn)}, nil
}
