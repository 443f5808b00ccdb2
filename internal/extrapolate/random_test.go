package extrapolate

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/expr"
)

var (
	trials   = flag.Int("trials", 600, "random forms that are looked for")
	programs = flag.Int("programs", 30, "random programs that are extrapolated")
	seed     = flag.Uint64("seed", 6, "of the forms")
)

// some is one of a list.
func some[T any](r *rand.Rand, list []T) *T { return &list[r.IntN(len(list))] }

// drawn is a random form of those that are tried, and what it would be called.
func drawn(r *rand.Rand) form {
	line := func(u *form) form {
		return form{Expr: scaled(1+r.Int64N(16), u.Expr, r.Int64N(100)-10), grid: u.grid}
	}
	shared := func() form {
		p := some(r, parts)
		return product([]form{p.share(50 + r.Int64N(5000))}, []int64{1, 1, 4, 8}[r.IntN(4)], 0)
	}
	simple := func() form {
		switch r.IntN(3) {
		case 0:
			return *some(r, atoms)
		case 1:
			return line(some(r, terms))
		}
		return shared()
	}
	for {
		var f form
		switch r.IntN(8) {
		case 0:
			f = *some(r, atoms)
		case 1:
			f = *some(r, tests)
		case 2:
			f = line(some(r, terms))
		case 3:
			f = line(&digits[r.IntN(3*7)]) // groups of up to 8
		case 4:
			f = shared()
		case 5:
			a := some(r, axes)
			f = product([]form{a.shared(some(r, spreadings).size, 50+r.Int64N(5000))}, 1+r.Int64N(8), r.Int64N(mostHalo+1))
		case 6:
			u, w := some(r, terms), some(r, terms)
			f = form{Expr: expr.Sum(scaled(1+r.Int64N(9), u.Expr, 0), scaled(1+r.Int64N(9), w.Expr, r.Int64N(20))), grid: max(u.grid, w.grid)}
			if _, ok := sharedGrid(u.grid, w.grid); !ok {
				continue
			}
		case 7:
			t, x, y := some(r, tests), simple(), simple()
			grid, ok := sharedGrid(t.grid, x.grid, y.grid)
			if !ok {
				continue
			}
			f = form{Expr: expr.Conditional(t.Expr, x.Expr, y.Expr), grid: grid}
		}
		if !f.UsesVariable(expr.VariableListIndex, expr.VariableListLength, expr.VariableOuterIteration) {
			return f
		}
	}
}

// seenOn are the places of runs on numbers of ranks: in a loop of steps iterations if the form has one.
func seenOn(f *form, steps int64, sizes ...int64) (obs []env) {
	if !f.UsesVariable(expr.VariableLoopIteration, expr.VariableLoopTripCount) {
		steps = 1
	}
	for _, n := range sizes {
		for rank := range n {
			for i := range steps {
				e := env{expr.VariableRankCount: n, expr.VariableRank: rank}
				if steps > 1 {
					e[expr.VariableLoopIteration], e[expr.VariableLoopTripCount] = i, steps
				}
				obs = append(obs, e)
			}
		}
	}
	return obs
}

// traced are numbers of ranks that show what grids and groups there are.
var traced = []int64{9, 12, 16, 18, 20, 24, 25, 27, 30, 36}

// A random form is found by its values on five numbers of ranks, or an equal one, or none: never one that gives other values on others, unless that is
// shorter, so that the five don't show the difference.
func TestRandomForms(t *testing.T) {
	makeLists()
	r := rand.New(rand.NewPCG(5, *seed))
	found, all := 0, 0
	for all < *trials {
		f := drawn(r)
		var sizes []int64
		for _, k := range r.Perm(len(traced))[:5] {
			sizes = append(sizes, traced[k])
		}
		slices.Sort(sizes)
		m := &pattern{program: &program{}, memo: make(map[string]*tried)}
		for _, n := range sizes {
			m.runs = append(m.runs, &run{ranks: int(n)})
		}
		var obs []env
		var vals []int64
		steps := 3 + r.Int64N(4)
		for _, e := range seenOn(&f, steps, sizes...) {
			if v, ok := f.Eval(&e); ok {
				obs, vals = append(obs, e), append(vals, v)
			}
		}
		if len(obs) == 0 || alike(vals) {
			continue
		}
		all++
		got := m.fit("it", obs, vals)
		for i := range got.forms {
			if !holds(&got.forms[i], obs, vals) {
				t.Errorf("%s on %v ranks is not %s", f, sizes, got.forms[i])
			}
		}
		shorter := slices.ContainsFunc(got.forms, func(g form) bool { return g.DescriptionBits() <= f.DescriptionBits() })
		known := true
		for _, e := range seenOn(&f, steps, 48, 50, 64) {
			want, there := f.Eval(&e)
			v, err := got.value(&e)
			if known = known && err == nil; err == nil && there && v != want && !shorter {
				t.Errorf("%s on %v ranks: %d on rank %d of %d, want %d by %v", f, sizes, v, e[expr.VariableRank], e[expr.VariableRankCount], want, got.forms)
				break
			}
		}
		if known {
			found++
		}
	}
	if found < all*2/3 {
		t.Errorf("%d of %d forms are found", found, all)
	}
}
