// A TableWriter writes traces as tables for databases and spreadsheets: CSV, Parquet, SQLite. The tables are defined
// here; each format only knows how to write rows.

package convert

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A Table is the name and the columns of a table that an export writes.
type Table struct {
	Name    string
	Columns []Column
}

// A Column has whole numbers or texts; optional columns may be null.
type Column struct {
	Name               string
	IsText, IsNullable bool
}

// Indices in Tables.
const (
	TableCalls = iota
	TableOperations
	TableCommunicators
	TableMembers
	TableRun
	TableAttached
)

// Tables are the tables of an export. The columns rank, thread and call identify a call, also in the table of
// operations.
var Tables = []Table{
	TableCalls: {"calls", columns("rank thread call function* start_ns duration_ns file*? line? error?")},
	TableOperations: {"operations", columns("rank thread call kind* communicator? peer? peer_rank? tag? root? bytes_out bytes_in " +
		"operation? message? window? file*?")},
	TableCommunicators: {"communicators", columns("communicator made_by* name*? parent? size remote?")},
	TableMembers:       {"members", columns("communicator member rank?")},
	TableRun:           {"run", columns("name* value*?")},
	TableAttached:      {"attached", columns("rank thread call name* value own")},
}

// columns parses a list of names: a star marks text, a question mark an optional column.
func columns(names string) (list []Column) {
	for _, name := range strings.Fields(names) {
		name, gap := strings.CutSuffix(name, "?")
		name, text := strings.CutSuffix(name, "*")
		list = append(list, Column{name, text, gap})
	}
	return list
}

// A CellValue is a number, a text or null.
type CellValue struct {
	Number int64
	Text   string
	Null   bool
}

// A RowWriter writes rows of Tables in one format (e.g. CSV). It must not keep a row after Row returns.
type RowWriter interface {
	Row(table int, row []CellValue) error
	Close() error
}

// A TableWriter passes the rows of all Tables to a RowWriter. It is an ops.Sink.
type TableWriter struct {
	ops.NopSink
	s     *ops.Source
	f     RowWriter
	o     Options
	row   []CellValue
	sites []sourceLine // by index of a call site in ops.Source.Places
}

type sourceLine struct {
	file string
	line int
}

// NewTableWriter returns a writer that passes rows to f.
func NewTableWriter(s *ops.Source, f RowWriter, o Options) *TableWriter {
	return &TableWriter{s: s, f: f, o: o}
}

func (w *TableWriter) number(n int64) { w.row = append(w.row, CellValue{Number: n}) }

func (w *TableWriter) text(s string) { w.row = append(w.row, CellValue{Text: s, Null: s == ""}) }

// known appends a number to the current row, or null if ok is false.
func (w *TableWriter) known(n int64, ok bool) {
	if !ok {
		n = 0
	}
	w.row = append(w.row, CellValue{Number: n, Null: !ok})
}

func (w *TableWriter) end(table int) error {
	err := w.f.Row(table, w.row)
	w.row = w.row[:0]
	return err
}

// Enter writes the rows of a call, of its actions and of its attached values.
func (w *TableWriter) Enter(c *ops.Call) error {
	where := ops.GetForSite(w.s, &w.sites, c.SiteIndex, func(s trace.Site) sourceLine {
		file, line := w.o.SourceLine(s)
		return sourceLine{file, line}
	})
	w.which(c)
	w.text(c.Func.Name)
	w.number(c.StartNs)
	w.number(c.EndNs - c.StartNs)
	w.text(where.file)
	w.known(int64(where.line), where.line > 0)
	w.known(c.Return, c.Return > trace.ReturnCodeLeftByJump)
	if err := w.end(TableCalls); err != nil {
		return err
	}
	for i := range c.Acts {
		if err := w.operation(c, &c.Acts[i]); err != nil {
			return err
		}
	}
	for i := range c.Values {
		v := &c.Values[i]
		w.which(c)
		w.text(v.Name)
		if v.IsExact {
			w.number(v.ExactSum)
			w.number(1)
		} else {
			w.number(int64(math.Round(v.Sum)))
			w.number(0)
		}
		if err := w.end(TableAttached); err != nil {
			return err
		}
	}
	return nil
}

// which appends the columns that identify a call to the current row: rank, thread and number of the call.
func (w *TableWriter) which(c *ops.Call) {
	w.number(int64(c.Rank))
	w.number(int64(c.Stream))
	w.number(int64(c.Index))
}

