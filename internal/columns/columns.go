// Package columns prints tables that are described once: for people as aligned text, for
// programs as CSV.
package columns

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/units"
)

// A Column is one of a table with rows of a type.
type Column[T any] struct {
	Key   string // its name in CSV; a column without is text alone
	Head  string // what stands above it in text; a column with a key alone is for CSV
	Value func(T) any
	Unit  Unit // how text has it; nil: as it is
	Left  bool // its texts begin below each other, else they end so
	Hide  bool // it is left out

	Decimals int // that CSV has of numbers that are not whole
}

// A Unit writes a number for people.
type Unit func(v any) string

// A Table is columns from left to right.
type Table[T any] []Column[T]

// gap is between columns of text.
const gap = "  "

// Lines returns the lines of the text: what stands above the columns, unless that is nothing,
// and the rows.
func (t Table[T]) Lines(rows []T) []string {
	t = slices.DeleteFunc(slices.Clone(t), func(c Column[T]) bool { return c.Hide || c.Head == "" && c.Key != "" })
	var cells [][]string
	if slices.ContainsFunc(t, func(c Column[T]) bool { return c.Head != "" }) {
		cells = append(cells, make([]string, len(t)))
		for i := range t {
			cells[0][i] = t[i].Head
		}
	}
	for _, row := range rows {
		line := make([]string, len(t))
		for i := range t {
			line[i] = t[i].text(t[i].Value(row))
		}
		cells = append(cells, line)
	}
	lines := make([]string, len(cells))
	for i := range t {
		width := 0
		for _, line := range cells {
			width = max(width, utf8.RuneCountInString(line[i]))
		}
		for k, line := range cells {
			cell, pad := line[i], strings.Repeat(" ", width-utf8.RuneCountInString(line[i]))
			switch {
			case !t[i].Left:
				cell = gap + pad + cell
			case i > 0:
				cell = gap + cell + pad
			default:
				cell += pad
			}
			lines[k] += cell
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func (c *Column[T]) text(v any) string {
	if s, ok := v.(string); ok || c.Unit == nil {
		if ok {
			return s
		}
		return fmt.Sprint(v)
	}
	return c.Unit(v)
}

// Text writes the rows as text, the first ones if top is positive, and how many more there are.
func (t Table[T]) Text(w io.Writer, rows []T, top int) error {
	shown := rows
	if top > 0 && len(rows) > top {
		shown = rows[:top]
	}
	for _, line := range t.Lines(shown) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return More(w, len(rows)-len(shown))
}

// Texts writes rows of texts without anything above them, each column from the left.
func Texts(w io.Writer, rows [][]string) error {
	var t Table[[]string]
	for _, row := range rows {
		for i := len(t); i < len(row); i++ {
			t = append(t, Column[[]string]{Left: true, Value: func(row []string) any {
				if i < len(row) {
					return row[i]
				}
				return ""
			}})
		}
	}
	return t.Text(w, rows, 0)
}

// More says how many there are beyond those that are shown.
func More(w io.Writer, n int) (err error) {
	if n > 0 {
		_, err = fmt.Fprintf(w, "%s more: --top 0\n", units.Grouped(n))
	}
	return err
}

// CSV writes all rows below the keys.
func (t Table[T]) CSV(w io.Writer, rows []T) error {
	t = slices.DeleteFunc(slices.Clone(t), func(c Column[T]) bool { return c.Hide || c.Key == "" })
	out, line := csv.NewWriter(w), make([]string, len(t))
	for i := range t {
		line[i] = t[i].Key
	}
	out.Write(line)
	for _, row := range rows {
		for i := range t {
			switch v := t[i].Value(row).(type) {
			case float64:
				line[i] = strconv.FormatFloat(v, 'f', t[i].Decimals, 64)
			default:
				line[i] = fmt.Sprint(v)
			}
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// Duration is the unit of times in ns.
func Duration(v any) string {
	x := reflect.ValueOf(v)
	if x.CanFloat() {
		return units.Duration(x.Float())
	}
	return units.Duration(float64(whole(v)))
}

// Bytes is the unit of sizes.
func Bytes(v any) string { return units.Bytes(whole(v)) }

// Count is the unit of numbers that may be large.
func Count(v any) string { return units.Grouped(whole(v)) }

// Share is the unit of parts of 1.
func Share(v any) string { return units.Share(v.(float64), 1) }

// Format is a unit as fmt has it.
func Format(format string) Unit { return func(v any) string { return fmt.Sprintf(format, v) } }

// whole is the number that a value of an integer type is.
func whole(v any) int64 {
	if x := reflect.ValueOf(v); x.CanInt() {
		return x.Int()
	}
	return int64(reflect.ValueOf(v).Uint())
}
