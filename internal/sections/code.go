package sections

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AppendCode and DecodeCode: the section of code. The tables of sites and signatures say which functions are called from where, and
// through which functions: of that, code has only the order, which is mostly that of addresses. What is known of a place in the
// code stands where the first vertex is there.
//
//	code    = vertices uvarint, kinds, flags, calls, stated, loops, again, names, files, lines, inlined, steps
//	kinds   = per vertex: (3·levels back + kind)·2 + (has flags) uvarint
//	flags   = per vertex that has some: uvarint, see the constants
//	calls   = per call: [contexts uvarint], per context: (position - that expected) varint
//	stated  = per vertex whose offset is stated: (offset - that of the vertex behind or before it) varint
//	loops   = per loop, the last first: (offset - that of the vertex behind it) varint
//	again   = per function that is again: levels to the same function uvarint
//	names   = per function, and call that is named: text
//	files   = per vertex at a new place: text
//	lines   = per new place with a file: (line - that before it in the function) varint
//	inlined = per new place with functions inlined: (count - 1) uvarint, text…
//	steps   = count, per step: from uvarint, to uvarint, way varint
//	text    = 0: that expected; 1, string: a new one; n: the one n - 1 before the next new one
//
// Levels back: 0 if the vertex is in the one before it, 1 if in what is around that, and so on.

// Flags of vertices.
const (
	codeTail     = 1 << iota
	codeAtLeast  // of loops
	codeUnsure   // of loops
	codeAgain    // of functions
	codeStated   // the offset doesn't follow from sites
	codeAnew     // the place is another than what was there before
	codeInlined  // the place has functions that are inlined
	codeContexts // not one context, but some other number
	codeNamed    // a call that has not the name of its function
	codeFlags
)

// A CodeCall is a function that is called from a site of a trace.
type CodeCall struct {
	Function uint16
	Site     int // number, less one
	Name     string
	At       model.Site
	turn     int
	path     []int32 // places from the outermost to the site
}

// CodeCalls lists which functions are called from where, in the order of addresses: what a function calls stands where it is called.
func CodeCalls(t *SignatureTable, sites *Sites, schema map[uint16]*model.Function) []CodeCall {
	type pair struct {
		function uint16
		site     int
	}
	known := make(map[pair]bool)
	var list []CodeCall
	place := make(map[model.Site]int32, len(sites.List))
	for i := range sites.List {
		if s := sites.List[i].Alone(); place[s] == 0 {
			place[s] = int32(len(place) + 1)
		}
	}
	paths := make(map[int][]int32)
	for n := range t.Calls {
		g, _, site := t.Call(n)
		if site == 0 {
			continue // an unknown place
		}
		p := pair{g.Call, sites.Number(site)}
		f := schema[g.Call]
		if known[p] || f == nil {
			continue
		}
		known[p] = true
		c := CodeCall{Function: p.function, Site: p.site - 1, Name: f.Name, At: sites.List[p.site], turn: sites.Turns[p.site], path: paths[p.site]}
		if c.path == nil {
			for s := &c.At; s != nil; s = s.Outer {
				c.path = append(c.path, place[s.Alone()])
			}
			slices.Reverse(c.path)
			paths[p.site] = c.path
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b CodeCall) int {
		return cmp.Or(slices.Compare(a.path, b.path), cmp.Compare(a.turn, b.turn), cmp.Compare(a.Function, b.Function))
	})
	return list
}

// A codeCoder writes or reads the section: both go the same way.
type codeCoder struct {
	r     *wire.Reader // nil when writing
	b     []byte
	c     *model.Code
	calls []CodeCall

	flags    []int
	contexts [][]int  // of each vertex: numbers in calls
	implied  []uint64 // offsets as they follow from sites
	like     []int    // of each vertex, one before it at the same place; -1: the place is new
	texts    []string
	number   map[string]int
}

