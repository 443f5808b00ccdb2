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
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/trace"
)

type calltreeOptions struct {
	shape
	output
	ranks     string
	functions bool
	fold      bool
	sort      string
	machine   string
	paths     []string
	structure dumpOptions
}

// A shape says which class of ranks a tree of loops is shown of, and how.
type shape struct {
	class   int
	all     bool
	style   string
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
  spoor calltree --functions --depth 4 app.spoor     all ranks, from main down
  spoor calltree --machine infiniband app.spoor      predicted times beside
  spoor calltree --rsd --sites app.spoor             all ranks as loops of events
  spoor calltree --style latex app.spoor >app.tex && pdflatex app.tex`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("min-time") || cmd.Flags().Changed("sort") && slices.Contains(profile.CallerSorts, o.sort) && profile.SortsByTime(o.sort) {
				if err := r.NeedTimes(); err != nil {
					return err
				}
			} else if !cmd.Flags().Changed("sort") {
				o.sort = profile.DefaultSort(r)
			}
			switch s := &o.structure; {
			case s.structure || s.rsd != "":
				s.ranks, s.json, s.paths = o.ranks, o.json, o.paths
				return dump(cmd, r, *s)
			case o.functions:
				return runCallers(cmd, r, o)
			}
			return runCalltree(cmd, r, o)
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&o.ranks, "rank", "r", "", "the trees of these `ranks`: 0,4-7")
	o.shape.flags(f)
	f.BoolVar(&o.fold, "fold", false, "loops by the order of calls, without the machine code")
	f.StringVar(&o.machine, "machine", "", "`name`: add the times predicted for a machine, or its file")
	jsonFlag(f, &o.json)
	debugPathFlag(f, &o.paths)
	f.BoolVar(&o.functions, "functions", false, "functions that lead to MPI calls, from main down, over all ranks")
	f.StringVar(&o.sort, "sort", "time", "`column`: sort functions by "+strings.Join(profile.CallerSorts, ", "))
	f.BoolVar(&o.csv, "csv", false, "print a CSV row for each call path")
	inGroup(f, "Functions", "functions", "sort", "csv")
	s := &o.structure
	f.BoolVar(&s.structure, "structure", false, "the loops as the trace stores them, by class of ranks")
	f.StringVar(&s.rsd, "rsd", "", "loops of events over all ranks (RSDs, PRSDs), aligned `by` sites or by order")
	f.Lookup("rsd").NoOptDefVal = bySites
	s.precision = 100
	f.Var(toleranceFlag{&s.precision}, "tolerance", "with --rsd=order: trip counts within this `percent` of each other are equal")
	f.BoolVar(&s.sites, "sites", false, "add call sites: function, file and line")
	f.BoolVar(&s.times, "times", false, "add times to --structure")
	s.stream = -1
	f.IntVarP(&s.stream, "thread", "t", -1, "only this thread of each rank")
	inGroup(f, "Stored structure", "structure", "rsd", "tolerance", "sites", "times", "thread")
	window.add(f)
	return cmd
}

func (s *shape) flags(f *pflag.FlagSet) {
	f.IntVar(&s.class, "class", -1, "the tree of this class of ranks, as numbered by spoor info --storage")
	f.BoolVarP(&s.all, "all", "a", false, "the trees of all classes")
	f.StringVar(&s.style, "style", "tree", "`style`: tree; paper or terse: terms of computation and calls; latex: a document of these")
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
		return &usageError{cmd, errors.New("only one of --rank, --class and --all")}
	case set("width") && s.width < 1:
		return &usageError{cmd, fmt.Errorf("--width: %d columns", s.width)}
	}
	return nil
}

// check refuses flags that contradict each other.
func (o *calltreeOptions) check(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	s := &o.structure
	switch {
	case o.json && o.csv:
		return &usageError{cmd, errors.New("only one of --json and --csv")}
	case o.csv && !o.functions, set("sort") && !o.functions:
		return &usageError{cmd, errors.New("--csv and --sort need --functions; spoor profile has a table of call sites")}
	case o.functions && (o.ranks != "" || set("class") || o.all || set("style") || o.fold):
		return &usageError{cmd, errors.New("--functions shows all ranks; leave out --rank, --class, --all, --style and --fold")}
	case (s.sites || s.times || set("thread")) && !s.structure && s.rsd == "":
		return &usageError{cmd, errors.New("--sites, --times and --thread need --structure or --rsd")}
	}
	return o.shape.check(cmd)
}

// runCallers prints a tree of the functions that led to calls.
func runCallers(cmd *cobra.Command, r *trace.Reader, o calltreeOptions) error {
	if !slices.Contains(profile.CallerSorts, o.sort) {
		return &usageError{cmd, fmt.Errorf("--sort %s: the columns are %s", o.sort, strings.Join(profile.CallerSorts, ", "))}
	}
	view, err := o.view(cmd)
	if err != nil {
		return err
	}
	where, named, err := sitesOf(r, o.paths, false)
	if err != nil {
		return err
	}
	f, err := flatOf(cmd, r, named, profile.FlatByStack)
	if err != nil {
		return err
	}
	c := f.Callers()
	c.Sort(o.sort)
	defer where.complain(cmd)
	return o.print(cmd, c, func(w io.Writer) { c.Text(w, view) }, func(w io.Writer, _ show.View) error { c.CSV(w); return nil })
}

// view is what the flags say of lines and their number.
func (o *shape) view(cmd *cobra.Command) (profile.View, error) {
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

func runCalltree(cmd *cobra.Command, r *trace.Reader, o calltreeOptions) error {
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
	var list []*profile.Profile
	var heads []string
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
	for _, rank := range ranks {
		p, err := profile.OfRank(r, rank, calltree.Options{Locate: where.called, Code: c, OwnTimes: o.ranks != ""})
		if err != nil {
			return err
		}
		if there != nil {
			other, err := profile.OfRank(there, rank, calltree.Options{Locate: where.called, Code: c, OwnTimes: true})
			if err == nil {
				err = p.AddPrediction(other, predicted.Machine)
			}
			if err != nil {
				return err
			}
			heads = append(heads, fmt.Sprintf("%s: %s on %s, %s traced\n", r.Name(), ps(predicted.EndPs), predicted.Machine, show.Duration(float64(predicted.TracedNs))))
		}
		list = append(list, p)
	}
	x, err := r.When()
	if err != nil {
		return err
	}
	if err := o.print(cmd, list, func(w io.Writer) {
		o.trees(w, list, heads, view, others, "--class, --rank, --all")
		if text := iterationsText(x); text != "" && o.style == "tree" {
			fmt.Fprintf(w, "\niterations of the loop with most time: %s\n", text)
		}
	}, nil); err != nil {
		return err
	}
	if kept, err := r.Code(); c == nil || kept == nil || err != nil {
		where.complain(cmd) // else the trace knows the places without the binaries
	}
	return nil
}

// trees writes profiles, each with a head if there are heads, and how many others flags show.
func (o *shape) trees(w io.Writer, list []*profile.Profile, heads []string, view profile.View, others int, flags string) {
	for i, p := range list {
		if heads != nil {
			fmt.Fprint(w, heads[i])
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		o.write(w, p, view)
	}
	if others > 0 && o.style != "latex" {
		fmt.Fprintf(w, "\n%s more: %s\n", show.Plural(others, "class"), flags)
	}
}

// styles are those of profile.Style.
var styles = []string{"paper", "terse", "latex"}

// styled checks the style.
func (o *shape) styled(cmd *cobra.Command) error {
	if o.style != "tree" && !slices.Contains(styles, o.style) {
		return &usageError{cmd, fmt.Errorf("--style %s: the styles are tree, paper, terse and latex", o.style)}
	}
	if o.style == "latex" { // one document
		o.all = false
	}
	return nil
}

// write writes a profile in the style.
func (o *shape) write(w io.Writer, p *profile.Profile, view profile.View) {
	if o.style == "tree" {
		p.Text(w, view)
	} else {
		p.Paper(w, profile.Style(slices.Index(styles, o.style)), view)
	}
}

// profiled chooses the ranks to show; others is how many classes are left out.
func profiled(r *trace.Reader, o calltreeOptions) (ranks []int, others int, err error) {
	first := func(class int) int { return r.Members(class)[0] }
	switch {
	case r.Classes() == 0:
		return nil, 0, errors.New("no rank left a track")
	case o.ranks != "":
		if ranks, err = parseList(o.ranks, r.Ranks()); err != nil {
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

// predictFlat puts what a machine would take beside what was measured.
func predictFlat(r *trace.Reader, f *profile.Flat, name string) (*traced.Prediction, error) {
	m, err := machine.Load(name)
	if err != nil {
		return nil, err
	}
	p, err := traced.Predict(r, traced.Options{Machine: m, Sites: true, Progress: func(uint64) {}})
	if err != nil {
		return nil, err
	}
	f.AddPrediction(func(class, terminal int) sites.Prediction {
		if terminal >= len(p.Sites[class]) {
			return sites.Prediction{}
		}
		t := &p.Sites[class][terminal]
		return sites.Prediction{Ns: float64(t.Overhead+t.Wait+t.Transfer+t.Recorded) / 1000, ComputeNs: float64(t.Compute) / 1000}
	})
	return p, nil
}

// predictedTrace is a trace's prediction for a machine, as a trace.
func predictedTrace(r *trace.Reader, name string) (*trace.Reader, *traced.Prediction, error) {
	m, err := machine.Load(name)
	if err != nil {
		return nil, nil, err
	}
	c, p, done, err := retimed(r, traced.Options{Machine: m})
	if err != nil {
		return nil, nil, err
	}
	defer done()
	data, err := sections.Encode(c)
	if err != nil {
		return nil, nil, err
	}
	there, err := trace.NewBytes(data, r.Name()+" on "+p.Machine)
	return there, p, err
}

// printPredictedFlat writes call sites with measured and predicted times, over all ranks.
func printPredictedFlat(w io.Writer, f *profile.Flat, p *traced.Prediction, top show.Limit) {
	fmt.Fprintf(w, "%s: %s on %s, %s traced\n\n", f.Trace, ps(p.EndPs), p.Machine, show.Duration(float64(p.TracedNs)))
	rows, rest := f.WithinLimit(top)
	show.Text(w, rows, 0, func(c *show.Row, x sites.Site) {
		c.Ns("time", x.Time.Sum).Ns("predicted", x.Predicted.Ns).Ns("compute", x.Before.Sum).Ns("predicted", x.Predicted.ComputeNs)
		c.Count("calls", x.Calls).Text("function and place", x.At.Function+" "+x.Place)
	})
	rest.Print(w)
}
