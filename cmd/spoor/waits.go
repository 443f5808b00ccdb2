package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

func newWaits() *cobra.Command {
	var o output
	var path, exact bool
	var ranks string
	var paths []string
	var apart bool
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "waits [flags] [TRACE]",
		Short: "Show who waited for whom, and why: wait states by call site, critical path",
		Long: `The ranks determine this at the end of each run. For each call site where ranks
waited: which ranks, for which late ranks, in which call these were late, and
how much of that time they computed. If they computed most of it, they have more
work than others; if little, they were waiting in MPI themselves.

  late sender            the receive began before the message was sent
  wrong order            the same, while later messages were already sent
  late receiver          the send could not go on without its receive
  wait at barrier        not all ranks had reached the barrier
  wait at all-to-all     the same, for collectives that need data of all ranks
  wait at init           not all ranks had started
  wait at finalize       not all ranks had reached MPI_Finalize
  late root, early root  broadcast or scatter; reduction or gather
  early scan             a scan before the lower ranks had reached it
  late post, complete    synchronisation of a window with a group of ranks
  wait for lock          another rank had locked the memory
  wait for progress      the rank with the memory was outside of MPI

--path shows the critical path: what determines the end of the run. --iteration
without single times shows what ranks did in iterations of the main loop.
More: docs/waits.md`,
		Example: `  spoor waits app.spoor
  spoor waits --path app.spoor
  spoor waits --iteration 100:110 app.spoor
  spoor waits --columns waited,kind,function,place --top 0 app.spoor
  spoor waits --json app.spoor | jq '.sites[0]'`,
		Args: aTrace,
		RunE: window.ofOr(func(cmd *cobra.Command, r *trace.Reader, x *trace.When, first, end uint64) error {
			if ranks != "" {
				return &usageError{cmd, errors.New("--rank: the trace has no single times of these iterations, only what all ranks did")}
			}
			return printIterations(cmd, r, &o, newPlaces(paths), x, first, end)
		}, func(cmd *cobra.Command, r *trace.Reader) error {
			where, _, err := sitesOf(r, paths, apart)
			if err != nil {
				return err
			}
			kind, err := r.TimeKind()
			if err != nil {
				return err
			}
			var loops waits.LoopFinder
			if path && kind.OfTheCallItself() { // else the path is the one that ranks found at the end of the run
				tree, err := where.tree(r)
				if err != nil {
					return err
				}
				loops = calltree.NewLoops(r, tree)
			}
			var p *progress
			options := waits.Options{
				NameSite: where.atCall,
				Begin:    func(calls uint64) { p = newProgress(cmd.ErrOrStderr(), "calls", int(calls)) },
				Progress: func(calls uint64) { p.steps(int(calls)) },
				WithPath: path,
				Loops:    loops,
			}
			rep, kept, err := waits.AnalyseOrUseStored(r, options, exact)
			if p != nil {
				p.end()
			}
			if err != nil {
				return err
			}
			if kept {
				fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s: as the ranks determined it at the end of the run; --exact goes through all calls\n", r.Name())
			}
			rep.MergeSites()
			if ranks != "" {
				list, err := parseList(ranks, r.Ranks())
				if err != nil {
					return &usageError{cmd, fmt.Errorf("--rank: %w", err)}
				}
				rep.RestrictTo(list)
			}
			where.complain(cmd)
			table := waitTable(rep)
			return o.print(cmd, struct {
				*waits.Report
				Sites show.Table[waits.Site] `json:"sites"`
			}{rep, table}, func(w io.Writer) {
				if path {
					printCriticalPath(w, rep, o.top)
				} else {
					printWaits(w, rep, o.top)
				}
			}, table.Print)
		}),
	}
	f := cmd.Flags()
	o.tableFlags(cmd, 10, "call sites and ranks, also below 1 % of the run")
	f.StringVarP(&ranks, "rank", "r", "", "only what these `ranks` waited: 0,4-7,10-")
	f.BoolVar(&exact, "exact", false, "compute it from the times of all calls, also for long traces (--timing lossless)")
	f.BoolVar(&path, "path", false, "the critical path: what determines the end of the run")
	debugPathFlag(f, &paths)
	apartFlag(f, &apart)
	window.add(f)
	for _, table := range []string{"csv", "sort", "columns", "rank"} {
		cmd.MarkFlagsMutuallyExclusive(table, "path")
	}
	return cmd
}

