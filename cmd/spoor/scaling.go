package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// history prints how a metric changed over the runs of a database, for each program, machine and number of ranks. It
// reports whether the metric got worse in any of these histories.
func history(cmd *cobra.Command, o compareOptions) (worse bool, err error) {
	q := o.history
	d, err := database.OpenReadOnly(o.database)
	if err != nil {
		return false, err
	}
	defer d.Close()
	tracks, err := d.RunHistories(q)
	if err != nil {
		return false, err
	}
	if len(tracks) == 0 {
		return false, fmt.Errorf("%s: no runs with a tag %q", o.database, q.Tag)
	}
	err = o.print(cmd, tracks, func(w io.Writer) { printTracks(w, q, tracks) }, nil)
	return slices.ContainsFunc(tracks, func(t database.RunHistory) bool { return t.FirstWorseTagValue != "" }), err
}

func printTracks(w io.Writer, q database.TrendQuery, tracks []database.RunHistory) {
	for i, t := range tracks {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s on %s of %s: %s\n", t.Command, show.FormatPlural(t.Ranks, "rank"), t.Machine, q.Metric)
		show.WriteText(w, t.Steps, 0, func(c *show.Row, s database.HistoryStep) {
			verdict := map[string]string{database.VerdictMore: "MORE", database.VerdictLess: "LESS"}[s.Verdict]
			c.Value("runs", s.Runs).Value("median", quantity(q.Metric, s.Median)).Value("deviation", quantity(q.Metric, s.ScaledMAD))
			c.Value("change", fmt.Sprintf("%+.1f %%", 100*s.RelativeChange)).Value("", verdict).Text(q.Tag, s.TagValue)
		})
		if t.FirstWorseTagValue != "" {
			fmt.Fprintf(w, "worse from %s=%s on\n", q.Tag, t.FirstWorseTagValue)
		}
	}
}

