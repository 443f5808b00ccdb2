package extrapolate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
)

// A fitted is a slot with its forms: all of the simplest kind that fits everything seen.
type fitted struct {
	*tried
	text    string // of what the slot is
	natural bool   // it counts something: a form that gives less than nothing is not what the program does
	turn    int    // depth of the loop whose iterations take turns, see turns; 0: none
}

// value returns what all forms agree on.
func (f *fitted) value(e *env) (int64, error) {
	switch {
	case f.wrong != "":
		return 0, errors.New(f.wrong)
	case len(f.forms) == 0:
		return 0, errors.New("no form fits")
	}
	first, said := int64(0), -1
	for i := range f.forms {
		switch v, ok := f.forms[i].at(e); {
		case f.natural && v < 0 && v != asked:
		case ok && said < 0:
			first, said = v, i
		case ok && v != first:
			return 0, fmt.Errorf("rank %d has %d by %s, %d by %s", e.rank, first, f.forms[said].name, v, f.forms[i].name)
		}
	}
	if said < 0 {
		return 0, fmt.Errorf("%s says nothing of rank %d", f.forms[0].name, e.rank)
	}
	return first, nil
}

// holds reports whether a form gives all values.
func holds(f *form, obs []env, vals []int64) bool {
	for i := range obs {
		if v, ok := f.at(&obs[i]); !ok || v != vals[i] {
			return false
		}
	}
	return true
}

// tokens are what the text of a form is made of, without the name of the grid, which a program has one of.
var tokens = regexp.MustCompile(`\b[a-z]\w*|\b\d+\b`)

// cost is how long the text of a form is, in bits.
func cost(name string) (bits float64) {
	for _, t := range tokens.FindAllString(name, -1) {
		if n, err := strconv.ParseFloat(t, 64); err == nil {
			bits += math.Log2(1 + n)
		} else {
			bits += bitsOfWord
		}
	}
	return bits
}

const bitsOfWord, bitsMore = 4, 2

// evidence is how much values say, in bits: each its own the first time that it occurs, one in each other run, and which of a run's observations
// have it.
func evidence(obs []env, vals []int64) (bits float64) {
	counts := make(map[int64]map[int64]float64)
	for i, e := range obs {
		once.Of(counts, e.ranks, func() map[int64]float64 { return make(map[int64]float64) })[vals[i]]++
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
		return math.Inf(1) // of a constant there is no simpler form
	}
	return bits
}

// likely reports whether a form is shorter than what the values say that it fits, so that it does not do so by chance.
func (f *form) likely(evidence float64) bool {
	return bare[f.name] || !f.weak && cost(f.name)+bitsMore <= evidence
}

func constant(c int64) form {
	return form{name: fmt.Sprint(c), grid: -1, at: func(*env) (int64, bool) { return c, true }}
}

// fit finds the simplest forms for values seen.
func fit(obs []env, vals []int64) []form {
	if list := plainly(obs, vals); len(list) > 0 {
		return list
	}
	return splits(obs, vals)
}

// plainly finds forms without a condition.
func plainly(obs []env, vals []int64) []form {
	for _, level := range []func([]env, []int64) []form{singly, spreads, pairsOfTests, planes, shares2, blocks} {
		if list := level(obs, vals); len(list) > 0 {
			return list
		}
	}
	return nil
}

// singly finds forms without a condition and with one term, which may be about groups of ranks that follow one another.
func singly(obs []env, vals []int64) []form {
	if out := barely(obs, vals); len(out) > 0 {
		return out
	}
	out := multiples(obs, vals)
	if two := lines(tests, obs, vals); len(two) > 0 { // two values, told apart by something simple
		return append(out, two...)
	}
	highest := slices.MaxFunc(obs, func(a, b env) int { return cmp.Compare(a.rank, b.rank) }).rank // up to which groups are seen
	if highest < 2 || !ofRank(obs, vals, highest) {
		return out
	}
	return append(out, lines(digits[:3*(min(highest, mostInGroup)-1)], obs, vals)...)
}

// simply finds those that are not about groups.
func simply(obs []env, vals []int64) []form {
	if out := barely(obs, vals); len(out) > 0 {
		return out
	}
	return multiples(obs, vals)
}

func multiples(obs []env, vals []int64) []form {
	return append(lines(terms, obs, vals), shares(obs, vals)...)
}

func alike(vals []int64) bool {
	return !slices.ContainsFunc(vals, func(v int64) bool { return v != vals[0] })
}

