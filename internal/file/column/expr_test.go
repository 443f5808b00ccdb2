package column

import (
	"math/rand/v2"
	"testing"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// A form has the values of its formula.
func TestExpr(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seen := make(map[Kind]int)
	for range 20000 {
		kind := []Kind{KindConst, KindRankPlus, KindRing, KindXor, KindMixedRadix, KindBlockRing, KindBlockProduct, KindLinear, KindScaledRing, KindPlane}[r.IntN(10)]
		if kind != KindMixedRadix && kind < kinds && r.IntN(3) == 0 {
			kind |= KindFlagEdge
		}
		form := Form{Kind: kind}
		for c := range kind.CoefficientCount() {
			lo, hi := kind.bounds(c)
			form.Coefficients[c] = max(lo, -30) + r.Int64N(min(hi, 40)-max(lo, -30)+1)
		}
		if kind == KindPlane && form.Coefficients[0] < 1 {
			continue
		}
		if kind.base() == KindBlockProduct { // negative widths are in no file that was written
			form.Coefficients[sMore1], form.Coefficients[sMore2] = max(form.Coefficients[sMore1], 0), max(form.Coefficients[sMore2], 0)
		}
		size := 1 + r.Int64N(40)
		rank := r.Int64N(size)
		e := form.Expr(expr.Number)
		got, ok := e.Eval(&expr.VariableValues{expr.VariableRankCount: size, expr.VariableRank: rank})
		if want := form.Eval(rank, size); !ok || got != want {
			t.Fatalf("%v of rank %d of %d: %s is %d, want %d", form, rank, size, e, got, want)
		}
		seen[kind]++
	}
	if len(seen) != 16 {
		t.Errorf("%d kinds", len(seen))
	}
}
