package extrapolate

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
)

// A shared is a value of an input parameter that calls of another layout at the same call site also have. word is its
// index in the parameter.
type shared struct{ param, word int }

// An observed is observations and the value in each.
type observed struct {
	obs  []env
	vals []int64
}

// elsewhere returns the values that calls of other layouts at a node's call site pass, for example on ranks other
// than the root: the program has the same expression for all.
func (m *pattern) elsewhere(n *node, key [maxDepth + 1]int32) (map[shared]*observed, error) {
	p := &m.places[n.place]
	var out map[shared]*observed
	for _, o := range m.shape.nodes[1:] {
		if o == n || o.place < 0 || m.places[o.place].function != p.function || m.places[o.place].site != p.site || o.mask != n.mask || !slices.Equal(o.around, n.around) {
			continue
		}
		mask, open := m.fixed(o)
		for i := range m.rows[o.number] {
			r := &m.rows[o.number][i]
			if r.what < 0 || reduced(r.index, mask) != key {
				continue
			}
			cuts, err := m.places[o.place].cut(m.values[r.what])
			if err != nil {
				return nil, err
			}
			for cell, s := range m.places[o.place].shared() {
				if out == nil {
					out = make(map[shared]*observed)
				}
				x := once.GetOrMake(out, s, func() *observed { return new(observed) })
				x.obs, x.vals = append(x.obs, m.envOf(o, open, r)), append(x.vals, cuts[cell].one)
			}
		}
	}
	return out, nil
}

// shared returns, by index in group.cells, the input parameter and the index in it of each value that calls of other
// layouts may share.
func (p *place) shared() map[int]shared {
	out := make(map[int]shared)
	cell := 0
	for i := range p.fields {
		f := &p.fields[i]
		if f.kind == words && !f.out && f.param >= 0 && !p.names(*f) {
			for k := range f.width {
				out[cell+k] = shared{f.param, k}
			}
		}
		cell += f.cells()
	}
	return out
}

// counts reports whether the value with an index in group.cells is a count parameter.
func (p *place) counts(sharing map[int]shared, cell int) bool {
	s, ok := sharing[cell]
	return ok && s.param < len(p.function.Params) && p.function.Params[s.param].Kind == mpi.KindCount
}

// fitShared fits a parameter's values together with those in other, from calls of other layouts at the call site, if
// one form fits all.
func (m *pattern) fitShared(text string, obs []env, vals []int64, other *observed) fitted {
	if other != nil {
		all, both := slices.Concat(obs, other.obs), slices.Concat(vals, other.vals)
		t := &tried{obs: all, vals: both}
		if m.judge(t, fit); len(t.forms) > 0 && t.wrong == "" {
			f := fitted{tried: t, text: text, node: m.at}
			m.memo[fmt.Sprint("shared", len(m.memo))] = t
			m.slots = append(m.slots, f)
			return f
		}
	}
	return m.fit(text, obs, vals)
}
