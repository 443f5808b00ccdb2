package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"spoor/internal/imbalance"
	"spoor/trace"
)

func newImbalance() *cobra.Command {
	var all, asJSON bool
	var top int
	var paths []string
	cmd := &cobra.Command{
		Use:   "imbalance [flags] TRACE",
		Short: "Show who waits for whom: efficiencies, and calls by time lost",
		Long: `How unequally the work is spread over the ranks. At the top stand the
efficiencies of the POP project for the processes of MPI: with the useful time
of each rank, that outside of MPI, load balance is its mean over its most,
communication efficiency its most over the run time, and parallel efficiency
both multiplied.

Below, the collective calls in which most time was lost: how much longer the
ranks spent in them than the rank that spent least, which is mostly the one that
came last. The gap is the time outside MPI before these calls. Where the ranks
fall into two groups, both are shown.

Times of calls are those of each rank if the trace has them; else a class of
ranks shares its mean, and the extremes are exact. The output says which.`,
		Example: `  spoor imbalance app.spoor
  spoor imbalance --all app.spoor             not only collectives
  spoor imbalance --json app.spoor | jq .efficiency`,
		Args: exactly(1, "one trace"),
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
			where := newPlaces(paths)
			p := newProgress(cmd.ErrOrStderr(), "adding up times", r.Ranks())
			rep, err := imbalance.Of(r, imbalance.Options{
				All: all, Name: where.text,
				Progress: func(done, total int) { p.done, p.total = done-1, total; p.step() },
			})
			p.end()
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			if asJSON {
				err = writeJSON(out, rep)
			} else {
				err = printImbalance(out, rep, top)
			}
			if err != nil {
				return err
			}
			return out.Flush()
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "look at all calls, not at blocking collectives alone")
	f.IntVar(&top, "top", 10, "list so many calls; 0: all")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	debugPathFlag(f, &paths)
	return cmd
}

func printImbalance(w io.Writer, rep *imbalance.Report, top int) error {
	e := rep.Efficiency
	if rep.Ranks == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "parallel efficiency\t%s\tmean useful time over run time, %s\n", percent(e.Parallel, 1), duration(float64(e.RuntimeNs)))
	fmt.Fprintf(tw, "  load balance\t%s\tmean useful time over the most\n", percent(e.LoadBalance, 1))
	fmt.Fprintf(tw, "  communication\t%s\tmost useful time over run time\n", percent(e.Communication, 1))
	if err := tw.Flush(); err != nil {
		return err
	}
	if rep.Missing > 0 {
		fmt.Fprintf(w, "of %s there is no track\n", plural(rep.Missing, "rank"))
	}
	fmt.Fprintln(w)
	printDistribution(w, "useful", &rep.Useful, "")
	printDistribution(w, "in MPI", &rep.MPI, "")
	fmt.Fprintf(w, "\ntimes of calls: %s\n", timingText(rep))
	for i := range rep.Calls {
		if top > 0 && i == top {
			fmt.Fprintf(w, "\n%d more: --top 0\n", len(rep.Calls)-top)
			break
		}
		c := &rep.Calls[i]
		fmt.Fprintf(w, "\n%s at %s: %s, %s lost\n", c.Function, c.Place, plural(c.Count, "call"), duration(c.Lost()))
		printDistribution(w, "call", &c.Duration, "  ")
		printDistribution(w, "gap", &c.Gap, "  ")
	}
	return nil
}

func timingText(rep *imbalance.Report) string {
	switch rep.Timing {
	case "exact":
		return "each rank's own"
	case "bounded":
		return "each rank's own, within the error that was asked for"
	case "by class":
		return "classes of ranks share a mean; extremes are exact"
	}
	return "not recorded"
}

// printDistribution writes how a time is spread over ranks.
func printDistribution(w io.Writer, name string, d *imbalance.Distribution, indent string) {
	if d.Ranks == 0 {
		return
	}
	fmt.Fprintf(w, "%s%-7s %s mean, %s (rank %d, %s) to %s (rank %d, %s)%s\n", indent, name, duration(d.Mean),
		duration(d.Least.Ns), d.Least.Rank, d.Least.Host, duration(d.Most.Ns), d.Most.Rank, d.Most.Host, bars(d))
	if len(d.Groups) == 2 {
		a, b := d.Groups[0], d.Groups[1]
		fmt.Fprintf(w, "%s        two groups: %s, and %s\n", indent, groupText(a), groupText(b))
	}
}

func groupText(g imbalance.Group) string {
	text := fmt.Sprintf("%s at %s", plural(g.Ranks, "rank"), duration(g.Mean))
	if len(g.Some) == 0 {
		return text
	}
	text += " (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.Some), " ", ", "), "[]")
	if g.Ranks > len(g.Some) {
		text += ", …"
	}
	return text + ")"
}

// bars draws a histogram: how many ranks have how much, from least to most.
func bars(d *imbalance.Distribution) string {
	most := 0
	for _, n := range d.Bins {
		most = max(most, n)
	}
	if most == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("  ")
	for _, n := range d.Bins {
		steps := []rune("▁▂▃▄▅▆▇█")
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(steps[(n*len(steps)-1)/most])
	}
	return b.String()
}
