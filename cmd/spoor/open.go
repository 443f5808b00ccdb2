package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/extrapolate"
	"github.com/spoor-hpc/spoor/internal/run/recover"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// openTrace opens a trace for a verb. For a directory with the records of a crashed run, the error names the command
// that makes a trace of them.
func openTrace(path string) (*trace.Reader, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		if dirs, err := recover.ProcessDirs(path); err == nil && len(dirs) > 0 {
			return nil, fmt.Errorf("%s: records of %s, not a trace yet; make one: spoor recover %s", path, show.FormatPlural(len(dirs), "process"), path)
		}
		return nil, fmt.Errorf("%s: a directory, not a trace", path)
	}
	r, err := trace.Open(path)
	if err == nil && r.Meta()[extrapolate.OmittedCallsKey] != "" {
		fmt.Fprintf(os.Stderr, "spoor: %s lacks calls that could not be determined: sums are too small; spoor info says which\n", path)
	}
	return r, err
}

// oneTrace makes the RunE of a verb that reads one trace: it opens the trace and calls f.
func oneTrace(f func(cmd *cobra.Command, r *trace.Reader) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		path, err := named(cmd, args)
		if err != nil {
			return err
		}
		r, err := openTrace(path)
		if err != nil {
			return err
		}
		defer r.Close()
		return f(cmd, r)
	}
}

// aTrace checks the arguments of a verb that reads one trace. Without an argument, the current folder must have a
// trace.
func aTrace(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exactly(1, "one trace")(cmd, args)
	}
	if newest() == "" {
		return errors.New("want a trace: this folder has no file *.spoor")
	}
	return nil
}

// named returns the path that the user gave. Without one, it prints and returns the name of the newest trace in the
// current folder.
func named(cmd *cobra.Command, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	path := newest()
	if path == "" { // the trace that aTrace found has been removed since
		return "", errors.New("this folder has no file *.spoor")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s\n", path)
	return path, nil
}

// newest returns the name of the most recently written trace in the current folder; "" if it has none.
func newest() (path string) {
	var last time.Time
	list, _ := filepath.Glob("*.spoor")
	for _, name := range list {
		st, err := os.Stat(name)
		if err == nil && st.Mode().IsRegular() && (path == "" || st.ModTime().After(last)) {
			path, last = name, st.ModTime()
		}
	}
	return path
}

// exactly makes a check that there are n arguments. what describes them in the error (e.g. "one trace").
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("want %s, got %s", what, show.FormatPlural(len(args), "argument"))
		}
		return nil
	}
}

// ofVerbs makes cmd a verb that has only subverbs: alone it prints its help, and unknown subverbs are an error.
func ofVerbs(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(verbs...)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("no verb %q", args[0])
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("want %s", what)
		}
		return nil
	}
}

// findLibrary returns the path of one of spoor's shared libraries. It is in the folder SPOOR_LIB if that is set, else
// beside the tool, or where make install puts it.
func findLibrary(name string) (string, error) {
	if dir := os.Getenv("SPOOR_LIB"); dir != "" {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err == nil && !exists(path) {
			err = fmt.Errorf("%s is not in %s, where SPOOR_LIB points", name, dir)
		}
		return path, err
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return "", err
	}
	dir := filepath.Dir(exe)
	for _, d := range []string{dir, filepath.Join(dir, "..", "lib", "spoor")} {
		path := filepath.Join(d, name)
		if _, err := os.Stat(path); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("%s not found beside %s nor in ../lib/spoor; build it with make, or set SPOOR_LIB", name, exe)
}
