package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/show"
)

type compareOptions struct {
	threshold float64
	output
	paths    []string
	window   windowFlags
	database string
	history  database.TrendQuery
}

func newCompare() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare [flags] RUN RUN...",
		Short: "Compare runs: time, bytes, efficiency and waiting, in total and by call site",
		Long: `A RUN is a trace file, or a run of the database (see spoor db): its number or a
tag (NAME=VALUE: the latest run with it). The first run is compared with each of
the others. Call sites match by module, function, file and order within the
function, so builds may differ. Three and more runs give one row each.

With --threshold the exit code is 1 if a run got slower or less efficient by
more than that, and 2 if this cannot be determined. --history TAG looks at all
runs of the database, in the order in which they started, and finds the first
value of the tag at which a metric got worse: the change of the median exceeds
the threshold and three times the deviation.
More: docs/compare.md`,
		Example: `  spoor compare before.spoor after.spoor
  spoor compare --threshold 5% reference.spoor new.spoor
  spoor compare app-4.spoor app-16.spoor app-64.spoor
  spoor compare commit=abc commit=def
  spoor compare --history commit --metric MPI_Allreduce`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("history") {
				return exactly(0, "no runs beside --history")(cmd, args)
			}
			return atLeastTraces(2, "two")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.history.Tag != "" {
				o.history.Threshold = 0.1
				if cmd.Flags().Changed("threshold") {
					o.history.Threshold = o.threshold
				}
				worse, err := history(cmd, o)
				return verdict(cmd, worse, err)
			}
			worse, err := compareRuns(cmd, o, args)
			if o.threshold == 0 { // without --threshold, the exit code doesn't say whether a run is worse
				return err
			}
			return verdict(cmd, worse, err)
		},
	}
	f := cmd.Flags()
	f.Var(percentFlag{&o.threshold}, "threshold", "exit with 1 if something got worse by more than this `percent`: 5% (with --history 10%)")
	f.Lookup("threshold").DefValue = ""
	o.tableFlags(cmd, 20, "call sites")
	debugPathFlag(f, &o.paths)
	databaseFlag(f, &o.database)
	f.StringVar(&o.history.Tag, "history", "", "compare the values of this `tag` over all runs of the database")
	f.StringVar(&o.history.Metric, "metric", "mpi_ns", "with --history: a function of MPI, or a `metric`: "+strings.Join(database.Metrics, ", "))
	f.StringVar(&o.history.Program, "app", "", "with --history: only runs of this `program`")
	inGroup(f, "Database", "database", "history", "metric", "app")
	o.window.add(f)
	return cmd
}

// atLeastTraces checks that there are at least n arguments; least is n in words.
func atLeastTraces(n int, least string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return &usageError{cmd, fmt.Errorf("want %s traces or more, got %s", least, show.FormatPlural(len(args), "argument"))}
		}
		return nil
	}
}

// runsOf opens a database and finds the runs that the arguments name. If the first argument is a file, all arguments
// are traces, which it puts into a temporary database. Else they name runs of the user's database.
func runsOf(cmd *cobra.Command, args []string, path string, paths []string, window *windowFlags) (d *database.DB, runs []database.Run, done func(), err error) {
	if len(args) == 0 || !exists(args[0]) {
		if d, err = database.OpenReadOnly(path); err != nil {
			if len(args) > 0 {
				err = fmt.Errorf("%s is not a file, and as a run: %w", args[0], err)
			}
			return nil, nil, nil, err
		}
		for _, name := range args {
			run, err := d.Find(name)
			if err != nil {
				d.Close()
				return nil, nil, nil, err
			}
			runs = append(runs, run)
		}
		return d, runs, func() { d.Close() }, nil
	}
	dir, err := os.MkdirTemp("", "spoor-compare-")
	if err != nil {
		return nil, nil, nil, err
	}
	done = func() { os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			done()
		}
	}()
	if d, err = database.Open(filepath.Join(dir, "runs.db")); err != nil {
		return nil, nil, nil, err
	}
	d.SetDisplayName("these traces")
	done = func() { d.Close(); os.RemoveAll(dir) }
	where := newPlaces(paths)
	added, failed, err := addTraces(cmd, d, args, database.Options{NamePlace: where.called}, "", where, window)
	if err == nil && failed {
		err = errors.New("nothing to compare with")
	}
	if err != nil {
		return nil, nil, nil, err
	}
	where.complain(cmd)
	for _, x := range added {
		run, err := d.Find(strconv.FormatInt(x.Run, 10))
		if err != nil {
			return nil, nil, nil, err
		}
		run.Path = x.Trace // messages name the trace as the user did; the database has its absolute path
		runs = append(runs, run)
	}
	return d, runs, done, nil
}

