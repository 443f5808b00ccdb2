package sqlitefile

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the reader
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/export/behind"
)

// ask has SQLite run a query on a file.
func ask(t testing.TB, path, query string) (list [][]any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// sound has SQLite check all of a file.
func sound(t testing.TB, path string) {
	t.Helper()
	if got := ask(t, path, "pragma integrity_check"); len(got) != 1 || got[0][0] != "ok" {
		t.Errorf("integrity: %.1000v", got)
	}
}

// TestRows: SQLite reads the rows that were written, whatever their values and number, and finds nothing wrong with the file.
func TestRows(t *testing.T) {
	dir := t.TempDir()
	files := 0
	rapid.Check(t, func(rt *rapid.T) {
		files++
		path := filepath.Join(dir, fmt.Sprint(files))
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		tables := rapid.IntRange(1, 3).Draw(rt, "tables")
		var to []*Table
		for i := range tables {
			to = append(to, w.Table(fmt.Sprint("t", i), Column{"a", false}, Column{"b", true}, Column{"c", false}))
		}
		want := make([][][]any, tables)
		for range rapid.IntRange(0, 300).Draw(rt, "rows") {
			i := rapid.IntRange(0, tables-1).Draw(rt, "table")
			row := make([]Value, 3)
			values := make([]any, 3)
			for at := range row {
				switch null := rapid.IntRange(0, 3).Draw(rt, "null") == 0; {
				case null:
					row[at].Null = true
				case at != 1:
					n := rapid.Int64().Draw(rt, "number") >> rapid.IntRange(0, 63).Draw(rt, "shift")
					row[at], values[at] = Value{Number: n}, n
				default:
					text := strings.Repeat(rapid.StringMatching("[a-z]{0,9}").Draw(rt, "text"), rapid.SampledFrom([]int{1, 1, 1, 1, 30, 3000, 9000}).Draw(rt, "times"))
					row[at], values[at] = Value{Text: text}, text
				}
			}
			if _, err := to[i].Row(row); err != nil {
				t.Fatal(err)
			}
			want[i] = append(want[i], values)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sound(t, path)
		for i := range want {
			if diff := cmp.Diff(want[i], ask(t, path, fmt.Sprintf("select * from t%d", i))); diff != "" {
				rt.Fatalf("table %d:\n%s", i, diff)
			}
		}
	})
}

// TestIndex: SQLite finds each row of a large table by its index and reads no more, and the file can be changed afterwards.
func TestIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	const rows = 400000 // three levels of the index
	made(t, path, 0, rows)
	sound(t, path)
	plan := fmt.Sprint(ask(t, path, "explain query plan select * from t where a = 3 and b = 9"))
	if !strings.Contains(plan, "USING INDEX found (a=? AND b=?)") {
		t.Errorf("plan: %s", plan)
	}
	for _, n := range []int64{0, 1, 777, 123456, rows - 1} {
		want := [][]any{{n / 1000, n % 1000 / 7, fmt.Sprint("row ", n)}}
		query := fmt.Sprintf("select a, b, c from t where a = %d and b = %d and c = 'row %d'", n/1000, n%1000/7, n)
		if diff := cmp.Diff(want, ask(t, path, query)); diff != "" {
			t.Errorf("row %d:\n%s", n, diff)
		}
	}
	ask(t, path, "insert into t values (1000000, 1, 'more') returning a")
	ask(t, path, "delete from t where a < 100 returning a")
	sound(t, path)
	if diff := cmp.Diff([][]any{{int64(300001)}}, ask(t, path, "select count(*) from t")); diff != "" {
		t.Error(diff)
	}
}

// made writes a table with an index, its first page being a certain one.
func made(t testing.TB, path string, first uint32, rows int) {
	t.Helper()
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if first > 0 {
		if err := w.out.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.f.Seek(int64(first-1)*pageSize, 0); err != nil {
			t.Fatal(err)
		}
		w.out, w.next = behind.New(w.f), first
	}
	to := w.Table("t", Column{"a", false}, Column{"b", false}, Column{"c", true})
	index := w.Index("found", "t", "a", "b")
	for n := range int64(rows) {
		row := []Value{{Number: n / 1000}, {Number: n % 1000 / 7}, {Text: fmt.Sprint("row ", n)}}
		id, err := to.Row(row)
		if err == nil {
			err = index.Row(row[0].Number, row[1].Number, id)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLockPage: the page with the bytes that SQLite locks is passed over. The file has a hole before it.
func TestLockPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	const rows = 20000
	made(t, path, lockPage-7, rows)
	if diff := cmp.Diff([][]any{{int64(rows), int64(rows)}}, ask(t, path, "select count(*), count(distinct c) from t")); diff != "" {
		t.Error(diff)
	}
	for _, line := range ask(t, path, "pragma integrity_check(1000000)") { // pages in the hole are of nothing
		if text := fmt.Sprint(line[0]); !strings.HasSuffix(text, "is never used") && !strings.HasSuffix(text, "never used") {
			t.Error(text)
			break
		}
	}
}

func TestOrder(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	x := w.Index("x", "t", "a", "b")
	for _, row := range [][]int64{{1, 5, 1}, {1, 5, 2}, {2, 0, 3}, {2, math.MaxInt64, 4}} {
		if err := x.Row(row...); err != nil {
			t.Error(err)
		}
	}
	if err := x.Row(2, 3, 5); !errors.Is(err, ErrOrder) {
		t.Errorf("a lesser row: %v", err)
	}
}

func TestVarint(t *testing.T) {
	for _, n := range []uint64{0, 1, 127, 128, 16383, 16384, 1<<32 + 5, 1<<55 - 1} {
		b := appendVarint(nil, n)
		got := uint64(0)
		for _, x := range b {
			got = got<<7 | uint64(x&0x7f)
		}
		if got != n || len(b) != varintLen(n) || b[len(b)-1]&0x80 != 0 {
			t.Errorf("%d: % x is %d", n, b, got)
		}
	}
}
