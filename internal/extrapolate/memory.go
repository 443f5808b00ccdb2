package extrapolate

import (
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// segmentPart is the suffix of the names of values that are a memory segment.
const segmentPart = ".segment"

// buffers returns, by index in group.cells, whether the value is the segment of a buffer that the program passes. The
// buffer's offset is the next value. If no parameter is a count, which gives a buffer's size, the map is empty. No
// analysis depends on the address of such a buffer.
func (p *place) buffers() map[int]bool {
	out := make(map[int]bool)
	if !slices.ContainsFunc(p.function.Params, func(d trace.ParamDef) bool { return d.Kind == mpi.KindCount }) {
		return out
	}
	cell := 0
	for i := range p.fields {
		f := &p.fields[i]
		out[cell] = f.kind == words && !f.out && f.width == 2 && f.param >= 0 && f.param < len(p.function.Params) && p.function.Params[f.param].Kind == mpi.KindBuffer
		cell += f.cells()
	}
	return out
}

// oneName gives a segment the name that all ranks of the largest run use for it. In smaller runs the recorder may not
// follow this segment, or segments with lower numbers, which says nothing about the program. Small blocks of the C
// library may be allocated in a different order on each rank, and no form fits. All ranks then use one of these names:
// that in the largest run's first call, so that different segments of a call keep different names.
func (m *pattern) oneName(obs []env, vals []int64) {
	largest := int64(m.runs[len(m.runs)-1].ranks)
	first := slices.IndexFunc(obs, func(e env) bool { return e[expr.VariableRankCount] == largest })
	if first < 0 || alike(vals) {
		return
	}
	// uniform is, by number of ranks, the first name seen.
	heap, unknown, same, uniform := false, false, true, make(map[int64]int64)
	for i, e := range obs {
		same = same && once.GetOrMake(uniform, e[expr.VariableRankCount], func() int64 { return vals[i] }) == vals[i]
		switch trace.AddressClass(signature.SegClassOf(vals[i])) {
		case trace.AddressHeap:
			heap = true
		case trace.AddressUnknown:
			unknown = true
		default:
			return
		}
	}
	if !unknown || heap && !same {
		return
	}
	if !heap {
		t := &tried{obs: obs, vals: vals}
		if m.judge(t, fit); len(t.forms) > 0 && t.wrong == "" {
			return
		}
	}
	name := vals[first]
	for i := range vals {
		vals[i] = name
	}
}

// renamed returns an observed call's signature with the segments that oneName chose, and whether a segment changed.
func (m *pattern) renamed(p *place, g *group, e env, values, raw []int64) (vals []int64, moved bool, err error) {
	cuts, err := p.cut(values)
	if err != nil || g == nil || len(g.cells) != len(cuts) {
		return raw, false, err
	}
	spans, err := sections.SpansOf(p.function, nil, raw)
	if err != nil {
		return nil, false, err
	}
	vals = slices.Clone(raw)
	for c, name := range p.labels(len(cuts)) {
		if !strings.HasSuffix(name, segmentPart) {
			continue
		}
		v, err := g.cells[c].one.value(&e)
		if err != nil || v == cuts[c].one {
			continue
		}
		for i := range spans {
			if s := &spans[i]; s.Param >= 0 && s.Param < len(p.function.Params) && s.Dims == 0 && p.function.Params[s.Param].Name+segmentPart == name && vals[s.First] == cuts[c].one {
				vals[s.First], moved = v, true
			}
		}
	}
	return vals, moved, nil
}
