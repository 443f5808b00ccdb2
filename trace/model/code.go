package model

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Code is the structure of the program's machine code: functions, loops and MPI calls as a tree. Each has
// one vertex for each context, that is for each chain of callers and loops around it. Code is determined from the
// binaries after the run.
type Code struct {
	// Vertices is in preorder: each vertex follows its parent, and those of one body are in the order of the code.
	Vertices []Vertex
	// Contexts is sorted by site and function. A call without an entry could not be found in the code.
	Contexts []Context
	// UnorderedTransitions lists those steps from one call to the next that the order of vertices does not imply, see
	// CallTransition.
	UnorderedTransitions []CallTransition
	// ExclusivePairs lists pairs of vertices of one body that exclude each other: an iteration, or a call of the function,
	// reaches at most one of them. The first of a pair is the lower number; pairs are sorted.
	ExclusivePairs [][2]int
}

// A VertexKind says what a Vertex is.
type VertexKind uint8

// The kinds of vertices.
const (
	FunctionVertex VertexKind = iota // a function, called from one place
	LoopVertex
	CallVertex // a call of MPI
)

// A Vertex is a function, loop or call in its context.
type Vertex struct {
	Kind   VertexKind
	Parent int // number of the enclosing vertex; -1: none
	// Name is the name of the function or MPI function; "" for a loop.
	Name string
	// The place of the loop, or from where the function is called. File has no folders, Line is 0 if unknown,
	// Offset is relative to the module. Inlined lists the functions inlined there, innermost first, each with its
	// place.
	File    string
	Line    int
	Offset  uint64
	Inlined []string
	// RecursionOf is the enclosing vertex of the same function if this one is a recursive call, else -1.
	RecursionOf int
	TailCall    bool // called by a jump: call stacks do not show the function around
	// RoundsAtLeast: the loop may have had further iterations without MPI calls.
	RoundsAtLeast bool
	// EntriesUnsure: the loop may have been entered more often, with fewer iterations each time; the sum of iterations is
	// right.
	EntriesUnsure bool
}

// LocationText returns the location as text: file:line, or the offset if lines are unknown, preceded by inlined functions;
// "" for a thread's outermost function.
func (v *Vertex) LocationText() string {
	if v.Parent < 0 {
		return ""
	}
	where := fmt.Sprintf("+0x%x", v.Offset)
	if v.Line > 0 {
		where = fmt.Sprintf("%s:%d", path.Base(v.File), v.Line)
	}
	return strings.Join(append(slices.Clone(v.Inlined), where), " < ")
}

// A Context maps a function called from a site, given by its number among the trace's sites, to its vertex.
type Context struct {
	Function uint16 // id
	Site     int    // number among the trace's sites
	Vertex   int
}

// A CallTransition is the way from one call to the next, for steps that the order of vertices does not imply. If the
// second call's branch comes later in the code, the implied way is NoLoopTransition. Otherwise it is another iteration
// of the innermost loop around both.
type CallTransition struct {
	From, To int // vertices of calls
	Loop     LoopTransition
}

// A LoopTransition is NoLoopTransition, UnknownTransition, or the number of the loop that begins another iteration.
// Loops are counted outwards from 1, the innermost.
type LoopTransition int

// Transitions that begin no iteration of a loop.
const (
	NoLoopTransition  LoopTransition = 0
	UnknownTransition LoopTransition = -1 // the code has no path between the two calls
)

// Compare orders contexts by site and function.
func (x Context) Compare(y Context) int {
	return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(x.Function, y.Function))
}

// LoopsAround counts the loops that contain both vertices.
func (c *Code) LoopsAround(a, b int) (n int) {
	around := make(map[int]bool)
	for v := c.Vertices[a].Parent; v >= 0; v = c.Vertices[v].Parent {
		around[v] = true
	}
	for v := c.Vertices[b].Parent; v >= 0; v = c.Vertices[v].Parent {
		if around[v] && c.Vertices[v].Kind == LoopVertex {
			n++
		}
	}
	return n
}

// VertexOf returns the vertex of a function's call from a site, given by its number among the trace's sites; -1 if
// the call has none.
func (c *Code) VertexOf(function uint16, site int) int {
	i, ok := slices.BinarySearchFunc(c.Contexts, Context{Function: function, Site: site}, Context.Compare)
	if !ok {
		return -1
	}
	return c.Contexts[i].Vertex
}

// MaySkipIterations reports whether a vertex is a function or call directly in a loop, and some iterations of that loop
// may not reach it. It is false for loops with RoundsAtLeast.
func (c *Code) MaySkipIterations(v int) bool {
	up := c.Vertices[v].Parent
	if up < 0 || c.Vertices[v].Kind == LoopVertex || c.Vertices[up].Kind != LoopVertex || c.Vertices[up].RoundsAtLeast {
		return false
	}
	first := up + 1 // if the loop's body has no other vertex, each iteration reaches it
	return v != first || slices.ContainsFunc(c.Vertices[v+1:], func(x Vertex) bool { return x.Parent == up })
}

// An OuterLoop is a loop in the outermost sequence of a stream.
type OuterLoop struct {
	SymbolIndex       int32  // index of the loop in that sequence
	Iterations        uint64 // iterations
	CallsPerIteration uint64 // calls in each iteration
}
