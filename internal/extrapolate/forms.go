package extrapolate

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/mpi"
)

// An env is where a value is wanted.
type env struct {
	ranks, rank int64
	i, n        int64 // iteration of the innermost loop whose length differs, and that length
	j           int64 // iteration of the next such loop around it
	k, m        int64 // element of a list, and its length
}

// variableNames are those of values, in forms.
var variableNames = []string{"ranks", "rank", "i", "n", "j", "k", "m"}

func (e *env) values() [7]int64 { return [...]int64{e.ranks, e.rank, e.i, e.n, e.j, e.k, e.m} }

// A form says what a value is; false where it does not say.
type form struct {
	name string // in C, with what scaled.h of proxies declares
	grid int    // in grids; -1: it needs none
	at   func(e *env) (int64, bool)
	of   []form // the shares that it is a multiple of
	weak bool   // a part of it may fit by chance
}

// grids are the ways of laying out ranks, with the first side varying fastest.
var grids = []func(ranks int64) []int64{
	func(n int64) []int64 { a, b := split2(n); return []int64{a, b} },
	func(n int64) []int64 { a, b := split2(n); return []int64{b, a} },
	func(n int64) []int64 { a := root(n); return []int64{a, a} }, // of the first ranks
	func(n int64) []int64 { return split3(n) },
	func(n int64) []int64 { s := split3(n); return []int64{s[2], s[1], s[0]} },
	func(n int64) []int64 { return balanced3(n) },
	func(n int64) []int64 { s := balanced3(n); return []int64{s[2], s[1], s[0]} },
}

// gridNames are those of scaled.h, in the order of grids.
var gridNames = []string{"GRID_2D", "GRID_2D_LONGEST_FIRST", "GRID_SQUARE", "GRID_3D", "GRID_3D_REVERSED", "GRID_3D_BALANCED", "GRID_3D_BALANCED_LONGEST_FIRST"}

func split2(n int64) (int64, int64) {
	a := int64(1)
	for c := int64(1); c*c <= n; c++ {
		if n%c == 0 {
			a = c
		}
	}
	return a, n / a
}

// root is the side of the largest square grid.
func root(n int64) int64 {
	a := int64(math.Sqrt(float64(n)))
	for a*a > n {
		a--
	}
	for (a+1)*(a+1) <= n {
		a++
	}
	return max(a, 1)
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

// exists is the text of a rank that must exist.
func exists(rank string) string { return "exists(" + rank + ")" }

// plus is the text of u + s·w; without w, of u + s.
func plus(u string, s int64, w string) string {
	sign := " + "
	if s < 0 {
		sign, s = " - ", -s
	}
	switch {
	case w == "":
		return u + sign + fmt.Sprint(s)
	case s == 1:
		return u + sign + w
	}
	return fmt.Sprintf("%s%s%d * %s", u, sign, s, w)
}

// inner is an expression as an operand: in parentheses unless it is a single term.
func inner(text string) string {
	depth := 0
	for _, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ' ' && depth == 0:
			return "(" + text + ")"
		}
	}
	return text
}

func numbers(list []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(append(slices.Clone(list), 0)[:3]), " ", ", "), "[]")
}

// The lists are made once, when something is extrapolated.
var (
	atoms  []form // that a value may be as it stands
	terms  []form // that a value may be a multiple of, plus a number
	parts  []part // of which something is shared out
	axes   []axis // along which it is
	digits []form // by the size of groups from 2 on, three each: which group, who in it, and whether its first
	tests  []form // 0 or 1

	bare = make(map[string]bool) // names of these: no number in them was chosen
)

// mostInGroup is how many ranks that follow one another are a group, as those of a node.
const mostInGroup = 64

// A part is one of several among which a total is shared.
type part struct {
	name string // with %d for the total
	grid int
	all  bool // it divides by the number of ranks, too
	of   func(e *env) (parts, at int64)
}

// share is the form of what one gets of a total.
func (p *part) share(total int64) form {
	return sharedOut(fmt.Sprintf(p.name, total), p.grid, p.of, share, total)
}

// along adds an axis, and what is shared out along it.
func along(args string, grid int, of func(e *env) (parts, at int64)) {
	axes = append(axes, axis{args, grid, anywhere, of})
	parts = append(parts, part{"share(%d, " + args + ")", grid, grid < 0, of})
}

