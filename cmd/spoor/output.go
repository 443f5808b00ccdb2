package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// writeJSON prints v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// grouped writes a number with commas: 12,345,678.
func grouped[T int | int64 | uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// span writes a range of numbers: 4, or 4 to 7.
func span(least, most uint64) string {
	if least == most {
		return grouped(least)
	}
	return grouped(least) + " to " + grouped(most)
}

// plural writes a number with what is counted: 1 rank, 4 ranks.
func plural[T int | int64 | uint64](n T, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "s") || strings.HasSuffix(thing, "ch") {
		return grouped(n) + " " + thing + "es"
	}
	return grouped(n) + " " + thing + "s"
}

// bytesText writes a size: 512 bytes, 3.4 KB, 12 MB.
func bytesText(n int64) string {
	if n < 1000 {
		return plural(n, "byte")
	}
	v, units := float64(n), []string{"KB", "MB", "GB", "TB"}
	for i, u := range units {
		v /= 1000
		if v < 999.5 || i == len(units)-1 {
			return fmt.Sprintf("%.3g %s", v, u)
		}
	}
	return ""
}

// duration writes a time with three digits: 1.23 ms.
func duration(ns float64) string {
	v, units := ns, []string{"ns", "µs", "ms", "s"}
	for i, u := range units {
		if v < 999.5 || i == len(units)-1 {
			if v >= 999.5 {
				return fmt.Sprintf("%.0f %s", v, u)
			}
			return fmt.Sprintf("%.3g %s", v, u)
		}
		v /= 1000
	}
	return ""
}

// wallClock writes ns since 1970 in UTC, so that outputs can be compared.
func wallClock(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05 UTC")
}

// percent writes a share of a whole.
func percent(part, whole float64) string {
	if whole == 0 {
		return "0 %"
	}
	switch p := 100 * part / whole; {
	case p >= 99.95:
		return "100 %"
	case p > 0 && p < 0.05:
		return "< 0.1 %"
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}
