package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/papers/codecs"
	"github.com/spoor-hpc/spoor/papers/goal"
	"github.com/spoor-hpc/spoor/papers/partners"
	"github.com/spoor-hpc/spoor/papers/rounds"
	"github.com/spoor-hpc/spoor/papers/rsd"
	"github.com/spoor-hpc/spoor/papers/terms"
	"github.com/spoor-hpc/spoor/trace"
)

// This file has the verbs of spoor papers. No other file of the tool imports packages of papers/.

func newPapers() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "papers VERB",
		Short: "Use methods of five published systems: RSDs, synthetic loops, codecs, LogGOPS",
		Long: `The papers are those of Pilgrim, CYPRESS, ScalaTrace with preserved time,
Scala-H-Trace, and "Tracing MPI binaries". These verbs are their methods, for
comparison and for experiments. The figures of the papers, and what spoor
measures, are in papers/README.md.`,
		Example: `  spoor papers rsd app.spoor
  spoor papers thin --trip-counts --partners app.spoor
  spoor papers codecs --codec zfp --error 1e-3 app.spoor -o app.zfp.spoor
  spoor papers loggops app.spoor`,
	}
	return ofVerbs(cmd, newRSD(), newStructure(), newThin(), newCodecs(), newTerms(), newGOAL(), newLogGOPS(), newDerived(), newPass())
}

// Values of spoor papers rsd --align.
const (
	bySites = "sites"
	byOrder = "order"
)

type rsdOptions struct {
	align, ranks string
	precision    int
	thread       int
	sites, json  bool
	paths        []string
}

func newRSD() *cobra.Command {
	o := rsdOptions{precision: 100}
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "rsd [flags] [TRACE]",
		Short: "Print loops of events over all ranks (RSDs and PRSDs), as ScalaTrace does",
		Long: `A loop (RSD) has calls, or loops again (PRSD), with the ranks that make them and
parameters as values, ranges or differences to the rank. Ranks are aligned by
call sites, or with --align order by the order of their calls, as in the paper.
More: papers/rsd.md`,
		Example: `  spoor papers rsd app.spoor
  spoor papers rsd --align order --tolerance 5% --sites app.spoor`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error { return runRSD(cmd, r, &o) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.align, "align", bySites, "`how`: match the calls of ranks by sites or by order")
	f.Var(toleranceFlag{&o.precision}, "tolerance", "with --align order: trip counts within this `percent` of each other are equal")
	f.StringVarP(&o.ranks, "rank", "r", "", "only these `ranks`: 0,4-7,10-")
	f.IntVarP(&o.thread, "thread", "t", -1, "only this thread of each rank")
	f.BoolVar(&o.sites, "sites", false, "add call sites: function, file and line")
	jsonFlag(f, &o.json)
	debugPathFlag(f, &o.paths)
	window.add(f)
	return cmd
}

