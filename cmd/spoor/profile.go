package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

type profileOptions struct {
	output
	byRank    bool
	paths     []string
	histogram histogramOptions
	ranks     string
	asked     bool // --histogram was given
	apart     bool // --sites was given: each address is a call site of its own
}

func newProfile() *cobra.Command {
	var o profileOptions
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "profile [flags] [TRACE]",
		Short: "Show a table of MPI calls by call site: time, calls, bytes, imbalance",
		Long: `Each row is a call site, summed over all ranks. "waited" is the part of its time
in which ranks waited for other ranks (spoor waits says for whom). "imbalance"
is the largest total of a rank divided by the mean over the ranks that call it.
With debug information call sites have a file and a line; no source is needed.

--histogram shows how the times of single calls are distributed. It needs a
trace with --timing hist, or one with a time for every call (lossless).
More: docs/profile.md`,
		Example: `  spoor profile app.spoor
  spoor profile --sort imbalance --top 10 app.spoor
  spoor profile --by-rank app.spoor                    a row for each rank
  spoor profile --histogram --call MPI_Allreduce app.spoor
  spoor profile --columns calls,max,max_rank,function app.spoor
  spoor profile --csv app.spoor >app.csv`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			if o.asked {
				if err := refuseFlags(cmd, []string{"sort", "columns", "by-rank", "sites"}, "not with --histogram"); err != nil {
					return err
				}
				o.histogram.output, o.histogram.debug, o.histogram.ranks = o.output, o.paths, o.ranks
				return runHistogram(cmd, r, &o.histogram)
			}
			if err := refuseFlags(cmd, histogramFlags, "only with --histogram"); err != nil {
				return err
			}
			return runFlat(cmd, r, o)
		}),
	}
	f := cmd.Flags()
	o.tableFlags(cmd, 25, "rows")
	f.StringVarP(&o.ranks, "rank", "r", "", "only the calls of these `ranks`: 0,4-7,10-; with --histogram of one, or of its class if the trace has no time for every call")
	f.BoolVar(&o.byRank, "by-rank", false, "a row for each rank instead of each call site")
	debugPathFlag(f, &o.paths)
	apartFlag(f, &o.apart)
	f.BoolVar(&o.asked, "histogram", false, "how the times of single calls are distributed, by call site")
	o.histogram.flags(f)
	inGroup(f, "Histograms", append([]string{"histogram"}, histogramFlags...)...)
	window.add(f)
	return cmd
}

func refuseFlags(cmd *cobra.Command, names []string, why string) error {
	if name := given(cmd, names...); name != "" {
		return &usageError{cmd, fmt.Errorf("--%s: %s", name, why)}
	}
	return nil
}

// given returns the first of the named flags that the user gave; "": none.
func given(cmd *cobra.Command, names ...string) string {
	if i := slices.IndexFunc(names, cmd.Flags().Changed); i >= 0 {
		return names[i]
	}
	return ""
}

// runFlat prints spoor profile's table of call sites, or of ranks with --by-rank.
func runFlat(cmd *cobra.Command, r *trace.Reader, o profileOptions) error {
	where, named, err := sitesOf(r, o.paths, o.apart)
	if err != nil {
		return err
	}
	table := profile.CallSiteTableOf
	var ranks []int
	if o.ranks != "" {
		if ranks, err = parseList(o.ranks, r.Ranks()); err != nil {
			return &usageError{cmd, fmt.Errorf("--rank: %w", err)}
		}
		table = profile.CallSiteTableOfRanks(ranks)
	}
	f, err := flatOf(cmd, r, named, table)
	if err != nil {
		return err
	}
	waited, err := waits.FromTraceOrAnalyse(r, int64(f.Calls), where.atCall)
	if err != nil {
		return err
	}
	if waited != nil && ranks != nil {
		waited.RestrictTo(ranks)
	}
	if waited != nil {
		f.AddWaits(waited)
	}
	if err := parseCalls(o.histogram.calls); err != nil {
		return &usageError{cmd, err}
	}
	f.Rows = slices.DeleteFunc(f.Rows, func(x sites.Site) bool { return !matchesName(o.histogram.calls, x.FunctionSite.Function) })
	known := func(err error) error {
		if err != nil && f.Timeless {
			err = fmt.Errorf("%w; %w", err, trace.ErrNoTimes)
		}
		return err
	}
	if !o.byRank {
		if err := known(show.SortRows(f.Rows, o.sort, f.Columns().AddCells)); err != nil {
			return wrongColumn(cmd, err)
		}
		o.sort = ""
	}
	defer where.complain(cmd)
	if o.byRank {
		return o.print(cmd, f, nil, func(w io.Writer, v show.View) error {
			if !o.top.UserChosen {
				v.MaxRows = 0
			}
			return known(show.Table[sums.RankSums]{Rows: f.RankRows, Columns: f.RankColumns()}.Print(w, v))
		})
	}
	return o.print(cmd, f, func(w io.Writer) { f.Text(w, o.top, terminalWidth(cmd)) }, func(w io.Writer, v show.View) error {
		if !v.CSV {
			f.WriteHead(w)
		}
		return known(show.PrintRows(w, f.Rows, v, f.Columns().AddCells))
	})
}

func flatOf(cmd *cobra.Command, r *trace.Reader, named *sites.Naming, of func(*trace.Reader, *sites.Naming, func()) (*profile.CallSiteTable, error)) (*profile.CallSiteTable, error) {
	progress := newProgress(cmd.ErrOrStderr(), "ranks added up", r.Ranks())
	defer progress.end()
	return of(r, named, progress.step)
}
