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
	io    string // which calls on files the trace has, as a value of spoor run --io; "": none
}

// Which receives a replay makes.
const (
	recordedReceives = "recorded" // those of the trace: spoor replay
	derivedReceives  = "derived"  // one for each message that is sent: spoor papers replay
)

func newReplay() *cobra.Command { return newReplayOf(recordedReceives) }

func newReplayOf(receives string) *cobra.Command {
	o := replayOptions{speed: 1, pace: string(replay.PaceOriginalTimes), timeout: 5 * time.Minute, receives: receives, mostCalls: 20_000_000}
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
	if receives == derivedReceives { // no --partial: of an unfinished program, not all sends are known
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

// A replayJob is what is needed to start the ranks of a replay.
type replayJob struct {
	replayOptions
	path          string // path of the trace
	r             *trace.Reader
	runner        *launch.Runner
	replayer, dir string // path of spoor-replay, which each rank runs, and the folder of its input and output
	cfg           *replay.ReplayConfig
}

func runReplay(cmd *cobra.Command, o replayOptions, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	r, err := openTrace(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := o.fit(cmd, r); err != nil {
		return err
	}
	j := &replayJob{replayOptions: o, path: path, r: r}
	if j.runner, err = findRunner(o, r.Meta()[trace.MetaMPIFlavour]); err != nil {
		return err
	}
	if j.replayer, j.dir, err = findReplayer(); err != nil {
		return err
	}
	defer os.RemoveAll(j.dir)
	if j.cfg, err = o.config(path, j.dir, j.runner); err != nil {
		return err
	}
	if err := j.checkTrace(cmd.ErrOrStderr()); err != nil {
		return err
	}
	wall, err := j.run(cmd)
	if err != nil || o.quiet {
		return err
	}
	return reportReplay(cmd, o, r, j.runner, j.dir, wall)
}

// check checks the flags' values as far as that needs no trace.
func (o *replayOptions) check() error {
	if o.speed <= 0 {
		return fmt.Errorf("--speed %g: must be above 0", o.speed)
	}
	if _, err := replay.PaceNamed(o.pace); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

// fit sets options that depend on whether the trace has times, and calls on files.
func (o *replayOptions) fit(cmd *cobra.Command, r *trace.Reader) error {
	if !r.HasTimes() {
		// Flags about the time between calls mean nothing if the trace has no times.
		if f := cmd.Flags(); f.Changed("pace") || f.Changed("speed") {
			return r.RequireTimes()
		}
		o.noCompute = true
	}
	program, library, err := reissue.HasFileCalls(r)
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
	return nil
}

// asRecorded reports whether each send of the replay is received by the same call as in the trace. That may not be so
// if receives are derived, or if the traced program didn't end.
func (j *replayJob) asRecorded() bool { return !j.cfg.DeriveReceives && !j.partial }

// checkTrace returns an error if a trace can't be replayed.
func (j *replayJob) checkTrace(stderr io.Writer) error {
	target, err := probe(j.replayer, j.dir, *j.cfg, j.r)
	if err != nil {
		return err
	}
	obstacles, err := j.obstacles(target)
	if err != nil {
		return err
	}
	if len(obstacles) > 0 {
		err := refuse(stderr, obstacles)
		if slices.ContainsFunc(obstacles, reissue.Obstacle.IsAtStreamEnd) {
			err = fmt.Errorf("%w; --partial goes as far as the program came", err)
		}
		return err
	}
	if j.cfg.DeriveReceives {
		if err := j.checkOrder(j.r, target); err != nil {
			return err
		}
	}
	// If a call's partner is missing in the trace, the call would wait until --timeout ends the replay. Say so now.
	total, err := totalCalls(j.r)
	if err != nil {
		return err
	}
	if j.asRecorded() && total <= expandable {
		if err := hang.CheckMissingCalls(j.r, false, nil); err != nil {
			return fmt.Errorf("%s: %w; nothing was started", j.path, err)
		}
	}
	return nil
}

// obstacles lists why calls can't be made again. It leaves out obstacles that the replay can overcome, and sets what it
// needs for that in j.cfg.
func (j *replayJob) obstacles(target reissue.TargetMPI) ([]reissue.Obstacle, error) {
	list, err := reissue.Obstacles(j.r, target)
	if err != nil {
		return nil, err
	}
	if list, j.cfg.Windows, err = reissue.WithoutAddressObstacles(j.r, list); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, replay.CanReplayDespite)
	if j.partial {
		if j.cfg.StreamEnds, err = reissue.FindStreamEnds(j.r); err != nil {
			return nil, fmt.Errorf("%s: %w", j.path, err)
		}
		list = slices.DeleteFunc(list, reissue.Obstacle.IsAtStreamEnd)
	}
	if j.cfg.DeriveReceives {
		more, err := replay.DerivedReceiveObstacles(j.r)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// run starts the ranks, waits for their end, and returns the job's duration.
func (j *replayJob) run(cmd *cobra.Command) (wall time.Duration, err error) {
	file := filepath.Join(j.dir, "config")
	if err := j.cfg.Write(file); err != nil {
		return 0, err
	}
	vars := []launch.EnvVar{{Name: replay.ConfigVariable, Value: file}}
	args := j.runner.CommandLine(j.r.Ranks(), j.replayer)
	began := time.Now()
	code, err := startReplay(cmd, j.replayOptions, j.runner.Launcher, args, vars)
	wall = time.Since(began)
	if err != nil || code == 0 {
		return wall, err
	}
	if j.asRecorded() {
		if err := hang.CheckMissingCalls(j.r, true, nil); errors.Is(err, hang.ErrMissingCalls) {
			return wall, fmt.Errorf("%s: %w; the replay ended with code %d", j.path, err, code)
		}
	}
	return wall, fmt.Errorf("%s ended with code %d; nothing to report", strings.Join(args, " "), code)
}

// checkOrder steps through all calls once, as each rank will do to derive receives from sends. It returns an error if
// that isn't possible.
func (o replayOptions) checkOrder(r *trace.Reader, target reissue.TargetMPI) error {
	calls, err := totalCalls(r)
	if err != nil {
		return err
	}
	if o.mostCalls > 0 && calls > o.mostCalls {
		return fmt.Errorf("each rank would go through all %s calls; --most-calls %d allows it", show.FormatGrouped(calls), calls)
	}
	s, err := replay.SummariseOrder(r)
	if err == nil && s.MaxMessageBytes > math.MaxInt32 && !target.HasFunction(replay.LargeReceiveName) {
		err = fmt.Errorf("the largest message has %d bytes, and this MPI has no %s", s.MaxMessageBytes, replay.LargeReceiveName)
	}
	if err != nil {
		return fmt.Errorf("receives can't be derived: %w", err)
	}
	return nil
}

// totalCalls returns the number of calls that all ranks of a trace made.
func totalCalls(r *trace.Reader) (calls uint64, err error) {
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return 0, err
		}
		calls += k.TotalCallCount()
	}
	return calls, nil
}

// checkMPI checks the value of --mpi.
func checkMPI(name string) error {
	if _, ok := mpi.FlavourNamed(name); ok || name == "" {
		return nil
	}
	return fmt.Errorf("--mpi %s: must be openmpi, mpich or abi", name)
}

// findRunner finds the MPI and its launcher for the replay: those that flags name, else the MPI of the traced program,
// else another installed one.
func findRunner(o replayOptions, traced string) (*launch.Runner, error) {
	var r *launch.Runner
	err := checkMPI(o.mpi)
	if err != nil {
		return nil, err
	}
	switch {
	case o.launcher != "":
		r, err = launch.ParseRunner(o.launcher, o.mpi)
	case o.mpi == "abi":
		return nil, errors.New("--mpi abi: many MPIs serve it; say with --launcher 'mpiexec -n {n}' which")
	case o.mpi != "":
		r, err = launch.FindRunner(o.mpi)
	case traced == "mpich":
		r, err = launch.FindRunner("mpich", "openmpi")
	default:
		r, err = launch.FindRunner("openmpi", "mpich")
	}
	if err == nil && o.library != "" {
		r.Libraries = []string{o.library}
	}
	return r, err
}

// findReplayer returns the path of spoor-replay and a new directory for its input and output.
func findReplayer() (path, dir string, err error) {
	if path, err = findLibrary("spoor-replay"); err != nil {
		return "", "", err
	}
	dir, err = replayDir()
	return path, dir, err
}

// replayDir makes a directory that ranks on other nodes can access: the working directory's file system is usually
// shared, unlike /tmp.
func replayDir() (string, error) {
	if wd, err := os.Getwd(); err == nil {
		if dir, err := os.MkdirTemp(wd, ".spoor-replay-"); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "spoor-replay-")
}

func (o replayOptions) config(path, dir string, runner *launch.Runner) (*replay.ReplayConfig, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	cfg := &replay.ReplayConfig{
		Trace: abs, Libraries: runner.Libraries, ReportFolder: dir, Timeout: o.timeout, DeriveReceives: o.receives == derivedReceives,
		Options: replay.Options{Speed: o.speed, NoCompute: o.noCompute, Pace: replay.Pace(o.pace)},
	}
	switch {
	case o.original && o.files != "":
		return nil, errors.New("--files and --original-files exclude each other")
	case o.original:
		return cfg, nil
	case o.files != "":
		cfg.FilesFolder, err = filepath.Abs(o.files)
	default:
		cfg.FilesFolder = filepath.Join(dir, "files")
	}
	if err != nil {
		return nil, err
	}
	return cfg, os.MkdirAll(cfg.FilesFolder, 0o777)
}

// probe asks spoor-replay which MPI it runs on, and which of the functions that the trace calls the MPI has.
func probe(replayer, dir string, cfg replay.ReplayConfig, r *trace.Reader) (reissue.TargetMPI, error) {
	for _, f := range r.Schema() {
		cfg.ProbedFunctions = append(cfg.ProbedFunctions, f.Name)
	}
	cfg.ProbedFunctions = append(cfg.ProbedFunctions, replay.LargeReceiveName)
	file := filepath.Join(dir, "probe")
	if err := cfg.Write(file); err != nil {
		return reissue.TargetMPI{}, err
	}
	c := exec.Command(replayer)
	c.Env = append(os.Environ(), replay.ConfigVariable+"="+file)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return reissue.TargetMPI{}, fmt.Errorf("%s: %w\n%s", replayer, err, strings.TrimSpace(stderr.String()))
	}
	var p replay.ProbeResult
	if err := json.Unmarshal(out, &p); err != nil {
		return reissue.TargetMPI{}, fmt.Errorf("%s: %w", replayer, err)
	}
	missing := make(map[string]bool)
	for _, name := range p.Missing {
		missing[name] = true
	}
	return reissue.TargetMPI{Flavour: p.Flavour, HasFunction: func(name string) bool { return !missing[name] }}, nil
}

// refuse prints up to 20 obstacles to the replay, and returns the error that ends it.
func refuse(w io.Writer, obstacles []reissue.Obstacle) error {
	var calls uint64
	for i, o := range obstacles {
		calls += o.Calls
		if i < 20 {
			fmt.Fprintf(w, "spoor: %v\n", o)
		}
	}
	return fmt.Errorf("%s can't be made again; nothing was started", show.FormatPlural(calls, "call"))
}

// startReplay runs the job of the ranks, traced with --output, and returns its exit code.
func startReplay(cmd *cobra.Command, o replayOptions, l launch.Launcher, args []string, vars []launch.EnvVar) (int, error) {
	if o.record == "" {
		argv, env := launch.CommandLine(l, args, vars)
		return launch.RunLauncher(argv, env)
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
	defer os.Remove(scratch) // a folder that still has records stays, as then this fails
	if o.force {
		if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
	}
	old := tracesOf(out)
	argv, env := launch.CommandLine(l, args, append(vars, rankVars(ro, shim, out, scratch)...))
	code, err := launch.RunLauncher(argv, env)
	if err != nil {
		return 0, err
	}
	return code, report(cmd.ErrOrStderr(), ro, old, out, scratch, ending{program: args[len(args)-1], launcher: l, code: code, args: args})
}
