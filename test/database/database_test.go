// Package database has databases of real runs asked by the tools that people have: DuckDB, pandas,
// SQLite.
package database

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// numbers are those of ranks that the program runs with.
var numbers = []int{4, 9, 16, 25, 36}

// TestDatabase makes runs of one program with several numbers of ranks and has the database asked.
func TestDatabase(t *testing.T) {
	installed := mpis.Need(t)
	at := slices.IndexFunc(installed, func(m *mpis.MPI) bool { return m.Name == "openmpi" }) // waits without spinning where ranks share cores
	m := installed[max(0, at)]
	dir := t.TempDir()
	spoor := func(t *testing.T, args ...string) string {
		t.Helper()
		r := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}.Run(append([]string{mpis.NeedSpoor(t)}, args...)...)
		if r.Err != nil {
			t.Fatalf("spoor %q: %v", args, r)
		}
		return r.Stdout
	}
	app, _ := compile.ByName("cg")
	program, err := app.Build(m, dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range numbers {
		trace := fmt.Sprintf("cg-%d.spoor", n)
		spoor(t, append([]string{"run", "-q", "--timing", "lossless", "--tag", fmt.Sprint("size=", n), "-o", trace}, m.Command(n, append([]string{program}, app.Quick...)...)...)...)
		spoor(t, "db", "add", "--calls", "calls", trace)
		if i == len(numbers)-2 {
			if r := (mpis.Job{MPI: m, Dir: dir}).Run(mpis.NeedSpoor(t), "scaling"); r.Err != nil || !strings.Contains(r.Stdout, "4 numbers of ranks from 4 to 25") {
				t.Errorf("four numbers of ranks: %v", r)
			}
		}
	}
	t.Run("scale", func(t *testing.T) { scales(t, spoor(t, "scaling", "--json")) })
	t.Run("questions", func(t *testing.T) {
		sql, python := blocks(t, 0)
		var want [][][]any
		for _, s := range sql {
			want = append(want, table(t, spoor(t, "db", "sql", "--csv", "--", s)))
		}
		same(t, want, pandas(t, dir, python, ""))
	})
	t.Run("calls", func(t *testing.T) {
		sql, python := blocks(t, 1)
		for i := range sql {
			sql[i] = strings.ReplaceAll(sql[i], "FOLDER", filepath.Join(dir, "calls"))
		}
		for _, name := range []string{"calls", "operations"} {
			sql = append(sql, fmt.Sprintf("copy %s to '%s'", name, filepath.Join(dir, name+".csv")))
		}
		answers := duckdb(t, sql)
		same(t, answers[2:len(answers)-2], pandas(t, dir, python, dir))
	})
	t.Run("sums", func(t *testing.T) {
		var info struct {
			Functions []struct {
				Name  string `json:"name"`
				Calls int64  `json:"calls"`
				Ns    int64  `json:"ns"`
			} `json:"functions"`
		}
		if err := json.Unmarshal([]byte(spoor(t, "info", "--json", "cg-9.spoor")), &info); err != nil || len(info.Functions) == 0 {
			t.Fatalf("%+v: %v", info, err)
		}
		var want [][]any
		for _, f := range info.Functions {
			want = append(want, []any{f.Name, f.Calls, f.Ns})
		}
		const sums = "select function, count(*), sum(duration_ns) from %s group by function"
		for _, to := range []string{"parquet", "csv"} {
			spoor(t, "export", "--to", to, "-o", to, "cg-9.spoor")
		}
		answers := duckdb(t, []string{
			fmt.Sprintf(sums, "'"+filepath.Join(dir, "parquet/calls.parquet")+"'"), fmt.Sprintf(sums, "'"+filepath.Join(dir, "csv/calls.csv")+"'"),
		})
		same(t, [][][]any{answers[0]}, answers[1:])
		within(t, want, answers[0])
	})
}

// scales wants what db scale says of real runs to be of all call sites that each run has.
func scales(t *testing.T, text string) {
	var s struct {
		Ranks []int `json:"ranks"`
		Ahead int   `json:"ahead"`
		Sites []struct {
			Site   struct{ Function, File string } `json:"site"`
			Values []float64                       `json:"ns_per_rank"`
			Law    struct {
				Error float64 `json:"leave_one_out_error"`
			} `json:"law"`
			Share float64 `json:"ahead_share"`
		} `json:"sites"`
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Ranks, numbers) || s.Ahead != 360 {
		t.Errorf("ranks %v, ahead %d", s.Ranks, s.Ahead)
	}
	seen := make(map[string]bool)
	share := 0.0
	for _, x := range s.Sites {
		seen[x.Site.Function+" "+x.Site.File] = true
		share += x.Share
		if len(x.Values) != len(numbers) || math.IsNaN(x.Law.Error) || x.Law.Error < 0 || x.Law.Error > 2 {
			t.Errorf("%+v", x)
		}
	}
	for _, want := range []string{"MPI_Allreduce cg.c", "MPI_Finalize cg.c"} {
		if !seen[want] {
			t.Errorf("%s is not among %v", want, seen)
		}
	}
	if math.Abs(share-1) > 1e-6 {
		t.Errorf("shares add up to %g", share)
	}
}

