// Package tree finds the program's own loops around its MPI calls, without running or recompiling it: calls with
// call stacks are placed in the machine code of the functions on these, and what happens between two calls follows from
// their two places alone. If the second comes later in the code of what both are in, the way led forward; else a loop
// around both has begun another round, the innermost for which the code has a way.
//
// The tree is Cypress's communication structure tree (Zhai et al., CYPRESS: Combining Static and Dynamic Analysis
// for Top-Down Communication Trace Compression, SC14, section 3), but made of contexts that occurred, so that calls
// through pointers are what they were, and found in binaries. Rounds are counted on the compressed form, never
// expanded.
//
// What the code can't tell is marked: rounds that may have passed without a call of MPI, and loops within loops of
// which either may have gone round.
//
// Outlines show the same of a binary that wasn't run, and TailCalls completes call stacks.
package tree

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A vertex is a function, loop or call in its context, in a tree that is being built.
type vertex struct {
	key      key
	parent   *vertex
	children map[key]*vertex
	list     []*vertex
	depth    int

	in   *function    // function whose body contains the vertex
	loop int          // for a loop: its index in the function's loops
	at   codePosition // for a call: position after its instruction
	tail bool
	site trace.Site // any site in the module of function in
	end  uint64     // for a call: address of the instruction after it
	turn int        // for an MPI call, see trace.Call.Turn
	// For an MPI call: the loop counters that the recorder read there; nil: it read none.
	read []code.PathPlace
	to   *function // for a function vertex: that function

	number          int
	atLeast, unsure bool
}

// A key identifies a vertex among those in the same function or loop.
type key struct {
	kind trace.VertexKind
	in   *code.Function
	at   uint64 // address of the call instruction, or of the loop's header
	to   *code.Function
	name string // for an MPI call: name of the function
	turn int    // for an MPI call: see vertex.turn
}

// A function is a function of a binary with its decoded body.
type function struct {
	*code.Function
	image *code.Image
	body  *code.Body
	site  trace.Site // any site in the function's module
	must  int        // whether every path in it calls MPI, as found by calls
	walls map[int][]uint64
}

// A callContext is an MPI function called from a site.
type callContext struct {
	function uint16
	site     int
}

// A treeBuilder builds the tree of a trace.
type treeBuilder struct {
	ctx       context.Context
	symbols   *symbolise.Symboliser
	tails     *TailCalls
	functions map[*code.Function]*function
	root      *vertex
	leaves    map[callContext]*vertex
	steps     map[[2]*vertex]trace.IteratedLoopNumber
	seen      [][2]*vertex // pairs of vertices whose calls are consecutive in some stream, each once
	asked     map[[2]*vertex]bool
	frames    int                     // largest number of frames that the recorder kept of a stack, see StackLimit
	roots     map[*code.Function]bool // outermost functions of stacks that are complete
	cut       bool                    // some stack lacks its outermost frames
	evaluated bool                    // some stack contains a function of an interpreter
	planner   *code.PathBuilder       // reads recorded loop counters; nil: the recorder read none
	searched  int                     // number of basic blocks searched so far
	most      int                     // largest number for searched
	searches  map[searchKey]*silent
	// By pair of consecutive calls with several possible transitions: the loops that may have begun an iteration
	// between them.
	open map[[2]*vertex][]*vertex
}

// maxVaried is the number of ranks of a class whose pairs of consecutive calls are collected, if repetition counts
// differ between its ranks.
const maxVaried = 64

// Build makes the tree of a trace from the binaries of the recorded run. It returns nil without an error if no call
// could be placed, or if the trace has no call stacks and not all calls are made in main. It also does so if an
// interpreter makes calls, as loops of machine code are not the program's then. When ctx is done it returns the error
// of ctx.
func Build(ctx context.Context, r *trace.Reader, s *symbolise.Symboliser, tails *TailCalls, o Options) (*trace.Code, error) {
	if o.MaxSearchedBlocks == 0 {
		o.MaxSearchedBlocks = maxSearched
	}
	c, _, err := made(ctx, r, s, tails, o)
	return c, err
}

// Options say how to make a tree.
type Options struct {
	// MaxSearchedBlocks limits the basic blocks that are searched for paths without an MPI call. Beyond the limit these
	// paths are unknown, and loops around the remaining calls are marked as uncertain. 0: a default that takes about a
	// second; negative: no search.
	MaxSearchedBlocks int
	Progress          func(done, total int) // if set: called after each pair of consecutive calls that was searched
}

