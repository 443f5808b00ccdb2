package tree

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A codePosition is a position in a basic block: after the instruction or call at addr or, if addr is 0, at the
// block's beginning.
type codePosition struct {
	block int
	addr  uint64
}

// A silent is the result of a search: how far the paths from some positions lead, through a function or one of its
// loops, before they surely reach an MPI call.
type silent struct {
	f      *function
	loop   int  // loop to which the search is limited; code.NoIndex: it is limited to the function
	round  bool // the search continues into further iterations of the loop
	starts []bool
	ends   []bool
	back   bool           // a path leads to the loop's next iteration
	out    []codePosition // positions where paths leave the loop
	leaves bool           // a path leads to the end of the function
	from   map[int]bool   // blocks at whose middle a path begins
	first  map[int]uint64
}

// wallsOf returns the addresses of the calls in a block that surely lead to an MPI call, in rising order.
func (m *treeBuilder) wallsOf(f *function, block int) []uint64 {
	if list, known := f.walls[block]; known {
		return list
	}
	f.walls[block] = nil // a recursive call in the block finds this while the block is examined
	var list []uint64
	for _, c := range f.callsOf(block) {
		if mpi.FunctionOfSymbol(c.CalleeSymbol) != "" || c.Callee != nil && m.calls(m.functions[c.Callee]) {
			list = append(list, c.Addr)
		}
	}
	f.walls[block] = list
	return list
}

// callsOf returns the calls in a basic block.
func (f *function) callsOf(block int) []code.Call {
	b, list := &f.body.Blocks[block], f.body.Calls
	lo := sort.Search(len(list), func(i int) bool { return list[i].Addr >= b.Lo })
	hi := sort.Search(len(list), func(i int) bool { return list[i].Addr >= b.Hi })
	return list[lo:hi]
}

// maxSearched limits the blocks that are searched for one trace. Interpreters have functions of thousands of blocks,
// and dozens of calls of these on a stack.
const maxSearched = 1 << 20

// What is known of whether every path through a function calls MPI.
const (
	notAsked = iota
	asking
	may
	must
)

// calls reports whether every path through a function reaches an MPI call. The function must be in the tree.
func (m *treeBuilder) calls(f *function) bool {
	if f == nil || f.must == asking {
		return false
	}
	if f.must == notAsked {
		f.must = asking
		s := m.search(f, code.NoIndex, true, []codePosition{{f.entry(), 0}})
		f.must = may
		if !s.leaves {
			f.must = must
		}
	}
	return f.must == must
}

func (f *function) entry() int {
	for b, n := range f.body.Graph.ReversePostorder {
		if n == 0 {
			return b
		}
	}
	return 0
}

// A searchKey identifies a search. The result depends only on these, not on where the function was called from.
type searchKey struct {
	f     *function
	loop  int
	round bool
	from  string
}

// search follows all paths from the given positions up to calls that surely lead to an MPI call.
func (m *treeBuilder) search(f *function, loop int, round bool, from []codePosition) *silent {
	var text []byte
	for _, p := range from {
		text = binary.AppendUvarint(binary.AppendUvarint(text, uint64(p.block)), p.addr)
	}
	k := searchKey{f, loop, round, string(text)}
	return once.GetOrMake(m.searches, k, func() *silent { return m.follow(f, loop, round, from) })
}

