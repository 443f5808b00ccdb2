package table

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
)

// A CSV is a folder with a file for each table.
type CSV struct {
	files  []*os.File
	w      []*csv.Writer
	fields []string
}

// NewCSV begins to write into a folder.
func NewCSV(dir string) (*CSV, error) {
	x := &CSV{}
	for _, t := range Tables {
		f, err := os.Create(filepath.Join(dir, t.Name+".csv"))
		if err != nil {
			return nil, err
		}
		x.files = append(x.files, f)
		x.w = append(x.w, csv.NewWriter(f))
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		if err := x.w[len(x.w)-1].Write(names); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Row writes a line. What is not known is empty.
func (x *CSV) Row(table int, row []Value) error {
	x.fields = x.fields[:0]
	for i, v := range row {
		text := v.Text
		if !v.Null && !Tables[table].Columns[i].Text {
			text = strconv.FormatInt(v.Number, 10)
		}
		x.fields = append(x.fields, text)
	}
	return x.w[table].Write(x.fields)
}

// Close ends the files.
func (x *CSV) Close() error {
	for i, w := range x.w {
		w.Flush()
		if err := w.Error(); err != nil {
			return err
		}
		if err := x.files[i].Close(); err != nil {
			return err
		}
	}
	return nil
}
