package proxy

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/column"
	"spoor/internal/reissue"
	"spoor/mpi"
)

// name is the C name of a constant of a kind, or "".
func name(kind string, v int64) string {
	k, ok := mpi.KindNamed(kind)
	if !ok {
		return ""
	}
	n := mpi.ConstantName(k, v)
	if n == "" {
		return ""
	}
	return strings.ReplaceAll(n, "|", " | ")
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

func literal(kind string, v int64) string {
	if n := name(kind, v); n != "" {
		return n
	}
	return number(v)
}

// A fitter finds expressions for the values of a variant's ranks.
type fitter struct {
	g       *generator
	members []int
	ranks   column.Column
	fit     *column.Fitter
	memo    map[string]string
	tabled  []tabled // long ones
}

func newFitter(g *generator, members []int) *fitter {
	f := &fitter{g: g, members: members, memo: make(map[string]string)}
	for _, r := range members {
		f.ranks.Append(int64(r))
	}
	f.fit = column.NewFitter(f.ranks, g.r.Ranks())
	return f
}

func same(vals []int64) bool {
	for _, v := range vals {
		if v != vals[0] {
			return false
		}
	}
	return true
}

// expr is a value over the members as a C expression. Named constants among
// the values keep their names.
func (f *fitter) expr(kind string, vals []int64) string {
	if same(vals) {
		return literal(kind, vals[0])
	}
	var col column.Column
	for _, v := range vals {
		col.Append(v)
	}
	key := kind + string(col.AppendRuns(nil))
	if e, ok := f.memo[key]; ok {
		return e
	}
	e := f.search(kind, vals)
	for _, v := range vals {
		if v > wide || v < -wide {
			e = rankWord.ReplaceAllString(e, "(int64_t)rank") // the arithmetic of int has an end
			break
		}
	}
	f.memo[key] = e
	return e
}

var rankWord = regexp.MustCompile(`\brank\b`)

func (f *fitter) search(kind string, vals []int64) string {
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
	in := make(map[int]bool, len(who))
	for _, r := range who {
		in[r] = true
	}
	var rest []int
	for _, r := range f.members {
		if !in[r] {
			rest = append(rest, r)
		}
	}
	return rest
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

// closed finds an expression of the rank.
func (f *fitter) closed(ranks []int, vals []int64) (string, bool) {
	if same(vals) {
		return number(vals[0]), true
	}
	size := int64(f.g.r.Ranks())
	line, ok := linear(ranks, vals)
	if ok && (len(ranks) == 1 || vals[1]-vals[0] == int64(ranks[1]-ranks[0])) {
		return line, true
	}
	if c := ((vals[0]-int64(ranks[0]))%size + size) % size; all(ranks, vals, func(r int64) int64 { return (r + c) % size }) {
		return fmt.Sprintf("(rank + %d) %% ranks", c), true
	}
	if c := vals[0] ^ int64(ranks[0]); all(ranks, vals, func(r int64) int64 { return r ^ c }) {
		return fmt.Sprintf("(rank ^ %d)", c), true
	}
	if line != "" {
		return line, true
	}
	if e, ok := scaled(ranks, vals, size); ok {
		return e, true
	}
	for d := 2; d < int(size) && d <= 4096; d++ {
		if int(size)%d != 0 {
			continue
		}
		if e, ok := digits(ranks, vals, d); ok {
			return e, true
		}
	}
	if e, ok := f.formed("", ranks, vals); ok {
		return e, true
	}
	return pieces(ranks, vals)
}

func all(ranks []int, vals []int64, f func(int64) int64) bool {
	for i, r := range ranks {
		if f(int64(r)) != vals[i] {
			return false
		}
	}
	return true
}

// linear fits a·rank + c.
func linear(ranks []int, vals []int64) (string, bool) {
	if len(ranks) < 2 {
		return number(vals[0]), len(ranks) == 1
	}
	dr, dv := int64(ranks[1]-ranks[0]), vals[1]-vals[0]
	if dv%dr != 0 {
		return "", false
	}
	a := dv / dr
	c := vals[0] - a*int64(ranks[0])
	if !all(ranks, vals, func(r int64) int64 { return a*r + c }) {
		return "", false
	}
	return sum(term(a, "rank"), term(c, "")), true
}

// scaled fits a·((rank + c) mod P) + b.
func scaled(ranks []int, vals []int64, size int64) (string, bool) {
	if int64(len(ranks)) != size || size < 3 {
		return "", false
	}
	for _, a := range []int64{vals[1] - vals[0], vals[2] - vals[1]} {
		turn := 1 // where it begins again
		for turn < len(vals)-1 && vals[turn]-vals[turn-1] == a {
			turn++
		}
		c, b := size-int64(turn), vals[turn]
		if all(ranks, vals, func(r int64) int64 { return a*((r+c)%size) + b }) {
			return sum(term(a, fmt.Sprintf("((rank + %d) %% ranks)", c)), term(b, "")), true
		}
	}
	return "", false
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

// digits fits a·(rank mod d) + b·(rank div d) + c.
func digits(ranks []int, vals []int64, d int) (string, bool) {
	if len(ranks) < 4 {
		return "", false
	}
	x := func(i int) int64 { return int64(ranks[i] % d) }
	y := func(i int) int64 { return int64(ranks[i] / d) }
	var a, b int64
	foundA, foundB := false, false
	for i := 1; i < len(ranks) && (!foundA || !foundB); i++ {
		dx, dy, dv := x(i)-x(i-1), y(i)-y(i-1), vals[i]-vals[i-1]
		switch {
		case dy == 0 && dx != 0 && !foundA:
			if dv%dx != 0 {
				return "", false
			}
			a, foundA = dv/dx, true
		case dy != 0 && (dx == 0 || foundA) && !foundB:
			if (dv-a*dx)%dy != 0 {
				return "", false
			}
			b, foundB = (dv-a*dx)/dy, true
		}
	}
	c := vals[0] - a*x(0) - b*y(0)
	if !all(ranks, vals, func(r int64) int64 { return a*(r%int64(d)) + b*(r/int64(d)) + c }) {
		return "", false
	}
	return sum(term(a, fmt.Sprintf("(rank %% %d)", d)), term(b, fmt.Sprintf("(rank / %d)", d)), term(c, "")), true
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
			if _, ok := linear(ranks[from:to+1], vals[from:to+1]); !ok {
				break
			}
			to++
		}
		if n++; n > maxPieces {
			return "", false
		}
		e, ok := linear(ranks[from:to], vals[from:to])
		if !ok {
			return "", false
		}
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

// wrap breaks a long list into lines.
func wrap(entries []string, indent string) string {
	one := strings.Join(entries, ", ")
	if len(one) < 80 {
		return one
	}
	var b strings.Builder
	width := 200
	for i, e := range entries {
		if width+len(e) > 110 {
			b.WriteString("\n" + indent)
			width = 0
		}
		b.WriteString(e)
		width += len(e) + 2
		if i+1 < len(entries) {
			b.WriteString(", ")
		}
	}
	b.WriteString("\n")
	return b.String()
}
