package extrapolate

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/stats"
)

// An axis is a rule by which the parts of a total are numbered: by rank, by index in a list, by iteration, or by
// coordinate in a grid.
type axis struct {
	division
	where  where
	others bool // the parts are other ranks', or leave a rank out: products of shares don't use this axis
}

// where is which values an axis applies to: all (anywhere), elements of lists (inList), or values in a loop (inLoop).
type where int

const (
	anywhere where = iota
	inList
	inLoop
)

// axesOf returns the axes that apply to values with these observations.
func axesOf(obs []env) (out []*axis) {
	list := slices.ContainsFunc(obs, func(e env) bool { return e[expr.VariableListIndex] > 0 })
	loop := slices.ContainsFunc(obs, func(e env) bool { return e[expr.VariableLoopIteration] > 0 })
	for i := range axes {
		if w := axes[i].where; w == anywhere || w == inList && list || w == inLoop && loop {
			out = append(out, &axes[i])
		}
	}
	return out
}

// A spreading is a rule for dividing a total into parts: the names of the functions that give the size of a part's
// share and where it starts, and these functions in Go.
type spreading struct {
	size, start     string
	sizeOf, startOf func(total, parts, number int64) int64
}

// shared returns the form of a part's share of a total along the axis, or of its start. function is a name such as
// "share" or "share_start".
func (a *axis) shared(function string, total int64) form {
	return form{Expr: expr.CallFunction(function, expr.Number(total), a.number, a.division.at), grid: a.grid}
}

// mostHalo is the largest number of elements by which a side of a block may exceed the block's share.
const mostHalo = 2

// spreads looks for forms m·(share + halo), and for m times the start of a share. The values of the first part limit
// the totals that are tried.
func spreads(obs []env, vals []int64) (out []form) {
	all := divisor(vals)
	if all == 0 {
		return nil
	}
	for _, a := range axesOf(obs) {
		n, at := a.of(&obs[0])
		if n < 1 {
			continue
		}
		first, start := a.ends(obs, vals, false), a.ends(obs, vals, true)
		for _, m := range multipliers(all, len(out) > 0) {
			for halo := range int64(mostHalo + 1) {
				low, high := totalsOfEnds(first, m, halo)
				for total := low; total <= high; total++ {
					for s, way := range spreadings {
						// Function shares looks for this case.
						if s == 0 && halo == 0 && a.where == anywhere || m*(way.sizeOf(total, n, at)+halo) != vals[0] {
							continue
						}
						if f := product([]form{a.shared(way.size, total)}, m, halo); holds(&f, obs, vals) {
							out = append(out, f)
						}
					}
				}
			}
			low, high := totalsOfEnds(start, m, 0)
			if a.others {
				high = 0
			}
			for total := low; total <= high; total++ {
				for _, way := range spreadings {
					if m*way.startOf(total, n, at) != vals[0] {
						continue
					}
					if f := product([]form{a.shared(way.start, total)}, m, 0); holds(&f, obs, vals) {
						f.of = nil
						out = append(out, f)
					}
				}
			}
		}
	}
	return out
}

// mostBlock is the largest number of elements that are tried as a block of a block-cyclic distribution.
const mostBlock = 64

