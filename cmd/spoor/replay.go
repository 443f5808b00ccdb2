package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

type replayOptions struct {
	launcher  string
	mpi       string
	library   string
	speed     float64
	noCompute bool
	pace      string
	timeout   time.Duration
	files     string
	original  bool
	partial   bool
	receives  string
	mostCalls uint64
	record    string
	force     bool
	output
	quiet bool
	io    string // which calls on files the trace has, as spoor run --io says it
}

// Which receives are made.
const (
	recordedReceives = "recorded"
	derivedReceives  = "derived" // one for each message that is sent
)

func newReplay() *cobra.Command { return newReplayOf(recordedReceives) }

func newReplayOf(receives string) *cobra.Command {
	o := replayOptions{speed: 1, pace: string(replay.PaceLine), timeout: 5 * time.Minute, receives: receives, mostCalls: 20_000_000}
	cmd := &cobra.Command{
		Use:   "replay [flags] [TRACE]",
		Short: "Run the MPI calls of a trace again on a real MPI, with the same timing",
		Long: `spoor starts the ranks of the trace. They make the same calls with the same
parameters, random content, and the recorded computation in between as waiting.
Receives from any source get the message they got; tests fail as often as they
did. Files are opened in a scratch folder only.

No call begins earlier than in the original. With --pace gaps each
call begins when the gap after the call before is over, which shows what another
MPI or machine changes. The report compares the time in MPI of each rank with
the original's. Calls that cannot be replayed (spawned processes, ports, …) are
listed, and nothing is started. For a recovered trace use --partial.
More: docs/replay.md`,
		Example: `  spoor replay app.spoor
  spoor replay --mpi mpich --pace gaps app.spoor
  spoor replay --launcher 'srun -n {n}' --mpi openmpi app.spoor
  spoor replay -o again.spoor app.spoor && spoor diff --any-address app.spoor again.spoor`,
		Args: aTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := named(cmd, args)
			if err != nil {
				return err
			}
			return runReplay(cmd, o, path)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.launcher, "launcher", "", "`command`: how to start {n} ranks (default: the mpiexec of the trace's MPI, or another)")
	f.StringVar(&o.mpi, "mpi", "", "`name`: the MPI to use: openmpi, mpich or abi (default: the trace's, or another)")
	f.StringVar(&o.library, "library", "", "`file`: the MPI library to load (default: the launcher's)")
	f.Float64Var(&o.speed, "speed", o.speed, "speed up computation by `factor`")
	f.BoolVar(&o.noCompute, "no-compute", false, "leave out the time between calls")
	f.StringVar(&o.pace, "pace", o.pace, "`pace`: when calls begin: gaps, after the recorded gap; original, also not before their recorded time")
	f.DurationVar(&o.timeout, "timeout", o.timeout, "end the replay if a call takes longer than this; 0: never")
	f.StringVar(&o.files, "files", "", "keep the files in this `folder` (default: a scratch folder)")
	f.BoolVar(&o.original, "original-files", false, "open MPI-IO's files where the program had them, and overwrite them")
	if receives == derivedReceives { // what is sent to calls that never returned is not known
		f.Uint64Var(&o.mostCalls, "most-calls", o.mostCalls, "refuse traces with more calls; 0: none")
	} else {
		f.BoolVar(&o.partial, "partial", false, "for a program that did not finish: make the calls that all ranks reached")
	}
	forceFlag(f, &o.force)
	f.StringVarP(&o.record, "output", "o", "", "trace the replay into this `file`")
	f.BoolVar(&o.json, "json", false, "print the report as JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no report")
	return cmd
}

