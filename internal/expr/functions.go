package expr

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
)

// A function is a function that formulas can call, defined by a formula of its parameters (body) or in Go (native).
type function struct {
	name, comment string
	parameters    []string
	body          *Expr
	native        func(at *VariableValues, a, b, c int64) int64
	c             string // native function's body in C; "": the C programs define it themselves

	whole *compiled // compiled with all parameters as arguments; nil for functions of grids
	// for functions of grids: by constant arguments (see compile), the function specialised for these
	variants map[string]*compiled
}

// definitions are the functions that formulas may call, one a line. A function may call natives, those above it,
// and itself. A comment after // is for the C header.
const definitions = `
least(a, b) = a < b ? a : b
most(a, b) = a > b ? a : b
whole(n) = n < 1 ? 0 : power(floor_log2(n)) // the largest power of two up to it
ceil_log2(n) = n < 2 ? 0 : floor_log2(n - 1) + 1
lowest_bit(n) = n & -n
exists(r) = r >= 0 && r < ranks ? r : NOTHING // NOTHING if there is no such rank
there(r) = r >= 0 && r < ranks ? r : NO_RANK
children(r) = ceil_log2(least(r == 0 ? ranks : lowest_bit(r), ranks - r)) // in a binomial tree
gray(r) = r ^ r / 2
beside(i) = rank + ((rank + i) % 2 == 0 ? 1 : -1) // in phase i of an odd-even transposition
folded(r) = r < 2 * (ranks - whole(ranks)) ? r / 2 : r - (ranks - whole(ranks)) // where each of these joins a neighbour, from the first on
left_out(last) = rank < 2 * (ranks - whole(ranks)) && rank % 2 == last // it gives what it has to its neighbour first
unfolded(r, last) = r < ranks - whole(ranks) ? 2 * r + last : r + ranks - whole(ranks)
opponent(r, n, round) = r == n ? mod(round * ((n + 1) / 2), n) : mod(round - r, n) == r ? n : mod(round - r, n) // in a tournament: n stays, others go round
round_robin(round) = ranks % 2 == 0 ? opponent(rank, ranks - 1, round) : there(opponent(rank, ranks, round))
round_robin_first(round) = ranks % 2 == 0 ? mod(opponent(mod(rank - 1, ranks), ranks - 1, round) + 1, ranks) : there(opponent(rank, ranks, round)) // rank 0 stays

// Ways of sharing out: the first parts have one more if it is uneven; parts between rounded bounds; all alike but the last; all alike as long as there
// is something; the last parts have one more. A start is what those before have.
share(total, parts, number) = total / parts + (number < total % parts)
share_start(total, parts, number) = total / parts * number + least(number, total % parts)
floor_start(total, parts, number) = number * total / parts
floor_share(total, parts, number) = floor_start(total, parts, number + 1) - floor_start(total, parts, number)
rest_start(total, parts, number) = total / parts * number
rest_share(total, parts, number) = number == parts - 1 ? total - rest_start(total, parts, number) : total / parts
numroc(total, block, parts, number) = total / block / parts * block + (number < total / block % parts ? block : number == total / block % parts ? total % block : 0) // of blocks that are dealt out in turn
chunk_start(total, parts, number) = least((total + parts - 1) / parts * number, total)
late_start(total, parts, number) = total / parts * number + most(0, number - parts + total % parts)
late_share(total, parts, number) = total / parts + (number >= parts - total % parts)
overlap(low, high, from, to) = most(0, least(high, to) - most(low, from)) // of two ranges
chunk(total, parts, number) = chunk_start(total, parts, number + 1) - chunk_start(total, parts, number)
floor_div(a, b) = share(a, b, b - 1)
ceil_div(a, b) = share(a, b, 0)

// Grids of ranks. In one that is open a neighbour outside is NO_RANK.
coordinate(g, d) = coordinate_of(g, d, rank)
rank_at(g, x, y, z) = (z * side(g, 1) + y) * side(g, 0) + x
inside(g, d, at) = at >= 0 && at < side(g, d)
rank_inside(g, x, y, z) = inside(g, 0, x) && inside(g, 1, y) && inside(g, 2, z) ? rank_at(g, x, y, z) : NO_RANK
rank_around(g, x, y, z) = rank_at(g, mod(x, side(g, 0)), mod(y, side(g, 1)), mod(z, side(g, 2)))
open_neighbour(g, x, y, z) = rank_inside(g, coordinate(g, 0) + x, coordinate(g, 1) + y, coordinate(g, 2) + z)
periodic_neighbour(g, x, y, z) = rank_around(g, coordinate(g, 0) + x, coordinate(g, 1) + y, coordinate(g, 2) + z)
neighbour(g, x, y, z, periodic) = periodic ? periodic_neighbour(g, x, y, z) : open_neighbour(g, x, y, z)
toward(g, d, s) = open_neighbour(g, d == 0 ? s : 0, d == 1 ? s : 0, d == 2 ? s : 0)
listed(g, order, at) = toward(g, (order & 1) != 0 ? 2 - at / 2 : at / 2, at % 2 == order / 2 ? -1 : 1)
existing_after(g, at) = at == 6 ? 0 : (listed(g, 0, at) >= 0) + existing_after(g, at + 1)
existing_neighbours(g) = existing_after(g, 0)
listed_after(g, order, number, at) = at == 6 ? NOTHING : listed(g, order, at) < 0 ? listed_after(g, order, number, at + 1) : number == 0 ? listed(g, order, at) : listed_after(g, order, number - 1, at + 1)
existing_neighbour(g, order, number) = listed_after(g, order, number, 0) // along dimensions from the first, or from the last; down first, or up
sheared(g, d, by, more) = exists(d == 0 ? rank_at(g, mod(coordinate(g, 0) + by * coordinate(g, 1) + more, side(g, 0)), coordinate(g, 1), 0) : rank_at(g, coordinate(g, 0), mod(coordinate(g, 1) + by * coordinate(g, 0) + more, side(g, 1)), 0)) // moved along d by so much for each step in the other dimension, and more
transposed(g) = exists(rank_at(g, coordinate(g, 1), coordinate(g, 0), 0))
transposed_rows(length, n) = exists(length * (rank / length % n * n + rank / length / n) + rank % length)
transposed_blocks(g) = side(g, 0) % side(g, 1) == 0 && rank < side(g, 0) * side(g, 1) ? transposed_rows(side(g, 0) / side(g, 1), side(g, 1)) : NOTHING // of as many ranks in a row as the first side is longer
`

