package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

func newDB() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "db VERB [flags]",
		Short: "Keep many runs in one SQLite database, and query it",
		Long: `The database has the runs, ranks, functions, call sites, communicators, traffic
and waiting of many traces in one SQLite file. Call sites are matched across
builds of a program. Tags say what a run was: spoor run --tag commit=abc. spoor
compare and spoor scaling read the database, too.
More: docs/database.md`,
		Example: `  spoor run --tag commit=$(git rev-parse --short HEAD) mpirun -n 4 ./app
  spoor db add *.spoor
  spoor db list
  spoor compare commit=abc commit=def
  spoor compare --history commit --metric mpi_ns     exit code 1 if it got worse
  spoor scaling --app solver
  spoor simulate --machine infiniband -d spoor.db app.spoor
  spoor db sql 'select command, ranks, mpi_ns from run'`,
	}
	return ofVerbs(cmd, newDBAdd(), newDBList(), newDBSQL(), newDBCalltree())
}

func databaseFlag(f *pflag.FlagSet, path *string) {
	f.StringVarP(path, "database", "d", "spoor.db", "the `file` of the database")
}

func newDBAdd() *cobra.Command {
	var path, calls string
	var list, paths []string
	var form output
	cmd := &cobra.Command{
		Use:   "add [flags] TRACE...",
		Short: "Add traces to the database",
		Long: `A trace that is there already is not added again, but gets the tags. The
database is created if it does not exist. --calls also writes every call into a
folder of Parquet files, by table and run (FOLDER/calls/run=1, …), which DuckDB,
Spark and pandas read as one table.`,
		Example: `  spoor db add app.spoor
  spoor db add --tag machine=lumi --tag commit=abc results/*.spoor`,
		Args: atLeastOne("traces"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := deliver.CheckTags(list); err != nil {
				return &usageError{cmd, err}
			}
			where := newPlaces(paths)
			o := database.Options{Tags: deliver.TagsByName(list), NamePlace: where.called}
			d, err := database.Open(path)
			if err != nil {
				return err
			}
			defer d.Close()
			runs, failed, err := addTraces(cmd, d, args, o, calls, where, &windowFlags{})
			if err != nil {
				return err
			}
			where.complain(cmd)
			err = form.print(cmd, runs, func(w io.Writer) {
				for _, x := range runs {
					what := "added as run"
					if !x.Added {
						what = "is run"
					}
					fmt.Fprintf(w, "%s: %s %d\n", x.Trace, what, x.Run)
				}
			}, nil)
			if failed {
				return errors.Join(err, exitCode(1))
			}
			return err
		},
	}
	databaseFlag(cmd.Flags(), &path)
	cmd.Flags().StringArrayVar(&list, "tag", nil, "give the runs the tag `NAME=VALUE`; repeatable")
	cmd.Flags().StringVar(&calls, "calls", "", "also write every call into this `folder`")
	debugPathFlag(cmd.Flags(), &paths)
	cmd.Flags().BoolVar(&form.json, "json", false, "print JSON")
	return cmd
}

// writeCalls writes the calls of a run to Parquet files in dir, one per table, unless the run's files exist.
func writeCalls(r *trace.Reader, dir string, run int64, where *places) error {
	at := func(table string) string { return filepath.Join(dir, table, fmt.Sprintf("run=%d", run)) }
	last := convert.Tables[convert.TableCalls].Name // written last: if it exists, so do the others
	if _, err := os.Stat(at(last)); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	made, err := os.MkdirTemp(dir, ".run")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	s, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, NumberMessages: true, ReadAttachedValues: true})
	if err != nil {
		return err
	}
	if err := writeParquet(s, made, aboutTrace(s, where)); err != nil {
		return err
	}
	move := func(name string) error {
		if err := os.MkdirAll(at(name), 0o777); err != nil {
			return err
		}
		return os.Rename(filepath.Join(made, name+".parquet"), filepath.Join(at(name), name+".parquet"))
	}
	for _, t := range convert.Tables {
		if t.Name != last {
			if err := move(t.Name); err != nil {
				return err
			}
		}
	}
	return move(last)
}

type addedRun struct {
	Trace string `json:"trace"`
	Run   int64  `json:"run"`
	Added bool   `json:"added"` // false: the database had the run already
}

// addTraces adds traces to a database. It prints an error for each trace that can't be read, and skips it.
func addTraces(cmd *cobra.Command, d *database.DB, args []string, o database.Options, calls string, where *places, window *windowFlags) (runs []addedRun, failed bool, err error) {
	runs = []addedRun{}
	debug.SetGCPercent(400) // traces are small; with the default, a third of the time would go into garbage collection
	p := newProgress(cmd.ErrOrStderr(), "traces", len(args))
	defer p.end()
	for _, path := range args {
		r, err := openTrace(path)
		if err != nil {
			complain(cmd, err)
			failed = true
			continue
		}
		part, done, err := window.part(cmd, r)
		if err != nil {
			r.Close()
			return nil, true, err
		}
		if o.Code, err = where.code(part); err != nil {
			return nil, true, err
		}
		id, added, err := d.Add(path, part, o)
		if err == nil && calls != "" {
			err = writeCalls(part, calls, id, where)
		}
		done()
		r.Close()
		if err != nil {
			return nil, true, err
		}
		runs = append(runs, addedRun{path, id, added})
		p.steps(1)
	}
	return runs, failed, nil
}

