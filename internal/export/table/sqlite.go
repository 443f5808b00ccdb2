package table

import (
	"database/sql"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// A SQLite is a database in one file.
type SQLite struct {
	db     *sql.DB
	tx     *sql.Tx
	insert []*sql.Stmt
	args   []any
}

// NewSQLite begins to write a database. All rows are one transaction, and nothing is done for the
// case that the machine fails meanwhile: the file has no name yet that anybody would believe.
func NewSQLite(path string) (*SQLite, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	x := &SQLite{db: db}
	for _, pragma := range []string{"journal_mode = off", "synchronous = off", "locking_mode = exclusive"} {
		if _, err := db.Exec("pragma " + pragma); err != nil {
			return nil, err
		}
	}
	if x.tx, err = db.Begin(); err != nil {
		return nil, err
	}
	for _, t := range Tables {
		var columns, marks []string
		for _, c := range t.Columns {
			kind := "integer"
			if c.Text {
				kind = "text"
			}
			columns, marks = append(columns, fmt.Sprintf("%q %s", c.Name, kind)), append(marks, "?")
		}
		if _, err := x.tx.Exec(fmt.Sprintf("create table %q (%s)", t.Name, strings.Join(columns, ", "))); err != nil {
			return nil, err
		}
		s, err := x.tx.Prepare(fmt.Sprintf("insert into %q values (%s)", t.Name, strings.Join(marks, ", ")))
		if err != nil {
			return nil, err
		}
		x.insert = append(x.insert, s)
	}
	return x, nil
}

// Row inserts a row.
func (x *SQLite) Row(table int, row []Value) error {
	x.args = x.args[:0]
	for i, v := range row {
		switch {
		case v.Null:
			x.args = append(x.args, nil)
		case Tables[table].Columns[i].Text:
			x.args = append(x.args, v.Text)
		default:
			x.args = append(x.args, v.Number)
		}
	}
	_, err := x.insert[table].Exec(x.args...)
	return err
}

// Close ends the database, with an index by which what calls did is found.
func (x *SQLite) Close() error {
	if _, err := x.tx.Exec("create index operations_call on operations (rank, thread, call)"); err != nil {
		return err
	}
	if err := x.tx.Commit(); err != nil {
		return err
	}
	return x.db.Close()
}