func runReplay(cmd *cobra.Command, o replayOptions, path string) error {
	if o.speed <= 0 {
		return fmt.Errorf("--speed %g: must be above 0", o.speed)
	}
	if _, err := replay.PaceNamed(o.pace); err != nil {
		return fmt.Errorf("--%w", err)
	}
	r, err := openTrace(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if !r.HasTimes() {
		// There is nothing to pace the calls by.
		if f := cmd.Flags(); f.Changed("pace") || f.Changed("speed") {
			return r.NeedTimes()
		}
		o.noCompute = true
	}
	program, library, err := reissue.HasFiles(r)
	switch {
	case err != nil:
		return err
	case program && o.original:
		return errors.New("--original-files is for MPI-IO: calls of the C library on files are made in a scratch directory only")
	case library:
		o.io = "all"
	case program:
		o.io = "app"
	}
	runner, err := findRunner(o, r.Meta()[trace.MetaMPI])
	if err != nil {
		return err
	}
	replayer, dir, err := findReplayer()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cfg, err := o.config(path, dir, runner)
	if err != nil {
		return err
	}
	target, err := probe(replayer, dir, *cfg, r)
	if err != nil {
		return err
	}
	obstacles, err := reissue.Obstacles(r, target)
	if err != nil {
		return err
	}
	if obstacles, cfg.Windows, err = reissue.WithoutAddressObstacles(r, obstacles); err != nil {
		return err
	}
	obstacles = slices.DeleteFunc(obstacles, replay.CanOvercome)
	if o.partial {
		if cfg.Ends, err = reissue.FindEnds(r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		obstacles = slices.DeleteFunc(obstacles, reissue.Obstacle.AtEnd)
	}
	if cfg.Derived {
		more, err := replay.DeriveObstacles(r)
		if err != nil {
			return err
		}
		obstacles = append(obstacles, more...)
	}
	if len(obstacles) > 0 {
		err := refuse(cmd.ErrOrStderr(), obstacles)
		if slices.ContainsFunc(obstacles, reissue.Obstacle.AtEnd) {
			err = fmt.Errorf("%w; --partial goes as far as the program came", err)
		}
		return err
	}
	if cfg.Derived {
		if err := o.checkOrder(r, target); err != nil {
			return err
		}
	}
	// A call that another rank's missing one should meet would wait until --timeout ends the replay. Which receives are made is
	// another question where they are derived, or where the program did not end.
	recorded := !cfg.Derived && !o.partial
	total, err := totalCalls(r)
	if err != nil {
		return err
	}
	if recorded && total <= expandable {
		if err := hang.Missing(r, false, nil); err != nil {
			return fmt.Errorf("%s: %w; nothing was started", path, err)
		}
	}
	file := filepath.Join(dir, "config")
	if err := cfg.Write(file); err != nil {
		return err
	}
	vars := []launch.Var{{Name: replay.ConfigVar, Value: file}}
	args := runner.Args(r.Ranks(), replayer)
	began := time.Now()
	code, err := startReplay(cmd, o, runner.Launcher, args, vars)
	wall := time.Since(began)
	if err != nil {
		return err
	}
	if code != 0 && recorded {
		if err := hang.Missing(r, true, nil); errors.Is(err, hang.ErrMissing) {
			return fmt.Errorf("%s: %w; the replay ended with code %d", path, err, code)
		}
	}
	if code != 0 {
		return fmt.Errorf("%s ended with code %d; nothing to report", strings.Join(args, " "), code)
	}
	if o.quiet {
		return nil
	}
	return reportReplay(cmd, o, r, runner, dir, wall)
}

// checkOrder goes through all calls once, as each rank will, to see that there is an order of them.
func (o replayOptions) checkOrder(r *trace.Reader, target reissue.Target) error {
	calls, err := totalCalls(r)
	if err != nil {
		return err
	}
	if o.mostCalls > 0 && calls > o.mostCalls {
		return fmt.Errorf("each rank would go through all %s calls; --most-calls %d allows it", show.Grouped(calls), calls)
	}
	s, err := replay.CheckOrder(r)
	if err == nil && s.Largest > math.MaxInt32 && !target.Has(replay.LargeReceiveName) {
		err = fmt.Errorf("the largest message has %d bytes, and this MPI has no %s", s.Largest, replay.LargeReceiveName)
	}
	if err != nil {
		return fmt.Errorf("receives can't be derived: %w", err)
	}
	return nil
}

// totalCalls counts the calls of all ranks.
func totalCalls(r *trace.Reader) (calls uint64, err error) {
	for k, err := range r.Tracks() {
		if err != nil {
			return 0, err
		}
		calls += k.Total()
	}
	return calls, nil
}

// checkMPI refuses what --mpi can't be.
func checkMPI(name string) error {
	if _, ok := mpi.FlavourNamed(name); ok || name == "" {
		return nil
	}
	return fmt.Errorf("--mpi %s: must be openmpi, mpich or abi", name)
}

// findRunner chooses the MPI: what the user said, else the trace's, else any.
func findRunner(o replayOptions, traced string) (*launch.Runner, error) {
	var r *launch.Runner
	err := checkMPI(o.mpi)
	if err != nil {
		return nil, err
	}
	switch {
	case o.launcher != "":
		r, err = launch.Parse(o.launcher, o.mpi)
	case o.mpi == "abi":
		return nil, errors.New("--mpi abi: many MPIs serve it; say with --launcher 'mpiexec -n {n}' which")
	case o.mpi != "":
		r, err = launch.Find(o.mpi)
	case traced == "mpich":
		r, err = launch.Find("mpich", "openmpi")
	default:
		r, err = launch.Find("openmpi", "mpich")
	}
	if err == nil && o.library != "" {
		r.Libraries = []string{o.library}
	}
	return r, err
}

// findReplayer finds the program that ranks run, and makes a directory for its input and output.
func findReplayer() (path, dir string, err error) {
	if path, err = findLibrary("spoor-replay"); err != nil {
		return "", "", err
	}
	dir, err = replayDir()
	return path, dir, err
}

// replayDir makes a directory that ranks on other nodes see too: the working
// directory's file system is mostly shared, /tmp is not.
func replayDir() (string, error) {
	if wd, err := os.Getwd(); err == nil {
		if dir, err := os.MkdirTemp(wd, ".spoor-replay-"); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "spoor-replay-")
}

func (o replayOptions) config(path, dir string, runner *launch.Runner) (*replay.Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	cfg := &replay.Config{
		Trace: abs, Libraries: runner.Libraries, Reports: dir, Timeout: o.timeout, Derived: o.receives == derivedReceives,
		Options: replay.Options{Speed: o.speed, NoCompute: o.noCompute, Pace: replay.Pace(o.pace)},
	}
	switch {
	case o.original && o.files != "":
		return nil, errors.New("--files and --original-files exclude each other")
	case o.original:
		return cfg, nil
	case o.files != "":
		cfg.Files, err = filepath.Abs(o.files)
	default:
		cfg.Files = filepath.Join(dir, "files")
	}
	if err != nil {
		return nil, err
	}
	return cfg, os.MkdirAll(cfg.Files, 0o777)
}

// probe asks the replayer what the MPI at hand is and has.
func probe(replayer, dir string, cfg replay.Config, r *trace.Reader) (reissue.Target, error) {
	for _, f := range r.Schema() {
		cfg.Probe = append(cfg.Probe, f.Name)
	}
	cfg.Probe = append(cfg.Probe, replay.LargeReceiveName)
	file := filepath.Join(dir, "probe")
	if err := cfg.Write(file); err != nil {
		return reissue.Target{}, err
	}
	c := exec.Command(replayer)
	c.Env = append(os.Environ(), replay.ConfigVar+"="+file)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return reissue.Target{}, fmt.Errorf("%s: %w\n%s", replayer, err, strings.TrimSpace(stderr.String()))
	}
	var p replay.ProbeResult
	if err := json.Unmarshal(out, &p); err != nil {
		return reissue.Target{}, fmt.Errorf("%s: %w", replayer, err)
	}
	missing := make(map[string]bool)
	for _, name := range p.Missing {
		missing[name] = true
	}
	return reissue.Target{Flavour: p.Flavour, Has: func(name string) bool { return !missing[name] }}, nil
}

// refuse lists why the trace can't be replayed.
func refuse(w io.Writer, obstacles []reissue.Obstacle) error {
	var calls uint64
	for i, o := range obstacles {
		calls += o.Calls
		if i < 20 {
			fmt.Fprintf(w, "spoor: %v\n", o)
		}
	}
	return fmt.Errorf("%s can't be made again; nothing was started", show.Plural(calls, "call"))
}

// startReplay starts the ranks, traced if the user wants.
func startReplay(cmd *cobra.Command, o replayOptions, l launch.Launcher, args []string, vars []launch.Var) (int, error) {
	if o.record == "" {
		argv, env := launch.Command(l, args, vars)
		return launch.Run(argv, env)
	}
	ro := runOptions{out: o.record, force: o.force, quiet: true, io: fileOptions{whose: o.io}}
	shim, err := findLibrary(ro.io.library())
	if err != nil {
		return 0, err
	}
	out, err := outputPath(ro, "")
	if err != nil {
		return 0, err
	}
	scratch, err := makeScratch("", "")
	if err != nil {
		return 0, err
	}
	defer os.Remove(scratch) // if it is empty
	if o.force {
		if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
	}
	old := tracesOf(out)
	argv, env := launch.Command(l, args, append(vars, rankVars(ro, shim, out, scratch)...))
	code, err := launch.Run(argv, env)
	if err != nil {
		return 0, err
	}
	return code, report(cmd.ErrOrStderr(), ro, old, out, scratch, ending{program: args[len(args)-1], launcher: l, code: code, args: args})
}

// A replayReport is what `spoor replay --json` prints; times are in nanoseconds.
type replayReport struct {
	Trace    string       `json:"trace"`
	Timeless bool         `json:"no_times,omitempty"` // the trace has none: the original's are 0
	Files    bool         `json:"files,omitempty"`    // time in MPI is that in calls on files, too
	MPI      string       `json:"mpi"`
	Launcher string       `json:"launcher"`
	Ranks    []replayRank `json:"ranks"`
	Wall     int64        `json:"wall_ns"`          // from when all ranks were in MPI_Init on: that of the longest rank
	Original int64        `json:"original_wall_ns"` // the same of the traced run
	Job      int64        `json:"job_ns"`           // start and end of the ranks included
}

type replayRank struct {
	replay.Report
	Original replayTimes `json:"original"`
}

// replayTimes are those of the traced run. In calls and between them they are sums over the calls of the rank's threads.
type replayTimes struct {
	Wall          int64 `json:"wall_ns"`
	MPI           int64 `json:"mpi_ns"`
	MPIWithin     int64 `json:"mpi_within_ns"`
	Compute       int64 `json:"compute_ns"`
	ComputeWithin int64 `json:"compute_within_ns"`
	Known         bool  `json:"known"` // they are the rank's own, not its part in what ranks like it spent
}

func reportReplay(cmd *cobra.Command, o replayOptions, r *trace.Reader, runner *launch.Runner, dir string, job time.Duration) error {
	rep, err := readReports(r, dir)
	if err != nil {
		return err
	}
	rep.Files = o.io != ""
	rep.MPI, rep.Launcher, rep.Job = runner.Flavour, strings.Join(runner.Line, " "), int64(job)
	return o.print(cmd, rep, func(w io.Writer) { printReplay(w, rep) }, nil)
}

// readReports joins what ranks wrote with what the trace says of them.
func readReports(r *trace.Reader, dir string) (*replayReport, error) {
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	spent := make(map[int]efficiency.RankTotals)
	if r.HasTimes() {
		list, err := efficiency.TotalsByRank(r, efficiency.Options{})
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			spent[x.Rank] = x
		}
	}
	rep := &replayReport{Trace: r.Name(), Timeless: !r.HasTimes()}
	for rank := range r.Ranks() {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("rank.%d", rank)))
		if err != nil {
			return nil, fmt.Errorf("report of rank %d: %w; do all nodes see this directory?", rank, err)
		}
		var x replayRank
		if err := json.Unmarshal(b, &x.Report); err != nil {
			return nil, fmt.Errorf("report of rank %d: %w", rank, err)
		}
		p := procs.At(rank)
		span, of := p.SpanNs+p.OffNs(), spent[rank]
		x.Original = replayTimes{
			Wall: span, MPI: int64(of.MPI.Ns), MPIWithin: int64(of.MPI.ErrorNs), Compute: int64(of.Compute.Ns), ComputeWithin: int64(of.Compute.ErrorNs),
			Known: of.MPI.Known && of.Compute.Known,
		}
		rep.Original = max(rep.Original, span)
		rep.Ranks = append(rep.Ranks, x)
	}
	reports := make([]*replay.Report, len(rep.Ranks))
	for i := range reports {
		reports[i] = &rep.Ranks[i].Report
	}
	replay.SubtractInitWait(reports)
	for _, x := range reports {
		rep.Wall = max(rep.Wall, x.Wall)
	}
	return rep, nil
}