func newScaling() *cobra.Command {
	var path, app string
	var paths []string
	var at int
	var o output
	cmd := &cobra.Command{
		Use:   "scaling [flags] [TRACE...]",
		Short: "Find the call sites whose time grows with the number of ranks",
		Long: fmt.Sprintf(`For each call site spoor fits a growth law to its mean time per rank, over runs
of one program on p ranks: C0 + C1 · p^i · log2(p)^j. It takes the simplest law
among those that predict best the points they were not fitted to, and prints the
error of these predictions. The call sites come in the order of the time that
the law gives at ten times the largest number of ranks, or at the number that
--at names. What a rank calls and sends there follows laws of its own. Laws need %d
numbers of ranks; with fewer, the table has the times at each. Without traces the runs of
the database are used (see spoor db).
More: docs/compare.md`, stats.MinLawPoints),
		Example: `  spoor scaling app-4.spoor app-8.spoor app-16.spoor app-32.spoor app-64.spoor
  spoor scaling --at 1024 app-*.spoor
  spoor scaling --app solver --top 5                   runs of the database
  spoor scaling --json *.spoor | jq '.sites[] | {site, grows}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, _, done, err := runsOf(cmd, args, path, paths, &windowFlags{})
			if err != nil {
				return err
			}
			defer done()
			if at < 0 || at > trace.MaxRanks {
				return &usageError{cmd, errors.New("--at: say how many ranks, as --at 1024")}
			}
			s, err := d.FitGrowth(app, at)
			if err != nil {
				return err
			}
			table := scalingTable(s)
			return o.print(cmd, struct {
				*database.Scaling
				Sites show.Table[database.SiteGrowth] `json:"sites"`
			}{s, table}, nil, func(w io.Writer, v show.View) error { return printScaling(w, s, table, v) })
		},
	}
	f := cmd.Flags()
	databaseFlag(f, &path)
	f.StringVar(&app, "app", "", "only runs of this `program`; needed if the database has several")
	f.IntVar(&at, "at", 0, "what laws give for `N` ranks (default ten times the most)")
	o.tableFlags(cmd, 20, "call sites")
	debugPathFlag(f, &paths)
	return cmd
}

// errorless is from which relative error on a predicted value is printed with its error.
const errorless = 0.005

// scalingTable returns a table with a row for each call site: times of a rank, and the law by which they grow.
func scalingTable(s *database.Scaling) show.Table[database.SiteGrowth] {
	type growth = database.SiteGrowth
	last := s.RankCounts[len(s.RankCounts)-1]
	var list show.Columns[growth]
	at := func(ranks int, value func(g growth) any) {
		list = append(list, show.Column[growth]{Name: "at " + show.FormatGrouped(ranks), Unit: show.UnitNs, Doc: "time of a rank at this number of ranks", Value: value})
	}
	measured := func(ranks int) {
		at(ranks, func(g growth) any {
			if !slices.Contains(g.RankCounts, float64(ranks)) {
				return nil
			}
			return g.MeasuredNsAt(float64(ranks))
		})
	}
	if !s.HasLaws {
		for _, n := range s.RankCounts {
			measured(n)
		}
	} else {
		measured(last)
		at(s.PredictedRanks, func(g growth) any { return g.PredictedNsPerRank })
		list = append(list,
			show.Column[growth]{Name: "share", Unit: show.UnitFraction, Doc: "its part in the predicted time of all call sites", Value: func(g growth) any { return g.PredictedShare }},
			show.Column[growth]{Name: "times", Doc: "predicted over measured time", Value: func(g growth) any { return g.PredictedFactor }, Text: func(g growth) string { return fmt.Sprintf("%.3g", g.PredictedFactor) }},
			show.Column[growth]{Name: "grows as", Doc: "the law", Value: func(g growth) any { return g.GrowthOrder }},
			show.Column[growth]{Name: "error", Unit: show.UnitFraction, Doc: "how far predictions of measured times were off", Value: func(g growth) any { return g.GrowthLaw.LeaveOneOutError }, Text: func(g growth) string { return fmt.Sprintf("%.1f %%", 100*g.GrowthLaw.LeaveOneOutError) }})
	}
	if s.HasLaws {
		of := func(name, doc string, value func(g *growth) *database.PredictedValue, text func(v float64) string) {
			list = append(list, show.Column[growth]{Name: name, Doc: doc, Value: func(g growth) any { return value(&g).Value }, Text: func(g growth) string {
				x := value(&g)
				if x.LeaveOneOutError < errorless {
					return text(x.Value)
				}
				return fmt.Sprintf("%s ± %.0f %%", text(x.Value), 100*x.LeaveOneOutError)
			}})
		}
		of("calls", "of a rank, at the number of ranks ahead", func(g *growth) *database.PredictedValue { return &g.PredictedCallsPerRank }, func(v float64) string { return fmt.Sprintf("%.4g", v) })
		of("bytes", "that a rank sends in them", func(g *growth) *database.PredictedValue { return &g.PredictedBytesPerRank }, func(v float64) string { return show.FormatBytes(int64(v)) })
	}
	list = append(list, show.Column[growth]{Name: "function, call site", Unit: show.UnitWord, Doc: "where", Value: func(g growth) any { return g.Site.String() }})
	return show.Table[growth]{Rows: s.Sites, Columns: list}
}

// printScaling writes the table of call sites. Except in CSV, it also writes a title, and why some sites have no law.
func printScaling(w io.Writer, s *database.Scaling, table show.Table[database.SiteGrowth], v show.View) error {
	if !v.CSV {
		fmt.Fprintf(w, "%s: time of a rank in each call site, %s of ranks from %d to %d\n", s.App, show.FormatPlural(len(s.RankCounts), "number"), s.RankCounts[0], s.RankCounts[len(s.RankCounts)-1])
	}
	if err := table.Print(w, v); err != nil {
		return err
	}
	switch {
	case v.CSV:
	case !s.HasLaws:
		fmt.Fprintf(w, "no growth laws: they need %d numbers of ranks at least\n", stats.MinLawPoints)
	case s.SkippedSites > 0:
		fmt.Fprintf(w, "%s with fewer than %d numbers of ranks: no law\n", show.FormatPlural(s.SkippedSites, "call site"), stats.MinLawPoints)
	}
	return nil
}
