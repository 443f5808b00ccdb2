package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/columns"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

func newWaits() *cobra.Command {
	var o output
	var path bool
	var top int
	var paths []string
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "waits [flags] TRACE",
		Short: "Show why ranks waited, and for whom: wait states by call site and rank",
		Long: `Why ranks waited in MPI, for whom, and what the late ranks did in the meantime. The ranks
determine this at the end of each run (spoor run --waits). From a trace with a time for every
call (--timing lossless) it is computed exactly, also for parts of a run.

  late sender       a receive was there before its message was sent
  wrong order       the same, while messages that the thread received later had been sent
  late receiver     a send could not go on before its receive was posted
  wait at barrier   not all had come to the barrier
  wait at all-to-all
                    the same, of a collective that needs data of everybody
  late root         a broadcast or scatter whose root had not come
  early root        the root of a reduction or gather came before the others
  early scan        a scan, before the ranks below had come

A call waits from its beginning until those had come that it needs, never beyond its end; one that
completes several operations waits for the last of them. Of each call site where ranks waited stand
the ranks that did, those that came last, and the calls that these were late for, with how much of the
time they computed: if that is most of it, they have more to do than others; if it is little,
they were in MPI themselves, and mostly waited for somebody else.

With --path it is the critical path: from the rank that ended last backwards; where that
had waited, it goes on with the rank that came last, from when it came. Its parts add up to the
run time. A place of which the path has more than ranks spend there on average, without their
waits, is where some have more to do than others: "beyond" is by how much.

Times of different ranks are compared, and so are clocks of different hosts. If messages
seem to have arrived before they were sent, the output says how many, and by how much.
One-sided transfers, files, probes and collectives along a topology are not looked at; those
that took time are named at the end.`,
		Example: `  spoor run mpirun -n 4 ./app && spoor waits app.spoor
  spoor waits --top 0 app.spoor               all call sites
  spoor waits --path app.spoor                what the run's end depends on
  spoor waits --json app.spoor | jq '.sites[0]'`,
		Args: exactly(1, "one trace"),
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			where, err := placesOf(r, paths)
			if err != nil {
				return err
			}
			var loops waits.Loops
			if path {
				tree, err := where.tree(r)
				if err != nil {
					return err
				}
				loops = calltree.NewLoops(r, tree)
			}
			var p *progress
			rep, err := waits.Of(r, waits.Options{
				Name:     where.atCall,
				Begin:    func(calls uint64) { p = newProgress(cmd.ErrOrStderr(), "calls", int(calls)) },
				Progress: func(calls uint64) { p.steps(int(calls)) },
				Path:     path,
				Loops:    loops,
			})
			if p != nil {
				p.end()
			}
			if err != nil {
				return err
			}
			rep.Unite()
			where.complain(cmd)
			return o.print(cmd, rep, func(w io.Writer) error {
				if path {
					return printCriticalPath(w, rep, top)
				}
				return printWaits(w, rep, top)
			}, nil)
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.IntVar(&top, "top", 10, "list so many call sites and ranks; 0: all")
	f.BoolVar(&path, "path", false, "show the critical path: what the run's end depends on")
	f.BoolVar(&o.json, "json", false, "print JSON")
	debugPathFlag(f, &paths)
	return cmd
}

