package extrapolate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/once"
)

// A guard describes a program's loop of which traces show only the iterations with MPI calls. The loop has bound
// iterations, and calls MPI in those in which the condition holds.
type guard struct {
	bound, condition form
	each             bool // each iteration has forms of its own, as for the directions of a grid
}

func (g *guard) bits() float64 { return g.bound.DescriptionBits() + g.condition.DescriptionBits() }

func (g *guard) String() string { return fmt.Sprintf("%s of %s iterations", g.condition, g.bound) }

// iterations lists the iterations in which the condition holds on a rank; false if there are too many.
func (g *guard) iterations(ranks, rank int64) (list []int32, ok bool) {
	e := env{expr.VariableRankCount: ranks, expr.VariableRank: rank}
	bound, ok := g.bound.Eval(&e)
	if !ok || bound > mostMade {
		return nil, false
	}
	e[expr.VariableLoopTripCount] = bound
	for i := range bound {
		e[expr.VariableLoopIteration] = i
		if v, ok := g.condition.Eval(&e); ok && v != 0 {
			list = append(list, int32(i))
		}
	}
	return list, true
}

// mostChildren is the largest number of children of a rank in the trees that are tried.
const mostChildren = 4

// mostBound is the largest trip count of a loop for which a guard is looked for: iterations are bits of a word.
const mostBound = 64

// What guards are made of: families of bounds and conditions on iterations, and ofRanks, further conditions on the
// rank.
var (
	families []family
	ofRanks  []form
)

// A family is bounds of loops and conditions on iterations; each bound with each condition is a guard to try.
type family struct {
	bounds, conditions []form
	each               bool
	pairs              bool // pairs of conditions, joined by && or by ||, are tried as well
}

// makeGuards fills families and ofRanks, and adds some of the conditions to tests.
func makeGuards() {
	lengths := formulas(`
		ranks
		ranks - 1
		ceil_log2(ranks)
		floor_log2(ranks)
		floor_log2(ranks) + 1
		ceil_log2(ranks) + 1
		ranks / 2
		rank
		ranks - 1 - rank`)
	conditions := formulas(`
		(rank ^ power(i)) < ranks
		(rank ^ i) < ranks
		(rank ^ i + 1) < ranks
		(rank ^ power(n - 1 - i)) < ranks
		there(beside(i)) >= 0
		there(beside(i + 1)) >= 0
		mod(i - rank, ranks) != rank
		mod(i + 1 - rank, ranks) != rank
		round_robin(i) >= 0
		round_robin(i + 1) >= 0
		round_robin_first(i) >= 0
		i != rank
		i + 1 != rank
		i % 2 == rank % 2
		rank % power(i) == 0
		rank % power(i + 1) == 0
		rank % power(n - i) == 0
		rank % power(n - 1 - i) == 0
		(rank & power(i)) != 0
		(rank & power(n - 1 - i)) != 0
		rank + power(i) < ranks
		rank + power(n - 1 - i) < ranks
		rank >= power(i)
		rank >= power(n - 1 - i)
		rank + i < ranks
		rank + i + 1 < ranks
		rank >= i
		rank > i
		i % ranks != 0
		(i + 1) % ranks != 0
		i % ranks == rank`)
	known := make(map[string]bool)
	for i := range tests {
		known[tests[i].String()] = true
	}
	for i := range conditions {
		if text := conditions[i].String(); !known[text] && strings.Contains(text, "power") && !strings.Contains(text, "^") {
			tests = append(tests, conditions[i])
		}
	}
	for i := range conditions {
		conditions = append(conditions, not(&conditions[i]))
	}
	families = append(families, family{bounds: lengths, conditions: conditions, pairs: true})
	for k := int64(2); k <= mostChildren; k++ {
		f := family{bounds: []form{constant(k)}, conditions: formulas(strings.ReplaceAll("K * rank + 1 + i < ranks"+turned("\nK * (TURNED) + 1 + i < ranks"), "K", fmt.Sprint(k)))}
		families = append(families, f)
	}
	for g, grid := range expr.Grids() {
		f := family{bounds: []form{constant(int64(2 * grid.Dimensions))}, each: true}
		for order := range 4 {
			f.conditions = append(f.conditions, formOf(g, "listed(%s, %d, %s) >= 0", grid.Name, order, "i"))
		}
		families = append(families, f)
	}
	ofRanks = formulas(`
		rank == 0
		rank == ranks - 1
		rank % 2 == 1
		rank < whole(ranks)
		rank < ranks - whole(ranks)
		left_out(0) != 0
		left_out(1) != 0`)
	for i := range ofRanks {
		ofRanks = append(ofRanks, not(&ofRanks[i]))
	}
}

