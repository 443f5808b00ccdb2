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

// A CallSiteTable is a table with a row for each call site, as the tool mpiP prints it. Counts, times and bytes of a
// row are sums over the site's calls on all ranks.
type CallSiteTable struct {
	Trace        string `json:"trace"`
	Command      string `json:"command"`
	Ranks        int    `json:"ranks"` // number of ranks in the table: those with a track
	Calls        uint64 `json:"calls"`
	TotalSpanNs  int64  `json:"span_ns"`            // sum over the ranks of the time from first call to last
	ThreadTimeNs int64  `json:"time_ns"`            // as SpanNs, but also summed over the threads of a rank
	MPINs        uint64 `json:"mpi_ns"`             // time in the rows' MPI calls
	FilesNs      uint64 `json:"files_ns,omitempty"` // time in the rows' calls on files
	// Timeless reports that the trace has no times, so all times in the table are 0.
	Timeless bool `json:"no_times,omitempty"`

	// WaitedNs is the sum over ranks of the time that they waited for other ranks; nil: not known.
	WaitedNs *int64 `json:"waited_ns,omitempty"`

	Rows     []sites.Site    `json:"-"`
	RankRows []sums.RankSums `json:"-"`

	table  *sums.Table
	named  *sites.Naming
	stacks bool // each call stack has a row of its own, not only each call site
}

// Columns returns the columns of the table's rows.
func (f *CallSiteTable) Columns() show.Columns[sites.Site] { return sites.AllColumns(f.known()) }

func (f *CallSiteTable) known() sites.KnownFacts {
	return sites.KnownFacts{TotalTimeNs: f.ThreadTimeNs, HasTimes: !f.Timeless, HasWaits: f.WaitedNs != nil}
}

// MarshalJSON writes the table with the values of all columns for each row.
func (f *CallSiteTable) MarshalJSON() ([]byte, error) {
	type plain CallSiteTable
	return json.Marshal(struct {
		*plain
		Rows    show.Table[sites.Site]    `json:"sites"`
		PerRank show.Table[sums.RankSums] `json:"per_rank"`
	}{(*plain)(f), show.Table[sites.Site]{Rows: f.Rows, Columns: f.Columns()}, show.Table[sums.RankSums]{Rows: f.RankRows, Columns: f.RankColumns()}})
}

// AddPrediction adds predicted times to the rows. times returns the predicted times of a terminal of a class: sums over
// its calls on all ranks of the class.
func (f *CallSiteTable) AddPrediction(times func(class, terminal int) sites.Prediction) {
	rows := make(map[trace.FunctionSite]*sites.Prediction)
	for i := range f.Rows {
		f.Rows[i].Predicted = &sites.Prediction{}
		rows[f.Rows[i].FunctionSite] = f.Rows[i].Predicted
	}
	for class, c := range f.table.Classes {
		for terminal, row := range c.RowByTerminal {
			x := times(class, terminal)
			p := rows[f.keyOf(f.table.Rows[row].FunctionSite)]
			p.Ns += x.Ns
			p.ComputeNs += x.ComputeNs
		}
	}
}

// keyOf returns the FunctionSite of the row that contains calls of at.
func (f *CallSiteTable) keyOf(at trace.FunctionSite) trace.FunctionSite {
	if f.stacks {
		return at
	}
	return at.WithoutCallers()
}

// AddWaits adds to each row how long ranks waited at its call site, whichever functions called it.
func (f *CallSiteTable) AddWaits(rep *waits.Report) {
	f.WaitedNs = &rep.WaitedNs
	sites.AddWaits(f.Rows, f.named, rep.EachSite)
}

// CallSiteTableOf makes the table of a trace. Call sites that the naming treats as one share a row. step is called
// after each rank.
func CallSiteTableOf(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
	return flatOf(r, named, false, sums.Options{OnRankDone: step})
}

// CallSiteTableOfRanks returns a function that makes the table of the calls of given ranks, which must be in rising
// order.
func CallSiteTableOfRanks(ranks []int) func(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
	return func(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
		return flatOf(r, named, false, sums.Options{Ranks: ranks, OnRankDone: step})
	}
}

// CallStackTable makes a table with a row for each call stack, for CallerTree. A rank's own times are known only by call
// site. The rows of one call site share them in proportion to their numbers of calls.
func CallStackTable(r *trace.Reader, named *sites.Naming, step func()) (*CallSiteTable, error) {
	return flatOf(r, named, true, sums.Options{OnRankDone: step})
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
	f.RankRows = slices.DeleteFunc(table.Ranks, func(x sums.RankSums) bool {
		return x.Class < 0 || o.Ranks != nil && !slices.Contains(o.Ranks, x.Rank)
	})
	f.Ranks = len(f.RankRows)
	for i := range f.RankRows {
		f.TotalSpanNs += f.RankRows[i].SpanNs
		f.ThreadTimeNs += f.RankRows[i].ThreadTimeNs
	}
	return f, nil
}

// IsTimeSortKey reports whether rows in a sort order, named as for --sort, are sorted by a time.
func IsTimeSortKey(sort string) bool { return !slices.Contains([]string{"calls", "bytes"}, sort) }

// DefaultSortKey returns the sort order that a trace's tables have by default: by time, or by calls without times.
func DefaultSortKey(r *trace.Reader) string {
	if !r.HasTimes() {
		return "calls"
	}
	return "time"
}