func compareRuns(cmd *cobra.Command, o compareOptions, args []string) (worse bool, err error) {
	d, runs, done, err := runsOf(cmd, args, o.database, o.paths, &o.window)
	if err != nil {
		return false, err
	}
	defer done()
	list := []*database.Comparison{}
	for _, run := range runs[1:] {
		c, err := d.Compare(runs[0], run)
		if err != nil {
			return false, err
		}
		list = append(list, c)
	}
	if len(list) == 1 {
		err = o.print(cmd, answerOf(list[0]), nil, func(w io.Writer, v show.View) error { return printComparison(w, list[0], v) })
	} else {
		table := scalabilityTable(list)
		err = o.print(cmd, show.Table[comparedRun]{Rows: table.Rows[1:], Columns: table.Columns}, nil, table.Print)
	}
	if err != nil || o.threshold == 0 {
		return false, err
	}
	for _, c := range list {
		for _, text := range c.Regressions(o.threshold) {
			worse = true
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: compare: %s: %s\n", c.B.Path, text)
		}
	}
	return worse, nil
}

// A compareAnswer is a comparison of two runs, as spoor compare --json prints it.
type compareAnswer struct {
	*database.Comparison
	Sites show.Table[database.SitePair] `json:"sites"`
}

func answerOf(c *database.Comparison) *compareAnswer {
	return &compareAnswer{c, show.Table[database.SitePair]{Rows: c.Sites, Columns: c.Columns()}}
}

// A comparedRun is one of several runs compared with the first.
type comparedRun struct {
	*compareAnswer // comparison with the first run; nil for the first run itself
	run            database.Run
	s              database.Scalability
}

// scalabilityTable returns a table with a row for the first run, and one for each run compared with it.
func scalabilityTable(list []*database.Comparison) show.Table[comparedRun] {
	type run = comparedRun
	own, _ := list[0].Scalability()
	rows := []run{{nil, list[0].A, own}}
	for _, c := range list {
		_, s := c.Scalability()
		rows = append(rows, run{answerOf(c), c.B, s})
	}
	unless0 := func(v float64) any {
		if v == 0 {
			return nil
		}
		return v
	}
	// The columns' JSON keys are the database's names (e.g. load_balance), which have no suffix for the unit.
	share := func(name, doc string, of func(s *database.Scalability) float64) show.Column[run] {
		return show.Column[run]{Name: name, KeyOverride: strings.ReplaceAll(name, " ", "_"), Unit: show.UnitFraction, Doc: doc,
			Value: func(x run) any { return unless0(of(&x.s)) },
			Text: func(x run) string {
				if of(&x.s) == 0 {
					return "?"
				}
				// An efficiency may exceed 100 %, as more ranks have more cache; show.Percentage would print 100 %
				// then.
				return fmt.Sprintf("%.1f %%", 100*of(&x.s))
			}}
	}
	return show.Table[run]{Rows: rows, Columns: show.Columns[run]{
		{Name: "ranks", Doc: "of the run", Value: func(x run) any { return x.run.Ranks }},
		{Name: "time", Unit: show.UnitNs, Doc: "of the slowest rank", Value: func(x run) any { return unless0(x.s.MaxRankSpanNs) }},
		{Name: "speedup", Unit: show.UnitRatio, Doc: "the first run's time over this one's", Value: func(x run) any { return unless0(x.s.Speedup) }},
		share("global", "computation × parallel efficiency", func(s *database.Scalability) float64 { return s.Global() }),
		share("parallel", "parallel efficiency", func(s *database.Scalability) float64 { return s.Parallel }),
		share("load balance", "mean useful time of ranks over the largest", func(s *database.Scalability) float64 { return s.LoadBalance }),
		share("communication", "largest useful time over the run time", func(s *database.Scalability) float64 { return s.Communication }),
		share("computation", "the first run's useful time over this one's", func(s *database.Scalability) float64 { return s.Computation }),
		{Name: "trace", Unit: show.UnitWord, Doc: "path of the run's trace", Value: func(x run) any { return x.run.Path }},
	}}
}
