package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A ParquetWriter writes each of Tables into a Parquet file in a folder. It is a RowWriter.
type ParquetWriter struct {
	tables []*parquetTable
}

// A parquetTable collects the rows of one table in batches. The table's goroutine writes full batches.
type parquetTable struct {
	file    *os.File
	w       *parquet.Writer
	columns []parquetColumn
	filling batch
	full    chan batch
	written chan batch // batches that are written and can be filled again
	done    chan error // the goroutine's first error, or nil, after full was closed
	grouped int        // rows in the current row group; owned by the goroutine
}

// A parquetColumn is a column of a table, and its position in the Parquet file.
type parquetColumn struct {
	Column
	at   int // index in the Parquet file, which sorts columns by name
	null parquet.Value
}

// A batch is up to atOnce rows, stored by column. Columns are in the order of the Parquet file.
type batch struct {
	columns [][]parquet.Value
	rows    int
}

// atOnce is the number of rows written together. group is the number of rows in a row group, which is kept in memory.
const (
	atOnce = 1 << 7
	group  = 1 << 17
)

// compression is Zstandard's fastest level: others take twice the time for a file that is a tenth smaller.
var compression = &zstd.Codec{Level: zstd.SpeedFastest}

// NewParquetWriter creates a Parquet file in dir for each of Tables.
func NewParquetWriter(dir string) (*ParquetWriter, error) {
	x := &ParquetWriter{}
	for _, t := range Tables {
		f, err := os.Create(filepath.Join(dir, t.Name+".parquet"))
		if err != nil {
			return nil, err
		}
		root := parquet.Group{}
		var names []string
		for _, c := range t.Columns {
			node := parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
			if c.IsText {
				node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
			}
			node = parquet.Compressed(node, compression)
			if c.IsNullable {
				node = parquet.Optional(node)
			}
			root[c.Name] = node
			names = append(names, c.Name)
		}
		slices.Sort(names)
		p := &parquetTable{
			file: f, w: parquet.NewWriter(f, parquet.NewSchema(t.Name, root)), full: make(chan batch, 1), written: make(chan batch, 3), done: make(chan error, 1),
		}
		for _, c := range t.Columns {
			at := slices.Index(names, c.Name)
			p.columns = append(p.columns, parquetColumn{c, at, parquet.NullValue().Level(0, 0, at)})
		}
		p.filling = newBatch(len(names))
		p.written <- newBatch(len(names))
		p.written <- newBatch(len(names))
		go p.writes()
		x.tables = append(x.tables, p)
	}
	return x, nil
}

func newBatch(columns int) batch {
	b := batch{columns: make([][]parquet.Value, columns)}
	for i := range b.columns {
		b.columns[i] = make([]parquet.Value, atOnce)
	}
	return b
}

// Row adds a row to the table with this index in Tables.
func (x *ParquetWriter) Row(table int, row []CellValue) error {
	p := x.tables[table]
	for i := range row {
		c := &p.columns[i]
		var value parquet.Value
		switch v := &row[i]; {
		case v.Null && !c.IsNullable:
			return fmt.Errorf("parquet: %s without %s", Tables[table].Name, c.Name)
		case v.Null:
			value = c.null
		case c.IsText:
			value = parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(v.Text), len(v.Text))) // the library doesn't modify it
		default:
			value = parquet.Int64Value(v.Number)
		}
		if c.IsNullable && !row[i].Null {
			value = value.Level(0, 1, c.at)
		}
		p.filling.columns[c.at][p.filling.rows] = value
	}
	if p.filling.rows++; p.filling.rows == atOnce {
		p.full <- p.filling
		p.filling = <-p.written
	}
	return nil
}

// writes is the goroutine of a table: it writes batches until full is closed. After an error it only discards them, so
// that Row doesn't block.
func (p *parquetTable) writes() {
	var err error
	for b := range p.full {
		if err == nil {
			err = p.write(b)
		}
		b.rows = 0
		p.written <- b
	}
	p.done <- err
}

// write writes a batch, column by column: the library is much slower with rows.
func (p *parquetTable) write(b batch) error {
	for i, column := range p.w.ColumnWriters() {
		if _, err := column.WriteRowValues(b.columns[i][:b.rows]); err != nil {
			return err
		}
	}
	if p.grouped += b.rows; p.grouped < group {
		return nil
	}
	p.grouped = 0
	return p.w.Flush()
}

// Close writes the remaining rows of all tables and closes the files.
func (x *ParquetWriter) Close() (err error) {
	for _, p := range x.tables {
		err = errors.Join(err, p.close())
	}
	return err
}

func (p *parquetTable) close() error {
	p.full <- p.filling
	close(p.full)
	if err := <-p.done; err != nil {
		return errors.Join(err, p.file.Close())
	}
	return errors.Join(p.w.Close(), p.file.Close())
}
