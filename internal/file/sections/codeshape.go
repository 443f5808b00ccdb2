package sections

import "github.com/spoor-hpc/spoor/trace/model"

// called writes or reads which calls each call vertex makes, in the order of vertices.
func (x *codeCoder) called() {
	count := x.uvarint(len(x.order), len(x.c.Vertices))
	var alone []int
	if x.Reader != nil {
		x.order = make([][]int, count)
	} else {
		for k := range x.order {
			if len(x.order[k]) == 0 {
				alone = append(alone, k)
			}
		}
	}
	without := make([]bool, count)
	next := 0
	for k := range x.uvarint(len(alone), count) {
		if x.Reader == nil {
			x.uvarint(alone[k]-next, count)
			next = alone[k]
		} else if next += x.Reader.Int(count); next >= count {
			x.Reader.Fail("no call %d", next)
			return
		}
		without[next] = true
		next++
	}
	last := -1
	for k := range x.order {
		for n, more := 0, !without[k]; more; n++ {
			expected, at := x.tree.expected(last), 0
			if x.Reader == nil {
				at, more = x.order[k][n], n+1 < len(x.order[k])
			}
			at, more = x.follows(at, expected, more)
			if x.Reader != nil {
				if at < 0 || at >= len(x.calls) || x.tree.taken(at) {
					x.Reader.Fail("no call %d", at)
					return
				}
				x.order[k] = append(x.order[k], at)
			}
			x.tree.take(at, last)
			last = at
		}
	}
}

// follows writes or reads the next call relative to the expected one, and whether its vertex has a further call.
func (x *codeCoder) follows(at, expected int, more bool) (int, bool) {
	v := x.uvarint(zigzag(at-expected)<<1|bit(more), 4*len(x.calls)+3)
	return expected + unzigzag(v>>1), v&1 != 0
}

func zigzag(n int) int   { return n<<1 ^ n>>63 }
func unzigzag(n int) int { return n>>1 ^ -(n & 1) }

func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}

// maxLevels limits the depth of vertices: each frame of a stack may be in several loops.
const maxLevels = 1 << 12

// Kinds of vertices as encoded in a file.
const (
	shapeFunction = iota
	shapeLoop
	shapeCall
	shapeTail     // a function that is reached by a jump
	shapeTailCall // a call that is made by a jump
	shapes
)

func shapeOf(v *model.Vertex) int {
	switch {
	case v.Kind == model.FunctionVertex && v.TailCall:
		return shapeTail
	case v.Kind == model.CallVertex && v.TailCall:
		return shapeTailCall
	}
	return int(v.Kind)
}

func (x *codeCoder) setShape(v *model.Vertex, shape int) {
	v.RecursionOf = -1
	if v.Kind = model.VertexKind(shape); shape >= shapeTail {
		v.TailCall = true
		v.Kind = model.FunctionVertex
		if shape == shapeTailCall {
			v.Kind = model.CallVertex
		}
	}
}

// A shaper predicts a vertex from the previous ones and the calls that follow. A function with a frame, or a call,
// is an item of the body around it, at the place through which the next call is reached. Loops, and functions
// reached by jumps, are between items. The prediction is what was between the same items the last time the function
// occurred.
type shaper struct {
	t      *callTree
	around []shapeEntry
	last   []int32 // by node of t: place of the previous item; negative: none, as in callNode.first
	opened int     // vertices opened since the previous item
	known  map[shapeKey]vertexShape
}

type shapeEntry struct {
	vertex int
	node   int32 // node of the callTree with the items of the vertex; -1: none
}

type shapeKey struct {
	last, next int32
	opened     int
}

type vertexShape struct {
	levels int // number of levels back, in addition to those that do not lead to the next call
	kind   int
	flags  bool
}

// expect predicts the next vertex on the path to a call, and how many levels back its parent is. key identifies the
// prediction.
func (s *shaper) expect(call int) (want vertexShape, back int, key shapeKey) {
	if call < 0 {
		return vertexShape{kind: shapeCall}, 0, key
	}
	for back < len(s.around) && !s.t.has(s.around[len(s.around)-1-back].node, call) {
		back++
	}
	if back == len(s.around) {
		return vertexShape{kind: shapeFunction}, back, key
	}
	node := s.around[len(s.around)-1-back].node
	key = shapeKey{s.last[node], s.t.placeOf(node, call), s.opened}
	want, known := s.known[key]
	if !known {
		if want.kind = shapeFunction; s.t.nodes[node].depth+1 >= len(s.t.calls[call].path) {
			want.kind = shapeCall
		}
	}
	return want, back, key
}