// natives are the functions that formulas cannot express: in Go for Eval, and in C for CHeader.
var natives = []*function{
	{name: "mod", parameters: []string{"a", "m"}, // no C text, as proxies have mod in runtime/arguments.c
		native: func(_ *VariableValues, a, b, _ int64) int64 { return Mod(a, b) }},
	{name: "power", parameters: []string{"i"}, comment: "of two", c: "return i < 0 || i > 62 ? 0 : INT64_C(1) << i;",
		native: func(_ *VariableValues, a, b, c int64) int64 {
			if a < 0 || a > 62 {
				return 0
			}
			return 1 << a
		}},
	{name: "floor_log2", parameters: []string{"n"}, c: "return n < 1 ? -1 : 63 - __builtin_clzll((unsigned long long)n);",
		native: func(_ *VariableValues, a, b, c int64) int64 { return int64(bits.Len64(uint64(max(a, 0)))) - 1 }},
	{name: "ungray", parameters: []string{"n"}, comment: "the number whose Gray code it is", c: "int64_t a = 0;\n\tfor (; n > 0; n >>= 1)\n\t\ta ^= n;\n\treturn a;",
		native: func(_ *VariableValues, a, b, c int64) (n int64) {
			for ; a > 0; a >>= 1 {
				n ^= a
			}
			return n
		}},
	{name: "root", parameters: []string{"n"}, comment: "the side of the largest square", c: "int64_t a = 1;\n\twhile ((a + 1) * (a + 1) <= n)\n\t\ta++;\n\treturn a;",
		native: func(_ *VariableValues, a, b, c int64) int64 { return root(a) }},
	{name: "divisor", parameters: []string{"n", "power"}, comment: "the largest one up to the square or cube root",
		c:      "int64_t a = 1;\n\tfor (int64_t c = 1; (power == 3 ? c * c : c) <= n / c; c++)\n\t\tif (n % c == 0)\n\t\t\ta = c;\n\treturn a;",
		native: func(_ *VariableValues, a, b, c int64) int64 { return divisor(a, b) }},
	{name: "balanced", parameters: []string{"n"}, comment: "the shortest side of a block whose longest one is as short as can be",
		c:      "int64_t a = 1, longest = n;\n\tfor (int64_t c = 1; c * c <= n / c; c++) {\n\t\tint64_t b = n % c ? 0 : divisor(n / c, 2);\n\t\tif (b >= c && n / c / b <= longest)\n\t\t\ta = c, longest = n / c / b;\n\t}\n\treturn a;",
		native: func(_ *VariableValues, a, b, c int64) int64 { return balanced(a) }},
	{name: "side", parameters: []string{"g", "d"}, c: "return sides[g][d];",
		native: func(at *VariableValues, a, b, c int64) int64 {
			if !ofGrid(a, b) {
				return NoValue
			}
			return grids[a].Sides(at[VariableRankCount])[b]
		}},
	{name: "coordinate_of", parameters: []string{"g", "d", "r"},
		c: "return r < ranks ? (d == 0 ? r : d == 1 ? r / side(g, 0) : r / side(g, 0) / side(g, 1)) % side(g, d) : NOTHING;",
		native: func(at *VariableValues, a, b, c int64) int64 {
			if c >= at[VariableRankCount] || !ofGrid(a, b) {
				return NoValue
			}
			s := grids[a].Sides(at[VariableRankCount])
			for d := range b {
				c /= s[d]
			}
			return c % s[b]
		}},
}

