package sections

import (
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// texts numbers texts by first occurrence, from 1; "" is 0.
type texts struct {
	list   []string
	number map[string]int
}

func (t *texts) add(s string) uint64 {
	if s == "" {
		return 0
	}
	n, ok := t.number[s]
	if !ok {
		t.list = append(t.list, s)
		n = len(t.list)
		t.number[s] = n
	}
	return uint64(n)
}

// AppendCode and DecodeCode: the section of code.
//
//	code    = texts, vertices, contexts, steps
//	texts   = count, string…
//	vertices= count, per vertex:
//	          kind + 4·jump + 8·at least + 16·unsure + 32·again uvarint,
//	          levels back uvarint, name, file, (line - that before) varint, (offset - that before) varint,
//	          inlined uvarint, text…, levels to the same function if again uvarint
//	contexts= count, per context: (site - that before) uvarint, function uvarint, vertex uvarint
//	steps   = count, per step: from uvarint, to uvarint, way varint
//
// Levels back: 0 if the vertex is in the one before it, 1 if in what is around that, and so on.
func AppendCode(c *model.Code, b []byte) []byte {
	t := texts{number: make(map[string]int)}
	var body []byte
	body = wire.AppendUvarint(body, uint64(len(c.Vertices)))
	depth := make([]int, len(c.Vertices))
	line, offset := 0, uint64(0)
	for i := range c.Vertices {
		v := &c.Vertices[i]
		before := -1
		if i > 0 {
			before = depth[i-1]
		}
		if v.Parent >= 0 {
			depth[i] = depth[v.Parent] + 1
		}
		flags := uint64(v.Kind)
		for k, set := range []bool{v.Tail, v.AtLeast, v.Unsure, v.Again >= 0} {
			if set {
				flags |= 4 << k
			}
		}
		body = wire.AppendUvarint(body, flags)
		body = wire.AppendUvarint(body, uint64(before+1-depth[i]))
		body = wire.AppendUvarint(body, t.add(v.Name))
		body = wire.AppendUvarint(body, t.add(v.File))
		body = wire.AppendVarint(body, int64(v.Line-line))
		body = wire.AppendVarint(body, int64(v.Offset-offset))
		line, offset = v.Line, v.Offset
		body = wire.AppendUvarint(body, uint64(len(v.Inlined)))
		for _, s := range v.Inlined {
			body = wire.AppendUvarint(body, t.add(s))
		}
		if v.Again >= 0 {
			body = wire.AppendUvarint(body, uint64(depth[i]-depth[v.Again]))
		}
	}
	b = wire.AppendUvarint(b, uint64(len(t.list)))
	for _, s := range t.list {
		b = wire.AppendString(b, s)
	}
	b = append(b, body...)
	b = wire.AppendUvarint(b, uint64(len(c.Contexts)))
	site := 0
	for _, x := range c.Contexts {
		b = wire.AppendUvarint(b, uint64(x.Site-site))
		b = wire.AppendUvarint(b, uint64(x.Function))
		b = wire.AppendUvarint(b, uint64(x.Vertex))
		site = x.Site
	}
	b = wire.AppendUvarint(b, uint64(len(c.Odd)))
	for _, s := range c.Odd {
		b = wire.AppendUvarint(b, uint64(s.From))
		b = wire.AppendUvarint(b, uint64(s.To))
		b = wire.AppendVarint(b, int64(s.Way))
	}
	return b
}

// maxLevels bounds how deep vertices are: each frame of a stack has loops around it.
const maxLevels = 1 << 12

// DecodeCode reads what AppendCode wrote, of a trace with so many sites.
func DecodeCode(r *wire.Reader, sites int) *model.Code {
	c := &model.Code{}
	list := make([]string, 1, 16)
	for range r.Count(1) {
		list = append(list, r.String())
	}
	text := func() string { return list[r.Int(len(list)-1)] }
	var around []int // the vertex before and those around it, outermost first
	line, offset := int64(0), uint64(0)
	for i := range r.Count(7) {
		v := model.Vertex{Parent: -1, Again: -1}
		flags := r.Int(63)
		if v.Kind = model.VertexKind(flags & 3); v.Kind > model.CallVertex {
			r.Fail("vertex %d is of kind %d", i, v.Kind)
		}
		v.Tail, v.AtLeast, v.Unsure = flags&4 != 0, flags&8 != 0, flags&16 != 0
		around = around[:len(around)-r.Int(len(around))]
		v.Name, v.File = text(), text()
		line += r.Varint()
		offset += uint64(r.Varint())
		if v.Line, v.Offset = int(line), offset; line < 0 || line > 1<<31 {
			r.Fail("vertex %d is in line %d", i, line)
		}
		for range r.Count(1) {
			v.Inlined = append(v.Inlined, text())
		}
		if flags&32 != 0 {
			up := r.Int(len(around))
			if up == 0 || v.Kind != model.FunctionVertex || c.Vertices[around[len(around)-up]].Kind != model.FunctionVertex {
				r.Fail("vertex %d is no function that is called again", i)
			} else {
				v.Again = around[len(around)-up]
			}
		}
		if n := len(around); n > 0 {
			if v.Parent = around[n-1]; c.Vertices[v.Parent].Kind == model.CallVertex || n > maxLevels {
				r.Fail("vertex %d in a call, or too deep", i)
			}
		}
		if r.Err() != nil {
			return c
		}
		around = append(around, len(c.Vertices))
		c.Vertices = append(c.Vertices, v)
	}
	call := func() int {
		v := r.Int(len(c.Vertices))
		if r.Err() == nil && (v == len(c.Vertices) || c.Vertices[v].Kind != model.CallVertex) {
			r.Fail("vertex %d is no call", v)
		}
		return v
	}
	site := 0
	for range r.Count(3) {
		x := model.Context{}
		x.Site = site + r.Int(max(0, sites-1-site))
		x.Function = r.Uint16()
		x.Vertex = call()
		if n := len(c.Contexts); n > 0 && r.Err() == nil && c.Contexts[n-1].Compare(x) >= 0 {
			r.Fail("contexts out of order")
		}
		if r.Err() != nil {
			return c
		}
		site = x.Site
		c.Contexts = append(c.Contexts, x)
	}
	for range r.Count(3) {
		s := model.Step{From: call(), To: call(), Way: model.Way(r.Varint())}
		if r.Err() != nil {
			return c
		}
		if s.Way < model.Lost || int(s.Way) > c.LoopsAround(s.From, s.To) {
			r.Fail("no loop %d around vertices %d and %d", s.Way, s.From, s.To)
		}
		c.Odd = append(c.Odd, s)
	}
	return c
}