func (w *TableWriter) operation(c *ops.Call, a *ops.Act) error {
	w.which(c)
	w.text(a.Kind.String())
	peer, tagged, rooted := false, false, false
	switch a.Kind {
	case ops.ActSend, ops.ActSendBegin, ops.ActSendEnd, ops.ActRecv, ops.ActRecvBegin, ops.ActRecvEnd:
		peer, tagged = a.PeerInComm >= 0, a.Tag >= 0
	case ops.ActPut, ops.ActGet, ops.ActAtomic, ops.ActRMAEndBySync, ops.ActRMAEndByRequest, ops.ActWinLock, ops.ActWinUnlock:
		peer = a.PeerInComm >= 0
	case ops.ActCollective, ops.ActCollectiveBegin, ops.ActCollectiveEnd:
		rooted = a.Root >= 0
	}
	w.known(0, a.Comm != nil)
	if a.Comm != nil {
		w.row[len(w.row)-1].Number = int64(a.Comm.Number)
	}
	w.known(int64(a.PeerInComm), peer)
	world := -1
	if peer {
		world = a.PeerWorldRank()
	}
	w.known(int64(world), world >= 0)
	w.known(a.Tag, tagged)
	w.known(int64(a.Root), rooted)
	w.number(int64(a.SentBytes))
	w.number(int64(a.ReceivedBytes))
	w.known(int64(a.ID), a.ID > 0)
	w.known(int64(a.MessageNumber), a.MessageNumber > 0)
	w.known(0, a.Window != nil)
	if a.Window != nil {
		w.row[len(w.row)-1].Number = int64(a.Window.Number)
	}
	file := ""
	if a.File != nil {
		file = a.File.Name
	}
	w.text(file)
	return w.end(TableOperations)
}

// Close writes the tables that are not about calls, and closes the RowWriter.
func (w *TableWriter) Close() error {
	for _, c := range w.s.Comms.List() {
		made, parent, remote := c.MadeBy, -1, -1
		made = cmp.Or(made, "MPI_COMM_WORLD")
		if c.Parent != nil {
			parent = c.Parent.Number
		}
		if c.Remote != nil {
			remote = c.Remote.Number
		}
		w.number(int64(c.Number))
		w.text(made)
		w.text(c.Name)
		w.known(int64(parent), c.Parent != nil)
		w.number(int64(c.Size))
		w.known(int64(remote), c.Remote != nil)
		if err := w.end(TableCommunicators); err != nil {
			return err
		}
		for i, rank := range c.Members() {
			w.number(int64(c.Number))
			w.number(int64(i))
			w.known(int64(rank), rank >= 0)
			if err := w.end(TableMembers); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.o.Metadata)) {
		w.text(strings.ToLower(name))
		w.text(w.o.Metadata[name])
		if err := w.end(TableRun); err != nil {
			return err
		}
	}
	return w.f.Close()
}

// A CSVWriter writes each of Tables into a CSV file in a folder. It is a RowWriter.
type CSVWriter struct {
	files []*os.File
	out   []*BackgroundWriter
	line  []byte
}

// NewCSVWriter creates a CSV file in dir for each of Tables, with the names of the columns.
func NewCSVWriter(dir string) (*CSVWriter, error) {
	x := &CSVWriter{}
	for _, t := range Tables {
		f, err := os.Create(filepath.Join(dir, t.Name+".csv"))
		if err != nil {
			return nil, errors.Join(err, x.Close())
		}
		var line []byte
		for i, c := range t.Columns {
			if i > 0 {
				line = append(line, ',')
			}
			line = appendField(line, c.Name)
		}
		out := NewBackgroundWriter(f)
		x.files, x.out = append(x.files, f), append(x.out, out)
		if _, err := out.Write(append(line, '\n')); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	return x, nil
}

// Row writes a row as a line of the table's file. Null becomes an empty field.
func (x *CSVWriter) Row(table int, row []CellValue) error {
	line := x.line[:0]
	columns := Tables[table].Columns
	for i := range row {
		if i > 0 {
			line = append(line, ',')
		}
		switch v := &row[i]; {
		case v.Null:
		case columns[i].IsText:
			line = appendField(line, v.Text)
		default:
			line = strconv.AppendInt(line, v.Number, 10)
		}
	}
	x.line = append(line, '\n')
	_, err := x.out[table].Write(x.line)
	return err
}

// appendField appends a field of a CSV line, in quotes where it needs them (RFC 4180, section 2).
func appendField(line []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") && text == strings.TrimSpace(text) {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}

// Close closes the files.
func (x *CSVWriter) Close() (err error) {
	for i, f := range x.files {
		err = errors.Join(err, x.out[i].Close(), f.Close())
	}
	return err
}