func made(ctx context.Context, r *trace.Reader, s *symbolise.Symboliser, tails *TailCalls, o Options) (*trace.Code, *treeBuilder, error) {
	sites, err := r.Sites()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sites {
		if _, interpreted := model.SourceLineFunction(s.BuildID); interpreted {
			return nil, nil, nil
		}
	}
	frames, err := StackLimit(r)
	if err != nil {
		return nil, nil, err
	}
	m := &treeBuilder{
		ctx: ctx, most: o.MaxSearchedBlocks, open: make(map[[2]*vertex][]*vertex), searches: make(map[searchKey]*silent), symbols: s, tails: tails, functions: make(map[*code.Function]*function), root: &vertex{children: make(map[key]*vertex)},
		leaves: make(map[callContext]*vertex), steps: make(map[[2]*vertex]trace.IteratedLoopNumber), asked: make(map[[2]*vertex]bool), frames: frames, roots: make(map[*code.Function]bool),
	}
	if slices.Contains(strings.Fields(r.Meta()[trace.MetaRecorderOptions]), "SPOOR_LOOP_COUNTERS=1") {
		m.planner = &code.PathBuilder{}
	}
	if frames > 1 && slices.ContainsFunc(sites, func(s trace.Site) bool { return len(s.Frames()) == frames }) {
		for class := range r.Classes() {
			if err := m.ends(r, class); err != nil {
				return nil, nil, err
			}
		}
	}
	for class := range r.Classes() {
		if err := m.class(r, class); err != nil {
			return nil, nil, err
		}
		if m.evaluated || m.frames == 1 && m.cut {
			return nil, nil, nil // the loops are an interpreter's, or callers are missing
		}
	}
	// The pairs are searched only now that all functions that lead to MPI are known.
	for i, s := range m.seen {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if m.step(s[0], s[1]); o.Progress != nil {
			o.Progress(i+1, len(m.seen))
		}
	}
	if len(m.root.list) == 0 {
		return nil, nil, nil
	}
	c := m.code()
	return c, m, ctx.Err()
}

// MaxFrames is the largest number of frames of a stack that the recorder can keep (SP_MAX_FRAMES).
const MaxFrames = 64

// StackLimit returns the largest number of frames that the recorder kept of a call's stack. It is from the recorder's
// options or, as recovered traces lack these, the number of frames of the deepest call.
func StackLimit(r *trace.Reader) (int, error) {
	for word := range strings.FieldsSeq(r.Meta()[trace.MetaRecorderOptions]) {
		if n, ok := strings.CutPrefix(word, "SPOOR_STACK="); ok {
			if n, err := strconv.Atoi(n); err == nil {
				return n, nil
			}
		}
	}
	sites, err := r.Sites()
	most := 1
	for _, s := range sites {
		most = max(most, len(s.Frames()))
	}
	return most, err
}

// outermost returns the function that the outermost frame of a stack is in; nil if unknown.
func (m *treeBuilder) outermost(s trace.Site) *code.Function {
	list := s.Frames()
	last := list[len(list)-1]
	if image := m.tails.Image(last); image != nil {
		return image.FunctionAt(last.Offset + image.LinkBias - 1)
	}
	return nil
}

// ends adds to roots the outermost functions of the complete stacks of a class's calls. It looks at sites of calls
// only, as the trace also has sites of other kinds.
func (m *treeBuilder) ends(r *trace.Reader, class int) error {
	k, err := r.Rank(r.Members(class)[0])
	if err != nil {
		return err
	}
	for t := range k.Terminals() {
		c := k.CallWithoutParams(t)
		if len(c.Site.Frames()) < m.frames {
			if f := m.outermost(c.Site); f != nil {
				m.roots[f] = true
			}
		}
	}
	return nil
}

// whole reports whether a stack is complete up to its thread's first function. That is so if it has fewer frames than
// the limit, or if its outermost function is main or that of a stack that is complete for this reason.
func (m *treeBuilder) whole(s trace.Site) bool {
	if len(s.Frames()) < m.frames {
		return true
	}
	f := m.outermost(s)
	return f != nil && (m.roots[f] || f.Symbol() == "main" || m.frames == 1 && f.Symbol() == "MAIN__")
}