// cyclic looks for m times a part's share of a total in a block-cyclic distribution (numroc), along an axis of which
// each run shows all parts.
func cyclic(obs []env, vals []int64) (out []form) {
	all := divisor(vals)
	if all == 0 {
		return nil
	}
	for _, a := range axesOf(obs) {
		if a.grid >= 0 || a.where == inLoop {
			continue
		}
		sum := wholeOf(a, obs, vals)
		if sum <= 0 {
			continue
		}
		for _, m := range multipliers(all, len(out) > 0) {
			for block := int64(2); block <= mostBlock; block++ {
				f := product([]form{{Expr: expr.CallFunction("numroc", expr.Number(sum/m), expr.Number(block), a.number, a.division.at), grid: a.grid}}, m, 0)
				if f.of = nil; holds(&f, obs, vals) {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// wholeOf returns the sum over all parts along an axis, if vals are shares of it; 0 if some part was not seen, or
// runs differ.
func wholeOf(a *axis, obs []env, vals []int64) (whole int64) {
	type run struct {
		sum  int64
		seen map[int64]int64
	}
	runs := make(map[int64]*run)
	for i := range obs {
		n, at := a.of(&obs[i])
		r := once.GetOrMake(runs, n, func() *run { return &run{seen: make(map[int64]int64)} })
		if v, known := r.seen[at]; n < 1 || at < 0 || at >= n || known && v != vals[i] {
			return 0
		} else if !known {
			r.seen[at] = vals[i]
			r.sum += vals[i]
		}
	}
	for n, r := range runs {
		if int64(len(r.seen)) != n || whole != 0 && r.sum != whole {
			return 0
		}
		whole = r.sum
	}
	return whole
}

// divisor returns the greatest common divisor of all values; 0 if some are negative, or all are 0.
func divisor(vals []int64) (all int64) {
	for _, v := range vals {
		if v < 0 {
			return 0
		}
		all = stats.GCD(all, v)
	}
	return all
}

// mostTotals limits the totals that are tried. If more of them fit the values of the first part, no total is tried.
const mostTotals = 256

// An end is an observation of the first parts: of n parts, they have the value v together.
type end struct{ n, parts, v int64 }

// ends lists the values of the first part that was observed, for each number of parts. With starts, a value is where
// that part's share starts: the sum over the parts before it.
func (a *axis) ends(obs []env, vals []int64, starts bool) (out []end) {
	first := int64(math.MaxInt64)
	for i := range obs {
		if n, at := a.of(&obs[i]); n > 0 && (at > 0 || !starts) {
			first = min(first, at)
		}
	}
	for i := range obs {
		n, at := a.of(&obs[i])
		if e := (end{n, 1, vals[i]}); n > 0 && at == first && !slices.ContainsFunc(out, func(o end) bool { return o.n == n && o.v == e.v }) {
			if starts {
				e.parts = at
			}
			out = append(out, e)
		}
	}
	return out
}

// totalsOfEnds returns the range of totals for which the first parts' shares, times m, can have the values in list. The
// range is empty if it would be too large.
func totalsOfEnds(list []end, m, halo int64) (low, high int64) {
	low, high = 1, math.MaxInt64
	for _, e := range list {
		v := e.v/m - halo
		low, high = max(low, (v-e.parts)*e.n/e.parts), min(high, (v+e.parts)*e.n/e.parts)
	}
	if high-low > mostTotals {
		return 1, 0
	}
	return low, high
}

// blocks looks for m times the product of a block's sides, in a grid or between two ranks: the size of a face, or of
// the whole block. Each side is a share of its own total, and all may be longer by a halo. The sum of these products
// over the ranks of a run is the product of the totals.
func blocks(obs []env, vals []int64) (out []form) {
	all := divisor(vals)
	if all == 0 || slices.Contains(vals, 0) {
		return nil
	}
	for _, of := range combined(axesOf(obs)) {
		runs := added(of, obs, vals)
		if runs == nil {
			continue
		}
		divisors := divisorsOf(runs[0].sum)
		for _, m := range multipliers(all, len(out) > 0) {
			for halo := range int64(mostHalo + 1) {
				for _, totals := range totalsOf(runs, m, halo, divisors) {
					for _, way := range spreadings {
						first := m
						for d, a := range of {
							n, at := a.of(&obs[0])
							first *= way.sizeOf(totals[d], n, at) + halo
						}
						if first != vals[0] {
							continue
						}
						var shares []form
						for d, a := range of {
							shares = append(shares, a.shared(way.size, totals[d]))
						}
						if f := product(shares, m, halo); holds(&f, obs, vals) {
							out = append(out, f)
						}
					}
				}
			}
		}
	}
	return out
}

// combined lists the sets of axes that a block may extend along: those of one grid, or the ranks and a list.
func combined(list []*axis) (out [][]*axis) {
	for g := range expr.Grids() {
		for _, w := range []where{anywhere, inList} {
			out = append(out, subsets(slices.DeleteFunc(slices.Clone(list), func(a *axis) bool { return a.grid != g || a.where != w }))...)
		}
	}
	return append(out, subsets(slices.DeleteFunc(slices.Clone(list), func(a *axis) bool { return a.grid >= 0 || a.where != anywhere || a.others }))...)
}

// subsets lists the subsets of two axes or more.
func subsets(list []*axis) (out [][]*axis) {
	for set := range 1 << len(list) {
		var some []*axis
		for i := range list {
			if set>>i&1 != 0 {
				some = append(some, list[i])
			}
		}
		if len(some) > 1 {
			out = append(out, some)
		}
	}
	return out
}

// An addition is the sum of a run's values over the blocks of data, each block counted once. sides are the numbers of
// blocks along each axis.
type addition struct {
	sides []int64
	sum   int64
}

// added sums the values of each run over the positions along the axes. It returns nil if values depend on more than the
// position, or if some position was not seen.
func added(of []*axis, obs []env, vals []int64) (out []addition) {
	index := make(map[int64]int)
	var seen []map[[3]int64]int64
	for i := range obs {
		e := &obs[i]
		k, fresh := once.NumberOf(index, e[expr.VariableRankCount])
		if fresh {
			out, seen = append(out, addition{}), append(seen, make(map[[3]int64]int64))
			for _, p := range of {
				n, _ := p.of(e)
				out[k].sides = append(out[k].sides, n)
			}
		}
		var at [3]int64
		for d, p := range of {
			var n int64
			if n, at[d] = p.of(e); at[d] >= n {
				return nil
			}
		}
		v, known := seen[k][at]
		if known && v != vals[i] {
			return nil
		}
		if !known {
			seen[k][at] = vals[i]
			out[k].sum += vals[i]
		}
	}
	for k := range out {
		places := 1
		for _, n := range out[k].sides {
			places *= int(n)
		}
		if len(seen[k]) != places {
			return nil
		}
	}
	return out
}

// mostSum is the largest sum of values whose divisors are tried as totals.
const mostSum = 1 << 40

func divisorsOf(n int64) (out []int64) {
	if n > mostSum {
		return nil
	}
	for d := int64(1); d*d <= n; d++ {
		if n%d == 0 {
			out = append(out, d)
			if d*d < n {
				out = append(out, n/d)
			}
		}
	}
	return out
}

// totalsOf lists the totals, one along each axis, that may have been divided into blocks. runs has the sum of all
// blocks' sizes in each run.
func totalsOf(runs []addition, m, halo int64, divisors []int64) (out [][]int64) {
	first := &runs[0]
	if first.sum%m != 0 {
		return nil
	}
	totals := make([]int64, len(first.sides))
	var take func(d int, left int64)
	try := func(d int, factor, left int64) {
		if totals[d] = factor - halo*first.sides[d]; totals[d] > 0 {
			take(d+1, left)
		}
	}
	take = func(d int, left int64) {
		switch {
		case d < len(totals)-1:
			for _, f := range divisors {
				if left%f == 0 {
					try(d, f, left/f)
				}
			}
		case d < len(totals):
			try(d, left, 1)
		default:
			for _, r := range runs {
				sum := m
				for i, n := range r.sides {
					sum *= totals[i] + halo*n
				}
				if sum != r.sum {
					return
				}
			}
			out = append(out, slices.Clone(totals))
		}
	}
	take(0, first.sum/m)
	return out
}

// product returns the form m·(share + halo)·(share + halo)…, with a factor for each of shares.
func product(shares []form, m, halo int64) form {
	factors := []*expr.Expr{expr.Number(m)}
	for i := range shares {
		factors = append(factors, scaled(1, shares[i].Expr, halo))
	}
	return form{Expr: expr.Product(factors...), grid: shares[0].grid, of: shares}
}
