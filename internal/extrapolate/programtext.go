package extrapolate

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
)

// numbers looks for a formula of at, which numbers the iterations, if the value in each case is a constant.
func (w *programmer) numbers(cases []proxy.ValueCase, at *expr.Expr) (*expr.Expr, bool) {
	var list []int64
	for _, c := range cases {
		v, ok := c.Value.Constant()
		if !ok {
			return nil, false
		}
		for _, n := range c.WhenEqualTo {
			for int64(len(list)) <= n {
				list = append(list, 0)
			}
			list[n] = v
		}
	}
	even := len(list) > 1
	for i := range list {
		even = even && list[i] == list[0]+int64(i)*(list[1]-list[0])
	}
	if even {
		return expr.Sum(expr.Number(list[0]), scaled(list[1]-list[0], at, 0)), true
	}
	return w.s.ListedElement(list, at), true
}

// formula returns a fitted value's formula. A value that the traces don't determine becomes a parameter.
func (w *programmer) formula(f fitted, inLoop bool) *expr.Expr {
	if f.guard != nil {
		guard := f.guard.condition.Replace(func(v expr.Variable) *expr.Expr {
			switch v {
			case expr.VariableLoopIteration:
				return proxy.LoopIterationExpr(f.guarded)
			case expr.VariableLoopTripCount:
				return proxy.LoopTripCountExpr(f.guarded)
			}
			return expr.VariableExpr(v)
		})
		f.guard = nil
		return provided(guard, w.formula(f, inLoop))
	}
	forms := f.forms
	if !inLoop { // outside of loops the iteration is 0: prefer forms without it
		if list := slices.DeleteFunc(slices.Clone(forms), func(f form) bool {
			return f.UsesVariable(expr.VariableLoopIteration, expr.VariableLoopTripCount, expr.VariableOuterIteration)
		}); len(list) > 0 {
			forms = list
		}
	}
	if f.wrong == "" && len(forms) == 1 {
		return forms[0].Expr
	}
	switch {
	case f.spare && f.wrong == "" && len(forms) > 0:
		return forms[0].Expr
	case f.spare && len(f.vals) > 0: // any address in the program's memory will do
		return expr.Number(slices.Min(f.vals))
	case f.spare:
		return expr.Number(f.least)
	}
	return once.GetOrMake(w.open, f.tried, func() *expr.Expr {
		switch {
		case len(forms) == 0:
			return w.lookUp(f)
		case f.wrong != "":
			return w.s.TracedRankCountsOnly(f.text, f.wrong, forms[0].Expr)
		}
		var even []*expr.Expr
		for i := range forms {
			if !f.even {
				break
			}
			if even = append(even, expr.Number(0)); forms[i].even {
				even[i] = forms[i].exact
			}
		}
		return w.s.AgreedFormula(f.text, formulasOf(forms), even)
	})
}

// provided returns e where a condition holds, else 0.
func provided(condition, e *expr.Expr) *expr.Expr {
	if e.IsNumber(1) {
		return condition
	}
	return expr.Conditional(condition, e, expr.Number(0))
}

// guarding makes a formula 0 where the guard of the loop around the value does not hold.
func (f *fitted) guarding(e *expr.Expr) *expr.Expr {
	if f.guard == nil {
		return e
	}
	return provided(f.guard.condition.Expr, e)
}

func formulasOf(forms []form) (list []*expr.Expr) {
	for i := range forms {
		list = append(list, forms[i].Expr)
	}
	return list
}

// lookUp returns a lookup in a table of the observed values, for a value without a form.
func (w *programmer) lookUp(f fitted) *expr.Expr {
	columns := []expr.Variable{expr.VariableRankCount, expr.VariableRank, expr.VariableLoopIteration, expr.VariableLoopTripCount, expr.VariableOuterIteration, expr.VariableListIndex, expr.VariableListLength}
	table := func() (rows [][]int64, ok bool) {
		known := make(map[string]int64)
		for i := range f.obs {
			var row []int64
			for _, c := range columns {
				row = append(row, f.obs[i][c])
			}
			v, seen := known[fmt.Sprint(row)]
			if seen && v != f.vals[i] {
				return nil, false
			}
			if known[fmt.Sprint(row)] = f.vals[i]; !seen {
				rows = append(rows, append(row, f.vals[i]))
			}
		}
		return rows, true
	}
	for i := len(columns) - 1; i > 0; i-- { // keep only the columns that the value depends on
		all := columns
		columns = slices.Delete(slices.Clone(columns), i, i+1)
		if _, ok := table(); !ok {
			columns = all
		}
	}
	rows, _ := table()
	slices.SortFunc(rows, slices.Compare)
	return w.s.TableLookup(f.text, columns, rows)
}

// bound returns formulas whose maximum is an upper bound. Without a form the bound grows with the number of ranks.
func (w *programmer) bound(b *bounds) (list []*expr.Expr) {
	for _, e := range formulasOf(w.m.fit("", b.obs, b.vals).forms) {
		list = append(list, e.Replace(func(v expr.Variable) *expr.Expr {
			if v == expr.VariableRank || v == expr.VariableRankCount {
				return expr.VariableExpr(v)
			}
			return expr.Number(0)
		}))
	}
	if len(list) == 0 {
		list = append(list, expr.MustParse("ceil_div(%d * ranks, %d)", slices.Max(b.vals), w.m.runs[0].ranks))
	}
	return append(list, expr.Number(slices.Max(b.vals))) // a form may be too small where it was not observed
}