func runRSD(cmd *cobra.Command, r *trace.Reader, o *rsdOptions) error {
	switch {
	case o.align != bySites && o.align != byOrder:
		return &usageError{cmd, fmt.Errorf("--align %s: ranks are aligned by sites or order", o.align)}
	case cmd.Flags().Changed("tolerance") && o.align != byOrder:
		return &usageError{cmd, errors.New("--tolerance needs --align order")}
	}
	ranks, err := parseList(o.ranks, r.Ranks())
	if err != nil {
		return &usageError{cmd, fmt.Errorf("--rank: %w", err)}
	}
	missing := slices.DeleteFunc(slices.Clone(ranks), func(rank int) bool { return r.ClassOf(rank) >= 0 })
	whole := slices.DeleteFunc(ranks, func(rank int) bool { return r.ClassOf(rank) < 0 })
	places := newPlaces(o.paths)
	where := func(s trace.Site) string { return s.String() }
	if o.sites {
		if err := places.tellApart(r, true); err != nil {
			return err
		}
		where = func(s trace.Site) string {
			var list []string
			for _, f := range s.Frames() {
				list = append(list, places.text(f))
			}
			return strings.Join(list, " < ")
		}
	}
	var nests []*rsd.Nests
	if o.align == byOrder {
		nests, err = rsd.ByOrder(r, whole, o.precision)
	} else {
		nests, err = rsd.BySites(r, whole)
	}
	if errors.Is(err, rsd.ErrTooFewLoops) {
		return fmt.Errorf("%s: %w: try a higher --tolerance, or --align sites", r.Name(), err)
	} else if err != nil {
		return err
	}
	err = buffered(cmd.OutOrStdout(), func(w io.Writer) error {
		for _, n := range nests {
			if o.thread >= 0 && n.Thread != o.thread {
				continue
			}
			if !o.json {
				n.WriteText(w, where)
			} else if err := json.NewEncoder(w).Encode(n.JSON(where)); err != nil {
				return err
			}
		}
		return nil
	})
	places.complain(cmd)
	if len(missing) > 0 {
		complain(cmd, fmt.Errorf("%s: no track of rank %s", r.Name(), show.FormatRanges(missing)))
	}
	if err == nil && len(whole) == 0 && len(missing) > 0 {
		err = exitCode(1)
	}
	return err
}

// synthesis is what spoor papers thin does to a trace in addition to spoor reduce, as its flags say.
type synthesis struct {
	tripCounts, partners, order bool
	seed                        uint64

	who     *partners.PartnerDrawer
	ordered bool // --order was given, but changes nothing: requests complete in that order already
}

func newThin() *cobra.Command {
	o := reduceOptions{synthetic: new(synthesis)}
	cmd := newReduceOf(&o)
	cmd.Use = "thin [flags] [TRACE]"
	cmd.Short = "Make a trace of nearly constant size: synthetic trip counts and messages"
	cmd.Long = `As in Scala-H-Trace, this is lossier than spoor reduce, which merges sizes. With
--trip-counts the trip counts of similar loops become synthetic, and with
--partners messages with random-looking destinations: numbers drawn from their
distribution. With --order, consecutive calls complete requests in array order.
Sends and receives still match. Times become means.
spoor info lists what is synthetic.
More: papers/thin.md`
	cmd.Example = `  spoor papers thin --trip-counts app.spoor
  spoor papers thin --trip-counts --partners --order app.spoor -o small.spoor
  spoor papers thin --partners --budget 100K --seed 7 app.spoor`
	f := cmd.Flags()
	s := o.synthetic
	f.BoolVar(&s.tripCounts, "trip-counts", false, "make trip counts of similar loops synthetic; with --budget only if sizes are not enough")
	f.BoolVar(&s.partners, "partners", false, "make messages with random-looking destinations synthetic; with --budget only if nothing else is enough")
	f.BoolVar(&s.order, "order", false, "make requests complete in array order, and leave out tests that found nothing")
	f.Uint64Var(&s.seed, "seed", 1, "seed `N` of the random numbers")
	return cmd
}

// passes returns how often a reduction goes over the ranks at most, for the progress display; without is that number
// for a reduction without synthesis.
func (s *synthesis) passes(without int) int {
	if s != nil && s.partners {
		return 3 * without
	}
	return without
}

// add sets what the reduction of r needs for the synthesis in its options o. progress is called with numbers of further
// ranks that have been processed.
func (s *synthesis) add(r *trace.Reader, o *reduce.Options, progress func(ranks int)) error {
	if s == nil {
		return nil
	}
	if s.tripCounts {
		precision := o.PrecisionPercent
		o.NewTripCountDrawer = func(r *trace.Reader) reduce.TripCountDrawer {
			return rounds.New(r, rounds.Options{PrecisionPercent: precision, Seed: s.seed})
		}
	}
	from := r
	if s.order {
		var err error
		if from, err = reduce.OrderCompletions(r, progress); err != nil {
			return err
		}
		if s.ordered = from == r; !s.ordered {
			o.OrderedTrace = from
		}
	}
	if s.partners {
		s.who = partners.New(from, s.seed, progress)
		o.PartnerDrawer = s.who
	}
	return nil
}