// class adds the calls of a class to the tree, and lists which of them are consecutive.
func (m *treeBuilder) class(r *trace.Reader, class int) error {
	ranks := r.Members(class)
	k, err := r.Rank(ranks[0])
	if err != nil {
		return err
	}
	leaf := make([]*vertex, k.Terminals())
	for t := range leaf {
		if m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		c := k.CallWithoutParams(t)
		site := k.SiteIndex(t)
		if site < 0 {
			continue // the site is not in the trace
		}
		at := callContext{c.Func.ID, site}
		v, placed := m.leaves[at]
		if !placed {
			if m.whole(c.Site) {
				v = m.place(c.Site, c.Name(), c.Turn)
			} else if m.cut = true; m.frames == 1 {
				return nil
			}
			m.leaves[at] = v
		}
		leaf[t] = v
	}
	if k.ClassHasEqualCounts() {
		ranks = ranks[:1]
	}
	each := 1 + len(ranks)/maxVaried
	for i := 0; i < len(ranks); i += each {
		if k, err = r.Rank(ranks[i]); err != nil {
			return err
		}
		for stream := range k.Streams() {
			for _, pair := range newGraph(k.Structure(stream), leaf).sorted() {
				if !m.asked[pair] {
					m.asked[pair] = true
					m.seen = append(m.seen, pair)
				}
			}
		}
	}
	return nil
}

// function returns function f with its decoded body; nil if the body can't be decoded.
func (m *treeBuilder) function(f *code.Function, image *code.Image, site trace.Site) *function {
	return once.GetOrMake(m.functions, f, func() *function {
		b, err := f.Body()
		if err != nil {
			return nil
		}
		return &function{Function: f, image: image, body: b, site: site, walls: make(map[int][]uint64)}
	})
}

// place adds the call of an MPI function from a site to the tree, with the functions and loops around it. turn is as
// in trace.Call.Turn. It returns nil if one of the frames is not at a call in the code.
func (m *treeBuilder) place(s trace.Site, name string, turn int) *vertex {
	frames := s.Frames()
	type step struct {
		in   *function
		call *code.Call
		site trace.Site
		or   bool // several paths of tail calls lead on from this call
	}
	var path []step
	for i, fr := range slices.Backward(frames) {
		// A frame in an unnamed module without callers does not count, as the stack may be damaged.
		if symbolise.IsInterpreterOrJIT(fr.Module) && (fr.Module != "" || len(path) > 0) {
			m.evaluated = true
			return nil
		}
		image := m.tails.Image(fr)
		if image == nil {
			return nil
		}
		address := fr.Offset + image.LinkBias
		f := image.FunctionAt(address - 1)
		if f == nil {
			return nil
		}
		// The function with the evaluation loop of the interpreter CPython.
		if f.Symbol() == "_PyEval_EvalFrameDefault" {
			m.evaluated = true
			return nil
		}
		in := m.function(f, image, fr)
		if in == nil {
			return nil
		}
		c := in.body.CallByReturnAddr(address)
		if c == nil || !in.body.IsReachable(c) {
			return nil
		}
		path = append(path, step{in: in, call: c, site: fr})
		inner, called := trace.Site{}, name
		if i > 0 {
			inner, called = frames[i-1], ""
		}
		ways := m.tails.PathsBetween(called, fr, inner)
		if len(ways) != 1 {
			path[len(path)-1].or = len(ways) > 1
			continue
		}
		for _, j := range ways[0] {
			jumps := m.function(j.From, j.Image, j.ModuleSite)
			if jumps == nil {
				return nil
			}
			path = append(path, step{in: jumps, call: j.Call, site: j.ModuleSite})
		}
	}
	v := m.root.child(key{kind: trace.FunctionVertex, to: path[0].in.Function})
	v.to, v.site = path[0].in, path[0].site
	for i, p := range path {
		var around []int
		for l := p.in.body.Graph.InnermostLoop[p.call.Block]; l != code.NoIndex; l = p.in.body.Graph.Loops[l].Parent {
			around = append(around, l)
		}
		for _, l := range slices.Backward(around) {
			v = v.child(key{kind: trace.LoopVertex, in: p.in.Function, at: p.in.body.Blocks[p.in.body.Graph.Loops[l].Header].Lo})
			if v.in == nil {
				v.divided(p.in.SameCounterLoopDistance(l))
			}
			v.in, v.loop, v.site = p.in, l, p.site
		}
		k := key{kind: trace.CallVertex, in: p.in.Function, at: p.call.Addr, name: name, turn: turn}
		if i+1 < len(path) {
			k = key{kind: trace.FunctionVertex, in: p.in.Function, at: p.call.Addr, to: path[i+1].in.Function}
		}
		v = v.child(k)
		v.in, v.at, v.tail, v.site, v.end = p.in, codePosition{p.call.Block, p.call.Addr}, p.call.IsTail, p.site, p.call.ReturnAddr
		if i+1 < len(path) {
			v.to = path[i+1].in
		}
	}
	if v.turn = turn; m.planner != nil {
		read := make([]code.Frame, len(frames))
		for i, fr := range frames {
			image := m.tails.Image(fr)
			read[i] = code.Frame{Image: image, ReturnAddr: fr.Offset + image.LinkBias}
		}
		v.read = m.planner.Path(read)
	}
	return v
}

