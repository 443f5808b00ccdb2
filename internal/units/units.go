// Package units writes numbers for people: times, shares, counts.
package units

import (
	"fmt"
	"strconv"
)

// Duration writes ns with three digits: 1.23 ms.
func Duration(ns float64) string {
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

// Grouped writes a number with commas: 12,345,678.
func Grouped[T int | int64 | uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