// barely finds forms without a number that was chosen, and constants.
func barely(obs []env, vals []int64) (out []form) {
	if alike(vals) {
		return []form{constant(vals[0])}
	}
	for i := range atoms {
		if holds(&atoms[i], obs, vals) {
			out = append(out, atoms[i])
		}
	}
	for i := range tests {
		if holds(&tests[i], obs, vals) {
			out = append(out, tests[i])
		}
		if f := not(&tests[i]); holds(&f, obs, vals) {
			out = append(out, f)
		}
	}
	return out
}

// lines finds a·u + b of terms, of what are numbers.
func lines(terms []form, obs []env, vals []int64) (out []form) {
	if slices.Contains(vals, asked) {
		return nil
	}
	for i := range terms {
		if f, ok := line(&terms[i], obs, vals); ok {
			out = append(out, f)
		}
	}
	return out
}

// ofRank reports whether values depend on nothing but the rank.
func ofRank(obs []env, vals []int64, highest int64) bool {
	seen := make([]int, highest+1) // observations, from 1
	for i, e := range obs {
		if k := seen[e.rank]; k > 0 && vals[k-1] != vals[i] {
			return false
		}
		seen[e.rank] = i + 1
	}
	return true
}

func not(f *form) form {
	at := f.at
	return form{name: "!" + inner(f.name), grid: f.grid, at: func(e *env) (int64, bool) {
		v, ok := at(e)
		return 1 - v, ok
	}}
}

// scaled names a·u + b.
func scaled(a int64, u string, b int64) string {
	if a != 1 {
		u = fmt.Sprintf("%d * %s", a, inner(u))
	}
	if b != 0 {
		u = plus(u, b, "")
	}
	return u
}

// line finds a·u + b.
func line(u *form, obs []env, vals []int64) (form, bool) {
	u0, ok0 := u.at(&obs[0])
	if !ok0 {
		return form{}, false
	}
	for i := range obs {
		u1, ok := u.at(&obs[i])
		if !ok {
			return form{}, false
		}
		if u1 == u0 {
			if vals[i] != vals[0] {
				return form{}, false
			}
			continue
		}
		dv, du := vals[i]-vals[0], u1-u0
		if dv%du != 0 {
			return form{}, false
		}
		a := dv / du
		b := vals[0] - a*u0
		at := u.at
		f := form{name: scaled(a, u.name, b), grid: u.grid, at: func(e *env) (int64, bool) {
			v, ok := at(e)
			return a*v + b, ok
		}}
		return f, holds(&f, obs, vals)
	}
	return form{}, false
}

// usual is up to what a multiplier of shares is one that programs have: values of an element, bytes of some.
const usual = 64

// multipliers are the divisors of what all values are multiples of, usual ones first; these alone if something was found.
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

