package tree

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/trace"
)

// In which order calls come, and whether the code has a way between them: their structure has all of them, in this order.
func TestShapeKeepsTheOrder(t *testing.T) {
	const function, loop, call = trace.FunctionVertex, trace.LoopVertex, trace.CallVertex
	c := &trace.Code{}
	for _, v := range []struct {
		kind   trace.VertexKind
		parent int
	}{
		{function, -1}, {call, 0}, {loop, 0}, {call, 2}, {loop, 2}, {call, 4}, {function, 4}, {call, 6}, {call, 6}, {call, 2}, {call, 0}, {function, -1}, {call, 11},
	} {
		c.Vertices = append(c.Vertices, trace.Vertex{Kind: v.kind, Parent: v.parent, Name: "f", RecursionOf: -1})
	}
	vertex := []int{1, 3, 5, 7, 8, 9, 10, 12, -1}
	c.ExplicitTransitions = []trace.CallTransition{{FromVertex: 10, ToVertex: 3, Loop: trace.UnknownIteratedLoop}, {FromVertex: 5, ToVertex: 7, Loop: 2}}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		list := make([]int, 1+r.IntN(120))
		kinds := 1 + r.IntN(len(vertex))
		for i := range list {
			list[i] = r.IntN(kinds)
			if w := 1 + r.IntN(12); i >= w && r.IntN(3) > 0 {
				list[i] = list[i-w]
			}
		}
		g, labels := NewTransitionFinder(c).CodeGrammar(vertex, slices.Values(list))
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		if len(labels) != len(g.Rules) {
			t.Fatalf("%d rules, %d of them said", len(g.Rules), len(labels))
		}
		var got []int
		for n := range g.All() {
			got = append(got, int(n))
		}
		if !slices.Equal(got, list) {
			t.Fatalf("%v became %v", list, got)
		}
	}
	// Rounds of a loop, with another one in it.
	var list []int
	for range 50 {
		list = append(list, 1, 2, 2, 2)
	}
	g, _ := NewTransitionFinder(c).CodeGrammar(vertex, slices.Values(list))
	n := 0
	for _, body := range g.Rules {
		n += len(body)
	}
	if n != 3 {
		t.Errorf("%d symbols of a loop within a loop: %v", n, g.Rules)
	}
	// An inner loop that goes round once more each time, and a call in every third round.
	list = nil
	for k := range 90 {
		list = append(list, 1)
		for range k {
			list = append(list, 2)
		}
		if k%3 == 0 {
			list = append(list, 7)
		}
	}
	if g, _ := NewTransitionFinder(c).CodeGrammar([]int{1, 3, 5, 0, 0, 0, 0, 9}, slices.Values(list)); len(g.AppendBinary(nil)) > 100 {
		t.Errorf("%d bytes of a triangle: %v", len(g.AppendBinary(nil)), g.Rules)
	}
}