func printReplay(w io.Writer, rep *replayReport) {
	seconds := func(ns int64) string { return show.Duration(float64(ns)) }
	fmt.Fprintf(w, "%s: %s replayed with %s\n", rep.Trace, show.Plural(len(rep.Ranks), "rank"), rep.Launcher)
	in := "in MPI"
	if rep.Files {
		in = "in calls"
	}
	if rep.Timeless {
		fmt.Fprintf(w, "wall time %s; the original's is not known: %v\n\n", seconds(rep.Wall), trace.ErrNoTimes)
	} else {
		fmt.Fprintf(w, "wall time %s, original %s (%+.1f %%)\n\n", seconds(rep.Wall), seconds(rep.Original),
			100*(float64(rep.Wall)/float64(max(1, rep.Original))-1))
	}
	const room = 16
	var different int64
	guessed := false
	sum := func(ns, within int64, known bool) string {
		switch {
		case !known:
			return "~" + seconds(ns)
		case within > ns/50: // they are known to a percent, mostly
			return seconds(ns) + " ± " + seconds(within)
		}
		return seconds(ns)
	}
	for _, x := range rep.Ranks {
		different += x.Different
	}
	show.Text(w, rep.Ranks[:min(room, len(rep.Ranks))], 0, func(c *show.Row, x replayRank) {
		c.Value("rank", x.Rank).Count("calls", x.Calls).Ns("wall", x.Wall)
		if rep.Timeless {
			c.Ns(in, x.MPI)
			return
		}
		of := &x.Original
		c.Ns("original", of.Wall).Ns(in, x.MPI).Ns("held", x.Held).Value("original", sum(of.MPI, of.MPIWithin, of.Known))
		c.Ns("computing", x.Compute).Value("original", sum(of.Compute, of.ComputeWithin, of.Known))
		guessed = guessed || !of.Known
	})
	if n := len(rep.Ranks) - room; n > 0 {
		fmt.Fprintf(w, "and %s (--json has all)\n", show.Plural(n, "more rank"))
	}
	if guessed {
		fmt.Fprintln(w, "~ not known of the rank: its part in what ranks like it spent")
	}
	var dropped, receives int64
	for _, x := range rep.Ranks {
		dropped, receives = dropped+x.Dropped, receives+x.Receives
	}
	if dropped+receives > 0 {
		fmt.Fprintf(w, "\n%s for what others send; %s of the trace left out, which receive, probe, wait or test\n", show.Plural(receives, "receive"), show.Plural(dropped, "call"))
	}
	if different == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s returned something else than in the trace:\n", show.Plural(different, "call"))
	shown := 0
	for _, x := range rep.Ranks {
		for _, e := range x.Examples {
			if shown++; shown <= 5 {
				fmt.Fprintf(w, "  rank %d: %s\n", x.Rank, e)
			}
		}
	}
}