// shares finds m·share(total, parts, at), and m times the half of that. A share grows with the total: the smallest and the largest total that fit
// stand for all between.
func shares(obs []env, vals []int64) (out []form) {
	all := divisor(vals)
	if all == 0 {
		return nil
	}
	var known [][2]int64 // parts and number of some values
	for _, p := range parts {
		known = known[:0]
		for _, m := range multipliers(all, len(out) > 0) {
			for half := int64(1); half <= 2; half++ {
				if half > 1 && !strings.HasPrefix(p.name, "share") { // a program halves its own block
					break
				}
				low, high := int64(0), int64(math.MaxInt64)
				for i := 0; i < len(obs) && low <= high; i++ {
					if i == len(known) {
						n, at := p.of(&obs[i])
						known = append(known, [2]int64{n, at})
					}
					if known[i][0] < 1 { // of what is no list
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
					out = append(out, form{name: scaled(m, one.name+" / 2", 0), grid: p.grid, at: func(e *env) (int64, bool) {
						v, ok := one.at(e)
						return m * (v / half), ok
					}})
				}
			}
		}
	}
	return out
}

// ends are the first and the last number of a range.
func ends(low, high int64) []int64 {
	switch {
	case low > high:
		return nil
	case low == high:
		return []int64{low}
	}
	return []int64{low, high}
}

// shares2 finds m times the product of two shares of one total, on different sides of a grid.
func shares2(obs []env, vals []int64) (out []form) {
	all := divisor(vals)
	if all == 0 || slices.Contains(vals, 0) {
		return nil
	}
	for i, p := range parts {
		for _, q := range parts[i+1:] {
			if p.grid != q.grid || p.grid < 0 || p.all || q.all {
				continue
			}
			for _, m := range multipliers(all, len(out) > 0) {
				at := func(total int64, e *env) int64 {
					a, x := p.of(e)
					b, y := q.of(e)
					return share(total, a, x) * share(total, b, y)
				}
				low, high := int64(1), int64(1<<40)
				for k := 0; k < len(obs) && low <= high; k++ {
					v := vals[k] / m
					most := int64(math.Sqrt(float64(v)))
					a, _ := p.of(&obs[k])
					b, _ := q.of(&obs[k])
					most = (most + 2) * max(a, b)
					low = max(low, int64(sort.Search(int(most), func(n int) bool { return at(int64(n), &obs[k]) >= v })))
					high = min(high, int64(sort.Search(int(most), func(n int) bool { return at(int64(n), &obs[k]) > v }))-1)
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

// planes finds a·u + b·w + c. Values that only differ between runs are too few for that many pairs of terms: some would fit by chance.
func planes(obs []env, vals []int64) (out []form) {
	same, of := true, make(map[int64]int64)
	for i, e := range obs {
		v, known := of[e.ranks]
		same = same && (!known || v == vals[i])
		of[e.ranks] = vals[i]
	}
	if same || slices.Contains(vals, asked) {
		return nil
	}
	for i := range terms {
		for k := range terms[:i] {
			u, w := &terms[i], &terms[k]
			if u.grid >= 0 && w.grid >= 0 && u.grid != w.grid {
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
		x, _ = u.at(&obs[i])
		y, _ = w.at(&obs[i])
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
			fu, fw := u.at, w.at
			f := form{name: scaled(a, u.name, 0) + " + " + scaled(b, w.name, c), grid: max(u.grid, w.grid), at: func(e *env) (int64, bool) {
				x, ok1 := fu(e)
				y, ok2 := fw(e)
				return a*x + b*y + c, ok1 && ok2
			}}
			return f, holds(&f, obs, vals)
		}
	}
	return form{}, false
}

// pairsOfTests finds two tests of which both hold, or one of both.
func pairsOfTests(obs []env, vals []int64) (out []form) {
	for _, v := range vals {
		if v != 0 && v != 1 {
			return nil
		}
	}
	var both []form
	for i := range tests {
		both = append(both, tests[i], not(&tests[i]))
	}
	for i := range both {
		for k := range both[:i] {
			a, b := both[i], both[k]
			if a.grid >= 0 && b.grid >= 0 && a.grid != b.grid {
				continue
			}
			for _, either := range []bool{false, true} {
				word := " && "
				if either {
					word = " || "
				}
				f := form{name: inner(a.name) + word + inner(b.name), grid: max(a.grid, b.grid), at: func(e *env) (int64, bool) {
					x, ok1 := a.at(e)
					y, ok2 := b.at(e)
					if either {
						return x | y, ok1 && ok2
					}
					return x & y, ok1 && ok2
				}}
				if holds(&f, obs, vals) {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// splits finds a test that separates two kinds of ranks, of which one has a simple form, and the other that or a product of shares.
func splits(obs []env, vals []int64) (out []form) {
	for i := range tests {
		t := tests[i]
		var o [2][]env
		var v [2][]int64
		for k := range obs {
			x, _ := t.at(&obs[k])
			o[x], v[x] = append(o[x], obs[k]), append(v[x], vals[k])
		}
		if len(o[0]) < 2 || len(o[1]) < 2 {
			continue
		}
		no, yes := simply(o[0], v[0]), simply(o[1], v[1])
		switch {
		case len(no) == 0 && len(yes) == 0:
			continue
		case len(no) == 0:
			no = shares2(o[0], v[0])
		case len(yes) == 0:
			yes = shares2(o[1], v[1])
		}
		if len(no) == 0 || len(yes) == 0 {
			continue
		}
		said := [2]float64{evidence(o[0], v[0]), evidence(o[1], v[1])}
		for a := range no {
			for b := range yes {
				x, y := no[a], yes[b]
				g := []int{t.grid, x.grid, y.grid}
				one := -1
				mixed := false
				for _, n := range g {
					mixed = mixed || n >= 0 && one >= 0 && n != one
					one = max(one, n)
				}
				if mixed {
					continue
				}
				weak := !x.likely(said[0]) || !y.likely(said[1])
				out = append(out, form{name: fmt.Sprintf("%s ? %s : %s", inner(t.name), inner(y.name), inner(x.name)), grid: one, weak: weak, at: func(e *env) (int64, bool) {
					c, ok := t.at(e)
					if !ok {
						return 0, false
					}
					if c != 0 {
						return y.at(e)
					}
					return x.at(e)
				}})
			}
		}
	}
	return out
}
