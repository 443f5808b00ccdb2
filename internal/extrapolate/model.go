package extrapolate

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A seen is an observation: what a node did in one rank of one run. index is the iterations of the loops around it, 0
// for loops on which the node doesn't depend. what is a loop's trip count, or the number of a place's values, -1 if it
// was not reached.
type seen struct {
	run, rank int
	index     [maxDepth + 1]int32
	what      int32
}

// A group is the fitted values of a node in given iterations of those loops whose trip counts are equal everywhere. The
// iterations of other loops are variables of its forms.
type group struct {
	there fitted // of a place: whether it is reached (1 or 0); of a loop: its trip count
	cells []cell // of a place: the values of its calls, in order
}

// A cell is a fitted value of a call, or a list with its length and fitted elements.
type cell struct {
	one  fitted
	each [][]fitted // of a list of equal length everywhere: by element, and value in the element
	any  []fitted   // of other lists: for all elements, by value in the element
	sum  sum        // of other lists, unless exactly one form fits their elements
}

// A sum is a list each of whose elements is factor times the sum of the preceding elements of another list, as
// displacements are of counts.
type sum struct {
	cell   int   // index of the other list in group.cells
	factor int64 // 0: the list is not such a sum
}

// A pattern is the program's shape with all fitted values.
type pattern struct {
	*program
	shape    *shape
	constant []bool // by number of a loop's node: its trip count is equal on all ranks of all runs
	rows     [][]seen
	// by number of a loop's node: its trip count on a rank, in an iteration of outer loops
	counts []map[countKey]int32
	groups []map[[maxDepth + 1]int32]*group
	// by number of a place's node: depth of the loop over which ranks take turns; 0: none
	turned  []int
	guards  map[int]*guarded // by number of a loop's node
	at      *node            // the node being fitted
	memo    map[string]*tried
	slots   []fitted // all fitted values, in the order of fitting
	without int      // number of fitted values for which there is no form
}

type countKey struct {
	run, rank int
	index     [maxDepth + 1]int32
}

// learn fits the calls of all ranks of all runs. If coded is set, loops are those of the machine code.
func learn(p *program, calls [][]*grammar.Grammar, coded bool) (*pattern, error) {
	s, err := shapeOf(p, slices.Concat(calls...), coded)
	if err != nil {
		return nil, err
	}
	m := &pattern{program: p, shape: s, memo: make(map[string]*tried), guards: make(map[int]*guarded)}
	m.rows = make([][]seen, len(s.nodes))
	m.counts = make([]map[countKey]int32, len(s.nodes))
	m.constant = make([]bool, len(s.nodes))
	for run := range calls {
		for rank, c := range calls[run] {
			known := make([]map[[maxDepth + 1]int32]bool, len(s.nodes))
			for i := range known {
				known[i] = make(map[[maxDepth + 1]int32]bool)
			}
			if err := s.parse(p.calls, c, func(n *node, index [maxDepth + 1]int32, what int32) bool {
				if key := reduced(index, n.mask); !known[n.number][key] {
					known[n.number][key] = true
					m.rows[n.number] = append(m.rows[n.number], seen{run, rank, key, what})
				}
				return false
			}); err != nil {
				return nil, err
			}
		}
	}
	for _, n := range s.nodes[1:] {
		m.count(n)
	}
	m.groups, m.turned = make([]map[[maxDepth + 1]int32]*group, len(s.nodes)), make([]int, len(s.nodes))
	for _, n := range s.nodes[1:] {
		if err := m.node(n); err != nil {
			return nil, err
		}
	}
	m.oneGrid()
	if err := m.repair(); err != nil {
		return nil, err
	}
	m.products()
	m.oneGrid()
	return m, nil
}

// count fills counts and constant for a loop.
func (m *pattern) count(n *node) {
	if n.place >= 0 {
		return
	}
	rows := m.rows[n.number]
	m.constant[n.number] = !slices.ContainsFunc(rows, func(r seen) bool { return r.what != rows[0].what })
	m.counts[n.number] = make(map[countKey]int32, len(rows))
	for _, r := range rows {
		m.counts[n.number][countKey{r.run, r.rank, r.index}] = r.what
	}
}

// fixed divides the loops on which a node depends. mask has those whose trip counts are equal everywhere; open lists
// the depths of the others, innermost first.
func (m *pattern) fixed(n *node) (mask uint, open []int) {
	for d := len(n.around) - 1; d > 0; d-- {
		if n.mask>>d&1 == 0 {
			continue
		}
		if m.constant[n.around[d].number] {
			mask |= 1 << d
		} else {
			open = append(open, d)
		}
	}
	return mask, open
}

