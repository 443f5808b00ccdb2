// Package treetest fills trees call by call, as their definition has it, and reads the calls back, for tests.
package treetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// A node is a vertex with its number of occurrences in each iteration of its parent.
type node struct {
	number   int
	parent   *node
	children []*node
	rounds   int
	occurred []int // by iteration of the parent
	each     []int // iterations of each entry
}

// A Filled is a tree from which the calls can be reconstructed.
type Filled struct {
	code  *trace.Code
	ways  *tree.TransitionFinder
	root  *node
	nodes []*node
	Lost  uint64
}

// Fill goes through the calls of a thread, given by their vertices.
func Fill(c *trace.Code, calls []int) *Filled {
	f := &Filled{code: c, ways: tree.NewTransitionFinder(c), root: &node{number: -1}}
	for i := range c.Vertices {
		parent := f.root
		if p := c.Vertices[i].Parent; p >= 0 {
			parent = f.nodes[p]
		}
		n := &node{number: i, parent: parent}
		parent.children = append(parent.children, n)
		f.nodes = append(f.nodes, n)
	}
	f.root.rounds = 1
	for i, b := range calls {
		q := f.path(b)
		k := 0
		if i > 0 {
			p := f.path(calls[i-1])
			for k < len(p)-1 && k < len(q)-1 && p[k] == q[k] {
				k++
			}
			switch way := f.ways.Transition(calls[i-1], b); {
			case way == trace.UnknownIteratedLoop:
				f.Lost++
				f.root.rounds++
				k = 0
			case way > trace.NoIteratedLoop:
				for k--; ; k-- {
					if c.Vertices[q[k].number].Kind == trace.LoopVertex {
						if way--; way == 0 {
							break
						}
					}
				}
				q[k].rounds++
				q[k].each[len(q[k].each)-1]++
				k++
			}
		}
		for _, n := range q[k:] {
			n.enter()
		}
	}
	return f
}

func (n *node) enter() {
	for len(n.occurred) < n.parent.rounds {
		n.occurred = append(n.occurred, 0)
	}
	// A loop's occurrences are its entries; each has the iterations per entry.
	n.occurred[n.parent.rounds-1]++
	n.rounds++
	n.each = append(n.each, 1)
}

func (f *Filled) path(v int) (list []*node) {
	for n := f.nodes[v]; n != f.root; n = n.parent {
		list = append(list, n)
	}
	slices.Reverse(list)
	return list
}

// Calls reconstructs the calls from the tree alone: each body in the order of its code.
func (f *Filled) Calls() []int {
	d := decoder{f: f, round: make(map[*node]int), entry: make(map[*node]int)}
	for range f.root.rounds {
		d.pass(f.root)
	}
	return d.calls
}

type decoder struct {
	f            *Filled
	round, entry map[*node]int
	calls        []int
}

func (d *decoder) pass(n *node) {
	at := d.round[n]
	d.round[n]++
	for _, c := range n.children {
		if at >= len(c.occurred) {
			continue
		}
		for range c.occurred[at] {
			if d.f.code.Vertices[c.number].Kind == trace.CallVertex {
				d.calls = append(d.calls, c.number)
				continue
			}
			rounds := c.each[d.entry[c]]
			d.entry[c]++
			for range rounds {
				d.pass(c)
			}
		}
	}
}

// Compare compares the counts from the compressed form, for a thread without lost steps.
func (f *Filled) Compare(counts *tree.Counts) error {
	if counts.UnexplainedSteps != f.Lost {
		return fmt.Errorf("%d steps lost, not %d", counts.UnexplainedSteps, f.Lost)
	}
	for i, n := range f.nodes {
		want := tree.RoundCounts{Entries: uint64(len(n.each)), Rounds: uint64(n.rounds)}
		if n.each != nil {
			want.LeastRounds, want.MostRounds, want.RoundsStep = uint64(slices.Min(n.each)), uint64(slices.Max(n.each)), step(n.each)
		}
		if got := counts.VertexRounds[i]; got != want && f.Lost == 0 {
			return fmt.Errorf("vertex %d: %+v, not %+v", i, got, want)
		}
		if got, want := counts.VertexIterations[i], f.taken(n); got != want && f.Lost == 0 {
			return fmt.Errorf("vertex %d: in rounds %+v, not %+v", i, got, want)
		}
	}
	return nil
}

// step returns the constant growth of the iterations from entry to entry, 0 without one. The growth may start over
// periodically, after at least three entries.
func step(each []int) int64 {
	for period := 3; period <= len(each); period++ {
		step := each[1] - each[0]
		if len(each)%period == 0 {
			same := true
			for i, v := range each {
				same = same && v == each[0]+i%period*step
			}
			if same {
				return int64(step)
			}
		}
	}
	return 0
}

// Check makes the tree of a trace file. It compares counts from the compressed form with counts from each call, and
// the reconstructed calls with the trace, for all ranks and threads. A lost step between two calls is an error.
// placed of all calls have a place in the code; the others are skipped.
func Check(path string) (placed, all int, err error) {
	r, err := trace.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	c, err := r.Code()
	if err == nil && c == nil {
		s := symbolise.New(symbolise.Options{})
		c, err = tree.Build(context.Background(), r, s, tree.NewTailCalls(s), tree.Options{})
	}
	if err != nil || c == nil {
		return 0, 0, fmt.Errorf("no tree: %w", err)
	}
	ways := tree.NewTransitionFinder(c)
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			return placed, all, err
		}
		vertices := tree.VertexByTerminal(k, c)
		for stream := range k.Streams() {
			var calls []int
			for n := range k.Sequence(stream) {
				if all++; vertices[n] >= 0 {
					calls = append(calls, vertices[n])
				}
			}
			placed += len(calls)
			counts := ways.CountRuns(k.Structure(stream), vertices)
			filled := Fill(c, calls)
			err := filled.Compare(&counts)
			switch {
			case err != nil:
			case !slices.Equal(filled.Calls(), calls):
				err = errors.New("the tree has other calls than the trace")
			case counts.UnexplainedSteps > 0:
				err = fmt.Errorf("%d steps of %d are lost", counts.UnexplainedSteps, len(calls))
			}
			if err != nil {
				return placed, all, fmt.Errorf("rank %d, thread %d: %w", rank, stream, err)
			}
		}
	}
	return placed, all, nil
}

// taken returns the iterations of the surrounding loop in which a node occurred.
func (f *Filled) taken(n *node) (all code.IterationPattern) {
	if !f.code.IsConditionalInLoop(n.number) {
		return all
	}
	at := 0
	for entry, rounds := range n.parent.each {
		var one code.IterationPattern
		for i := range rounds {
			if at < len(n.occurred) && n.occurred[at] > 0 {
				one = one.Append(code.IterationPattern{First: uint64(i), Last: uint64(i), Count: 1})
			}
			at++
		}
		if entry > 0 && one != all {
			return code.IterationPattern{}
		}
		all = one
	}
	return all
}