// stays lists, as sentences for the user, what could not be made synthetic in a reduction, and why.
func (s *synthesis) stays(x *reduce.ReducedTrace) (list []string) {
	if s == nil {
		return nil
	}
	if s.ordered {
		list = append(list, "the order of requests stays: it is that of their arrays, or another call lies between")
	}
	if d, ok := x.TripCountDrawer.(*rounds.TripCountDrawer); ok {
		if text := keptText(d.KeptReasons(), "of", "run"); text != "" {
			list = append(list, "trip counts that stay: "+text)
		}
	}
	if s.who != nil {
		kept := s.who.KeptReasons()
		if x.PartnersNotWorthwhile {
			kept = append(kept, reduce.KeptReason{Why: "the trace would be no smaller"})
		}
		if text := keptText(kept, "in", "interval"); text != "" {
			list = append(list, "messages that stay: "+text)
		}
	}
	return list
}

type codecOptions struct {
	timing.Options
	errors      []string
	ranks       string
	codecs      []string
	folder, out string
	force       bool
	output
}

func newCodecs() *cobra.Command {
	var o codecOptions
	var names []string
	for _, c := range series.Codecs() {
		names = append(names, c.Name())
	}
	cmd := &cobra.Command{
		Use:   "codecs [flags] [TRACE]",
		Short: "Compare Pilgrim's codecs on the times of a trace, or write it with one of them",
		Long: `The trace needs --timing lossless. raw is 8 bytes a time; zstd and lossless are
exact; place is spoor's own; cfg, hist-sig (its HIST), sz, zfp and the variants
by signature (-sig) are those of the Pilgrim paper. All lossy codecs have the
same error bound. With --output the trace is written with the times in the codec
that --codec names; every verb reads it.

  ratio      compared with 8 bytes a time, of gaps and durations
  PSNR       range of the times over their root mean square error, in decibels
  max error  largest error of a time, as a share of it and as a time
  ns         processor time per value
  write      time until the coded times are on the disk, in the folder of TRACE
             or of --write-to; the file is removed again
More: papers/codecs.md`,
		Example: `  spoor papers codecs app.spoor
  spoor papers codecs app.spoor --error 0.01 --error MPI_Waitall=0.2
  spoor papers codecs app.spoor --error 10us --codec place,zfp
  spoor papers codecs --codec zfp --error 1e-3 app.spoor -o app.zfp.spoor`,
		Args: aTrace,
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error { return runCodecs(cmd, r, o) }),
	}
	f := cmd.Flags()
	f.StringSliceVarP(&o.errors, "error", "e", nil, "error `bound`: a share (5%) or a time (10us); FUNCTION=BOUND for one function (default 10%)")
	f.IntVar(&o.Bins, "bins", 0, "bins of hist-sig, 2 to 256 (default 8)")
	f.IntVar(&o.SampleCalls, "sample", 0, "calls that choose the bins of hist-sig (default 100)")
	f.StringVarP(&o.ranks, "rank", "r", "", "only these `ranks`: 0,4-7,10-")
	f.StringSliceVar(&o.codecs, "codec", nil, "only these `codecs`: "+strings.Join(names, ", "))
	f.StringVar(&o.folder, "write-to", "", "measure writing in this `folder` (default that of TRACE)")
	f.StringVarP(&o.out, "output", "o", "", "write the trace with times in one codec to this `file`")
	forceFlag(f, &o.force)
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func runCodecs(cmd *cobra.Command, r *trace.Reader, o codecOptions) error {
	chosen := series.Codecs()
	if len(o.codecs) > 0 {
		chosen = nil
		for _, name := range o.codecs {
			c, err := series.CodecNamed(name)
			if err != nil {
				return &usageError{cmd, fmt.Errorf("--codec: %w", err)}
			}
			chosen = append(chosen, c)
		}
	}
	if err := parseErrors(&o.Options, o.errors); err != nil {
		return &usageError{cmd, err}
	}
	if err := checkBins(&o.Options); err != nil {
		return &usageError{cmd, err}
	}
	if err := r.RequireTimes(); err != nil {
		return err
	}
	if o.out != "" {
		return writeCoded(cmd, r, &o)
	}
	if o.force {
		return &usageError{cmd, errors.New("--force is for the file that --output names")}
	}
	ranks, err := parseList(o.ranks, r.Ranks())
	if err != nil {
		return &usageError{cmd, fmt.Errorf("--rank: %w", err)}
	}
	ranks = slices.DeleteFunc(ranks, func(rank int) bool { return r.ClassOf(rank) < 0 })
	p := newProgress(cmd.ErrOrStderr(), "ranks coded", len(ranks))
	results, err := codecs.Measure(r, ranks, chosen, &o.Options, cmp.Or(o.folder, filepath.Dir(r.Name())), p.step)
	p.end()
	if err != nil {
		return err
	}
	return o.print(cmd, codecs.JSON(r, &o.Options, results), func(w io.Writer) { codecs.Text(w, &o.Options, len(ranks), results) }, nil)
}

