package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

type profileOptions struct {
	rank    int
	class   int
	all     bool
	style   string
	minTime string
	depth   int
	width   int
	output
	flat    bool
	callers bool
	sort    string
	perRank bool
	fold    bool
	machine string
	top     int
	paths   []string
}

func newProfile() *cobra.Command {
	var o profileOptions
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "profile [flags] TRACE",
		Short: "Show what the program looks like, and where its time goes",
		Long: `Show the shape of the program as nested loops with their counts, calls with the
places they are made from, and the time in MPI and in the computation before
each call. No source is needed; with debug information places have lines.

Ranks that did the same share a shape: it is shown for the first rank of the
largest class unless --rank, --class or --all say otherwise. Times are means of
the class's ranks, times how often the rank did it; with --rank, they are that
rank's own if the trace has the time of each call (run --timing lossless and the
lossy ones). The first line says which. What a plugin or counters attached is that rank's
with --rank, to 1 %; what stands behind ~ is an estimate. Of a trace recorded with --timing none, lines and
tables have no columns of times.

Loops and functions are those of the program's machine code, with file and line if
it has debug information: the trace knows them, unless run --stack 0 or --no-code
left them out. "≥ 250 times": rounds in which MPI is not called are not
counted; "4 (?) times": the calls don't tell which of several loops went round;
"75 counted": all rounds of a loop by run --rounds.
Else, and with --fold, what is a loop follows from what was called: calls from
the same place are the same, whatever their other parameters. "3–5 times" varies
from one time the loop is entered to the next. "→ rank+1 or none" is whom the
call is about.

--style paper writes computation and calls as terms with the number of the call
site below and the number of rounds behind, times in µs; terse leaves out the
times within loops, and latex makes a document of it.

--flat is a table of call sites over all ranks instead: how often and how long
they were called, the share of all ranks' time, the longest call, bytes that
went out and came in, and the imbalance: the largest total of a rank, divided by
the mean of the ranks that make the call. "waited" is the part of the time in which ranks
waited for others, if the trace says so (spoor waits). --per-rank shows the totals of each
rank.

With stacks, functions stand around the loops and calls in them, and --callers is a tree of all ranks' calls: which functions led
to them, from main down, with time, calls and bytes of all below. --depth opens
so many levels of it, and --csv has a line for each path.`,
		Example: `  spoor profile app.spoor
  spoor profile --flat --sort imbalance --top 10 app.spoor
  spoor profile --machine infiniband app.spoor
  spoor profile --machine infiniband --rank 0 app.spoor        its loops
  spoor profile --callers --depth 4 app.spoor
  spoor profile --rank 3 --min-time 1ms --depth 2 app.spoor
  spoor profile --style latex app.spoor >app.tex && pdflatex app.tex`,
		Args: exactly(1, "one trace"),
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("min-time") || cmd.Flags().Changed("sort") && slices.Contains(profile.Sorts, o.sort) && profile.OfTimes(o.sort) {
				if err := r.NeedTimes(); err != nil {
					return err
				}
			} else if !cmd.Flags().Changed("sort") {
				o.sort = profile.DefaultSort(r)
			}
			if o.callers {
				return runCallers(cmd, r, o)
			}
			if o.flat || o.perRank || o.machine != "" && !cmd.Flags().Changed("rank") {
				return runFlat(cmd, r, o)
			}
			return runProfile(cmd, r, o)
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.IntVarP(&o.rank, "rank", "r", -1, "show this `rank`")
	f.IntVarP(&o.class, "class", "c", -1, "show this `class` of ranks, as spoor info numbers them")
	f.BoolVarP(&o.all, "all", "a", false, "show all classes")
	f.StringVar(&o.style, "style", "tree", "how to write: tree, paper, terse or latex")
	f.StringVar(&o.minTime, "min-time", "", "put lines below this `time` together (20us, 1.5ms); 0: show all (default: as many as fit)")
	f.BoolVar(&o.fold, "fold", false, "show the loops that the calls' order has, though the program's own are known")
	f.IntVar(&o.depth, "depth", -1, "open loops down to this `level`")
	f.IntVar(&o.width, "width", 0, "columns to use (default: those of the terminal)")
	f.BoolVar(&o.flat, "flat", false, "print a table of call sites over all ranks")
	f.BoolVar(&o.callers, "callers", false, "print a tree of the functions that led to calls, over all ranks")
	f.StringVar(&o.machine, "machine", "", "print a table with the times that calls would take on a machine beside those measured, with --rank\nthe rank's loops: a `file` or name, as for spoor simulate")
	f.BoolVar(&o.perRank, "per-rank", false, "print the totals of each rank")
	f.StringVar(&o.sort, "sort", "time", "order of the table: "+strings.Join(profile.Sorts, ", "))
	f.IntVar(&o.top, "top", 25, "print so many rows of the table; 0: all")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.csv, "csv", false, "print the table as CSV, all of it")
	debugPathFlag(f, &o.paths)
	return cmd
}

