package proxy

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// table puts values into a table over the members, or over a part of their
// numbers if the table repeats itself.
func (f *fitter) table(kind string, vals []int64) string {
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