// ofGrid reports whether g is the number of a grid, and d a dimension from 0 to 2.
func ofGrid(g, d int64) bool { return g >= 0 && g < int64(len(grids)) && d >= 0 && d < 3 }

// Mod is a modulo m: from 0 to m - 1 for a positive m, and NoValue if m is 0.
func Mod(a, m int64) int64 {
	if m == 0 {
		return NoValue
	}
	if a %= m; a < 0 {
		a += m
	}
	return a
}

func root(n int64) int64 {
	a := int64(math.Sqrt(float64(max(n, 1))))
	for a > 1 && a > n/a {
		a--
	}
	for (a+1)*(a+1) <= n {
		a++
	}
	return a
}

func divisor(n, power int64) int64 {
	a, c := int64(1), int64(1)
	fits := func() bool {
		if power == 3 {
			return c*c <= n/c
		}
		return c <= n/c
	}
	for ; fits(); c++ {
		if n%c == 0 {
			a = c
		}
	}
	return a
}

func balanced(n int64) int64 {
	a, longest := int64(1), n
	for c := int64(1); c*c <= n/c; c++ {
		if n%c != 0 {
			continue
		}
		if b := divisor(n/c, 2); b >= c && n/c/b <= longest {
			a, longest = c, n/c/b
		}
	}
	return a
}

// A Grid is a rule that arranges any number of ranks in two or three dimensions. The first coordinate varies fastest.
// In a grid of two dimensions the third side is 1.
type Grid struct {
	Name              string
	Dimensions        int
	IsAxisPermutation bool // another grid of Grids has the same sides in another order
	sides             []*Expr
	known             [1 << 12]atomic.Pointer[[3]int64]
}

// Grids returns the predefined grids. In formulas a grid's name has its index in this list as value.
func Grids() []*Grid {
	define()
	return grids
}

// Sides returns how many ranks the grid has along each dimension, if the world has this many ranks.
func (g *Grid) Sides(ranks int64) *[3]int64 {
	known := ranks >= 0 && ranks < int64(len(g.known))
	if known {
		if s := g.known[ranks].Load(); s != nil {
			return s
		}
	}
	s := [3]int64{1, 1, 1}
	for d, side := range g.sides {
		s[d], _ = side.Eval(&VariableValues{VariableRankCount: ranks})
	}
	if known {
		g.known[ranks].Store(&s)
	}
	return &s
}

// numbers are the named constants of formulas. define adds the names of grids.
var numbers = map[string]int64{"OPEN": 0, "PERIODIC": 1, "NO_RANK": ProcNull, "NOTHING": NoValue}

// ProcNull is the value of MPI_PROC_NULL in traces.
const ProcNull = -3

var (
	functions = make(map[string]*function)
	defined   []*function // functions made from definitions, in their order
	grids     []*Grid
)