// flatOnly and shapeOnly are flags that the other kind of profile has no use for.
var (
	flatOnly  = []string{"sort", "top", "csv"}
	shapeOnly = []string{"rank", "class", "all", "style", "min-time", "depth", "fold"}
)

// check refuses what contradicts itself.
func (o *profileOptions) check(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	switch {
	case set("rank") && o.rank < 0:
		return &usageError{cmd, fmt.Errorf("--rank: %d: ranks are counted from 0", o.rank)}
	case set("class") && o.class < 0:
		return &usageError{cmd, fmt.Errorf("--class: %d: classes are counted from 0", o.class)}
	case set("rank") && (set("class") || o.all), set("class") && o.all:
		return &usageError{cmd, errors.New("only one of --rank, --class and --all")}
	case o.json && o.csv:
		return &usageError{cmd, errors.New("only one of --json and --csv")}
	case set("width") && o.width < 1:
		return &usageError{cmd, fmt.Errorf("--width: %d columns", o.width)}
	}
	return nil
}

func refuseFlags(cmd *cobra.Command, names []string, why string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return &usageError{cmd, fmt.Errorf("--%s: %s", name, why)}
		}
	}
	return nil
}

// runFlat prints a table of call sites, or of ranks.
func runFlat(cmd *cobra.Command, r *trace.Reader, o profileOptions) error {
	if err := refuseFlags(cmd, shapeOnly, "a table is of all ranks and has no shape"); err != nil {
		return err
	}
	if !slices.Contains(profile.Sorts, o.sort) {
		return &usageError{cmd, fmt.Errorf("--sort: %q is none of %s", o.sort, strings.Join(profile.Sorts, ", "))}
	}
	where, err := placesOf(r, o.paths)
	if err != nil {
		return err
	}
	f, err := flatOf(cmd, r, where, profile.FlatOf)
	if err != nil {
		return err
	}
	waited, err := waits.Known(r, int64(f.Calls), where.atCall)
	if err != nil {
		return err
	}
	if waited != nil {
		f.Wait(waited)
	}
	f.Sort(o.sort)
	if o.width <= 0 {
		o.width = terminalWidth(cmd)
	}
	var predicted *traced.Prediction
	if o.machine != "" {
		if o.csv || o.perRank {
			return &usageError{cmd, errors.New("--machine goes with text and --json: neither with --csv nor --per-rank")}
		}
		if predicted, err = predictFlat(cmd, r, f, o.machine); err != nil {
			return err
		}
	}
	defer where.complain(cmd)
	switch {
	case predicted != nil:
		return o.print(cmd, f, func(w io.Writer) error { return printPredictedFlat(w, f, predicted, o.top) }, nil)
	case o.perRank:
		return o.print(cmd, f, f.RanksText, f.RanksCSV)
	}
	return o.print(cmd, f, func(w io.Writer) error { return f.Text(w, o.top, o.width) }, f.CSV)
}

func flatOf(cmd *cobra.Command, r *trace.Reader, where *places, of func(*trace.Reader, calltree.Where, func()) (*profile.Flat, error)) (*profile.Flat, error) {
	progress := newProgress(cmd.ErrOrStderr(), "ranks added up", r.Ranks())
	defer progress.end()
	return of(r, where.called, progress.step)
}

// runCallers prints a tree of the functions that led to calls.
func runCallers(cmd *cobra.Command, r *trace.Reader, o profileOptions) error {
	if err := refuseFlags(cmd, []string{"rank", "class", "all", "style", "top", "flat", "per-rank", "fold"}, "a tree of callers is of all ranks and calls"); err != nil {
		return err
	}
	if !slices.Contains(profile.CallerSorts, o.sort) {
		return &usageError{cmd, fmt.Errorf("--sort: %q is none of %s", o.sort, strings.Join(profile.CallerSorts, ", "))}
	}
	view, err := o.view(cmd)
	if err != nil {
		return err
	}
	where, err := placesOf(r, o.paths)
	if err != nil {
		return err
	}
	f, err := flatOf(cmd, r, where, profile.StacksOf)
	if err != nil {
		return err
	}
	c := f.Callers()
	c.Sort(o.sort)
	defer where.complain(cmd)
	return o.print(cmd, c, func(w io.Writer) error { return c.Text(w, view) }, c.CSV)
}

// view is what the flags say of lines and their number.
func (o *profileOptions) view(cmd *cobra.Command) (profile.View, error) {
	v := profile.View{MinTime: -1, Depth: o.depth, Width: o.width}
	if o.minTime != "" {
		d, err := parseTime(o.minTime)
		if err != nil {
			return v, &usageError{cmd, fmt.Errorf("--min-time: %w", err)}
		}
		v.MinTime = float64(d)
	}
	if v.Width <= 0 {
		v.Width = terminalWidth(cmd)
	}
	return v, nil
}

