package table

import (
	"database/sql"
	"errors"

	_ "modernc.org/sqlite" // the driver

	"github.com/spoor-hpc/spoor/internal/export/sqlitefile"
)

// A SQLite is a database in one file.
type SQLite struct {
	path   string
	w      *sqlitefile.Writer
	tables []*sqlitefile.Table
	index  *sqlitefile.Index // of operations by call; nil if they come in another order
}

// byCall are the columns by which what calls did is found.
var byCall = []string{"rank", "thread", "call"}

// NewSQLite begins to write a database. sorted says that operations come in the order of rank, thread and call, as they do where ranks have
// one thread each. Else SQLite sorts them in the end, which takes longer.
func NewSQLite(path string, sorted bool) (*SQLite, error) {
	w, err := sqlitefile.Create(path)
	if err != nil {
		return nil, err
	}
	x := &SQLite{path: path, w: w}
	for _, t := range Tables {
		var columns []sqlitefile.Column
		for _, c := range t.Columns {
			columns = append(columns, sqlitefile.Column{Name: c.Name, Text: c.Text})
		}
		x.tables = append(x.tables, w.Table(t.Name, columns...))
	}
	if sorted {
		x.index = w.Index("operations_call", Tables[Operations].Name, byCall...)
	}
	return x, nil
}

// Row adds a row.
func (x *SQLite) Row(table int, row []Value) error {
	id, err := x.tables[table].Row(row)
	if err == nil && table == Operations && x.index != nil {
		err = x.index.Row(row[0].Number, row[1].Number, row[2].Number, id)
	}
	return err
}

// Close ends the database.
func (x *SQLite) Close() error {
	if err := x.w.Close(); err != nil || x.index != nil {
		return err
	}
	db, err := sql.Open("sqlite", x.path)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	for _, s := range []string{"pragma journal_mode = off", "pragma synchronous = off", "create index operations_call on operations (rank, thread, call)"} {
		if _, e := db.Exec(s); e != nil {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, db.Close())
}
