package sections

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AppendCode and DecodeCode: the section of code. The tables of sites and signatures say which functions are called
// from where, and through which functions. The section adds the order of the calls only, which is mostly that of
// addresses. Properties of a place in the code are written with the first vertex there.
//
//	code    = vertices uvarint, calls, kinds, flags, stated, loops, again, steps, names, starts, files, lines, inlined, strings, [apart]
//	calls   = count uvarint, those without a context: count uvarint, (number, from the one behind that before) uvarint…,
//	          per other call, per context: 2·(position - that expected, zigzag) + (another follows) uvarint
//	kinds   = per vertex: 0 if it is as expected, else 1 + 2·(5·(levels back - those expected, zigzag) + kind) + (has flags) uvarint
//	flags   = per vertex that has some: uvarint, see the constants
//	stated  = per vertex whose offset is stated: (offset - that of the vertex behind or before it) varint
//	loops   = per loop, the last first: (offset - that of the vertex behind it) varint
//	again   = per function that is again: levels to the same function uvarint
//	steps   = count uvarint, per step: (from - that before) varint, (to - from) varint, way varint
//	names   = per function, and call that is named: text
//	starts  = per name that is an address: 2·(⌊first place in the function / 16⌋ - ⌊address / 16⌋) + (low digit follows) varint,
//	          [low digit uvarint]
//	files   = per vertex at a new place: text
//	lines   = per new place with a file: (line - that before it in the function) varint
//	inlined = per new place with functions inlined: (count - 1) uvarint, text…
//	strings = per new text, in order: its bytes and a 0, or, if it has one, a 0 and string
//	apart   = count uvarint, not 0, per pair: (first - that before) uvarint, (second - first) uvarint
//	text    = 0: that expected; 1: a new one; 2: a new one, that is an address; n: the one n - 3 before the last one
//
// Levels back: 0 if the vertex is in the one before it, 1 if in what is around that, and so on. What is expected is in codeshape.go.

// Flags of vertices, see model.Vertex.
const (
	codeAtLeast = 1 << iota // of a loop: model.Vertex.RoundsAreLowerBound
	codeUnsure              // of a loop: model.Vertex.EntriesAreLowerBound
	codeAgain               // of a function: model.Vertex.RecursionOf is set
	codeStated              // the offset is written, as it does not follow from call sites
	codeAnew                // the place differs from that of the earlier vertex at the same offset
	codeInlined             // functions are inlined at the place
	codeNamed               // a call whose name differs from its function's
	codeFlags
)

// A codeCoder writes or reads the section of code, with the same code for both.
type codeCoder struct {
	wire.Coder
	c     *model.Code
	calls []CodeCall

	flags      []int
	tree       *callTree
	order      [][]int  // by call vertex, in order: indices in calls of the calls made there
	contexts   [][]int  // by vertex: indices in calls of the calls made there
	implied    []uint64 // by vertex: the offset that follows from call sites; 0: none
	like       []int    // by vertex: the previous one of the same kind and offset; -1: none
	texts      []codeText
	number     map[string]int // by text: index in texts
	name, file []int          // by vertex: index in texts; name is -1 if it follows from something else
	inlined    [][]int
	in         []int    // by vertex: index of the function that contains it
	lowest     []uint64 // by function: the lowest offset in it; 0: not known
}

// AppendCode writes the code structure for a trace with these calls. It omits contexts of other calls.
func AppendCode(c *model.Code, calls []CodeCall, b []byte) []byte {
	x := &codeCoder{Coder: wire.Coder{Buf: b}, c: c, calls: calls, tree: newCallTree(calls), texts: make([]codeText, 1), number: map[string]int{"": 0}}
	n := len(c.Vertices)
	x.Buf = wire.AppendUvarint(x.Buf, uint64(n))
	x.flags, x.contexts = make([]int, n), make([][]int, n)
	position := make(map[model.CallSiteVertex]int, len(calls))
	for i, at := range calls {
		position[model.CallSiteVertex{FunctionID: at.FunctionID, SiteIndex: at.SiteIndex}] = i
	}
	for _, at := range c.CallSiteVertices {
		if i, known := position[model.CallSiteVertex{FunctionID: at.FunctionID, SiteIndex: at.SiteIndex}]; known {
			x.contexts[at.VertexIndex] = append(x.contexts[at.VertexIndex], i)
		}
	}
	for i := range c.Vertices {
		x.flags[i] = flagsOf(&c.Vertices[i])
		if slices.Sort(x.contexts[i]); c.Vertices[i].Kind == model.CallVertex {
			x.order = append(x.order, x.contexts[i])
		}
	}
	x.imply()
	x.compare()
	for i := range c.Vertices {
		v := &c.Vertices[i]
		set := func(flag int, is bool) {
			if is {
				x.flags[i] |= flag
			}
		}
		if v.Kind != model.LoopVertex {
			set(codeStated, v.Offset != x.implied[i])
		}
		if v.Kind == model.CallVertex {
			set(codeNamed, v.Name != x.functionOf(i))
		}
		set(codeAnew, x.like[i] >= 0 && !samePlace(v, &c.Vertices[x.like[i]]))
		set(codeInlined, len(v.Inlined) > 0 && x.anew(i))
	}
	x.code()
	return x.Buf
}

