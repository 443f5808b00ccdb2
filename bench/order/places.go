package main

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// places code a sequence by the vertices of the program's code: how often each came in each round of what is around it, and which
// calls were made at each place. Calls that are in no known place stand in a list of their own with how many calls were before.
type places struct {
	code     *trace.Code
	ways     *tree.Ways
	vertex   []int   // by terminal
	below    [][]int // by vertex, of the thread last
	counts   [][]uint64
	calls    [][]int // by vertex of a call: its terminals, in turn
	apart    [][2]uint64
	open     []frame
	last     int
	sequence uint64
}

// A frame is a round of a vertex that is not over.
type frame struct {
	vertex int
	came   map[int]uint64 // by vertex below
	rounds uint64
}

func newPlaces(c *trace.Code, w *tree.Ways, vertex []int) *places {
	n := len(c.Vertices)
	p := &places{code: c, ways: w, vertex: vertex, below: make([][]int, n+1), counts: make([][]uint64, n), calls: make([][]int, n), last: -1}
	for v := range c.Vertices {
		in := c.Vertices[v].Parent
		if in < 0 {
			in = n
		}
		p.below[in] = append(p.below[in], v)
	}
	p.open = []frame{{vertex: n, came: make(map[int]uint64)}}
	return p
}

// call takes the next call.
func (p *places) call(t int) {
	p.sequence++
	v := p.vertex[t]
	if v < 0 {
		p.apart = append(p.apart, [2]uint64{p.sequence - 1, uint64(t)})
		return
	}
	kept, round := p.ways.Turn(p.last, v)
	p.leave(1 + kept)
	if round {
		f := &p.open[kept]
		p.over(f)
		f.rounds++
	}
	for _, x := range p.ways.Around(v)[kept:] {
		p.open = append(p.open, frame{vertex: x, came: make(map[int]uint64), rounds: 1})
	}
	p.open[len(p.open)-1].came[v]++
	p.calls[v] = append(p.calls[v], t)
	p.last = v
}

// over notes what came in a round.
func (p *places) over(f *frame) {
	for _, v := range p.below[f.vertex] {
		p.counts[v] = append(p.counts[v], f.came[v])
	}
	clear(f.came)
}

func (p *places) leave(left int) {
	for len(p.open) > left {
		f := &p.open[len(p.open)-1]
		p.over(f)
		p.open = p.open[:len(p.open)-1]
		p.open[len(p.open)-1].came[f.vertex] += f.rounds
	}
}

func (p *places) end() {
	p.leave(1)
	p.over(&p.open[0])
}

// gives reports whether the counts give the sequence back: they don't if things in a round came in another order than
// the code has them.
func (p *places) gives(want iter.Seq[int]) bool {
	at, calls := make([]int, len(p.counts)), make([]int, len(p.calls))
	var got []int
	var body func(v int)
	body = func(v int) {
		for _, x := range p.below[v] {
			n := p.counts[x][at[x]]
			at[x]++
			for range n {
				if p.code.Vertices[x].Kind == trace.CallVertex {
					got = append(got, p.calls[x][calls[x]])
					calls[x]++
				} else {
					body(x)
				}
			}
		}
	}
	body(len(p.code.Vertices))
	for _, x := range p.apart {
		got = slices.Insert(got, int(x[0]), int(x[1]))
	}
	return slices.Equal(got, slices.Collect(want))
}

// append appends the bytes of all counts and calls.
func (p *places) append(dst []byte) []byte {
	for v := range p.counts {
		dst = appendSequence(dst, p.counts[v])
		if p.code.Vertices[v].Kind == trace.CallVertex {
			var list []uint64
			for _, t := range p.calls[v] {
				list = append(list, uint64(t))
			}
			dst = appendSequence(dst, list)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.apart)))
	for _, x := range p.apart {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, x[0]), x[1])
	}
	return dst
}

// appendSequence writes numbers: a grammar of them less the least of them, which stands before.
func appendSequence(dst []byte, list []uint64) []byte {
	if len(list) == 0 {
		return append(dst, 0)
	}
	least := slices.Min(list)
	dst = binary.AppendUvarint(dst, least+1)
	b := grammar.NewBuilder()
	for _, n := range list {
		b.Append(uint32(n - least))
	}
	return b.Grammar().AppendBinary(dst)
}
