package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

func newCut() *cobra.Command {
	var w windowFlags
	var out string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "cut [flags] TRACE",
		Short: "Make a trace of a part of a run",
		Long: `Make a trace of a part of a run: of some time, of the phases that the program
marks with MPI_Pcontrol, of rounds of a loop, or without what MPI_Init and
MPI_Finalize take. It is what a recorder would have made that was switched on only
there: calls keep all parameters, and their times where they were. Calls outside
that make or free communicators, datatypes, windows, files and the like stay,
without times, as others name what they made; a request that was made outside is
unknown.

Most verbs that show something have the same flags: spoor profile --iteration 10:20
app.spoor looks at the trace that this makes.

A round of --loop goes from one call that begins it to before the next. "main" is the
loop in which a rank makes most of its calls, and begins with the first call in it that is
made once a round; ranks may differ in that. Each call of the part is looked at, some million a second.
Where the time of each call was not recorded (run --timing lossless and the lossy
modes), times are means of calls alike over the whole run, and --from and --until are
as right as these are.`,
		Example: `  spoor cut --from 10s --until 12s app.spoor
  spoor cut --iteration 10:20 app.spoor -o rounds.spoor     rounds 10 to 19 of the main loop
  spoor cut --loop MPI_Recv@halo.c:88 --iteration 5: app.spoor
  spoor cut --phase 2 app.spoor                             from each MPI_Pcontrol(2) to the next`,
		Args: exactly(1, "one trace"),
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
			part, err := w.cut(cmd, r)
			if err != nil {
				return err
			}
			if part == nil {
				return &usageError{cmd, errors.New("say which part: --from, --until, --phase, --loop, --iteration or --without-init")}
			}
			defer part.Close()
			if out == "" {
				out = nameOf(r, "part")
			}
			err = part.Write(out, force)
			size, err := written(out, err)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), map[string]any{
					"trace": out, "calls": part.Calls, "stayed": part.Stayed, "bytes": size, "notes": part.Notes,
				})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s, %s", out, units.Plural(part.Calls, "call"), units.Plural(r.Ranks(), "rank"), units.Bytes(size))
			if part.Stayed > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "; %s from outside that make or free objects", units.Plural(part.Stayed, "call"))
			}
			fmt.Fprintln(cmd.OutOrStdout())
			return nil
		}),
	}
	f := cmd.Flags()
	w.add(f)
	f.StringVarP(&out, "output", "o", "", "write to this `file` instead of TRACE's name with .part.spoor in the current folder")
	f.BoolVar(&force, "force", false, "replace what is there")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
