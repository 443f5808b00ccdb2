// Command spoor traces MPI programs and answers questions about the traces.
//
// One verb is one file here. A verb parses its flags, calls a package and
// prints; what it knows beyond that belongs into the package.
//
// Exit codes: 0 done; 1 it could not be done, or the answer is no; 2 wrong
// usage. `spoor run` ends with the program's code.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/version"
)

func main() {
	collectLate()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// collectLate puts garbage collection off until there are 32 MB, unless the user has a say in it: most traces and verbs need less.
func collectLate() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(32 << 20)
	runtime.AddCleanup(new(*int), func(int) { // the first collection is over
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(100)
	}, 0)
}

// An exitCode ends the command with a code of its own; everything there is to
// say has been said.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// verdict ends a verb whose answer can be no: with 1 if it is, or with 2 if it can't be told, having said why.
func verdict(cmd *cobra.Command, no bool, err error) error {
	switch {
	case err != nil && !errors.Is(err, syscall.EPIPE):
		complain(cmd, err)
		return exitCode(2)
	case no || err != nil:
		return exitCode(1)
	}
	return nil
}

// A usageError is what the user typed wrongly.
type usageError struct {
	cmd *cobra.Command
	err error
}

func (e *usageError) Error() string { return e.err.Error() }

// run is main without the process: arguments in, exit code out.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	var code exitCode
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "spoor: %s%v\nusage: %s\nsee: %s --help\n", verbPrefix(usage.cmd), err, usage.cmd.UseLine(), usage.cmd.CommandPath())
		return 2
	}
	complain(cmd, err)
	return 1
}

func verbPrefix(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ") + ": "
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "spoor VERB [ARGS...]",
		Short: "Trace any MPI program into one small file, and read it back",
		Long: `spoor follows every MPI call of a parallel program and keeps the whole track
in kilobytes. It needs no recompiling and no relinking, and works with the
MPICH family and Open MPI, with C and Fortran.`,
		Example: `  spoor run mpirun -n 4 ./app     trace a program into app.spoor
  spoor info app.spoor            what ran, and what the trace holds
  spoor dump app.spoor --rank 0   every call of rank 0 as text`,
		Version:       version.Build(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          rootVerb,
	}
	cobra.EnableCommandSorting = false
	root.DisableFlagsInUseLine = true
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetUsageTemplate(strings.NewReplacer(
		"LocalFlags.FlagUsages", "LocalFlags.FlagUsagesWrapped 80", "InheritedFlags.FlagUsages", "InheritedFlags.FlagUsagesWrapped 80",
		"Available Commands:", "Verbs:", "{{.CommandPath}} [command]{{end}}", "{{.UseLine}}{{end}}",
		"{{if .Runnable}}\n  {{.UseLine}}{{end}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}\n  {{.UseLine}}{{end}}",
		"[command] --help", "VERB --help", "about a command", "about a verb",
	).Replace(root.UsageTemplate()))
	root.SetVersionTemplate("spoor {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	for _, cmd := range verbs() {
		prepare(cmd)
		root.AddCommand(cmd)
	}
	return root
}

// prepare has a verb, and those below it, say what the user typed wrongly.
func prepare(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{cmd, err}
			}
			return nil
		}
	}
	cmd.DisableFlagsInUseLine = true
	for _, c := range cmd.Commands() {
		prepare(c)
	}
}

// rootVerb handles a missing or unknown verb.
func rootVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := fmt.Errorf("no verb %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("no verb %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return &usageError{cmd, err}
}

// verbs lists the verbs in the order in which a user meets them.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newRun(),
		newInfo(),
		newProfile(),
		newDump(),
		newMatrix(),
		newImbalance(),
		newWaits(),
		newHistogram(),
		newFiles(),
		newTiming(),
		newReport(),
		newView(),
		newExport(),
		newImport(),
		newDB(),
		newVerify(),
		newCut(),
		newThin(),
		newDiff(),
		newCompare(),
		newProxy(),
		newReplay(),
		newTree(),
		newPass(),
		newCalibrate(),
		newSimulate(),
		newExtrapolate(),
		newRecover(), newBring(),
		newWhere(),
		newDoctor(),
		newCalls(),
		newMan(), newCode(), newThinned(),
	}
}

// complain prints an error of a verb that goes on or ends with a code of its own.
func complain(cmd *cobra.Command, err error) {
	// Errors name file and section; which package found out is no news.
	fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s%s\n", verbPrefix(cmd), strings.TrimPrefix(err.Error(), "trace: "))
}
