package tree

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// TransitionFinder finds which vertices are entered, and which loops begin another iteration, between two consecutive
// calls. It is not safe for concurrent use.
type TransitionFinder struct {
	code  *trace.Code
	odd   map[[2]int]trace.IteratedLoopNumber
	known map[[2]int][]event
	paths map[int][]int
}

// An event between two calls is that a vertex is entered or, with round set, that a loop begins another iteration.
type event struct {
	vertex int32
	round  bool
}

// NewTransitionFinder returns a TransitionFinder for the code of a trace.
func NewTransitionFinder(c *trace.Code) *TransitionFinder {
	w := &TransitionFinder{code: c, odd: make(map[[2]int]trace.IteratedLoopNumber), known: make(map[[2]int][]event), paths: make(map[int][]int)}
	for _, s := range c.ExplicitTransitions {
		w.odd[[2]int{s.FromVertex, s.ToVertex}] = s.Loop
	}
	return w
}

// path lists the vertices that contain v, from the outermost one on, and v itself.
func (w *TransitionFinder) path(v int) []int {
	return once.GetOrMake(w.paths, v, func() (p []int) {
		for i := v; i >= 0; i = w.code.Vertices[i].Parent {
			p = append(p, i)
		}
		slices.Reverse(p)
		return p
	})
}

// shared returns the number of vertices that contain both of two calls, given the paths of the calls.
func shared(p, q []int) int {
	k := 0
	for k < len(p)-1 && k < len(q)-1 && p[k] == q[k] {
		k++
	}
	return k
}

// plain returns the transition from call a to call b if it is not listed as an exception. If b follows a in the order
// of vertices, no loop begins an iteration. Else the innermost loop around both does.
func (w *TransitionFinder) plain(a, b int) trace.IteratedLoopNumber {
	p, q := w.path(a), w.path(b)
	k := shared(p, q)
	if k > 0 && p[k] < q[k] {
		return trace.NoIteratedLoop
	}
	for _, v := range p[:k] {
		if w.code.Vertices[v].Kind == trace.LoopVertex {
			return 1
		}
	}
	return trace.UnknownIteratedLoop
}

// Transition returns which loop begins another iteration between consecutive calls whose vertices are a and b.
func (w *TransitionFinder) Transition(a, b int) trace.IteratedLoopNumber {
	if way, ok := w.odd[[2]int{a, b}]; ok {
		return way
	}
	return w.plain(a, b)
}

// CommonVertices returns how many of the vertices around call b contain the preceding call a, too, and are not left
// between a and b. round reports whether the innermost of these is a loop that begins another iteration. a is -1 at
// the beginning of a thread.
func (w *TransitionFinder) CommonVertices(a, b int) (kept int, round bool) {
	if a < 0 {
		return 0, false
	}
	p := w.path(a)
	k := shared(p, w.path(b))
	way := w.Transition(a, b)
	if i := w.recursion(p[:k], way); i >= 0 {
		return i, false
	}
	if way > trace.NoIteratedLoop {
		for i := k - 1; i >= 0; i-- {
			if w.code.Vertices[p[i]].Kind != trace.LoopVertex {
				continue
			}
			if way--; way == 0 {
				return i + 1, true
			}
		}
	}
	return k, false
}

// recursion returns the index in around of a function that called itself between two calls; -1: none did. around is
// the vertices around both calls. A recursion is assumed if the code has no other path from the first call to the
// second, as calls at all depths of recursion have the same vertex.
func (w *TransitionFinder) recursion(around []int, way trace.IteratedLoopNumber) int {
	if way != trace.UnknownIteratedLoop {
		return -1
	}
	for i, v := range slices.Backward(around) {
		if w.code.Vertices[v].RecursionOf >= 0 {
			return i
		}
	}
	return -1
}

// VerticesAround lists the vertices around call v, outermost first. Callers must not change the list.
func (w *TransitionFinder) VerticesAround(v int) []int {
	p := w.path(v)
	return p[:len(p)-1]
}

// events lists the events between consecutive calls a and b, outermost vertex first. a is -1 at the beginning of a
// thread.
func (w *TransitionFinder) events(a, b int) []event {
	key := [2]int{a, b}
	list, known := w.known[key]
	if known {
		return list
	}
	q := w.path(b)
	k, round := w.CommonVertices(a, b)
	if round {
		list = append(list, event{int32(q[k-1]), true})
	}
	for _, v := range q[k:] {
		list = append(list, event{int32(v), false})
	}
	w.known[key] = list
	return list
}