func (m *pattern) env(n *node, open []int, ranks int64, rank int, index [maxDepth + 1]int32, count func(l *node) int32) env {
	e := env{expr.VariableRankCount: ranks, expr.VariableRank: int64(rank)}
	if len(open) > 0 {
		e[expr.VariableLoopIteration] = int64(index[open[0]])
		e[expr.VariableLoopTripCount] = int64(count(n.around[open[0]]))
	}
	if len(open) > 1 {
		e[expr.VariableOuterIteration] = int64(index[open[1]])
	}
	return e
}

// envOf returns the variables' values of an observation.
func (m *pattern) envOf(n *node, open []int, r *seen) env {
	return m.env(n, open, int64(m.runs[r.run].ranks), r.rank, r.index, func(l *node) int32 {
		return m.counts[l.number][countKey{r.run, r.rank, reduced(r.index, l.mask)}]
	})
}

// mostGroups is the largest number of groups of a node that are fitted one by one. Iterations with equal observations
// are one group.
const mostGroups = 4096

// sightings encodes the observations in an iteration as a string: iterations with equal strings are fitted once.
func sightings(rows []seen, mask uint) string {
	var b []byte
	for i := range rows {
		r := &rows[i]
		b = binary.AppendVarint(binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.run)), uint64(r.rank)), int64(r.what))
		for _, x := range reduced(r.index, ^mask) {
			b = binary.AppendVarint(b, int64(x))
		}
	}
	return string(b)
}

func (m *pattern) node(n *node) error {
	m.at = n
	mask, open := m.fixed(n)
	by := make(map[[maxDepth + 1]int32][]seen)
	var order [][maxDepth + 1]int32
	for _, r := range m.rows[n.number] {
		key := reduced(r.index, mask)
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], r)
	}
	m.groups[n.number] = make(map[[maxDepth + 1]int32]*group)
	text := m.text(n)
	if len(open) > 2 {
		return nil // the value is refused when a maker needs it
	}
	turn := &turns{}
	depth := innermost(mask)
	if depth > 0 && len(open) == 0 && n.place >= 0 {
		var err error
		if turn, err = m.turns(n, depth); err != nil {
			return err
		}
		if turn.there != nil || len(turn.cells) > 0 {
			m.turned[n.number] = depth
		}
	}
	kinds := make(map[string]*group)
	for _, key := range order {
		rows := by[key]
		like := sightings(rows, mask)
		if g := kinds[like]; g != nil {
			m.groups[n.number][key] = g
			continue
		}
		if len(kinds) == mostGroups {
			m.groups[n.number] = nil
			return nil
		}
		g := &group{}
		kinds[like], m.groups[n.number][key] = g, g
		var obs []env
		var vals []int64
		var calls []env
		var values [][]int64
		for _, r := range rows {
			e := m.envOf(n, open, &r)
			v := int64(r.what)
			if n.place >= 0 {
				v = 0
				if r.what >= 0 {
					v = 1
					calls, values = append(calls, e), append(values, m.values[r.what])
				}
			}
			obs, vals = append(obs, e), append(vals, v)
		}
		where := text
		if mask != 0 {
			where = fmt.Sprintf("%s in iteration %v", text, key[1:len(n.around)])
		}
		what := "whether " + where + " is reached"
		if n.place < 0 {
			what = "iterations of " + where
		}
		own := m.guards[n.number]
		if own != nil {
			g.there = fitted{tried: &tried{forms: []form{own.bound}, said: math.Inf(1)}, text: what, node: n}
			m.slots = append(m.slots, g.there)
		} else if turn.there != nil {
			g.there = m.slot(turn.there, "whether "+text+" is reached", depth)
		} else {
			g.there = m.fit(what, obs, vals)
		}
		g.there.natural, g.there.skips = true, n.place < 0
		if in := m.guards[n.around[len(n.around)-1].number]; in != nil {
			g.there.guard, g.there.guarded = &in.guard, len(n.around)-1
			if at := len(m.slots) - 1; m.slots[at].node == n {
				m.slots[at].guard = g.there.guard
			}
		}
		if n.place < 0 || len(calls) == 0 {
			continue
		}
		others, err := m.elsewhere(n, key)
		if err != nil {
			return err
		}
		if err := m.cells(n, g, where, calls, values, others, turn); err != nil {
			return err
		}
	}
	return nil
}

// slot returns a fitted value whose forms use the iteration of the loop at depth turn, over which ranks take turns.
func (m *pattern) slot(t *tried, text string, turn int) fitted {
	f := fitted{tried: t, text: text, node: m.at, turn: turn}
	if !slices.ContainsFunc(m.slots, func(s fitted) bool { return s.tried == t }) {
		m.slots = append(m.slots, f)
	}
	return f
}

func (m *pattern) text(n *node) string {
	if n.place >= 0 {
		p := &m.places[n.place]
		return p.function.Name + " at " + m.names[p.site]
	}
	first := n
	for first.place < 0 {
		first = first.children[0]
	}
	return "the loop from " + m.text(first)
}

