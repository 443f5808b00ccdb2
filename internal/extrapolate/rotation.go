package extrapolate

import "github.com/spoor-hpc/spoor/internal/expr"

// turns are what takes turns over the iterations of a loop that is equally long everywhere, as roots do that are i % ranks: one form for
// all iterations, in which t is the iteration. One iteration says too little.
type turns struct {
	there *tried         // whether the call is reached; nil: that takes no turns
	cells map[int]*tried // of its values
}

// fewestTurns is from how many iterations on turns are looked for.
const fewestTurns = 4

// innermost is the innermost loop of a mask.
func innermost(mask uint) (depth int) {
	for d := 1; d <= maxDepth; d++ {
		if mask>>d&1 != 0 {
			depth = d
		}
	}
	return depth
}

// turns finds them for a node of which this was seen.
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
		if cycle.every > 0 && at[0] >= cycle.first { // it represents others
			at = append(at, at[0]+cycle.every)
		}
		for _, i := range at {
			e := env{expr.Ranks: int64(m.runs[r.run].ranks), expr.Rank: int64(r.rank), expr.EqualLoopIteration: int64(i)}
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

// inTurn fits values of all iterations; nil if no form does, or several do.
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

// A rotation is what takes turns: all ranks, or the ranks along a side of a grid, and which of these a rank is, if that is a form.
type rotation struct{ number, own form }

// turn is whose turn it is in an iteration: number begins with the first, or with the next.
func (r *rotation) turn(more int64) *expr.Expr {
	return expr.Remainder(scaled(1, expr.VariableExpr(expr.EqualLoopIteration), more), r.number.Expr)
}

// remainders are the iteration, or the next, by numbers of ranks; of two grids that have the same sides in another order by those of one.
func remainders() (out []form) {
	for _, r := range rotations {
		if g := r.number.grid; g >= 0 && expr.Grids()[g].IsReordering {
			continue
		}
		for more := range int64(2) {
			out = append(out, form{Expr: r.turn(more), grid: r.number.grid})
		}
	}
	return out
}

// owners are the conditions that it is the rank's turn, by its number or its place in a grid, and that it is not.
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
