package extrapolate

import (
	"fmt"
	"math/bits"

	"github.com/spoor-hpc/spoor/mpi"
)

// An env is where a value is wanted.
type env struct {
	ranks, rank int64
	i, n        int64 // iteration of the innermost loop whose length differs, and that length
	j           int64 // iteration of the next such loop around it
	k, m        int64 // element of a list, and its length
}

// A form says what a value is; false where it does not say.
type form struct {
	name string
	grid int // in grids; -1: it needs none
	at   func(e *env) (int64, bool)
	of   *form // the share that it is a multiple of; nil: it isn't one
}

// grids are the ways of laying out ranks, with the first side varying fastest.
var grids = []func(ranks int64) []int64{
	func(n int64) []int64 { a, b := split2(n); return []int64{a, b} },
	func(n int64) []int64 { a, b := split2(n); return []int64{b, a} },
	func(n int64) []int64 { return split3(n) },
	func(n int64) []int64 { s := split3(n); return []int64{s[2], s[1], s[0]} },
	func(n int64) []int64 { return balanced3(n) },
	func(n int64) []int64 { s := balanced3(n); return []int64{s[2], s[1], s[0]} },
}

var gridNames = []string{"2D", "2D, longest side first", "3D", "3D, sides reversed", "3D, balanced", "3D, balanced, longest side first"}

func split2(n int64) (int64, int64) {
	a := int64(1)
	for c := int64(1); c*c <= n; c++ {
		if n%c == 0 {
			a = c
		}
	}
	return a, n / a
}

// split3 takes the largest factor up to the cube root, and splits the rest in two.
func split3(n int64) []int64 {
	x := int64(1)
	for c := int64(1); c*c*c <= n; c++ {
		if n%c == 0 {
			x = c
		}
	}
	y, z := split2(n / x)
	return []int64{x, y, z}
}

// balanced3 has the smallest largest side, and then the largest smallest one.
func balanced3(n int64) []int64 {
	best := []int64{1, 1, n}
	for a := int64(1); a*a*a <= n; a++ {
		if n%a != 0 {
			continue
		}
		if b, c := split2(n / a); b >= a && (c < best[2] || c == best[2] && a > best[0]) {
			best = []int64{a, b, c}
		}
	}
	return best
}

func whole(n int64) int64 { // the largest power of two up to n
	if n < 1 {
		return 0
	}
	return 1 << (bits.Len64(uint64(n)) - 1)
}

func coordinates(dims []int64, rank int64) []int64 {
	out := make([]int64, len(dims))
	for d, n := range dims {
		out[d] = rank % n
		rank /= n
	}
	return out
}

func rankAt(dims, at []int64) int64 {
	r := int64(0)
	for d := len(dims) - 1; d >= 0; d-- {
		r = r*dims[d] + at[d]
	}
	return r
}

// neighbour is a rank of a grid, MPI_PROC_NULL outside of an open one.
func neighbour(dims []int64, rank int64, by []int64, periodic bool) int64 {
	at := coordinates(dims, rank)
	for d := range at {
		at[d] += by[d]
		if periodic {
			at[d] = (at[d] + 2*dims[d]) % dims[d]
		} else if at[d] < 0 || at[d] >= dims[d] {
			return mpi.ProcNull
		}
	}
	return rankAt(dims, at)
}

func share(n, p, i int64) int64 {
	s := n / p
	if i < n%p {
		s++
	}
	return s
}

func modulo(a, n int64) int64 { return (a%n + n) % n }

func always(f func(e *env) int64) func(e *env) (int64, bool) {
	return func(e *env) (int64, bool) { return f(e), true }
}

// within is a rank that must exist.
func within(f func(e *env) int64) func(e *env) (int64, bool) {
	return func(e *env) (int64, bool) {
		v := f(e)
		return v, v >= 0 && v < e.ranks
	}
}

func pow(i int64) int64 {
	if i < 0 || i > 62 {
		return 0
	}
	return 1 << i
}

// The lists are made once.
var (
	atoms []form // that a value may be as it stands
	terms []form // that a value may be a multiple of, plus a number
	parts []part // of which something is shared out
	tests []form // 0 or 1
)

// A part is one of several among which a total is shared.
type part struct {
	name string
	grid int
	all  bool // it divides by the number of ranks, too
	of   func(e *env) (parts, at int64)
}

// even adds parts of which all are as large as the smallest, or as the largest.
func even(name string, grid int, all bool, number func(e *env) int64) {
	parts = append(parts,
		part{name + ", rounded down", grid, all, func(e *env) (int64, int64) {
			n := number(e)
			return n, n - 1
		}},
		part{name + ", rounded up", grid, all, func(e *env) (int64, int64) { return number(e), 0 }})
}

func atom(name string, grid int, f func(e *env) (int64, bool)) {
	atoms = append(atoms, form{name: name, grid: grid, at: f})
}

func term(name string, grid int, f func(e *env) int64) {
	terms = append(terms, form{name: name, grid: grid, at: always(f)})
}