func (m *treeBuilder) follow(f *function, loop int, round bool, from []codePosition) *silent {
	n := len(f.body.Blocks)
	m.searched += n
	s := &silent{f: f, loop: loop, round: round, starts: make([]bool, n), ends: make([]bool, n), from: make(map[int]bool), first: make(map[int]uint64)}
	header := code.NoIndex
	if loop != code.NoIndex {
		header = f.body.Graph.Loops[loop].Header
	}
	var work []int
	left := make([]bool, n)
	pass := func(block int, after uint64) {
		for _, w := range m.wallsOf(f, block) {
			if w > after {
				return
			}
		}
		if !s.ends[block] {
			s.ends[block] = true
			work = append(work, block)
		}
	}
	for _, p := range from {
		if p.addr == 0 {
			s.starts[p.block] = true
		} else if old, ok := s.first[p.block]; !ok || p.addr < old {
			s.first[p.block] = p.addr
		}
		pass(p.block, p.addr)
	}
	for len(work) > 0 && m.searched < m.most && m.ctx.Err() == nil {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		next := f.body.Blocks[b].Next
		if len(next) == 0 && !f.stops(b) {
			s.leaves = true
		}
		for _, to := range next {
			switch {
			case to == header:
				s.back = true
				if !round {
					continue
				}
			case !f.body.Graph.IsInside(f.body.Graph.InnermostLoop[to], loop):
				if !left[to] {
					left[to] = true
					s.out = append(s.out, codePosition{to, 0})
				}
				continue
			}
			if !s.starts[to] {
				s.starts[to] = true
				pass(to, 0)
			}
		}
	}
	return s
}

// stops reports whether a block without successors ends in a call that does not return. Otherwise it ends in a
// return.
func (f *function) stops(block int) bool {
	for _, c := range f.callsOf(block) {
		if c.ReturnAddr == f.body.Blocks[block].Hi {
			return !c.MayReturn
		}
	}
	return false
}

// meets reports whether the search reached vertex v, which is directly in the searched function or loop.
func (m *treeBuilder) meets(s *silent, v *vertex) bool {
	if v.key.kind == trace.LoopVertex {
		for b, at := range s.starts {
			if at && s.f.body.Graph.IsInside(s.f.body.Graph.InnermostLoop[b], v.loop) {
				return true
			}
		}
		return false
	}
	walls := m.wallsOf(s.f, v.at.block)
	open := func(after uint64) bool {
		return !slices.ContainsFunc(walls, func(w uint64) bool { return w > after && w < v.at.addr })
	}
	if s.starts[v.at.block] && open(0) {
		return true
	}
	after, within := s.first[v.at.block]
	return within && after < v.at.addr && open(after)
}

// within searches the body of a loop or of a function, from positions in it.
func (m *treeBuilder) within(body *vertex, round bool, from []codePosition) *silent {
	if body.key.kind == trace.LoopVertex {
		return m.search(body.in, body.loop, round, from)
	}
	return m.search(body.to, code.NoIndex, round, from)
}

// begin returns the positions where a loop or function begins.
func begin(body *vertex) []codePosition {
	if body.key.kind == trace.LoopVertex {
		return []codePosition{{body.in.body.Graph.Loops[body.loop].Header, 0}}
	}
	return []codePosition{{body.to.entry(), 0}}
}

// behind returns the positions directly after path[i], in the loop or function around it, that are reached without a
// further MPI call. The MPI call before is the last vertex of path.
func (m *treeBuilder) behind(path []*vertex, i int) []codePosition {
	v := path[i]
	if i == len(path)-1 {
		return []codePosition{v.at}
	}
	s := m.within(v, true, m.behind(path, i+1))
	if v.key.kind == trace.LoopVertex {
		return s.out
	}
	if s.leaves {
		return []codePosition{v.at}
	}
	return nil
}

// leads reports whether a path without an MPI call leads from the beginning of path[i] to the call at the end of
// path.
func (m *treeBuilder) leads(path []*vertex, i int) bool {
	for ; i < len(path)-1; i++ {
		if !m.meets(m.within(path[i], true, begin(path[i])), path[i+1]) {
			return false
		}
	}
	return true
}

