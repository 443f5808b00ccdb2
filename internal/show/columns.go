// Package show writes what people read: tables, numbers with units, and command lines; it knows the tool's version.
//
// A verb describes a row of a table once, each cell with its column's name; it is printed as aligned text or as CSV.
// Whoever prints gives it a writer that keeps an error for its end, such as a bufio.Writer.
package show

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Row collects the cells of a row from left to right. Its methods format a value for people.
type Row struct {
	names, cells []string
	left         []bool
	plain        bool // for programs that read the output: column names are keys with a unit, values have no unit
}

// Text adds a left-aligned cell. All other methods add right-aligned cells.
func (r *Row) Text(name, text string) *Row { return r.add(name, text, true) }

// Value adds a cell with a number or word, written as fmt.Sprint does.
func (r *Row) Value(name string, v any) *Row { return r.add(name, fmt.Sprint(v), false) }

// Decimal adds a cell with a number, with a fixed number of digits after the point.
func (r *Row) Decimal(name string, v float64, digits int) *Row {
	return r.add(name, strconv.FormatFloat(v, 'f', digits, 64), false)
}

// Number adds a cell with v: with three digits after the point for programs, as text for people.
func (r *Row) Number(name string, v float64, text string) *Row {
	if r.plain {
		return r.Decimal(name, v, 3)
	}
	return r.add(name, text, false)
}

// Count adds a cell with a whole number; for people its digits are grouped.
func (r *Row) Count(name string, v any) *Row {
	return r.number(name, "", v, func() string { return FormatGrouped(whole(v)) })
}

// BlankIfZero returns v, or "" if v is 0 and the row is for people.
func (r *Row) BlankIfZero(v any) any {
	if _, text := v.(string); !text && !r.plain && float(v) == 0 {
		return ""
	}
	return v
}

// Bytes adds a cell with a size in bytes.
func (r *Row) Bytes(name string, v any) *Row {
	return r.number(name, "_bytes", v, func() string { return FormatBytes(whole(v)) })
}

// Rate adds a cell with bytes per second.
func (r *Row) Rate(name string, v any) *Row {
	return r.number(name, "_bytes_per_s", v, func() string { return FormatBytes(int64(float(v))) + "/s" })
}

// Ns adds a cell with a time, given in ns.
func (r *Row) Ns(name string, v any) *Row {
	return r.number(name, "_ns", v, func() string { return FormatDuration(float(v)) })
}

// Share adds a cell with part of whole, as a percentage for people.
func (r *Row) Share(name string, part, whole any) *Row {
	if _, word := part.(string); r.plain && !word {
		return r.add(name+"_share", strconv.FormatFloat(float(part)/max(1, float(whole)), 'g', 6, 64), false)
	}
	return r.number(name, "_share", part, func() string { return Percentage(float(part), float(whole)) })
}

func (r *Row) number(name, unit string, v any, text func() string) *Row {
	if r.plain {
		name = named(name, unit)
	}
	if word, ok := v.(string); ok {
		return r.add(name, word, false)
	}
	if r.plain {
		return r.add(name, strconv.FormatFloat(float(v), 'f', -1, 64), false)
	}
	return r.add(name, text(), false)
}

// A View selects which rows and columns of a table are printed, and how.
type View struct {
	MaxRows int      // print only the first rows; 0: all
	Columns []string // keys of the columns to print; nil: all
	Sort    string   // key of the column to sort by: numbers from large to small, text by the alphabet; "": unsorted
	CSV     bool     // comma-separated values; units are in the names of columns (time_ns), not in the cells
	Width   int      // columns of the terminal; 0: unlimited
}

// named returns a column's name with its unit as suffix, unless the name begins with it.
func named(name, unit string) string {
	if unit == "_bytes" && strings.HasPrefix(name, "bytes") {
		return name
	}
	return name + unit
}

// key returns a column's name for programs: in lower case, with underscores.
func key(name string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '_'
	}, strings.ToLower(name)), "_")
}

// PrintRows writes rows as a view asks for. cells adds the cells of one row, as in all functions of this file.
func PrintRows[T any](w io.Writer, rows []T, v View, cells func(*Row, T)) error {
	rows = slices.Clone(rows)
	if err := SortRows(rows, v.Sort, cells); err != nil {
		return err
	}
	if v.Columns != nil {
		var err error
		if cells, err = SelectColumns(v.Columns, cells); err != nil {
			return err
		}
	}
	if !v.CSV {
		WriteText(w, rows, v.MaxRows, cells)
		return nil
	}
	out := csv.NewWriter(w)
	keys, plain := programs(rows, cells)
	out.Write(keys)
	out.WriteAll(plain)
	return nil
}

// SelectColumns returns a function like cells that adds only the columns with the given keys.
func SelectColumns[T any](columns []string, cells func(*Row, T)) (func(*Row, T), error) {
	keys, _ := programs([]T(nil), cells)
	var chosen []int
	for _, name := range columns {
		i, err := keys.find(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, i)
	}
	return func(r *Row, x T) {
		whole := Row{plain: r.plain}
		cells(&whole, x)
		for _, k := range chosen {
			r.add(whole.names[k], whole.cells[k], whole.left[k])
		}
	}, nil
}

