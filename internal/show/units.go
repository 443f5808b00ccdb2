package show

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FormatDuration writes ns with three digits: 1.23 ms.
func FormatDuration(ns float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	for i, u := range units {
		if ns < 999.5 || i == len(units)-1 {
			if ns >= 999.5 {
				return fmt.Sprintf("%.0f %s", ns, u)
			}
			return fmt.Sprintf("%.3g %s", ns, u)
		}
		ns /= 1000
	}
	return ""
}

// FormatPlural writes a number of things: 1 rank, 2 ranks.
func FormatPlural[T int | int64 | uint64](n T, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"), strings.HasSuffix(thing, "ch"):
		thing += "e"
	}
	return FormatGrouped(n) + " " + thing + "s"
}

// FormatGrouped writes a number with commas: 12,345,678.
func FormatGrouped[T int | int64 | uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// FormatBytes writes a size with three digits: 800 B, 1.6 KB.
func FormatBytes[T int64 | uint64](n T) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, units := float64(n), []string{"KB", "MB", "GB", "TB", "PB", "EB"}
	for i, u := range units {
		v /= 1000
		if v < 999.5 || i == len(units)-1 {
			return fmt.Sprintf("%.3g %s", v, u)
		}
	}
	return ""
}

// Percentage writes a part of a whole: 12.3 %.
func Percentage(part, whole float64) string {
	switch {
	case whole == 0:
		return "0 %"
	case part >= 0.9995*whole:
		return "100 %"
	case part > 0 && part < 0.0005*whole:
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

// FormatRanges writes rising numbers shortly: 0-3,5.
func FormatRanges(list []int) string {
	var b []byte
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(list[i]), 10)
		if k > i {
			b = strconv.AppendInt(append(b, '-'), int64(list[k]), 10)
		}
		i = k + 1
	}
	return string(b)
}

// ParseShare reads a part of a whole as people type it: 5%, 5 % or 0.05. A number above 1 needs its percent sign.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || !(v >= 0) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%q is not a percentage; write 5%% or 0.05", text)
	case percent:
		return v / 100, nil
	case v > 1:
		return 0, fmt.Errorf("%q is above 1; write %s%% for a percentage", text, number)
	}
	return v, nil
}

// Numbers of bytes that ElideMiddle keeps at the beginning and at the end of a text.
const (
	shortHead = 1500
	shortTail = 200
)

// ElideMiddle returns a text without its middle if it is very long: an argument of a command may have thousands
// of characters.
func ElideMiddle(text string) string {
	left := len(text) - shortHead - shortTail
	if left <= shortTail {
		return text
	}
	return strings.ToValidUTF8(text[:shortHead], "") + fmt.Sprintf(" … (%s left out) … ", FormatBytes(int64(left))) + strings.ToValidUTF8(text[len(text)-shortTail:], "")
}

// QuoteCommand writes arguments as a command line that a shell would take apart into
// the same arguments.
func QuoteCommand(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if a == "" || strings.ContainsFunc(a, special) {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func special(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./=:,+@%", r))
}

// A Loop is a loop of a run in the form that all verbs print. Package calltree finds them.
type Loop struct {
	Function string `json:"function,omitempty"` // the function that contains the loop; "": unknown
	// File and line of the loop, or its offset in the module; "": it was found by the order of calls.
	Place          string `json:"place,omitempty"`
	FirstCall      string `json:"first"`  // function and place of the first call in the loop
	Depth          int    `json:"depth"`  // number of loops around this one
	MaxRounds      uint64 `json:"rounds"` // largest number of iterations of one entry
	OuterLoopIndex int    `json:"-"`      // index of the enclosing loop in the list of loops; -1: none
}

func (l *Loop) String() string {
	if l.Place != "" {
		return l.Function + " " + l.Place
	}
	return fmt.Sprintf("%s times: %s", FormatGrouped(l.MaxRounds), l.FirstCall)
}

// PercentChange writes how far b is from a: "=", "new" if a is 0, "gone" if b is, or a percentage of a with its sign.
func PercentChange(a, b float64) string {
	switch {
	case a == b:
		return "="
	case a == 0:
		return "new"
	case b == 0:
		return "gone"
	}
	return fmt.Sprintf("%+.1f %%", 100*(b-a)/a)
}
