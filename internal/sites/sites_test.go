package sites_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Addresses of one line are one call site where the line is known, and each its own where it isn't; calls and times are those of all.
func TestByLine(t *testing.T) {
	r := mergetest.Run(t, 3, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 5 + r.Rank {
			r.Allreduce(3+min(i, 1), 1) // the compiler peeled the first iteration
		}
		r.End()
	})
	at := func(known symbolise.Precision) func(string, trace.Site) symbolise.Place {
		return func(_ string, s trace.Site) symbolise.Place {
			return symbolise.Place{Module: s.Module, Offset: s.Offset, Precision: known, Frames: []symbolise.Frame{{Function: "step", File: "it.c", Line: 7}}}
		}
	}
	for _, c := range []struct {
		what      string
		known     symbolise.Precision
		apart     bool
		rows      int
		calls     uint64
		addresses int
	}{
		{"a line", symbolise.PrecisionLine, false, 1, 3 * 6, 2},
		{"asked for apart", symbolise.PrecisionLine, true, 2, 3 * 5, 1},
		{"without lines", symbolise.PrecisionLine - 1, false, 2, 3 * 5, 1},
	} {
		named, err := sites.NamingByLine(r, at(c.known))
		if c.apart {
			named = sites.NamingByAddress(at(c.known))
		}
		if err != nil {
			t.Fatal(err)
		}
		table, err := sums.SumCalls(r, sums.Options{WithBytes: true, Representative: named.Representative})
		if err != nil {
			t.Fatal(err)
		}
		var got []sites.Site
		for _, s := range sites.MergeRows(table, named, false) {
			if s.FunctionSite.Function == "MPI_Allreduce" {
				got = append(got, s)
			}
		}
		if len(got) != c.rows || got[0].Calls != c.calls || got[0].AddressCount != c.addresses || got[0].TimePerRank.Ranks != 3 {
			t.Errorf("%s: %+v", c.what, got)
		}
		total := uint64(0)
		for _, s := range got {
			total += s.Duration.Sum
		}
		if all := allreduce(t, r); total != all {
			t.Errorf("%s: %d ns, want %d", c.what, total, all)
		}
	}
}

// allreduce is the time of all such calls.
func allreduce(t *testing.T, r *trace.Reader) (ns uint64) {
	t.Helper()
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			t.Fatal(err)
		}
		times, err := r.Times(class)
		if err != nil {
			t.Fatal(err)
		}
		for n, x := range times {
			if c := k.CallWithoutParams(n); c.Name() == "MPI_Allreduce" {
				ns += x.Duration.Sum
			}
		}
	}
	return ns
}

// Keys are the names by which programs ask for columns: none stands twice, and each column says what it is.
func TestColumns(t *testing.T) {
	seen := make(map[string]bool)
	var twice, silent []string
	for _, h := range sites.AllColumns(sites.KnownFacts{HasTimes: true, HasWaits: true}).Headings() {
		if seen[h.Key] {
			twice = append(twice, h.Key)
		}
		seen[h.Key] = true
		if h.Doc == "" {
			silent = append(silent, h.Key)
		}
	}
	if d := cmp.Diff([]string(nil), append(twice, silent...)); d != "" {
		t.Error(d)
	}
}

// The median is of single calls: of those that move anything, by what each sends, over all ranks.
func TestMedianSize(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 7 {
			r.Allreduce(3, int64(i/2*100)) // 0, 0, 100, 100, 200, 200, 300 integers
		}
		r.End()
	})
	table, err := sums.SumCalls(r, sums.Options{WithBytes: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range table.Rows {
		want := uint64(0)
		if table.Rows[i].FunctionSite.Function == "MPI_Allreduce" {
			want = 800
		}
		if got := table.Rows[i].MedianSize(); got != want {
			t.Errorf("%s: %d bytes, want %d", table.Rows[i].FunctionSite.Function, got, want)
		}
	}
}
