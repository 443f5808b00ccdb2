package hang

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func all(ranks ...int) *Condition { return &Condition{Ranks: ranks} }
func any1(ranks ...int) *Condition {
	return &Condition{AnySuffices: true, Ranks: ranks}
}

func TestGraph(t *testing.T) {
	barrier, world := all(2, 3), any1(0, 1, 2)
	for name, x := range map[string]struct {
		nodes  []RankNode
		stuck  []int
		cycles string
	}{
		"nobody waits":             {[]RankNode{{}, {}}, nil, "[]"},
		"a chain that ends well":   {[]RankNode{{WaitsFor: all(1)}, {WaitsFor: all(2)}, {}}, nil, "[]"},
		"two wait for each other":  {[]RankNode{{WaitsFor: all(1)}, {WaitsFor: all(0)}, {}}, []int{0, 1}, "[[0 1]]"},
		"one waits for itself":     {[]RankNode{{}, {WaitsFor: all(1)}}, []int{1}, "[[1]]"},
		"three in a ring":          {[]RankNode{{WaitsFor: all(2)}, {WaitsFor: all(0)}, {WaitsFor: all(1)}}, []int{0, 1, 2}, "[[0 2 1]]"},
		"one behind a cycle":       {[]RankNode{{WaitsFor: all(1)}, {WaitsFor: all(0)}, {WaitsFor: all(1)}}, []int{0, 1, 2}, "[[0 1]]"},
		"all of two, one is stuck": {[]RankNode{{WaitsFor: all(1, 2)}, {WaitsFor: all(0)}, {}}, []int{0, 1}, "[[0 1]]"},
		"any of two, one is free":  {[]RankNode{{WaitsFor: any1(1, 2)}, {WaitsFor: all(0)}, {}}, nil, "[]"},
		"any of two, both stuck":   {[]RankNode{{WaitsFor: any1(1, 2)}, {WaitsFor: all(0)}, {WaitsFor: all(0)}}, []int{0, 1, 2}, "[[0 1]]"},
		"any, itself among them":   {[]RankNode{{WaitsFor: any1(0, 1)}, {WaitsFor: any1(0, 1)}}, []int{0, 1}, "[[0 1]]"},
		"any, one for all":         {[]RankNode{{WaitsFor: world}, {WaitsFor: world}, {WaitsFor: world}}, []int{0, 1, 2}, "[[0 1]]"},
		"any, and behind it one":   {[]RankNode{{WaitsFor: world}, {WaitsFor: all(2)}, {WaitsFor: world}}, []int{0, 1, 2}, "[[0 2]]"},
		"for one that has ended":   {[]RankNode{{WaitsFor: all(1)}, {Ended: true}}, []int{0}, "[]"},
		"any, one has ended":       {[]RankNode{{WaitsFor: any1(1, 2)}, {Ended: true}, {}}, nil, "[]"},
		"nobody can ever":          {[]RankNode{{WaitsFor: any1()}, {}}, []int{0}, "[]"},
		"nothing is needed":        {[]RankNode{{WaitsFor: all()}, {}}, nil, "[]"},
		"nested, one way is open":  {[]RankNode{{WaitsFor: &Condition{AnySuffices: true, Conditions: []*Condition{all(1), all(2, 1)}}}, {}, {WaitsFor: all(0)}}, nil, "[]"},
		"nested, no way is open":   {[]RankNode{{WaitsFor: &Condition{AnySuffices: true, Conditions: []*Condition{all(1, 2), all(2)}}}, {}, {WaitsFor: all(0)}}, []int{0, 2}, "[[0 2]]"},
		"a barrier and a receive":  {[]RankNode{{WaitsFor: barrier}, {WaitsFor: barrier}, {WaitsFor: all(0)}, {}}, []int{0, 1, 2}, "[[0 2]]"},
		"two cycles":               {[]RankNode{{WaitsFor: all(1)}, {WaitsFor: all(0)}, {WaitsFor: all(3)}, {WaitsFor: all(2)}}, []int{0, 1, 2, 3}, "[[0 1] [2 3]]"},
	} {
		g := NewGraph(x.nodes)
		var stuck []int
		for r := range x.nodes {
			if g.IsStuck(r) {
				stuck = append(stuck, r)
			}
		}
		if !slices.Equal(stuck, x.stuck) {
			t.Errorf("%s: stuck %v, want %v", name, stuck, x.stuck)
		}
		if got := fmt.Sprint(g.Cycles()); got != x.cycles {
			t.Errorf("%s: cycles %s, want %s", name, got, x.cycles)
		}
	}
}

