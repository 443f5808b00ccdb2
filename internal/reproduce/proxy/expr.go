package proxy

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	if n := name(kind, v); n != "" {
		return n
	}
	return number(v)
}

// A fitter finds expressions for the values of a variant's ranks.
type fitter struct {
	g       *generator
	members []int
	fit     *column.Fitter
	memo    map[memoKey]string
	tabled  []tabled // long ones
}

// A memoKey is what an expression was found for.
type memoKey struct {
	kind mpi.Kind
	runs string // of the column
}

func newFitter(g *generator, members []int) *fitter {
	return &fitter{g: g, members: members, fit: fitterOf(g, members), memo: make(map[memoKey]string)}
}

// columnOf is a column of ranks.
func columnOf(ranks []int) column.Column {
	return column.OfNumbers(len(ranks), func(i int) uint32 { return uint32(ranks[i]) })
}

func fitterOf(g *generator, ranks []int) *column.Fitter {
	return column.NewFitter(columnOf(ranks), g.r.Ranks())
}

func same(vals []int64) bool {
	return !slices.ContainsFunc(vals, func(v int64) bool { return v != vals[0] })
}

// expr is a value over the members as a C expression. Named constants among
// the values keep their names.
func (f *fitter) expr(kind mpi.Kind, vals []int64) string {
	if same(vals) {
		return literal(kind, vals[0])
	}
	col := column.Of(vals...)
	key := memoKey{kind, string(col.AppendRuns(nil))}
	if e, ok := f.memo[key]; ok {
		return e
	}
	e := f.search(kind, vals)
	if slices.ContainsFunc(vals, func(v int64) bool { return v > wide || v < -wide }) {
		e = rankWord.ReplaceAllString(e, "(int64_t)rank") // the arithmetic of int has an end
	}
	f.memo[key] = e
	return e
}

var rankWord = regexp.MustCompile(`\brank\b`)

func (f *fitter) search(kind mpi.Kind, vals []int64) string {
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
	if len(names) == 0 {
		if e, ok := f.closed(at, plain); ok {
			return e
		}
		return f.table(kind, vals)
	}
	// Each constant with the ranks that have it, then the rule for the rest.
	var b strings.Builder
	for _, v := range names {
		var who []int
		for i := range vals {
			if vals[i] == v {
				who = append(who, f.members[i])
			}
		}
		rest := f.others(who)
		cond, ok := f.condition(who, rest)
		if !ok {
			if e, ok := f.formed(kind, f.members, vals); ok {
				return "(" + e + ")"
			}
			return f.table(kind, vals)
		}
		fmt.Fprintf(&b, "%s ? %s : ", cond, name(kind, v))
	}
	if len(plain) == 0 {
		s := strings.TrimSuffix(b.String(), " : ")
		last := strings.LastIndex(s, " : ")
		if last < 0 {
			return name(kind, names[0])
		}
		tail := s[last+3:]
		return "(" + s[:last+3] + tail[strings.LastIndex(tail, " ? ")+3:] + ")"
	}
	e, ok := f.closed(at, plain)
	if !ok {
		return f.table(kind, vals)
	}
	return "(" + b.String() + e + ")"
}

func (f *fitter) others(who []int) []int {
	return slices.DeleteFunc(slices.Clone(f.members), func(r int) bool {
		_, in := slices.BinarySearch(who, r)
		return in
	})
}

// condition tells some ranks from others.
func (f *fitter) condition(who, rest []int) (string, bool) {
	if len(rest) == 0 {
		return "1", true
	}
	if len(who) == 0 {
		return "0", true
	}
	if len(who) == 1 {
		return fmt.Sprintf("rank == %d", who[0]), true
	}
	if len(rest) == 1 {
		return fmt.Sprintf("rank != %d", rest[0]), true
	}
	switch {
	case who[len(who)-1] < rest[0]:
		return fmt.Sprintf("rank < %d", rest[0]), true
	case who[0] > rest[len(rest)-1]:
		return fmt.Sprintf("rank > %d", rest[len(rest)-1]), true
	}
	size := f.g.r.Ranks()
	for d := 2; d <= size; d++ {
		if size%d != 0 && d > 64 {
			continue
		}
		if c, ok := split("rank % "+strconv.Itoa(d), who, rest, func(r int) int { return r % d }); ok {
			return c, true
		}
		if c, ok := split("rank / "+strconv.Itoa(d), who, rest, func(r int) int { return r / d }); ok {
			return c, true
		}
	}
	return "", false
}

// split tells ranks apart by a number of theirs.
func split(text string, who, rest []int, of func(int) int) (string, bool) {
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
		return "", false
	case lo == hi:
		return fmt.Sprintf("%s == %d", text, lo), true
	case below:
		return fmt.Sprintf("%s <= %d", text, hi), true
	case above:
		return fmt.Sprintf("%s >= %d", text, lo), true
	}
	return "", false
}
