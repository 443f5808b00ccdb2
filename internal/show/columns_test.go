package show

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

type call struct {
	name  string
	calls uint64
	ns    float64
	bytes int64
}

var list = []call{{"MPI_Send", 1234567, 1.5e6, 80}, {"µ", 3, 20, 2000}, {"MPI_Wait, all", 0, 0, 0}}

func cells(r *Row, c call) {
	r.Count("calls", c.calls).Ns("time", c.ns)
	if c.calls > 0 {
		r.Share("of all", c.ns, 3e6)
	} else {
		r.Value("of all", "-")
	}
	r.Text("function", c.name).Bytes("bytes", c.bytes).Text("remark", strings.Repeat("x", int(c.calls%2)))
}

func TestText(t *testing.T) {
	for top, want := range map[int]string{
		0: `
      calls    time   of all  function       bytes  remark
  1,234,567  1.5 ms   50.0 %  MPI_Send        80 B  x
          3   20 ns  < 0.1 %  µ               2 KB  x
          0    0 ns        -  MPI_Wait, all    0 B
`,
		1: `
      calls    time  of all  function  bytes  remark
  1,234,567  1.5 ms  50.0 %  MPI_Send   80 B  x
2 more: --top 0
`,
	} {
		var b strings.Builder
		if WriteText(&b, list, top, cells); b.String() != want[1:] {
			t.Errorf("--top %d:\n%s", top, b.String())
		}
	}
}

func TestWithoutNames(t *testing.T) {
	var b strings.Builder
	WriteText(&b, [][]string{{"a", "1"}, {"bcd", "22"}}, 0, func(r *Row, x []string) { r.Text("", x[0]).Ns("", x[1]) })
	if b.String() != "a     1\nbcd  22\n" {
		t.Errorf("%s", b.String())
	}
	if lines := TextLines(nil, cells); len(lines) > 0 {
		t.Errorf("of nothing: %q", lines)
	}
}

func TestCSV(t *testing.T) {
	row := func(r *Row, c call) { r.Text("function", c.name).Value("calls", c.calls).Decimal("ns", c.ns, 1) }
	for want, rows := range map[string][]call{
		"function,calls,ns\n": nil,
		"function,calls,ns\nMPI_Send,1234567,1500000.0\nµ,3,20.0\n\"MPI_Wait, all\",0,0.0\n": list,
	} {
		var b strings.Builder
		if WriteCSV(&b, EachRow(rows), row); b.String() != want {
			t.Errorf("%s", b.String())
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestFull(t *testing.T) {
	for what, print := range map[string]func(io.Writer){
		"text": func(w io.Writer) { WriteText(w, list, 0, cells) },
		"CSV":  func(w io.Writer) { WriteCSV(w, EachRow(list), cells) },
		"more": func(w io.Writer) { WriteOmitted(w, 1) },
	} {
		w := bufio.NewWriter(full{})
		if print(w); w.Flush() == nil {
			t.Errorf("%s: an error is lost", what)
		}
	}
}

func TestPrint(t *testing.T) {
	for _, c := range []struct {
		view View
		want string
	}{
		{View{Columns: []string{"function", "time_ns"}, Sort: "calls", MaxRows: 2}, `
function    time
MPI_Send  1.5 ms
µ          20 ns
1 more: --top 0
`},
		{View{Sort: "function", CSV: true, Columns: []string{"calls", "of_all", "bytes", "function"}}, `
calls,of_all_share,bytes,function
1234567,0.5,80,MPI_Send
0,,0,"MPI_Wait, all"
3,6.66667e-06,2000,µ
`},
	} {
		var b strings.Builder
		rows := func(r *Row, x call) {
			r.Count("calls", x.calls).Ns("time", x.ns)
			if x.calls > 0 {
				r.Share("of all", x.ns, 3e6)
			} else {
				r.Share("of all", "-", 1)
			}
			r.Text("function", x.name).Bytes("bytes", x.bytes)
		}
		if err := PrintRows(&b, list, c.view, rows); err != nil || b.String() != c.want[1:] {
			t.Errorf("%+v: %v\n%s", c.view, err, b.String())
		}
	}
	if err := PrintRows(io.Discard, list, View{Columns: []string{"speed"}}, cells); err == nil || !strings.Contains(err.Error(), "calls, time_ns, of_all") {
		t.Error(err)
	}
}

func TestWorth(t *testing.T) {
	share := func(c call) float64 { return c.ns / 1.5e6 }
	for _, x := range []struct {
		limit Limit
		share func(call) float64
		shown int
		note  string
	}{
		{Limit{Rows: 5}, share, 1, "2 more below 1 % of the run: --top 0\n"},
		{Limit{Rows: 5, UserChosen: true}, share, 3, ""},
		{Limit{Rows: 2, UserChosen: true}, share, 2, "1 more: --top 0\n"},
		{Limit{Rows: 1}, func(call) float64 { return 0.01 }, 1, "2 more: --top 0\n"},
		{Limit{Rows: 5}, func(call) float64 { return 0.009 }, 0, "3 below 1 % of the run: --top 0\n"},
	} {
		shown, rest := SplitAtLimit(list, x.limit, x.share)
		var b strings.Builder
		if rest.Print(&b); len(shown) != x.shown || b.String() != x.note {
			t.Errorf("%+v: %d rows, %q", x.limit, len(shown), b.String())
		}
	}
}

// A table without rows has a head in CSV.
func TestEmptyCSV(t *testing.T) {
	var b strings.Builder
	v := View{CSV: true, Columns: []string{"function", "time"}}
	if err := PrintRows(&b, []call{}, v, cells); err != nil || b.String() != "function,time_ns\n" {
		t.Errorf("%v: %q", err, b.String())
	}
}