func TestDependents(t *testing.T) {
	g := NewGraph([]RankNode{{WaitsFor: all(2)}, {WaitsFor: all(0, 3)}, {}, {}})
	if got := fmt.Sprint(g.TransitiveDependents(2), g.TransitiveDependents(3), g.TransitiveDependents(1), g.AwaitedRanks(1)); got != "[0 1] [1] [] [0 3]" {
		t.Error(got)
	}
	// Of a stuck rank only what keeps it stuck is told.
	g = NewGraph([]RankNode{{WaitsFor: all(1, 2)}, {WaitsFor: all(0)}, {}})
	if got := fmt.Sprint(g.AwaitedRanks(0)); got != "[1]" {
		t.Error(got)
	}
}

// TestLongChain: neither depth nor shared conditions cost more than their size.
func TestLongChain(t *testing.T) {
	const n = 30_000
	nodes := make([]RankNode, n)
	for i := range nodes {
		nodes[i].WaitsFor = all((i + 1) % n)
	}
	if c := NewGraph(nodes).Cycles(); len(c) != 1 || len(c[0]) != n {
		t.Errorf("%d cycles", len(c))
	}
}

// TestRelease compares with the obvious way: go through all ranks until nothing changes.
func TestRelease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "ranks")
		var shared []*Condition
		var draw func(depth int) *Condition
		draw = func(depth int) *Condition {
			if len(shared) > 0 && rapid.Bool().Draw(t, "shared") {
				return rapid.SampledFrom(shared).Draw(t, "which")
			}
			c := &Condition{AnySuffices: rapid.Bool().Draw(t, "any"), Ranks: rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "ranks")}
			for range rapid.IntRange(0, depth).Draw(t, "of") {
				c.Conditions = append(c.Conditions, draw(depth-1))
			}
			shared = append(shared, c)
			return c
		}
		nodes := make([]RankNode, n)
		for i := range nodes {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				nodes[i].Ended = true
			case 1:
			default:
				nodes[i].WaitsFor = draw(2)
			}
		}
		free := make([]bool, n)
		var met func(c *Condition) bool
		met = func(c *Condition) bool {
			some := false
			every := true
			for _, r := range c.Ranks {
				some, every = some || free[r], every && free[r]
			}
			for _, d := range c.Conditions {
				ok := met(d)
				some, every = some || ok, every && ok
			}
			if c.AnySuffices {
				return some
			}
			return every
		}
		for changed := true; changed; {
			changed = false
			for i := range nodes {
				if !free[i] && !nodes[i].Ended && (nodes[i].WaitsFor == nil || met(nodes[i].WaitsFor)) {
					free[i], changed = true, true
				}
			}
		}
		g := NewGraph(nodes)
		for i := range nodes {
			if g.IsStuck(i) != (!free[i] && !nodes[i].Ended) {
				t.Fatalf("rank %d: stuck %t", i, g.IsStuck(i))
			}
		}
		for _, c := range g.Cycles() {
			for i, r := range c {
				if next := c[(i+1)%len(c)]; !g.IsStuck(r) || !slices.Contains(g.AwaitedRanks(r), next) {
					t.Fatalf("cycle %v: %d doesn't wait for %d", c, r, next)
				}
			}
		}
	})
}