// blocks returns the statements of the n-th block of SQL in docs/database.md, and the n-th of Python.
func blocks(t *testing.T, n int) (sql []string, python string) {
	t.Helper()
	text, err := os.ReadFile(mpis.Root("docs", "database.md"))
	if err != nil {
		t.Fatal(err)
	}
	nth := func(language string) string {
		parts := strings.Split(string(text), "```"+language+"\n")
		if len(parts) < n+2 {
			t.Fatalf("no block %d of %s", n, language)
		}
		block, _, _ := strings.Cut(parts[n+1], "```")
		return block
	}
	for _, s := range strings.Split(nth("sql"), ";\n") {
		if strings.TrimSpace(s) != "" {
			sql = append(sql, s)
		}
	}
	return sql, nth("python")
}

// table reads CSV without quotes, but for its first line.
func table(t *testing.T, text string) (rows [][]any) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		var row []any
		for _, cell := range strings.Split(line, ",") {
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

func pandas(t *testing.T, dir, block, tables string) [][][]any {
	t.Helper()
	path := filepath.Join(t.TempDir(), "block.py")
	if err := os.WriteFile(path, []byte(block), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("/usr/bin/python3", "-c", "import pandas").Run(); err != nil {
		need.Absent(t, "no python3-pandas is installed")
	}
	c := exec.Command("/usr/bin/python3", mpis.Root("test", "database", "testdata", "pandas_answers.py"), path, tables)
	c.Dir = dir
	return asked(t, c, "")
}

func duckdb(t *testing.T, statements []string) [][][]any {
	t.Helper()
	c, list := asks(t, statements)
	return asked(t, c, list)
}

// asks is a command that has DuckDB carry out statements, which it reads.
func asks(t *testing.T, statements []string) (*exec.Cmd, string) {
	t.Helper()
	modules := mpis.Root("build", "duckdb")
	if _, err := os.Stat(filepath.Join(modules, "node_modules")); err != nil {
		if os.Getenv("NO_DUCKDB") != "" {
			t.Skip("npm could not install DuckDB: what it would be asked is not checked")
		}
		need.Absent(t, "no DuckDB is installed: npm install --prefix %s @duckdb/node-api", modules)
	}
	list, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command("node", mpis.Root("test", "database", "testdata", "duckdb.mjs"), modules), string(list)
}

// asked runs a command that prints lists of rows.
func asked(t *testing.T, c *exec.Cmd, input string) (answers [][][]any) {
	t.Helper()
	var said strings.Builder
	c.Stdin, c.Stderr = strings.NewReader(input), &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, said.String())
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("%v: %v\n%.1000s", c.Args, err, out)
	}
	return answers
}

// within wants functions with as many calls, and times that differ by no more than the recorder rounds sums:
// 0.1 %, or a nanosecond a call.
func within(t *testing.T, want, got [][]any) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d functions, want %d", len(got), len(want))
	}
	key := func(a, b []any) int { return strings.Compare(fmt.Sprint(a[0]), fmt.Sprint(b[0])) }
	slices.SortFunc(want, key)
	slices.SortFunc(got, key)
	for i := range want {
		a, errA := strconv.ParseFloat(fmt.Sprint(want[i][2]), 64)
		calls, _ := strconv.ParseFloat(fmt.Sprint(want[i][1]), 64)
		b, errB := strconv.ParseFloat(fmt.Sprint(got[i][2]), 64)
		if fmt.Sprint(want[i][:2]) != fmt.Sprint(got[i][:2]) || errA != nil || errB != nil || math.Abs(a-b) > 0.001*max(a, b)+calls {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}

// same wants two lists of answers to be the same rows, in any order, numbers to six digits.
func same(t *testing.T, want, got [][][]any) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	for i := range want {
		a, b := plain(want[i]), plain(got[i])
		if len(a) == 0 {
			t.Errorf("answer %d has no rows", i+1)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("answer %d:\n%s", i+1, diff)
		}
	}
}

func plain(rows [][]any) []string {
	list := []string{}
	for _, row := range rows {
		var cells []string
		for _, v := range row {
			text := fmt.Sprint(v)
			if v == nil {
				text = ""
			} else if n, err := strconv.ParseFloat(text, 64); err == nil {
				text = strconv.FormatFloat(n, 'g', 6, 64)
			}
			cells = append(cells, text)
		}
		list = append(list, strings.Join(cells, " | "))
	}
	slices.Sort(list)
	return list
}
