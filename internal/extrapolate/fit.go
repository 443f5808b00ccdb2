package extrapolate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/once"
)

// A fitted is a value that is fitted, with its forms: all of the simplest kind that fit every observation.
type fitted struct {
	*tried
	text    string // name of the value in messages (e.g. "count of MPI_Send at …")
	node    *node
	natural bool // it is a count: a form that gives a negative value is ignored
	spare   bool // it is a buffer's address, which may remain unknown
	skips   bool // a 0 that no trace shows is refused: the program may do something else then
	// depth of the loop over whose iterations ranks take turns, as turns finds; 0: none
	turn int

	// guard of the loop around it: where the guard's condition is 0, so is the value; nil: none
	guard   *guard
	guarded int // depth of the loop that guard belongs to
}

// value returns the value that all forms give for the variables e. It returns an error if they differ or the value is
// refused.
func (f *fitted) value(e *env) (int64, error) {
	switch {
	case f.wrong != "":
		return 0, errors.New(f.wrong)
	case len(f.forms) == 0:
		return 0, errors.New("no form fits")
	}
	first, said, err := f.agreed(e, false)
	if err != nil && f.even {
		if v, by, failed := f.agreed(e, true); failed == nil && by >= 0 {
			first, said, err = v, by, nil
			f.assumed.Store(&f.forms[by])
		}
	}
	switch {
	case err != nil:
		return 0, err
	case said < 0:
		return 0, fmt.Errorf("%s says nothing of rank %d", f.forms[0], e[expr.VariableRank])
	case f.skips && first == 0 && f.least > 0:
		return 0, &vanishing{e[expr.VariableRank], f.forms[said], false}
	case f.forms[said].less && f.forms[said].evenAt(e):
		return 0, &vanishing{e[expr.VariableRank], f.forms[said], true}
	}
	return first, nil
}

// agreed returns the value on which forms agree, and the index of the first form that gives a value; -1: no form does.
// If even is set, forms whose division leaves a remainder don't count.
func (f *fitted) agreed(e *env, even bool) (first int64, said int, err error) {
	said = -1
	for i := range f.forms {
		switch v, ok := f.forms[i].Eval(e); {
		case f.natural && v < 0 && v != asked:
		case even && !(f.forms[i].even && f.forms[i].evenAt(e)):
		case ok && said < 0:
			first, said = v, i
		case ok && v != first:
			return 0, said, fmt.Errorf("rank %d has %d by %s, %d by %s", e[expr.VariableRank], first, f.forms[said], v, f.forms[i])
		}
	}
	return first, said, nil
}

// A vanishing is the error that a count becomes 0, or that the last share of a division becomes equal to the others,
// although no trace shows that. Programs often behave differently then.
type vanishing struct {
	rank int64
	form form
	even bool
}

func (e *vanishing) Error() string {
	if e.even {
		return fmt.Sprintf("all have the same by %s, and no trace shows what the program does then", e.form)
	}
	return fmt.Sprintf("rank %d has 0 by %s, and no trace shows what the program does then", e.rank, e.form)
}

// vanishes reports whether a form with value v for the variables e would be refused there as a vanishing.
func (f *form) vanishes(e *env, v int64) bool { return v == 0 || f.less && f.evenAt(e) }

// holds reports whether a form gives vals for all observations.
func holds(f *form, obs []env, vals []int64) bool {
	for i := range obs {
		if v, ok := f.Eval(&obs[i]); !ok || v != vals[i] {
			return false
		}
	}
	return true
}

const bitsMore = 2

// evidence is the information in values, in bits. It counts each distinct value once, one bit for each further run with
// that value, and the choice of the observations of a run that have it.
func evidence(obs []env, vals []int64) (bits float64) {
	counts := make(map[int64]map[int64]float64)
	for i, e := range obs {
		once.GetOrMake(counts, e[expr.VariableRankCount], func() map[int64]float64 { return make(map[int64]float64) })[vals[i]]++
	}
	logFactorial := func(n float64) float64 {
		g, _ := math.Lgamma(n + 1)
		return g / math.Ln2
	}
	seen := make(map[int64]bool)
	for _, run := range counts {
		all := 0.0
		for v, n := range run {
			if bits++; !seen[v] {
				bits += math.Log2(1+math.Abs(float64(v))) - 1
			}
			seen[v] = true
			bits -= logFactorial(n)
			all += n
		}
		bits += logFactorial(all)
	}
	if len(seen) == 1 {
		return math.Inf(1) // no form is simpler than a constant
	}
	return bits
}

