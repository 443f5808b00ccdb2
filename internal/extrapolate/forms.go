package extrapolate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// An env is the values of the variables in an observation, or where a form is evaluated.
type env = expr.VariableValues

// A form is a formula that may give a value of the program on all numbers of ranks.
type form struct {
	*expr.Expr
	grid  int        // index in expr.Grids of the grid that it is about; -1: none
	of    []form     // shares that it is a product of, as quantities of the program; nil: none
	weak  bool       // one of its branches fits so few values that this may be by chance
	even  bool       // its division leaves no remainder in any observation; set only if several forms fit
	exact *expr.Expr // formula that is 1 where the division leaves no remainder; nil: not made yet
	less  bool       // as with function chunk, the last part's share is smaller than the others in every observation

	within within // for listed forms: the contexts that it needs
	number int    // for listed forms: index in listed
	from   int64  // rank from which on it differs from a simpler form: such a rank must have been seen
}

// evenAt reports whether the form's division leaves no remainder for the variables e.
func (f *form) evenAt(e *env) bool {
	exact := f.exact
	if exact == nil {
		exact = f.DivisibilityCondition()
	}
	v, ok := exact.Eval(e)
	return ok && v != 0
}

// within is the set of contexts that a form needs: iterations of a loop, elements of a list.
type within uint8

const (
	loops within = 1 << iota
	lists
)

// withinOf returns the contexts that occur in observations.
func withinOf(obs []env) (w within) {
	for i := range obs {
		if obs[i][expr.VariableLoopTripCount] > 0 {
			w |= loops
		}
		if obs[i][expr.VariableListLength] > 0 {
			w |= lists
		}
	}
	return w
}

// formOf makes a form from the text of a formula. grid is the number of the grid that it needs; gridless: none.
func formOf(grid int, format string, args ...any) form {
	return form{Expr: expr.MustParse(format, args...), grid: grid}
}

const gridless = -1

// sharedGrid returns the grid that several forms are about; gridless if they are about no grid. It returns false if
// they are about different grids.
func sharedGrid(grids ...int) (grid int, ok bool) {
	grid = slices.Max(grids)
	return grid, !slices.ContainsFunc(grids, func(g int) bool { return g >= 0 && g != grid })
}

// The lists of forms, made once before the first extrapolation.
var (
	atoms []form // forms that a value may have as they are
	terms []form // formulas u in forms a·u + b
	tests []form // conditions: forms whose value is 0 or 1
	nots  []form // negations of tests, in the same order
	sizes []form // sizes of groups of consecutive ranks, and numbers of groups
	// three for each size of groups from 2 on: number of the rank's group, index in the group, and whether this index
	// is 0
	digits     []form
	parts      []part      // rules that give a part's share of a total
	axes       []axis      // rules by which the parts of a total are numbered
	spreadings []spreading // rules for dividing a total, the most common first
	rotations  []rotation  // orders in which ranks take turns over iterations

	listed []*form // all atoms, terms, tests, sizes and digits

	// by text of a form: it has no fitted number, and is likely without evidence
	bare = make(map[string]bool)
)

// mostInGroup is the largest number of consecutive ranks in a group, for example on a node.
const mostInGroup = 64

// A division is a number of parts, and the index of one of them, as formulas.
type division struct {
	number, at *expr.Expr
	grid       int
}

func divided(grid int, number, at string) division {
	return division{expr.MustParse("%s", number), expr.MustParse("%s", at), grid}
}

// of evaluates the number of parts and the index of one; number is 0 if one of them is undefined for e.
func (p *division) of(e *env) (number, at int64) {
	number, ok1 := p.number.Eval(e)
	at, ok2 := p.at.Eval(e)
	if !ok1 || !ok2 {
		return 0, 0
	}
	return number, at
}

// A part is a rule that gives one part's share of a total.
type part struct {
	division
	function  string       // name of the function; the total is its first argument
	arguments []*expr.Expr // further arguments of the function
	all       bool         // it divides by the number of ranks, so that shares2 combines it with no other
}

// share returns the form of a part's share of a total, by this rule.
func (p *part) share(total int64) form {
	return form{Expr: expr.CallFunction(p.function, append([]*expr.Expr{expr.Number(total)}, p.arguments...)...), grid: p.grid}
}

// share returns the share of a total that one of several parts gets, given its number from 0.
var share func(total, parts, number int64) int64

// along adds an axis, and the rule that divides by function share along it. number and at are the formulas of the
// number of parts and of the index of one.
func along(grid int, number, at string) {
	p := divided(grid, number, at)
	axes = append(axes, axis{division: p, where: anywhere})
	parts = append(parts, part{p, "share", []*expr.Expr{p.number, p.at}, grid < 0})
}

