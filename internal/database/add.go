package database

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/trace"
)

// Options control how a trace is added to the database.
type Options struct {
	// NamePlace names the code at a call site of an MPI function. function is "" if the site is a frame further up the
	// stack.
	NamePlace func(function string, at trace.Site) symbolise.Place
	Code      *trace.Code       // machine code of the program; nil: none
	Tags      map[string]string // tags to add to those in the trace; they override equal names
}

// Add adds a trace in one transaction. If the database has this trace already, Add only adds tags, and added is false.
func (d *DB) Add(path string, r *trace.Reader, o Options) (id int64, added bool, err error) {
	sum, err := digest(path)
	if err != nil {
		return 0, false, err
	}
	err = d.db.QueryRow("select id from run where sha256 = ?", sum).Scan(&id)
	known := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, false, d.failed(err)
	}
	var f *facts
	if !known {
		if f, err = gather(r, o); err != nil {
			return 0, false, err
		}
	}
	tx, err := d.db.Begin()
	if err != nil {
		return 0, false, d.failed(err)
	}
	defer tx.Rollback() // no effect after Commit
	w := &writer{tx: tx}
	if !known {
		abs, err := filepath.Abs(path)
		if err != nil {
			return 0, false, err
		}
		id = w.run(f, sum, abs)
		w.parts(id, f)
		w.tags(id, trace.RunTagsOf(r.Meta()))
	}
	w.tags(id, o.Tags)
	if w.err == nil {
		w.err = tx.Commit()
	}
	return id, !known, d.failed(w.err)
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A writer inserts rows in a transaction. After an error, which it keeps, it does nothing.
type writer struct {
	tx     *sql.Tx
	err    error
	number int // number of call-tree nodes inserted for the current class
}

// insert returns a function that inserts a row into a table and returns the row's id.
func (w *writer) insert(table string, columns ...string) func(values ...any) int64 {
	var s *sql.Stmt
	if w.err == nil {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
		s, w.err = w.tx.Prepare(fmt.Sprintf("insert or replace into %s (%s) values (%s)", table, strings.Join(columns, ", "), marks))
	}
	return func(values ...any) int64 {
		if w.err != nil {
			return 0
		}
		for i, v := range values { // a uint64 becomes an int64, as SQLite's integers are signed
			if n, ok := v.(uint64); ok {
				values[i] = int64(min(n, math.MaxInt64))
			}
		}
		var x sql.Result
		if x, w.err = s.Exec(values...); w.err != nil {
			return 0
		}
		id, _ := x.LastInsertId()
		return id
	}
}

func (w *writer) run(f *facts, sum, path string) int64 {
	s := f.summary
	library, _, _ := strings.Cut(s.Library, "\n")
	var waited any
	if f.waits != nil {
		waited = f.waits.WaitedNs
	}
	var usual, slow any
	if f.when != nil && f.when.Loop != nil {
		usual, slow = f.when.IterationQuantileNs(0.5), f.when.IterationQuantileNs(0.99)
	}
	return w.insert("run", "sha256", "path", "command", "app", "mpi", "library", "recorder", "options", "machine", "hosts", "started_ns", "ranks", "threads",
		"calls", "bytes_out", "bytes_in", "has_times", "end_ns", "span_ns", "total_ns", "mpi_ns", "parallel", "load_balance", "communication",
		"classes", "file_bytes", "problems", "waited_ns", "iteration_ns", "slow_iteration_ns")(
		sum, path, s.Command, app(s.Command), s.MPI, strings.Join(strings.Fields(library), " "), s.Producer, s.Options, machine(s.Hosts), len(s.Hosts),
		s.StartWallClockNs, s.Ranks, s.MaxThreads, s.Calls, f.out, f.in, !s.Timeless, s.EndNs, s.SpanNs, s.TotalSpanNs, s.MPINs,
		f.parallel, f.balance, f.communication, len(s.Classes), s.FileBytes, strings.Join(s.Problems, "\n"), waited, usual, slow)
}

