package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

func newVerify() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify [flags] TRACE...",
		Short: "Check that trace files are whole and say what they mean",
		Long: `Check every byte of trace files: checksums, the structure of each section, and
that each call of each rank can be read. Ends with code 1 if a file is damaged,
and names the section and what is wrong with it.

Where so many ranks made so many distinct calls that looking at each on every rank would
take long for a file of its size, some ranks of each class are looked at, spread
evenly; the output says of how many.`,
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
		return fmt.Sprintf("%s: ok, %s, of which the calls of %d were looked at, %s", path, units.Plural(r.Ranks(), "rank"), ranks, units.Plural(calls, "call")), nil
	}
	return fmt.Sprintf("%s: ok, %s, %s", path, units.Plural(r.Ranks(), "rank"), units.Plural(calls, "call")), nil
}
