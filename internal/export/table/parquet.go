package table

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A Parquet is a folder with a file for each table.
type Parquet struct {
	tables []*parquetTable
}

// A parquetTable collects the values of each column until there are enough to write.
type parquetTable struct {
	file    *os.File
	w       *parquet.Writer
	order   []int             // by column: where the format has it, which is in the order of names
	columns [][]parquet.Value // as the format has them
	null    []parquet.Value   // likewise
	rows    int               // in columns
	grouped int               // in the row group
}

// atOnce is how many rows are written together; group is how many make a row group, which is what
// is kept in memory.
const (
	atOnce = 1 << 7
	group  = 1 << 17
)

// compression is the fastest of Zstandard's: others take twice the time for a tenth of the size.
var compression = &zstd.Codec{Level: zstd.SpeedFastest}

// NewParquet begins to write into a folder.
func NewParquet(dir string) (*Parquet, error) {
	x := &Parquet{}
	for _, t := range Tables {
		f, err := os.Create(filepath.Join(dir, t.Name+".parquet"))
		if err != nil {
			return nil, err
		}
		root := parquet.Group{}
		var names []string
		for _, c := range t.Columns {
			node := parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
			if c.Text {
				node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
			}
			node = parquet.Compressed(node, compression)
			if c.Gap {
				node = parquet.Optional(node)
			}
			root[c.Name] = node
			names = append(names, c.Name)
		}
		slices.Sort(names)
		p := &parquetTable{file: f, w: parquet.NewWriter(f, parquet.NewSchema(t.Name, root)), columns: make([][]parquet.Value, len(names))}
		for _, c := range t.Columns {
			p.order = append(p.order, slices.Index(names, c.Name))
		}
		for column := range names {
			p.columns[column] = make([]parquet.Value, atOnce)
			p.null = append(p.null, parquet.NullValue().Level(0, 0, column))
		}
		x.tables = append(x.tables, p)
	}
	return x, nil
}

// Row adds a row.
func (x *Parquet) Row(table int, row []Value) error {
	p := x.tables[table]
	columns := Tables[table].Columns
	for i := range row {
		at, c := p.order[i], &columns[i]
		var value parquet.Value
		switch v := &row[i]; {
		case v.Null && !c.Gap:
			return fmt.Errorf("parquet: %s without %s", Tables[table].Name, c.Name)
		case v.Null:
			value = p.null[at]
		case c.Text:
			value = parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(v.Text), len(v.Text))) // nobody writes to it
		default:
			value = parquet.Int64Value(v.Number)
		}
		if c.Gap && !row[i].Null {
			value = value.Level(0, 1, at)
		}
		p.columns[at][p.rows] = value
	}
	if p.rows++; p.rows < atOnce {
		return nil
	}
	return p.flush()
}

// flush writes what was collected, column by column: the library is much slower with rows.
func (p *parquetTable) flush() error {
	for i, column := range p.w.ColumnWriters() {
		if _, err := column.WriteRowValues(p.columns[i][:p.rows]); err != nil {
			return err
		}
	}
	p.grouped += p.rows
	p.rows = 0
	if p.grouped < group {
		return nil
	}
	p.grouped = 0
	return p.w.Flush()
}

// Close ends the files.
func (x *Parquet) Close() error {
	for _, p := range x.tables {
		if err := p.flush(); err != nil {
			return err
		}
		if err := p.w.Close(); err != nil {
			return err
		}
		if err := p.file.Close(); err != nil {
			return err
		}
	}
	return nil
}
