package extrapolate

import (
	"math/bits"
	"testing"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// A knownValues is values that programs have, by iteration of a loop if steps is not nil; -1: no value.
type knownValues struct {
	name  string
	of    func(ranks, rank, i int64) int64
	steps func(ranks int64) int64
	sizes []int64
	at    []int64 // where it must be known
}

func knowns() []knownValues {
	any, powers := []int64{4, 6, 8, 9, 12, 16}, []int64{2, 4, 8, 16}
	log := func(n int64) int64 { return int64(bits.Len64(uint64(n - 1))) }
	inside := func(r, ranks int64) int64 {
		if r < 0 || r >= ranks {
			return -1
		}
		return r
	}
	tournament := func(ranks, rank, i int64) int64 { // the last one stays, for even numbers
		n := ranks - 1
		for q := range n {
			switch {
			case (rank+q)%n == i && rank < n && q != rank:
				return q
			case 2*q%n == i && rank == n:
				return q
			}
		}
		return n
	}
	return []knownValues{
		{"a ring in the order of Gray codes", func(ranks, rank, _ int64) int64 {
			at := int64(0)
			for g := rank; g > 0; g >>= 1 {
				at ^= g
			}
			next := (at + 1) % ranks
			return next ^ next>>1
		}, nil, powers, []int64{32, 64}},
		{"an odd-even transposition", func(ranks, rank, i int64) int64 {
			if (rank+i)%2 != 0 {
				return inside(rank-1, ranks)
			}
			return inside(rank+1, ranks)
		}, func(ranks int64) int64 { return ranks }, any, []int64{24, 25}},
		{"a tournament", tournament, func(ranks int64) int64 { return ranks - 1 }, []int64{4, 6, 8, 10, 12, 16}, []int64{24, 30}},
		{"doubling with a fold at the low end", func(ranks, rank, i int64) int64 {
			whole := int64(1) << (bits.Len64(uint64(ranks)) - 1)
			rest := ranks - whole
			at := rank - rest
			if rank < 2*rest {
				if rank%2 == 0 {
					return -1
				}
				at = rank / 2
			}
			if 1<<i >= whole {
				return -1
			}
			if at ^= 1 << i; at < rest {
				return 2*at + 1
			}
			return at + rest
		}, log, any, []int64{24, 25, 36}},
		{"halves of 4096", func(_, _, i int64) int64 { return 4096 >> (i + 1) }, log, powers, []int64{32, 64}},
		{"a program with one more step for odd numbers", func(ranks, _, _ int64) int64 { return ranks % 2 }, nil, any, []int64{24, 25}},
	}
}

// What programs do is found by its values on a few numbers of ranks.
func TestFamilies(t *testing.T) {
	makeLists()
	for _, f := range knowns() {
		seen := func(sizes []int64) (obs []env, vals []int64) {
			for _, n := range sizes {
				steps := int64(1)
				if f.steps != nil {
					steps = f.steps(n)
				}
				for rank := range n {
					for i := range steps {
						e := env{expr.VariableRankCount: n, expr.VariableRank: rank}
						if f.steps != nil {
							e[expr.VariableLoopIteration], e[expr.VariableLoopTripCount] = i, steps
						}
						if v := f.of(n, rank, i); v >= 0 {
							obs, vals = append(obs, e), append(vals, v)
						}
					}
				}
			}
			return obs, vals
		}
		m := &pattern{program: &program{}, memo: make(map[string]*tried)}
		for _, n := range f.sizes {
			m.runs = append(m.runs, &run{ranks: int(n)})
		}
		obs, vals := seen(f.sizes)
		got := m.fit("it", obs, vals)
		obs, vals = seen(f.at)
		for i := range obs {
			if v, err := got.value(&obs[i]); err != nil || v != vals[i] {
				t.Errorf("%s: %d, %v on rank %d of %d in iteration %d, want %d by %v", f.name, v, err, obs[i][expr.VariableRank], obs[i][expr.VariableRankCount], obs[i][expr.VariableLoopIteration], vals[i], got.forms)
				break
			}
		}
	}
}
