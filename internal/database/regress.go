package database

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/stats"
)

// Metrics are the columns of runs that regress and scale accept, besides names of functions, which mean their time.
var Metrics = []string{
	"mpi_ns", "span_ns", "total_ns", "end_ns", "calls", "bytes_out", "bytes_in", "parallel", "load_balance", "communication", "file_bytes", "waited_ns",
}

// fewerIsWorse reports whether larger values of a metric are better.
func fewerIsWorse(metric string) bool {
	return metric == "parallel" || metric == "load_balance" || metric == "communication"
}

// RunHistory is the history of comparable runs: the same command, machine and number of ranks.
type RunHistory struct {
	Command string        `json:"command"`
	Machine string        `json:"machine"`
	Ranks   int           `json:"ranks"`
	Steps   []HistoryStep `json:"steps"` // in the order in which their first runs started
	// FirstWorse is the tag's value at the first step that is worse than those before; "": none.
	FirstWorse string `json:"first_worse"`
}

// A TrendQuery is the parameters of regress and scale.
type TrendQuery struct {
	Tag       string  // of regress: the name of the tag
	Metric    string  // one of Metrics, or a function of MPI
	Threshold float64 // a share
	Program   string  // base name of a program; empty: all
}

// values returns the SQL expression of a metric.
func (q *TrendQuery) values() (expression string, args []any, err error) {
	switch {
	case slices.Contains(Metrics, q.Metric):
		return "run." + q.Metric, nil, nil
	case strings.HasPrefix(q.Metric, "MPI_"):
		return "coalesce((select ns from function where function.run = run.id and name = ?), 0)", []any{q.Metric}, nil
	}
	return "", nil, fmt.Errorf("no metric %q; there are %s, and functions, as MPI_Send", q.Metric, strings.Join(Metrics, ", "))
}

// RunHistories orders the runs with a tag by their starts, and looks for changes.
func (d *DB) RunHistories(q TrendQuery) ([]RunHistory, error) {
	expression, args, err := q.values()
	if err != nil {
		return nil, err
	}
	rows, err := d.db.Query(`select run.command, run.machine, run.ranks, tag.value, `+expression+` as metric from run
		join tag on tag.run = run.id and tag.name = ?
		where metric is not null and (? = '' or run.app = ?) order by run.started_ns, run.id`, append(args, q.Tag, q.Program, q.Program)...)
	if err != nil {
		return nil, d.failed(err)
	}
	defer rows.Close()
	tracks := []RunHistory{}
	var series [][]StepValues
	for rows.Next() {
		var t RunHistory
		var value string
		var metric float64
		if err := rows.Scan(&t.Command, &t.Machine, &t.Ranks, &value, &metric); err != nil {
			return nil, d.failed(err)
		}
		i := slices.IndexFunc(tracks, func(x RunHistory) bool { return x.Command == t.Command && x.Machine == t.Machine && x.Ranks == t.Ranks })
		if i < 0 {
			i = len(tracks)
			tracks, series = append(tracks, t), append(series, nil)
		}
		at := slices.IndexFunc(series[i], func(s StepValues) bool { return s.Value == value })
		if at < 0 {
			at = len(series[i])
			series[i] = append(series[i], StepValues{Value: value})
		}
		series[i][at].Values = append(series[i][at].Values, metric)
	}
	worse := VerdictMore
	if fewerIsWorse(q.Metric) {
		worse = VerdictLess
	}
	for i := range tracks {
		t := &tracks[i]
		t.Steps = FindTrend(series[i], q.Threshold)
		if at := slices.IndexFunc(t.Steps, func(s HistoryStep) bool { return s.Verdict == worse }); at >= 0 {
			t.FirstWorse = t.Steps[at].Value
		}
	}
	return tracks, d.failed(rows.Err())
}

// A HistoryStep is all runs with one value of a tag: one point of a history.
type HistoryStep struct {
	Value     string  `json:"value"` // value of the tag
	Runs      int     `json:"runs"`
	Median    float64 `json:"median"`
	Deviation float64 `json:"deviation"` // 1.4826 times the median distance from the median
	// Change is the relative difference of the median from that of all runs since the last change.
	Change  float64 `json:"change"`
	Verdict string  `json:"verdict"` // Same, More, Less
}

// Verdicts on a step.
const (
	VerdictSame = "same"
	VerdictMore = "more"
	VerdictLess = "less"
)

// A StepValues is the values of the runs of one step, in the order of history.
type StepValues struct {
	Value  string
	Values []float64
}

// sigmas is the least difference of a change, in deviations: smaller ones are random.
const sigmas = 3

// FindTrend compares each step with all runs since the last change. A step is a change if its median differs by more
// than the threshold, a share, and by more than three times the larger deviation.
func FindTrend(list []StepValues, threshold float64) []HistoryStep {
	steps := make([]HistoryStep, 0, len(list))
	var before []float64
	for _, s := range list {
		x := HistoryStep{Value: s.Value, Runs: len(s.Values), Verdict: VerdictSame}
		x.Median, x.Deviation = medianDeviation(s.Values)
		if len(before) > 0 {
			base, deviation := medianDeviation(before)
			off := x.Median - base
			switch {
			case base != 0:
				x.Change = off / base
			case off != 0:
				x.Change = math.Copysign(1, off)
			}
			if math.Abs(x.Change) > threshold && math.Abs(off) > sigmas*max(deviation, x.Deviation) {
				x.Verdict = VerdictMore
				if off < 0 {
					x.Verdict = VerdictLess
				}
				before = nil
			}
		}
		before = append(before, s.Values...)
		steps = append(steps, x)
	}
	return steps
}

// medianDeviation returns the median, and the median distance from it, scaled to a normal distribution's standard
// deviation.
func medianDeviation(values []float64) (mid, deviation float64) {
	mid = stats.Median(values)
	far := make([]float64, len(values))
	for i, v := range values {
		far[i] = math.Abs(v - mid)
	}
	return mid, 1.4826 * stats.Median(far)
}