func runProfile(cmd *cobra.Command, r *trace.Reader, o profileOptions) error {
	if err := refuseFlags(cmd, flatOnly, "only a table has it; add --flat"); err != nil {
		return err
	}
	view, err := o.view(cmd)
	if err != nil {
		return err
	}
	if err := o.styled(cmd); err != nil {
		return err
	}
	ranks, others, err := profiled(r, o)
	if err != nil {
		return &usageError{cmd, err}
	}
	where, err := placesOf(r, o.paths)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	var list []*profile.Profile
	var there *trace.Reader
	var predicted *traced.Prediction
	if o.machine != "" {
		if there, predicted, err = predictedTrace(r, o.machine); err != nil {
			return err
		}
	}
	var c *trace.Code
	if o.style == "tree" && !o.fold {
		if c, err = where.code(r); err != nil {
			return err
		}
	}
	for i, rank := range ranks {
		p, err := profile.Of(r, rank, calltree.Options{Where: where.called, Code: c, Own: o.rank >= 0})
		if err != nil {
			return err
		}
		if there != nil {
			other, err := profile.Of(there, rank, calltree.Options{Where: where.called, Code: c, Own: true})
			if err == nil {
				err = p.Beside(other, predicted.Machine)
			}
			if err != nil {
				return err
			}
			if !o.json {
				fmt.Fprintf(out, "%s: %s on %s, %s traced\n", r.Name(), ps(predicted.EndPs), predicted.Machine, units.Duration(float64(predicted.TracedNs)))
			}
		}
		switch {
		case o.json:
			list = append(list, p)
			continue
		case i > 0:
			fmt.Fprintln(out)
		}
		if err := o.write(out, p, view); err != nil {
			return err
		}
	}
	if o.json {
		if err := writeJSON(out, list); err != nil {
			return err
		}
	} else if others > 0 && o.style != "latex" {
		fmt.Fprintf(out, "\n%s more: --class, --rank, --all\n", units.Plural(others, "class"))
	}
	if kept, err := r.Code(); c == nil || kept == nil || err != nil {
		where.complain(cmd) // else the trace knows the places without the binaries
	}
	return out.Flush()
}

// styles are those of profile.Style.
var styles = []string{"paper", "terse", "latex"}

// styled checks the style.
func (o *profileOptions) styled(cmd *cobra.Command) error {
	if o.style != "tree" && !slices.Contains(styles, o.style) {
		return &usageError{cmd, fmt.Errorf("--style: %q is none of tree, paper, terse and latex", o.style)}
	}
	if o.style == "latex" { // one document
		o.all = false
	}
	return nil
}

// write writes a profile in the style.
func (o *profileOptions) write(w io.Writer, p *profile.Profile, view profile.View) error {
	if o.style == "tree" {
		return p.Text(w, view)
	}
	return p.Paper(w, profile.Style(slices.Index(styles, o.style)), view)
}

// profiled chooses the ranks to show; others is how many classes are left out.
func profiled(r *trace.Reader, o profileOptions) (ranks []int, others int, err error) {
	first := func(class int) int { return r.Members(class)[0] }
	switch {
	case r.Classes() == 0:
		return nil, 0, errors.New("there is no track of any rank")
	case o.rank >= 0:
		if o.rank >= r.Ranks() {
			return nil, 0, fmt.Errorf("--rank: %d: there are %d, from 0 to %d", o.rank, r.Ranks(), r.Ranks()-1)
		}
		return []int{o.rank}, 0, nil
	case o.class >= 0:
		if o.class >= r.Classes() {
			return nil, 0, fmt.Errorf("--class: %d: there are %d, from 0 to %d", o.class, r.Classes(), r.Classes()-1)
		}
		return []int{first(o.class)}, 0, nil
	case o.all:
		for class := range r.Classes() {
			ranks = append(ranks, first(class))
		}
		return ranks, 0, nil
	}
	largest, most := 0, 0
	for class := range r.Classes() {
		if n := len(r.Members(class)); n > most {
			largest, most = class, n
		}
	}
	return []int{first(largest)}, r.Classes() - 1, nil
}

// parseTime reads a time with a unit; µs may be us.
func parseTime(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time; write 20us or 1.5ms", s)
	}
	return d, nil
}

// terminalWidth is the width of the terminal that is printed to.
func terminalWidth(cmd *cobra.Command) int {
	const otherwise = 120
	f, ok := cmd.OutOrStdout().(*os.File)
	if !ok || !terminal(f) {
		if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	var size struct{ rows, columns, x, y uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 || size.columns == 0 {
		return otherwise
	}
	return int(size.columns)
}
