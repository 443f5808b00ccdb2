package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

func newCut() *cobra.Command {
	var w windowFlags
	var out string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "cut [flags] [TRACE]",
		Short: "Write a part of a run as a trace: a time span, iterations, a phase",
		Long: `The result is what a recorder would have written that was switched on only in
that part: all parameters, all times. Calls outside that create or free
communicators, datatypes, windows, files and the like stay, without times. Most
verbs take the same flags to look at a part directly.

An iteration goes from one call that begins it to the next; of the main loop, with
what is computed before. If the trace has no time for every call, --from and
--until are as exact as the means of the calls.
More: docs/cut.md`,
		Example: `  spoor cut --from 10s --until 12s app.spoor
  spoor cut --iteration 10:20 app.spoor -o part.spoor
  spoor cut --loop MPI_Recv@halo.c:88 --iteration 5: app.spoor
  spoor cut --phase 2 app.spoor                        from each MPI_Pcontrol(2) to the next
  spoor waits --iteration 100:110 app.spoor            other verbs take these flags, too`,
		Args: aTrace,
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
			part, err := w.cut(cmd, r)
			if err != nil {
				return err
			}
			if part == nil {
				return &usageError{cmd, errors.New("say which part: --from, --until, --phase, --loop, --iteration or --without-init")}
			}
			defer part.Close()
			out = cmp.Or(out, nameOf(r, "part"))
			err = part.Write(out, force)
			size, err := written(out, err)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), map[string]any{
					"trace": out, "calls": part.Calls, "stayed": part.ContextCalls, "bytes": size, "notes": part.Notes,
				})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s, %s", out, show.FormatPlural(part.Calls, "call"), show.FormatPlural(r.Ranks(), "rank"), show.FormatBytes(size))
			if part.ContextCalls > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "; %s from outside that make or free objects", show.FormatPlural(part.ContextCalls, "call"))
			}
			fmt.Fprintln(cmd.OutOrStdout())
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write to this `file` (default NAME.part.spoor)")
	forceFlag(f, &force)
	jsonFlag(f, &asJSON)
	w.add(f)
	return cmd
}
