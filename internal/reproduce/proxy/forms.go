package proxy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/mpi"
)

// formed finds a form that traces know for the values of some ranks. kind names
// constants at edges.
func (f *fitter) formed(kind mpi.Kind, ranks []int, vals []int64) (string, bool) {
	fit := f.fit
	if len(ranks) != len(f.members) {
		fit = fitterOf(f.g, ranks)
	}
	col := column.Of(vals...)
	form, _ := fit.Fit(&col, false)
	if !form.Kind.Closed() {
		return "", false
	}
	return formula(kind, &form)
}

// formula writes a form as an expression of the rank. Of an edge the first
// coefficients are those of the form inside.
func formula(kind mpi.Kind, form *column.Form) (string, bool) {
	if form.Kind&column.Edge != 0 {
		inner := form.Inner()
		inside, ok := formula(kind, &inner)
		e := form.C[inner.Kind.Coefficients():]
		block, width, last, relative, value := e[0], e[1], e[2]&1 != 0, e[2]&2 != 0, e[3]
		at := literal(kind, value)
		if relative {
			at = sum("rank", term(value, ""))
		}
		return fmt.Sprintf("(%s ? %s : %s)", edge(block, width, last), at, inside), ok
	}
	c := &form.C
	switch form.Kind {
	case column.Const:
		return literal(kind, c[0]), true
	case column.Rank:
		return sum("rank", term(c[0], "")), true
	case column.Ring:
		return fmt.Sprintf("(rank + %d) %% ranks", c[0]), true
	case column.Xor:
		return fmt.Sprintf("(rank ^ %d)", c[0]), true
	case column.Line:
		return sum(term(c[0], "rank"), term(c[1], "")), true
	case column.Turn:
		return sum(term(c[0], fmt.Sprintf("((rank + %d) %% ranks)", c[1])), term(c[2], "")), true
	case column.Plane:
		return plane(c[0], c[1], c[2], c[3]), true
	case column.Digits:
		return mixed(form), true
	case column.Wrap:
		return fmt.Sprintf("rank / %d * %[1]d + mod(%s, %[1]d)", c[0], sum("rank", term(c[1], ""))), true
	case column.Share:
		switch {
		case c[5] == 0 && c[0] < 0: // multiplied out
			return share(c[1], c[2], (c[3]+1)*c[0]*c[6], c[3]*c[0]*c[6]), true
		case c[5] == 0:
			return product(c[0]*c[6], share(c[1], c[2], c[3]+1, c[3]), c[3]+1), true
		}
		both := share(c[1], c[2], c[3]+1, c[3]) + " * " + share(c[4], c[5], c[6]+1, c[6])
		return product(c[0], both, (c[3]+1)*(c[6]+1)), true
	}
	return "", false
}

// wide is a number above which products are computed in 64 bits.
const wide = 1 << 30

// product multiplies an expression of values up to most.
func product(a int64, x string, most int64) string {
	switch {
	case a == 1:
		return x
	case a > wide || a*most > wide:
		return fmt.Sprintf("INT64_C(%d) * %s", a, x)
	}
	return number(a) + " * " + x
}

// edge is the condition to be among the first or last ranks of a block.
func edge(block, width int64, last bool) string {
	at, end := "rank", "ranks"
	if block != 0 {
		at, end = fmt.Sprintf("rank %% %d", block), number(block)
	}
	switch {
	case !last && width == 1:
		return at + " == 0"
	case !last:
		return fmt.Sprintf("%s < %d", at, width)
	case block == 0 && width == 1:
		return "rank == ranks - 1"
	case block == 0:
		return fmt.Sprintf("rank >= %s - %d", end, width)
	case width == 1:
		return fmt.Sprintf("%s == %d", at, block-1)
	}
	return fmt.Sprintf("%s >= %d", at, block-width)
}

// share is one of two numbers: that of the first ranks of a block, and of others.
func share(block, width, first, rest int64) string {
	if width == 0 {
		return number(rest)
	}
	return fmt.Sprintf("(%s ? %s : %s)", edge(block, width, false), number(first), number(rest))
}

// plane is a place in a grid d wide.
func plane(d, a, b, c int64) string {
	return sum(term(a, fmt.Sprintf("(rank %% %d)", d)), term(b, fmt.Sprintf("(rank / %d)", d)), term(c, ""))
}

// mixed writes a form of two digits.
func mixed(form *column.Form) string {
	d, base := form.C[0], form.C[1]
	digit := func(m, a, b, c int64) string {
		if m == 1 {
			return ""
		}
		return fmt.Sprintf("mod(%s, %d)", plane(d, a, b, c), m)
	}
	lo, hi := digit(form.C[2], form.C[3], form.C[4], form.C[5]), digit(form.C[6], form.C[7], form.C[8], form.C[9])
	if hi != "" && form.C[2] != 1 {
		hi = fmt.Sprintf("%d * %s", form.C[2], hi)
	}
	return sum(lo, hi, term(base, ""))
}

// closed finds an expression of the rank.
func (f *fitter) closed(ranks []int, vals []int64) (string, bool) {
	if form, ok := column.As(ranks, vals, f.g.r.Ranks(), column.Const, column.Rank, column.Ring, column.Xor, column.Line, column.Turn, column.Plane); ok {
		return formula(mpi.KindNone, &form)
	}
	if e, ok := f.formed(mpi.KindNone, ranks, vals); ok {
		return e, true
	}
	return pieces(ranks, vals)
}

