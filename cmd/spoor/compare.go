package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/columns"
	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/units"
)

type compareOptions struct {
	threshold float64
	top       int
	output
	paths  []string
	window windowFlags
}

func newCompare() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare [flags] TRACE TRACE...",
		Short: "Put runs side by side: times, bytes and efficiencies, call site by call site",
		Long: `Compare the first trace with each of the others: as a whole, and call site by call site,
those first whose time differs most. Call sites are the same if module, function, file and order
within it are, so builds may differ. If both traces say who waited for whom (spoor waits), a line
names the call site where waiting grew most. With more than two traces there is one table with a
line for each, in which the efficiencies of the POP project say how the program scales: computation
is the useful time of all ranks of the first trace over that of this one, and global
efficiency is that times the parallel efficiency (see spoor imbalance).

--threshold is for tests: the exit code is 1 if, against the first trace, a run took longer by more
than this share on as many ranks, or has an efficiency that is lower by more. It is 2 if
that can't be told.

For histories of many runs there is spoor db. spoor diff says whether two programs made the same calls.`,
		Example: `  spoor compare before.spoor after.spoor
  spoor compare --threshold 0.05 reference.spoor new.spoor
  spoor compare app-4.spoor app-16.spoor app-64.spoor`,
		Args: atLeastTraces(2, "two"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.threshold < 0 {
				return &usageError{cmd, fmt.Errorf("--threshold %g: a share, 0 or more", o.threshold)}
			}
			worse, err := compareTraces(cmd, o, args)
			if o.threshold == 0 { // not asked
				return err
			}
			return verdict(cmd, worse, err)
		},
	}
	f := cmd.Flags()
	o.window.add(f)
	f.Float64Var(&o.threshold, "threshold", 0, "exit with 1 if something got worse by more than this `share`; 0: don't look")
	f.IntVar(&o.top, "top", 20, "show so many call sites; 0: all")
	f.BoolVar(&o.json, "json", false, "print JSON")
	debugPathFlag(f, &o.paths)
	return cmd
}

// atLeastTraces checks the number of traces: n or more, which is least in words.
func atLeastTraces(n int, least string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return &usageError{cmd, fmt.Errorf("want %s traces or more, got %s", least, units.Plural(len(args), "argument"))}
		}
		return nil
	}
}

// compareTraces compares by way of a database that lasts as long as this.
func compareTraces(cmd *cobra.Command, o compareOptions, args []string) (worse bool, err error) {
	dir, err := os.MkdirTemp("", "spoor-compare-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	d, err := database.Open(filepath.Join(dir, "runs.db"))
	if err != nil {
		return false, err
	}
	defer d.Close()
	where := newPlaces(o.paths)
	added, failed, err := addTraces(cmd, d, args, database.Options{Place: where.called}, "", where, &o.window)
	if err != nil {
		return false, err
	}
	if failed {
		return false, errors.New("nothing to compare with")
	}
	where.complain(cmd)
	runs := make([]database.Run, len(added))
	for i, x := range added {
		if runs[i], err = d.Find(strconv.FormatInt(x.Run, 10)); err != nil {
			return false, err
		}
		runs[i].Path = x.Trace // as the user has it
	}
	list := []*database.Comparison{}
	for _, run := range runs[1:] {
		c, err := d.Compare(runs[0], run)
		if err != nil {
			return false, err
		}
		list = append(list, c)
	}
	if len(list) == 1 {
		err = o.print(cmd, list[0], func(w io.Writer) error { return printComparison(w, list[0], o.top) }, nil)
	} else {
		err = o.print(cmd, list, func(w io.Writer) error { return printScalability(w, list) }, nil)
	}
	if err != nil || o.threshold == 0 {
		return false, err
	}
	for _, c := range list {
		for _, text := range c.Worse(o.threshold) {
			worse = true
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: compare: %s: %s\n", c.B.Path, text)
		}
	}
	return worse, nil
}

// printScalability writes a line for each run: those of the comparisons, and before them the one that they all have.
func printScalability(w io.Writer, list []*database.Comparison) error {
	type line struct {
		run database.Run
		s   database.Scalability
	}
	own, _ := list[0].Scalability()
	lines := []line{{list[0].A, own}}
	for _, c := range list {
		_, s := c.Scalability()
		lines = append(lines, line{c.B, s})
	}
	return columns.Text(w, lines, 0, func(c *columns.Row, x line) {
		share := func(v float64) string {
			if v == 0 {
				return "?"
			}
			return fmt.Sprintf("%.1f %%", 100*v) // more than all, where caches hold more on more ranks
		}
		var span, speedup any = "?", "?"
		if x.s.SpanNs > 0 {
			span, speedup = x.s.SpanNs, fmt.Sprintf("%.2f", x.s.Speedup)
		}
		c.Value("ranks", x.run.Ranks).Ns("time", span).Value("speedup", speedup).Value("global", share(x.s.Global())).Value("parallel", share(x.s.Parallel))
		c.Value("load balance", share(x.s.LoadBalance)).Value("communication", share(x.s.Communication)).Value("computation", share(x.s.Computation))
		c.Text("trace", x.run.Path)
	})
}
