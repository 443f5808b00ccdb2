package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

func newCheck() *cobra.Command {
	var quiet bool
	var o output
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
			progress := newProgress(cmd.ErrOrStderr(), "files checked", len(args))
			list, bad := make([]checked, len(args)), false
			for i, path := range args {
				list[i] = checkFile(path)
				if err := list[i].err; err != nil {
					list[i].Error, bad = err.Error(), true
					complain(cmd, err)
				}
				progress.step()
			}
			progress.end()
			err := o.print(cmd, list, func(w io.Writer) {
				for _, c := range list {
					if c.err == nil && !quiet {
						fmt.Fprintln(w, c.text())
					}
				}
			}, nil)
			if err == nil && bad {
				err = exitCode(1)
			}
			return err
		},
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing for files without errors")
	jsonFlag(cmd.Flags(), &o.json)
	return cmd
}

// A checked is what spoor check found in one trace file.
type checked struct {
	File   string `json:"file"`
	Ranks  int    `json:"ranks"`
	Looked int    `json:"ranks_checked"` // number of ranks whose calls were read
	tracks int    // number of ranks that left a track in the trace
	Calls  int64  `json:"calls"`
	Error  string `json:"error,omitempty"`
	err    error
}

func (c *checked) text() string {
	if c.Looked < c.tracks {
		return fmt.Sprintf("%s: ok, %s (the calls of %d were checked), %s", c.File, show.FormatPlural(c.Ranks, "rank"), c.Looked, show.FormatPlural(c.Calls, "call"))
	}
	return fmt.Sprintf("%s: ok, %s, %s", c.File, show.FormatPlural(c.Ranks, "rank"), show.FormatPlural(c.Calls, "call"))
}

func checkFile(path string) (c checked) {
	c.File = path
	r, err := openTrace(path)
	if err != nil {
		c.err = err
		return c
	}
	defer r.Close()
	c.Ranks = r.Ranks()
	if c.Looked, c.err = trace.CheckCountingRanks(r); c.err != nil {
		return c
	}
	if _, c.err = handles.TableOf(r).Comms(); c.err != nil {
		return c
	}
	procs, err := r.Processes()
	if err != nil {
		c.err = err
		return c
	}
	for _, p := range procs.All() {
		c.Calls += p.Calls
		if p.EndState != "" {
			c.tracks++
		}
	}
	return c
}