// term is a·x, or a itself if x is empty; "" for none.
func term(a int64, x string) string {
	switch {
	case a == 0:
		return ""
	case x == "":
		return number(a)
	case a == 1:
		return x
	case a == -1:
		return "-" + x
	}
	return number(a) + " * " + x
}

func sum(terms ...string) string {
	s := ""
	for _, t := range terms {
		switch {
		case t == "":
		case s == "":
			s = t
		case strings.HasPrefix(t, "-"):
			s += " - " + t[1:]
		default:
			s += " + " + t
		}
	}
	if s == "" {
		return "0"
	}
	return s
}

// maxPieces is how many cases an expression may have before a table is easier
// to read.
const maxPieces = 3

// pieces fits different lines to neighbouring ranks.
func pieces(ranks []int, vals []int64) (string, bool) {
	var b strings.Builder
	from, n := 0, 0
	for from < len(ranks) {
		to := from + 1
		for to < len(ranks) {
			if _, ok := column.As(ranks[from:to+1], vals[from:to+1], 0, column.Line); !ok {
				break
			}
			to++
		}
		if n++; n > maxPieces {
			return "", false
		}
		line, _ := column.As(ranks[from:to], vals[from:to], 0, column.Line)
		e, _ := formula(mpi.KindNone, &line)
		if to < len(ranks) {
			fmt.Fprintf(&b, "rank < %d ? %s : ", ranks[to], e)
		} else {
			b.WriteString(e)
		}
		from = to
	}
	return "(" + b.String() + ")", true
}

// table puts values into a table over the members, or over a part of their
// numbers if the table repeats itself.
func (f *fitter) table(kind mpi.Kind, vals []int64) string {
	index := "member"
	n := len(vals)
	best := vals
	for d := 2; d <= n/2; d++ {
		if n%d != 0 {
			continue
		}
		repeats, blocks := true, true
		for i := range vals {
			repeats = repeats && vals[i] == vals[i%d]
			blocks = blocks && vals[i] == vals[i/d*d]
		}
		if repeats && d < len(best) {
			best, index = vals[:d], fmt.Sprintf("member %% %d", d)
		}
		if blocks && n/d < len(best) {
			best, index = nil, fmt.Sprintf("member / %d", d)
			for i := 0; i < n; i += d {
				best = append(best, vals[i])
			}
		}
	}
	vals = best
	named := slices.ContainsFunc(vals, func(v int64) bool { return name(kind, v) != "" }) // other numbers in other MPIs
	if e, ok := f.multiple(index, vals); ok && !named {
		return e
	}
	entries := make([]string, len(vals))
	narrow := true
	for i, v := range vals {
		entries[i] = literal(kind, v)
		narrow = narrow && v >= math.MinInt32 && v <= math.MaxInt32
	}
	typ := "int"
	if !narrow {
		typ = "int64_t"
	}
	e := fmt.Sprintf("%s[%s]", f.g.table(typ, entries), index)
	if len(vals) >= leastShared && !named {
		f.tabled = append(f.tabled, tabled{e, index, vals})
	}
	return e
}

// tabled are values in a table, as an expression.
type tabled struct {
	expr, index string
	vals        []int64
}

// leastShared is how long a table has to be for others to be expressed by it.
const leastShared = 16

// multiple expresses values by a table that there is: what a message takes in bytes, and
// where the next one begins, follow from how many elements it has.
func (f *fitter) multiple(index string, vals []int64) (string, bool) {
	if len(vals) < leastShared {
		return "", false
	}
	for _, t := range f.tabled {
		if t.index != index || len(t.vals) != len(vals) {
			continue
		}
		k := slices.IndexFunc(t.vals, func(v int64) bool { return v != t.vals[0] })
		if k < 0 || (vals[k]-vals[0])%(t.vals[k]-t.vals[0]) != 0 {
			continue
		}
		a := (vals[k] - vals[0]) / (t.vals[k] - t.vals[0])
		b := vals[0] - a*t.vals[0]
		fits, large := a != 0 && a >= -wide && a <= wide && b > -far && b < far, false
		for i, v := range vals {
			fits = fits && t.vals[i] > -wide && t.vals[i] < wide && v == a*t.vals[i]+b
			large = large || v > wide || v < -wide || a*t.vals[i] > wide || a*t.vals[i] < -wide
		}
		if !fits {
			continue
		}
		e := t.expr
		if large {
			e = "(int64_t)" + e
		}
		if a != 1 {
			e = number(a) + " * " + e
		}
		return "(" + sum(e, term(b, "")) + ")", true
	}
	return "", false
}

const far = 1 << 50 // beyond this the arithmetic of 64 bits is not looked into

// table returns the name of a constant array.
func (g *generator) table(typ string, entries []string) string {
	text := typ + " " + strings.Join(entries, ", ")
	if t, ok := g.tableOf[text]; ok {
		return t
	}
	t := fmt.Sprintf("table%d", len(g.tables))
	g.tableOf[text] = t
	g.tables = append(g.tables, fmt.Sprintf("static const %s %s[] = {%s};", typ, t, wrap(entries, "    ")))
	return t
}