// even adds rules by which all shares are equal: the total divided by the number of parts, rounded down or up.
func even(grid int, all bool, number string) {
	smallest, largest := divided(grid, number, number+" - 1"), divided(grid, number, "0")
	parts = append(parts, part{smallest, "floor_div", []*expr.Expr{smallest.number}, all}, part{largest, "ceil_div", []*expr.Expr{largest.number}, all})
}

// formulas parses a text with a formula on each line.
func formulas(text string) (list []form) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		list = append(list, formOf(gridless, "%s", strings.TrimSpace(line)))
	}
	return list
}

// both returns a text twice: with + in place of ±, and with -.
func both(text string) string {
	return strings.ReplaceAll(text, "±", "+") + strings.ReplaceAll(text, "±", "-")
}

// trees returns formulas of children and parents in trees of degree 2 to mostChildren, with roots other than rank 0.
func trees() (out string) {
	for k := 2; k <= mostChildren; k++ {
		for _, root := range roots {
			at := "mod(rank - (" + root + "), ranks)"
			out += fmt.Sprintf("\nmod(%d * %s + 1 + i + (%s), ranks)", k, at, root)
			out += fmt.Sprintf("\n%s > 0 ? mod((%s - 1) / %d + (%s), ranks) : NOTHING", at, at, k, root)
		}
	}
	return out
}

// roots are the ranks other than 0 that programs use as root, as formulas.
var roots = []string{"ranks - 1", "ranks / 2", "ranks / 3", "1"}

// turned returns a text once for each of roots, with TURNED replaced by the rank counted from that root.
func turned(text string) (out string) {
	for _, root := range roots {
		out += strings.ReplaceAll(text, "TURNED", "mod(rank - ("+root+"), ranks)")
	}
	return out
}

// Limits of the numbers in tests.
const (
	mostModulo    = 9 // limit of c in the tests rank % c == d, rank == c and rank < c + 1; c is below it
	mostThreshold = 33
)

// shifted are formulas of the ranks at a fixed distance from a rank.
const shifted = `
mod(rank ± DISTANCE, ranks)
exists(rank ± DISTANCE)`

