package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Unit determines how the values of a column are written, for people and for programs.
type Unit string

// The units of columns. A value that is text, such as "-", is written as it is in any of them. For programs "-" is no
// value.
const (
	UnitWord           Unit = "word"        // text, left-aligned
	UnitNumber         Unit = "number"      // a number, written as fmt.Sprint does
	UnitCount          Unit = "count"       // a whole number with its digits grouped
	UnitNs             Unit = "ns"          // a time, given in ns
	UnitSize           Unit = "bytes"       // a size, given in bytes
	UnitFraction       Unit = "share"       // a part of a whole, from 0 to 1; for people as a percentage
	UnitRatio          Unit = "ratio"       // a number with two digits after the point, for programs with three
	UnitRounded        Unit = "decimal"     // a number without digits after the point
	UnitBytesPerSecond Unit = "bytes_per_s" // bytes per second
)

// suffix returns what the unit adds to a column's key.
func (u Unit) suffix() string {
	switch u {
	case UnitNs:
		return "_ns"
	case UnitSize:
		return "_bytes"
	case UnitFraction:
		return "_share"
	case UnitBytesPerSecond:
		return "_bytes_per_s"
	}
	return ""
}

// A Column is declared once: text, CSV, JSON, pages, the database and the docs follow from it.
type Column[T any] struct {
	// Name is for people. The column's key for programs follows from it: "max rank" is max_rank, with UnitNs "time"
	// is time_ns.
	Name             string
	KeyOverride      string         // the key with its unit, if it does not follow from Name; else ""
	Unit             Unit           // how values are written
	Doc              string         // description of the column, one line
	Value            func(T) any    // a row's value: a number, a text, a bool, or nil if not known
	Text             func(T) string // a row's value as text for people; nil: as Unit implies
	BlankIfZero      bool           // for people the value 0 is a blank
	MinTerminalWidth int            // terminal width from which on the column is shown by default; 0: never
	OldJSONKey       string         // additional key in JSON, for readers of release 1.0
}

// Key is the column's name for programs.
func (c *Column[T]) Key() string {
	if c.KeyOverride != "" {
		return c.KeyOverride
	}
	return key(named(c.Name, c.Unit.suffix()))
}

// Columns are the columns of a table, from left to right.
type Columns[T any] []Column[T]

// AddCells adds the cells of row x to r.
func (list Columns[T]) AddCells(r *Row, x T) {
	for i := range list {
		list[i].cell(r, x)
	}
}

func (c *Column[T]) cell(r *Row, x T) {
	left := c.Unit == UnitWord
	if !r.plain && c.Text != nil {
		r.add(c.Name, c.Text(x), left)
		return
	}
	v := c.Value(x)
	if v == nil && !left && !c.BlankIfZero {
		v = "-"
	} else if v == nil {
		v = ""
	}
	if c.BlankIfZero {
		v = r.BlankIfZero(v)
	}
	at := len(r.names)
	switch text, is := v.(string); {
	case is:
		r.add(c.Name, text, left)
	case c.Unit == UnitCount:
		r.Count(c.Name, v)
	case c.Unit == UnitNs:
		r.Ns(c.Name, v)
	case c.Unit == UnitSize:
		r.Bytes(c.Name, v)
	case c.Unit == UnitFraction:
		r.Share(c.Name, v, 1)
	case c.Unit == UnitRatio:
		r.Number(c.Name, float(v), fmt.Sprintf("%.2f", float(v)))
	case c.Unit == UnitRounded:
		r.Decimal(c.Name, float(v), 0)
	case c.Unit == UnitBytesPerSecond:
		r.Rate(c.Name, v)
	default:
		r.add(c.Name, fmt.Sprint(v), left)
	}
	if r.plain {
		r.names[at] = c.Key()
	}
}

// width returns the terminal's columns; the largest number if v has no width.
func (v *View) width() int {
	if v.Width > 0 {
		return v.Width
	}
	return math.MaxInt
}

// FittingColumns returns the columns shown by default on a terminal with a number of columns.
func (list Columns[T]) FittingColumns(width int) (fitting Columns[T]) {
	for _, c := range list {
		if c.MinTerminalWidth > 0 && c.MinTerminalWidth <= width {
			fitting = append(fitting, c)
		}
	}
	return fitting
}

// A Table is rows with their columns. As JSON each row is an object. It has the columns' keys, then those fields of T
// whose names are not keys.
type Table[T any] struct {
	Rows    []T
	Columns Columns[T]
}

// Print writes the table for a view. Without selected columns it shows those that fit the view's width.
func (t Table[T]) Print(w io.Writer, v View) error {
	cells := t.Columns.AddCells
	if fitting := t.Columns.FittingColumns(v.width()); !v.CSV && v.Columns == nil && len(fitting) > 0 {
		rows := slices.Clone(t.Rows)
		if err := SortRows(rows, v.Sort, cells); err != nil {
			return err
		}
		WriteText(w, rows, v.MaxRows, fitting.AddCells)
		return nil
	}
	return PrintRows(w, t.Rows, v, cells)
}

// MarshalJSON makes an array with an object for each row.
func (t Table[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	known := make(map[string]bool)
	for i := range t.Columns {
		known[t.Columns[i].Key()] = true
		known[t.Columns[i].OldJSONKey] = true
	}
	for i, x := range t.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for n := range t.Columns {
			if n > 0 {
				b.WriteByte(',')
			}
			c := &t.Columns[n]
			v := c.plain(x)
			if err := member(&b, c.Key(), v); err != nil {
				return nil, err
			}
			if c.OldJSONKey != "" {
				b.WriteByte(',')
				if err := member(&b, c.OldJSONKey, v); err != nil {
					return nil, err
				}
			}
		}
		rest, err := fields(x)
		if err != nil {
			return nil, err
		}
		for _, f := range rest {
			if known[f.name] {
				continue
			}
			b.WriteByte(',')
			if err := member(&b, f.name, f.value); err != nil {
				return nil, err
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// plain returns the value of row x as programs get it; nil if unknown.
func (c *Column[T]) plain(x T) any {
	v := c.Value(x)
	if text, ok := v.(string); ok && text == "-" {
		return nil
	}
	return v
}

// Values returns the values of a row for programs, by column.
func (list Columns[T]) Values(x T) []any {
	values := make([]any, len(list))
	for i := range list {
		values[i] = list[i].plain(x)
	}
	return values
}

// A Heading is a column as pages and docs describe it.
type Heading struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	Doc  string `json:"doc"`

	MinTerminalWidth int  `json:"room"`  // as Column.MinTerminalWidth
	BlankIfZero      bool `json:"blank"` // as Column.BlankIfZero
}

// Headings describe the columns.
func (list Columns[T]) Headings() []Heading {
	out := make([]Heading, len(list))
	for i := range list {
		c := &list[i]
		out[i] = Heading{c.Key(), c.Name, c.Unit, c.Doc, c.MinTerminalWidth, c.BlankIfZero}
	}
	return out
}

func member(b *bytes.Buffer, name string, value any) error {
	fmt.Fprintf(b, "%q:", name)
	if err := encode(b, value); err != nil {
		return fmt.Errorf("column %s: %w", name, err)
	}
	return nil
}

func encode(b *bytes.Buffer, value any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

type field struct {
	name  string
	value json.RawMessage
}

// fields returns the fields that a struct has in JSON, in order.
func fields(x any) (list []field, err error) {
	var data bytes.Buffer
	if err := encode(&data, x); err != nil || data.Bytes()[0] != '{' {
		return nil, err
	}
	d := json.NewDecoder(&data)
	d.Token() // the opening brace
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: name.(string)}
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}
