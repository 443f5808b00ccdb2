package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

func newCheck() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "check [flags] TRACE...",
		Short: "Check that trace files are complete and consistent",
		Long: `spoor checks checksums, the structure of each section, and that every call of
every rank can be read. The exit code is 1 if a file is damaged; the message
names the section and the reason. For files with very many ranks and distinct
calls it checks the calls of some ranks of each class, and prints how many.`,
		Example: `  spoor check app.spoor
  spoor check --quiet archive/*.spoor`,
		Args: atLeastOne("a trace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			progress := newProgress(cmd.ErrOrStderr(), "files checked", len(args))
			bad := 0
			for _, path := range args {
				line, err := checkFile(path)
				if err != nil {
					bad++
					complain(cmd, err)
				} else if !quiet {
					fmt.Fprintln(out, line)
				}
				progress.step()
			}
			progress.end()
			if err := out.Flush(); err != nil {
				return err
			}
			if bad > 0 {
				return exitCode(1)
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing for files without errors")
	return cmd
}

func checkFile(path string) (string, error) {
	r, err := openTrace(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	ranks, err := trace.CheckRanks(r)
	if err != nil {
		return "", err
	}
	if _, err := handles.Of(r).Comms(); err != nil {
		return "", err
	}
	procs, err := r.Processes()
	if err != nil {
		return "", err
	}
	calls, tracks := int64(0), 0
	for _, p := range procs.All() {
		calls += p.Calls
		if p.End != "" {
			tracks++
		}
	}
	if ranks < tracks {
		return fmt.Sprintf("%s: ok, %s (the calls of %d were checked), %s", path, units.Plural(r.Ranks(), "rank"), ranks, units.Plural(calls, "call")), nil
	}
	return fmt.Sprintf("%s: ok, %s, %s", path, units.Plural(r.Ranks(), "rank"), units.Plural(calls, "call")), nil
}
