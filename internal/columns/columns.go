// Package columns prints tables whose rows are described once, cell by cell, with the column's
// name beside the value: for people as aligned text, for programs as CSV.
package columns

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/units"
)

// A Row takes the cells of a row from left to right. Its methods write a value as people read
// it; where one is not known, a word stands for it, such as "-".
type Row struct {
	names, cells []string
	left         []bool
}

// Text is a cell whose texts begin below each other; all others end so.
func (r *Row) Text(name, text string) *Row { return r.add(name, text, true) }

// Value is a number or word as it is.
func (r *Row) Value(name string, v any) *Row { return r.add(name, fmt.Sprint(v), false) }

// Decimal is a number with so many digits behind the point.
func (r *Row) Decimal(name string, v float64, digits int) *Row {
	return r.add(name, strconv.FormatFloat(v, 'f', digits, 64), false)
}

// Count is a whole number that may be large.
func (r *Row) Count(name string, v any) *Row {
	return r.number(name, v, func() string { return units.Grouped(whole(v)) })
}

// Bytes is a size.
func (r *Row) Bytes(name string, v any) *Row {
	return r.number(name, v, func() string { return units.Bytes(whole(v)) })
}

// Ns is a time in ns.
func (r *Row) Ns(name string, v any) *Row {
	return r.number(name, v, func() string { return units.Duration(float(v)) })
}

// Share is a part of a whole.
func (r *Row) Share(name string, part, whole any) *Row {
	return r.number(name, part, func() string { return units.Share(float(part), float(whole)) })
}

func (r *Row) number(name string, v any, text func() string) *Row {
	if word, ok := v.(string); ok {
		return r.add(name, word, false)
	}
	return r.add(name, text(), false)
}

func (r *Row) add(name, cell string, left bool) *Row {
	r.names, r.cells, r.left = append(r.names, name), append(r.cells, cell), append(r.left, left)
	return r
}

func whole(v any) int64 {
	if x := reflect.ValueOf(v); x.CanInt() {
		return x.Int()
	}
	return int64(reflect.ValueOf(v).Uint())
}

func float(v any) float64 {
	if x := reflect.ValueOf(v); x.CanFloat() {
		return x.Float()
	}
	return float64(whole(v))
}

// Lines returns the lines of the text: the columns' names, if they have any, and the rows, which
// all have the same columns. Without rows there are no lines.
func Lines[T any](rows []T, cells func(*Row, T)) []string {
	var aligned []bool
	var table [][]string
	for i, x := range rows {
		var r Row
		cells(&r, x)
		if i == 0 {
			aligned = r.left
			if strings.Join(r.names, "") != "" {
				table = append(table, r.names)
			}
		}
		table = append(table, r.cells)
	}
	lines := make([]string, len(table))
	for i, left := range aligned {
		width := 0
		for _, line := range table {
			width = max(width, utf8.RuneCountInString(line[i]))
		}
		for k, line := range table {
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(line[i]))
			switch {
			case !left:
				lines[k] += "  " + pad + line[i]
			case i > 0:
				lines[k] += "  " + line[i] + pad
			default:
				lines[k] += line[i] + pad
			}
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// Text writes the rows as text, the first ones if top is positive, and how many more there are.
func Text[T any](w io.Writer, rows []T, top int, cells func(*Row, T)) error {
	shown, more := First(rows, top)
	for _, line := range Lines(shown, cells) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return More(w, more)
}

// First returns the rows that --top has shown, all where it is not positive, and how many more there are.
func First[T any](rows []T, top int) (shown []T, more int) {
	if top > 0 && len(rows) > top {
		return rows[:top], len(rows) - top
	}
	return rows, 0
}

// More says how many there are beyond those that are shown.
func More(w io.Writer, n int) (err error) {
	if n > 0 {
		_, err = fmt.Fprintf(w, "%s more: --top 0\n", units.Grouped(n))
	}
	return err
}

// CSV writes each row that rows adds below the columns' names, which are those of an empty row:
// they are there without rows, too.
func CSV[T any](w io.Writer, rows func(add func(T)), cells func(*Row, T)) error {
	out := csv.NewWriter(w)
	var r Row
	var empty T
	cells(&r, empty)
	out.Write(r.names)
	rows(func(x T) {
		r.names, r.cells, r.left = r.names[:0], r.cells[:0], r.left[:0]
		cells(&r, x)
		out.Write(r.cells)
	})
	out.Flush()
	return out.Error()
}

// Each adds the rows of a list.
func Each[T any](list []T) func(add func(T)) {
	return func(add func(T)) {
		for _, x := range list {
			add(x)
		}
	}
}