func newDBList() *cobra.Command {
	var path string
	var o output
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the runs in the database, in the order in which they started",
		Example: `  spoor db list
  spoor db list --json | jq '.[].tags'`,
		Args: exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := database.OpenReadOnly(path)
			if err != nil {
				return err
			}
			defer d.Close()
			list, err := d.List()
			if err != nil {
				return err
			}
			table := runTable(list)
			return o.print(cmd, table, nil, table.Print)
		},
	}
	databaseFlag(cmd.Flags(), &path)
	o.tableFlags(cmd, 0, "runs")
	return cmd
}

func runTable(list []database.RunSummary) show.Table[database.RunSummary] {
	type run = database.RunSummary
	timed := func(x run, ns any) any {
		if !x.HasTimes {
			return nil
		}
		return ns
	}
	return show.Table[run]{Rows: list, Columns: show.Columns[run]{
		{Name: "run", Doc: "number", Value: func(x run) any { return x.ID }},
		{Name: "started", Doc: "in UTC", Value: func(x run) any { return wallClock(x.StartNs) }},
		{Name: "ranks", Doc: "number of ranks", Value: func(x run) any { return x.Ranks }},
		{Name: "time", Unit: show.UnitNs, Doc: "of the rank that took longest", Value: func(x run) any { return timed(x, x.MaxRankSpanNs) }},
		{Name: "in MPI", Unit: show.UnitNs, Doc: "of a rank, on average", Value: func(x run) any { return timed(x, float64(x.MPINs)/float64(max(1, x.Ranks))) }},
		{Name: "calls", Unit: show.UnitCount, Doc: "number of calls", Value: func(x run) any { return x.Calls }},
		{Name: "command, tags", Unit: show.UnitWord, Doc: "what ran", Value: func(x run) any {
			text := x.Command
			for _, name := range slices.Sorted(maps.Keys(x.Tags)) {
				text += "  " + name + "=" + x.Tags[name]
			}
			return text
		}},
	}}
}

func newDBSQL() *cobra.Command {
	var path string
	var o output
	cmd := &cobra.Command{
		Use:   "sql [flags] STATEMENT",
		Short: "Run an SQL query (SQLite, read-only) and print the rows",
		Example: `  spoor db sql 'select id, command, ranks, mpi_ns / 1e9 from run order by started_ns'
  spoor db sql --csv 'select * from calls_by_site where function = "MPI_Allreduce"'
  spoor db sql 'select sql from sqlite_master'       the tables`,
		Args: exactly(1, "one statement"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.json && o.csv {
				return &usageError{cmd, errors.New("--json or --csv, not both")}
			}
			d, err := database.OpenReadOnly(path)
			if err != nil {
				return err
			}
			defer d.Close()
			out := bufio.NewWriter(cmd.OutOrStdout())
			switch {
			case o.json:
				err = sqlJSON(d, args[0], out)
			case o.csv:
				w := csv.NewWriter(out)
				err = d.Query(args[0], w.Write, func(values []any) error { return w.Write(texts(values)) })
				w.Flush()
			default:
				var rows [][]string // rows of the result; row 0 is the columns' names
				line := func(cells []string) error {
					rows = append(rows, cells)
					return nil
				}
				err = d.Query(args[0], line, func(values []any) error { return line(texts(values)) })
				show.WriteText(out, rows, 0, func(c *show.Row, cells []string) {
					for _, cell := range cells {
						c.Text("", cell)
					}
				})
			}
			return errors.Join(err, out.Flush())
		},
	}
	databaseFlag(cmd.Flags(), &path)
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON array of objects")
	cmd.Flags().BoolVar(&o.csv, "csv", false, "print CSV")
	return cmd
}

func sqlJSON(d *database.DB, statement string, w io.Writer) error {
	list := []map[string]any{}
	var names []string
	err := d.Query(statement, func(columns []string) error { names = columns; return nil }, func(values []any) error {
		row := make(map[string]any)
		for i, name := range names {
			row[name] = values[i]
		}
		list = append(list, row)
		return nil
	})
	if err != nil {
		return err
	}
	return writeJSON(w, list)
}

// texts formats the values of a row of an SQL query's result.
func texts(values []any) []string {
	list := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
		case float64:
			list[i] = strconv.FormatFloat(v, 'g', 10, 64)
		case []byte:
			list[i] = fmt.Sprintf("%x", v)
		default:
			list[i] = fmt.Sprint(v)
		}
	}
	return list
}

// printComparison writes the totals of two runs, and a row for each of their call sites.
func printComparison(w io.Writer, c *database.Comparison, v show.View) error {
	if !v.CSV {
		printWhole(w, c)
	}
	return show.Table[database.SitePair]{Rows: c.Sites, Columns: c.Columns()}.Print(w, v)
}