func (m *pattern) fit(text string, obs []env, vals []int64) fitted {
	f := fitted{tried: m.tried(obs, vals), text: text, node: m.at}
	m.slots = append(m.slots, f)
	return f
}

// tried returns the result of fitting these values, from a cache if possible.
func (m *pattern) tried(obs []env, vals []int64) *tried {
	var b []byte
	for i := range obs {
		e := &obs[i]
		for _, v := range e {
			b = binary.AppendVarint(b, v)
		}
		b = binary.AppendVarint(b, vals[i])
	}
	return once.GetOrMake(m.memo, string(b), func() *tried { return m.try(obs, vals) })
}

// mostWithout is the number of values without a form that ends the search: the program's behaviour depends on its data.
const mostWithout = 64

// A tried is the result of fitting a value. All values that were observed alike share it.
type tried struct {
	forms []form
	said  float64 // evidence of the values in bits, see evidence
	// why the forms are not used: they may fit by chance, or were not looked for; "": they are used
	wrong   string
	obs     []env // observations, if no form fits them; else nil
	vals    []int64
	refused observed // observations, if the smaller runs predict others; else empty
	least   int64    // smallest observed value

	even    bool                 // several forms fit, and one of them gives equal shares in every observation
	assumed atomic.Pointer[form] // form that was chosen because its shares are equal in the extrapolated run, too
}

// try looks for forms of vals, unless it failed for too many other values.
func (m *pattern) try(obs []env, vals []int64) *tried {
	if m.without >= mostWithout {
		return &tried{wrong: fmt.Sprintf("not tried, as no form fits %d others", m.without), obs: obs, vals: vals}
	}
	t := &tried{obs: obs, vals: vals}
	if m.judge(t, fit); len(t.forms) == 0 {
		m.without++
	}
	return t
}

func (t *tried) likely(f form) bool { return f.likely(t.said) }

// judge looks for forms of a value with fit, and decides whether they can be used. As a check it also fits all
// observations except the largest run's, and predicts these.
func (m *pattern) judge(t *tried, fit func(obs []env, vals []int64) []form) {
	t.least = slices.Min(t.vals)
	if t.forms = fit(t.obs, t.vals); len(t.forms) == 0 {
		return
	}
	obs, vals := t.obs, t.vals
	t.obs, t.vals = nil, nil
	for i := range t.forms {
		f := &t.forms[i]
		f.exact = f.DivisibilityCondition()
		f.even = len(t.forms) > 1 && !slices.ContainsFunc(obs, func(e env) bool { return !f.evenAt(&e) })
		t.even = t.even || f.even && f.CallsShareFunction()
		f.less = f.CallsShareFunction("chunk") && !slices.ContainsFunc(obs, func(e env) bool { return f.evenAt(&e) })
	}
	largest := int64(m.runs[len(m.runs)-1].ranks)
	var less, most []env
	var lessVals, mostVals []int64
	for i, e := range obs {
		if e[expr.VariableRankCount] == largest {
			most, mostVals = append(most, e), append(mostVals, vals[i])
		} else {
			less, lessVals = append(less, e), append(lessVals, vals[i])
		}
	}
	if t.said = evidence(obs, vals); !slices.ContainsFunc(t.forms, t.likely) {
		t.wrong = fmt.Sprintf("%s may fit by chance: more traces are needed", t.forms[0])
	}
	if t.wrong != "" || len(less) == 0 {
		return
	}
	check := fitted{tried: &tried{forms: fit(less, lessVals)}}
	for i := range most {
		if v, err := check.value(&most[i]); err == nil && v != mostVals[i] {
			t.wrong = fmt.Sprintf("from the smaller runs rank %d of %d would have %d, it has %d", most[i][expr.VariableRank], largest, v, mostVals[i])
			t.refused = observed{obs, vals}
			return
		}
	}
}

// oneGrid keeps only the forms of the grids on which all values that need a grid agree: a program has at most one grid.
// Groups of root(ranks) ranks are then no alternative to its rows.
func (m *pattern) oneGrid() {
	var common []bool
	for _, t := range m.memo {
		has := make([]bool, len(expr.Grids()))
		if len(t.forms) == 0 || t.wrong != "" || slices.ContainsFunc(t.forms, func(f form) bool {
			if f.grid >= 0 {
				has[f.grid] = true
			}
			return f.grid < 0 && t.likely(f)
		}) {
			continue
		}
		if common == nil {
			common = has
			continue
		}
		for g := range common {
			common[g] = common[g] && has[g]
		}
	}
	if common != nil && !slices.Contains(common, true) {
		return
	}
	for _, t := range m.memo {
		if kept := slices.DeleteFunc(slices.Clone(t.forms), func(f form) bool {
			return f.grid >= 0 && (common == nil || !common[f.grid]) || f.grid < 0 && common != nil && strings.Contains(f.String(), "root(")
		}); slices.ContainsFunc(kept, t.likely) {
			t.forms = kept
		}
	}
}

