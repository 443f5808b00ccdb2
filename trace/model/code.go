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
	// CallSiteVertices is sorted by site and function. A call without an entry could not be found in the code.
	CallSiteVertices []CallSiteVertex
	// ExplicitTransitions lists the steps from one MPI call to the next that the order of vertices does not imply, see
	// CallTransition.
	ExplicitTransitions []CallTransition
	// ExclusivePairs lists pairs of vertices (indices in Vertices) of one body of which an iteration of the loop, or a
	// call of the function, reaches at most one. The first of a pair is the lower index; pairs are sorted.
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
	Parent int // index of the enclosing vertex in Code.Vertices; -1: it is a thread's outermost function
	// Name is the name of the function or MPI function; "" for a loop.
	Name string
	// The place in the code of the loop, or of the call of the function. File has no folders, Line is 0 if unknown,
	// Offset is that of the machine code in its module (library or executable). Inlined lists the functions that the
	// compiler inlined there, innermost first, each with the line in it.
	File    string
	Line    int
	Offset  uint64
	Inlined []string
	// RecursionOf is the index of the enclosing vertex of the same function if this one is a recursive call, else -1.
	RecursionOf int
	TailCall    bool // whether it is called by a jump, so that call stacks do not show the function with the jump
	// RoundsAreLowerBound says that the loop may have had further iterations without MPI calls, which are not counted.
	RoundsAreLowerBound bool
	// EntriesAreLowerBound says that the loop may have been entered more often, with fewer iterations each time. The sum of
	// its iterations is right.
	EntriesAreLowerBound bool
}

// SourceLocationText returns the location as text: file:line, or the offset if lines are unknown, preceded by inlined
// functions; "" for a thread's outermost function.
func (v *Vertex) SourceLocationText() string {
	if v.Parent < 0 {
		return ""
	}
	where := fmt.Sprintf("+0x%x", v.Offset)
	if v.Line > 0 {
		where = fmt.Sprintf("%s:%d", path.Base(v.File), v.Line)
	}
	return strings.Join(append(slices.Clone(v.Inlined), where), " < ")
}

// A CallSiteVertex says which vertex an MPI function has that is called from a site.
type CallSiteVertex struct {
	FunctionID uint16 // FunctionID.ID of the MPI function
	SiteIndex  int    // number of the site among the trace's sites, from 0
	// VertexIndex is the index in Code.Vertices.
	VertexIndex int
}

// A CallTransition says which loop begins another iteration between an MPI call and the next one, where the order of
// vertices does not imply that. It implies NoIteratedLoop if the second call comes later in the code than the first.
// Otherwise it implies another iteration of the innermost loop around both.
type CallTransition struct {
	FromVertex, ToVertex int // indices in Code.Vertices of the two calls
	Loop                 IteratedLoopNumber
}

// An IteratedLoopNumber is NoIteratedLoop, UnknownIteratedLoop, or the number of the loop that begins another iteration
// between two calls. The loops around both calls are counted outwards from 1, the innermost.
type IteratedLoopNumber int

// Values of IteratedLoopNumber that are not the number of a loop.
const (
	NoIteratedLoop      IteratedLoopNumber = 0
	UnknownIteratedLoop IteratedLoopNumber = -1 // the code has no path between the two calls
)

// Compare orders contexts by site and function.
func (x CallSiteVertex) Compare(y CallSiteVertex) int {
	return cmp.Or(cmp.Compare(x.SiteIndex, y.SiteIndex), cmp.Compare(x.FunctionID, y.FunctionID))
}

// LoopsAround returns the number of loops that contain both of two vertices.
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

// VertexOf returns the index in Vertices of the call of an MPI function (Function.ID) from the site with a number among
// the trace's sites. It returns -1 if the call was not found in the code.
func (c *Code) VertexOf(function uint16, site int) int {
	i, ok := slices.BinarySearchFunc(c.CallSiteVertices, CallSiteVertex{FunctionID: function, SiteIndex: site}, CallSiteVertex.Compare)
	if !ok {
		return -1
	}
	return c.CallSiteVertices[i].VertexIndex
}

// IsConditionalInLoop reports whether a vertex is a function or call directly in a loop, and some iterations of that loop
// may not reach it. It is false for loops with RoundsAreLowerBound.
func (c *Code) IsConditionalInLoop(v int) bool {
	up := c.Vertices[v].Parent
	if up < 0 || c.Vertices[v].Kind == LoopVertex || c.Vertices[up].Kind != LoopVertex || c.Vertices[up].RoundsAreLowerBound {
		return false
	}
	first := up + 1 // each counted iteration has an MPI call: all reach a vertex that is the only one in the body
	return v != first || slices.ContainsFunc(c.Vertices[v+1:], func(x Vertex) bool { return x.Parent == up })
}

// An OuterLoop is a loop in the outermost sequence of a stream.
type OuterLoop struct {
	SymbolIndex       int32  // index of the loop's symbol in that sequence, from 0
	Iterations        uint64 // number of iterations
	CallsPerIteration uint64 // number of calls in each iteration
}