// iterations inserts how long iterations of the run's main loop took, and the findings on them.
func (w *writer) iterations(run int64, f *facts) {
	iteration := w.insert("iteration", "run", "iteration", "iterations", "ns")
	for _, x := range f.when.IterationTimes() {
		iteration(run, x.First, x.Count, x.MeanNs)
	}
	finding := w.insert("finding", "run", "number", "kind", "iteration", "every", "ranks", "rank", "before_ns", "after_ns", "cost_ns", "text")
	for i := range f.when.Findings {
		x := &f.when.Findings[i]
		var rank any
		if x.RankCount == 1 {
			rank = x.Ranks[0]
		}
		finding(run, i, when.Kind(x.Kind).String(), x.FirstIteration, x.Period, x.RankCount, rank, x.BeforeNs, x.AfterNs, x.CostNs, f.changes[i].Text)
	}
}

// waiting inserts the waiting times at call sites. ids has the row ids of f.sites.
func (w *writer) waiting(run int64, f *facts, ids []int64) {
	insert := w.insert("waiting", "run", "site", "kind", "calls", "waited_ns", "ranks", "late_rank", "computed")
	for i := range f.waits.Sites {
		s := &f.waits.Sites[i]
		n, ok := f.index[s.FunctionSite]
		if !ok {
			continue
		}
		var late, computed any
		if rank := s.MainLateRank(); rank >= 0 {
			late = rank
		}
		if share, ok := s.LateComputeShare(); ok {
			computed = share
		}
		insert(run, ids[n], s.Kind.String(), s.WaitCount, s.WaitedNs, s.WaitingRankCount, late, computed)
	}
}

// lineOrNull returns the source line of the site; nil (SQL null) if it isn't known.
func (s *site) lineOrNull() any {
	if s.line > 0 {
		return s.line
	}
	return nil
}

// totals inserts the sums of each call site over all classes, with the columns that package sites defines. ids has the
// row ids of f.sites.
func (w *writer) totals(run int64, f *facts, ids []int64) {
	columns := sites.MeasureColumns(f.known)
	names := []string{"run", "site", "line"}
	for i := range columns {
		names = append(names, columns[i].Key())
	}
	insert := w.insert("total", names...)
	for _, x := range f.totals {
		n := f.index[x.FunctionSite]
		insert(append([]any{run, ids[n], f.sites[n].lineOrNull()}, columns.Values(x)...)...)
	}
}