// DecodeCode reads the output of AppendCode.
func DecodeCode(r *wire.Reader, calls []CodeCall) *model.Code {
	x := &codeCoder{Coder: wire.Coder{Reader: r}, c: &model.Code{}, calls: calls, tree: newCallTree(calls), texts: make([]codeText, 1)}
	x.c.Vertices = make([]model.Vertex, r.Count(1))
	x.flags, x.contexts = make([]int, len(x.c.Vertices)), make([][]int, len(x.c.Vertices))
	x.code()
	if x.Failed() {
		return &model.Code{}
	}
	for v, list := range x.contexts {
		for _, i := range list {
			x.c.CallSiteVertices = append(x.c.CallSiteVertices, model.CallSiteVertex{FunctionID: calls[i].FunctionID, SiteIndex: calls[i].SiteIndex, VertexIndex: v})
		}
	}
	slices.SortFunc(x.c.CallSiteVertices, model.CallSiteVertex.Compare)
	return x.c
}

func flagsOf(v *model.Vertex) (flags int) {
	for k, set := range []bool{v.RoundsAreLowerBound, v.EntriesAreLowerBound, v.RecursionOf >= 0} {
		if set {
			flags |= codeAtLeast << k
		}
	}
	return flags
}

func samePlace(v, w *model.Vertex) bool {
	return v.File == w.File && v.Line == w.Line && slices.Equal(v.Inlined, w.Inlined)
}

// uvarint and varint write a number when writing, and return the read number when reading.
func (x *codeCoder) uvarint(v, limit int) int {
	wire.CodeBounded(&x.Coder, &v, limit)
	return v
}

func (x *codeCoder) varint(v int64) int64 {
	wire.CodeRelative(&x.Coder, &v, 0)
	return v
}

func (x *codeCoder) code() {
	for _, part := range []func(){x.called, x.shape, x.offsets, x.again, x.steps, x.names, x.addresses, x.places, x.strings, x.apart} {
		if part(); x.Failed() {
			return
		}
	}
}

// imply computes the offsets that follow from sites: those of calls, and of functions on the paths to them.
func (x *codeCoder) imply() {
	list := x.c.Vertices
	x.implied = make([]uint64, len(list))
	known := make([]bool, len(list))
	up := make([]int, len(list)) // by vertex: itself, or the vertex around it that represents the frame; -1: none
	for i := range list {
		if up[i] = i; list[i].Parent < 0 {
			up[i] = -1
		} else if list[i].Kind == model.LoopVertex || list[i].TailCall {
			up[i] = up[list[i].Parent]
		}
	}
	for i, calls := range x.contexts {
		if len(calls) == 0 {
			continue
		}
		site := &x.calls[calls[0]].Location
		for v := up[i]; v >= 0 && site != nil && !known[v]; v = up[list[v].Parent] {
			x.implied[v], known[v] = site.Offset, true
			site = site.Caller
		}
	}
}

