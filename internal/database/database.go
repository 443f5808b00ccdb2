// Package database keeps what many traces say in one SQLite file: runs, ranks, functions, call sites,
// communicators and traffic, as tables that anybody's SQL can read. All of it comes from
// the compressed form of traces, so that adding one costs about what its overview and its matrix do.
//
// A call site is known over builds by module, calling function, file, and its place among calls
// of the same function of MPI from there: addresses and lines change with every edit, the order
// of calls rarely.
package database

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver of SQLite
)

// A DB is an open SQLite database of runs.
type DB struct {
	db   *sql.DB
	path string
}

// Open opens a database for reading and writing. It creates a missing file, and upgrades the tables of older versions.
func Open(path string) (*DB, error) {
	d, err := connect(path, "rwc")
	if err != nil {
		return nil, err
	}
	var have int
	if err := d.db.QueryRow("pragma user_version").Scan(&have); err != nil {
		d.Close()
		return nil, d.failed(err)
	}
	if have == 0 {
		var tables int
		if err = d.db.QueryRow("select count(*) from sqlite_master").Scan(&tables); err == nil && tables > 0 {
			err = errors.New("a database of something else")
		}
		if err == nil {
			_, err = d.db.Exec("begin immediate; " + schema + totals() + " commit;")
		}
	}
	for ; err == nil && have != 0 && have != version; have++ {
		upgrade, known := upgrades[have]
		if !known {
			err = fmt.Errorf("tables of version %d; this spoor knows %d", have, version)
			break
		}
		_, err = d.db.Exec("begin immediate; " + upgrade + " commit;")
	}
	if err == nil {
		err = d.complete()
	}
	if err != nil {
		d.Close()
		return nil, d.failed(err)
	}
	return d, nil
}

// SetDisplayName sets the name of the database in messages: users don't know the name of a temporary file.
func (d *DB) SetDisplayName(name string) { d.path = name }

// OpenReadOnly opens an existing database for reading. It fails for tables of another version.
func OpenReadOnly(path string) (*DB, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such database; spoor db add makes one", path)
	} else if err != nil {
		return nil, err
	}
	d, err := connect(path, "ro")
	if err != nil {
		return nil, err
	}
	var have int
	if err = d.db.QueryRow("pragma user_version").Scan(&have); err == nil && have != version {
		err = fmt.Errorf("no database of spoor's, or of another version (%d; this spoor knows %d)", have, version)
		if _, known := upgrades[have]; known {
			err = fmt.Errorf("tables of version %d; spoor db add brings them to %d", have, version)
		}
	}
	if err != nil {
		d.Close()
		return nil, d.failed(err)
	}
	return d, nil
}

func connect(path, mode string) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: abs, RawQuery: "mode=" + mode + "&_pragma=foreign_keys(1)&_pragma=busy_timeout(10000)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &DB{db, path}, nil
}

func (d *DB) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", d.path, err)
}

// Close closes the database.
func (d *DB) Close() error { return d.db.Close() }

// Query runs an SQL statement. It passes the names of the result's columns to head, then the values of each result row
// to row. A value is nil, int64, float64, string or []byte.
func (d *DB) Query(statement string, head func(columns []string) error, row func(values []any) error) error {
	rows, err := d.db.Query(statement)
	if err != nil {
		return d.failed(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return d.failed(err)
	}
	if err := head(columns); err != nil {
		return err
	}
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return d.failed(err)
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return d.failed(rows.Err())
}

// A Run is the main properties of a run.
type Run struct {
	ID       int64  `json:"id"`
	Path     string `json:"path"`
	Command  string `json:"command"`
	Program  string `json:"app"`
	Machine  string `json:"machine"`
	Ranks    int    `json:"ranks"`
	StartNs  int64  `json:"started_ns"`
	HasTimes bool   `json:"has_times"`
}

const runColumns = "run.id, run.path, run.command, run.app, run.machine, run.ranks, run.started_ns, run.has_times"

func (x *Run) fields() []any {
	return []any{&x.ID, &x.Path, &x.Command, &x.Program, &x.Machine, &x.Ranks, &x.StartNs, &x.HasTimes}
}

// Find returns the run that a text identifies: its number, a tag as NAME=VALUE, or the end of the trace's path. If
// several runs match, it returns the one that started last.
func (d *DB) Find(text string) (Run, error) {
	var x Run
	condition, args := "run.path = ?1 or substr(run.path, -length(?1) - 1) = '/' || ?1", []any{text}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		condition, args = "run.id = ?", []any{id}
	} else if name, value, ok := strings.Cut(text, "="); ok {
		condition, args = "run.id in (select run from tag where name = ? and value = ?)", []any{name, value}
	}
	err := d.db.QueryRow("select "+runColumns+" from run where "+condition+" order by started_ns desc, id desc limit 1", args...).Scan(x.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		return x, fmt.Errorf("%s: no run %q; name its number, NAME=VALUE of a tag, or its file", d.path, text)
	}
	return x, d.failed(err)
}

// A RunSummary is a run with its tags and durations.
type RunSummary struct {
	Run
	Calls         int64             `json:"calls"`
	MaxRankSpanNs int64             `json:"span_ns"`
	MPINs         int64             `json:"mpi_ns"`
	Tags          map[string]string `json:"tags"`
}

// List returns all runs, in the order in which they started.
func (d *DB) List() ([]RunSummary, error) {
	list := []RunSummary{}
	index := make(map[int64]int)
	rows, err := d.db.Query("select " + runColumns + ", calls, span_ns, mpi_ns from run order by started_ns, id")
	if err != nil {
		return nil, d.failed(err)
	}
	for rows.Next() {
		x := RunSummary{Tags: make(map[string]string)}
		if err := rows.Scan(append(x.fields(), &x.Calls, &x.MaxRankSpanNs, &x.MPINs)...); err != nil {
			rows.Close()
			return nil, d.failed(err)
		}
		index[x.ID] = len(list)
		list = append(list, x)
	}
	// closed before the next query, as there is only one connection
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, d.failed(err)
	}
	tags, err := d.db.Query("select run, name, value from tag")
	if err != nil {
		return nil, d.failed(err)
	}
	defer tags.Close()
	for tags.Next() {
		var run int64
		var name, value string
		if err := tags.Scan(&run, &name, &value); err != nil {
			return nil, d.failed(err)
		}
		list[index[run]].Tags[name] = value
	}
	return list, d.failed(tags.Err())
}