var makeLists = sync.OnceFunc(func() {
	share = expr.FunctionNamed("share")
	for _, names := range [][2]string{{"share", "share_start"}, {"floor_share", "floor_start"}, {"rest_share", "rest_start"}, {"chunk", "chunk_start"}, {"late_share", "late_start"}} {
		spreadings = append(spreadings, spreading{names[0], names[1], expr.FunctionNamed(names[0]), expr.FunctionNamed(names[1])})
	}
	terms = formulas(`
		ranks
		rank
		i
		j
		k
		n
		m
		n - i
		power(i)
		whole(ranks)
		floor_log2(ranks)
		ceil_log2(ranks)
		ranks / 2
		rank / 2
		least(power(i), ranks - rank)
		least(power(i), ranks - rank - power(i))
		lowest_bit(rank)
		least(lowest_bit(rank), ranks - rank)
		children(rank)
		rank % 2
		(rank > 0) + (rank < ranks - 1)
		(2 * rank + 1 < ranks) + (2 * rank + 2 < ranks)
		least(power(n - 1 - i), ranks - rank - power(n - 1 - i))
		least(power(i), ranks - power(i))
		i * ranks
		root(ranks)
		rank / root(ranks)
		rank % root(ranks)
		mod(rank - 1, ranks)
		mod(rank + 1, ranks)` + turned(`
		lowest_bit(TURNED)
		children(TURNED)
		least(lowest_bit(TURNED), ranks - TURNED)`))
	along(gridless, "ranks", "rank")
	along(gridless, "m", "k")
	along(gridless, "ranks - 1", "rank - 1")
	axes[len(axes)-1].others = true
	for _, at := range []string{"rank - 1", "rank + 1"} {
		axes = append(axes, axis{divided(gridless, "ranks", "mod("+at+", ranks)"), anywhere, true})
	}
	for _, i := range []string{"i", "i + 1"} { // the partner changes from iteration to iteration
		for _, at := range []string{i, "rank + (" + i + ")", "rank - (" + i + ")"} {
			axes = append(axes, axis{division: divided(gridless, "ranks", "mod("+at+", ranks)"), where: inLoop})
		}
	}
	for c := 2; c <= 8; c++ {
		sizes = append(sizes, formOf(gridless, "least(%d, ranks - rank)", c), formOf(gridless, "least(%d, ranks - rank / %[1]d * %[1]d)", c),
			formOf(gridless, "ceil_div(ranks, %d)", c), formOf(gridless, "ranks / %d", c), formOf(gridless, "share(ranks, %d, rank %% %[1]d)", c))
	}
	for c := int64(2); c <= mostInGroup; c++ {
		digits = append(digits, formOf(gridless, "rank / %d", c), formOf(gridless, "rank %% %d", c), formOf(gridless, "rank %% %d == 0", c))
	}
	even(gridless, true, "ranks * ranks")
	even(gridless, true, "ranks")
	for _, i := range []string{"i", "i + 1", "n - i", "n - 1 - i"} { // the exponents of recursive halving and doubling
		even(gridless, false, "power("+i+")")
	}

	atoms = formulas("rank\nranks\nranks - 1" +
		strings.ReplaceAll(both(shifted)+"\nexists(rank ^ DISTANCE)", "DISTANCE", "1") +
		strings.ReplaceAll(both(shifted)+"\nexists(rank ^ DISTANCE)", "DISTANCE", "2") + strings.ReplaceAll(both(shifted), "DISTANCE", "3") + strings.ReplaceAll(both(shifted), "DISTANCE", "4") + `
		exists(rank ^ ranks / 2)
		exists(rank ^ ranks / power(i + 1))
		exists(rank ^ power(i))` + both(`
		mod(rank ± power(i), ranks)
		exists(rank ± power(i))
		exists(rank ± lowest_bit(rank))
		exists(rank ± whole(ranks))
		exists(rank ± ranks / 2)
		mod(rank ± i, ranks)
		mod(rank ± (i + 1), ranks)`) + `
		ranks - 1 - rank
		ranks - 1 + ranks % 2
		gray(rank)
		ungray(rank)
		gray(mod(ungray(rank) + 1, ranks))
		gray(mod(ungray(rank) - 1, ranks))
		ungray(mod(gray(rank) + 1, ranks))
		ungray(mod(gray(rank) - 1, ranks))
		exists(beside(i))
		exists(beside(i + 1))
		there(beside(i))
		there(beside(i + 1))
		there(rank ^ power(i))
		there(rank + power(i))
		there(rank - power(i))
		unfolded(folded(rank) ^ power(i), 1)
		unfolded(folded(rank) ^ power(i), 0)
		round_robin(i)
		round_robin(i + 1)
		round_robin_first(i)
		round_robin_first(i + 1)
		mod(i - rank, ranks)
		mod(i + 1 - rank, ranks)
		exists(rank ^ i)
		exists(rank ^ (i + 1))
		i % ranks
		i % most(ranks - 1, 1)
		1 + i % most(ranks - 1, 1)
		exists(2 * rank + 1)
		exists(2 * rank + 2)
		exists(2 * rank + 1 + i)
		exists((rank - 1) / 2)
		exists(3 * rank + 1 + i)
		exists((rank - 1) / 3)
		exists(4 * rank + 1 + i)
		exists((rank - 1) / 4)` + trees() + `
		exists(ranks - 1 - 2 * (ranks - 1 - rank) - 1 - i)
		exists(ranks - 1 - (ranks - 2 - rank) / 2)
		mod(rank + power(i % ceil_log2(ranks)), ranks)
		mod(rank - power(i % ceil_log2(ranks)), ranks)
		exists(rank ^ power(i % ceil_log2(ranks)))` + turned(`
		mod(rank - lowest_bit(TURNED), ranks)
		TURNED + power(i) < ranks ? mod(rank + power(i), ranks) : NOTHING
		TURNED + power(n - 1 - i) < ranks ? mod(rank + power(n - 1 - i), ranks) : NOTHING`) + `
		exists(rank + power(n - 1 - i))
		exists(i)
		exists(i + 1)
		exists(i >= rank ? i + 1 : i)`)
	tests = formulas(`
		rank == 0
		rank == ranks - 1
		rank < ranks - whole(ranks)
		rank >= whole(ranks)
		rank % 2 == 1
		(rank & power(i)) != 0
		rank + power(i) < ranks
		rank % 2 == 0 && rank + 1 < ranks
		i == 0
		i == n - 1
		k == rank
		i == rank
		k == 0
		rank < ranks / 2
		rank < (ranks + 1) / 2
		rank - ranks / 2 < ranks / 2
		2 * rank + 1 < ranks
		2 * rank + 2 < ranks
		ranks % 2 == 0
		ranks % 3 == 0
		ranks % 4 == 0
		ranks == whole(ranks)
		rank < 2 * (ranks - whole(ranks))
		left_out(0) != 0
		left_out(1) != 0
		rank < mod(i - rank, ranks)
		rank < round_robin(i)
		rank < round_robin_first(i)
		rank % power(i) == 0
		rank % power(i + 1) == 0
		rank % root(ranks) == 0` + turned(`
		TURNED == 0
		TURNED % 2 == 1
		TURNED == ranks - 1
		(TURNED & power(i)) != 0
		TURNED + power(i) < ranks`))
	for c := range int64(mostModulo) {
		for d := range c {
			if c > 2 {
				f := formOf(gridless, "rank %% %d == %d", c, d)
				f.from = c + d
				tests = append(tests, f)
			}
		}
		if c > 0 {
			tests = append(tests, formOf(gridless, "rank == %d", c), formOf(gridless, "rank < %d", c+1))
		}
	}
	for c := int64(3); c <= mostThreshold; c++ {
		tests = append(tests, formOf(gridless, "ranks >= %d", c))
	}
	rotations = append(rotations, rotation{formOf(gridless, "ranks"), formOf(gridless, "rank")})
	for g := range expr.Grids() {
		forGrid(g)
	}
	makeGuards()
	for i := range tests {
		nots = append(nots, not(&tests[i]))
	}
	for _, list := range [][]form{atoms, terms, tests, sizes, digits} {
		for i := range list {
			list[i].number = len(listed)
			if list[i].UsesVariable(expr.VariableLoopIteration, expr.VariableLoopTripCount, expr.VariableOuterIteration) {
				list[i].within |= loops
			}
			if list[i].UsesVariable(expr.VariableListIndex, expr.VariableListLength) {
				list[i].within |= lists
			}
			listed = append(listed, &list[i])
		}
	}
	for _, f := range slices.Concat(atoms, terms, tests) {
		// In few runs a grid's side has few values, so that it fits by chance.
		bare[f.String()] = !strings.HasPrefix(f.String(), "side(")
	}
	for i := range nots {
		bare[nots[i].String()] = strings.HasPrefix(tests[i].String(), "ranks %")
	}
})