// AppendCode writes what the code says of a trace with such calls. Contexts that are none of these are left out.
func AppendCode(c *model.Code, calls []CodeCall, b []byte) []byte {
	x := &codeCoder{b: b, c: c, calls: calls, number: make(map[string]int)}
	n := len(c.Vertices)
	x.b = wire.AppendUvarint(x.b, uint64(n))
	x.flags, x.contexts = make([]int, n), make([][]int, n)
	position := make(map[model.Context]int, len(calls))
	for i, at := range calls {
		position[model.Context{Function: at.Function, Site: at.Site}] = i
	}
	for _, at := range c.Contexts {
		if i, known := position[model.Context{Function: at.Function, Site: at.Site}]; known {
			x.contexts[at.Vertex] = append(x.contexts[at.Vertex], i)
		}
	}
	for i := range c.Vertices {
		x.flags[i] = flagsOf(&c.Vertices[i])
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
			slices.Sort(x.contexts[i])
			set(codeContexts, len(x.contexts[i]) != 1)
			set(codeNamed, v.Name != x.name(i))
		}
		set(codeAnew, x.like[i] >= 0 && !samePlace(v, &c.Vertices[x.like[i]]))
		set(codeInlined, len(v.Inlined) > 0 && x.anew(i))
	}
	x.code()
	return x.b
}

// DecodeCode reads what AppendCode wrote.
func DecodeCode(r *wire.Reader, calls []CodeCall) *model.Code {
	x := &codeCoder{r: r, c: &model.Code{}, calls: calls}
	x.c.Vertices = make([]model.Vertex, r.Count(1))
	x.flags, x.contexts = make([]int, len(x.c.Vertices)), make([][]int, len(x.c.Vertices))
	x.code()
	if x.failed() {
		return &model.Code{}
	}
	for v, list := range x.contexts {
		for _, i := range list {
			x.c.Contexts = append(x.c.Contexts, model.Context{Function: calls[i].Function, Site: calls[i].Site, Vertex: v})
		}
	}
	slices.SortFunc(x.c.Contexts, model.Context.Compare)
	x.c.Odd = decodeSteps(r, x.c)
	return x.c
}

func flagsOf(v *model.Vertex) (flags int) {
	for k, set := range []bool{v.Tail, v.AtLeast, v.Unsure, v.Again >= 0} {
		if set {
			flags |= codeTail << k
		}
	}
	return flags
}

func samePlace(v, w *model.Vertex) bool {
	return v.File == w.File && v.Line == w.Line && slices.Equal(v.Inlined, w.Inlined)
}

func (x *codeCoder) failed() bool { return x.r != nil && x.r.Err() != nil }

// uvarint and varint write a number, or return the one that is there instead.
func (x *codeCoder) uvarint(v, limit int) int {
	if x.r != nil {
		return x.r.Int(limit)
	}
	x.b = wire.AppendUvarint(x.b, uint64(v))
	return v
}

func (x *codeCoder) varint(v int64) int64 {
	if x.r != nil {
		return x.r.Varint()
	}
	x.b = wire.AppendVarint(x.b, v)
	return v
}

// text writes one or returns it. Most are as expected.
func (x *codeCoder) text(s, expected string) string {
	if x.r != nil {
		switch n := x.r.Int(len(x.texts) + 1); n {
		case 0:
			return expected
		case 1:
			s = x.r.String()
			x.texts = append(x.texts, s)
			return s
		default:
			return x.texts[len(x.texts)+1-n]
		}
	}
	if n, known := x.number[s]; s == expected {
		x.b = append(x.b, 0)
	} else if known {
		x.b = wire.AppendUvarint(x.b, uint64(len(x.texts)+1-n))
	} else {
		x.number[s] = len(x.texts)
		x.texts = append(x.texts, s)
		x.b = wire.AppendString(append(x.b, 1), s)
	}
	return s
}

func (x *codeCoder) code() {
	for _, part := range []func(){x.kinds, x.called, x.offsets, x.again, x.names, x.places} {
		if part(); x.failed() {
			return
		}
	}
	if x.r == nil {
		x.b = appendSteps(x.b, x.c)
	}
}

// maxLevels bounds how deep vertices are: each frame of a stack has loops around it.
const maxLevels = 1 << 12

