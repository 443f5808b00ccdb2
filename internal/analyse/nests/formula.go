package nests

import "fmt"

// linear writes values as a multiple of the rank and a constant; "" if they are none. Two ranks are evidence of a
// distance alone.
func linear(ranks []int, vals []int64) string {
	n := int64(ranks[1] - ranks[0])
	a := (vals[1] - vals[0]) / n
	b := vals[0] - a*int64(ranks[0])
	if a == 0 || len(ranks) < 3 && a != 1 {
		return ""
	}
	for i, v := range vals {
		if v != a*int64(ranks[i])+b {
			return ""
		}
	}
	text := "rank"
	if a != 1 {
		text = fmt.Sprintf("%d·rank", a)
	}
	if b != 0 {
		text += fmt.Sprintf("%+d", b)
	}
	return text
}

// relation writes ranks as those at a distance on a ring, a hypercube or a torus of two dimensions; "" if they are none.
func relation(ranks []int, vals []int64, size int) string {
	p := int64(size)
	all := func(f func(rank int64) int64) bool {
		for i, v := range vals {
			if v != f(int64(ranks[i])) {
				return false
			}
		}
		return true
	}
	first := int64(ranks[0])
	if c := mod(vals[0]-first, p); all(func(r int64) int64 { return (r + c) % p }) {
		return fmt.Sprintf("(rank%+d) mod %d", near(c, p), p)
	}
	if c := vals[0] ^ first; all(func(r int64) int64 { return r ^ c }) {
		return fmt.Sprintf("rank xor %d", c)
	}
	for w := int64(2); w*2 <= p; w++ {
		if p%w != 0 {
			continue
		}
		h := p / w
		a, b := mod(vals[0]%w-first%w, w), mod(vals[0]/w-first/w, h)
		if all(func(r int64) int64 { return (r%w+a)%w + w*((r/w+b)%h) }) {
			return fmt.Sprintf("(x%+d mod %d, y%+d mod %d) of ranks as x + %d·y", near(a, w), w, near(b, h), h, w)
		}
	}
	return ""
}

func mod(a, n int64) int64 { return (a%n + n) % n }

// near writes a distance on a ring as the shorter way.
func near(c, n int64) int64 {
	if c > n/2 {
		return c - n
	}
	return c
}