// inPairs maps columns of the database's table of runs to their titles in a comparison of two runs.
var inPairs = map[string]string{
	"ranks": "ranks", "calls": "calls", "bytes_out": "bytes out", "bytes_in": "bytes in", "span_ns": "slowest rank", "mpi_ns": "in MPI, all ranks",
	"total_ns": "time, all ranks", "parallel": "parallel efficiency", "load_balance": "load balance", "communication": "communication efficiency",
	"file_bytes": "trace", "waited_ns": "waiting, all ranks", "iteration_ns": "an iteration, median", "slow_iteration_ns": "99th percentile",
}

// mostOnly is how many findings are printed at most that only A, or only B, of two compared runs has.
const mostOnly = 3

func printWhole(w io.Writer, c *database.Comparison) {
	for _, p := range c.Totals {
		if p.Name == "span_ns" && p.KnownA && p.KnownB {
			fmt.Fprintf(w, "run time: %s → %s, %s\n", show.FormatDuration(p.A), show.FormatDuration(p.B), show.PercentChange(p.A, p.B))
		}
	}
	_, most := c.LargestWaitGrowth()
	if most != nil {
		fmt.Fprintf(w, "waiting grew most in %s: from %s to %s\n", most.Site.String(), show.FormatDuration(most.Number(0, "waited_ns")), show.FormatDuration(most.Number(1, "waited_ns")))
	}
	for _, x := range []struct {
		name string
		only []string
	}{{"A", c.FindingsOnlyInA}, {"B", c.FindingsOnlyInB}} {
		for _, text := range x.only[:min(len(x.only), mostOnly)] {
			fmt.Fprintf(w, "only in %s: %s\n", x.name, text)
		}
	}
	for _, x := range []struct {
		name string
		run  database.Run
	}{{"A", c.A}, {"B", c.B}} {
		fmt.Fprintf(w, "%s: run %d, %s on %s of %s, %s\n", x.name, x.run.ID, x.run.Command, show.FormatPlural(x.run.Ranks, "rank"), x.run.Machine, x.run.Path)
	}
	fmt.Fprintln(w)
	known := slices.DeleteFunc(slices.Clone(c.Totals), func(p database.TotalPair) bool {
		return !p.KnownA && !p.KnownB && strings.HasSuffix(p.Name, "iteration_ns")
	})
	show.WriteText(w, known, 0, func(r *show.Row, p database.TotalPair) {
		a, b, change := "?", "?", ""
		if p.KnownA {
			a = quantity(p.Name, p.A)
		}
		if p.KnownB {
			b = quantity(p.Name, p.B)
		}
		if p.KnownA && p.KnownB {
			change = show.PercentChange(p.A, p.B)
		}
		r.Value("", inPairs[p.Name]).Value("A", a).Value("B", b).Value("change", change)
	})
	fmt.Fprintln(w)
}

// quantity formats a value of the named column in the database's table of runs.
func quantity(name string, v float64) string {
	switch {
	case strings.HasSuffix(name, "_ns"), strings.HasPrefix(name, "MPI_"):
		return show.FormatDuration(v)
	case strings.Contains(name, "bytes"):
		return show.FormatBytes(int64(v))
	case name == "parallel" || name == "load_balance" || name == "communication":
		return show.Percentage(v, 1)
	}
	return show.FormatGrouped(int64(v))
}

func newDBCalltree() *cobra.Command {
	var path string
	var o shape
	var loops string
	var form output
	cmd := &cobra.Command{
		Use:   "calltree [flags] RUN",
		Short: "Show the loops and MPI calls of a run, without its trace",
		Long: `The tree is that of spoor calltree. A run is named by its number, a tag
(NAME=VALUE: the latest run with it) or its file.`,
		Example: `  spoor db calltree 1
  spoor db calltree --depth 2 commit=abc`,
		Args: exactly(1, "one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.check(cmd), checkLoops(loops)); err != nil {
				return err
			}
			d, err := database.OpenReadOnly(path)
			if err != nil {
				return err
			}
			defer d.Close()
			run, err := d.Find(args[0])
			if err != nil {
				return err
			}
			list, err := d.Profiles(run, o.class, loops == loopsFromCode)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return errors.New("no rank left a track")
			}
			others := 0
			if !o.all {
				largest := slices.MaxFunc(list, func(a, b *profile.Profile) int { return len(a.ClassRanks) - len(b.ClassRanks) })
				others = len(list) - 1
				list = []*profile.Profile{largest}
			}
			view, err := o.view(cmd)
			if err != nil {
				return err
			}
			return form.print(cmd, list, func(w io.Writer) { o.trees(w, list, view, others, "--class, --all-ranks") }, nil)
		},
	}
	databaseFlag(cmd.Flags(), &path)
	o.flags(cmd.Flags())
	loopsFlag(cmd.Flags(), &loops)
	jsonFlag(cmd.Flags(), &form.json)
	return cmd
}