// waitTable returns a table with a row for each call site and kind of wait.
func waitTable(rep *waits.Report) show.Table[waits.Site] {
	type site = waits.Site
	return show.Table[site]{Rows: rep.Sites, Columns: show.Columns[site]{
		{Name: "waited", Unit: show.UnitNs, Doc: "time in which ranks waited", Value: func(s site) any { return s.WaitedNs }},
		{Name: "of run", Unit: show.UnitFraction, Doc: "its share of all ranks' time", Value: func(s site) any { return float64(s.WaitedNs) / float64(max(1, rep.ThreadRunNs)) }},
		{Name: "calls", Unit: show.UnitCount, OldJSONKey: "count", Doc: "calls that waited", Value: func(s site) any { return s.WaitCount }},
		{Name: "ranks", KeyOverride: "waiting", Unit: show.UnitCount, Doc: "ranks that waited", Value: func(s site) any { return s.WaitingRankCount }},
		{Name: "late ranks", KeyOverride: "awaited", Unit: show.UnitCount, Doc: "ranks that they waited for", Value: func(s site) any { return s.LateRankCount }},
		{Name: "late rank", Doc: "rank that they waited longest for, if that is more than half", Value: func(s site) any {
			if rank := s.MainLateRank(); rank >= 0 {
				return rank
			}
			return nil
		}},
		{Name: "late computed", Unit: show.UnitFraction, Doc: "share of the time in which the late ranks computed", Value: func(s site) any {
			if share, known := s.LateComputeShare(); known {
				return share
			}
			return nil
		}},
		{Name: "kind", Unit: show.UnitWord, Doc: "reason", Value: func(s site) any { return s.Kind.String() }},
		{Name: "function", Unit: show.UnitWord, Doc: "MPI function", Value: func(s site) any { return s.Function }},
		{Name: "place", Unit: show.UnitWord, Doc: "call site", Value: func(s site) any { return s.Place }},
	}}
}

func printWaits(w io.Writer, rep *waits.Report, top show.Limit) {
	if len(rep.ByRank) == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return
	}
	part := func(ns int64) string { return show.Percentage(float64(ns), float64(rep.ThreadRunNs)) }
	who := show.FormatPlural(rep.Ranks, "rank")
	if rep.MaxThreads > 1 {
		who += fmt.Sprintf(" with up to %d threads", rep.MaxThreads)
	}
	fmt.Fprintf(w, "%s: %s together, %s of that in MPI, %s waiting for others\n", who,
		show.FormatDuration(float64(rep.ThreadRunNs)), part(rep.MPINs), part(rep.WaitedNs))
	if rep.OnlyRanks != nil {
		fmt.Fprintln(w, "numbers of calls, and who was late, are those of all ranks that waited at the same place")
	}
	if rep.AnalysedShare < 1 {
		fmt.Fprintf(w, "of the last %s of the run: ranks made more calls than times are kept of\n", show.Percentage(rep.AnalysedShare, 1))
	}
	if rep.TimesKind != "exact" {
		fmt.Fprintf(w, "times: %s\n", rep.TimesKind)
	}
	if rep.BackwardMessages > 0 {
		fmt.Fprintf(w, "%s of %s seem to have arrived before they were sent, by up to %s: times of different ranks are not known better than that\n",
			show.FormatGrouped(rep.BackwardMessages), show.FormatPlural(rep.Messages, "message"), show.FormatDuration(float64(rep.ClockErrorNs)))
	}
	if len(rep.Kinds) == 0 {
		fmt.Fprintln(w, "nobody waited")
	} else {
		fmt.Fprintln(w)
	}
	show.WriteText(w, rep.Kinds, 0, func(c *show.Row, k waits.KindSum) {
		c.Share("", k.WaitedNs, rep.ThreadRunNs).Ns("", k.WaitedNs).Text("", k.Kind.String()).Text("", show.FormatPlural(k.Count, "call"))
	})
	sites, rest := show.SplitAtLimit(rep.Sites, top, func(s waits.Site) float64 { return float64(s.WaitedNs) / max(1, float64(rep.ThreadRunNs)) })
	var places []string
	for _, s := range sites {
		places = append(places, s.Place)
	}
	names := show.NewPlaceShortener(places)
	for _, s := range sites {
		line := fmt.Sprintf("%s  %s  %s: %s at %s, %s", part(s.WaitedNs), show.FormatDuration(float64(s.WaitedNs)), s.Kind, s.Function, s.Place, show.FormatPlural(s.WaitCount, "call"))
		fmt.Fprintf(w, "\n%s\n", names.ShortenLine(line, s.Place))
		fmt.Fprintf(w, "    waited  %s\n", waitingRanks(s.Ranks, s.WaitingRankCount, s.WaitedNs))
		fmt.Fprintf(w, "    for     %s\n", waitingRanks(s.LateRanks, s.LateRankCount, s.WaitedNs))
		for j, c := range s.Causes {
			if j == mostCauses {
				fmt.Fprintf(w, "            and %d more\n", len(s.Causes)-j)
				break
			}
			fmt.Fprintln(w, names.ShortenLine(fmt.Sprintf("            late for %s at %s by %s; computed %s of that", c.Function, c.Place,
				show.FormatDuration(float64(c.WaitedNs)), show.Percentage(float64(c.LateComputeNs), float64(c.WaitedNs))), c.Place))
		}
	}
	if len(sites) < len(rep.Sites) {
		fmt.Fprintln(w)
		rest.Print(w)
	}
	if len(rep.Kinds) > 0 {
		printWaitsOfRanks(w, rep, top.Rows)
	}
	var unclear []string
	for _, f := range rep.UnanalysedFunctions {
		if f.CallNs*100 >= rep.MPINs {
			unclear = append(unclear, fmt.Sprintf("%s %s", f.Function, show.FormatDuration(float64(f.CallNs))))
		}
	}
	if len(unclear) > 0 {
		fmt.Fprintf(w, "\nnot looked at: %s\n", strings.Join(unclear, ", "))
	}
	for _, l := range rep.Omissions {
		fmt.Fprintf(w, "left out: %s %s\n", show.FormatGrouped(l.Count), l.Reason)
	}
}