// step determines which loop may begin an iteration between consecutive calls a and b: the paths in the code from a
// to b without another MPI call.
func (m *treeBuilder) step(a, b *vertex) {
	if _, known := m.steps[[2]*vertex{a, b}]; known {
		return
	}
	p, q := a.path(), b.path()
	k := 0
	for k < len(p)-1 && k < len(q)-1 && p[k] == q[k] {
		k++
	}
	var ways []trace.IteratedLoopNumber // transitions that have a path without another MPI call, innermost loop first
	plain := trace.UnknownIteratedLoop
	jumps := jumps(p[k], q[k])
	after := p[k] != q[k] && k > 0 && (jumps || m.forward(p[k], q[k]))
	if after {
		plain = trace.NoIteratedLoop
		from := m.behind(p, k)
		if (jumps && from != nil || m.meets(m.within(p[k-1], false, from), q[k])) && m.leads(q, k) {
			ways = append(ways, trace.NoIteratedLoop)
		}
	}
	var loops []*vertex
	for i := k - 1; i >= 0; i-- {
		if p[i].key.kind != trace.LoopVertex {
			continue
		}
		loops = append(loops, p[i])
		if plain == trace.UnknownIteratedLoop {
			plain = 1
		}
		if m.searched >= m.most {
			continue
		}
		if s := m.within(p[i], false, m.behind(p, i+1)); s.back && m.leads(q, i) {
			ways = append(ways, trace.IteratedLoopNumber(len(loops)))
		}
	}
	way := plain
	if len(ways) > 0 {
		way = ways[0]
	} else if i := recurs(q[:k]); i >= 0 && !after {
		itself := *q[i]
		if itself.parent = q[i]; m.forward(&itself, q[i+1]) {
			way = trace.NoIteratedLoop // a call of a recursive function has returned between the calls
		} else {
			way = trace.UnknownIteratedLoop // a recursive function has called itself: see TransitionFinder.recursion
		}
	}
	way, ways = read(a, b, way, ways, len(loops))
	m.steps[[2]*vertex{a, b}] = way
	if m.searched >= m.most { // the search was cut short, so other transitions may be possible
		m.open[[2]*vertex{a, b}] = loops
		for _, l := range loops {
			l.atLeast, l.unsure = true, true
		}
		return
	}
	// The transition taken is the first. With any other, an outer loop would have begun an iteration instead, and
	// entered the loops inside it again. So the counts of these loops are uncertain.
	if len(ways) < 2 {
		return
	}
	var open []*vertex
	for _, w := range ways {
		if w != trace.NoIteratedLoop {
			open = append(open, loops[w-1])
		}
	}
	m.open[[2]*vertex{a, b}] = open
	for _, w := range ways[1:] {
		outer := loops[w-1]
		outer.atLeast = true
		for i := k - 1; p[i] != outer; i-- {
			p[i].unsure = p[i].unsure || p[i].key.kind == trace.LoopVertex
		}
	}
}

// jumps reports whether one execution of one call instruction may reach both vertices: function a ends in a jump to
// b, and call stacks don't show a then. This is so if the instruction names a but not b. It is also so if a contains
// a jump to b.
func jumps(a, b *vertex) bool {
	if a.in == nil || a.in != b.in || a.key.at != b.key.at || a.key.kind != trace.FunctionVertex || b.key.kind == trace.LoopVertex || a.to == b.to {
		return false
	}
	for _, c := range a.in.callsOf(a.at.block) {
		if c.Addr != a.key.at {
			continue
		}
		if c.IsResolved && leadsTo(&c, b) {
			return false
		}
		return c.IsResolved && leadsTo(&c, a) || slices.ContainsFunc(a.to.body.Calls, func(j code.Call) bool { return j.IsTail && leadsTo(&j, b) })
	}
	return false
}

// leadsTo reports whether the target of a call or jump is the function of vertex v, or its MPI function.
func leadsTo(c *code.Call, v *vertex) bool {
	if v.to == nil {
		return strings.TrimPrefix(mpi.FunctionOfSymbol(c.CalleeSymbol), "P") == strings.TrimPrefix(v.key.name, "P")
	}
	return c.Callee == v.to.Function || c.Callee == nil && c.CalleeSymbol != "" && v.to.image.ExportedFunction(c.CalleeSymbol) == v.to.Function
}

