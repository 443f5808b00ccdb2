package model

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Code is what the program's machine code says of its calls: functions, loops and calls of MPI as a tree, one
// vertex for each context, that is for each place with all that is around it. It is found out after the run, from the binaries.
type Code struct {
	// Vertices in preorder: each follows the one around it, and those of one body are in the order of the code.
	Vertices []Vertex
	// Contexts by rising site and function. A call whose context is not here could not be placed.
	Contexts []Context
	// UnorderedTransitions lists the steps from one call to the next that don't follow from the order of vertices, see Step.
	UnorderedTransitions []CallTransition
	// ExclusivePairs lists pairs of vertices of one body that exclude each other: an iteration, or a call of the function,
	// reaches at most one of both. The first of a pair is less; pairs are in order.
	ExclusivePairs [][2]int
}

// A VertexKind says what a Vertex is.
type VertexKind uint8

// The kinds of vertices.
const (
	FunctionVertex VertexKind = iota // a function as it is called from one place
	LoopVertex
	CallVertex // a call of MPI
)

// A Vertex is a function, a loop or a call in its context.
type Vertex struct {
	Kind   VertexKind
	Parent int // number of the vertex around; -1: none
	// Name of the function or of the MPI function; of a loop "".
	Name string
	// The place of the loop, or from where the function is called: file, without its folders, and line, 0 if that isn't known; functions
	// that are inlined there, innermost first, each with its place; offset in the module.
	File    string
	Line    int
	Offset  uint64
	Inlined []string
	// RecursionOf is the vertex of the same function further out if this one is a recursive call, else -1.
	RecursionOf int
	TailCall    bool // a jump calls it: call stacks didn't show the function around
	// RoundsAtLeast: there may have been more rounds of this loop, ones without a call of MPI.
	RoundsAtLeast bool
	// EntriesUnsure: the loop may have been entered more often, with fewer rounds each time; all rounds together are right.
	EntriesUnsure bool
}

// LocationText is the location as text: file:line, or the offset if lines are unknown, after those of inlined functions; ""
// for a thread's outermost function.
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

// A Context is the vertex of a call of a function from a site.
type Context struct {
	Function uint16 // id
	Site     int    // number in Sites
	Vertex   int
}

// A CallTransition says what lies between a call and the next one. Where the vertices of both part, the second may
// just come later in the code: the way leads forward. Else some loop around both has begun another round. Steps
// that aren't listed lead forward if they can by the order of vertices, else once round the innermost loop around both.
type CallTransition struct {
	From, To int // vertices of calls
	Loop     LoopTransition
}

// A LoopTransition is Forward, Lost, or the number of the loop that begins another iteration: 1 is the innermost, then outwards.
type LoopTransition int

// Ways that aren't rounds.
const (
	NoLoopTransition  LoopTransition = 0
	UnknownTransition LoopTransition = -1 // the code has no way between the two
)

// Compare orders contexts as Code has them.
func (x Context) Compare(y Context) int {
	return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(x.Function, y.Function))
}

// LoopsAround counts the loops around two vertices.
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

// VertexOf finds the vertex of a call of a function from a site, by its number in Sites; -1 if it could not be placed.
func (c *Code) VertexOf(function uint16, site int) int {
	i, ok := slices.BinarySearchFunc(c.Contexts, Context{Function: function, Site: site}, Context.Compare)
	if !ok {
		return -1
	}
	return c.Contexts[i].Vertex
}

// MaySkipIterations reports whether a vertex is a function or call directly in a loop that may be reached in some of its rounds only. Of loops with other
// rounds than are counted it is not asked.
func (c *Code) MaySkipIterations(v int) bool {
	up := c.Vertices[v].Parent
	if up < 0 || c.Vertices[v].Kind == LoopVertex || c.Vertices[up].Kind != LoopVertex || c.Vertices[up].RoundsAtLeast {
		return false
	}
	first := up + 1 // of what the loop has: if that is all, it is reached in each round
	return v != first || slices.ContainsFunc(c.Vertices[v+1:], func(x Vertex) bool { return x.Parent == up })
}

// A OuterLoop is a loop of the outermost sequence of a stream.
type OuterLoop struct {
	SymbolIndex       int32  // which of the sequence's parts it is
	Iterations        uint64 // rounds
	CallsPerIteration uint64 // calls in each
}