// likely reports whether a form's description is shorter than the evidence, in bits, so that it does not fit by chance.
// Some forms without fitted numbers are always likely.
func (f *form) likely(evidence float64) bool {
	return !f.weak && f.DescriptionBits()+bitsMore <= evidence || bare[f.String()]
}

func constant(c int64) form {
	return form{Expr: expr.Number(c), grid: gridless}
}

// fit finds the simplest forms that fit all values.
func fit(obs []env, vals []int64) []form {
	if list := plainly(obs, vals); len(list) > 0 {
		return list
	}
	return splits(obs, vals)
}

// plainly finds forms that don't consist of two forms selected by a test.
func plainly(obs []env, vals []int64) []form {
	for _, level := range []func([]env, []int64) []form{singly, spreads, pairsOfTests, planes, shares2, cyclic, blocks, overlaps} {
		if list := level(obs, vals); len(list) > 0 {
			return list
		}
	}
	return nil
}

// singly finds forms with one term and without a test that selects. Forms about groups of consecutive ranks are
// included.
func singly(obs []env, vals []int64) []form {
	if out := barely(obs, vals); len(out) > 0 {
		return out
	}
	out := multiples(obs, vals)
	if two := lines(tests, obs, vals); len(two) > 0 { // two values, selected by a simple test
		return append(out, two...)
	}
	highest := highestOf(obs) // groups of at most this size are tried
	if highest < 2 || !ofRank(obs, vals, highest) {
		return out
	}
	return append(out, lines(digits[:3*(min(highest, mostInGroup)-1)], obs, vals)...)
}

// highestOf is the highest rank in the observations.
func highestOf(obs []env) int64 {
	return slices.MaxFunc(obs, func(a, b env) int { return cmp.Compare(a[expr.VariableRank], b[expr.VariableRank]) })[expr.VariableRank]
}

// simply finds forms with one term and without a test that selects. Forms about groups of consecutive ranks are left
// out.
func simply(obs []env, vals []int64) []form {
	if out := barely(obs, vals); len(out) > 0 {
		return out
	}
	return multiples(obs, vals)
}

func multiples(obs []env, vals []int64) []form {
	if out := append(lines(terms, obs, vals), shares(obs, vals)...); len(out) > 0 {
		return out
	}
	return lines(sizes, obs, vals)
}

func alike(vals []int64) bool {
	return !slices.ContainsFunc(vals, func(v int64) bool { return v != vals[0] })
}

// barely finds listed forms that fit as they are, without fitted numbers; and constants.
func barely(obs []env, vals []int64) (out []form) {
	if alike(vals) {
		return []form{constant(vals[0])}
	}
	look, in := outlookOf(obs), withinOf(obs)
	for i := range atoms {
		if atoms[i].within&^in == 0 && look.may(&atoms[i], vals) && holds(&atoms[i], obs, vals) {
			out = append(out, atoms[i])
		}
	}
	if !logical(vals) {
		return shorter(out, bareLonger)
	}
	wanted, highest := bitsOf(len(vals), func(i int) bool { return vals[i] != 0 }), highestOf(obs)
	for i, c := range columns(obs) {
		switch {
		case tests[i].from > highest || tests[i].within&^in != 0:
		case slices.Equal(c[0], wanted):
			out = append(out, tests[i])
		case slices.Equal(c[1], wanted):
			out = append(out, nots[i])
		}
	}
	return shorter(out, bareLonger)
}

// lines finds forms a·u + b with u from terms, unless some value is the marker asked.
func lines(terms []form, obs []env, vals []int64) (out []form) {
	if slices.Contains(vals, asked) {
		return nil
	}
	look, highest, in := outlookOf(obs), highestOf(obs), withinOf(obs)
	for i := range terms {
		if terms[i].from > highest || terms[i].within&^in != 0 {
			continue
		}
		if f, ok := line(&terms[i], &look, obs, vals); ok {
			out = append(out, f)
		}
	}
	return out
}

