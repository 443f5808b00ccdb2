package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type declared struct {
	Name  string `json:"function"`
	Calls int    `json:"calls"`
	Extra string `json:"extra"`
	ns    float64
}

// What is declared once is the same in text, CSV, JSON and for those who ask for columns and their order.
func TestDeclared(t *testing.T) {
	table := Table[declared]{
		Rows: []declared{{"MPI_Send", 1200, "a<b", 1500}, {"MPI_Recv", 0, "", -1}},
		Columns: Columns[declared]{
			{Name: "time", Unit: UnitNs, MinTerminalWidth: 1, OldJSONKey: "ns", Value: func(x declared) any {
				if x.ns < 0 {
					return nil
				}
				return x.ns
			}},
			{Name: "max rank", MinTerminalWidth: 80, Value: func(x declared) any { return 3 }},
			{Name: "number", KeyOverride: "calls", Unit: UnitCount, BlankIfZero: true, MinTerminalWidth: 1, Value: func(x declared) any { return x.Calls }},
			{Name: "of run", Unit: UnitFraction, Value: func(x declared) any { return 0.25 }},
			{Name: "balance", Unit: UnitRatio, Value: func(x declared) any { return 1.5 }, Text: func(declared) string { return "≥ 1.5" }},
			{Name: "function", Unit: UnitWord, MinTerminalWidth: 1, Value: func(x declared) any { return x.Name }},
		},
	}
	printed := func(v View) string {
		var b strings.Builder
		if err := table.Print(&b, v); err != nil {
			t.Error(err)
		}
		return "\n" + b.String()
	}
	for _, c := range []struct {
		view View
		want string
	}{
		{View{Width: 79}, `
    time  number  function
  1.5 µs   1,200  MPI_Send
       -          MPI_Recv
`},
		{View{Sort: "calls", MaxRows: 1}, `
    time  max rank  number  function
  1.5 µs         3   1,200  MPI_Send
1 more: --top 0
`},
		{View{Columns: []string{"balance", "of_run"}}, `
  balance  of run
    ≥ 1.5  25.0 %
    ≥ 1.5  25.0 %
`},
		{View{CSV: true}, `
time_ns,max_rank,calls,of_run_share,balance,function
1500,3,1200,0.25,1.500,MPI_Send
,3,0,0.25,1.500,MPI_Recv
`},
	} {
		if d := cmp.Diff(c.want, printed(c.view)); d != "" {
			t.Errorf("%+v: %s", c.view, d)
		}
	}
	data, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"time_ns":1500,"ns":1500,"max_rank":3,"calls":1200,"of_run_share":0.25,"balance":1.5,"function":"MPI_Send","extra":"a\u003cb"},` +
		`{"time_ns":null,"ns":null,"max_rank":3,"calls":0,"of_run_share":0.25,"balance":1.5,"function":"MPI_Recv","extra":""}]`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
}