// define fills functions and grids before the first formula is parsed.
var define = sync.OnceFunc(func() {
	for _, f := range natives {
		f.ready()
	}
	const (
		flat            = "divisor(ranks, 2)"
		x, y            = "divisor(ranks, 3)", "divisor(ranks / divisor(ranks, 3), 2)"
		shortest, other = "balanced(ranks)", "divisor(ranks / balanced(ranks), 2)"
	)
	for _, g := range []struct {
		name      string
		reordered bool
		sides     []string
	}{
		{"GRID_2D", false, []string{flat, "ranks / " + flat}},
		{"GRID_2D_LONGEST_FIRST", true, []string{"ranks / " + flat, flat}},
		// As many ranks as form a square; the others are outside.
		{"GRID_SQUARE", false, []string{"root(ranks)", "root(ranks)"}},
		{"GRID_3D", false, []string{x, y, "ranks / " + x + " / " + y}},
		{"GRID_3D_REVERSED", true, []string{"ranks / " + x + " / " + y, y, x}},
		{"GRID_3D_BALANCED", false, []string{shortest, other, "ranks / " + shortest + " / " + other}},
		{"GRID_3D_BALANCED_LONGEST_FIRST", true, []string{"ranks / " + shortest + " / " + other, other, shortest}},
	} {
		numbers[g.name] = int64(len(grids))
		made := &Grid{Name: g.name, Dimensions: len(g.sides), IsAxisPermutation: g.reordered}
		for _, s := range g.sides {
			e, err := parse(s, nil)
			if err != nil {
				panic(err)
			}
			made.sides = append(made.sides, e)
		}
		grids = append(grids, made)
	}
	comment := ""
	for line := range strings.Lines(definitions) {
		line, after, _ := strings.Cut(strings.TrimSpace(line), "//")
		head, body, ok := strings.Cut(line, " = ")
		if !ok {
			comment += after
			continue
		}
		name, parameters, _ := strings.Cut(strings.TrimSuffix(head, ")"), "(")
		f := &function{name: name, comment: comment + after, parameters: strings.Split(parameters, ", ")}
		functions[name] = f // registered before its body is parsed, as it may call itself
		var err error
		if f.body, err = parse(body, f.parameters); err != nil {
			panic(fmt.Sprintf("%s: %v", name, err))
		}
		f.ready()
		defined = append(defined, f)
		comment = ""
	}
})

// ready registers a function under its name and compiles it. Functions of grids are compiled later, for their
// arguments.
func (f *function) ready() {
	functions[f.name] = f
	if f.ofGrid() {
		f.variants = make(map[string]*compiled)
		return
	}
	var any []*Expr
	for i := range f.parameters {
		any = append(any, &Expr{op: opParameter, n: int64(i)})
	}
	f.whole = &compiled{f.code(any, 0)}
}

// CHeader returns the C definitions of the functions that formulas call. The program must define sides[GRIDS][3] and
// mod.
func CHeader() string {
	define()
	var b strings.Builder
	b.WriteString("#define NOTHING INT64_MIN /* a formula has no value here */\n\nenum { OPEN, PERIODIC, NO_RANK = -3 };\nenum grid {")
	for _, g := range grids {
		b.WriteString(" " + g.Name + ",")
	}
	b.WriteString(" GRIDS };\nextern int64_t sides[GRIDS][3];\n")
	write := func(f *function, body string) {
		if f.comment != "" {
			fmt.Fprintf(&b, "\n/* %s */", strings.TrimSpace(f.comment))
		}
		fmt.Fprintf(&b, "\nstatic inline int64_t %s(int64_t %s)\n{\n\t%s\n}\n", f.name, strings.Join(f.parameters, ", int64_t "), body)
	}
	for _, f := range natives {
		if f.c != "" {
			write(f, f.c)
		}
	}
	for _, f := range defined {
		w := writer{style: CStyle{}.complete(), fn: f}
		w.expr(f.body, 0)
		write(f, "return "+w.b.String()+";")
	}
	b.WriteString("\nstatic inline void lay_out(void)\n{\n")
	for _, g := range grids {
		for d := range 3 {
			side := Number(1)
			if d < len(g.sides) {
				side = g.sides[d]
			}
			fmt.Fprintf(&b, "\tsides[%s][%d] = %s;\n", g.Name, d, side)
		}
	}
	b.WriteString("}\n")
	return b.String()
}