func test(name string, grid int, f func(e *env) bool) {
	tests = append(tests, form{name: name, grid: grid, at: func(e *env) (int64, bool) {
		if f(e) {
			return 1, true
		}
		return 0, true
	}})
}

func init() {
	term("ranks", -1, func(e *env) int64 { return e.ranks })
	term("rank", -1, func(e *env) int64 { return e.rank })
	term("i", -1, func(e *env) int64 { return e.i })
	term("j", -1, func(e *env) int64 { return e.j })
	term("k", -1, func(e *env) int64 { return e.k })
	term("n", -1, func(e *env) int64 { return e.n })
	term("m", -1, func(e *env) int64 { return e.m })
	term("n-i", -1, func(e *env) int64 { return e.n - e.i })
	term("2^i", -1, func(e *env) int64 { return pow(e.i) })
	term("whole", -1, func(e *env) int64 { return whole(e.ranks) })
	term("log2", -1, func(e *env) int64 { return int64(bits.Len64(uint64(e.ranks)) - 1) })
	term("log2 up", -1, func(e *env) int64 { return int64(bits.Len64(uint64(e.ranks - 1))) })
	term("ranks/2", -1, func(e *env) int64 { return e.ranks / 2 })
	term("rank/2", -1, func(e *env) int64 { return e.rank / 2 })
	term("min(2^i, ranks-rank)", -1, func(e *env) int64 { return min(pow(e.i), e.ranks-e.rank) })
	term("min(2^i, ranks-rank-2^i)", -1, func(e *env) int64 { return min(pow(e.i), e.ranks-e.rank-pow(e.i)) })
	term("lowest bit", -1, func(e *env) int64 { return e.rank & -e.rank })
	term("min(lowest bit, ranks-rank)", -1, func(e *env) int64 { return min(e.rank&-e.rank, e.ranks-e.rank) })
	term("children", -1, func(e *env) int64 {
		c := int64(0)
		for b := int64(1); b < e.ranks && (e.rank == 0 || b < e.rank&-e.rank) && e.rank+b < e.ranks; b <<= 1 {
			c++
		}
		return c
	})
	parts = append(parts, part{"ranks", -1, true, func(e *env) (int64, int64) { return e.ranks, e.rank }})
	even("ranks·ranks", -1, true, func(e *env) int64 { return e.ranks * e.ranks })
	even("ranks", -1, true, func(e *env) int64 { return e.ranks })

	atom("rank", -1, always(func(e *env) int64 { return e.rank }))
	atom("ranks", -1, always(func(e *env) int64 { return e.ranks }))
	for _, c := range []int64{1, 2} {
		for _, s := range []int64{c, -c} {
			atom(fmt.Sprintf("(rank%+d) mod ranks", s), -1, within(func(e *env) int64 { return modulo(e.rank+s, e.ranks) }))
			atom(fmt.Sprintf("rank%+d", s), -1, within(func(e *env) int64 { return e.rank + s }))
		}
		atom(fmt.Sprintf("rank xor %d", c), -1, within(func(e *env) int64 { return e.rank ^ c }))
	}
	atom("rank xor 2^i", -1, within(func(e *env) int64 { return e.rank ^ pow(e.i) }))
	for _, s := range []int64{1, -1} {
		atom(fmt.Sprintf("(rank%+d·2^i) mod ranks", s), -1, within(func(e *env) int64 { return modulo(e.rank+s*pow(e.i), e.ranks) }))
		atom(fmt.Sprintf("rank%+d·2^i", s), -1, within(func(e *env) int64 { return e.rank + s*pow(e.i) }))
		atom(fmt.Sprintf("rank%+d·lowest bit", s), -1, within(func(e *env) int64 { return e.rank + s*(e.rank&-e.rank) }))
		atom(fmt.Sprintf("rank%+d·whole", s), -1, within(func(e *env) int64 { return e.rank + s*whole(e.ranks) }))
		atom(fmt.Sprintf("rank%+d·ranks/2", s), -1, within(func(e *env) int64 { return e.rank + s*(e.ranks/2) }))
		atom(fmt.Sprintf("(rank%+d·i) mod ranks", s), -1, within(func(e *env) int64 { return modulo(e.rank+s*e.i, e.ranks) }))
		atom(fmt.Sprintf("(rank%+d·(i+1)) mod ranks", s), -1, within(func(e *env) int64 { return modulo(e.rank+s*(e.i+1), e.ranks) }))
	}
	atom("ranks-1-rank", -1, within(func(e *env) int64 { return e.ranks - 1 - e.rank }))
	atom("rank xor i", -1, within(func(e *env) int64 { return e.rank ^ e.i }))
	atom("i mod ranks", -1, always(func(e *env) int64 { return e.i % e.ranks }))
	atom("i mod (ranks-1)", -1, always(func(e *env) int64 { return e.i % max(e.ranks-1, 1) }))
	atom("i", -1, within(func(e *env) int64 { return e.i }))
	atom("i+1", -1, within(func(e *env) int64 { return e.i + 1 }))
	atom("i, without rank", -1, within(func(e *env) int64 {
		if e.i >= e.rank {
			return e.i + 1
		}
		return e.i
	}))
	test("rank = 0", -1, func(e *env) bool { return e.rank == 0 })
	test("rank = ranks-1", -1, func(e *env) bool { return e.rank == e.ranks-1 })
	test("rank < ranks-whole", -1, func(e *env) bool { return e.rank < e.ranks-whole(e.ranks) })
	test("rank >= whole", -1, func(e *env) bool { return e.rank >= whole(e.ranks) })
	test("rank odd", -1, func(e *env) bool { return e.rank&1 != 0 })
	test("rank & 2^i", -1, func(e *env) bool { return e.rank&pow(e.i) != 0 })
	test("rank+2^i < ranks", -1, func(e *env) bool { return e.rank+pow(e.i) < e.ranks })
	test("rank+1 < ranks, even", -1, func(e *env) bool { return e.rank&1 == 0 && e.rank+1 < e.ranks })
	test("i = 0", -1, func(e *env) bool { return e.i == 0 })
	test("i = n-1", -1, func(e *env) bool { return e.i == e.n-1 })
	test("k = rank", -1, func(e *env) bool { return e.k == e.rank })
	test("i = rank", -1, func(e *env) bool { return e.i == e.rank })
	test("k = 0", -1, func(e *env) bool { return e.k == 0 })
	for g, sides := range grids {
		var known [1 << 12][]int64
		forGrid(g, gridNames[g], func(ranks int64) []int64 {
			if ranks >= int64(len(known)) {
				return sides(ranks)
			}
			if known[ranks] == nil {
				known[ranks] = sides(ranks)
			}
			return known[ranks]
		})
	}
}