func (w *writer) parts(run int64, f *facts) {
	rank := w.insert("rank", "run", "rank", "class", "host", "calls", "span_ns", "mpi_ns", "bytes_out", "bytes_in")
	for i := range f.table.Ranks {
		x := &f.table.Ranks[i]
		var class any
		if x.Class >= 0 {
			class = x.Class
		}
		rank(run, i, class, x.Host, x.Calls, x.SpanNs, x.MPINs, x.BytesOut, x.BytesIn)
	}
	function := w.insert("function", "run", "name", "calls", "ns", "min_ns", "max_ns", "deviation_ns")
	for _, x := range f.summary.Functions {
		function(run, x.Name, x.Calls, x.Ns, x.MinNs, x.MaxNs, x.DeviationNs)
	}
	ids := w.sites(f)
	callsite := w.insert("callsite", "run", "class", "site", "line", "module_offset", "build_id", "ranks", "calls", "ns", "min_ns", "max_ns", "deviation_ns",
		"gap_ns", "bytes_out", "bytes_in")
	value := w.insert("value", "run", "class", "site", "name", "count", "sum", "min", "max")
	for i := range f.table.Rows {
		x := &f.table.Rows[i]
		s := &f.sites[f.rows[i]]
		id := ids[f.rows[i]]
		callsite(run, x.Class, id, s.lineOrNull(), s.at.Offset, s.at.BuildID, len(f.table.Classes[x.Class].Members), x.Calls, x.Duration.Sum, x.Duration.Min, x.Duration.Max,
			x.Duration.Deviation(), x.Gap.Sum, x.Bytes.BytesOut, x.Bytes.BytesIn)
		for _, name := range slices.Sorted(maps.Keys(x.AttachedStats)) {
			v := x.AttachedStats[name]
			value(run, x.Class, id, name, v.Count, v.Sum, v.Min, v.Max)
		}
	}
	w.totals(run, f, ids)
	if f.waits != nil {
		w.waiting(run, f, ids)
	}
	if f.when != nil && f.when.Loop != nil {
		w.iterations(run, f)
	}
	for i, p := range f.profiles {
		list, err := f.numbered(i)
		w.err = cmp.Or(w.err, err)
		of := make([]int64, len(list))
		for n, s := range list {
			of[n] = ids[s]
		}
		w.shape(run, p, of)
		if f.coded != nil {
			w.nodes(run, f.coded[i], of)
		}
	}
	comm := w.insert("communicator", "run", "number", "made_by", "parent", "size", "remote", "name")
	for _, c := range f.comms {
		var parent, remote any
		if c.Parent != nil {
			parent = c.Parent.Number
		}
		if c.Remote != nil {
			remote = c.Remote.Number
		}
		made := c.MadeBy
		if made == "" {
			made = "MPI_COMM_WORLD"
		}
		var name any
		if c.Name != "" {
			name = c.Name
		}
		comm(run, c.Number, made, parent, c.Size, remote, name)
	}
	traffic := w.insert("traffic", "run", "kind", "source", "destination", "each", "messages", "bytes")
	for _, m := range f.traffic {
		for i, row := range m.Rows() {
			from, _ := m.RankRange(i)
			for _, e := range row {
				to, _ := m.RankRange(e.Column)
				traffic(run, m.kind, from, to, m.RanksPerRow, e.Messages, e.Bytes)
			}
		}
	}
}

// sites returns the row id of each of f.sites, and inserts those that the database does not have.
func (w *writer) sites(f *facts) []int64 {
	ids := make([]int64, len(f.sites))
	add := w.insert("site", "function", "module", "symbol", "file", "place")
	for i, x := range f.sites {
		if w.err != nil {
			return ids
		}
		err := w.tx.QueryRow("select id from site where function = ? and module = ? and symbol = ? and file = ? and place = ?",
			x.function, x.module, x.symbol, x.file, x.place).Scan(&ids[i])
		if errors.Is(err, sql.ErrNoRows) {
			ids[i] = add(x.function, x.module, x.symbol, x.file, x.place)
		} else if err != nil {
			w.err = err
		}
	}
	return ids
}

func (w *writer) tags(run int64, tags map[string]string) {
	add := w.insert("tag", "run", "name", "value")
	for name, value := range tags {
		add(run, name, value)
	}
}

// StorePrediction stores a predicted time of a run. It replaces an earlier prediction for the same machine.
func (d *DB) StorePrediction(run int64, p *traced.Prediction) error {
	tx, err := d.db.Begin()
	if err != nil {
		return d.failed(err)
	}
	defer tx.Rollback() // no effect after Commit
	ns := func(ps int64) float64 { return float64(ps) / 1000 }
	share := 0.0
	for _, u := range p.Unmodelled {
		share += u.RecordedShare
	}
	mean := p.MeanRankTime()
	w := &writer{tx: tx}
	w.insert("prediction", "run", "machine", "mapping", "cpu", "gaps", "source", "end_ns", "traced_ns", "compute_ns", "overhead_ns", "wait_ns", "transfer_ns",
		"recorded_ns", "not_modelled")(
		run, p.Machine, p.Mapping, p.CPUSpeedup, p.GapsKind, p.FiguresSource, ns(p.EndPs), p.TracedRunNs, ns(mean.ComputePs), ns(mean.OverheadPs), ns(mean.WaitPs), ns(mean.TransferPs),
		ns(mean.RecordedPs), share)
	if w.err == nil {
		w.err = tx.Commit()
	}
	return d.failed(w.err)
}