// writeCoded writes a copy of the trace whose times are encoded with the codec that --codec names.
func writeCoded(cmd *cobra.Command, r *trace.Reader, o *codecOptions) error {
	if name := given(cmd, "rank", "write-to"); name != "" {
		return &usageError{cmd, fmt.Errorf("--%s is for comparing codecs; --output writes all ranks", name)}
	}
	if len(o.codecs) != 1 {
		return &usageError{cmd, errors.New("--output needs the name of one codec: --codec zfp")}
	}
	if o.Mode = timing.Mode(o.codecs[0]); !slices.Contains(timing.Modes, o.Mode) {
		return &usageError{cmd, fmt.Errorf("--codec %s is for comparison; traces have no times in it", o.Mode)}
	}
	if len(o.errors) > 0 && !o.Mode.IsLossy() {
		return &usageError{cmd, fmt.Errorf("--error: %s is exact", o.Mode)}
	}
	p := newProgress(cmd.ErrOrStderr(), "ranks coded", r.Ranks())
	size, err := written(o.out, codecs.Recode(r, o.Options, o.out, o.force, p.step))
	p.end()
	if err != nil {
		return err
	}
	return o.print(cmd, map[string]any{"trace": o.out, "codec": o.Mode, "bytes": size, "bytes_before": r.Size()}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s, %s before: times in %s\n", o.out, show.FormatBytes(size), show.FormatBytes(r.Size()), o.Mode)
	}, nil)
}

// styles are the values of --style: names of the values of terms.Style, in their order.
var styles = []string{"detailed", "terse", "latex"}

