package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spoor-hpc/spoor/internal/extrapolate"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

func newExtrapolate() *cobra.Command {
	var ranks int
	var out string
	var paths []string
	var force, explain, asJSON bool
	var o extrapolate.Options
	cmd := &cobra.Command{
		Use:   "extrapolate --ranks N [flags] TRACE TRACE TRACE...",
		Short: "Make the trace of a run on more ranks, from traces on fewer",
		Long: `Give three or more traces of one program on different numbers of ranks, with the
same input. spoor finds how each value depends on the rank and the number of ranks,
and writes the trace for the number that is asked for. A value is given only if
all simplest forms that fit agree on it, and the largest trace is predicted right
without it. Else spoor writes nothing, lists what is missing, and names numbers of
ranks that would decide it. With --partial it writes the other calls: these can be
looked at and counted, but not replayed or simulated. spoor info marks the result
as extrapolated.
More: docs/extrapolate.md`,
		Example: `  spoor extrapolate --ranks 1024 app-9.spoor app-12.spoor app-16.spoor app-25.spoor app-36.spoor
  spoor extrapolate --ranks 1024 --explain app-*.spoor
  spoor simulate --machine infiniband app-9.1024.spoor      what its communication would take`,
		Args: atLeastTraces(3, "three"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ranks <= 0 || ranks > trace.MaxRanks {
				return &usageError{cmd, errors.New("--ranks: say how many, as --ranks 1024")}
			}
			list, err := openTraces(args)
			defer closeTraces(list)
			if err != nil {
				return err
			}
			out = cmp.Or(out, nameOf(list[0], fmt.Sprint(ranks)))
			if err := mayWrite(out, force); err != nil && !explain { // fails now, not after some seconds of work
				return err
			}
			m, err := extrapolate.Learn(list, newPlaces(paths).text)
			if err != nil {
				return err
			}
			if explain && !asJSON {
				explainSlots(cmd, m.FittedValues())
			}
			c, err := m.Extrapolate(ranks, o)
			refusal := (*extrapolate.Refusal)(nil)
			if errors.As(err, &refusal) && c != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %v\nThe trace lacks these calls.\n", err)
			} else if refusal != nil && len(list) >= stats.MinLawPoints {
				return fmt.Errorf("%w\ncalls, bytes and times of each call site as laws: spoor scaling --at %d, with these traces", err, ranks)
			} else if err != nil {
				return err
			}
			if slices.ContainsFunc(list, ofSingleRun) {
				fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s: who waited for whom and which iterations differ are not extrapolated\n", out)
			}
			size, err := written(out, sections.WriteFile(out, c, force))
			if err != nil {
				return err
			}
			r, err := trace.Open(out)
			if err != nil {
				return err
			}
			defer r.Close()
			if asJSON {
				answer := map[string]any{"trace": out, "ranks": ranks, "calls": callsIn(r), "bytes": size, "assumed": m.Assumptions(ranks)}
				if explain {
					answer["slots"] = m.FittedValues()
				}
				if refusal != nil {
					answer["refused"] = refusal.ReasonByValue
				}
				return writeJSON(cmd.OutOrStdout(), answer)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s, %s\n", out, show.FormatPlural(ranks, "rank"), show.FormatPlural(callsIn(r), "call"), show.FormatBytes(size))
			for _, text := range m.Assumptions(ranks) {
				fmt.Fprintf(cmd.OutOrStdout(), "assumed: %s\n", text)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&ranks, "ranks", 0, "`N`: the number of ranks of the wanted run")
	f.BoolVar(&explain, "explain", false, "print how values depend on the rank and the number of ranks")
	f.BoolVar(&o.AllowPartial, "partial", false, "write the trace without the calls whose values can't be determined")
	f.BoolVar(&o.AllowDistantTimes, "far", false, "give times also beyond 16 times the largest number of ranks of the traces")
	f.StringVarP(&out, "output", "o", "", "write to this `file` (default NAME.N.spoor)")
	forceFlag(f, &force)
	debugPathFlag(f, &paths)
	jsonFlag(f, &asJSON)
	return cmd
}

// ofSingleRun reports whether a trace has times of iterations, or waits. Ranks measure these at the end of a run, so an
// extrapolated trace can't have them.
func ofSingleRun(r *trace.Reader) bool {
	w, err := r.When()
	x, other := r.Waits()
	return err == nil && w != nil || other == nil && x != nil && x.Status == trace.WaitsKnown
}

// openTraces opens the traces at the given paths. The caller must close the returned traces, even after an error.
func openTraces(paths []string) (list []*trace.Reader, err error) {
	for _, path := range paths {
		r, err := openTrace(path)
		if err != nil {
			return list, err
		}
		list = append(list, r)
	}
	return list, nil
}

func closeTraces(list []*trace.Reader) {
	for _, r := range list {
		r.Close()
	}
}

// explainSlots prints, for each value of a call that isn't the same everywhere, the formula found for it or why it
// can't be extrapolated. It also prints how many values are the same everywhere.
func explainSlots(cmd *cobra.Command, slots []extrapolate.FittedValue) {
	same := 0
	for _, s := range slots {
		switch {
		case s.RefusalReason != "":
			fmt.Fprintf(cmd.OutOrStdout(), "%s: refused, %s\n", s.Name, s.RefusalReason)
		case len(s.FittingForms) == 0:
			fmt.Fprintf(cmd.OutOrStdout(), "%s: refused, no form fits\n", s.Name)
		case s.FittingForms[0] != "" && strings.Trim(s.FittingForms[0], "-0123456789") == "":
			same++
		default:
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s", s.Name, s.FittingForms[0])
			if len(s.FittingForms) > 1 {
				fmt.Fprintf(cmd.OutOrStdout(), "; %s", show.FormatPlural(len(s.FittingForms)-1, "other form"))
			}
			fmt.Fprintln(cmd.OutOrStdout())
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s are the same everywhere\n", show.FormatPlural(same, "value"))
}
