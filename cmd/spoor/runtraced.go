package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/tree"
)

// A tracedJob is a command line that spoor run traces, and the paths of shim, trace and scratch folder.
type tracedJob struct {
	before   []string // words before the launcher, such as timeout 5m
	args     []string // the launcher and its arguments
	launcher launch.Launcher
	program  string

	shim         string
	out, scratch string
}

func runTraced(cmd *cobra.Command, o runOptions, args []string) error {
	if err := o.check(cmd.Flags()); err != nil {
		return &usageError{cmd, err}
	}
	if err := o.findPlugin(); err != nil {
		return err
	}
	j := splitCommand(args)
	var err error
	if j.shim, err = findLibrary(o.io.library()); err != nil {
		return err
	}
	if launch.InRank() && j.launcher == launch.NoLauncher {
		// The launcher started spoor run as a rank (mpirun -n 4 spoor run ./app), so this process becomes the program.
		if o.hang > 0 {
			return &usageError{cmd, errors.New("--hang: spoor must start the launcher; here, ask spoor where beside it")}
		}
		return becomeRank(o, j.shim, j.args)
	}
	if err := j.prepare(cmd, o); err != nil {
		return err
	}
	defer os.Remove(j.scratch) // a folder that still has records stays, as then this fails
	return j.run(cmd, o)
}

// check checks the flags' values, and converts them to what is recorded and where.
func (o *runOptions) check(f *pflag.FlagSet) (err error) {
	if err := o.parseTiming(); err != nil {
		return err
	}
	if o.out, err = launch.ExpandJobName(o.out); err != nil {
		return fmt.Errorf("-o %w", err)
	}
	switch {
	case o.stack < 0 || o.stack > tree.MaxFrames:
		return fmt.Errorf("--stack %d: from 0, the call site alone, to %d frames", o.stack, tree.MaxFrames)
	case o.loops && (o.stack < 2 || o.noCode):
		return errors.New("--loop-counters: it is of no use with --stack 0 or --no-code")
	case o.hang < 0:
		return fmt.Errorf("--hang %s: a time such as 60s", o.hang)
	}
	if err := checkCounters(o.counters); err != nil {
		return err
	}
	if err := deliver.CheckTags(o.tags); err != nil {
		return err
	}
	if err := o.checkReduced(f); err != nil {
		return err
	}
	return o.io.check()
}

// findPlugin makes the path of --plugin absolute, as ranks may run in other folders.
func (o *runOptions) findPlugin() (err error) {
	if o.plugin == "" {
		return nil
	}
	if o.plugin, err = filepath.Abs(o.plugin); err != nil {
		return err
	}
	if _, err := os.Stat(o.plugin); err != nil {
		return fmt.Errorf("--plugin: %w", err)
	}
	return nil
}

// splitCommand finds the launcher in a command line, which may come after another command (e.g. timeout 5m mpirun ...).
func splitCommand(args []string) *tracedJob {
	j := &tracedJob{args: args, launcher: launch.IdentifyLauncher(args[0])}
	if n := launch.WrapperWordCount(args); j.launcher == launch.NoLauncher && 0 < n && n < len(args) {
		if inner := launch.IdentifyLauncher(args[n]); inner != launch.NoLauncher {
			j.before, j.args, j.launcher = args[:n:n], args[n:], inner
		}
	}
	return j
}

// prepare finds the program in the command line, chooses the trace's path, and makes the scratch folder.
func (j *tracedJob) prepare(cmd *cobra.Command, o runOptions) (err error) {
	if j.program = launch.GuessProgram(j.launcher, j.args); j.program == "" {
		return fmt.Errorf("no program found in %q; usage: spoor run mpirun -n 4 ./app", strings.Join(j.args, " "))
	}
	if j.launcher == launch.NoLauncher && !o.quiet && isExecutable(j.args[0], o.io.whose != "") {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s is not a launcher I know: running it as it is, one rank; did you mean: spoor run mpirun -n 4 %s\n",
			show.ElideMiddle(j.args[0]), show.ElideMiddle(strings.Join(j.args, " ")))
	}
	if j.out, err = outputPath(o, j.program); err != nil {
		return err
	}
	if err := deliver.ProbeDestinations(j.out); err != nil {
		return fmt.Errorf("%w; name another place for the trace with -o", err)
	}
	j.scratch, err = makeScratch(o.scratch, j.out)
	return err
}

// run starts the program, and prints the outcome when it has ended.
func (j *tracedJob) run(cmd *cobra.Command, o runOptions) error {
	if o.force {
		// Ranks can't remove an old trace before they write theirs: a spawned world, whose trace has the same name, may
		// have written it.
		if err := os.Remove(j.out); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	old := tracesOf(o.made(j.out))
	argv, env := j.command(o)
	looked := func() {}
	if o.hang > 0 {
		looked = watchHang(cmd, j.scratch, j.out, o.hang)
	}
	if o.stack > 1 && !o.noCode {
		go prepareSections()
	}
	code, err := launch.RunLauncher(argv, env)
	looked()
	if err != nil {
		return fmt.Errorf("%s: %w", j.args[0], err)
	}
	end := ending{program: j.program, launcher: j.launcher, code: code, args: j.args}
	if err := report(cmd.ErrOrStderr(), o, old, j.out, j.scratch, end); err != nil {
		complain(cmd, err)
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
}

// command returns the command line that spoor run starts, and its environment.
func (j *tracedJob) command(o runOptions) (argv, env []string) {
	vars := append(rankVars(o, j.shim, o.made(j.out), j.scratch), sanitizerVars(j.program)...)
	if host, err := os.Hostname(); err == nil {
		vars = append(vars, launch.EnvVar{Name: deliver.ProbingHostVariable, Value: host})
	}
	if j.launcher == launch.NoLauncher && o.io.whose != "" { // a program without MPI may be traced for its files
		vars = append(vars, launch.EnvVar{Name: "SPOOR_SERIAL", Value: strconv.Itoa(os.Getpid())})
	}
	argv, env = launch.CommandLine(j.launcher, j.args, vars)
	if set := launch.EpilogVariables(j.args, ownPath()); set != nil {
		for _, v := range append(set, launch.EnvVar{Name: "SPOOR_SCRATCH", Value: j.scratch}, launch.EnvVar{Name: homeOf, Value: j.out}) {
			env = append(env, v.Name+"="+v.Value)
		}
	}
	return append(j.before, argv...), env
}

// prepareSections prepares the compression of sections that are added to the trace after the run. It does so while the
// job runs, at a lower priority than the job, so that the user need not wait for it later.
func prepareSections() {
	runtime.LockOSThread() // the thread ends with this goroutine, so that no other goroutine gets its low priority
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19)
	container.PreparePacking(container.SectionCode)
	container.PreparePacking(container.SectionMeta)
}
