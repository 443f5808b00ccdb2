package proxy

import (
	"fmt"
	"strings"
)

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