// mostCauses is how many calls are named at most, for a call site with waits, to which late ranks came late.
const mostCauses = 3

// waitingRanks lists up to four ranks with their time. list is sorted, longest first. ranks is the number of all ranks
// that the row is about, and all is the sum of their times in ns.
func waitingRanks(list []waits.RankNs, ranks int, all int64) string {
	const most = 4
	for n := len(list) - 1; n > 0 && list[n].WaitNs == 0; n-- { // leave out ranks that waited less than 1 ns
		list, ranks = list[:n], ranks-1
	}
	var b strings.Builder
	for i, r := range list {
		if i == most {
			break
		}
		all -= r.WaitNs
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "rank %d %s", r.Rank, show.FormatDuration(float64(r.WaitNs)))
	}
	if more := ranks - min(most, len(list)); more > 0 {
		fmt.Fprintf(&b, ", %s %s", show.FormatPlural(more, "other"), show.FormatDuration(float64(max(0, all))))
	}
	return b.String()
}

// printWaitsOfRanks prints a row for each of the ranks that waited longest, or that other ranks waited for longest.
func printWaitsOfRanks(w io.Writer, rep *waits.Report, top int) {
	list := slices.Clone(rep.ByRank)
	slices.SortStableFunc(list, func(a, b waits.RankSum) int {
		return int(max(-1, min(1, max(b.CausedWaitNs, b.WaitedNs)-max(a.CausedWaitNs, a.WaitedNs))))
	})
	list, _ = show.TopRows(list, top)
	fmt.Fprintln(w)
	show.WriteText(w, list, 0, func(c *show.Row, r waits.RankSum) {
		c.Value("rank", r.Rank).Ns("in MPI", r.MPINs).Ns("waited", r.WaitedNs).Ns("others waited for it", r.CausedWaitNs)
	})
}

// printCriticalPath shows the critical path by call site and rank.
func printCriticalPath(w io.Writer, rep *waits.Report, top show.Limit) {
	p := rep.Path
	if p == nil {
		fmt.Fprintln(w, "ranks waited too often to keep what the path is found from")
		return
	}
	if len(p.Sites) == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return
	}
	ns := func(v int64) string { return show.FormatDuration(float64(v)) }
	part := func(v int64) string { return show.Percentage(float64(v), float64(p.LengthNs)) }
	fmt.Fprintf(w, "critical path: %s, ends on rank %d, %s from rank to rank; %s outside of MPI", ns(p.LengthNs), p.EndRank, show.FormatPlural(uint64(p.Hops), "step"), part(p.OutsideMPINs))
	if p.AsideNs > 0 {
		fmt.Fprintf(w, ", %s spoor's or not traced", part(p.AsideNs))
	}
	fmt.Fprint(w, "\n\n")
	share := func(v int64) float64 { return float64(v) / max(1, float64(p.LengthNs)) }
	show.PrintWithinLimit(w, p.Sites, top, func(s waits.PathSite) float64 { return share(s.ComputeNs + s.MPINs) }, func(c *show.Row, s waits.PathSite) {
		c.Share("of path", s.ComputeNs+s.MPINs, p.LengthNs).Ns("computed before", s.ComputeNs).Ns("in the call", s.MPINs).Ns("mean of ranks", s.MeanOverRanksNs)
		c.Ns("beyond", s.ImbalanceNs).Value("most on rank", s.MaxRank).Text("call", s.Function+" at "+s.Place)
	})
	if len(p.Loops) > 0 {
		fmt.Fprintln(w)
		show.PrintWithinLimit(w, p.Loops, top, func(l waits.PathLoop) float64 { return share(l.ComputeNs + l.MPINs) }, func(c *show.Row, l waits.PathLoop) {
			where := "in no loop"
			if l.FirstCall != "" {
				where = l.Loop.String()
			}
			c.Share("of path", l.ComputeNs+l.MPINs, p.LengthNs).Ns("computed", l.ComputeNs).Ns("in MPI", l.MPINs).Text("loop, with those in it", where)
		})
	}
	fmt.Fprintln(w)
	show.PrintWithinLimit(w, p.Ranks, top, func(r waits.PathRank) float64 { return share(r.ComputeNs + r.MPINs) }, func(c *show.Row, r waits.PathRank) {
		c.Value("rank", r.Rank).Share("of path", r.ComputeNs+r.MPINs, p.LengthNs).Ns("computed", r.ComputeNs).Ns("in MPI", r.MPINs)
	})
}