// recurs returns the index in path of the innermost function that calls itself; -1 without such a function, or if a
// loop is inside it. Calls at all depths of recursion have the same vertex.
func recurs(path []*vertex) int {
	for i, v := range slices.Backward(path) {
		if v.key.kind == trace.LoopVertex {
			return -1
		}
		if v.in != nil && v.in == v.to {
			return i
		}
	}
	return -1
}

// read removes the transitions between calls a and b that the recorded loop counters exclude. It also returns the
// transition that was taken. way is the result without counters, loops the number of loops around both calls.
func read(a, b *vertex, way trace.IteratedLoopNumber, ways []trace.IteratedLoopNumber, loops int) (trace.IteratedLoopNumber, []trace.IteratedLoopNumber) {
	if b.turn > loops || a.read == nil || b.read == nil {
		return way, ways // no counters were recorded, or the comparison is impossible
	}
	c := code.ComparePaths(a.read, b.read)
	if len(c.LoopAdvanced) != loops {
		return way, ways // a function without a frame is between them, whose caller may be another than recorded
	}
	usual := trace.NoIteratedLoop
	if c.NewIteration {
		usual = 1
	}
	tells := func(w trace.IteratedLoopNumber) bool { return c.LoopAdvanced[loops-int(w)] }
	var left []trace.IteratedLoopNumber
	if turn := trace.IteratedLoopNumber(b.turn); turn > 0 {
		way, left = turn, append(left, turn)
		for _, w := range ways {
			if w > turn && !tells(w) {
				// The counter is equal: the loop may have begun an iteration in which the inner loops started again.
				left = append(left, w)
			}
		}
		return way, left
	}
	for _, w := range ways {
		if w <= usual || !tells(w) {
			left = append(left, w)
		}
	}
	if len(left) > 0 {
		return left[0], left
	}
	return way, ways
}

// forward reports whether the code has a path from a to b in the same iteration of the loop around them, whatever
// calls are on it. a and b are directly in the same loop or function.
func (m *treeBuilder) forward(a, b *vertex) bool {
	if a.in == nil || a.in != b.in {
		return false
	}
	x, xa := a.order()
	y, ya := b.order()
	if x > y || x == y && xa >= ya {
		return false
	}
	f, loop := a.in, code.NoIndex
	if a.parent.key.kind == trace.LoopVertex {
		loop = a.parent.loop
	}
	header := code.NoIndex
	if loop != code.NoIndex {
		header = f.body.Graph.Loops[loop].Header
	}
	goal := func(block int) bool {
		if b.key.kind == trace.LoopVertex {
			return f.body.Graph.IsInside(f.body.Graph.InnermostLoop[block], b.loop)
		}
		return block == b.at.block
	}
	seen := make([]bool, len(f.body.Blocks))
	var work []int
	visit := func(block int) {
		if block != header && !seen[block] && f.body.Graph.IsInside(f.body.Graph.InnermostLoop[block], loop) {
			seen[block] = true
			work = append(work, block)
		}
	}
	if a.key.kind == trace.LoopVertex {
		for block, l := range f.body.Graph.InnermostLoop {
			if l != code.NoIndex && f.body.Graph.IsInside(l, a.loop) {
				for _, to := range f.body.Blocks[block].Next {
					if !f.body.Graph.IsInside(f.body.Graph.InnermostLoop[to], a.loop) {
						visit(to)
					}
				}
			}
		}
	} else {
		if goal(a.at.block) && a.key.at < b.key.at {
			return true
		}
		for _, to := range f.body.Blocks[a.at.block].Next {
			visit(to)
		}
	}
	for len(work) > 0 {
		block := work[len(work)-1]
		work = work[:len(work)-1]
		if goal(block) {
			return true
		}
		for _, to := range f.body.Blocks[block].Next {
			visit(to)
		}
	}
	return false
}