// kinds are the form of the tree, and flags.
func (x *codeCoder) kinds() {
	var around []int // the vertex before and those around it, outermost first
	flagged := make([]bool, len(x.flags))
	for i := range x.c.Vertices {
		v := &x.c.Vertices[i]
		levels := 0
		for x.r == nil && len(around) > levels && around[len(around)-1-levels] != v.Parent {
			levels++
		}
		n := (3*levels + int(v.Kind)) << 1
		if x.flags[i] != 0 {
			n |= 1
		}
		n = x.uvarint(n, 6*(len(around)+1)-1)
		flagged[i] = n&1 != 0
		around = around[:len(around)-n/6]
		if x.r != nil {
			v.Kind, v.Parent, v.Again = model.VertexKind(n>>1%3), -1, -1
			if n := len(around); n > 0 {
				if v.Parent = around[n-1]; x.c.Vertices[v.Parent].Kind == model.CallVertex || n > maxLevels {
					x.r.Fail("vertex %d in a call, or too deep", i)
				}
			}
		}
		if x.failed() {
			return
		}
		around = append(around, i)
	}
	for i := range x.c.Vertices {
		if !flagged[i] {
			continue
		}
		v := &x.c.Vertices[i]
		x.flags[i] = x.uvarint(x.flags[i], codeFlags-1)
		f := x.flags[i]
		v.Tail, v.AtLeast, v.Unsure = f&codeTail != 0, f&codeAtLeast != 0, f&codeUnsure != 0
	}
}

// called are the contexts of calls. They come in the order of addresses but where the code does otherwise.
func (x *codeCoder) called() {
	next := make([]int, len(x.calls)+1) // the first from here on that no vertex has
	for i := range next {
		next[i] = i
	}
	free := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	expected := 0
	for v := range x.c.Vertices {
		if x.c.Vertices[v].Kind != model.CallVertex {
			continue
		}
		n := 1
		if x.flags[v]&codeContexts != 0 {
			n = x.uvarint(len(x.contexts[v]), len(x.calls))
		}
		for k := range n {
			if expected = free(expected); expected == len(x.calls) {
				expected = free(0)
			}
			at := 0
			if x.r == nil {
				at = x.contexts[v][k]
			}
			at = int(x.varint(int64(at-expected))) + expected
			if x.r != nil {
				if at < 0 || at >= len(x.calls) || next[at] != at {
					x.r.Fail("no call %d", at)
					return
				}
				x.contexts[v] = append(x.contexts[v], at)
			}
			next[at] = at + 1
			expected = at + 1
		}
	}
}

// imply finds the offsets that follow from sites: of calls, and of functions that are called on the way to them.
func (x *codeCoder) imply() {
	list := x.c.Vertices
	x.implied = make([]uint64, len(list))
	known := make([]bool, len(list))
	up := make([]int, len(list)) // the vertex itself or around it that a frame is of
	for i := range list {
		if up[i] = i; list[i].Parent < 0 {
			up[i] = -1
		} else if list[i].Kind == model.LoopVertex || x.flags[i]&codeTail != 0 {
			up[i] = up[list[i].Parent]
		}
	}
	for i, calls := range x.contexts {
		if len(calls) == 0 {
			continue
		}
		site := &x.calls[calls[0]].At
		for v := up[i]; v >= 0 && site != nil && !known[v]; v = up[list[v].Parent] {
			x.implied[v], known[v] = site.Offset, true
			site = site.Outer
		}
	}
}

func (x *codeCoder) offsets() {
	list := x.c.Vertices
	if x.r != nil {
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

// compare finds the vertices that are where one before them is.
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
		at := place{v.Kind, v.Tail, v.Offset}
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
		up := x.uvarint(slices.Index(around, v.Again), len(around))
		if x.r == nil {
			continue
		}
		if x.failed() || up == len(around) || v.Kind != model.FunctionVertex || x.c.Vertices[around[up]].Kind != model.FunctionVertex {
			x.r.Fail("vertex %d is no function that is called again", i)
			return
		}
		v.Again = around[up]
	}
}

// name is the one that a call has from its function.
func (x *codeCoder) name(v int) string {
	if len(x.contexts[v]) == 0 {
		return ""
	}
	return x.calls[x.contexts[v][0]].Name
}