// A guardCandidate is a guard that fits the trip counts seen. shows encodes the iterations in which its condition
// holds, on all ranks seen.
type guardCandidate struct {
	guard
	shows string
	bound int64 // sum of the guard's bounds over all ranks seen
}

// shared reports whether the guard's condition contains a share of a total or an overlap of shares: the program divides
// this total elsewhere, too.
func (c *guardCandidate) shared() bool {
	return c.condition.CallsShareFunction() || c.condition.CallsShareFunction("overlap")
}

// families returns the package's families. To the first it adds loops over the ranks that have a share of a total, and
// the total as a bound, for each total that the program divides.
func (m *pattern) families() []family {
	f := families[0]
	f.bounds, f.conditions = slices.Clone(f.bounds), slices.Clone(f.conditions)
	totals := make(map[int64]bool)
	for _, q := range m.sharedOut() {
		if total, ok := q.DividedTotal(); ok && !totals[total] {
			totals[total] = true
			f.bounds = append(f.bounds, constant(total))
		}
		for _, of := range []*expr.Expr{expr.MustParse("i"), expr.MustParse("i + 1")} {
			share := q.Replace(func(v expr.Variable) *expr.Expr {
				if v == expr.VariableRank {
					return of
				}
				return expr.VariableExpr(v)
			})
			f.conditions = append(f.conditions, form{Expr: expr.Greater(share, expr.Number(0)), grid: q.grid})
		}
	}
	return append([]family{f}, families[1:]...)
}

