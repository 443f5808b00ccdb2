package export

import (
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
)

// A record is a row by the names of columns; what is not known is empty.
type record map[string]string

func (r record) number(t *testing.T, name string) int {
	t.Helper()
	n, err := strconv.Atoi(r[name])
	if err != nil {
		t.Fatalf("%s of %v: %v", name, r, err)
	}
	return n
}

// tables adds up what databases get to see.
func tables(t *testing.T, x traced, path string, read func(t *testing.T, path, table string) []record) {
	added(t, x, read(t, path, "calls"))
	sent := make(map[pair]matrix.Cell)
	for _, r := range read(t, path, "operations") {
		if kind := r["kind"]; kind == "send" || kind == "send begin" {
			p := pair{r.number(t, "rank"), r.number(t, "peer_rank")}
			c := sent[p]
			c.Messages++
			c.Bytes += uint64(r.number(t, "bytes_out"))
			sent[p] = c
		}
	}
	if diff := cmp.Diff(traffic(t, x.r), sent); diff != "" {
		t.Errorf("traffic, and operations:\n%s", diff)
	}
	if members, world := len(read(t, path, "members")), x.r.Ranks(); members < world {
		t.Errorf("%d members of communicators, want %d at least", members, world)
	}
	times := ""
	for _, r := range read(t, path, "run") {
		if r["name"] == "times" {
			times = r["value"]
		}
	}
	if times != "exact" {
		t.Errorf("times are %q", times)
	}
}

// added wants calls and time in each function to be those of the trace.
func added(t *testing.T, x traced, calls []record) {
	t.Helper()
	type sum struct{ Calls, Ns int }
	want, got := make(map[string]sum), make(map[string]sum)
	for rank := range x.r.Ranks() {
		k, err := x.r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for stream := range k.Streams() {
			for c, err := range k.TimedCalls(stream) {
				if err != nil {
					t.Fatal(err)
				}
				s := want[c.Name()]
				want[c.Name()] = sum{s.Calls + 1, s.Ns + int(c.EndNs()-c.StartNs)}
			}
		}
	}
	for _, r := range calls {
		s := got[r["function"]]
		got[r["function"]] = sum{s.Calls + 1, s.Ns + r.number(t, "duration_ns")}
		if r["error"] != "0" && r["error"] != "" && x.name != "nulls.c" {
			t.Errorf("%v", r)
		}
		if strings.HasSuffix(x.name, ".c") && r["line"] == "" {
			t.Errorf("%v was called at no line", r)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls by function, and rows:\n%s", diff)
	}
}

func fromCSV(t *testing.T, path, table string) []record {
	t.Helper()
	f, err := os.Open(filepath.Join(path, table+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return records(t, f)
}

func records(t *testing.T, r io.Reader) (list []record) {
	t.Helper()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		x := make(record)
		for i, name := range rows[0] {
			x[name] = row[i]
		}
		list = append(list, x)
	}
	return list
}

func fromParquet(t *testing.T, path, table string) (list []record) {
	t.Helper()
	f, err := os.Open(filepath.Join(path, table+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewReader(f)
	names := r.Schema().Columns()
	rows := make([]parquet.Row, 100)
	for {
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			x := make(record)
			for _, v := range row {
				if !v.IsNull() {
					x[names[v.Column()][0]] = v.String()
				}
			}
			list = append(list, x)
		}
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