// even adds parts of which all are as large as the smallest, or as the largest.
func even(name string, grid int, all bool, number func(e *env) int64) {
	parts = append(parts,
		part{"floor_div(%d, " + name + ")", grid, all, func(e *env) (int64, int64) {
			n := number(e)
			return n, n - 1
		}},
		part{"ceil_div(%d, " + name + ")", grid, all, func(e *env) (int64, int64) { return number(e), 0 }})
}

func atom(name string, grid int, f func(e *env) (int64, bool)) {
	atoms = append(atoms, form{name: name, grid: grid, at: f})
}

func term(name string, grid int, f func(e *env) int64) {
	terms = append(terms, form{name: name, grid: grid, at: always(f)})
}

func test(name string, grid int, f func(e *env) bool) {
	tests = append(tests, condition(name, grid, f))
}

// condition is the form of whether something is so.
func condition(name string, grid int, f func(e *env) bool) form {
	return form{name: name, grid: grid, at: func(e *env) (int64, bool) {
		if f(e) {
			return 1, true
		}
		return 0, true
	}}
}

var makeLists = sync.OnceFunc(func() {
	term("ranks", -1, func(e *env) int64 { return e.ranks })
	term("rank", -1, func(e *env) int64 { return e.rank })
	term("i", -1, func(e *env) int64 { return e.i })
	term("j", -1, func(e *env) int64 { return e.j })
	term("k", -1, func(e *env) int64 { return e.k })
	term("n", -1, func(e *env) int64 { return e.n })
	term("m", -1, func(e *env) int64 { return e.m })
	term("n - i", -1, func(e *env) int64 { return e.n - e.i })
	term("power(i)", -1, func(e *env) int64 { return pow(e.i) })
	term("whole(ranks)", -1, func(e *env) int64 { return whole(e.ranks) })
	term("floor_log2(ranks)", -1, func(e *env) int64 { return int64(bits.Len64(uint64(e.ranks)) - 1) })
	term("ceil_log2(ranks)", -1, func(e *env) int64 { return int64(bits.Len64(uint64(e.ranks - 1))) })
	term("ranks / 2", -1, func(e *env) int64 { return e.ranks / 2 })
	term("rank / 2", -1, func(e *env) int64 { return e.rank / 2 })
	term("least(power(i), ranks - rank)", -1, func(e *env) int64 { return min(pow(e.i), e.ranks-e.rank) })
	term("least(power(i), ranks - rank - power(i))", -1, func(e *env) int64 { return min(pow(e.i), e.ranks-e.rank-pow(e.i)) })
	term("lowest_bit(rank)", -1, func(e *env) int64 { return e.rank & -e.rank })
	term("least(lowest_bit(rank), ranks - rank)", -1, func(e *env) int64 { return min(e.rank&-e.rank, e.ranks-e.rank) })
	term("children(rank)", -1, func(e *env) int64 {
		c := int64(0)
		for b := int64(1); b < e.ranks && (e.rank == 0 || b < e.rank&-e.rank) && e.rank+b < e.ranks; b <<= 1 {
			c++
		}
		return c
	})
	along("ranks, rank", -1, func(e *env) (int64, int64) { return e.ranks, e.rank })
	along("m, k", -1, func(e *env) (int64, int64) { return e.m, e.k })
	for more := range int64(2) { // of others in turn
		i := scaled(1, "i", more)
		axes = append(axes, axis{"ranks, mod(" + i + ", ranks)", -1, inLoop, func(e *env) (int64, int64) { return e.ranks, modulo(e.i+more, e.ranks) }})
		for _, s := range []int64{1, -1} {
			axes = append(axes, axis{"ranks, mod(" + plus("rank", s, inner(i)) + ", ranks)", -1, inLoop, func(e *env) (int64, int64) { return e.ranks, modulo(e.rank+s*(e.i+more), e.ranks) }})
		}
	}
	for c := int64(2); c <= mostInGroup; c++ {
		digits = append(digits,
			form{name: fmt.Sprintf("rank / %d", c), grid: -1, at: always(func(e *env) int64 { return e.rank / c })},
			form{name: fmt.Sprintf("rank %% %d", c), grid: -1, at: always(func(e *env) int64 { return e.rank % c })},
			condition(fmt.Sprintf("(rank %% %d == 0)", c), -1, func(e *env) bool { return e.rank%c == 0 }))
	}
	even("ranks * ranks", -1, true, func(e *env) int64 { return e.ranks * e.ranks })
	even("ranks", -1, true, func(e *env) int64 { return e.ranks })

	atom("rank", -1, always(func(e *env) int64 { return e.rank }))
	atom("ranks", -1, always(func(e *env) int64 { return e.ranks }))
	for _, c := range []int64{1, 2} {
		for _, s := range []int64{c, -c} {
			atom("mod("+plus("rank", s, "")+", ranks)", -1, within(func(e *env) int64 { return modulo(e.rank+s, e.ranks) }))
			atom(exists(plus("rank", s, "")), -1, within(func(e *env) int64 { return e.rank + s }))
		}
		atom(exists(fmt.Sprintf("rank ^ %d", c)), -1, within(func(e *env) int64 { return e.rank ^ c }))
	}
	atom(exists("rank ^ (ranks >> (i + 1))"), -1, within(func(e *env) int64 { return e.rank ^ e.ranks>>min(uint64(e.i+1), 63) }))
	atom(exists("rank ^ power(i)"), -1, within(func(e *env) int64 { return e.rank ^ pow(e.i) }))
	for _, s := range []int64{1, -1} {
		atom("mod("+plus("rank", s, "power(i)")+", ranks)", -1, within(func(e *env) int64 { return modulo(e.rank+s*pow(e.i), e.ranks) }))
		atom(exists(plus("rank", s, "power(i)")), -1, within(func(e *env) int64 { return e.rank + s*pow(e.i) }))
		atom(exists(plus("rank", s, "lowest_bit(rank)")), -1, within(func(e *env) int64 { return e.rank + s*(e.rank&-e.rank) }))
		atom(exists(plus("rank", s, "whole(ranks)")), -1, within(func(e *env) int64 { return e.rank + s*whole(e.ranks) }))
		atom(exists(plus("rank", s, "ranks / 2")), -1, within(func(e *env) int64 { return e.rank + s*(e.ranks/2) }))
		atom("mod("+plus("rank", s, "i")+", ranks)", -1, within(func(e *env) int64 { return modulo(e.rank+s*e.i, e.ranks) }))
		atom("mod("+plus("rank", s, "(i + 1)")+", ranks)", -1, within(func(e *env) int64 { return modulo(e.rank+s*(e.i+1), e.ranks) }))
	}
	atom("ranks - 1 - rank", -1, within(func(e *env) int64 { return e.ranks - 1 - e.rank }))
	atom(exists("rank ^ i"), -1, within(func(e *env) int64 { return e.rank ^ e.i }))
	atom("i % ranks", -1, always(func(e *env) int64 { return e.i % e.ranks }))
	atom("i % most(ranks - 1, 1)", -1, always(func(e *env) int64 { return e.i % max(e.ranks-1, 1) }))
	atom(exists("i"), -1, within(func(e *env) int64 { return e.i }))
	atom(exists("i + 1"), -1, within(func(e *env) int64 { return e.i + 1 }))
	atom(exists("i >= rank ? i + 1 : i"), -1, within(func(e *env) int64 {
		if e.i >= e.rank {
			return e.i + 1
		}
		return e.i
	}))
	test("rank == 0", -1, func(e *env) bool { return e.rank == 0 })
	test("rank == ranks - 1", -1, func(e *env) bool { return e.rank == e.ranks-1 })
	test("rank < ranks - whole(ranks)", -1, func(e *env) bool { return e.rank < e.ranks-whole(e.ranks) })
	test("rank >= whole(ranks)", -1, func(e *env) bool { return e.rank >= whole(e.ranks) })
	test("rank % 2 == 1", -1, func(e *env) bool { return e.rank&1 != 0 })
	test("(rank & power(i)) != 0", -1, func(e *env) bool { return e.rank&pow(e.i) != 0 })
	test("rank + power(i) < ranks", -1, func(e *env) bool { return e.rank+pow(e.i) < e.ranks })
	test("rank % 2 == 0 && rank + 1 < ranks", -1, func(e *env) bool { return e.rank&1 == 0 && e.rank+1 < e.ranks })
	test("i == 0", -1, func(e *env) bool { return e.i == 0 })
	test("i == n - 1", -1, func(e *env) bool { return e.i == e.n-1 })
	test("k == rank", -1, func(e *env) bool { return e.k == e.rank })
	test("i == rank", -1, func(e *env) bool { return e.i == e.rank })
	test("k == 0", -1, func(e *env) bool { return e.k == 0 })
	for g, sides := range grids {
		var known [1 << 12]atomic.Pointer[[]int64]
		forGrid(g, gridNames[g], func(ranks int64) []int64 {
			if ranks >= int64(len(known)) {
				return sides(ranks)
			}
			if list := known[ranks].Load(); list != nil {
				return *list
			}
			list := sides(ranks)
			known[ranks].Store(&list)
			return list
		})
	}
	for _, f := range slices.Concat(atoms, terms, tests) {
		bare[f.name] = !strings.HasPrefix(f.name, "side(") // which says little of few runs
	}
})

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
			atom("neighbour("+name+", "+numbers(b)+", "+map[bool]string{false: "OPEN", true: "PERIODIC"}[periodic]+")", g, always(func(e *env) int64 { return neighbour(dims(e.ranks), e.rank, b, periodic) }))
		}
		test("neighbour("+name+", "+numbers(b)+", OPEN) >= 0", g, func(e *env) bool { return neighbour(dims(e.ranks), e.rank, b, false) >= 0 })
	}
	for d := range n {
		side, coordinate := fmt.Sprintf("side(%s, %d)", name, d), fmt.Sprintf("coordinate(%s, %d)", name, d)
		term(side, g, func(e *env) int64 { return dims(e.ranks)[d] })
		atom("i % "+side, g, always(func(e *env) int64 { return e.i % dims(e.ranks)[d] }))
		term("floor_log2("+side+")", g, func(e *env) int64 { return int64(bits.Len64(uint64(dims(e.ranks)[d])) - 1) })
		term(coordinate, g, func(e *env) int64 { return coordinates(dims(e.ranks), e.rank)[d] })
		along(side+", "+coordinate, g, func(e *env) (int64, int64) {
			s := dims(e.ranks)
			return s[d], coordinates(s, e.rank)[d]
		})
		axes = append(axes, axis{fmt.Sprintf("%s, coordinate_of(%s, %d, k)", side, name, d), g, inList, func(e *env) (int64, int64) {
			if e.k >= e.ranks {
				return 0, 0
			}
			s := dims(e.ranks)
			return s[d], coordinates(s, e.k)[d]
		}})
		even(side, g, false, func(e *env) int64 { return dims(e.ranks)[d] })
		even("ranks * "+side, g, true, func(e *env) int64 { return e.ranks * dims(e.ranks)[d] })
	}
	if name == "GRID_SQUARE" {
		all := "side(" + name + ", 0) * side(" + name + ", 1)"
		within := func(e *env) int64 { s := dims(e.ranks); return s[0] * s[1] }
		term(all, g, within)
		test("rank < "+all, g, func(e *env) bool { return e.rank < within(e) })
	}
	if n == 2 {
		test("side("+name+", 0) == side("+name+", 1)", g, func(e *env) bool {
			s := dims(e.ranks)
			return s[0] == s[1]
		})
		test("coordinate("+name+", 0) == coordinate("+name+", 1)", g, func(e *env) bool {
			at := coordinates(dims(e.ranks), e.rank)
			return at[0] == at[1]
		})
		for d := range 2 {
			for code := range 6 {
				by, more := 1-int64(code/3)*2, int64(code%3)-1
				atom(fmt.Sprintf("sheared(%s, %d, %d, %d)", name, d, by, more), g, within(func(e *env) int64 {
					s := dims(e.ranks)
					at := coordinates(s, e.rank)
					at[d] = modulo(at[d]+by*at[1-d]+more, s[d])
					return rankAt(s, at)
				}))
			}
		}
		atom(exists("rank ^ (side("+name+", 0) >> (i + 1))"), g, within(func(e *env) int64 { return e.rank ^ dims(e.ranks)[0]>>min(uint64(e.i+1), 63) }))
		atom("transposed_blocks("+name+")", g, within(func(e *env) int64 {
			s := dims(e.ranks)
			k := s[0] / s[1]
			if s[0]%s[1] != 0 || e.rank >= s[0]*s[1] {
				return -1
			}
			at := e.rank / k
			return k*(at%s[1]*s[1]+at/s[1]) + e.rank%k
		}))
		atom("transposed("+name+")", g, within(func(e *env) int64 {
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
		atom(fmt.Sprintf("existing_neighbour(%s, %d, i)", name, o), g, func(e *env) (int64, bool) {
			l := list(e)
			if e.i < 0 || e.i >= int64(len(l)) {
				return 0, false
			}
			return l[e.i], true
		})
		if o == 0 {
			term("existing_neighbours("+name+")", g, func(e *env) int64 { return int64(len(list(e))) })
		}
	}
}
