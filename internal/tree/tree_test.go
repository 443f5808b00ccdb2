package tree_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/test/treetest"
	"github.com/spoor-hpc/spoor/trace"
)

// drawCode draws a tree of functions, loops and calls; the first vertex is a loop around all, so that no step is
// lost, unless lost is allowed.
func drawCode(t *rapid.T, lost bool) (c *trace.Code, calls []int) {
	c = &trace.Code{}
	first := trace.LoopVertex
	if lost {
		first = trace.FunctionVertex
	}
	c.Vertices = append(c.Vertices, trace.Vertex{Kind: first, Parent: -1, RecursionOf: -1})
	around := []int{0}
	for range rapid.IntRange(1, 25).Draw(t, "vertices") {
		around = around[:1+rapid.IntRange(0, len(around)-1).Draw(t, "out")]
		v := trace.Vertex{Kind: trace.VertexKind(rapid.IntRange(0, 2).Draw(t, "kind")), Parent: around[len(around)-1], RecursionOf: -1}
		n := len(c.Vertices)
		if v.Kind == trace.CallVertex {
			calls = append(calls, n)
		} else {
			around = append(around, n)
		}
		c.Vertices = append(c.Vertices, v)
	}
	if calls == nil {
		calls = []int{len(c.Vertices)}
		c.Vertices = append(c.Vertices, trace.Vertex{Kind: trace.CallVertex, Parent: 0, RecursionOf: -1})
	}
	return c, calls
}

// drawSequence draws calls with repetitions, as numbers of calls.
func drawSequence(t *rapid.T, calls int) (list []int) {
	for len(list) < 200 && (list == nil || rapid.IntRange(0, 12).Draw(t, "more") > 0) {
		part := rapid.SliceOfN(rapid.IntRange(0, calls-1), 1, 6).Draw(t, "part")
		if len(list) > 0 && rapid.Bool().Draw(t, "again") {
			from := rapid.IntRange(0, len(list)-1).Draw(t, "from")
			part = slices.Clone(list[from:])
		}
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			list = append(list, part...)
		}
	}
	return list
}

// What is counted on rules is what filling the tree call by call gives, and the tree has all that tells the calls.
func TestCountsAreThoseOfEachCall(t *testing.T) {
	for _, lost := range []bool{false, true} {
		rapid.Check(t, func(t *rapid.T) {
			c, vertices := drawCode(t, lost)
			seq := drawSequence(t, len(vertices))
			if !lost {
				// Another loop than the innermost goes round for some pairs.
				for range rapid.IntRange(0, 3).Draw(t, "odd") {
					v := vertices[rapid.IntRange(0, len(vertices)-1).Draw(t, "which")]
					depth := 0
					for p := c.Vertices[v].Parent; p >= 0; p = c.Vertices[p].Parent {
						if c.Vertices[p].Kind == trace.LoopVertex {
							depth++
						}
					}
					if !slices.ContainsFunc(c.ExplicitTransitions, func(s trace.CallTransition) bool { return s.FromVertex == v }) {
						c.ExplicitTransitions = append(c.ExplicitTransitions, trace.CallTransition{FromVertex: v, ToVertex: v, Loop: trace.IteratedLoopNumber(rapid.IntRange(1, depth).Draw(t, "way"))})
					}
				}
			}
			b := grammar.NewBuilder()
			unplaced := rapid.IntRange(-1, len(vertices)-1).Draw(t, "unplaced")
			var calls []int
			of := slices.Clone(vertices)
			if unplaced >= 0 {
				of[unplaced] = -1
			}
			for _, n := range seq {
				b.Append(uint32(n))
				if n != unplaced {
					calls = append(calls, vertices[n])
				}
			}
			g := b.Grammar()
			counts := tree.NewTransitionFinder(c).CountRuns(trace.StructureOf(trace.OpaqueGrammar(grammar.WrapOpaque(g))), of)
			filled := treetest.Fill(c, calls)
			if err := filled.Compare(&counts); err != nil {
				t.Fatalf("%v\n%v", err, calls)
			}
			if got := filled.Calls(); !slices.Equal(got, calls) {
				t.Fatalf("calls %v, read back %v", calls, got)
			}
			if !lost && counts.UnexplainedSteps > 0 {
				t.Fatal("a step is lost in a loop")
			}
		})
	}
}

// Functions that call themselves: calls of all depths are one loop.
func TestRecursion(t *testing.T) {
	// main { f { A; f { A; f { A; B }; B }; B } }, with B after A, called twice.
	c := &trace.Code{Vertices: []trace.Vertex{
		{Kind: trace.FunctionVertex, Parent: -1, RecursionOf: -1},
		{Kind: trace.LoopVertex, Parent: 0, RecursionOf: -1},
		{Kind: trace.FunctionVertex, Parent: 1, RecursionOf: -1},
		{Kind: trace.CallVertex, Parent: 2, RecursionOf: -1},
		{Kind: trace.FunctionVertex, Parent: 2, RecursionOf: 2},
		{Kind: trace.CallVertex, Parent: 4, RecursionOf: -1},
		{Kind: trace.FunctionVertex, Parent: 4, RecursionOf: 2},
		{Kind: trace.CallVertex, Parent: 6, RecursionOf: -1},
		{Kind: trace.CallVertex, Parent: 6, RecursionOf: -1},
		{Kind: trace.CallVertex, Parent: 4, RecursionOf: -1},
		{Kind: trace.CallVertex, Parent: 2, RecursionOf: -1},
	}}
	b := grammar.NewBuilder()
	for _, n := range []uint32{3, 5, 7, 8, 9, 10, 3, 10, 3, 5, 9, 10} {
		b.Append(n)
	}
	counts := tree.NewTransitionFinder(c).CountRuns(trace.StructureOf(trace.OpaqueGrammar(grammar.WrapOpaque(b.Grammar()))), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	if got, want := counts.VertexRecursions[2], (tree.RoundCounts{Entries: 3, Rounds: 6, LeastRounds: 1, MostRounds: 3}); got != want || counts.UnexplainedSteps > 0 {
		t.Errorf("%+v, %d lost; want %+v", got, counts.UnexplainedSteps, want)
	}
	if got, want := counts.VertexRounds[1], (tree.RoundCounts{Entries: 1, Rounds: 3, LeastRounds: 3, MostRounds: 3}); got != want {
		t.Errorf("loop %+v, want %+v", got, want)
	}
}
