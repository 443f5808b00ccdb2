package column

import "github.com/spoor-hpc/spoor/internal/stats"

// Grids of ranks have borders, where a neighbour is missing and nothing is sent. If N points are distributed to p
// ranks, the first N mod p get one more. Both are conditions on the rank's position in its block of p·d ranks,
// where d is the distance of neighbours.

// Indices of the coefficients of KindBlockRing: the number p of ranks in a block, and the shift c.
const (
	wBlock = iota
	wShift
)

// Indices of the coefficients of KindBlockProduct. With r for the rank, the value is
// mul · (least1 + [r mod block1 < more1]) · (least2 + [r mod block2 < more2]).
// A block of 0 is the whole world.
const (
	sMul = iota
	sBlock1
	sMore1
	sLeast1
	sBlock2
	sMore2
	sLeast2
)

// Indices of the coefficients of KindFlagEdge, which follow those of the kind it is added to. The edge is the first eWidth
// ranks of each block, or the last ones if eSide has sideLast. The value there is eValue, plus the rank if eSide has
// sideRank.
const (
	eBlock = iota
	eWidth
	eSide
	eValue
	edgeCoefficients
)

const (
	sideLast  = 1
	sideRank  = 2
	maxSide   = sideLast | sideRank
	minInside = 3 // least number of values outside of an edge: fewer fit any form
)

// edge returns the coefficients that KindFlagEdge adds.
func (f *Form) edge() []int64 {
	n := coefficients[f.Kind.base()]
	return f.Coefficients[n : n+edgeCoefficients]
}

// WithoutEdge returns the form without the edge.
func (f *Form) WithoutEdge() Form {
	inner := *f
	inner.Kind &^= KindFlagEdge
	return inner
}

// place returns a rank's position in its block, and the block's size. A block of 0 is the whole world.
func place(rank, block, size int64) (at, of int64) {
	if block == 0 {
		block = max(size, 1)
	}
	return rank % block, block
}

// atEdge returns the value at the edge; false if the rank is not at the edge.
func (f *Form) atEdge(rank, size int64) (int64, bool) {
	e := f.edge()
	at, of := place(rank, e[eBlock], size)
	if e[eSide]&sideLast != 0 {
		at = of - 1 - at
	}
	if at >= e[eWidth] {
		return 0, false
	}
	if e[eSide]&sideRank != 0 {
		return int64(uint64(e[eValue]) + uint64(rank)), true
	}
	return e[eValue], true
}

func (f *Form) share(rank, size int64) int64 {
	part := func(block, more, least int64) uint64 {
		if at, _ := place(rank, block, size); at < more {
			return uint64(least) + 1
		}
		return uint64(least)
	}
	return int64(uint64(f.Coefficients[sMul]) * part(f.Coefficients[sBlock1], f.Coefficients[sMore1], f.Coefficients[sLeast1]) * part(f.Coefficients[sBlock2], f.Coefficients[sMore2], f.Coefficients[sLeast2]))
}

// wrap searches for a block size for which all values have the same distance from their ranks, modulo the block.
func (f *Fitter) wrap(m *members, first int) (Form, bool) {
	v, r := m.vals[first], f.ranks[first]
	for _, p := range f.radix {
		if p < 2 || p == f.size || v < 0 || v/p != r/p {
			continue
		}
		form := Form{Kind: KindBlockRing, Coefficients: Coefficients{wBlock: p, wShift: center(v-r, p)}}
		if f.holds(&form, m) {
			return form, true
		}
	}
	return Form{}, false
}

// maxShares is the largest number of KindBlockProduct forms that are kept for a class, to recognise multiples of them.
const maxShares = 8

// blocks searches for a form of KindBlockProduct. Multiples of forms found earlier are recognised; the first form must
// cover all ranks.
func (f *Fitter) blocks(m *members, first int) (Form, bool) {
	if f.ExcludeBlockSizes {
		return Form{}, false
	}
	for i := range f.shares {
		form := f.shares[i]
		unit := form.Eval(f.ranks[first], f.size)
		if unit == 0 || m.vals[first]%unit != 0 {
			continue
		}
		form.Coefficients[sMul] *= m.vals[first] / unit
		if f.holds(&form, m) {
			return form, true
		}
	}
	if int64(len(m.vals)) != f.size || m.skip != nil {
		return Form{}, false
	}
	form, ok := f.product(m)
	if !ok || !f.holds(&form, m) {
		return Form{}, false
	}
	if len(f.shares) < maxShares {
		f.shares = append(f.shares, form)
	}
	return form, true
}

// FoundBlockSizes reports whether block sizes were found, and so whether ExcludeBlockSizes makes a difference.
func (f *Fitter) FoundBlockSizes() bool { return len(f.shares) > 0 }