// forGrid adds the forms, axes and rules about the grid with index g in expr.Grids.
func forGrid(g int) {
	name, n := expr.Grids()[g].Name, expr.Grids()[g].Dimensions
	atom := func(format string, args ...any) { atoms = append(atoms, formOf(g, format, args...)) }
	term := func(format string, args ...any) { terms = append(terms, formOf(g, format, args...)) }
	test := func(format string, args ...any) { tests = append(tests, formOf(g, format, args...)) }
	for code := range 27 {
		x, y, z := code%3-1, code/3%3-1, code/9-1
		if n == 2 && z != 0 || x == 0 && y == 0 && z == 0 {
			continue
		}
		at := strings.Join([]string{name, strconv.Itoa(x), strconv.Itoa(y), strconv.Itoa(z)}, ", ")
		atom("neighbour(%s, OPEN)", at)
		atom("neighbour(%s, PERIODIC)", at)
		test("neighbour(%s, OPEN) >= 0", at)
	}
	for d := range n {
		side, coordinate := formOf(g, "side(%s, %d)", name, d), formOf(g, "coordinate(%s, %d)", name, d)
		rotations = append(rotations, rotation{side, coordinate})
		term("%s", side)
		atom("i %% %s", side)
		term("floor_log2(%s)", side)
		term("%s", coordinate)
		along(g, side.String(), coordinate.String())
		axes = append(axes, axis{division: divided(g, side.String(), "coordinate_of("+name+", "+strconv.Itoa(d)+", k)"), where: inList})
		even(g, false, side.String())
		even(g, true, "ranks * "+side.String())
	}
	if name == "GRID_SQUARE" {
		term("side(%s, 0) * side(%[1]s, 1)", name)
		test("rank < side(%s, 0) * side(%[1]s, 1)", name)
		rotations = append(rotations, rotation{number: formOf(g, "side(%s, 0) * side(%[1]s, 1)", name)})
	}
	if n == 2 {
		test("side(%s, 0) == side(%[1]s, 1)", name)
		test("coordinate(%s, 0) == coordinate(%[1]s, 1)", name)
		for d := range 2 {
			for code := range 6 {
				atom("sheared(%s, %d, %d, %d)", name, d, 1-code/3*2, code%3-1)
			}
		}
		atom("exists(rank ^ side(%s, 0) / power(i + 1))", name)
		atom("transposed_blocks(%s)", name)
		atom("transposed(%s)", name)
	}
	for order := range 4 { // orders in which programs list the neighbours that a rank has
		atom("existing_neighbour(%s, %d, i)", name, order)
		if order == 0 {
			term("existing_neighbours(%s)", name)
		}
	}
}