func (x *codeCoder) names() {
	for i := range x.c.Vertices {
		switch v := &x.c.Vertices[i]; {
		case v.Kind == model.FunctionVertex:
			expected := ""
			if n := x.like[i]; n >= 0 {
				expected = x.c.Vertices[n].Name
			}
			v.Name = x.text(v.Name, expected)
		case x.flags[i]&codeNamed != 0:
			v.Name = x.text(v.Name, "")
		case v.Kind == model.CallVertex:
			v.Name = x.name(i)
		}
		if x.failed() {
			return
		}
	}
}

// anew reports whether a vertex says where it is.
func (x *codeCoder) anew(i int) bool {
	return x.c.Vertices[i].Parent >= 0 && (x.like[i] < 0 || x.flags[i]&codeAnew != 0)
}

func (x *codeCoder) places() {
	list := x.c.Vertices
	in := make([]int, len(list)) // the function that a vertex is in
	file := make([]string, len(list))
	last := ""
	for i := range list {
		v := &list[i]
		if v.Parent < 0 {
			continue
		}
		if in[i] = v.Parent; list[v.Parent].Kind == model.LoopVertex {
			in[i] = in[v.Parent]
		}
		if x.anew(i) {
			expected := file[in[i]]
			if expected == "" {
				expected = last
			}
			v.File = x.text(v.File, expected)
		} else if x.r != nil {
			v.File = list[x.like[i]].File
		}
		file[in[i]], last = v.File, v.File
		if x.failed() {
			return
		}
	}
	line := make([]int, len(list))
	before := 0
	for i := range list {
		v := &list[i]
		if v.Parent < 0 {
			continue
		}
		if x.anew(i) && v.File != "" {
			expected := line[in[i]]
			if expected == 0 {
				expected = before
			}
			n := x.varint(int64(v.Line-expected)) + int64(expected)
			if v.Line = int(n); x.r != nil && (n < 0 || n > 1<<31) {
				x.r.Fail("vertex %d is in line %d", i, n)
				return
			}
		} else if n := x.like[i]; x.r != nil && n >= 0 && !x.anew(i) {
			v.Line = list[n].Line
		}
		if v.Line > 0 {
			line[in[i]], before = v.Line, v.Line
		}
	}
	for i := range list {
		v := &list[i]
		if x.flags[i]&codeInlined != 0 && x.anew(i) {
			n := x.uvarint(len(v.Inlined)-1, maxLevels) + 1
			for k := range n {
				if x.r != nil {
					v.Inlined = append(v.Inlined, "")
				}
				if v.Inlined[k] = x.text(v.Inlined[k], ""); x.failed() {
					return
				}
			}
		} else if n := x.like[i]; x.r != nil && n >= 0 && !x.anew(i) {
			v.Inlined = list[n].Inlined
		}
	}
}

func appendSteps(b []byte, c *model.Code) []byte {
	b = wire.AppendUvarint(b, uint64(len(c.Odd)))
	for _, s := range c.Odd {
		b = wire.AppendUvarint(b, uint64(s.From))
		b = wire.AppendUvarint(b, uint64(s.To))
		b = wire.AppendVarint(b, int64(s.Way))
	}
	return b
}

func decodeSteps(r *wire.Reader, c *model.Code) (list []model.Step) {
	call := callIn(r, c)
	for range r.Count(3) {
		s := model.Step{From: call(), To: call(), Way: model.Way(r.Varint())}
		if r.Err() != nil {
			return nil
		}
		if s.Way < model.Lost || int(s.Way) > c.LoopsAround(s.From, s.To) {
			r.Fail("no loop %d around vertices %d and %d", s.Way, s.From, s.To)
		}
		list = append(list, s)
	}
	return list
}

// callIn reads the number of a call's vertex.
func callIn(r *wire.Reader, c *model.Code) func() int {
	return func() int {
		v := r.Int(len(c.Vertices))
		if r.Err() == nil && (v == len(c.Vertices) || c.Vertices[v].Kind != model.CallVertex) {
			r.Fail("vertex %d is no call", v)
		}
		return v
	}
}
