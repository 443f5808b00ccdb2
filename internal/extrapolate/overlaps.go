package extrapolate

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// distributions are the numbers of parts, as formulas, over which data may be distributed before or after a
// redistribution.
var distributions = []string{"ranks", "ranks / 2", "ranks - 1", "root(ranks)", "ranks / 4", "ranks / 3"}

// An overlap is how much of a rank's block in one distribution is in another rank's block in a second distribution:
// the amount that the first sends to the second in a redistribution. others is the number of other ranks.
type overlap struct {
	*expr.Expr
	others *expr.Expr
}

// overlapsOf lists the overlaps for a total; other is the variable of the other rank.
func overlapsOf(total int64, other expr.Variable) (out []overlap) {
	block := func(start string, parts, at *expr.Expr) (low, high *expr.Expr) {
		return expr.CallFunction(start, expr.Number(total), parts, at), expr.CallFunction(start, expr.Number(total), parts, expr.Sum(at, expr.Number(1)))
	}
	whole := expr.VariableExpr(expr.VariableRankCount)
	for i, text := range distributions {
		parts := expr.MustParse("%s", text)
		for turned := range 2 {
			own, others := whole, parts
			if turned > 0 {
				own, others = parts, whole
			}
			if i == 0 && turned > 0 {
				continue
			}
			for a := range spreadings {
				for b := range spreadings {
					if i == 0 && a == b {
						continue
					}
					low, high := block(spreadings[a].start, own, expr.VariableExpr(expr.VariableRank))
					from, to := block(spreadings[b].start, others, expr.VariableExpr(other))
					e := expr.CallFunction("overlap", low, high, from, to)
					if turned > 0 {
						e = expr.Conditional(expr.Less(expr.VariableExpr(expr.VariableRank), own), e, expr.Number(0))
					} else if i > 0 {
						e = expr.Conditional(expr.Less(expr.VariableExpr(other), others), e, expr.Number(0))
					}
					out = append(out, overlap{e, others})
				}
			}
		}
	}
	return out
}

// common returns the sum of the values of a run if all runs have the same sum, and the greatest common divisor of all
// values. ok is false otherwise.
func common(obs []env, vals []int64) (sum, all int64, ok bool) {
	sums := make(map[int64]int64)
	for i, e := range obs {
		if vals[i] < 0 {
			return 0, 0, false
		}
		sums[e[expr.VariableRankCount]] += vals[i]
	}
	for _, sum = range sums {
		break
	}
	for _, s := range sums {
		if s != sum || s == 0 {
			return 0, 0, false
		}
	}
	all = divisor(slices.DeleteFunc(slices.Clone(vals), func(v int64) bool { return v == 0 }))
	return sum, all, len(sums) > 1 && all > 0
}

// overlaps looks for forms m times an overlap, in lists and in loops over other ranks.
func overlaps(obs []env, vals []int64) (out []form) {
	other := expr.VariableListIndex
	switch withinOf(obs) {
	case loops:
		other = expr.VariableLoopIteration
	case lists:
	default:
		return nil
	}
	sum, all, ok := common(obs, vals)
	if !ok {
		return nil
	}
	for _, m := range multipliers(all, false) {
		for _, o := range overlapsOf(sum/m, other) {
			if f := (form{Expr: scaled(m, o.Expr, 0), grid: gridless}); holds(&f, obs, vals) {
				out = append(out, f)
			}
		}
	}
	return out
}

// overlapping returns families of guards for loops over the ranks whose blocks overlap with a rank's block. Counts of
// calls in such a loop add up to the distributed total.
func (m *pattern) overlapping(l *node) (out []family) {
	known := make(map[int64]bool)
	for _, n := range m.shape.below(l) {
		if n.place < 0 {
			continue
		}
		p := &m.places[n.place]
		sharing := p.shared()
		for cell := range sharing {
			if !p.counts(sharing, cell) {
				continue
			}
			var obs []env
			var vals []int64
			for i := range m.rows[n.number] {
				r := &m.rows[n.number][i]
				if r.what < 0 {
					continue
				}
				cuts, err := p.cut(m.values[r.what])
				if err != nil {
					return nil
				}
				obs, vals = append(obs, env{expr.VariableRankCount: int64(m.runs[r.run].ranks)}), append(vals, cuts[cell].one)
			}
			if len(vals) == 0 || alike(vals) {
				continue
			}
			sum, all, ok := common(obs, vals)
			if !ok {
				continue
			}
			for _, factor := range multipliers(all, false) {
				if known[sum/factor] {
					continue
				}
				known[sum/factor] = true
				for _, o := range overlapsOf(sum/factor, expr.VariableLoopIteration) {
					out = append(out, family{
						bounds:     []form{{Expr: o.others, grid: gridless}},
						conditions: []form{{Expr: expr.Greater(o.Expr, expr.Number(0)), grid: gridless}},
					})
				}
			}
		}
	}
	return out
}
