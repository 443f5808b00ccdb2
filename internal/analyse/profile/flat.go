package profile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// A CallSiteTable is a table of call sites over all ranks, as mpiP has it. Counts, times
// and bytes are sums over all calls.
type CallSiteTable struct {
	Trace        string `json:"trace"`
	Command      string `json:"command"`
	Ranks        int    `json:"ranks"` // with a track
	Calls        uint64 `json:"calls"`
	SpanNs       int64  `json:"span_ns"`            // from first call to last, sum over the ranks
	ThreadTimeNs int64  `json:"time_ns"`            // that, or where a rank has several threads, what they were there
	MPINs        uint64 `json:"mpi_ns"`             // in the calls of MPI below
	FilesNs      uint64 `json:"files_ns,omitempty"` // in those that work on files
	// Timeless says that the trace has no times: all that is said of them is 0.
	Timeless bool `json:"no_times,omitempty"`

	// WaitedNs is what ranks waited for others; nil: not known.
	WaitedNs *int64 `json:"waited_ns,omitempty"`

	Rows    []sites.Site    `json:"-"`
	PerRank []sums.RankSums `json:"-"`

	table  *sums.Table
	named  *sites.Naming
	stacks bool // rows are of call stacks, not of places alone
}

// Columns are those of the rows.
func (f *CallSiteTable) Columns() show.Columns[sites.Site] { return sites.AllColumns(f.known()) }

func (f *CallSiteTable) known() sites.KnownFacts {
	return sites.KnownFacts{TimeNs: f.ThreadTimeNs, Times: !f.Timeless, Waits: f.WaitedNs != nil}
}

// MarshalJSON has the rows by their columns.
func (f *CallSiteTable) MarshalJSON() ([]byte, error) {
	type plain CallSiteTable
	return json.Marshal(struct {
		*plain
		Rows    show.Table[sites.Site]    `json:"sites"`
		PerRank show.Table[sums.RankSums] `json:"per_rank"`
	}{(*plain)(f), show.Table[sites.Site]{Rows: f.Rows, Columns: f.Columns()}, show.Table[sums.RankSums]{Rows: f.PerRank, Columns: f.RankColumns()}})
}

// AddPrediction adds predicted times to the rows. times gives those of a terminal of a class.
func (f *CallSiteTable) AddPrediction(times func(class, terminal int) sites.Prediction) {
	rows := make(map[trace.FunctionSite]*sites.Prediction)
	for i := range f.Rows {
		f.Rows[i].Predicted = &sites.Prediction{}
		rows[f.Rows[i].FunctionSite] = f.Rows[i].Predicted
	}
	for class, c := range f.table.Classes {
		for terminal, row := range c.RowOf {
			x := times(class, terminal)
			p := rows[f.keyOf(f.table.Rows[row].FunctionSite)]
			p.Ns += x.Ns
			p.ComputeNs += x.ComputeNs
		}
	}
}

// keyOf is the key of a row.
func (f *CallSiteTable) keyOf(at trace.FunctionSite) trace.FunctionSite {
	if f.stacks {
		return at
	}
	return at.WithoutCallers()
}

// AddWaits adds what ranks waited at each place, whatever called the functions around it.
func (f *CallSiteTable) AddWaits(rep *waits.Report) {
	f.WaitedNs = &rep.WaitedNs
	sites.AddWaits(f.Rows, f.named, rep.EachSite)
}

// CallSiteTableOf makes the table. Call sites that the naming has as one are one row. step is called after each rank.
func CallSiteTableOf(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
	return flatOf(r, named, false, sums.Options{RankDone: step})
}

// CallSiteTableOfRanks makes the table of the calls of some ranks, ascending.
func CallSiteTableOfRanks(ranks []int) func(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
	return func(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
		return flatOf(r, named, false, sums.Options{Ranks: ranks, RankDone: step})
	}
}

// CallStackTable makes the table with rows for each call stack, for Callers. What single ranks spent is known of places alone, and the
// times of calls that differ in nothing but what called the functions around are shared out by their number.
func CallStackTable(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
	return flatOf(r, named, true, sums.Options{RankDone: step})
}

func flatOf(r *trace.Reader, named *sites.Naming, stacks bool, o sums.Options) (*CallSiteTable, error) {
	o.WithBytes, o.Representative = true, named.Representative
	table, err := sums.SumCalls(r, o)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	f := &CallSiteTable{
		Trace: r.Name(), Command: r.Meta()[trace.MetaCommand], Timeless: !r.HasTimes(), Rows: sites.MergeRows(table, named, stacks),
		table: table, named: named, stacks: stacks,
	}
	for i := range f.Rows {
		x := &f.Rows[i]
		f.Calls += x.Calls
		if x.Function.Has(trace.AttrPosix) {
			f.FilesNs += x.Duration.Sum
		} else {
			f.MPINs += x.Duration.Sum
		}
	}
	f.Rows = slices.DeleteFunc(f.Rows, func(x sites.Site) bool { return x.Calls == 0 })
	f.PerRank = slices.DeleteFunc(table.Ranks, func(x sums.RankSums) bool {
		return x.Class < 0 || o.Ranks != nil && !slices.Contains(o.Ranks, x.Rank)
	})
	f.Ranks = len(f.PerRank)
	for i := range f.PerRank {
		f.SpanNs += f.PerRank[i].SpanNs
		f.ThreadTimeNs += f.PerRank[i].ThreadTimeNs
	}
	return f, nil
}

// IsTimeOrder reports whether an order of functions is one of times.
func IsTimeOrder(sort string) bool { return !slices.Contains([]string{"calls", "bytes"}, sort) }

// DefaultSort is the order of tables of a trace.
func DefaultSort(r *trace.Reader) string {
	if !r.HasTimes() {
		return "calls"
	}
	return "time"
}
