package sections

import (
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// DecodeFormerCode reads the section of code up to version 6, of a trace with so many sites.
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
func DecodeFormerCode(r *wire.Reader, sites int) *model.Code {
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
	site := 0
	for range r.Count(3) {
		x := model.Context{}
		x.Site = site + r.Int(max(0, sites-1-site))
		x.Function = r.Uint16()
		x.Vertex = r.Int(len(c.Vertices))
		if n := len(c.Contexts); n > 0 && r.Err() == nil && c.Contexts[n-1].Compare(x) >= 0 {
			r.Fail("contexts out of order")
		}
		if r.Err() == nil && !isCall(c, x.Vertex) {
			r.Fail("vertex %d is no call", x.Vertex)
		}
		if r.Err() != nil {
			return c
		}
		site = x.Site
		c.Contexts = append(c.Contexts, x)
	}
	for range r.Count(3) {
		s := model.Step{From: r.Int(len(c.Vertices)), To: r.Int(len(c.Vertices)), Way: model.Way(r.Varint())}
		if r.Err() == nil {
			checkStep(r, c, s)
		}
		if r.Err() != nil {
			return c
		}
		c.Odd = append(c.Odd, s)
	}
	return c
}
