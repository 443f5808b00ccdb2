package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/units"
)

func newDBRegress() *cobra.Command {
	var path string
	var q database.Question
	var asJSON bool
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
			worse, err := regress(cmd, path, q, asJSON)
			switch {
			case err != nil: // 1 says that something got worse
				complain(cmd, err)
				return exitCode(2)
			case worse:
				return exitCode(1)
			}
			return nil
		},
	}
	databaseFlag(cmd, &path)
	f := cmd.Flags()
	f.StringVar(&q.By, "by", "", "the `tag` whose values are compared")
	f.StringVar(&q.Metric, "metric", "mpi_ns", "what is compared: a `metric` or a function")
	f.Float64Var(&q.Threshold, "threshold", 0.1, "changes up to this `share` are none")
	f.StringVar(&q.App, "app", "", "only runs of this `program`")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// regress prints the histories of a metric and reports whether it got worse in one.
func regress(cmd *cobra.Command, path string, q database.Question, asJSON bool) (worse bool, err error) {
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
	if asJSON {
		err = writeJSON(cmd.OutOrStdout(), tracks)
	} else {
		err = printTracks(cmd.OutOrStdout(), q, tracks)
	}
	return slices.ContainsFunc(tracks, func(t database.Track) bool { return t.First != "" }), err
}

func printTracks(w io.Writer, q database.Question, tracks []database.Track) error {
	for i, t := range tracks {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s on %s of %s: %s\n", t.Command, plural(t.Ranks, "rank"), t.Machine, q.Metric)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(tw, "runs\tmedian\tdeviation\tchange\t\t   %s\n", q.By)
		for _, s := range t.Steps {
			verdict := map[string]string{database.Same: "", database.More: "MORE", database.Less: "LESS"}[s.Verdict]
			fmt.Fprintf(tw, "%d\t%s\t%s\t%+.1f %%\t%s\t   %s\n", s.Runs, quantity(q.Metric, s.Median), quantity(q.Metric, s.Deviation), 100*s.Change, verdict, s.Value)
		}
		if err := tw.Flush(); err != nil {
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
	var asJSON bool
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
are: the first of them will hurt.`, database.LeastPoints),
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
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), s)
			}
			return printScaling(cmd.OutOrStdout(), s, top)
		},
	}
	databaseFlag(cmd, &path)
	cmd.Flags().StringVar(&app, "app", "", "runs of this `program`; needed if there are several")
	cmd.Flags().StringVar(&over, "over", "ranks", "what differs between the runs: `ranks`, and nothing else yet")
	cmd.Flags().IntVar(&top, "top", 20, "show so many call sites; 0: all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printScaling(w io.Writer, s *database.Scaling, top int) error {
	last := s.Ranks[len(s.Ranks)-1]
	fmt.Fprintf(w, "%s: time of a rank in each call site, %s of ranks from %d to %d\n", s.App, plural(len(s.Ranks), "number"), s.Ranks[0], last)
	shown := s.Sites
	if top > 0 && len(shown) > top {
		shown = shown[:top]
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if !s.Laws {
		return printValues(w, tw, s, shown)
	}
	fmt.Fprintf(tw, "at %s\tat %s\tshare\ttimes\tgrows as\terror\t   function, call site\n", units.Grouped(last), units.Grouped(s.Ahead))
	for _, g := range shown {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.3g\t%s\t%.1f %%\t   %s\n", units.Duration(g.Values[len(g.Values)-1]), units.Duration(g.Ahead), units.Share(g.Share, 1),
			g.Times, g.Grows, 100*g.Law.Error, siteText(g.Site))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if n := len(s.Sites) - len(shown); n > 0 {
		fmt.Fprintf(w, "%d more: --top 0\n", n)
	}
	if s.TooFew > 0 {
		fmt.Fprintf(w, "%s with fewer than %d numbers of ranks: no law\n", plural(s.TooFew, "call site"), database.LeastPoints)
	}
	return nil
}

// printValues prints the times at each number of ranks, where there are too few for laws.
func printValues(w io.Writer, tw *tabwriter.Writer, s *database.Scaling, shown []database.Growth) error {
	for _, n := range s.Ranks {
		fmt.Fprintf(tw, "at %s\t", units.Grouped(n))
	}
	fmt.Fprintln(tw, "   function, call site")
	for i := range shown {
		for _, n := range s.Ranks {
			text := "-"
			if slices.Contains(shown[i].Ranks, float64(n)) {
				text = units.Duration(shown[i].At(float64(n)))
			}
			fmt.Fprintf(tw, "%s\t", text)
		}
		fmt.Fprintln(tw, "   "+siteText(shown[i].Site))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if n := len(s.Sites) - len(shown); n > 0 {
		fmt.Fprintf(w, "%d more: --top 0\n", n)
	}
	fmt.Fprintf(w, "no growth laws: they need %d numbers of ranks at least\n", database.LeastPoints)
	return nil
}
