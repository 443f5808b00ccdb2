package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/spoor-hpc/spoor/internal/units"
)

// writeJSON prints v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// span writes a range of numbers: 4, or 4 to 7.
func span(least, most uint64) string {
	if least == most {
		return units.Grouped(least)
	}
	return units.Grouped(least) + " to " + units.Grouped(most)
}

// plural writes a number with what is counted: 1 rank, 4 ranks.
func plural[T int | int64 | uint64](n T, thing string) string { return units.Plural(n, thing) }

// wallClock writes ns since 1970 in UTC, so that outputs can be compared.
func wallClock(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05 UTC")
}
