package table

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A CSV is a folder with a file for each table.
type CSV struct {
	files []*os.File
	lines [][]byte // not yet written
}

// inMemory is how many bytes of lines are written together.
const inMemory = 1 << 18

// NewCSV begins to write into a folder.
func NewCSV(dir string) (*CSV, error) {
	x := &CSV{}
	for _, t := range Tables {
		f, err := os.Create(filepath.Join(dir, t.Name+".csv"))
		if err != nil {
			return nil, err
		}
		var line []byte
		for i, c := range t.Columns {
			if i > 0 {
				line = append(line, ',')
			}
			line = appendField(line, c.Name)
		}
		x.files, x.lines = append(x.files, f), append(x.lines, append(line, '\n'))
	}
	return x, nil
}

// Row writes a line. What is not known is empty.
func (x *CSV) Row(table int, row []Value) error {
	line := x.lines[table]
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
	x.lines[table] = append(line, '\n')
	if len(line) < inMemory {
		return nil
	}
	return x.write(table)
}

func (x *CSV) write(table int) error {
	_, err := x.files[table].Write(x.lines[table])
	x.lines[table] = x.lines[table][:0]
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
func (x *CSV) Close() error {
	for i, f := range x.files {
		if err := x.write(i); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
