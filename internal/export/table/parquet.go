package table

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// A Parquet is a folder with a file for each table.
type Parquet struct {
	tables []*parquetTable
}

// A parquetTable collects rows until there are enough to write.
type parquetTable struct {
	file   *os.File
	w      *parquet.Writer
	order  []int // by column: where the format has it, which is in the order of names
	values []parquet.Value
	rows   []parquet.Row
}

// atOnce is how many rows are written together; group is how many make a row group, which is what
// is kept in memory.
const (
	atOnce = 1 << 10
	group  = 1 << 18
)

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
			root[c.Name] = parquet.Optional(parquet.Compressed(node, &parquet.Zstd))
			names = append(names, c.Name)
		}
		slices.Sort(names)
		p := &parquetTable{file: f, w: parquet.NewWriter(f, parquet.NewSchema(t.Name, root), parquet.MaxRowsPerRowGroup(group))}
		for _, c := range t.Columns {
			p.order = append(p.order, slices.Index(names, c.Name))
		}
		x.tables = append(x.tables, p)
	}
	return x, nil
}

// Row adds a row.
func (x *Parquet) Row(table int, row []Value) error {
	p := x.tables[table]
	from := len(p.values)
	p.values = append(p.values, make([]parquet.Value, len(row))...)
	for i, v := range row {
		column := p.order[i]
		value, level := parquet.NullValue(), 0
		if !v.Null {
			level = 1
			if Tables[table].Columns[i].Text {
				value = parquet.ByteArrayValue([]byte(v.Text))
			} else {
				value = parquet.Int64Value(v.Number)
			}
		}
		p.values[from+column] = value.Level(0, level, column)
	}
	p.rows = append(p.rows, parquet.Row(p.values[from:]))
	if len(p.rows) == atOnce {
		return p.flush()
	}
	return nil
}

func (p *parquetTable) flush() error {
	_, err := p.w.WriteRows(p.rows)
	p.rows, p.values = p.rows[:0], p.values[:0]
	return err
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