// RoundCounts are how often a vertex was entered and, if it is a loop, how many iterations it had.
type RoundCounts struct {
	Entries, Rounds         uint64
	LeastRounds, MostRounds uint64 // iterations of the entry with fewest, and of that with most
	// How many more iterations each entry has than the entry before, if that is constant; 0: it is not. The first
	// entry has LeastRounds if it is positive, MostRounds if it is negative.
	RoundsStep int64
}

// A vertexCounts has the entries and iterations of a vertex in a part of a stream.
type vertexCounts struct {
	entered, rounds uint64
	before          uint64 // iterations before the part's first entry; their entry is in an earlier part
	// Iterations of the completed entry with fewest, and of that with most; the last entry is not completed.
	least, most uint64
	last        uint64           // iterations since the part's last entry
	each        tripCountPattern // iterations of each completed entry, in order
}

// over includes a completed entry with this many iterations in least and most.
func (r *vertexCounts) over(rounds uint64) {
	if r.most == 0 || rounds < r.least {
		r.least = rounds
	}
	r.most = max(r.most, rounds)
}

// then returns the counts of two consecutive parts together.
func (r vertexCounts) then(next vertexCounts) vertexCounts {
	if next.entered == 0 {
		r.rounds += next.rounds
		if r.entered == 0 {
			r.before += next.before
		} else {
			r.last += next.before
		}
		return r
	}
	out := next
	out.entered, out.rounds = r.entered+next.entered, r.rounds+next.rounds
	if r.entered == 0 {
		out.before = r.before + next.before
		return out
	}
	out.before = r.before
	if r.most > 0 {
		out.over(r.least)
		out.over(r.most)
	}
	out.over(r.last + next.before)
	out.each = r.each
	out.each.add(entry(r.last + next.before))
	out.each.join(next.each)
	return out
}

// times returns the counts of n repetitions of the part; n is at least 1.
func (r vertexCounts) times(n uint64) vertexCounts {
	if n == 1 {
		return r
	}
	out := r
	out.entered, out.rounds = r.entered*n, r.rounds*n
	if r.entered == 0 {
		out.before = r.before * n
		return out
	}
	out.over(r.last + r.before)
	round := r.each
	round.add(entry(r.last + r.before))
	out.each = round.repeated(n - 1)
	out.each.join(r.each)
	return out
}

// A summary is the counts of all vertices in a part of a stream, with the vertices of the part's first and last call.
type summary struct {
	first, last int
	runs        map[int32]vertexCounts
	taken       map[int32]taken // for each vertex directly in a loop: which iterations reached it
	lost        uint64
}

// A counter computes counts of vertices from the grammar of a stream, without expanding it.
type counter struct {
	ways   *TransitionFinder
	vertex []int     // by terminal: its vertex; -1: none
	calls  []int32   // by vertex: number of vertices below that are the same function, called recursively
	loop   []int32   // by vertex that an iteration may skip: the loop directly around it; -1 for all other vertices
	within [][]int32 // by loop: the vertices directly in it that an iteration may skip
	rules  map[int]*summary
}

func (s *summary) put(vertex int32, r vertexCounts) {
	if old, ok := s.runs[vertex]; ok {
		r = old.then(r)
	}
	s.runs[vertex] = r
}

// step adds the events between consecutive calls a and b. A function that is reached again below itself has extra
// counts for its recursion, in which each call is an iteration. They are under the number of the function's first
// vertex plus the number of all vertices.
func (c *counter) step(s *summary, a, b int) {
	for _, e := range c.ways.events(a, b) {
		one := vertexCounts{entered: 1, rounds: 1, last: 1}
		if e.round {
			one = vertexCounts{rounds: 1, before: 1}
		}
		if !e.round {
			c.enter(s, e.vertex)
			c.reach(s, e.vertex)
		}
		s.put(e.vertex, one)
		v := &c.ways.code.Vertices[e.vertex]
		switch {
		case v.RecursionOf >= 0:
			s.put(int32(len(c.ways.code.Vertices)+v.RecursionOf), vertexCounts{rounds: 1, before: 1})
		case c.calls[e.vertex] > 0:
			s.put(int32(len(c.ways.code.Vertices))+e.vertex, one)
		}
	}
	if a < 0 {
		return
	}
	p, way := c.ways.path(a), c.ways.Transition(a, b)
	if way == trace.UnknownIteratedLoop && c.ways.recursion(p[:shared(p, c.ways.path(b))], way) < 0 {
		s.lost++
	}
}

