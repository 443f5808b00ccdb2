package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/columns"
	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/growth"
	"github.com/spoor-hpc/spoor/internal/units"
)

func newDBRegress() *cobra.Command {
	var path string
	var q database.Question
	var o output
	cmd := &cobra.Command{
		Use:   "regress --by TAG [flags]",
		Short: "Find when runs became slower",
		Long: `Put runs into the order in which they started, those with one value of a tag
together, and find the first value at which a metric got worse: its median is off that of
all runs since the last change by more than the threshold, and by more than three
times the deviation (the median distance from the median, as a standard deviation). Only
runs of one command on one machine with as many ranks are compared.

Metrics are columns of runs, ` + strings.Join(database.Metrics, ", ") + `,
and functions of MPI: the time in all their calls. More of a metric is worse; of
efficiencies, less.

The exit code is 1 if something got worse, else 0; 2 if it can't be told.`,
		Example: `  spoor db regress --by commit --metric mpi_ns
  spoor db regress --by commit --metric MPI_Allreduce --threshold 0.05
  spoor db regress --by commit --app solver --json | jq '.[].first_worse'`,
		Args: exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.By == "" {
				return &usageError{cmd, fmt.Errorf("--by: which tag?")}
			}
			if q.Threshold < 0 {
				return &usageError{cmd, fmt.Errorf("--threshold %g: a share, 0 or more", q.Threshold)}
			}
			worse, err := regress(cmd, path, q, o)
			return verdict(cmd, worse, err)
		},
	}
	databaseFlag(cmd, &path)
	f := cmd.Flags()
	f.StringVar(&q.By, "by", "", "the `tag` whose values are compared")
	f.StringVar(&q.Metric, "metric", "mpi_ns", "what is compared: a `metric` or a function")
	f.Float64Var(&q.Threshold, "threshold", 0.1, "changes up to this `share` are none")
	f.StringVar(&q.App, "app", "", "only runs of this `program`")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// regress prints the histories of a metric and reports whether it got worse in one.
func regress(cmd *cobra.Command, path string, q database.Question, o output) (worse bool, err error) {
	d, err := database.OpenRead(path)
	if err != nil {
		return false, err
	}
	defer d.Close()
	tracks, err := d.Regress(q)
	if err != nil {
		return false, err
	}
	if len(tracks) == 0 {
		return false, fmt.Errorf("%s: no runs with a tag %q", path, q.By)
	}
	err = o.print(cmd, tracks, func(w io.Writer) error { return printTracks(w, q, tracks) }, nil)
	return slices.ContainsFunc(tracks, func(t database.Track) bool { return t.First != "" }), err
}

func printTracks(w io.Writer, q database.Question, tracks []database.Track) error {
	for i, t := range tracks {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s on %s of %s: %s\n", t.Command, units.Plural(t.Ranks, "rank"), t.Machine, q.Metric)
		if err := columns.Text(w, t.Steps, 0, func(c *columns.Row, s database.Step) {
			verdict := map[string]string{database.More: "MORE", database.Less: "LESS"}[s.Verdict]
			c.Value("runs", s.Runs).Value("median", quantity(q.Metric, s.Median)).Value("deviation", quantity(q.Metric, s.Deviation))
			c.Value("change", fmt.Sprintf("%+.1f %%", 100*s.Change)).Value("", verdict).Text(q.By, s.Value)
		}); err != nil {
			return err
		}
		if t.First != "" {
			fmt.Fprintf(w, "worse from %s=%s on\n", q.By, t.First)
		}
	}
	return nil
}

func newDBScale() *cobra.Command {
	var path, app, over string
	var o output
	var top int
	cmd := &cobra.Command{
		Use:   "scale [flags]",
		Short: "Find how call sites grow with the number of ranks",
		Long: fmt.Sprintf(`Fit a growth law to the time that a rank spends in each call site, on average, over
runs of one program with different numbers of ranks p: C0 + C1 · p^i · log2(p)^j. The law is the
simplest one among those that predict points best which they were not fitted to; the
error is how far off they are then, as a share. Of runs with as many ranks the median is taken.
With fewer than %d numbers of ranks there are no laws: the table has the times at each number.

Sites are listed by the time that the law gives at ten times the most ranks that there
are: the first of them will hurt.`, growth.LeastPoints),
		Example: `  spoor db scale
  spoor db scale --app solver --top 5
  spoor db scale --json | jq '.sites[] | {site, grows}'`,
		Args: exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if over != "ranks" {
				return &usageError{cmd, fmt.Errorf("--over %q: there is ranks alone", over)}
			}
			d, err := database.OpenRead(path)
			if err != nil {
				return err
			}
			defer d.Close()
			s, err := d.Scale(app)
			if err != nil {
				return err
			}
			return o.print(cmd, s, func(w io.Writer) error { return printScaling(w, s, top) }, nil)
		},
	}
	databaseFlag(cmd, &path)
	cmd.Flags().StringVar(&app, "app", "", "runs of this `program`; needed if there are several")
	cmd.Flags().StringVar(&over, "over", "ranks", "what differs between the runs: `ranks`, and nothing else yet")
	cmd.Flags().IntVar(&top, "top", 20, "show so many call sites; 0: all")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func printScaling(w io.Writer, s *database.Scaling, top int) error {
	last := s.Ranks[len(s.Ranks)-1]
	fmt.Fprintf(w, "%s: time of a rank in each call site, %s of ranks from %d to %d\n", s.App, units.Plural(len(s.Ranks), "number"), s.Ranks[0], last)
	if err := columns.Text(w, s.Sites, top, func(c *columns.Row, g database.Growth) {
		if !s.Laws {
			for _, n := range s.Ranks {
				var ns any = "-"
				if slices.Contains(g.Ranks, float64(n)) {
					ns = g.At(float64(n))
				}
				c.Ns("at "+units.Grouped(n), ns)
			}
		} else {
			c.Ns("at "+units.Grouped(last), g.Values[len(g.Values)-1]).Ns("at "+units.Grouped(s.Ahead), g.Ahead).Share("share", g.Share, 1)
			c.Value("times", fmt.Sprintf("%.3g", g.Times)).Value("grows as", g.Grows).Value("error", fmt.Sprintf("%.1f %%", 100*g.Law.Error))
		}
		c.Text("function, call site", siteText(g.Site))
	}); err != nil {
		return err
	}
	switch {
	case !s.Laws:
		fmt.Fprintf(w, "no growth laws: they need %d numbers of ranks at least\n", growth.LeastPoints)
	case s.TooFew > 0:
		fmt.Fprintf(w, "%s with fewer than %d numbers of ranks: no law\n", units.Plural(s.TooFew, "call site"), growth.LeastPoints)
	}
	return nil
}
