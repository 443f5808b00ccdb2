package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/imbalance"
	"github.com/spoor-hpc/spoor/internal/columns"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

func newImbalance() *cobra.Command {
	var o output
	var all, inside, byRank bool
	var top int
	var paths []string
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "imbalance [flags] TRACE",
		Short: "Show how unequally work is spread: efficiencies, and calls by time lost",
		Long: `How unequally the work is spread over the ranks. At the top stand the
efficiencies of the POP project for the processes of MPI: with the useful time
of each rank, that outside of MPI, load balance is its mean over its most,
communication efficiency its most over the run time, and parallel efficiency
both multiplied. Useful time is the sum of the gaps before calls; what the trace
has of it only within bounds is told with them. Of a rank with several threads
each is a stream of its own from its first call to its last, and the rank is
useful for that share of its run time for which its threads together are.
--inside leaves out the time in MPI_Init and MPI_Finalize.

Below, the calls in which ranks wait, by what that cost. Of collectives this is the
time lost: how much longer the ranks spent in them than the rank that spent
least, which is mostly the one that came last. A call that ranks make from several
call sites is shown once, with all of these. Of calls that complete what two ranks
do with each other (MPI_Wait and its like, MPI_Recv, MPI_Mrecv, MPI_Probe, MPI_Mprobe,
MPI_Sendrecv) it is all of their time. The gap is the time outside MPI before these
calls. Where the ranks fall into two groups, both are shown.

Times of calls are those of each rank, to a percent where the trace has no time for
every call. Of call sites that take little, and in older traces, ranks of a class are
told apart as far as mean, deviation and extremes of their totals allow: up to three
ranks, and two groups. The output says which.

--ranks shows a table instead, with a row for each rank: the time it was outside
of MPI (compute) and in MPI, over all of its threads, and both by call site. Totals are
known to a percent, sites to a percent or a thousandth of the total; ~ marks what is
known of ranks like it only. As text it has the sites of most time, as CSV and JSON all.

If the trace has histograms (run --timing hist or path) or the time of each
call, the single calls follow, with the ranks that had the shortest and the
longest, and both groups where calls or gaps fall into two. Bars count ranks, or
calls, from least to most: ranks in equal steps, calls in steps of equal ratio.`,
		Example: `  spoor imbalance app.spoor
  spoor imbalance --all app.spoor             not only calls in which ranks wait
  spoor imbalance --ranks --csv app.spoor     what each rank spent where
  spoor imbalance --json app.spoor | jq .efficiency`,
		Args: exactly(1, "one trace"),
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			if o.csv && !byRank {
				return errors.New("--csv is of the table that --ranks shows")
			}
			if err := r.NeedTimes(); err != nil {
				return err
			}
			where, err := placesOf(r, paths)
			if err != nil {
				return err
			}
			if byRank {
				list, err := imbalance.EachRank(r, imbalance.Options{Name: where.text})
				if err != nil {
					return err
				}
				return o.print(cmd, list, func(w io.Writer) error { return printRanks(w, list, top, terminalWidth(cmd)) },
					func(w io.Writer) error { return writeRanksCSV(w, list) })
			}
			p := newProgress(cmd.ErrOrStderr(), "adding up times", r.Ranks())
			rep, err := imbalance.Of(r, imbalance.Options{
				All: all, Inside: inside, Name: where.text,
				Progress: func(done, total int) { p.done, p.total = done-1, total; p.step() },
			})
			p.end()
			if err != nil {
				return err
			}
			return o.print(cmd, rep, func(w io.Writer) error { return printImbalance(w, rep, top, terminalWidth(cmd)) }, nil)
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.BoolVar(&inside, "inside", false, "leave MPI_Init and MPI_Finalize out of run time and time in MPI")
	f.BoolVar(&all, "all", false, "look at all calls, not at those alone in which ranks wait")
	f.IntVar(&top, "top", 10, "list so many calls; 0: all")
	f.BoolVar(&byRank, "ranks", false, "show what each rank spent, in all and by call site")
	f.BoolVar(&o.csv, "csv", false, "print CSV; with --ranks")
	f.BoolVar(&o.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("csv", "json")
	debugPathFlag(f, &paths)
	return cmd
}

func printImbalance(w io.Writer, rep *imbalance.Report, top, width int) error {
	e := rep.Efficiency
	if rep.Ranks == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return nil
	}
	run := units.Duration(float64(e.RuntimeNs))
	if e.WithinNs > e.RuntimeNs/200 {
		run += " ± " + units.Duration(float64(e.WithinNs))
	}
	if err := columns.Text(w, [][3]string{
		{"parallel efficiency", shareText(e.Parallel), "mean useful time over run time, " + run},
		{"  load balance", shareText(e.LoadBalance), "mean useful time over the most"},
		{"  communication", shareText(e.Communication), "most useful time over run time"},
	}, 0, func(c *columns.Row, x [3]string) { c.Text("", x[0]).Text("", x[1]).Text("", x[2]) }); err != nil {
		return err
	}
	if rep.Missing > 0 {
		fmt.Fprintf(w, "of %s there is no track\n", units.Plural(rep.Missing, "rank"))
	}
	fmt.Fprintln(w)
	v := imbalanceView{w: w, width: width, hosts: manyHosts(rep)}
	v.distribution("useful", &rep.Useful, "")
	v.distribution("in MPI", &rep.MPI, "")
	if rep.Init.Mean > 0 { // a part of a run may be without
		v.distribution("MPI_Init", &rep.Init, "  ")
	}
	if rep.FinalizeTold() {
		v.distribution("MPI_Finalize", &rep.Finalize, "  ")
	}
	if rep.Threads > 1 {
		fmt.Fprintf(w, "of up to %d threads a rank, each from its first call to its last: their share of the rank's run time\n", rep.Threads)
	}
	fmt.Fprintf(w, "\ntimes of calls: %s\n", timingText(rep))
	calls, more := columns.First(rep.Calls, top)
	for i := range calls {
		c := &calls[i]
		what := "lost"
		if c.Completion && !c.Alone {
			what = "waited"
		}
		fmt.Fprintf(w, "\n%s at %s: %s, %s %s\n", c.Function, strings.Join(append([]string{c.Place}, c.Others...), " and "), units.Plural(c.Count, "call"), units.Duration(c.CostNs), what)
		once := c.Count == uint64(c.Duration.Ranks) && c.Duration.Exact // the same times again
		v.distribution("calls, total of a rank:", &c.Duration, "  ")
		if !once {
			v.sample(c.Single)
		}
		v.distribution("gaps, total of a rank:", &c.Gap, "  ")
		if !once {
			v.sample(c.SingleGap)
		}
	}
	if more > 0 {
		fmt.Fprintln(w)
	}
	return columns.More(w, more)
}

