package proxy

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/column"
)

// closed finds an expression of the rank.
func (f *fitter) closed(ranks []int, vals []int64) (string, bool) {
	if form, ok := column.As(ranks, vals, f.g.r.Ranks(), column.Const, column.Rank, column.Ring, column.Xor, column.Line, column.Turn, column.Plane); ok {
		return formula("", &form)
	}
	if e, ok := f.formed("", ranks, vals); ok {
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
		e, _ := formula("", &line)
		if to < len(ranks) {
			fmt.Fprintf(&b, "rank < %d ? %s : ", ranks[to], e)
		} else {
			b.WriteString(e)
		}
		from = to
	}
	return "(" + b.String() + ")", true
}