// ofRank reports whether values depend on the rank alone.
func ofRank(obs []env, vals []int64, highest int64) bool {
	seen := make([]int, highest+1) // by rank: index of its first observation plus 1; 0: none
	for i, e := range obs {
		if k := seen[e[expr.VariableRank]]; k > 0 && vals[k-1] != vals[i] {
			return false
		}
		seen[e[expr.VariableRank]] = i + 1
	}
	return true
}

func not(f *form) form { return form{Expr: expr.Not(f.Expr), grid: f.grid} }

// scaled returns the formula a·u + b.
func scaled(a int64, u *expr.Expr, b int64) *expr.Expr {
	return expr.Sum(expr.Product(expr.Number(a), u), expr.Number(b))
}

// line finds a and b of the form a·u + b. look has the values of u at the first and the last observation.
func line(u *form, look *outlook, obs []env, vals []int64) (form, bool) {
	u0, u1 := look.first.values[u.number], look.last.values[u.number]
	v0, v1 := vals[0], vals[len(vals)-1]
	if u0 == expr.NoValue || u1 == expr.NoValue {
		return form{}, false
	}
	for i := 0; u1 == u0; i++ { // search for an observation with another value of u: two values determine a
		if v1 != v0 || i == len(obs) {
			return form{}, false
		}
		var ok bool
		if u1, ok = u.Eval(&obs[i]); !ok {
			return form{}, false
		}
		v1 = vals[i]
	}
	if (v1-v0)%(u1-u0) != 0 {
		return form{}, false
	}
	a := (v1 - v0) / (u1 - u0)
	b := v0 - a*u0
	for i := range obs {
		if v, ok := u.Eval(&obs[i]); !ok || a*v+b != vals[i] {
			return form{}, false
		}
	}
	return form{Expr: scaled(a, u.Expr, b), grid: u.grid}, true
}

// usual is the largest multiplier of shares that is common in programs, as values or bytes per element.
const usual = 64

// multipliers lists candidates for the multiplier of a share. all is the greatest common divisor of the values.
// Candidates are its divisors up to usual, and all itself unless a form was found before.
func multipliers(all int64, found bool) (out []int64) {
	for d := int64(1); d <= min(all, usual); d++ {
		if all%d == 0 {
			out = append(out, d)
		}
	}
	if !found && all > usual {
		out = append(out, all)
	}
	return out
}

// shares looks for m·share(total, parts, at), and for m times half of that. A share grows with the total: if the
// smallest and the largest total fit, all between do.
func shares(obs []env, vals []int64) (out []form) {
	all := divisor(vals)
	if all == 0 {
		return nil
	}
	var known [][2]int64 // by observation, as far as needed: number of parts, and index of the part
	look := glanceAt(&obs[0])
	for i := range parts {
		p := &parts[i]
		known = append(known[:0], look.parts[i])
		for _, m := range multipliers(all, len(out) > 0) {
			for half := int64(1); half <= 2; half++ {
				// Programs take half of a rank's own block, not of a rounded share.
				if half > 1 && p.function != "share" {
					break
				}
				low, high := int64(0), int64(math.MaxInt64)
				for i := 0; i < len(obs) && low <= high; i++ {
					if i == len(known) {
						n, at := p.of(&obs[i])
						known = append(known, [2]int64{n, at})
					}
					if known[i][0] < 1 { // the rule has no number of parts here, as for a value that is in no list
						low, high = 1, 0
						break
					}
					n, at, v := known[i][0], known[i][1], vals[i]/m*half
					low, high = max(low, (v-1)*n+at+1), min(high, (v+half-1)*n+at)
				}
				for _, total := range ends(low, high) {
					one := p.share(total)
					if half == 1 {
						out = append(out, product([]form{one}, m, 0))
						continue
					}
					out = append(out, form{Expr: scaled(m, expr.Quotient(one.Expr, expr.Number(half)), 0), grid: p.grid})
				}
			}
		}
	}
	return out
}

// ends returns the first and the last number of a range; one if they are equal, none if the range is empty.
func ends(low, high int64) []int64 {
	switch {
	case low > high:
		return nil
	case low == high:
		return []int64{low}
	}
	return []int64{low, high}
}

