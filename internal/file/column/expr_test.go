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
		kind := []Kind{Const, Rank, Ring, Xor, Digits, Wrap, Share, Line, Turn, Plane}[r.IntN(10)]
		if kind != Digits && kind < kinds && r.IntN(3) == 0 {
			kind |= Edge
		}
		form := Form{Kind: kind}
		for c := range kind.Coefficients() {
			lo, hi := kind.bounds(c)
			form.C[c] = max(lo, -30) + r.Int64N(min(hi, 40)-max(lo, -30)+1)
		}
		if kind == Plane && form.C[0] < 1 {
			continue
		}
		if kind.base() == Share { // negative widths are in no file that was written
			form.C[sMore1], form.C[sMore2] = max(form.C[sMore1], 0), max(form.C[sMore2], 0)
		}
		size := 1 + r.Int64N(40)
		rank := r.Int64N(size)
		e := form.Expr(expr.Int)
		got, ok := e.Eval(&expr.Env{expr.Ranks: size, expr.Rank: rank})
		if want := form.Eval(rank, size); !ok || got != want {
			t.Fatalf("%v of rank %d of %d: %s is %d, want %d", form, rank, size, e, got, want)
		}
		seen[kind]++
	}
	if len(seen) != 16 {
		t.Errorf("%d kinds", len(seen))
	}
}