// SortRows sorts rows by the column with key by: numbers from large to small, text by the alphabet. "": it doesn't
// sort.
func SortRows[T any](rows []T, by string, cells func(*Row, T)) error {
	if by == "" {
		return nil
	}
	keys, plain := programs(rows, cells)
	at, err := keys.find(by)
	if err != nil {
		return err
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(plain[a][at], plain[b][at]) })
	before := slices.Clone(rows)
	for i, k := range order {
		rows[i] = before[k]
	}
	return nil
}

// keys are the names of a table's columns as programs use them.
type keys []string

// programs returns the keys of a table, which are those of an empty row, and the rows' cells as programs read them.
func programs[T any](rows []T, cells func(*Row, T)) (all keys, table [][]string) {
	var empty T
	r := Row{plain: true}
	cells(&r, empty)
	for _, name := range r.names {
		all = append(all, key(name))
	}
	for _, x := range rows {
		r := Row{plain: true}
		cells(&r, x)
		table = append(table, r.cells)
	}
	return all, table
}

// find returns the index of the column with a key, whose unit may be left out.
func (k keys) find(name string) (int, error) {
	for _, unit := range []string{"", "_ns", "_bytes", "_share", "_bytes_per_s"} {
		if i := slices.Index(k, name+unit); i >= 0 {
			return i, nil
		}
	}
	return 0, &UnknownColumnError{name, k}
}

// UnknownColumnError is the error of a column that was asked for and does not exist.
type UnknownColumnError struct {
	Name string
	Keys []string // keys of the existing columns
}

func (e *UnknownColumnError) Error() string {
	return fmt.Sprintf("no column %q; there are %s", e.Name, strings.Join(e.Keys, ", "))
}

// compare orders cells for sorting: numbers from large to small, then text by the alphabet.
func compare(a, b string) int {
	x, e := strconv.ParseFloat(a, 64)
	y, f := strconv.ParseFloat(b, 64)
	switch {
	case e == nil && f == nil:
		return cmp.Compare(y, x)
	case e == nil:
		return -1
	case f == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

func (r *Row) add(name, cell string, left bool) *Row {
	if r.plain && cell == "-" {
		cell = ""
	}
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

// TextLines returns a table as lines of aligned text: the columns' names, if they have any, and the rows, which all
// have the same columns. Without rows it returns no lines.
func TextLines[T any](rows []T, cells func(*Row, T)) []string {
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

// WriteText writes rows as aligned text. If top is positive it writes only the first top rows, and the number of
// those left out.
func WriteText[T any](w io.Writer, rows []T, top int, cells func(*Row, T)) {
	shown, more := TopRows(rows, top)
	for _, line := range TextLines(shown, cells) {
		fmt.Fprintln(w, line)
	}
	WriteOmitted(w, more)
}

// TopRows returns the first top rows, or all if top is not positive, and the number of rows left out.
func TopRows[T any](rows []T, top int) (shown []T, more int) {
	if top > 0 && len(rows) > top {
		return rows[:top], len(rows) - top
	}
	return rows, 0
}

// WriteOmitted writes the number of rows left out.
func WriteOmitted(w io.Writer, n int) { OmittedRows{more: n}.Print(w) }

// A Limit is how many rows are printed of a table in which each row has a share of the run.
type Limit struct {
	Rows       int  // print only the first rows; 0: all
	UserChosen bool // the user set Rows, so rows below 1 % of the run are printed, too
}

// least is the share of the run below which rows are printed only on request.
const least = 0.01

// An OmittedRows is the number of rows of a table that are not printed.
type OmittedRows struct {
	more  int
	small bool // each omitted row's share of the run is below least
	alone bool // all rows of the table are omitted
}

// SplitAtLimit returns the rows that are printed within limit l, and says which are not. share returns a row's share
// of the run.
func SplitAtLimit[T any](rows []T, l Limit, share func(T) float64) ([]T, OmittedRows) {
	large := rows
	if !l.UserChosen {
		large = slices.DeleteFunc(slices.Clone(rows), func(x T) bool { return share(x) < least })
	}
	shown, more := TopRows(large, l.Rows)
	return shown, OmittedRows{len(rows) - len(shown), more == 0 && !l.UserChosen, len(shown) == 0}
}

// PrintWithinLimit writes the rows within limit l, and the number of those left out. share returns a row's share of
// the run.
func PrintWithinLimit[T any](w io.Writer, rows []T, l Limit, share func(T) float64, cells func(*Row, T)) {
	shown, rest := SplitAtLimit(rows, l, share)
	WriteText(w, shown, 0, cells)
	rest.Print(w)
}

// Print writes a line with the number of omitted rows; nothing if it is 0.
func (r OmittedRows) Print(w io.Writer) {
	if r.more == 0 {
		return
	}
	text := FormatGrouped(r.more)
	if !r.alone {
		text += " more"
	}
	if r.small {
		text += " below 1 % of the run"
	}
	fmt.Fprintf(w, "%s: --top 0\n", text)
}

// WriteCSV writes the columns' names, then each row. The names are those of an empty row, so a table without rows has
// them, too.
func WriteCSV[T any](w io.Writer, rows func(add func(T)), cells func(*Row, T)) {
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
}

// EachRow returns rows for WriteCSV: a function that passes the rows of a list to add, one by one.
func EachRow[T any](list []T) func(add func(T)) {
	return func(add func(T)) {
		for _, x := range list {
			add(x)
		}
	}
}