// shares2 looks for m times the product of two shares of one total, along different sides of a grid.
func shares2(obs []env, vals []int64) (out []form) {
	all := divisor(vals)
	if all == 0 || slices.Contains(vals, 0) {
		return nil
	}
	// by index in parts, then by observation, as far as needed: number of parts, and index of the part
	known := make([][][2]int64, len(parts))
	at := func(i, k int) (number, at int64) {
		for n := len(known[i]); n <= k; n++ {
			number, at := parts[i].of(&obs[n])
			known[i] = append(known[i], [2]int64{number, at})
		}
		return known[i][k][0], known[i][k][1]
	}
	for i := range parts {
		for k := range parts[i+1:] {
			p, q := &parts[i], &parts[i+1+k]
			if p.grid != q.grid || p.grid < 0 || p.all || q.all {
				continue
			}
			for _, m := range multipliers(all, len(out) > 0) {
				low, high := int64(1), int64(1<<40)
				for n := 0; n < len(obs) && low <= high; n++ {
					v := vals[n] / m
					a, x := at(i, n)
					b, y := at(i+1+k, n)
					if v < 1 || a < 1 || b < 1 { // no share, as the value is in no list
						low, high = 1, 0
						break
					}
					// A share differs from total / parts by less than one.
					root, most := int64(math.Sqrt(float64(v)*float64(a)*float64(b))), max(a, b)
					low, high = max(low, root-most-1), min(high, root+most+1)
					from := low
					first := func(enough func(product int64) bool) int64 {
						return from + int64(sort.Search(int(max(0, high+1-from)), func(more int) bool {
							total := from + int64(more)
							return enough(share(total, a, x) * share(total, b, y))
						}))
					}
					low = first(func(product int64) bool { return product >= v })
					from = low
					high = first(func(product int64) bool { return product > v }) - 1
				}
				for _, total := range ends(low, high) {
					f := product([]form{p.share(total), q.share(total)}, m, 0)
					if f.of = nil; holds(&f, obs, vals) {
						out = append(out, f)
					}
				}
			}
		}
	}
	return out
}

// planes looks for forms a·u + b·w + c with u and w from terms. Values that differ only between runs are too few for so
// large a choice of pairs: some would fit by chance.
func planes(obs []env, vals []int64) (out []form) {
	same, of := true, make(map[int64]int64)
	for i, e := range obs {
		v, known := of[e[expr.VariableRankCount]]
		same = same && (!known || v == vals[i])
		of[e[expr.VariableRankCount]] = vals[i]
	}
	if same || slices.Contains(vals, asked) {
		return nil
	}
	in := withinOf(obs)
	for i := range terms {
		for k := range terms[:i] {
			u, w := &terms[i], &terms[k]
			if (u.within|w.within)&^in != 0 {
				continue
			}
			if _, ok := sharedGrid(u.grid, w.grid); !ok {
				continue
			}
			if f, ok := plane(u, w, obs, vals); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

func plane(u, w *form, obs []env, vals []int64) (form, bool) {
	at := func(i int) (x, y, z int64) {
		x, _ = u.Eval(&obs[i])
		y, _ = w.Eval(&obs[i])
		return x, y, vals[i]
	}
	x0, y0, z0 := at(0)
	var x1, y1, z1 int64
	for i := range obs {
		x2, y2, z2 := at(i)
		x2, y2, z2 = x2-x0, y2-y0, z2-z0
		det := x1*y2 - x2*y1
		switch {
		case x2 == 0 && y2 == 0 && z2 != 0:
			return form{}, false
		case x1 == 0 && y1 == 0:
			x1, y1, z1 = x2, y2, z2
		case det != 0:
			na, nb := z1*y2-z2*y1, x1*z2-x2*z1
			if na%det != 0 || nb%det != 0 {
				return form{}, false
			}
			a, b := na/det, nb/det
			c := z0 - a*x0 - b*y0
			f := form{Expr: expr.Sum(scaled(a, u.Expr, 0), scaled(b, w.Expr, c)), grid: max(u.grid, w.grid)}
			return f, holds(&f, obs, vals)
		}
	}
	return form{}, false
}
