package extrapolate

import (
	"math/rand/v2"
	"testing"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// fittedTo is what is made of the values that a function has on each rank of some runs.
func fittedTo(of func(ranks, rank int64) int64, sizes ...int64) fitted {
	makeLists()
	m := &pattern{program: &program{}, memo: make(map[string]*tried)}
	var obs []env
	var vals []int64
	for _, n := range sizes {
		m.runs = append(m.runs, &run{ranks: int(n)})
		for rank := range n {
			obs, vals = append(obs, env{expr.VariableRankCount: n, expr.VariableRank: rank}), append(vals, of(n, rank))
		}
	}
	return m.fit("it", obs, vals)
}

// Shares that are equal in all runs stay equal where their total can be divided; else what is left over is not known.
func TestEqualShares(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		total := 144 * (1 + r.Int64N(60)) * []int64{1, 5, 25, 11}[r.IntN(4)]
		f := fittedTo(func(ranks, _ int64) int64 { return total / ranks }, 4, 6, 8, 9, 12, 16)
		for _, n := range []int64{24, 25, 30, 32, 36, 55} {
			v, err := f.value(&env{expr.VariableRankCount: n, expr.VariableRank: 3})
			if total%n == 0 && (err != nil || v != total/n) {
				t.Errorf("%d on %d ranks: %d, %v", total, n, v, err)
			}
			if total%n != 0 && err == nil {
				t.Errorf("%d on %d ranks can't be known, is %d by %v", total, n, v, f.forms)
			}
		}
	}
}

// Blocks of which the last is shorter in all runs are not known where all are equal: programs ask for that.
func TestLastBlock(t *testing.T) {
	f := fittedTo(func(ranks, rank int64) int64 { return expr.FunctionNamed("chunk")(350, ranks, rank) }, 4, 6, 8, 9, 12, 16)
	if v, err := f.value(&env{expr.VariableRankCount: 24, expr.VariableRank: 23}); err != nil || v != 5 {
		t.Errorf("the last of 24 has %d, %v, want 5", v, err)
	}
	if v, err := f.value(&env{expr.VariableRankCount: 25, expr.VariableRank: 3}); err == nil {
		t.Errorf("equal blocks are %d, want none", v)
	}
}
