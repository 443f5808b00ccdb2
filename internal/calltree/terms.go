package calltree

import "slices"

// terms counts leaves, in rising order.
type terms []term

type term struct {
	leaf  int
	count uint64
}

func (t terms) sum() (n uint64) {
	for _, x := range t {
		n += x.count
	}
	return n
}

func (t terms) times(n uint64) terms {
	if n == 1 {
		return t
	}
	out := slices.Clone(t)
	for i := range out {
		out[i].count *= n
	}
	return out
}

func (t terms) plus(u terms) terms {
	out := make(terms, 0, len(t)+len(u))
	for len(t) > 0 && len(u) > 0 {
		switch {
		case t[0].leaf < u[0].leaf:
			out, t = append(out, t[0]), t[1:]
		case t[0].leaf > u[0].leaf:
			out, u = append(out, u[0]), u[1:]
		default:
			out = append(out, term{t[0].leaf, t[0].count + u[0].count})
			t, u = t[1:], u[1:]
		}
	}
	return append(append(out, t...), u...)
}