func newTerms() *cobra.Command {
	var o shape
	var ranks, style string
	var paths []string
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "terms [flags] [TRACE]",
		Short: "Write the call tree as terms of computation and calls, as text or LaTeX",
		Long: `The terms are those of Grosclaude et al., "Tracing MPI binaries for knowledge
discovery": a call, the computation before it, and loops as (…)[trip count],
with times in µs. Loops come from the order of calls, as in the paper.`,
		Example: `  spoor papers terms app.spoor
  spoor papers terms --style terse --rank 3 app.spoor
  spoor papers terms --style latex app.spoor >app.tex && pdflatex app.tex`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			at := slices.Index(styles, style)
			if at < 0 {
				return &usageError{cmd, fmt.Errorf("--style %s: the styles are %s", style, strings.Join(styles, ", "))}
			}
			if err := o.check(cmd); err != nil {
				return err
			}
			if style == "latex" { // terms of all classes would be several documents in one output
				o.all = false
			}
			view, err := o.view(cmd)
			if err != nil {
				return err
			}
			chosen, others, err := profiled(r, &o, ranks)
			if err != nil {
				return &usageError{cmd, err}
			}
			where, err := placesOf(r, paths)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for i, rank := range chosen {
				p, err := profile.RankProfile(r, rank, calltree.Options{Locate: where.called, OwnTimes: ranks != ""})
				if err != nil {
					return err
				}
				if i > 0 {
					fmt.Fprintln(out)
				}
				terms.Write(out, p, terms.Style(at), view)
			}
			if others > 0 && style != "latex" {
				fmt.Fprintf(out, "\n%s more: --class, --rank, --all-ranks\n", show.FormatPlural(others, "class"))
			}
			where.complain(cmd)
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&ranks, "rank", "r", "", "the terms of these `ranks`: 0,4-7")
	o.flags(f)
	f.StringVar(&style, "style", styles[0], "`style`: detailed, with times within loops; terse, without; latex, a document")
	debugPathFlag(f, &paths)
	window.add(f)
	return cmd
}

func newGOAL() *cobra.Command {
	o := exportOptions{to: goalFormat}
	cmd := &cobra.Command{
		Use:   "goal [flags] [TRACE]",
		Short: "Write a trace as a GOAL schedule, for LogGOPSim, ATLAHS and papers loggops",
		Long: `Computation becomes calculations in ns, collectives become the messages that they
are made of. spoor lists what a schedule cannot express.`,
		Example: `  spoor papers goal app.spoor
  spoor papers goal app.spoor -o stencil.goal && spoor papers loggops stencil.goal`,
		Args: aTrace,
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error { return runExport(cmd, o, r) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "write to this `file` (default NAME.goal)")
	forceFlag(f, &o.force)
	f.BoolVar(&o.json, "json", false, "print what was written as JSON")
	return cmd
}

func newLogGOPS() *cobra.Command {
	p := goal.DefaultParameters
	var o output
	cmd := &cobra.Command{
		Use:   "loggops [flags] TRACE|SCHEDULE",
		Short: "Simulate a trace or a GOAL schedule by the rules of LogGOPSim",
		Long: `A SCHEDULE is a GOAL file of LogGOPSim's tools (also .gz). A trace is simulated
as the schedule that papers goal writes. All times are in ns. spoor simulate has
more of a machine: its topology, protocols and collectives.
More: papers/loggops.md`,
		Example: `  spoor papers loggops app.spoor
  spoor papers loggops -L 1200 --overhead 300 -g 400 -G 1 -S 16384 stencil.goal.gz`,
		Args: exactly(1, "one trace or schedule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := scheduleOf(args[0])
			if err != nil {
				return err
			}
			r, err := goal.Simulate(s, p)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return o.print(cmd, loggopsJSON{p, s.Ranks(), len(s.Ops), r.Events, slices.Max(append(r.End, 0)), r.End}, func(w io.Writer) {
				for rank, end := range r.End {
					fmt.Fprintf(w, "Host %d: %d\n", rank, end) // as the simulator LogGOPSim prints it
				}
			}, nil)
		},
	}
	f := cmd.Flags()
	f.Uint64VarP(&p.Latency, "latency", "L", p.Latency, "latency of a message, a `time` in ns")
	f.Uint64Var(&p.Overhead, "overhead", p.Overhead, "CPU overhead per message at both ends, a `time` in ns")
	f.Uint64VarP(&p.MessageGap, "message-gap", "g", p.MessageGap, "NIC gap per message, a `time` in ns")
	f.Uint64VarP(&p.ByteGap, "byte-gap", "G", p.ByteGap, "NIC gap per byte, a `time` in ns")
	f.Uint64VarP(&p.ByteOverhead, "byte-overhead", "O", p.ByteOverhead, "CPU overhead per byte, a `time` in ns")
	f.Uint64VarP(&p.Eager, "eager", "S", p.Eager, "size in `bytes` up to which a message does not wait for its receive")
	jsonFlag(f, &o.json)
	return cmd
}

type loggopsJSON struct {
	Parameters goal.Parameters `json:"parameters"`
	Ranks      int             `json:"ranks"`
	Operations int             `json:"operations"`
	Events     uint64          `json:"events"` // number of operations and messages
	End        uint64          `json:"end"`    // when the last rank ends, in ns
	Ends       []uint64        `json:"ends"`   // when each rank ends, in ns, by rank
}

// scheduleOf reads a file that is a schedule in GOAL's format, or makes a schedule from a trace.
func scheduleOf(path string) (*goal.Schedule, error) {
	if !isTrace(path) {
		return goal.Open(path)
	}
	r, err := openTrace(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	calls, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, FindBytesPerMember: true})
	if err != nil {
		return nil, err
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(traced.WriteGOAL(calls, out)) }()
	s, err := goal.Read(in, path)
	in.CloseWithError(err) // ends the writing goroutine if reading failed early
	return s, err
}