// product derives the coefficients of KindBlockProduct from the positions where values change, for columns of all
// ranks.
func (f *Fitter) product(m *members) (Form, bool) {
	vals, n := m.vals, len(m.vals)
	// change returns the first index, from "from" on in steps of step, whose value differs from that at from; n if no
	// value does.
	change := func(from, step int) int {
		i := from
		for i < n && vals[i] == vals[from] {
			i += step
		}
		return min(i, n)
	}
	more := change(0, 1)
	if more == n {
		return Form{}, false
	}
	block := change(more, 1)
	form := Form{Kind: KindBlockProduct, Coefficients: Coefficients{sBlock1: int64(block), sMore1: int64(more), sLeast2: 1}}
	if block == n {
		form.Coefficients[sBlock1] = 0
	}
	both, second := vals[0], vals[more]
	mul := both - second
	if block < n && n%block != 0 {
		return Form{}, false
	}
	if other := change(0, block); other < n && other+more < n {
		end := change(other, block)
		one, none := vals[other], vals[other+more]
		mul -= one - none
		if mul == 0 || (one-none)%mul != 0 || both == second || second%(both-second) != 0 {
			return Form{}, false
		}
		form.Coefficients[sLeast1], form.Coefficients[sLeast2] = second/(both-second), (one-none)/mul
		form.Coefficients[sBlock2], form.Coefficients[sMore2] = int64(end), int64(other)
		if end == n {
			form.Coefficients[sBlock2] = 0
		}
	} else {
		if second%mul != 0 {
			return Form{}, false
		}
		form.Coefficients[sLeast1] = second / mul
	}
	form.Coefficients[sMul] = mul
	return form, true
}

// border finds a form that holds except at an edge, as in KindFlagEdge.
func (f *Fitter) border(vals []int64) (Form, bool) {
	n := len(vals)
	if n <= minInside {
		return Form{}, false
	}
	least := vals[0]
	for _, v := range vals {
		least = min(least, v)
	}
	last := n - 1
	type candidate struct {
		value int64
		side  int64
	}
	list := []candidate{{least, 0}, {vals[0], 0}, {vals[last], 0}, {vals[0] - f.ranks[0], sideRank}, {vals[last] - f.ranks[last], sideRank}}
	for i, c := range list {
		if i > 0 && i < 3 && list[i-1].value == c.value {
			continue
		}
		at := func(i int) bool {
			v := vals[i]
			if c.side != 0 {
				v -= f.ranks[i]
			}
			return v == c.value
		}
		for _, e := range f.edges(n, at) {
			e[eValue] = c.value
			e[eSide] |= c.side
			if form, ok := f.inside(vals, e, at); ok {
				return form, true
			}
		}
	}
	return Form{}, false
}

// edges returns the coefficients of the edges that may contain exactly the members selected by at.
func (f *Fitter) edges(n int, at func(i int) bool) (list [][edgeCoefficients]int64) {
	var turns []int64
	state := at(0)
	for i := 1; i < n && len(turns) < 4; i++ {
		if now := at(i); now != state {
			state = now
			turns = append(turns, f.round(f.ranks[i-1], f.ranks[i]))
		}
	}
	if len(turns) == 0 {
		return nil
	}
	turns = append(turns, f.size)
	add := func(block, width, side int64) {
		if block >= 2 && width >= 1 && width < block && block <= f.size {
			if block == f.size {
				block = 0
			}
			list = append(list, [edgeCoefficients]int64{eBlock: block, eWidth: width, eSide: side})
		}
	}
	if at(0) {
		add(turns[1], turns[0], 0)
		if len(turns) > 3 {
			add(turns[2]-turns[0], turns[2]-turns[1], 0)
			add(turns[3]-turns[1], turns[2]-turns[1], 0)
			add(turns[2]-turns[0], turns[2]-turns[1], sideLast)
		}
		return list
	}
	add(turns[1], turns[1]-turns[0], sideLast)
	add(turns[0], turns[1]-turns[0], 0)
	if len(turns) > 3 {
		add(turns[2]-turns[0], turns[1]-turns[0], sideLast)
		add(turns[2]-turns[0], turns[1]-turns[0], 0)
	}
	return list
}

// round returns the number above a and up to b that is most likely the begin of a block: the one with the largest
// common divisor with the world size.
func (f *Fitter) round(a, b int64) int64 {
	best, most := b, uint64(0)
	for c := b; c > a && c > b-maxGap; c-- {
		if g := stats.GCD(uint64(c), uint64(f.size)); g > most {
			best, most = c, g
		}
	}
	return best
}

// maxGap is the largest number of candidates that round examines.
const maxGap = 256

// inside fits a form to the members outside of an edge.
func (f *Fitter) inside(vals []int64, e [edgeCoefficients]int64, at func(i int) bool) (Form, bool) {
	n := len(vals)
	probe := Form{Kind: KindFlagEdge} // an edge of KindConst, whose one coefficient precedes those of the edge
	copy(probe.edge(), e[:])
	rest := members{vals: vals, skip: make([]bool, n)}
	for i, r := range f.ranks {
		if _, ok := probe.atEdge(r, f.size); ok != at(i) {
			return Form{}, false
		} else if ok {
			rest.skip[i] = true
			rest.skipped++
		}
	}
	if n-rest.skipped < minInside {
		return Form{}, false
	}
	form, ok := f.closed(&rest)
	if !ok || form.Kind == KindMixedRadix {
		return Form{}, false
	}
	form.Kind |= KindFlagEdge
	copy(form.edge(), e[:])
	return form, true
}
