package convert

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A CSV is a folder with a file for each table.
type CSV struct {
	files []*os.File
	out   []*Behind
	line  []byte
}

// NewCSV begins to write into a folder.
func NewCSV(dir string) (*CSV, error) {
	x := &CSV{}
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
		out := NewBehind(f)
		x.files, x.out = append(x.files, f), append(x.out, out)
		if _, err := out.Write(append(line, '\n')); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	return x, nil
}

// Row writes a line. What is not known is empty.
func (x *CSV) Row(table int, row []Value) error {
	line := x.line[:0]
	columns := Tables[table].Columns
	for i := range row {
		if i > 0 {
			line = append(line, ',')
		}
		switch v := &row[i]; {
		case v.Null:
		case columns[i].Text:
			line = appendField(line, v.Text)
		default:
			line = strconv.AppendInt(line, v.Number, 10)
		}
	}
	x.line = append(line, '\n')
	_, err := x.out[table].Write(x.line)
	return err
}

// appendField writes a text, in quotes where it needs them (RFC 4180, section 2).
func appendField(line []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") && text == strings.TrimSpace(text) {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}

// Close ends the files.
func (x *CSV) Close() (err error) {
	for i, f := range x.files {
		err = errors.Join(err, x.out[i].Close(), f.Close())
	}
	return err
}