func (c *counter) join(s, x *summary) {
	c.behind(s, x)
	s.lost += x.lost
	for v, r := range x.runs {
		s.put(v, r)
	}
	s.last = x.last
}

// repeated returns the summary of n repetitions of a part.
func (c *counter) repeated(x *summary, n uint64) *summary {
	if n == 1 || x.first < 0 {
		return x
	}
	round := &summary{first: x.first, last: x.last, runs: make(map[int32]vertexCounts, len(x.runs)), taken: make(map[int32]taken)}
	c.step(round, x.last, x.first)
	c.join(round, x)
	out := &summary{first: x.first, last: x.last, runs: make(map[int32]vertexCounts, len(round.runs)), lost: x.lost + round.lost*(n-1)}
	maps.Copy(out.runs, x.runs)
	if out.taken = maps.Clone(x.taken); out.taken == nil {
		out.taken = make(map[int32]taken)
	}
	c.again(out, round, n-1)
	for v, r := range round.runs {
		out.put(v, r.times(n-1))
	}
	return out
}

func (c *counter) once(n trace.Node) *summary {
	if n.Rule < 0 && n.Terminal >= 0 {
		v := c.vertex[n.Terminal]
		return &summary{first: v, last: v}
	}
	if s, known := c.rules[n.RuleCopy]; known {
		return s
	}
	s := &summary{first: -1, last: -1, runs: make(map[int32]vertexCounts), taken: make(map[int32]taken)}
	for _, child := range n.Children() {
		if child.Count == 0 {
			continue
		}
		x := c.once(child)
		if x.first < 0 {
			continue
		}
		x = c.repeated(x, child.Count)
		if s.first < 0 {
			s.first = x.first
		} else {
			c.step(s, s.last, x.first)
		}
		c.join(s, x)
	}
	c.rules[n.RuleCopy] = s
	return s
}

// Counts is how often the vertices of the tree ran in a thread.
type Counts struct {
	VertexRounds []RoundCounts
	// VertexRecursions is by vertex, for functions that are reached again below themselves: each outermost call is an
	// entry, and it has as many iterations as there are calls in all depths.
	VertexRecursions []RoundCounts
	// VertexIterations is by vertex: which iterations of the loop around it reached it, if these are the same at each
	// entry of the loop. It is set for vertices for which trace.Code.IsConditionalInLoop holds.
	VertexIterations []code.IterationPattern
	UnexplainedSteps uint64 // number of transitions between consecutive calls for which the code has no path
}

// CountRuns computes the counts of a thread's calls, from the structure of the thread. vertex is by distinct call, -1
// without a vertex.
func (w *TransitionFinder) CountRuns(root trace.Node, vertex []int) Counts {
	n := len(w.code.Vertices)
	c := counter{ways: w, vertex: vertex, calls: make([]int32, n), loop: make([]int32, n), within: make([][]int32, n), rules: make(map[int]*summary)}
	for i := range w.code.Vertices {
		if a := w.code.Vertices[i].RecursionOf; a >= 0 {
			c.calls[a]++
		}
		c.loop[i] = -1
		if w.code.IsConditionalInLoop(i) {
			c.loop[i] = int32(w.code.Vertices[i].Parent)
			c.within[c.loop[i]] = append(c.within[c.loop[i]], int32(i))
		}
	}
	s := c.once(root)
	out := Counts{VertexRounds: make([]RoundCounts, n), VertexRecursions: make([]RoundCounts, n), VertexIterations: make([]code.IterationPattern, n), UnexplainedSteps: s.lost}
	if s.first < 0 {
		return out
	}
	all := &summary{runs: make(map[int32]vertexCounts), taken: make(map[int32]taken)}
	c.step(all, -1, s.first)
	c.join(all, s)
	for v, t := range all.taken {
		out.VertexIterations[v] = t.iterations()
	}
	for v, r := range all.runs {
		r.over(r.last)
		r.each.add(entry(r.last))
		x := RoundCounts{r.entered, r.rounds, r.least, r.most, r.each.step()}
		if int(v) < n {
			out.VertexRounds[v] = x
		} else {
			out.VertexRecursions[int(v)-n] = x
		}
	}
	return out
}

// VertexByTerminal returns the vertex of each distinct call of a rank; -1: it has none.
func VertexByTerminal(k *trace.Rank, c *trace.Code) []int {
	list := make([]int, k.Terminals())
	for t := range list {
		list[t] = k.VertexOf(c, t)
	}
	return list
}
