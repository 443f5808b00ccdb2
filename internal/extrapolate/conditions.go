package extrapolate

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// logical reports whether all values are 0 or 1.
func logical(vals []int64) bool {
	return !slices.ContainsFunc(vals, func(v int64) bool { return v != 0 && v != 1 })
}

// bitsOf returns n bits; bit i is set if of(i) is true.
func bitsOf(n int, of func(i int) bool) []uint64 {
	list := make([]uint64, (n+63)/64)
	for i := range n {
		if of(i) {
			list[i/64] |= 1 << (i % 64)
		}
	}
	return list
}

// columns returns two sets of bits for each of tests: the observations for which it holds, and those for which it
// doesn't.
func columns(obs []env) [][2][]uint64 {
	at := make([]*truth, len(obs))
	for i := range obs {
		at[i] = truthAt(&obs[i])
	}
	list := make([][2][]uint64, len(tests))
	for t := range list {
		list[t][0] = bitsOf(len(obs), func(i int) bool { return at[i].holds(t) })
		list[t][1] = bitsOf(len(obs), func(i int) bool { return !at[i].holds(t) })
	}
	return list
}

// pairsOfTests looks for two of tests or nots that both hold exactly where the value is 1, or at least one of which
// does. If no pair fits, the first or last iteration may be an exception.
func pairsOfTests(obs []env, vals []int64) (out []form) {
	if !logical(vals) {
		return nil
	}
	wanted := bitsOf(len(vals), func(i int) bool { return vals[i] != 0 })
	var both []*form
	var where [][]uint64
	highest, in := highestOf(obs), withinOf(obs)
	for i, c := range columns(obs) {
		if tests[i].from > highest || tests[i].within&^in != 0 {
			continue
		}
		both, where = append(both, &tests[i], &nots[i]), append(where, c[0], c[1])
	}
	pairs := func(care []uint64) (out []form) {
		for i, a := range both {
			for k, b := range both[:i] {
				grid, ok := sharedGrid(a.grid, b.grid)
				if !ok {
					continue
				}
				and, or := true, true
				for w, x := range wanted {
					and = and && (where[i][w]&where[k][w]^x)&care[w] == 0
					or = or && ((where[i][w]|where[k][w])^x)&care[w] == 0
				}
				if and {
					out = append(out, form{Expr: expr.And(a.Expr, b.Expr), grid: grid})
				}
				if or {
					out = append(out, form{Expr: expr.Or(a.Expr, b.Expr), grid: grid})
				}
			}
		}
		return out
	}
	if out = pairs(bitsOf(len(vals), func(int) bool { return true })); len(out) > 0 {
		return out
	}
	for i, f := range both {
		if i%2 == 0 || !slices.Contains([]string{"!(i == 0)", "!(i == n - 1)"}, f.String()) {
			continue
		}
		within := true
		for w, x := range wanted {
			within = within && x&^where[i][w] == 0
		}
		if !within || slices.Equal(where[i], wanted) {
			continue
		}
		for _, p := range pairs(where[i]) {
			out = append(out, form{Expr: expr.And(f.Expr, p.Expr), grid: p.grid})
		}
	}
	return simplest(out)
}

// splits looks for a test that separates two kinds of observations. One kind has a simple form, the other a simple form
// or a product of shares.
func splits(obs []env, vals []int64) (out []form) {
	at := make([]*truth, len(obs))
	for i := range obs {
		at[i] = truthAt(&obs[i])
	}
	highest, in := highestOf(obs), withinOf(obs)
	for i := range tests {
		t := &tests[i]
		if t.from > highest || t.within&^in != 0 {
			continue
		}
		var o [2][]env
		var v [2][]int64
		for k := range obs {
			x := 0
			if at[k].holds(i) {
				x = 1
			}
			o[x], v[x] = append(o[x], obs[k]), append(v[x], vals[k])
		}
		if len(o[0]) < 2 || len(o[1]) < 2 {
			continue
		}
		no, yes := simply(o[0], v[0]), simply(o[1], v[1])
		switch {
		case len(no) == 0 && len(yes) == 0:
			continue
		case len(no) == 0:
			no = shares2(o[0], v[0])
		case len(yes) == 0:
			yes = shares2(o[1], v[1])
		}
		if len(no) == 0 || len(yes) == 0 {
			continue
		}
		said := [2]float64{evidence(o[0], v[0]), evidence(o[1], v[1])}
		for a := range no {
			for b := range yes {
				x, y := no[a], yes[b]
				grid, ok := sharedGrid(t.grid, x.grid, y.grid)
				if !ok {
					continue
				}
				weak := !x.likely(said[0]) || !y.likely(said[1]) || !t.UsesVariable(expr.VariableRank, expr.VariableLoopIteration) && (x.few(o[0], v[0]) || y.few(o[1], v[1]))
				out = append(out, form{Expr: expr.Conditional(t.Expr, y.Expr, x.Expr), grid: grid, weak: weak})
			}
		}
	}
	return simplest(out)
}

// few reports whether a form that depends only on the number of ranks was fitted to too few runs. Any constant fits one
// run, and any line fits two.
func (f *form) few(obs []env, vals []int64) bool {
	runs := make(map[int64]int64)
	for i, e := range obs {
		if v, known := runs[e[expr.VariableRankCount]]; known && v != vals[i] {
			return false
		}
		runs[e[expr.VariableRankCount]] = vals[i]
	}
	_, number := f.Constant()
	return !bare[f.String()] && (len(runs) < 2 || !number && len(runs) < 3)
}

// muchLonger is how many bits longer than the shortest form with a condition another may be; still longer ones are
// ignored. With many forms tried, some long ones fit by chance.
const (
	muchLonger = 8
	bareLonger = 12 // the same limit for listed forms, which have no fitted numbers
)

func simplest(list []form) []form { return shorter(list, muchLonger) }

// shorter returns the forms whose descriptions are at most more bits longer than the shortest one.
func shorter(list []form, more float64) []form {
	shortest := math.Inf(1)
	for i := range list {
		shortest = min(shortest, list[i].DescriptionBits())
	}
	return slices.DeleteFunc(list, func(f form) bool { return f.DescriptionBits() > shortest+more })
}
