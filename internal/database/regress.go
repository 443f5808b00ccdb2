package database

import (
	"fmt"
	"slices"
	"strings"
)

// Metrics are the columns of runs that regress and scale can look at, besides functions by name: their time.
var Metrics = []string{
	"mpi_ns", "span_ns", "total_ns", "end_ns", "calls", "bytes_out", "bytes_in", "parallel", "load_balance", "communication", "file_bytes", "waited_ns",
}

// fewerIsWorse reports whether a metric is better the larger it is.
func fewerIsWorse(metric string) bool {
	return metric == "parallel" || metric == "load_balance" || metric == "communication"
}

// Track is the history of runs that can be compared: of one command on one machine with so many ranks.
type Track struct {
	Command string `json:"command"`
	Machine string `json:"machine"`
	Ranks   int    `json:"ranks"`
	Steps   []Step `json:"steps"` // in the order in which their first runs started
	// First is the value of the first step that is worse than what was before it; empty: none.
	First string `json:"first_worse"`
}

// A Question is what regress and scale ask.
type Question struct {
	By        string  // the tag, of regress
	Metric    string  // one of Metrics, or a function of MPI
	Threshold float64 // a share
	App       string  // base name of a program; empty: all
}

// values returns what to select for a metric.
func (q *Question) values() (expression string, args []any, err error) {
	switch {
	case slices.Contains(Metrics, q.Metric):
		return "run." + q.Metric, nil, nil
	case strings.HasPrefix(q.Metric, "MPI_"):
		return "coalesce((select ns from function where function.run = run.id and name = ?), 0)", []any{q.Metric}, nil
	}
	return "", nil, fmt.Errorf("no metric %q; there are %s, and functions, as MPI_Send", q.Metric, strings.Join(Metrics, ", "))
}

// Regress puts the runs with a tag into the order of their starts and looks for changes.
func (d *DB) Regress(q Question) ([]Track, error) {
	expression, args, err := q.values()
	if err != nil {
		return nil, err
	}
	rows, err := d.db.Query(`select run.command, run.machine, run.ranks, tag.value, `+expression+` as metric from run
		join tag on tag.run = run.id and tag.name = ?
		where metric is not null and (? = '' or run.app = ?) order by run.started_ns, run.id`, append(args, q.By, q.App, q.App)...)
	if err != nil {
		return nil, d.failed(err)
	}
	defer rows.Close()
	tracks := []Track{}
	var series [][]Series
	for rows.Next() {
		var t Track
		var value string
		var metric float64
		if err := rows.Scan(&t.Command, &t.Machine, &t.Ranks, &value, &metric); err != nil {
			return nil, d.failed(err)
		}
		i := slices.IndexFunc(tracks, func(x Track) bool { return x.Command == t.Command && x.Machine == t.Machine && x.Ranks == t.Ranks })
		if i < 0 {
			i = len(tracks)
			tracks, series = append(tracks, t), append(series, nil)
		}
		at := slices.IndexFunc(series[i], func(s Series) bool { return s.Value == value })
		if at < 0 {
			at = len(series[i])
			series[i] = append(series[i], Series{Value: value})
		}
		series[i][at].Values = append(series[i][at].Values, metric)
	}
	worse := More
	if fewerIsWorse(q.Metric) {
		worse = Less
	}
	for i := range tracks {
		t := &tracks[i]
		t.Steps = History(series[i], q.Threshold)
		if at := slices.IndexFunc(t.Steps, func(s Step) bool { return s.Verdict == worse }); at >= 0 {
			t.First = t.Steps[at].Value
		}
	}
	return tracks, d.failed(rows.Err())
}