func newDerived() *cobra.Command {
	cmd := newReplayOf(derivedReceives)
	cmd.Short = "Replay a trace with receives that follow from the messages sent"
	cmd.Long = `Traces of papers thin have synthetic loops and messages, whose receives are not
those of the run. As in Scala-H-Trace, each rank goes through the sends of all
ranks, and receives each message for it. All other flags are those of replay.
More: papers/thin.md`
	cmd.Example = `  spoor papers thin --trip-counts app.spoor -o thin.spoor && spoor papers replay thin.spoor
  spoor papers replay --most-calls 0 app.spoor`
	return cmd
}

func newPass() *cobra.Command {
	var compiler string
	var plugin bool
	cmd := &cobra.Command{
		Use:   "pass --flag COMPILER | --plugin",
		Short: "Print the compiler flag that counts loop iterations, and the plugin that reads them",
		Long: `The flag makes clang or flang count the iterations of loops around MPI calls, as
CYPRESS does, for spoor run --plugin. COMPILER is its name (clang-19,
flang-new-16) or a wrapper (mpicc). Nothing has to be linked, and the program
behaves the same with and without spoor. The compiler plugins are built by
"make pass" for each installed LLVM. GCC has none; spoor calltree takes loops
from the machine code.
More: papers/pass.md`,
		Example: `  clang-19 -O2 -g $(spoor papers pass --flag clang-19) -c solver.c
  mpicc -O2 -g $(spoor papers pass --flag mpicc) -o app app.c
  spoor run --plugin $(spoor papers pass --plugin) mpirun -n 4 ./app`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var text string
			switch {
			case plugin == (compiler != ""):
				return &usageError{cmd, errors.New("name a compiler, --flag clang-19, or give --plugin")}
			case plugin:
				text, err = findLibrary("libspoor-rounds.so")
			default:
				text, err = passFlag(compiler)
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&compiler, "flag", "", "print the flag for this `compiler`")
	cmd.Flags().BoolVar(&plugin, "plugin", false, "print the path of the plugin for spoor run --plugin")
	return cmd
}

// llvm matches what clang and flang print for --version; the group is the major version.
const llvm = `(?:clang|flang|flang-new) version (\d+)\.`

// passFlag returns the flag that has a compiler, clang or flang, load spoor's plugin for its version of LLVM.
func passFlag(compiler string) (string, error) {
	out, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", compiler, err)
	}
	version := regexp.MustCompile(llvm).FindSubmatch(out)
	if version == nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return "", fmt.Errorf("%s is neither clang nor flang: it says %q", compiler, first)
	}
	path, err := findLibrary(fmt.Sprintf("spoor-pass-%s.so", version[1]))
	if err != nil {
		return "", fmt.Errorf("no plugin for LLVM %s: install llvm-%s-dev and build it with make pass", version[1], version[1])
	}
	return "-fpass-plugin=" + path, nil
}