// forGrid adds what a grid makes possible.
func forGrid(g int, name string, dims func(int64) []int64) {
	n := len(dims(1))
	var by [][]int64
	for code := range 27 {
		at := []int64{int64(code%3) - 1, int64(code/3%3) - 1, int64(code/9) - 1}
		if n == 2 && at[2] != 0 || at[0] == 0 && at[1] == 0 && at[2] == 0 {
			continue
		}
		by = append(by, at[:n])
	}
	for _, b := range by {
		for _, periodic := range []bool{false, true} {
			text := "open"
			if periodic {
				text = "periodic"
			}
			atom(fmt.Sprintf("neighbour %v, %s %s", b, name, text), g, always(func(e *env) int64 { return neighbour(dims(e.ranks), e.rank, b, periodic) }))
		}
		test(fmt.Sprintf("has neighbour %v, %s", b, name), g, func(e *env) bool { return neighbour(dims(e.ranks), e.rank, b, false) >= 0 })
	}
	for d := range n {
		term(fmt.Sprintf("side %d, %s", d, name), g, func(e *env) int64 { return dims(e.ranks)[d] })
		term(fmt.Sprintf("coordinate %d, %s", d, name), g, func(e *env) int64 { return coordinates(dims(e.ranks), e.rank)[d] })
		parts = append(parts, part{fmt.Sprintf("side %d, %s", d, name), g, false, func(e *env) (int64, int64) {
			s := dims(e.ranks)
			return s[d], coordinates(s, e.rank)[d]
		}})
		even(fmt.Sprintf("side %d, %s", d, name), g, false, func(e *env) int64 { return dims(e.ranks)[d] })
		even(fmt.Sprintf("ranks·side %d, %s", d, name), g, true, func(e *env) int64 { return e.ranks * dims(e.ranks)[d] })
	}
	if n == 2 {
		test("on the diagonal, "+name, g, func(e *env) bool {
			at := coordinates(dims(e.ranks), e.rank)
			return at[0] == at[1]
		})
		atom("transpose, "+name, g, within(func(e *env) int64 {
			s := dims(e.ranks)
			at := coordinates(s, e.rank)
			return rankAt(s, []int64{at[1], at[0]})
		}))
	}
	// The neighbours that exist, in the orders in which programs list them.
	for o := range 4 {
		list := func(e *env) (out []int64) {
			s := dims(e.ranks)
			for d := range n {
				if o&1 != 0 {
					d = n - 1 - d
				}
				for _, step := range []int64{-1, 1} {
					if o&2 != 0 {
						step = -step
					}
					by := make([]int64, n)
					by[d] = step
					if v := neighbour(s, e.rank, by, false); v >= 0 {
						out = append(out, v)
					}
				}
			}
			return out
		}
		text := fmt.Sprintf("neighbours that exist, order %d, %s", o, name)
		atom("the i-th of "+text, g, func(e *env) (int64, bool) {
			l := list(e)
			if e.i < 0 || e.i >= int64(len(l)) {
				return 0, false
			}
			return l[e.i], true
		})
		if o == 0 {
			term("number of "+text, g, func(e *env) int64 { return int64(len(list(e))) })
		}
	}
}
