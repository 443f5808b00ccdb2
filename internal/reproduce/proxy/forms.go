package proxy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/mpi"
)

// formed looks for one of the forms that traces use for the values of some ranks. kind selects named constants.
func (f *fitter) formed(kind mpi.Kind, ranks []int, vals []int64) (*expr.Expr, bool) {
	fit := f.fit
	if len(ranks) != len(f.members) {
		fit = fitterOf(f.g, ranks)
	}
	col := column.ColumnOf(vals...)
	form, _ := fit.Fit(&col, false)
	if !form.Kind.IsClosedForm() {
		return nil, false
	}
	return form.Expr(func(v int64) *expr.Expr { return constant(kind, v) }), true
}

// wide is the number above which products are computed in 64 bits.
const wide = 1 << 30

// closed looks for a formula of the rank that gives vals on ranks.
func (f *fitter) closed(ranks []int, vals []int64) (*expr.Expr, bool) {
	if form, ok := column.FitKinds(ranks, vals, f.g.r.Ranks(), column.KindConst, column.KindRankPlus, column.KindRing, column.KindXor, column.KindLinear, column.KindScaledRing, column.KindPlane); ok {
		return form.Expr(expr.Number), true
	}
	if e, ok := f.formed(mpi.KindNone, ranks, vals); ok {
		return e, true
	}
	return pieces(ranks, vals, maxPieces)
}

// term writes a·x, or a if x is empty; "" for 0.
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

// maxPieces is the largest number of cases in an expression; with more, a table is easier to read.
const maxPieces = 3

// pieces divides the ranks into ranges, on each of which vals is a linear function of the rank. It returns false if
// more than most ranges are needed.
func pieces(ranks []int, vals []int64, most int) (*expr.Expr, bool) {
	if most == 0 {
		return nil, false
	}
	line, _ := column.FitKinds(ranks[:1], vals[:1], 0, column.KindLinear)
	to := 1
	for ; to < len(ranks); to++ {
		longer, ok := column.FitKinds(ranks[:to+1], vals[:to+1], 0, column.KindLinear)
		if !ok {
			break
		}
		line = longer
	}
	e := line.Expr(expr.Number)
	if to == len(ranks) {
		return e, true
	}
	rest, ok := pieces(ranks[to:], vals[to:], most-1)
	return expr.Conditional(expr.Less(expr.VariableExpr(expr.VariableRank), expr.Number(int64(ranks[to]))), e, rest), ok
}

// table writes values as a table over the members. If the values are periodic, the table has one period.
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
	// Named constants are not computed from other numbers, as their values depend on the MPI.
	named := slices.ContainsFunc(vals, func(v int64) bool { return name(kind, v) != "" })
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

// tabled is values in a table, with the expression that reads it.
type tabled struct {
	expr, index string
	vals        []int64
}

// leastShared is the least length of a table from which other values are derived.
const leastShared = 16

// multiple expresses values by an existing table. For example, a message's bytes and the next message's position
// follow from its number of elements.
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

const far = 1 << 50 // larger constants are refused: sums with them might overflow 64 bits

// table returns the name of a constant array, made if needed.
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
