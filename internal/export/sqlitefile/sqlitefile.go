// Package sqlitefile writes SQLite databases from beginning to end: rows go into B-trees from left to right, pages into
// the file one behind the other, so that a row costs some tens of nanoseconds and the memory is that of a few pages.
// What is there can't be changed; SQLite itself does that afterwards. The format is that of
// https://www.sqlite.org/fileformat.html, whose chapters the comments name.
package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spoor-hpc/spoor/internal/export/behind"
)

const (
	pageSize = 16384
	// lockPage holds the bytes that SQLite locks; nothing else may be there (1.4).
	lockPage = 1<<30/pageSize + 1
)

// A Writer writes one database.
type Writer struct {
	f      *os.File
	out    *behind.Writer
	next   uint32    // number of the page that is written next
	schema [][]Value // rows of the table of tables
	trees  []*tree   // of schema, in its order
}

// A Value is one of a row: a whole number or text, as its column is, or NULL.
type Value struct {
	Number int64
	Text   string
	Null   bool
}

// A Column is of whole numbers or of text.
type Column struct {
	Name string
	Text bool
}

// Create begins a database; there must be no file of that name.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, out: behind.New(f), next: 1}
	_, err = w.page(make([]byte, pageSize)) // the first one is written last
	return w, err
}

// page appends a page and returns its number.
func (w *Writer) page(b []byte) (uint32, error) {
	if w.next == lockPage {
		if _, err := w.out.Write(make([]byte, pageSize)); err != nil {
			return 0, err
		}
		w.next++
	}
	n := w.next
	w.next++
	_, err := w.out.Write(b)
	return n, err
}

// upcoming is the number that the next page but so many will have.
func (w *Writer) upcoming(skip int) uint32 {
	n := w.next
	for ; ; n++ {
		if n == lockPage {
			continue
		}
		if skip == 0 {
			return n
		}
		skip--
	}
}

// A Table takes rows.
type Table struct {
	w       *Writer
	t       *tree
	columns []Column
	rows    int64
	record  record
	cell    []byte
}

// Table makes a table.
func (w *Writer) Table(name string, columns ...Column) *Table {
	t := &tree{w: w, leaf: 0x0d, inner: 0x05}
	var list []string
	for _, c := range columns {
		kind := "integer"
		if c.Text {
			kind = "text"
		}
		list = append(list, c.Name+" "+kind)
	}
	w.add("table", name, name, fmt.Sprintf("CREATE TABLE %s (%s)", name, strings.Join(list, ", ")), t)
	return &Table{w: w, t: t, columns: columns}
}

func (w *Writer) add(kind, name, table, sql string, t *tree) {
	w.schema = append(w.schema, []Value{{Text: kind}, {Text: name}, {Text: table}, {}, {Text: sql}})
	w.trees = append(w.trees, t)
}

// Row adds a row, with a value for each column, and returns its number, the rowid.
func (t *Table) Row(row []Value) (int64, error) {
	t.rows++
	t.record.begin()
	for i := range row {
		switch v := &row[i]; {
		case v.Null:
			t.record.null()
		case t.columns[i].Text:
			t.record.text(v.Text)
		default:
			t.record.number(v.Number)
		}
	}
	t.cell = appendVarint(t.cell[:0], uint64(t.record.size()))
	t.cell = appendVarint(t.cell, uint64(t.rows))
	from := len(t.cell)
	t.cell = t.record.append(t.cell)
	var err error
	if t.cell, err = t.w.spill(t.cell, from, pageSize-35); err != nil { // (1.6)
		return 0, err
	}
	return t.rows, t.t.leafCell(t.cell, t.rows)
}

// spill puts what is too much of a payload, which begins in a cell at from, into overflow pages (1.6).
func (w *Writer) spill(cell []byte, from, most int) ([]byte, error) {
	payload := len(cell) - from
	if payload <= most {
		return cell, nil
	}
	const least = (pageSize-12)*32/255 - 23
	local := least + (payload-least)%(pageSize-4)
	if local > most {
		local = least
	}
	rest := append([]byte(nil), cell[from+local:]...)
	cell = binary.BigEndian.AppendUint32(cell[:from+local], w.upcoming(0))
	for len(rest) > 0 {
		page := make([]byte, pageSize)
		n := copy(page[4:], rest)
		if rest = rest[n:]; len(rest) > 0 {
			binary.BigEndian.PutUint32(page, w.upcoming(1))
		}
		if _, err := w.page(page); err != nil {
			return nil, err
		}
	}
	return cell, nil
}

// An Index takes rows of numbers in rising order.
type Index struct {
	t      *tree
	last   []int64
	record record
	cell   []byte
}

// Index makes an index of columns of numbers.
func (w *Writer) Index(name, table string, columns ...string) *Index {
	t := &tree{w: w, leaf: 0x0a, inner: 0x02}
	w.add("index", name, table, fmt.Sprintf("CREATE INDEX %s ON %s (%s)", name, table, strings.Join(columns, ", ")), t)
	return &Index{t: t}
}

// ErrOrder says that rows of an index came in another order than theirs.
var ErrOrder = errors.New("sqlitefile: rows of an index are out of order")

// Row adds the columns of a row, the last one being its rowid.
func (x *Index) Row(columns ...int64) error {
	for i, n := range x.last {
		if columns[i] != n {
			if columns[i] < n {
				return ErrOrder
			}
			break
		}
	}
	x.last = append(x.last[:0], columns...)
	x.record.begin()
	for _, n := range columns {
		x.record.number(n)
	}
	x.cell = x.record.append(appendVarint(x.cell[:0], uint64(x.record.size())))
	return x.t.leafCell(x.cell, 0)
}

// Close ends the database.
func (w *Writer) Close() error {
	first, err := w.finish()
	if err = errors.Join(err, w.out.Close()); err == nil {
		_, err = w.f.WriteAt(first, 0)
	}
	return errors.Join(err, w.f.Close())
}

// finish ends all trees and returns the first page.

func (w *Writer) finish() (first []byte, err error) {
	for i, t := range w.trees {
		root, err := t.end()
		if err != nil {
			return nil, err
		}
		w.schema[i][3].Number = int64(root)
	}
	first = make([]byte, pageSize)
	p := &page{b: first, from: 100, at: pageSize}
	p.begin(0x0d)
	for i, row := range w.schema {
		var x record
		x.begin()
		for at, v := range row {
			if at == 3 {
				x.number(v.Number)
			} else {
				x.text(v.Text)
			}
		}
		cell := x.append(appendVarint(appendVarint(nil, uint64(x.size())), uint64(i+1)))
		if !p.fits(len(cell)) {
			return nil, errors.New("sqlitefile: too many tables")
		}
		p.add(cell)
	}
	p.end()
	w.header(first)
	return first, nil
}

// header writes the first hundred bytes of a database (1.3).
func (w *Writer) header(b []byte) {
	copy(b, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(b[16:], pageSize)
	copy(b[18:], []byte{1, 1, 0, 64, 32, 32})
	for _, x := range []struct {
		at int
		n  uint32
	}{{24, 1}, {28, w.next - 1}, {40, 1}, {44, 4}, {56, 1}, {92, 1}, {96, 3045000}} {
		binary.BigEndian.PutUint32(b[x.at:], x.n)
	}
}
