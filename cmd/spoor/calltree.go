package main

import (
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
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

type calltreeOptions struct {
	shape
	output
	ranks     string
	functions bool
	loops     string
	sort      string
	paths     []string
}

// Values of --loops-from: where a call tree's loops come from.
const (
	loopsFromCode  = "code"
	loopsFromOrder = "order"
)

func loopsFlag(f *pflag.FlagSet, p *string) {
	f.StringVar(p, "loops-from", loopsFromCode, "`source` of loops: the machine code, or the order of calls")
}

func checkLoops(from string) error {
	if from != loopsFromCode && from != loopsFromOrder {
		return fmt.Errorf("--loops-from %s: code or order", from)
	}
	return nil
}

// A shape is the flags that select the classes of ranks whose call trees are shown, and the layout of the trees.
type shape struct {
	class   int
	all     bool
	minTime string
	depth   int
	width   int
}

func newCalltree() *cobra.Command {
	var o calltreeOptions
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "calltree [flags] [TRACE]",
		Short: "Show the functions, loops and MPI calls of the program, with counts and times",
		Long: `The tree shows nested loops with their trip counts, and in them the MPI calls
with their call sites, the time in MPI and the computation before each call.
Functions and loops come from the program's machine code; no source is needed.

Ranks that made the same calls form a class. The tree is that of the largest
class, with mean times per rank. "→ rank+1" is the partner of a call; "either …
or" marks branches; "≥ 250 times" means that iterations without an MPI call are
not counted; "4 (?) times": the calls do not show which of several loops
iterated. A "~" marks an estimate.
More: docs/calltree.md`,
		Example: `  spoor calltree app.spoor
  spoor calltree --rank 3 --min-time 1ms --depth 2 app.spoor
  spoor calltree --functions --depth 4 app.spoor     all ranks, from main down`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("min-time") || cmd.Flags().Changed("sort") && slices.Contains(profile.CallerSortKeys, o.sort) && profile.IsTimeSortKey(o.sort) {
				if err := r.RequireTimes(); err != nil {
					return err
				}
			} else if !cmd.Flags().Changed("sort") {
				o.sort = profile.DefaultSortKey(r)
			}
			if o.functions {
				return runCallers(cmd, r, o)
			}
			return runCalltree(cmd, r, o)
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&o.ranks, "rank", "r", "", "the trees of these `ranks`: 0,4-7")
	o.shape.flags(f)
	loopsFlag(f, &o.loops)
	jsonFlag(f, &o.json)
	debugPathFlag(f, &o.paths)
	f.BoolVar(&o.functions, "functions", false, "functions that lead to MPI calls, from main down, over all ranks")
	f.StringVar(&o.sort, "sort", "time", "`column`: sort functions by "+strings.Join(profile.CallerSortKeys, ", "))
	f.BoolVar(&o.csv, "csv", false, "print a CSV row for each call path")
	inGroup(f, "Functions", "functions", "sort", "csv")
	window.add(f)
	return cmd
}

func (s *shape) flags(f *pflag.FlagSet) {
	f.IntVar(&s.class, "class", -1, "the tree of this class of ranks, as numbered by spoor info --storage")
	f.BoolVarP(&s.all, "all-ranks", "a", false, "the trees of all classes of ranks")
	f.StringVar(&s.minTime, "min-time", "", "fold lines below this `time` (20us, 1.5ms); 0: show all (default: all that fit)")
	f.IntVar(&s.depth, "depth", -1, "open loops and functions down to level `N`")
	f.IntVar(&s.width, "width", 0, "use `N` columns (default: those of the terminal)")
}

// check returns an error if the flags contradict each other.
func (s *shape) check(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	switch {
	case set("class") && s.class < 0:
		return &usageError{cmd, fmt.Errorf("--class: %d: classes are counted from 0", s.class)}
	case set("rank") && (set("class") || s.all), set("class") && s.all:
		return &usageError{cmd, errors.New("only one of --rank, --class and --all-ranks")}
	case set("width") && s.width < 1:
		return &usageError{cmd, fmt.Errorf("--width: %d columns", s.width)}
	}
	return nil
}