// put records the vertex that expect was to predict.
func (s *shaper) put(vertex, call int, is vertexShape, back int, key shapeKey) {
	if key != (shapeKey{}) {
		s.known[key] = is
	}
	s.around = s.around[:len(s.around)-back-is.levels]
	e := shapeEntry{vertex: vertex, node: -1}
	if n := len(s.around); n > 0 {
		e.node = s.around[n-1].node
	} else if is.kind == shapeFunction {
		e.node = 0
		s.around = append(s.around, e)
		return
	}
	s.opened++
	if is.kind != shapeLoop && is.kind != shapeTail {
		s.opened = 0
		next := int32(-1)
		if call >= 0 && s.t.has(e.node, call) {
			if place := s.t.placeOf(e.node, call); place != 0 {
				s.last[e.node] = place
				next = s.t.below[placeIn{e.node, place}]
			}
		}
		e.node = next
	}
	s.around = append(s.around, e)
}

// shape writes or reads the structure of the tree, and the vertices' flags.
func (x *codeCoder) shape() {
	s := &shaper{t: x.tree, last: make([]int32, len(x.tree.nodes)), known: make(map[shapeKey]vertexShape)}
	for i := range s.last {
		s.last[i] = x.tree.nodes[i].first
	}
	calls := 0 // number of call vertices so far
	flagged := make([]bool, len(x.flags))
	for i := range x.c.Vertices {
		v := &x.c.Vertices[i]
		call := -1
		if calls < len(x.order) && len(x.order[calls]) > 0 {
			call = x.order[calls][0]
		}
		want, back, key := s.expect(call)
		var is vertexShape
		if x.Reader == nil {
			levels := 0
			for len(s.around) > levels && s.around[len(s.around)-1-levels].vertex != v.Parent {
				levels++
			}
			is = vertexShape{levels - back, shapeOf(v), x.flags[i] != 0}
		}
		n := 0
		if is != want {
			n = 1 + ((zigzag(is.levels)*shapes+is.kind)<<1 | bit(is.flags))
		}
		if n = x.uvarint(n, (2*len(s.around)+1)*2*shapes); n == 0 {
			is = want
		} else {
			n--
			is = vertexShape{unzigzag(n >> 1 / shapes), n >> 1 % shapes, n&1 != 0}
		}
		if flagged[i] = is.flags; x.Reader != nil && !x.setIn(v, i, is, back, s, calls) {
			return
		}
		if s.put(i, call, is, back, key); v.Kind == model.CallVertex {
			if x.Reader != nil {
				x.contexts[i] = x.order[calls]
			}
			calls++
		}
	}
	if x.Reader != nil && calls != len(x.order) {
		x.Reader.Fail("%d calls of %d", calls, len(x.order))
		return
	}
	for i := range x.c.Vertices {
		if flagged[i] {
			v := &x.c.Vertices[i]
			x.flags[i] = x.uvarint(x.flags[i], codeFlags-1)
			v.RoundsAreLowerBound, v.EntriesAreLowerBound = x.flags[i]&codeAtLeast != 0, x.flags[i]&codeUnsure != 0
		}
	}
}

// setIn sets the kind and parent of a vertex when reading; false if they are invalid.
func (x *codeCoder) setIn(v *model.Vertex, i int, is vertexShape, back int, s *shaper, calls int) bool {
	n := len(s.around) - back - is.levels
	if x.Failed() || n < 0 || n > len(s.around) || n > maxLevels {
		x.Reader.Fail("vertex %d is too deep, or nowhere", i)
		return false
	}
	x.setShape(v, is.kind)
	if v.Parent = -1; n > 0 {
		v.Parent = s.around[n-1].vertex
		if x.c.Vertices[v.Parent].Kind == model.CallVertex {
			x.Reader.Fail("vertex %d is in a call", i)
			return false
		}
	}
	if v.Kind == model.CallVertex && calls == len(x.order) {
		x.Reader.Fail("vertex %d is one call too many", i)
		return false
	}
	return true
}
