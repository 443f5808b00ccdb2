package proxy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
)

// name is the C name of a constant of a kind, or "".
func name(kind mpi.Kind, v int64) string {
	return strings.ReplaceAll(mpi.ConstantName(kind, v), "|", " | ")
}

func number(v int64) string {
	switch {
	case v == math.MinInt64:
		return "INT64_MIN"
	case reissue.IsAddress(v):
		return fmt.Sprintf("%#xLL", v)
	case v > math.MaxInt32 || v < math.MinInt32:
		return strconv.FormatInt(v, 10) + "LL"
	}
	return strconv.FormatInt(v, 10)
}

func literal(kind mpi.Kind, v int64) string {
	return constant(kind, v).CText(expr.CStyle{Number: number})
}

// constant returns an expression with a value's name in C, if it has one.
func constant(kind mpi.Kind, v int64) *expr.Expr {
	if n := name(kind, v); n != "" {
		return expr.NamedNumber(n, v)
	}
	return expr.Number(v)
}

// narrow and large are the styles of formulas. Formulas with values beyond wide are computed in 64 bits, as int would
// overflow.
var (
	narrow = expr.CStyle{Number: number}
	large  = expr.CStyle{
		Number:   number,
		Factor:   func(n int64) string { return fmt.Sprintf("INT64_C(%d)", n) },
		Variable: func(v expr.Variable) string { return "(int64_t)" + v.String() },
	}
)

// A fitter finds expressions for values over a variant's ranks.
type fitter struct {
	g       *generator
	members []int
	fit     *column.Fitter
	memo    map[memoKey]string
	tabled  []tabled // lists of at least leastShared values that are in tables of the program
}

// A memoKey identifies a column for which an expression was found.
type memoKey struct {
	kind mpi.Kind
	runs string // the encoded column
}

func newFitter(g *generator, members []int) *fitter {
	return &fitter{g: g, members: members, fit: fitterOf(g, members), memo: make(map[memoKey]string)}
}

// columnOf returns a column with the ranks as its values.
func columnOf(ranks []int) column.Column {
	return column.ColumnOfFunc(len(ranks), func(i int) uint32 { return uint32(ranks[i]) })
}

func fitterOf(g *generator, ranks []int) *column.Fitter {
	return column.NewFitter(columnOf(ranks), g.r.Ranks())
}

func same(vals []int64) bool {
	return !slices.ContainsFunc(vals, func(v int64) bool { return v != vals[0] })
}

// expr returns a C expression for a value over the members. Named constants keep their names.
func (f *fitter) expr(kind mpi.Kind, vals []int64) string {
	if same(vals) {
		return literal(kind, vals[0])
	}
	col := column.ColumnOf(vals...)
	key := memoKey{kind, string(col.AppendRuns(nil))}
	if e, ok := f.memo[key]; ok {
		return e
	}
	e := ""
	if form, ok := f.search(kind, vals); !ok {
		e = f.table(kind, vals)
	} else if slices.ContainsFunc(vals, func(v int64) bool { return v > wide || v < -wide }) {
		e = form.CTextAsOperand(large)
	} else {
		e = form.CTextAsOperand(narrow)
	}
	f.memo[key] = e
	return e
}

// search looks for a formula of the rank that gives vals on the members. It returns false if none is found.
func (f *fitter) search(kind mpi.Kind, vals []int64) (*expr.Expr, bool) {
	special := func(v int64) bool { return v < 0 && name(kind, v) != "" }
	var plain []int64
	var at []int
	var names []int64
	for i, v := range vals {
		if special(v) {
			if !slices.Contains(names, v) {
				names = append(names, v)
			}
			continue
		}
		plain, at = append(plain, v), append(at, f.members[i])
	}
	// The expression has each constant with a condition for its ranks, then the formula for the other ranks. If no
	// ranks are left for a formula, the last constant needs no condition.
	last := len(names)
	if len(plain) == 0 {
		last--
	}
	conditions := make([]*expr.Expr, last)
	for k, v := range names[:last] {
		var who []int
		for i := range vals {
			if vals[i] == v {
				who = append(who, f.members[i])
			}
		}
		var ok bool
		if conditions[k], ok = f.condition(who, f.others(who)); !ok {
			return f.formed(kind, f.members, vals)
		}
	}
	var e *expr.Expr
	if last < len(names) {
		e = constant(kind, names[last])
	} else if rest, ok := f.closed(at, plain); ok {
		e = rest
	} else {
		return nil, false
	}
	for k, c := range slices.Backward(conditions) {
		e = expr.Conditional(c, constant(kind, names[k]), e)
	}
	return e, true
}

func (f *fitter) others(who []int) []int {
	return slices.DeleteFunc(slices.Clone(f.members), func(r int) bool {
		_, in := slices.BinarySearch(who, r)
		return in
	})
}

// condition returns an expression that is true on the ranks of who and false on the ranks of rest.
func (f *fitter) condition(who, rest []int) (*expr.Expr, bool) {
	rank := expr.VariableExpr(expr.VariableRank)
	switch {
	case len(rest) == 0:
		return expr.Number(1), true
	case len(who) == 0:
		return expr.Number(0), true
	case len(who) == 1:
		return expr.Equal(rank, expr.Number(int64(who[0]))), true
	case len(rest) == 1:
		return expr.Unequal(rank, expr.Number(int64(rest[0]))), true
	case who[len(who)-1] < rest[0]:
		return expr.Less(rank, expr.Number(int64(rest[0]))), true
	case who[0] > rest[len(rest)-1]:
		return expr.AtLeast(rank, expr.Number(int64(rest[len(rest)-1]+1))), true
	}
	size := f.g.r.Ranks()
	for d := 2; d <= size; d++ {
		if size%d != 0 && d > 64 {
			continue
		}
		if c, ok := split(expr.Remainder(rank, expr.Number(int64(d))), func(r int) int { return r % d }, who, rest); ok {
			return c, true
		}
		if c, ok := split(expr.Quotient(rank, expr.Number(int64(d))), func(r int) int { return r / d }, who, rest); ok {
			return c, true
		}
	}
	return nil, false
}

// split returns an expression that is true on the ranks of who and false on the ranks of rest. It compares a number
// of each rank: number is its expression, and of computes it.
func split(number *expr.Expr, of func(rank int) int, who, rest []int) (*expr.Expr, bool) {
	lo, hi := math.MaxInt, math.MinInt
	for _, r := range who {
		lo, hi = min(lo, of(r)), max(hi, of(r))
	}
	below, above, inside := true, true, false
	for _, r := range rest {
		v := of(r)
		inside = inside || v >= lo && v <= hi
		below = below && v > hi
		above = above && v < lo
	}
	switch {
	case inside:
		return nil, false
	case lo == hi:
		return expr.Equal(number, expr.Number(int64(lo))), true
	case below:
		return expr.Less(number, expr.Number(int64(hi+1))), true
	case above:
		return expr.AtLeast(number, expr.Number(int64(lo))), true
	}
	return nil, false
}
