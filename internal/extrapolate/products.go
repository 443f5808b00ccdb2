package extrapolate

import (
	"maps"
	"math/big"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// quantities lists the shares that occur as values of the program: the sizes of its blocks.
func (m *pattern) quantities() (list []form) {
	seen := make(map[string]*form)
	for _, t := range m.memo {
		for i := range t.forms {
			if len(t.forms) > mostAlike {
				continue
			}
			for k := range t.forms[i].of {
				// A formula of rank and number of ranks alone.
				if q := &t.forms[i].of[k]; !q.UsesVariable(expr.VariableLoopIteration, expr.VariableLoopTripCount, expr.VariableOuterIteration, expr.VariableListIndex, expr.VariableListLength, expr.VariableFixedIteration) {
					seen[q.String()] = q
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		list = append(list, *seen[name])
	}
	return list
}

// mostAlike is the largest number of forms of a value from which quantities are taken: a value that fits more says
// little about the sizes of blocks. mostQuantities is the largest number of quantities: a program has few.
const (
	mostAlike      = 8
	mostQuantities = 16
)

// products looks for forms a·p·q + b·p + c·q + d of values without a form, with two quantities p and q and as few terms
// as possible. Sizes of halos and offsets of blocks in memory have this form.
func (m *pattern) products() {
	m.nonempty()
	list := m.quantities()
	if len(list) > mostQuantities {
		return
	}
	for _, t := range m.memo {
		if len(t.forms) == 0 && t.wrong == "" {
			m.judge(t, func(obs []env, vals []int64) []form { return sumsOfProducts(list, obs, vals) })
		}
	}
}

// nonempty looks for conditions that hold where a share is not empty: on all ranks, or on those for which one of
// ofRanks holds.
func (m *pattern) nonempty() {
	list := m.sharedOut()
	for _, t := range m.memo {
		if len(list) == 0 || t.obs == nil && t.wrong == "" || len(t.vals) > 0 && !logical(t.vals) {
			continue
		}
		obs, vals := t.obs, t.vals
		if obs == nil {
			obs, vals = t.refused.obs, t.refused.vals
		}
		if obs == nil || !logical(vals) || alike(vals) {
			continue
		}
		again := &tried{obs: obs, vals: vals}
		if m.judge(again, func(obs []env, vals []int64) (out []form) {
			add := func(f form) {
				if holds(&f, obs, vals) {
					out = append(out, f)
				}
			}
			for i := range list {
				some := form{Expr: expr.Greater(list[i].Expr, expr.Number(0)), grid: list[i].grid}
				add(some)
				for k := range ofRanks {
					add(form{Expr: expr.And(ofRanks[k].Expr, some.Expr), grid: some.grid})
				}
			}
			return out
		}); len(again.forms) > 0 && again.wrong == "" {
			t.forms, t.said, t.wrong, t.least, t.obs, t.vals = again.forms, again.said, "", again.least, nil, nil
		}
	}
}

func sumsOfProducts(list []form, obs []env, vals []int64) (out []form) {
	for terms := 1; terms <= 4 && len(out) == 0; terms++ {
		for i := range list {
			for k := range list[:i+1] {
				p, q := &list[i], &list[k]
				if _, ok := sharedGrid(p.grid, q.grid); !ok {
					continue
				}
				for columns := uint(1); columns < 16; columns++ {
					if bits.OnesCount(columns) == terms {
						if f, ok := combination(p, q, columns, obs, vals); ok {
							out = append(out, f)
						}
					}
				}
			}
		}
	}
	return out
}

// combination finds the factors of those terms among p·q, p, q and 1 whose bits are set in columns.
func combination(p, q *form, columns uint, obs []env, vals []int64) (form, bool) {
	row := func(e *env) (list []int64) {
		x, _ := p.Eval(e)
		y, _ := q.Eval(e)
		for i, v := range [4]int64{x * y, x, y, 1} {
			if columns>>i&1 != 0 {
				list = append(list, v)
			}
		}
		return list
	}
	n := bits.OnesCount(columns)
	var lines [][]*big.Rat // rows of the system of equations, solved so far
	var at []int           // by row of lines: column of its leading 1
	for i := 0; i < len(obs) && len(lines) < n; i++ {
		l := make([]*big.Rat, n+1)
		for k, v := range append(row(&obs[i]), vals[i]) {
			l[k] = new(big.Rat).SetInt64(v)
		}
		for k, m := range lines {
			factor := new(big.Rat).Set(l[at[k]])
			for c := range l {
				l[c].Sub(l[c], new(big.Rat).Mul(factor, m[c]))
			}
		}
		c := slices.IndexFunc(l[:n], func(x *big.Rat) bool { return x.Sign() != 0 })
		if c < 0 {
			if l[n].Sign() != 0 {
				return form{}, false
			}
			continue
		}
		inverse := new(big.Rat).Inv(l[c])
		for k := range l {
			l[k].Mul(l[k], inverse)
		}
		lines, at = append(lines, l), append(at, c)
	}
	if len(lines) < n {
		return form{}, false // the equations don't determine the factors
	}
	factors := make([]int64, n)
	for i := n - 1; i >= 0; i-- {
		v := new(big.Rat).Set(lines[i][n])
		for k := i + 1; k < n; k++ {
			v.Sub(v, new(big.Rat).Mul(lines[i][at[k]], new(big.Rat).SetInt64(factors[at[k]])))
		}
		if !v.IsInt() || !v.Num().IsInt64() || v.Sign() == 0 {
			return form{}, false
		}
		factors[at[i]] = v.Num().Int64()
	}
	var sum []*expr.Expr
	for i, of := range [4]*expr.Expr{expr.Product(p.Expr, q.Expr), p.Expr, q.Expr, expr.Number(1)} {
		if columns>>i&1 != 0 {
			sum = append(sum, expr.Product(expr.Number(factors[len(sum)]), of))
		}
	}
	f := form{Expr: expr.Sum(sum...), grid: max(p.grid, q.grid)}
	return f, holds(&f, obs, vals)
}
