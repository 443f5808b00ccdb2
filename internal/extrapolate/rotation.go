package extrapolate

import "github.com/spoor-hpc/spoor/internal/expr"

// turns are values for which ranks take turns over the iterations of a loop with a constant trip count, as a root i %
// ranks. One form covers all iterations, with t as the iteration; one iteration alone has too little information.
type turns struct {
	there *tried         // whether the call is reached; nil: no turns in that
	cells map[int]*tried // by index in group.cells: the values
}

// fewestTurns is the least number of iterations for which turns are looked for.
const fewestTurns = 4

// innermost returns the depth of the innermost loop of a mask; 0: the mask is empty.
func innermost(mask uint) (depth int) {
	for d := 1; d <= maxDepth; d++ {
		if mask>>d&1 != 0 {
			depth = d
		}
	}
	return depth
}

// turns looks for turns in a place's observations, over the iterations of the loop at a depth.
func (m *pattern) turns(n *node, depth int) (*turns, error) {
	var all, calls []env
	var there []int64
	var cuts [][]cut
	seen := make(map[int32]bool)
	cycle := n.around[depth].cycle
	for i := range m.rows[n.number] {
		r := &m.rows[n.number][i]
		seen[r.index[depth]] = true
		at := []int32{r.index[depth]}
		if cycle.every > 0 && at[0] >= cycle.first { // the iteration represents further ones of the cycle
			at = append(at, at[0]+cycle.every)
		}
		for _, i := range at {
			e := env{expr.VariableRankCount: int64(m.runs[r.run].ranks), expr.VariableRank: int64(r.rank), expr.VariableFixedIteration: int64(i)}
			all, there = append(all, e), append(there, 0)
			if r.what < 0 {
				continue
			}
			there[len(there)-1] = 1
			c, err := m.places[n.place].cut(m.values[r.what])
			if err != nil {
				return nil, err
			}
			calls, cuts = append(calls, e), append(cuts, c)
		}
	}
	out := &turns{cells: make(map[int]*tried)}
	if len(seen) < fewestTurns || len(cuts) == 0 {
		return out, nil
	}
	out.there = m.inTurn(all, there, owners)
	for c := range cuts[0] {
		vals := make([]int64, 0, len(cuts))
		for _, x := range cuts {
			if c < len(x) && !x[c].many {
				vals = append(vals, x[c].one)
			}
		}
		if len(vals) == len(cuts) {
			if t := m.inTurn(calls, vals, remainders); t != nil {
				out.cells[c] = t
			}
		}
	}
	return out, nil
}

// inTurn looks for the form that gives the values of all iterations. It returns nil if not exactly one of forms does.
func (m *pattern) inTurn(obs []env, vals []int64, forms func() []form) *tried {
	if alike(vals) {
		return nil
	}
	t := &tried{obs: obs, vals: vals}
	m.judge(t, func(obs []env, vals []int64) (out []form) {
		for _, f := range forms() {
			if holds(&f, obs, vals) {
				out = append(out, f)
			}
		}
		return out
	})
	if len(t.forms) != 1 || t.wrong != "" {
		return nil
	}
	return t
}

// A rotation is the ranks that take turns: all ranks, or those along a side of a grid. number is how many there are,
// own a rank's index among them.
type rotation struct{ number, own form }

// turn is the index whose turn it is in an iteration; iteration 0 is the turn of index more.
func (r *rotation) turn(more int64) *expr.Expr {
	return expr.Remainder(scaled(1, expr.VariableExpr(expr.VariableFixedIteration), more), r.number.Expr)
}

// remainders lists the forms iteration or iteration + 1, modulo the number of ranks of a rotation. Of two grids with
// the same sides in different order only one is used.
func remainders() (out []form) {
	for _, r := range rotations {
		if g := r.number.grid; g >= 0 && expr.Grids()[g].IsAxisPermutation {
			continue
		}
		for more := range int64(2) {
			out = append(out, form{Expr: r.turn(more), grid: r.number.grid})
		}
	}
	return out
}

// owners lists the conditions that it is, or is not, the rank's turn, by its number or its index in a grid.
func owners() (out []form) {
	for _, r := range rotations {
		if r.own.Expr == nil {
			continue
		}
		for more := range int64(2) {
			f := form{Expr: expr.Equal(r.own.Expr, r.turn(more)), grid: r.number.grid}
			out = append(out, f, not(&f))
		}
	}
	return out
}