// shareText is a share as well as it is known.
func shareText(s imbalance.Share) string {
	text := units.Share(s.Value, 1)
	switch off := (s.High - s.Low) / 2; {
	case !s.Known():
		return fmt.Sprintf("not known better than %s to %s", units.Share(s.Low, 1), units.Share(s.High, 1))
	case off >= 0.0005:
		return fmt.Sprintf("%s ± %.1f", text, 100*off)
	}
	return text
}

func timingText(rep *imbalance.Report) string {
	switch rep.Timing {
	case "exact":
		return "each rank's own"
	case "bounded":
		return "each rank's own, within the error that was asked for"
	case "by class":
		return "each rank's own to a percent at the call sites that take most; else of classes of ranks, how far extremes are from the mean to 2 %"
	}
	return "not recorded"
}

// An imbalanceView writes how times are spread.
type imbalanceView struct {
	w     io.Writer
	width int
	hosts bool // there are several
}

func manyHosts(rep *imbalance.Report) bool {
	all := []imbalance.Distribution{rep.Useful, rep.MPI}
	for i := range rep.Calls {
		all = append(all, rep.Calls[i].Duration, rep.Calls[i].Gap)
	}
	for i := range all {
		if all[i].Least.Host != all[0].Least.Host || all[i].Most.Host != all[0].Least.Host {
			return true
		}
	}
	return false
}

// line writes a text with bars behind, or below where there is no room.
func (v *imbalanceView) line(text, bars string) {
	if bars != "" && utf8.RuneCountInString(text)+2+utf8.RuneCountInString(bars) > v.width {
		fmt.Fprintf(v.w, "%s\n               %s\n", text, bars)
		return
	}
	fmt.Fprintln(v.w, strings.TrimRight(text+"  "+bars, " "))
}

// toAPercent is how well times are known that need no word about that.
const toAPercent = 0.0105

// distribution writes how a time is spread over ranks.
func (v *imbalanceView) distribution(name string, d *imbalance.Distribution, indent string) {
	if d.Ranks == 0 {
		return
	}
	text := fmt.Sprintf("%s%-7s %s mean, %s to %s", indent, name, units.Duration(d.Mean), v.extreme(d.Least), v.extreme(d.Most))
	if d.Within >= 1 && d.Within > toAPercent*d.Most.Ns {
		text += ", each within " + units.Duration(d.Within)
	}
	v.line(text, bars(d.Bins))
	if len(d.Groups) == 2 {
		a, b := d.Groups[0], d.Groups[1]
		fmt.Fprintf(v.w, "%s        two groups: %s, and %s\n", indent, groupText(a), groupText(b))
	}
}

func (v *imbalanceView) extreme(x imbalance.Extreme) string {
	if v.hosts && x.Host != "" {
		return fmt.Sprintf("%s (rank %d, %s)", units.Duration(x.Ns), x.Rank, x.Host)
	}
	return fmt.Sprintf("%s (rank %d)", units.Duration(x.Ns), x.Rank)
}

// sample writes how the times of single calls are spread.
func (v *imbalanceView) sample(s *imbalance.Sample) {
	if s == nil {
		return
	}
	v.line(fmt.Sprintf("          each %s mean, %s to %s", units.Duration(s.Mean), v.extreme(s.Least), v.extreme(s.Most)), bars(s.Steps))
	if len(s.Groups) == 2 {
		text := func(g imbalance.SampleGroup) string {
			return fmt.Sprintf("%d at %s", g.Calls, units.Duration(g.Mean))
		}
		a, b := s.Groups[0], s.Groups[1]
		fmt.Fprintf(v.w, "               two groups: %s, and %s, from %s\n", text(a), text(b), v.extreme(b.Least))
	}
}

func groupText(g imbalance.Group) string {
	text := fmt.Sprintf("%s at %s", units.Plural(g.Ranks, "rank"), units.Duration(g.Mean))
	if g.Estimated {
		text = "about " + text
	}
	if len(g.Some) == 0 {
		return text
	}
	text += " (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.Some), " ", ", "), "[]")
	if g.Ranks > len(g.Some) {
		text += ", …"
	}
	return text + ")"
}

// bars draws a histogram: how many there are, from least to most.
func bars[T int | uint64](list []T) string {
	most := T(0)
	for _, n := range list {
		most = max(most, n)
	}
	if most == 0 {
		return ""
	}
	var b strings.Builder
	for _, n := range list {
		steps := []rune("▁▂▃▄▅▆▇█")
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(steps[(n*T(len(steps))-1)/most])
	}
	return b.String()
}
