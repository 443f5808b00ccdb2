package column

import "fmt"

// Additional kinds of forms for output to people and programs. Files never contain them.
const (
	KindLinear     Kind = 13 // a·rank + c
	KindScaledRing Kind = 14 // a·((rank + c) mod P) + b, with P ranks in the world
	KindPlane      Kind = 15 // a·(rank mod d) + b·(rank div d) + c, in a grid d wide
)

// mostWide is the largest width of the grids that are tried for KindPlane.
const mostWide = 4096

// FitKinds returns a form that gives the values of ranks in a world of a size, of the first kind that has one. Of
// KindMixedRadix only forms are tried in which each digit is shifted on its own, as in a torus.
func FitKinds(ranks []int, vals []int64, size int, kinds ...Kind) (form Form, ok bool) {
	p := int64(size)
	try := func(kind Kind, c ...int64) bool {
		form = Form{Kind: kind}
		copy(form.Coefficients[:], c)
		for i, r := range ranks {
			if form.Eval(int64(r), p) != vals[i] {
				return false
			}
		}
		return true
	}
	for _, kind := range kinds {
		switch kind {
		case KindLinear:
			a := int64(0)
			if len(ranks) > 1 {
				a = (vals[1] - vals[0]) / int64(ranks[1]-ranks[0])
			}
			ok = try(KindLinear, a, vals[0]-a*int64(ranks[0]))
		case KindScaledRing:
			ok = len(ranks) == size && size > 2 && (try(KindScaledRing, turn(vals, vals[1]-vals[0])...) || try(KindScaledRing, turn(vals, vals[2]-vals[1])...))
		case KindPlane:
			for d := int64(2); d < min(p, mostWide+1) && !ok; d++ {
				if p%d == 0 {
					c, found := plane(ranks, vals, d)
					ok = found && try(KindPlane, c...)
				}
			}
		case KindMixedRadix:
			r := int64(ranks[0])
			for w := int64(2); w*2 <= p && !ok; w++ {
				if p%w == 0 {
					h := p / w
					ok = try(KindMixedRadix, w, 0, w, 1, 0, mod(vals[0]%w-r%w, w), h, 0, 1, mod(vals[0]/w-r/w, h))
				}
			}
		default:
			form = simple(kind, vals[0], int64(ranks[0]), p)
			ok = try(kind, form.Coefficients[0])
		}
		if ok {
			return form, true
		}
	}
	return Form{}, false
}

// simple is the form of a kind with one coefficient that gives a value at a rank.
func simple(kind Kind, v, rank, size int64) Form {
	f := Form{Kind: kind, Coefficients: Coefficients{v}}
	switch kind {
	case KindConst:
	case KindRankPlus:
		f.Coefficients[0] = v - rank
	case KindRing:
		f.Coefficients[0] = mod(v-rank, max(size, 1))
	case KindXor:
		f.Coefficients[0] = v ^ rank
	default:
		panic(fmt.Sprintf("column: form %d has more than one coefficient", kind))
	}
	return f
}

// turn returns the coefficients of KindScaledRing for the values of all ranks, which grow by a from rank to rank until
// they begin again.
func turn(vals []int64, a int64) []int64 {
	n := 1
	for n < len(vals)-1 && vals[n]-vals[n-1] == a {
		n++
	}
	return []int64{a, int64(len(vals) - n), vals[n]}
}

// plane returns the coefficients of KindPlane for a grid d wide.
func plane(ranks []int, vals []int64, d int64) (c []int64, ok bool) {
	if len(ranks) < 4 {
		return nil, false
	}
	var a, b int64
	foundA, foundB := false, false
	at := func(i int) (x, y int64) { return int64(ranks[i]) % d, int64(ranks[i]) / d }
	x, y := at(0)
	first := Form{Kind: KindPlane, Coefficients: Coefficients{d}}
	for i := 1; i < len(ranks) && (!foundA || !foundB); i++ {
		x2, y2 := at(i)
		dx, dy, dv := x2-x, y2-y, vals[i]-vals[i-1]
		x, y = x2, y2
		switch {
		case dy == 0 && dx != 0 && !foundA:
			if dv%dx != 0 {
				return nil, false
			}
			a, foundA = dv/dx, true
		case dy != 0 && (dx == 0 || foundA) && !foundB:
			if (dv-a*dx)%dy != 0 {
				return nil, false
			}
			b, foundB = (dv-a*dx)/dy, true
		}
	}
	first.Coefficients[1], first.Coefficients[2] = a, b
	return []int64{d, a, b, vals[0] - first.Eval(int64(ranks[0]), 0)}, true
}