func printWaits(w io.Writer, rep *waits.Report, top int) error {
	if len(rep.ByRank) == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return nil
	}
	part := func(ns int64) string { return units.Share(float64(ns), float64(rep.RunNs)) }
	who := units.Plural(rep.Ranks, "rank")
	if rep.Threads > 1 {
		who += fmt.Sprintf(" with up to %d threads", rep.Threads)
	}
	fmt.Fprintf(w, "%s: %s together, %s of that in MPI, %s waiting for others\n", who,
		units.Duration(float64(rep.RunNs)), part(rep.MPINs), part(rep.WaitedNs))
	if rep.Part < 1 {
		fmt.Fprintf(w, "of the last %s of the run: ranks made more calls than times are kept of\n", units.Share(rep.Part, 1))
	}
	if rep.Times != "exact" {
		fmt.Fprintf(w, "times: %s\n", rep.Times)
	}
	if rep.Backwards > 0 {
		fmt.Fprintf(w, "%s of %s seem to have arrived before they were sent, by up to %s: times of different ranks are not known better than that\n",
			units.Grouped(rep.Backwards), units.Plural(rep.Messages, "message"), units.Duration(float64(rep.OffNs)))
	}
	if len(rep.Kinds) == 0 {
		fmt.Fprintln(w, "nobody waited")
	} else {
		fmt.Fprintln(w)
	}
	if err := columns.Text(w, rep.Kinds, 0, func(c *columns.Row, k waits.KindSum) {
		c.Share("", k.WaitedNs, rep.RunNs).Ns("", k.WaitedNs).Text("", k.Kind.String()).Text("", units.Plural(k.Count, "call"))
	}); err != nil {
		return err
	}
	sites, more := columns.First(rep.Sites, top)
	for _, s := range sites {
		fmt.Fprintf(w, "\n%s  %s  %s: %s at %s, %s\n", part(s.WaitedNs), units.Duration(float64(s.WaitedNs)), s.Kind, s.Function, s.Place, units.Plural(s.Count, "call"))
		fmt.Fprintf(w, "    waited  %s\n", waitingRanks(s.Ranks, s.Waiting, s.WaitedNs))
		fmt.Fprintf(w, "    for     %s\n", waitingRanks(s.Late, s.Awaited, s.WaitedNs))
		for j, c := range s.Causes {
			if j == mostCauses {
				fmt.Fprintf(w, "            and %d more\n", len(s.Causes)-j)
				break
			}
			fmt.Fprintf(w, "            late for %s at %s by %s; computed %s of that\n", c.Function, c.Place,
				units.Duration(float64(c.WaitedNs)), units.Share(float64(c.ComputeNs), float64(c.WaitedNs)))
		}
	}
	if more > 0 {
		fmt.Fprintln(w)
		columns.More(w, more)
	}
	if len(rep.Kinds) > 0 {
		if err := printWaitsOfRanks(w, rep, top); err != nil {
			return err
		}
	}
	var unclear []string
	for _, f := range rep.Unclear {
		if f.Ns*100 >= rep.MPINs {
			unclear = append(unclear, fmt.Sprintf("%s %s", f.Function, units.Duration(float64(f.Ns))))
		}
	}
	if len(unclear) > 0 {
		fmt.Fprintf(w, "\nnot looked at: %s\n", strings.Join(unclear, ", "))
	}
	for _, l := range rep.Losses {
		fmt.Fprintf(w, "left out: %s %s\n", units.Grouped(l.Count), l.What)
	}
	return nil
}

// mostCauses is how many calls are named for which ranks were late.
const mostCauses = 3

// waitingRanks lists the ranks with most time. ranks is their number, all their time together.
func waitingRanks(list []waits.RankNs, ranks int, all int64) string {
	const most = 4
	var b strings.Builder
	for i, r := range list {
		if i == most {
			break
		}
		all -= r.WaitedNs
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "rank %d %s", r.Rank, units.Duration(float64(r.WaitedNs)))
	}
	if more := ranks - min(most, len(list)); more > 0 {
		fmt.Fprintf(&b, ", %s %s", units.Plural(more, "other"), units.Duration(float64(max(0, all))))
	}
	return b.String()
}

// printWaitsOfRanks lists the ranks for which others waited longest, and those that waited longest.
func printWaitsOfRanks(w io.Writer, rep *waits.Report, top int) error {
	list := slices.Clone(rep.ByRank)
	slices.SortStableFunc(list, func(a, b waits.RankSum) int {
		return int(max(-1, min(1, max(b.CausedNs, b.WaitedNs)-max(a.CausedNs, a.WaitedNs))))
	})
	list, _ = columns.First(list, top)
	fmt.Fprintln(w)
	return columns.Text(w, list, 0, func(c *columns.Row, r waits.RankSum) {
		c.Value("rank", r.Rank).Ns("in MPI", r.MPINs).Ns("waited", r.WaitedNs).Ns("others waited for it", r.CausedNs)
	})
}
