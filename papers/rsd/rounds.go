package rsd

import (
	"maps"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A run is what a part of a stream contains of a loop. An execution of the loop lasts as long as calls are at its
// places, so the part may cut one off at either end. head and tail are how often another iteration begins in these two;
// calltree.NoLoop: none is cut off there. over is by trip count: the number of executions that are in the part as a
// whole.
type run struct {
	head, tail int64
	through    bool // one execution lasts over the whole part and is cut off at both ends: head and tail are both its
	over       map[uint64]uint64
}

// A stretch is a part of a stream: the places of its first and last call (calltree.NoLoop if it has no calls), and by
// loop what it contains of it.
type stretch struct {
	first, last int
	runs        map[int]*run
}

// A counter counts the iterations of each execution of a stream's loops.
type counter struct {
	s     *calltree.LoopOrder
	of    func(terminal int) int // returns the place of a terminal
	rules map[int]*stretch
}

func newStretch(place int) *stretch {
	return &stretch{first: place, last: place, runs: make(map[int]*run)}
}

func (c *counter) nodes(n trace.Node) *stretch {
	sum := newStretch(calltree.NoLoop)
	for _, x := range n.Children() {
		c.append(sum, c.repeated(x))
	}
	return sum
}

// repeated returns the stretch of a symbol with all its repetitions. It doubles the stretch of one repetition, so the
// time grows with the logarithm of their number.
func (c *counter) repeated(n trace.Node) *stretch {
	sum := newStretch(calltree.NoLoop)
	if n.Count == 0 {
		return sum
	}
	part := c.node(n)
	for count := n.Count; ; {
		if count&1 != 0 {
			c.append(sum, part)
		}
		if count >>= 1; count == 0 {
			return sum
		}
		twice := newStretch(calltree.NoLoop)
		c.append(twice, part)
		c.append(twice, part)
		part = twice
	}
}

func (c *counter) node(n trace.Node) *stretch {
	if n.Rule >= 0 {
		return once.GetOrMake(c.rules, n.Rule, func() *stretch { return c.nodes(n) })
	}
	x := newStretch(c.of(n.Terminal))
	for l := c.s.InnermostLoop[x.first]; l != calltree.NoLoop; l = c.s.OuterLoop[l] {
		x.runs[l] = &run{through: true}
	}
	return x
}

// append appends stretch b to a. A step to the same or an earlier place begins another iteration of the innermost loop
// around both places.
func (c *counter) append(a, b *stretch) {
	if b.first == calltree.NoLoop {
		return
	}
	if a.first == calltree.NoLoop {
		a.first, a.last = b.first, b.last
		for l, r := range b.runs {
			x := *r
			x.over = maps.Clone(r.over)
			a.runs[l] = &x
		}
		return
	}
	common := c.s.CommonLoop(a.last, b.first)
	for l := c.s.InnermostLoop[a.last]; l != calltree.NoLoop; l = c.s.OuterLoop[l] {
		if !c.s.Loops[l].Has(b.first) {
			a.runs[l].endTail()
		}
	}
	for l, r := range b.runs {
		again := int64(0)
		if l == common && b.first <= a.last {
			again = 1
		}
		x := once.GetOrMake(a.runs, l, func() *run { return &run{head: calltree.NoLoop, tail: calltree.NoLoop} })
		x.join(r, again, c.s.Loops[l].Has(a.last) && c.s.Loops[l].Has(b.first))
	}
	a.last = b.last
}

// endTail ends the execution of the loop that is cut off at the end of the part, as the next call is outside the loop.
func (r *run) endTail() {
	if r.through {
		r.through, r.tail = false, calltree.NoLoop
		return
	}
	r.count(r.tail, 1)
	r.tail = calltree.NoLoop
}

// count adds times finished executions of a loop to r.over, each of 1 + further iterations.
func (r *run) count(further int64, times uint64) {
	if r.over == nil {
		r.over = make(map[uint64]uint64)
	}
	r.over[uint64(further)+1] += times
}

// join appends o, the run of the same loop in the next part. again is 1 if another iteration begins where the parts
// meet, else 0. goesOn says that one execution of the loop continues from this part into the next.
func (r *run) join(o *run, again int64, goesOn bool) {
	switch {
	case goesOn && o.through:
		r.tail += again + o.tail
		if r.through {
			r.head = r.tail
		}
		return
	case goesOn && r.through:
		r.through = false
		r.head += again + o.head
	case goesOn:
		r.count(r.tail+again+o.head, 1)
	case o.through: // the execution in o begins there: it becomes the tail below
	case o.head != calltree.NoLoop:
		r.count(o.head, 1)
	}
	r.tail = o.tail
	for rounds, times := range o.over {
		r.count(int64(rounds)-1, times)
	}
}

// ended returns for each loop, by trip count, how often it was executed with it. The stretch must be a whole stream.
func (s *stretch) ended() map[int]map[uint64]uint64 {
	out := make(map[int]map[uint64]uint64)
	for l, r := range s.runs {
		if r.head != calltree.NoLoop {
			r.count(r.head, 1)
		}
		if !r.through && r.tail != calltree.NoLoop {
			r.count(r.tail, 1)
		}
		out[l] = r.over
	}
	return out
}