// sharedOut lists the shares of totals that occur in the program's forms and depend on the rank alone.
func (m *pattern) sharedOut() (list []form) {
	seen := make(map[string]*form)
	for _, t := range m.memo {
		for i := range t.forms {
			if len(t.forms) > mostAlike {
				break
			}
			t.forms[i].Walk(func(e *expr.Expr) bool {
				if _, ok := e.DividedTotal(); ok && e.UsesVariable(expr.VariableRank) && !e.UsesVariable(expr.VariableLoopIteration, expr.VariableLoopTripCount, expr.VariableOuterIteration, expr.VariableListIndex, expr.VariableListLength, expr.VariableFixedIteration) {
					seen[e.String()] = &form{Expr: e, grid: t.forms[i].grid}
				}
				return true
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		list = append(list, *seen[name])
	}
	return list[:min(len(list), mostQuantities)]
}

// guardsOf finds guards that fit the trip counts vals of a loop. With pairs, it finds only guards with two conditions.
func guardsOf(list []family, pairs bool, obs []env, vals []int64) (out []guardCandidate) {
	for i := range list {
		if !pairs || list[i].pairs {
			out = append(out, list[i].of(pairs, obs, vals)...)
		}
	}
	return out
}

// of finds the guards of a family that fit the trip counts vals: with one condition or, if pairs is set, with two.
func (f *family) of(pairs bool, obs []env, vals []int64) (out []guardCandidate) {
	conditions := f.conditions
	for b := range f.bounds {
		bound := &f.bounds[b]
		long := make([]int64, len(obs))
		ok, sum := true, int64(0)
		for i := range obs {
			v, is := bound.Eval(&obs[i])
			sum += v
			long[i] = v
			ok = ok && is && v >= vals[i] && v <= mostBound
		}
		if !ok {
			continue
		}
		passing := func(x *form) []uint64 {
			list := make([]uint64, len(obs))
			for k := range obs {
				e := obs[k]
				e[expr.VariableLoopTripCount] = long[k]
				for i := range long[k] {
					e[expr.VariableLoopIteration] = i
					if v, ok := x.Eval(&e); ok && v != 0 {
						list[k] |= 1 << i
					}
				}
			}
			return list
		}
		add := func(x form, of func(k int) uint64) {
			var b []byte
			for k := range obs {
				set := of(k)
				if int64(bits.OnesCount64(set)) != vals[k] {
					return
				}
				b = binary.LittleEndian.AppendUint64(b, set)
			}
			out = append(out, guardCandidate{guard{*bound, x, f.each}, string(b), sum})
		}
		var lists [][]uint64
		for i := range conditions {
			lists = append(lists, passing(&conditions[i]))
			if !pairs {
				add(conditions[i], func(k int) uint64 { return lists[i][k] })
			}
		}
		if !pairs {
			continue
		}
		for i := range conditions {
			for j := range i {
				c, d := &conditions[i], &conditions[j]
				add(form{Expr: expr.And(d.Expr, c.Expr), grid: gridless}, func(k int) uint64 { return lists[i][k] & lists[j][k] })
				add(form{Expr: expr.Or(d.Expr, c.Expr), grid: gridless}, func(k int) uint64 { return lists[i][k] | lists[j][k] })
			}
		}
		for j := range ofRanks {
			with := passing(&ofRanks[j])
			for i := range conditions {
				c, d := &conditions[i], &ofRanks[j]
				add(form{Expr: expr.And(d.Expr, c.Expr), grid: gridless}, func(k int) uint64 { return lists[i][k] & with[k] })
			}
		}
	}
	return out
}

// iterationsOf returns the trip counts of a loop by run and rank, if they don't depend on other loops.
func (m *pattern) iterationsOf(l *node) (obs []env, vals []int64) {
	for i := range m.rows[l.number] {
		r := &m.rows[l.number][i]
		obs, vals = append(obs, env{expr.VariableRankCount: int64(m.runs[r.run].ranks), expr.VariableRank: int64(r.rank)}), append(vals, int64(r.what))
	}
	return obs, vals
}

// open counts the values of a loop and its body that forms don't determine. Addresses don't count.
func (m *pattern) open(l *node) (n int) {
	for i := range m.slots {
		s := &m.slots[i]
		if (s.wrong != "" || len(s.forms) == 0) && !s.spare && (s.node == l || slices.Contains(s.node.around, l)) {
			n++
		}
	}
	return n
}

// again fits the values of a loop, of its changed body, and of the loop around it once more.
func (m *pattern) again(l *node) error {
	list := append(m.shape.below(l), l)
	if outer := l.around[len(l.around)-1]; outer != m.shape.root {
		list = append(list, outer)
	}
	m.slots = slices.DeleteFunc(m.slots, func(s fitted) bool { return slices.Contains(list, s.node) })
	m.without = 0
	for _, n := range list {
		if err := m.node(n); err != nil {
			return err
		}
	}
	return nil
}

// repair finds guards for loops whose iterations the calls show only in part.
func (m *pattern) repair() error {
	for _, l := range m.shape.nodes[1:] {
		if l.place >= 0 || l.mask != 0 || l.cycle.every != 0 || len(m.rows[l.number]) == 0 || m.open(l) == 0 {
			continue
		}
		if m.divide(l) {
			if err := m.again(l); err != nil {
				return err
			}
		}
		if m.constant[l.number] || m.open(l) == 0 {
			continue
		}
		if err := m.guarded(l); err != nil {
			return err
		}
	}
	return nil
}

// A seenBy identifies a rank of a run.
type seenBy struct{ run, rank int }

// plain reports whether a form gives a loop's trip counts without a guard.
func (m *pattern) plain(obs []env, vals []int64) bool {
	t := m.tried(obs, vals)
	return len(t.forms) > 0 && t.wrong == ""
}

// below lists the nodes within a loop, at any depth.
func (s *shape) below(l *node) (list []*node) {
	for _, n := range s.nodes[1:] {
		if slices.Contains(n.around, l) {
			list = append(list, n)
		}
	}
	return list
}

// A guarded is a loop with its guard, and alternative guards that fit as well.
type guarded struct {
	guard
	rivals []rival
}

// A rival is a guard that fits as well as the chosen one.
type rival struct {
	guard
	same bool // it holds in the same iterations on all ranks seen; else in equally many
}

// Limits of the guards that are tried, and of those compared with the chosen one.
const (
	mostCandidates = 12
	mostRivals     = 8
)

// guarded finds the guard of a loop. Among guards that fit the trip counts, it takes the one that leaves the fewest
// values of the body undetermined. Two conditions are tried only if one does not suffice.
func (m *pattern) guarded(l *node) error {
	obs, vals := m.iterationsOf(l)
	said, plain := evidence(obs, vals), m.plain(obs, vals)
	if plain { // trip counts need no guard; the body must show that there are further iterations
		said = math.Inf(1)
	}
	list := append(m.families(), m.overlapping(l)...)
	for _, pairs := range []bool{false, true} {
		all := guardsOf(list, pairs, obs, vals)
		slices.SortStableFunc(all, func(a, b guardCandidate) int { return cmp.Compare(a.bits(), b.bits()) })
		all = slices.DeleteFunc(all, func(c guardCandidate) bool { return c.bits()+bitsMore > said && !c.shared() })
		if len(all) == 0 || m.byChance(list, pairs, obs, vals, &all[0]) {
			continue
		}
		kinds := make(map[string]int) // by guardCandidate.shows: number of undetermined values with such a guard
		best := 0
		for i := range all {
			if _, known := kinds[all[i].shows]; known || len(kinds) == mostCandidates {
				continue
			}
			open, err := m.openBy(l, &all[i].guard)
			if err != nil {
				return err
			}
			if kinds[all[i].shows] = open; open < kinds[all[best].shows] {
				best = i
			}
		}
		fewest := kinds[all[best].shows]
		if fewest >= m.open(l) || fewest > 0 && (plain || !pairs || all[best].bits()+bitsMore > said) {
			continue
		}
		for i := range all { // of guards with the same iterations, take the one with the lowest bounds
			if all[i].shows == all[best].shows && all[i].bound < all[best].bound {
				best = i
			}
		}
		g := &guarded{guard: all[best].guard}
		for i := range all {
			c := &all[i]
			if open, known := kinds[c.shows]; i != best && known && open == fewest && c.bits() <= g.bits()+muchLonger && len(g.rivals) < mostRivals {
				g.rivals = append(g.rivals, rival{c.guard, c.shows == all[best].shows})
			}
		}
		m.guards[l.number] = g
		m.restore(l, &g.guard)
		return m.again(l)
	}
	return nil
}

// byChance reports whether a guard simpler than c fits all runs except the largest: then c may fit by chance.
func (m *pattern) byChance(list []family, pairs bool, obs []env, vals []int64, c *guardCandidate) bool {
	largest := int64(m.runs[len(m.runs)-1].ranks)
	var less []env
	var lessVals []int64
	for i := range obs {
		if obs[i][expr.VariableRankCount] < largest {
			less, lessVals = append(less, obs[i]), append(lessVals, vals[i])
		}
	}
	return slices.ContainsFunc(guardsOf(list, pairs, less, lessVals), func(d guardCandidate) bool {
		return d.bits() < c.bits() && (!c.shared() || d.shared())
	})
}

// openBy returns the number of undetermined values in a loop's body with this guard. It leaves m as it was.
func (m *pattern) openBy(l *node, g *guard) (open int, err error) {
	before := *m
	m.rows, m.counts, m.groups = slices.Clone(m.rows), slices.Clone(m.counts), slices.Clone(m.groups)
	m.memo, m.guards, m.constant, m.turned = maps.Clone(m.memo), maps.Clone(m.guards), slices.Clone(m.constant), slices.Clone(m.turned)
	m.slots, m.without = nil, 0
	masks := make(map[*node]uint)
	for _, n := range m.shape.below(l) {
		masks[n] = n.mask
	}
	m.guards[l.number] = &guarded{guard: *g}
	m.restore(l, g)
	for _, n := range m.shape.below(l) {
		if err = m.node(n); err != nil {
			break
		}
	}
	open = m.open(l)
	*m = before
	for n, mask := range masks {
		n.mask = mask
	}
	return open, err
}

// restore renumbers the observations in a loop: the iterations that were seen become those in which the guard's
// condition holds.
func (m *pattern) restore(l *node, g *guard) {
	known := make(map[seenBy][]int32)
	iterations := func(r *seen) []int32 {
		return once.GetOrMake(known, seenBy{r.run, r.rank}, func() []int32 {
			list, _ := g.iterations(int64(m.runs[r.run].ranks), int64(r.rank))
			return list
		})
	}
	depth := len(l.around)
	for _, n := range m.shape.below(l) {
		direct := n.around[len(n.around)-1] == l
		if n.mask>>depth&1 == 0 && !direct {
			continue
		}
		var rows []seen
		for _, r := range m.rows[n.number] {
			list := iterations(&r)
			if n.mask>>depth&1 != 0 {
				r.index[depth] = list[r.index[depth]]
				rows = append(rows, r)
				continue
			}
			for _, i := range list { // the observation is equal in all iterations
				r.index[depth] = i
				rows = append(rows, r)
			}
		}
		m.rows[n.number] = rows
		n.mask |= 1 << depth
	}
	rows := slices.Clone(m.rows[l.number])
	for i := range rows {
		r := &rows[i]
		v, _ := g.bound.Eval(&env{expr.VariableRankCount: int64(m.runs[r.run].ranks), expr.VariableRank: int64(r.rank)})
		r.what = int32(v)
	}
	m.rows[l.number] = rows
	m.count(l)
	for _, n := range m.shape.below(l) {
		m.count(n)
	}
	m.constant[l.number] = g.each
}

// sameGuards checks that a loop's alternative guards agree on a rank.
func (m *pattern) sameGuards(g *guarded, ranks int64, rank int) error {
	list, ok := g.iterations(ranks, int64(rank))
	if !ok {
		return fmt.Errorf("%s says nothing of rank %d", &g.guard, rank)
	}
	for i := range g.rivals {
		other, ok := g.rivals[i].iterations(ranks, int64(rank))
		if !ok || len(list) != len(other) || g.rivals[i].same && !slices.Equal(list, other) {
			return fmt.Errorf("rank %d has %d by %s, %d by %s", rank, len(list), &g.guard, len(other), &g.rivals[i].guard)
		}
	}
	return nil
}
