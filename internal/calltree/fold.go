package calltree

import (
	"encoding/binary"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// The compression finds rules that save bytes; programmers think in loops. The structure of a program is made from
// the rules in one pass from the innermost to the outermost. A call is identified by its function and place only,
// whatever its other parameters. Rules with one use are inlined. What then repeats in adjacent positions becomes a
// loop, even if its inner loops have different trip counts (Grosclaude et al. take two equal neighbours, then the
// most frequent pair, in turn). Each rule is processed once, so that the cost follows the compressed form, and all
// counts are exact.

type kind uint8

const (
	callKind kind = iota
	loopKind
	partKind // occurs in several places and is too large to be repeated in each
)

// A node is one occurrence of a part of the program.
type node struct {
	kind  kind
	shape int   // number that is equal for nodes which differ only in counts
	size  int   // number of nodes of the tree, itself included
	terms terms // for a call: its leaves
	body  []item
	rule  int // for a part: one of the rules with this content

	// For a loop: number of entries in this occurrence (1, unless several occurrences were merged), and iterations:
	// total, least and most per entry.
	entered, rounds, least, most uint64
	trips                        trips
	lead                         terms // the calls with which it is entered
}

// leads returns the first call of a node.
func (n *node) leads() terms {
	switch n.kind {
	case callKind:
		return terms{{n.terms[0].leaf, 1}}
	case loopKind:
		return n.lead
	}
	return n.body[0].n.leads()
}

// An item is a node with a number of occurrences.
type item struct {
	n     *node
	times uint64
}

const (
	maxWindow   = 256 // longest loop body that is searched for
	maxUnfolded = 64  // longest rule that is not folded before its surroundings are known
	maxUnrolled = 32  // longest loop that is unrolled while folding
	maxCopied   = 96  // largest part that is repeated wherever it occurs, in nodes
)

// A nodeShaper folds sequences into nodes. Leaves of the same call site have the same label.
type nodeShaper struct {
	label  []int // by leaf: number of its call site
	poll   func(label int) bool
	shapes map[string]int
	leaf   map[int]*node   // by leaf: its node
	lists  map[int][]*node // by copy of a rule: the nodes of one repetition
	uses   map[int]int     // by rule: how often the structure refers to it
	key    []byte
	out    []*node // result of the last pass
	looked int     // number of nodes examined in all passes

	only   *recursive     // if not nil, only calls of this recursive function are folded
	uneven []*uneven      // loops that may also have no iteration or one
	ends   map[int][2]int // by copy of a rule, see trace.Node.RuleCopy: first and last leaf of the copy; -1 if the rule is empty
}

func newFolder(label []int, poll func(label int) bool) *nodeShaper {
	return &nodeShaper{label: label, poll: poll, shapes: make(map[string]int)}
}

// fold returns the structure of a stream as a sequence of nodes.
func (f *nodeShaper) fold(root trace.Node) []*node {
	f.leaf, f.uses = make(map[int]*node), root.RuleUses()
	return f.evened(root)
}

// once folds the stream with the currently known uneven loops.
func (f *nodeShaper) once(root trace.Node) []*node {
	f.lists, f.ends = make(map[int][]*node), make(map[int][2]int)
	list := f.rule(root)
	if f.only != nil {
		list = append(f.junction(-1, f.ends[root.RuleCopy][0]), list...)
	}
	return f.folded(list)
}

// rule returns the nodes of one repetition of a rule. Short rules are not folded yet, as the ends of a rule need
// not be those of a loop.
func (f *nodeShaper) rule(n trace.Node) []*node {
	if list, ok := f.lists[n.RuleCopy]; ok {
		return list
	}
	var list []*node
	ends := [2]int{-1, -1}
	for _, c := range n.Children() {
		var once []*node
		of := [2]int{c.Leaf, c.Leaf}
		switch {
		case c.Rule >= 0:
			once, of = f.rule(c), f.ends[c.RuleCopy]
		case f.only == nil || f.only.has(c.Leaf):
			once = []*node{f.call(c.Leaf)}
		case !f.only.placed(c.Leaf):
			of = [2]int{-1, -1}
		}
		if ends[1] >= 0 {
			list = f.appended(list, f.junction(ends[1], of[0])...)
		}
		if between := f.junction(of[1], of[0]); c.Count > 1 && between != nil {
			list = f.repeated(list, f.appended(slices.Clip(once), between...), c.Count-1)
			list = f.repeated(list, once, 1)
		} else {
			list = f.repeated(list, once, c.Count)
		}
		if ends[0] < 0 {
			ends[0] = of[0]
		}
		if of[1] >= 0 {
			ends[1] = of[1]
		}
	}
	f.ends[n.RuleCopy] = ends
	if len(list) > maxUnfolded {
		list = f.folded(list)
	}
	if n.Rule > 0 && f.uses[n.Rule] > 1 && len(list) > 1 && sizeOf(list) > maxCopied {
		list = []*node{f.part(n.Rule, f.folded(list))}
	}
	f.lists[n.RuleCopy] = list
	return list
}

// repeated appends a sequence a number of times. The first and the last repetition stay separate from the loop of
// the others, as they may belong to the surroundings.
func (f *nodeShaper) repeated(list, once []*node, times uint64) []*node {
	if len(once) > maxUnrolled/2 && times > 1 && f.uneven != nil {
		once = f.folded(once) // if this makes it shorter, its first and last repetition can stay separate
	}
	n := uint64(len(once))
	switch {
	case times == 1:
		return f.appended(list, once...)
	case n == 1 && once[0].isRun():
		return f.appended(list, f.loop(once, times))
	case times*n <= maxUnrolled && times <= maxUnrolled:
		for range times {
			list = f.appended(list, once...)
		}
		return list
	case n > maxUnrolled/2:
		return f.appended(list, f.loop(f.folded(once), times))
	}
	list = f.appended(list, once...)
	list = f.appended(list, f.loop(f.folded(once), times-2))
	return f.appended(list, once...)
}

// appended appends nodes, and merges adjacent calls from the same place.
func (f *nodeShaper) appended(list []*node, more ...*node) []*node {
	for _, x := range more {
		if n := len(list); n > 0 && x.isRun() && list[n-1].shape == x.shape {
			list[n-1] = f.joined(list[n-1], x)
			continue
		}
		list = append(list, x)
	}
	return list
}

// folded replaces repetitions in a sequence by loops, the shortest first, so that inner loops are complete before
// outer ones are searched.
func (f *nodeShaper) folded(list []*node) []*node {
	list = f.wrapped(list)
	for w := 1; w < len(list) && w <= maxWindow; w++ {
		if shorter := f.pass(list, w); len(shorter) < len(list) {
			list = slices.Clone(shorter)
			w = 0 // restart, as parts may have become adjacent
		}
	}
	if shorter := f.complete(list); len(shorter) < len(list) {
		return f.folded(shorter)
	}
	return list
}

// pass replaces repetitions of w nodes by loops, from left to right. The result is valid until the next pass;
// usually it equals the input.
func (f *nodeShaper) pass(list []*node, w int) []*node {
	out := f.out[:0]
	f.looked += len(list)
	for i := 0; i < len(list); {
		x := list[i]
		last := len(out) - 1
		switch {
		// Adjacent calls of the same place, or equal adjacent loops, become one loop.
		case w == 1 && last >= 0 && joins(out[last], x):
			out[last] = f.joined(out[last], x)
			i++
		// Another iteration of the previous loop.
		case last >= 0 && i+w <= len(list) && out[last].isLoopOver(list[i:i+w]):
			out[last] = f.withRound(out[last], list[i:i+w])
			i += w
		// An iteration directly before its loop.
		case len(x.body) == w && last+1 >= w && x.isLoopOver(out[last+1-w:]):
			out = append(out[:last+1-w], f.withRoundBefore(x, out[last+1-w:]))
			i++
		// Two equal sequences.
		case i+2*w <= len(list) && !(w == 1 && joins(x, list[i+1])) && slices.EqualFunc(list[i:i+w], list[i+w:i+2*w], func(x, y *node) bool { return x.shape == y.shape }):
			out = append(out, f.withRound(f.loop(list[i:i+w], 1), list[i+w:i+2*w]))
			i += 2 * w
		default:
			if len(x.body) == w {
				if loop, before, after := f.rotated(x, out, list[i+1:]); loop != nil {
					out = append(out[:len(out)-before], loop)
					i += 1 + after
					continue
				}
			}
			out = append(out, x)
			i++
		}
	}
	f.out = out
	return out
}

func sizeOf(list []*node) int {
	n := 0
	for _, x := range list {
		n += x.size
	}
	return n
}

func (f *nodeShaper) call(leaf int) *node {
	return once.GetOrMake(f.leaf, leaf, func() *node {
		return &node{kind: callKind, size: 1, terms: terms{{leaf, 1}}, shape: f.shape('c', f.label[leaf])}
	})
}

func (f *nodeShaper) part(rule int, list []*node) *node {
	n := &node{kind: partKind, size: 1, rule: rule, body: scaled(list, 1), entered: 1}
	n.shape = f.shapeOf('p', n.body)
	return n
}

func scaled(list []*node, times uint64) []item {
	body := make([]item, len(list))
	for i, x := range list {
		body[i] = item{x, times}
	}
	return body
}

func (f *nodeShaper) loop(list []*node, rounds uint64) *node {
	return f.newLoop(scaled(list, rounds), rounds, list[0].leads())
}

func (f *nodeShaper) newLoop(body []item, rounds uint64, lead terms) *node {
	// A loop that contains nothing but a loop becomes one loop.
	if x := body[0]; len(body) == 1 && x.n.kind == loopKind && !x.n.isRun() {
		inner := make([]item, len(x.n.body))
		for i, y := range x.n.body {
			inner[i] = item{y.n, y.times * x.times}
		}
		return f.newLoop(inner, x.n.rounds*x.times, lead)
	}
	n := &node{kind: loopKind, body: body, entered: 1, rounds: rounds, least: rounds, most: rounds, trips: constant(rounds, 1), lead: lead, size: 1}
	for _, x := range body {
		n.size += x.n.size
	}
	if n.isRun() {
		n.shape = body[0].n.shape
	} else {
		n.shape = f.shapeOf('l', body)
	}
	return n
}

// isRun reports whether a node is consecutive calls from one place. A loop that happens to have one iteration is a
// run of one.
func (n *node) isRun() bool {
	return n.kind == callKind || n.kind == loopKind && len(n.body) == 1 && n.body[0].n.isRun()
}

func (f *nodeShaper) shapeOf(what byte, body []item) int {
	list := make([]int, len(body))
	for i, x := range body {
		list[i] = x.n.shape
	}
	return f.shape(what, list...)
}

func (f *nodeShaper) shape(what byte, parts ...int) int {
	f.key = append(f.key[:0], what)
	for _, p := range parts {
		f.key = binary.AppendUvarint(f.key, uint64(p))
	}
	n, ok := f.shapes[string(f.key)]
	if !ok {
		n = len(f.shapes)
		f.shapes[string(f.key)] = n
	}
	return n
}

// joins reports whether two neighbours form one loop.
func joins(a, b *node) bool {
	return a.shape == b.shape && (b.isRun() || a.kind == loopKind && b.kind == loopKind)
}

// rotated searches for parts of a loop's body before and after the loop that together form another iteration: x (y
// x)[n] y is (x y)[n+1]. It returns that loop and how many nodes before and after it contains.
func (f *nodeShaper) rotated(loop *node, out, next []*node) (turned *node, before, after int) {
	if loop.kind != loopKind || loop.isRun() {
		return nil, 0, 0
	}
	m := len(loop.body)
	for after = 1; after < m && after <= len(next); after++ {
		before = m - after
		if before > len(out) {
			continue
		}
		head, tail := next[:after], out[len(out)-before:]
		if !sameAs(loop.body[:after], head) || !sameAs(loop.body[after:], tail) {
			continue
		}
		body := make([]item, 0, m)
		for i, x := range tail {
			body = append(body, f.add(item{x, 1}, loop.body[after+i]))
		}
		for i, x := range head {
			body = append(body, f.add(loop.body[i], item{x, 1}))
		}
		return f.newLoop(body, loop.rounds+1, tail[0].leads()), before, after
	}
	return nil, 0, 0
}

func sameAs(body []item, list []*node) bool {
	return slices.EqualFunc(body, list, func(x item, y *node) bool { return x.n.shape == y.shape })
}

// isLoopOver reports whether a node is a loop whose body has the shapes of list, and is no run.
func (n *node) isLoopOver(list []*node) bool {
	return n.kind == loopKind && !n.isRun() && sameAs(n.body, list)
}

// withRound returns a loop with one more iteration at its end, withRoundBefore with one at its beginning.
func (f *nodeShaper) withRound(loop *node, round []*node) *node {
	body := make([]item, len(round))
	for i, x := range round {
		body[i] = f.add(loop.body[i], item{x, 1})
	}
	return f.newLoop(body, loop.rounds+1, loop.lead)
}

func (f *nodeShaper) withRoundBefore(loop *node, round []*node) *node {
	body := make([]item, len(round))
	for i, x := range round {
		body[i] = f.add(item{x, 1}, loop.body[i])
	}
	return f.newLoop(body, loop.rounds+1, round[0].leads())
}

// joined returns one loop for two adjacent ones, each entered once.
func (f *nodeShaper) joined(a, b *node) *node {
	if a.isRun() {
		a, b = f.asRun(a), f.asRun(b)
	}
	body := make([]item, len(a.body))
	for i := range body {
		body[i] = f.add(a.body[i], b.body[i])
	}
	lead := a.lead
	if a.rounds == 0 {
		lead = b.lead
	}
	return f.newLoop(body, a.rounds+b.rounds, lead)
}

// asRun converts a run to a loop over a call.
func (f *nodeShaper) asRun(n *node) *node {
	if n.kind == callKind {
		out := f.newLoop([]item{{n, 1}}, n.terms.sum(), n.terms)
		out.entered, out.least, out.most, out.trips = out.rounds, 1, 1, constant(1, out.rounds)
		return out
	}
	inner := n.body[0]
	if inner.n.kind == callKind {
		return n
	}
	// The inner loop contains nothing but one call.
	in := f.asRun(inner.n)
	out := f.newLoop([]item{{in.body[0].n, in.body[0].times * inner.times}}, in.rounds*inner.times, n.lead)
	out.entered, out.least, out.most = n.entered, n.least*in.least, n.most*in.most
	if n.entered == 1 {
		out.least, out.most = out.rounds, out.rounds
	} else {
		out.trips = trips{}
	}
	return out
}

// add merges occurrences of two nodes of the same shape.
func (f *nodeShaper) add(x, y item) item {
	if x.n == y.n {
		return item{x.n, x.times + y.times}
	}
	return item{f.combine(x, y), 1}
}

func (f *nodeShaper) combine(x, y item) *node {
	a, b := x.n, y.n
	switch {
	case a.kind == callKind && b.kind == callKind:
		return &node{kind: callKind, shape: a.shape, size: 1, terms: a.terms.times(x.times).plus(b.terms.times(y.times))}
	case a.isRun():
		a, b = f.asRun(a), f.asRun(b)
	}
	sum := &node{
		kind: a.kind, shape: a.shape, size: max(a.size, b.size), rule: a.rule, body: make([]item, len(a.body)),
		entered: a.entered*x.times + b.entered*y.times, rounds: a.rounds*x.times + b.rounds*y.times,
		least: min(a.least, b.least), most: max(a.most, b.most),
		lead: a.lead.times(x.times).plus(b.lead.times(y.times)),
	}
	switch {
	case x.times == 0:
		sum.trips = b.trips.times(y.times)
	case y.times == 0:
		sum.trips = a.trips.times(x.times)
	default:
		sum.trips = a.trips.times(x.times).then(b.trips.times(y.times))
	}
	for i := range sum.body {
		p, q := a.body[i], b.body[i]
		sum.body[i] = f.add(item{p.n, p.times * x.times}, item{q.n, q.times * y.times})
	}
	return sum
}

// terms are leaves with numbers of calls, in rising order of leaves.
type terms []term

type term struct {
	leaf  int
	count uint64
}

func (t terms) sum() (n uint64) {
	for _, x := range t {
		n += x.count
	}
	return n
}

func (t terms) times(n uint64) terms {
	if n == 1 {
		return t
	}
	out := slices.Clone(t)
	for i := range out {
		out[i].count *= n
	}
	return out
}

func (t terms) plus(u terms) terms {
	out := make(terms, 0, len(t)+len(u))
	for len(t) > 0 && len(u) > 0 {
		switch {
		case t[0].leaf < u[0].leaf:
			out, t = append(out, t[0]), t[1:]
		case t[0].leaf > u[0].leaf:
			out, u = append(out, u[0]), u[1:]
		default:
			out = append(out, term{t[0].leaf, t[0].count + u[0].count})
			t, u = t[1:], u[1:]
		}
	}
	return append(append(out, t...), u...)
}
