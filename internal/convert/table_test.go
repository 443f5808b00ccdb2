package convert

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestFields: what a reader of CSV gets is the text that was written, whatever is in it.
func TestFields(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		x, err := NewCSVWriter(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]string{{"name", "value"}}
		for range rapid.IntRange(0, 9).Draw(rt, "rows") {
			text := rapid.StringMatching("[a-z, \"\n\t'é;]{0,12}")
			row := []string{"x" + text.Draw(rt, "name"), text.Draw(rt, "value")}
			if err := x.Row(TableRun, []CellValue{{Text: row[0]}, {Text: row[1]}}); err != nil {
				t.Fatal(err)
			}
			want = append(want, row)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, "run.csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := csv.NewReader(f).ReadAll()
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// TestMissing: what every row has can't be missing in Parquet.
func TestMissing(t *testing.T) {
	x, err := NewParquetWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Row(TableMembers, []CellValue{{}, {}, {Null: true}}); err != nil {
		t.Error(err)
	}
	if err := x.Row(TableMembers, []CellValue{{Null: true}, {}, {}}); err == nil {
		t.Error("a member of no communicator")
	}
}