// divided marks the numbers of entries and iterations as unsure for a loop that shares a counter with an outer loop,
// for that outer loop, and for all loops between them. loops is by how many loops the outer one is further out.
func (v *vertex) divided(loops int) {
	for x := v; loops > 0; x, loops = x.parent, loops-1 {
		x.unsure, x.parent.unsure = true, true
	}
}

func (v *vertex) child(k key) *vertex {
	return once.GetOrAppend(v.children, k, &v.list, func() *vertex {
		return &vertex{key: k, parent: v, children: make(map[key]*vertex), depth: v.depth + 1, loop: code.NoIndex}
	})
}

// path lists the vertices that contain v, from the outermost one on, and v itself.
func (v *vertex) path() []*vertex {
	list := make([]*vertex, v.depth)
	for ; v.parent != nil; v = v.parent {
		list[v.depth-1] = v
	}
	return list
}

// order returns where a vertex is in its function's code: the position of its block in reverse postorder, and its
// address.
func (v *vertex) order() (block int, addr uint64) {
	if v.in == nil {
		return 0, 0
	}
	b := v.at.block
	if v.key.kind == trace.LoopVertex {
		b = v.in.body.Graph.Loops[v.loop].Header
	}
	return v.in.body.Graph.ReversePostorder[b], v.key.at
}