// check refuses flags that contradict each other.
func (o *calltreeOptions) check(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	switch {
	case o.json && o.csv:
		return &usageError{cmd, errors.New("only one of --json and --csv")}
	case o.csv && !o.functions, set("sort") && !o.functions:
		return &usageError{cmd, errors.New("--csv and --sort need --functions; spoor profile has a table of call sites")}
	case o.functions && (o.ranks != "" || set("class") || o.all || set("loops-from")):
		return &usageError{cmd, errors.New("--functions shows all ranks; leave out --rank, --class, --all-ranks and --loops-from")}
	}
	if err := checkLoops(o.loops); err != nil {
		return &usageError{cmd, err}
	}
	return o.shape.check(cmd)
}

// runCallers prints the functions whose calls lead to MPI, as a tree.
func runCallers(cmd *cobra.Command, r *trace.Reader, o calltreeOptions) error {
	if !slices.Contains(profile.CallerSortKeys, o.sort) {
		return &usageError{cmd, fmt.Errorf("--sort %s: the columns are %s", o.sort, strings.Join(profile.CallerSortKeys, ", "))}
	}
	view, err := o.view(cmd)
	if err != nil {
		return err
	}
	where, named, err := sitesOf(r, o.paths, false)
	if err != nil {
		return err
	}
	f, err := flatOf(cmd, r, named, profile.CallStackTable)
	if err != nil {
		return err
	}
	c := f.CallerTree()
	c.SortBy(o.sort)
	defer where.complain(cmd)
	return o.print(cmd, c, func(w io.Writer) { c.Text(w, view) }, func(w io.Writer, _ show.View) error { c.CSV(w); return nil })
}

// view returns the layout that the flags select.
func (o *shape) view(cmd *cobra.Command) (profile.View, error) {
	v := profile.View{MinTimeNs: -1, ExpandedLoopDepth: o.depth, Width: o.width}
	if o.minTime != "" {
		d, err := parseTime(o.minTime)
		if err != nil {
			return v, &usageError{cmd, fmt.Errorf("--min-time: %w", err)}
		}
		v.MinTimeNs = float64(d)
	}
	if v.Width <= 0 {
		v.Width = terminalWidth(cmd)
	}
	return v, nil
}

func runCalltree(cmd *cobra.Command, r *trace.Reader, o calltreeOptions) error {
	view, err := o.view(cmd)
	if err != nil {
		return err
	}
	ranks, others, err := profiled(r, &o.shape, o.ranks)
	if err != nil {
		return &usageError{cmd, err}
	}
	where, err := placesOf(r, o.paths)
	if err != nil {
		return err
	}
	var list []*profile.Profile
	var c *trace.Code
	if o.loops == loopsFromCode {
		if c, err = where.code(r); err != nil {
			return err
		}
	}
	for _, rank := range ranks {
		p, err := profile.RankProfile(r, rank, calltree.Options{Locate: where.called, Code: c, OwnTimes: o.ranks != ""})
		if err != nil {
			return err
		}
		list = append(list, p)
	}
	x, err := r.When()
	if err != nil {
		return err
	}
	if err := o.print(cmd, list, func(w io.Writer) {
		o.trees(w, list, view, others, "--class, --rank, --all-ranks")
		if text := iterationsText(x); text != "" {
			fmt.Fprintf(w, "\niterations of the loop with most time: %s\n", text)
		}
	}, nil); err != nil {
		return err
	}
	if kept, err := r.Code(); c == nil || kept == nil || err != nil {
		where.complain(cmd) // with Code in the trace, no binary was needed, so missing ones don't matter
	}
	return nil
}

// trees writes the call trees of classes. If there are others, it also writes their number and the flags that show
// them.
func (o *shape) trees(w io.Writer, list []*profile.Profile, view profile.View, others int, flags string) {
	for i, p := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		p.Text(w, view)
	}
	if others > 0 {
		fmt.Fprintf(w, "\n%s more: %s\n", show.FormatPlural(others, "class"), flags)
	}
}

// profiled returns the ranks whose call trees are shown: those of --rank (asked), else the first rank of the classes
// that the flags select, by default of the largest class. others is the number of classes left out.
func profiled(r *trace.Reader, o *shape, asked string) (ranks []int, others int, err error) {
	first := func(class int) int { return r.Members(class)[0] }
	switch {
	case r.Classes() == 0:
		return nil, 0, errors.New("no rank left a track")
	case asked != "":
		if ranks, err = parseList(asked, r.Ranks()); err != nil {
			err = fmt.Errorf("--rank: %w", err)
		}
		return ranks, 0, err
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

// parseTime reads a time with a unit; "us" means µs.
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

// terminalWidth returns the width of the output's terminal in columns.
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
