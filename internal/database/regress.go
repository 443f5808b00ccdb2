package database

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/stats"
)

// Metrics are the columns of table run whose history can be compared. An MPI function is a metric, too: the time in its
// calls.
var Metrics = []string{
	"mpi_ns", "span_ns", "total_ns", "end_ns", "calls", "bytes_out", "bytes_in", "parallel", "load_balance", "communication", "file_bytes", "waited_ns",
}

// fewerIsWorse reports whether a smaller value of the metric is a change for the worse, as for efficiencies.
func fewerIsWorse(metric string) bool {
	return metric == "parallel" || metric == "load_balance" || metric == "communication"
}

// RunHistory is the runs of one command on one machine with one number of ranks, divided into steps by a tag's value.
type RunHistory struct {
	Command string `json:"command"`
	Machine string `json:"machine"`
	Ranks   int    `json:"ranks"`
	// one for each value of the tag, in the order in which the first run of each started
	Steps []HistoryStep `json:"steps"`
	// FirstWorseTagValue is the tag's value at the first step that is worse than the steps before it; "": none.
	FirstWorseTagValue string `json:"first_worse"`
}

// A TrendQuery is the parameters of spoor compare --history.
type TrendQuery struct {
	Tag       string  // name of the tag whose values are compared (e.g. commit)
	Metric    string  // one of Metrics, or the name of an MPI function
	Threshold float64 // only larger relative changes count; a share (0.05 is 5 %)
	Program   string  // base name of the program whose runs are compared; "": all programs
}

// values returns the SQL expression that computes the metric of a run, and the arguments of its placeholders.
func (q *TrendQuery) values() (expression string, args []any, err error) {
	switch {
	case slices.Contains(Metrics, q.Metric):
		return "run." + q.Metric, nil, nil
	case strings.HasPrefix(q.Metric, "MPI_"):
		return "coalesce((select ns from function where function.run = run.id and name = ?), 0)", []any{q.Metric}, nil
	}
	return "", nil, fmt.Errorf("no metric %q; there are %s, and functions, as MPI_Send", q.Metric, strings.Join(Metrics, ", "))
}

// RunHistories returns the histories of runs with the query's tag, in the order of their starts, with the changes
// found.
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
		at := slices.IndexFunc(series[i], func(s StepValues) bool { return s.TagValue == value })
		if at < 0 {
			at = len(series[i])
			series[i] = append(series[i], StepValues{TagValue: value})
		}
		series[i][at].MetricValues = append(series[i][at].MetricValues, metric)
	}
	worse := VerdictMore
	if fewerIsWorse(q.Metric) {
		worse = VerdictLess
	}
	for i := range tracks {
		t := &tracks[i]
		t.Steps = FindTrend(series[i], q.Threshold)
		if at := slices.IndexFunc(t.Steps, func(s HistoryStep) bool { return s.Verdict == worse }); at >= 0 {
			t.FirstWorseTagValue = t.Steps[at].TagValue
		}
	}
	return tracks, d.failed(rows.Err())
}

// A HistoryStep is all runs of a history with one value of the tag.
type HistoryStep struct {
	TagValue  string  `json:"value"` // value of the tag
	Runs      int     `json:"runs"`
	Median    float64 `json:"median"`
	ScaledMAD float64 `json:"deviation"` // 1.4826 times the median distance of the runs' values from Median
	// RelativeChange is the relative difference of Median from the median of all runs since the last change.
	RelativeChange float64 `json:"change"`
	Verdict        string  `json:"verdict"` // one of VerdictSame, VerdictMore, VerdictLess
}

// Values of HistoryStep.Verdict: the metric is about the same, larger or smaller.
const (
	VerdictSame = "same"
	VerdictMore = "more"
	VerdictLess = "less"
)

// A StepValues is a tag's value, and the metric of each run with it in the order of their starts.
type StepValues struct {
	TagValue     string
	MetricValues []float64
}

// sigmas is how many deviations a difference must exceed to count as a change: smaller differences may be random.
const sigmas = 3

// FindTrend compares the median of each step with that of all runs since the last change. A step is a change if the
// medians differ by more than the threshold, a share, and by more than sigmas times the larger deviation.
func FindTrend(list []StepValues, threshold float64) []HistoryStep {
	steps := make([]HistoryStep, 0, len(list))
	var before []float64
	for _, s := range list {
		x := HistoryStep{TagValue: s.TagValue, Runs: len(s.MetricValues), Verdict: VerdictSame}
		x.Median, x.ScaledMAD = medianDeviation(s.MetricValues)
		if len(before) > 0 {
			base, deviation := medianDeviation(before)
			off := x.Median - base
			switch {
			case base != 0:
				x.RelativeChange = off / base
			case off != 0:
				x.RelativeChange = math.Copysign(1, off)
			}
			if math.Abs(x.RelativeChange) > threshold && math.Abs(off) > sigmas*max(deviation, x.ScaledMAD) {
				x.Verdict = VerdictMore
				if off < 0 {
					x.Verdict = VerdictLess
				}
				before = nil
			}
		}
		before = append(before, s.MetricValues...)
		steps = append(steps, x)
	}
	return steps
}

// medianDeviation returns the median of values and their deviation. This is the median distance from the median, scaled
// by 1.4826 to agree with the standard deviation of a normal distribution.
func medianDeviation(values []float64) (mid, deviation float64) {
	mid = stats.Median(values)
	far := make([]float64, len(values))
	for i, v := range values {
		far[i] = math.Abs(v - mid)
	}
	return mid, 1.4826 * stats.Median(far)
}