// ofGrid keeps only forms about a grid, if such forms fit: the value is a side of the grid that MPI chose for the
// number of ranks.
func (t *tried) ofGrid() {
	if slices.ContainsFunc(t.forms, func(f form) bool { return f.grid >= 0 && t.likely(f) }) {
		t.forms = slices.DeleteFunc(t.forms, func(f form) bool { return f.grid < 0 })
	}
}

// mostElements is the largest length of a list whose elements are fitted one by one.
const mostElements = 64

func (m *pattern) cells(n *node, g *group, where string, calls []env, values [][]int64, others map[shared]*observed, turn *turns) error {
	p := &m.places[n.place]
	cuts := make([][]cut, len(values))
	for i, v := range values {
		var err error
		if cuts[i], err = p.cut(v); err != nil {
			return err
		}
		if len(cuts[i]) != len(cuts[0]) {
			return fmt.Errorf("%s has calls of different kinds", where)
		}
	}
	names, sharing, bytes, buffers := p.labels(len(cuts[0])), p.shared(), p.bytesAt(len(cuts[0])), p.buffers()
	fits := make(map[int]int) // by index in group.cells: index in m.slots
	for c := range cuts[0] {
		if t := turn.cells[c]; t != nil {
			g.cells = append(g.cells, cell{one: m.slot(t, fmt.Sprintf("%s of %s", names[c], m.text(n)), m.turned[n.number])})
			continue
		}
		text := fmt.Sprintf("%s of %s", names[c], where)
		vals := make([]int64, len(cuts))
		for i := range cuts {
			vals[i] = cuts[i][c].one
		}
		if strings.HasSuffix(names[c], segmentPart) {
			m.oneName(calls, vals)
		}
		var other *observed
		if s, ok := sharing[c]; ok {
			other = others[s]
		}
		obs, of := calls, vals
		ok := true
		if c == bytes {
			obs, of, ok = p.fromSomebody(calls, values, vals)
		}
		var x cell
		if ok {
			x.one = m.fitShared(text, obs, of, other)
			fits[c] = len(m.slots) - 1
			x.one.spare = buffers[c] || buffers[c-1]
			m.slots[fits[c]].spare = x.one.spare
		} else {
			x.one = fitted{tried: &tried{wrong: "a receive from MPI_PROC_NULL has a size"}, text: text}
		}
		x.one.natural = cuts[0][c].many || c == bytes || p.counts(sharing, c)
		x.one.skips = p.counts(sharing, c) && !p.function.Has(trace.AttrCollective)
		width := cuts[0][c].width
		switch {
		case !cuts[0][c].many:
		case alike(vals) && vals[0] <= mostElements:
			for k := range int(vals[0]) {
				var each []fitted
				for w := range width {
					for i := range cuts {
						vals[i] = cuts[i][c].list[k*width+w]
					}
					one := m.fit(fmt.Sprintf("%s, element %d", text, k), calls, slices.Clone(vals))
					// MPI_Dims_create: the elements are sides of a grid.
					if slices.ContainsFunc(p.function.Params, func(d trace.ParamDef) bool { return d.Name == "nnodes" }) {
						one.ofGrid()
					}
					each = append(each, one)
				}
				x.each = append(x.each, each)
			}
		default:
			for w := range width {
				var obs []env
				var list []int64
				for i := range cuts {
					for k := range int(cuts[i][c].one) {
						e := calls[i]
						e[expr.VariableListIndex], e[expr.VariableListLength] = int64(k), cuts[i][c].one
						obs, list = append(obs, e), append(list, cuts[i][c].list[k*width+w])
					}
				}
				if s := sumsOf(cuts, c); width == 1 && s.factor != 0 && len(fit(obs, list)) != 1 {
					x.sum = s
					x.any = append(x.any, fitted{tried: &tried{wrong: fmt.Sprintf("%d * the sum of %s before", s.factor, names[s.cell])}, text: text + ", elements"})
				} else if len(obs) > 0 {
					x.any = append(x.any, m.fit(text+", elements", obs, list))
				} else {
					x.any = append(x.any, fitted{tried: &tried{}, text: text + ", elements"})
				}
			}
		}
		g.cells = append(g.cells, x)
	}
	for c, at := range fits {
		if s := &m.slots[at]; !s.spare && len(s.forms) == 0 && len(s.obs) == len(calls) {
			m.byPartner(s, names, cuts, g)
			one := &g.cells[c].one
			one.tried = s.tried
		}
	}
	return nil
}
