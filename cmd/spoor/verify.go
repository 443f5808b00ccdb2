package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"spoor/trace"
)

func newVerify() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify [flags] TRACE...",
		Short: "Check that trace files are whole and say what they mean",
		Long: `Check every byte of trace files: checksums, the structure of each section, and
that each call of each rank can be read. Ends with code 1 if a file is damaged,
and names the section and what is wrong with it.`,
		Example: `  spoor verify app.spoor
  spoor verify --quiet archive/*.spoor`,
		Args: atLeastOne("a trace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			progress := newProgress(cmd.ErrOrStderr(), "files checked", len(args))
			bad := 0
			for _, path := range args {
				line, err := verify(path)
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
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "say nothing of sound files")
	return cmd
}

func verify(path string) (string, error) {
	r, err := openTrace(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := trace.Check(r); err != nil {
		return "", err
	}
	procs, err := r.Processes()
	if err != nil {
		return "", err
	}
	calls := int64(0)
	for _, p := range procs.All() {
		calls += p.Calls
	}
	return fmt.Sprintf("%s: ok, %s, %s", path, plural(r.Ranks(), "rank"), plural(calls, "call")), nil
}