func (x *codeCoder) offsets() {
	list := x.c.Vertices
	if x.Reader != nil {
		x.imply()
		for i := range list {
			list[i].Offset = x.implied[i]
		}
	}
	for i := range list {
		if x.flags[i]&codeStated != 0 && list[i].Kind != model.LoopVertex {
			near := min(i+1, len(list)-1)
			if x.implied[near] == 0 {
				near = max(i-1, 0)
			}
			list[i].Offset = uint64(x.varint(int64(list[i].Offset-x.implied[near]))) + x.implied[near]
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == model.LoopVertex {
			behind := list[min(i+1, len(list)-1)].Offset
			if i == len(list)-1 {
				behind = 0
			}
			list[i].Offset = uint64(x.varint(int64(list[i].Offset-behind))) + behind
		}
	}
	x.compare()
}

// compare sets x.like, by vertex, to the previous vertex of the same kind and offset.
func (x *codeCoder) compare() {
	type place struct {
		kind   model.VertexKind
		tail   bool
		offset uint64
	}
	x.like = make([]int, len(x.c.Vertices))
	before := make(map[place]int)
	for i := range x.c.Vertices {
		v := &x.c.Vertices[i]
		at := place{v.Kind, v.TailCall, v.Offset}
		x.like[i] = -1
		if v.Parent < 0 {
			continue
		}
		if n, known := before[at]; known {
			x.like[i] = n
		}
		before[at] = i
	}
}

func (x *codeCoder) again() {
	var around []int
	for i := range x.c.Vertices {
		v := &x.c.Vertices[i]
		if x.flags[i]&codeAgain == 0 {
			continue
		}
		around = around[:0]
		for at := v.Parent; at >= 0; at = x.c.Vertices[at].Parent {
			around = append(around, at)
		}
		up := x.uvarint(slices.Index(around, v.RecursionOf), len(around))
		if x.Reader == nil {
			continue
		}
		if x.Failed() || up == len(around) || v.Kind != model.FunctionVertex || x.c.Vertices[around[up]].Kind != model.FunctionVertex {
			x.Reader.Fail("vertex %d is no function that is called again", i)
			return
		}
		v.RecursionOf = around[up]
	}
}

// steps writes or reads the transitions between calls that the order of vertices does not imply.
func (x *codeCoder) steps() {
	n := x.uvarint(len(x.c.ExplicitTransitions), len(x.c.Vertices)*len(x.c.Vertices))
	from := 0
	for i := range n {
		var s model.CallTransition
		if x.Reader == nil {
			s = x.c.ExplicitTransitions[i]
		}
		s.FromVertex = int(x.varint(int64(s.FromVertex-from))) + from
		s.ToVertex = int(x.varint(int64(s.ToVertex-s.FromVertex))) + s.FromVertex
		s.Loop = model.IteratedLoopNumber(x.varint(int64(s.Loop)))
		if from = s.FromVertex; x.Reader == nil {
			continue
		}
		if checkStep(x.Reader, x.c, s); x.Failed() {
			return
		}
		x.c.ExplicitTransitions = append(x.c.ExplicitTransitions, s)
	}
}

// apart writes or reads the pairs of vertices that exclude each other in an iteration.
func (x *codeCoder) apart() {
	n := len(x.c.ExclusivePairs)
	if x.Reader != nil {
		if x.Reader.RemainingLen() == 0 {
			return
		}
		if n = x.Reader.Count(2); n == 0 {
			x.Reader.Fail("an empty list of vertices that exclude each other")
			return
		}
		x.c.ExclusivePairs = make([][2]int, n)
	} else if n == 0 {
		return
	} else {
		x.Buf = wire.AppendUvarint(x.Buf, uint64(n))
	}
	last := [2]int{}
	for i := range x.c.ExclusivePairs {
		p := &x.c.ExclusivePairs[i]
		p[0] = x.uvarint(p[0]-last[0], len(x.c.Vertices)) + last[0]
		p[1] = x.uvarint(p[1]-p[0], len(x.c.Vertices)) + p[0]
		if x.Reader == nil {
			last = *p
			continue
		}
		if x.Failed() {
			return
		}
		if p[1] >= len(x.c.Vertices) || p[0] == p[1] || p[0] == last[0] && p[1] <= last[1] || x.c.Vertices[p[0]].Parent != x.c.Vertices[p[1]].Parent {
			x.Reader.Fail("vertices %d and %d don't exclude each other", p[0], p[1])
			return
		}
		last = *p
	}
}

// checkStep refuses a step between vertices that are no calls, or with a loop that is not around both.
func checkStep(r *wire.Reader, c *model.Code, s model.CallTransition) {
	for _, v := range []int{s.FromVertex, s.ToVertex} {
		if !isCall(c, v) {
			r.Fail("vertex %d is no call", v)
		}
	}
	if r.Err() == nil && (s.Loop < model.UnknownIteratedLoop || int(s.Loop) > c.LoopsAround(s.FromVertex, s.ToVertex)) {
		r.Fail("no loop %d around vertices %d and %d", s.Loop, s.FromVertex, s.ToVertex)
	}
}

func isCall(c *model.Code, v int) bool {
	return v >= 0 && v < len(c.Vertices) && c.Vertices[v].Kind == model.CallVertex
}
