package calltree

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// An interpreter is a recursive function: each loop of the program that it runs is the same loop of the machine
// code. If these cannot be distinguished, this part of the tree is built from the order of calls. Its functions are
// taken from the recorded stacks, as for traces without machine code.

// A recursive is a function that calls itself, given by the outermost vertex of the function on the stack.
type recursive struct {
	p      *placer
	around int    // number of vertices around the function's outermost vertex
	within []bool // by vertex: it is the function's outermost vertex or below that
	vertex []int  // by leaf: its vertex; -1: none
	known  map[[2]int]bool
}

func (r *recursive) placed(leaf int) bool { return r.vertex[leaf] >= 0 }

func (r *recursive) has(leaf int) bool { return r.placed(leaf) && r.within[r.vertex[leaf]] }

// enters reports whether the function was called from outside between two calls; a = -1: from the beginning of the
// thread.
func (r *recursive) enters(a, b int) bool {
	if b < 0 || !r.has(b) {
		return false
	}
	if a < 0 || !r.has(a) {
		return true
	}
	return once.GetOrMake(r.known, [2]int{r.vertex[a], r.vertex[b]}, func() bool {
		kept, _ := r.p.ways.CommonVertices(r.vertex[a], r.vertex[b])
		return kept <= r.around
	})
}

// noLeaf is the leaf of an entry: a place at which another function calls this one.
const noLeaf = -1

// entry returns the node of an entry.
func (f *nodeShaper) entry() *node {
	return once.GetOrMake(f.leaf, noLeaf, func() *node {
		return &node{kind: callKind, size: 1, terms: terms{{noLeaf, 1}}, shape: f.shape('e')}
	})
}

func (n *node) isEntry() bool { return n.kind == callKind && n.terms[0].leaf == noLeaf }

// recursive rebuilds the nodes below recursive functions whose loops could not be distinguished. nodes has the node of
// each vertex; recursive sets those that it rebuilds to nil.
func (b *builder) recursive(nodes []*Node) {
	c := b.placer.code
	for i := 0; i < len(c.Vertices); i++ {
		n := nodes[i]
		if n == nil || c.Vertices[i].Kind != trace.FunctionVertex || c.Vertices[i].RecursionOf >= 0 || len(n.Body) == 0 || n.Body[0].Kind != "recursion" || n.told() {
			continue
		}
		r := &recursive{p: b.placer, around: len(b.placer.ways.VerticesAround(i)), within: make([]bool, len(c.Vertices)), known: make(map[[2]int]bool)}
		var names []string // functions from the outermost one down to this one
		for _, v := range append(slices.Clone(b.placer.ways.VerticesAround(i)), i) {
			if c.Vertices[v].Kind == trace.FunctionVertex {
				names = append(names, c.Vertices[v].Name)
			}
		}
		r.within[i] = true
		for i+1 < len(c.Vertices) && c.Vertices[i+1].Parent >= 0 && r.within[c.Vertices[i+1].Parent] {
			i++
			r.within[i], nodes[i] = true, nil
		}
		r.vertex = make([]int, b.leaves.Len())
		for leaf := range r.vertex {
			r.vertex[leaf] = b.placer.vertex[b.leaves.Terminal(leaf)]
		}
		n.Body = b.p.below(b.folded(r), names)
	}
}

// told reports whether all loops in a node have calls and known iterations.
func (n *Node) told() bool {
	return !n.EntriesAreLowerBound && n.Sums.Calls > 0 && !slices.ContainsFunc(n.Body, func(x *Node) bool { return !x.told() })
}

// folded returns the structure of a recursive function from the order of calls: of one call of it, if all are
// equal.
func (b *builder) folded(r *recursive) []*Node {
	f := newFolder(b.label, b.isPoll)
	f.only, f.shapes = r, b.shapes
	list := f.fold(b.leaves.Structure())
	body := scaled(list, 1)
	if len(list) == 1 && list[0].kind == loopKind {
		entries := 0
		for _, x := range list[0].body {
			if x.n.isEntry() {
				entries++
			}
		}
		if entries == 1 {
			body = list[0].body
		}
	}
	out := &Node{}
	b.nodes(out, body, 1)
	return out.Body
}

// below adds function nodes to a body. They are below the functions named in around, which contain all of the body.
func (p *Tree) below(body []*Node, around []string) []*Node {
	g := grouper{p.Sites, make(map[int][]CallPathStep)}
	depth := -1
	var look func(list []*Node)
	look = func(list []*Node) {
		for _, n := range list {
			if n.SiteNumber == 0 {
				look(n.Body)
				continue
			}
			path := p.Sites[n.SiteNumber-1].Path
			if depth < 0 {
				depth = 0
				for _, name := range around {
					k := slices.IndexFunc(path[depth:], func(s CallPathStep) bool { return s.Name == name })
					depth += k + 1
				}
			}
			if len(path) > 0 {
				n.Place = path[len(path)-1].Place
			}
		}
	}
	look(body)
	return g.group(body, max(0, depth))
}