func compareVertices(a, b *vertex) int {
	x, p := a.order()
	y, q := b.order()
	to := func(v *vertex) (n uint64) {
		if v.to != nil {
			n = v.to.Start()
		}
		return n
	}
	if before := jumps(a, b); before != jumps(b, a) {
		if before {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(p, q), cmp.Compare(to(a), to(b)), cmp.Compare(m0(a), m0(b)), cmp.Compare(a.key.name, b.key.name), cmp.Compare(a.turn, b.turn))
}

// m0 returns the path of the binary with the function that a vertex calls; "" for an MPI call or a loop.
func m0(v *vertex) string {
	if v.to == nil {
		return ""
	}
	return v.to.image.Path
}

// code returns the tree as a trace has it.
func (m *treeBuilder) code() *trace.Code {
	c := &trace.Code{}
	// Number of the vertex by function, for the functions around the current vertex. If a function is reached again
	// below itself, vertices in it are added below its first vertex.
	around := make(map[*code.Function]int)
	var add func(v *vertex, parent int)
	add = func(v *vertex, parent int) {
		if m.ctx.Err() != nil {
			return
		}
		v.number = len(c.Vertices)
		x := trace.Vertex{Kind: v.key.kind, Parent: parent, RecursionOf: -1, TailCall: v.tail, RoundsAreLowerBound: v.atLeast, EntriesAreLowerBound: v.unsure}
		hidden := make(map[*code.Function]int)
		switch v.key.kind {
		case trace.CallVertex:
			x.Name = v.key.name
			m.callPlace(&x, v)
		case trace.LoopVertex:
			x.RoundsAreLowerBound = x.RoundsAreLowerBound || m.within(v, false, begin(v)).back
			m.setPlace(&x, LocateLoop(v.in.image, v.in.body, &v.in.body.Graph.Loops[v.loop], m.look(v.in)))
		default:
			x.Name = m.nameOf(v.to)
			if v.in != nil {
				m.callPlace(&x, v)
			}
			if first, again := around[v.to.Function]; again {
				x.RecursionOf = first
				for f, at := range around { // leave out the functions between the two calls of v.to
					if at > first {
						hidden[f] = at
						delete(around, f)
					}
				}
			} else {
				around[v.to.Function] = v.number
				defer delete(around, v.to.Function)
			}
		}
		c.Vertices = append(c.Vertices, x)
		slices.SortFunc(v.list, compareVertices)
		for _, child := range v.list {
			add(child, v.number)
		}
		c.ExclusivePairs = append(c.ExclusivePairs, v.apart()...)
		maps.Copy(around, hidden)
	}
	slices.SortFunc(m.root.list, compareVertices)
	for _, v := range m.root.list {
		add(v, -1)
	}
	for at, v := range m.leaves {
		if v != nil {
			c.CallSiteVertices = append(c.CallSiteVertices, trace.CallSiteVertex{FunctionID: at.function, SiteIndex: at.site, VertexIndex: v.number})
		}
	}
	slices.SortFunc(c.CallSiteVertices, func(a, b trace.CallSiteVertex) int {
		return cmp.Or(cmp.Compare(a.SiteIndex, b.SiteIndex), cmp.Compare(a.FunctionID, b.FunctionID))
	})
	slices.SortFunc(c.ExclusivePairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	w := NewTransitionFinder(c)
	for pair, way := range m.steps {
		s := trace.CallTransition{FromVertex: pair[0].number, ToVertex: pair[1].number, Loop: way}
		if w.plain(s.FromVertex, s.ToVertex) != way {
			c.ExplicitTransitions = append(c.ExplicitTransitions, s)
		}
	}
	slices.SortFunc(c.ExplicitTransitions, func(a, b trace.CallTransition) int {
		return cmp.Or(cmp.Compare(a.FromVertex, b.FromVertex), cmp.Compare(a.ToVertex, b.ToVertex))
	})
	return c
}

// apart returns the pairs of vertices directly in v of which one iteration, or one call of the function, reaches at
// most one.
func (v *vertex) apart() (list [][2]int) {
	f, n := v.in, len(v.list)
	if v.key.kind == trace.FunctionVertex {
		f = v.to
	}
	if f == nil || n < 2 || n > code.MaxBranchItems {
		return nil
	}
	places := make([]code.BodyItem, n)
	for i, x := range v.list {
		if places[i] = (code.BodyItem{Block: x.at.block, Addr: x.at.addr, Loop: code.NoIndex}); x.key.kind == trace.LoopVertex {
			places[i] = code.BodyItem{Block: f.body.Graph.Loops[x.loop].Header, Loop: x.loop}
		}
	}
	apart := f.body.ExclusiveItems(v.loop, places)
	for i := range places {
		for j := i + 1; j < n; j++ {
			if apart(i, j) {
				list = append(list, [2]int{v.list[i].number, v.list[j].number})
			}
		}
	}
	return list
}

// look returns a function that returns the frames at an address in the code of f. instruction is as for
// outliner.frames.
func (m *treeBuilder) look(f *function) func(addr uint64, instruction bool) []symbolise.Frame {
	return func(addr uint64, instruction bool) []symbolise.Frame {
		look := m.symbols.PlaceOfReturnOffset
		if instruction {
			look = m.symbols.PlaceOfCodeOffset
		}
		return look(f.site.Module, f.site.BuildID, addr-f.image.LinkBias).Frames
	}
}

func (m *treeBuilder) callPlace(x *trace.Vertex, v *vertex) {
	addr, instruction := v.end, false
	if v.tail {
		addr, instruction = v.key.at, true
	}
	m.setPlace(x, PlaceOf(addr-v.in.image.LinkBias, m.look(v.in)(addr, instruction)))
}

func (m *treeBuilder) setPlace(x *trace.Vertex, p Place) {
	if x.Offset, x.Inlined = p.Offset, p.Inlined; p.Line > 0 && p.File != "" {
		x.File, x.Line = path.Base(p.File), p.Line
	}
}

// nameOf returns the name of a function to show.
func (m *treeBuilder) nameOf(f *function) string {
	if list := m.look(f)(f.Start(), true); len(list) > 0 {
		return list[len(list)-1].Name()
	}
	if s := f.Symbol(); s != "" {
		return symbolise.Demangle(s)
	}
	return (&symbolise.Frame{FunctionStart: f.Start()}).Name()
}
