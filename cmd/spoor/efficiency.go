package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

func newEfficiency() *cobra.Command {
	var o output
	var all, byRank, apart bool
	var paths []string
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "efficiency [flags] [TRACE]",
		Short: "Show how evenly work is spread: POP efficiencies, and the calls where time is lost",
		Long: `Parallel efficiency = load balance × communication efficiency, as the POP
project defines them. Useful time is the time outside MPI: load balance is its
mean over its maximum, communication efficiency its maximum over the run time.

Below come the calls in which ranks wait, by time lost. For a collective that is
how much longer the ranks spent in it than the rank that spent least; for calls
such as MPI_Recv and MPI_Wait it is all of their time. Calls below 1 % of the
run are left out. Bars count ranks from least to most.
More: docs/efficiency.md`,
		Example: `  spoor efficiency app.spoor
  spoor efficiency --all-calls app.spoor          also calls below 1 % of the run
  spoor efficiency --by-rank --csv app.spoor      what each rank spent where
  spoor efficiency --json app.spoor | jq .efficiency`,
		Args: aTrace,
		RunE: window.ofInner(func(cmd *cobra.Command, r *trace.Reader, inside bool) error {
			if err := r.RequireTimes(); err != nil {
				return err
			}
			where, named, err := sitesOf(r, paths, apart)
			if err != nil {
				return err
			}
			if byRank {
				list, err := efficiency.TotalsByRank(r, efficiency.Options{NameSite: where.text, SiteNaming: named})
				if err != nil {
					return err
				}
				table, perRank := rankTable(list)
				return o.print(cmd, perRank, func(w io.Writer) { printRanks(w, list, o.top.Rows, terminalWidth(cmd)) }, table.Print)
			}
			p := newProgress(cmd.ErrOrStderr(), "adding up times", r.Ranks())
			rep, err := efficiency.Analyse(r, efficiency.Options{
				AllFunctions: all, ExcludeInitFinalize: inside, NameSite: where.text, SiteNaming: named,
				Progress: func(done, total int) { p.done, p.total = done-1, total; p.step() },
			})
			p.end()
			if err != nil {
				return err
			}
			o.top.UserChosen = o.top.UserChosen || all
			table := efficiencyTable(rep)
			return o.print(cmd, struct {
				*efficiency.Report
				Calls show.Table[efficiency.CallSite] `json:"calls"`
			}{rep, table}, func(w io.Writer) { printEfficiency(w, rep, o.top, terminalWidth(cmd)) }, table.Print)
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.BoolVar(&all, "all-calls", false, "all calls, also those without waiting and those below 1 % of the run")
	f.BoolVar(&byRank, "by-rank", false, "a row for each rank: time in MPI and outside, by call site")
	o.tableFlags(cmd, 10, "calls")
	debugPathFlag(f, &paths)
	apartFlag(f, &apart)
	return cmd
}

// efficiencyTable returns a table with a row for each call site: what ranks lost there by waiting, and times of ranks.
func efficiencyTable(rep *efficiency.Report) show.Table[efficiency.CallSite] {
	type call = efficiency.CallSite
	whole := max(1, float64(rep.Efficiency.RuntimeNs)*float64(rep.Ranks))
	return show.Table[call]{Rows: rep.Calls, Columns: show.Columns[call]{
		{Name: "lost", Unit: show.UnitNs, Doc: "what ranks waited, in sum", Value: func(x call) any { return x.EstimatedWaitNs }},
		{Name: "of run", Unit: show.UnitFraction, Doc: "its share of all ranks' run time", Value: func(x call) any { return x.EstimatedWaitNs / whole }},
		{Name: "calls", Unit: show.UnitCount, Doc: "number of calls", Value: func(x call) any { return x.Count }},
		{Name: "ranks", Unit: show.UnitCount, Doc: "ranks that make them", Value: func(x call) any { return x.RankDurations.Ranks }},
		{Name: "mean", Unit: show.UnitNs, Doc: "total of a rank, on average", Value: func(x call) any { return x.RankDurations.MeanNs }},
		{Name: "least", Unit: show.UnitNs, Doc: "smallest total of a rank", Value: func(x call) any { return x.RankDurations.Min.Ns }},
		{Name: "least rank", Doc: "rank that has it", Value: func(x call) any { return x.RankDurations.Min.Rank }},
		{Name: "most", Unit: show.UnitNs, Doc: "largest total of a rank", Value: func(x call) any { return x.RankDurations.Max.Ns }},
		{Name: "most rank", Doc: "rank that has it", Value: func(x call) any { return x.RankDurations.Max.Rank }},
		{Name: "function", Unit: show.UnitWord, Doc: "MPI function", Value: func(x call) any { return x.Function }},
		{Name: "place", Unit: show.UnitWord, Doc: "call site", Value: func(x call) any { return x.Place }},
	}}
}

func printEfficiency(w io.Writer, rep *efficiency.Report, top show.Limit, width int) {
	e := rep.Efficiency
	if rep.Ranks == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return
	}
	run := show.FormatDuration(float64(e.RuntimeNs))
	if e.RuntimeErrorNs > e.RuntimeNs/200 {
		run += " ± " + show.FormatDuration(float64(e.RuntimeErrorNs))
	}
	show.WriteText(w, [][3]string{
		{"parallel efficiency", shareText(e.Parallel), "mean useful time over run time, " + run},
		{"  load balance", shareText(e.LoadBalance), "mean useful time over the largest"},
		{"  communication", shareText(e.Communication), "largest useful time over run time"},
	}, 0, func(c *show.Row, x [3]string) { c.Text("", x[0]).Text("", x[1]).Text("", x[2]) })
	if rep.MissingRanks > 0 {
		fmt.Fprintf(w, "%s left no track\n", show.FormatPlural(rep.MissingRanks, "rank"))
	}
	fmt.Fprintln(w)
	v := imbalanceView{w: w, width: width, hosts: manyHosts(rep)}
	v.distribution("useful", &rep.UsefulTime, "")
	v.distribution("in MPI", &rep.MPITime, "")
	if rep.InitTime.MeanNs > 0 { // the trace of a part of a run may lack MPI_Init
		v.distribution("MPI_Init", &rep.InitTime, "  ")
	}
	if rep.FinalizeKnown() {
		v.distribution("MPI_Finalize", &rep.FinalizeTime, "  ")
	}
	if rep.MaxThreads > 1 {
		fmt.Fprintf(w, "times are those of up to %d threads a rank, each from its first call to its last, scaled to the run time of the rank\n", rep.MaxThreads)
	}
	fmt.Fprintf(w, "\ntimes of calls: %s\n", timingText(rep))
	calls, rest := show.SplitAtLimit(rep.Calls, top, func(c efficiency.CallSite) float64 {
		return c.EstimatedWaitNs / max(1, float64(e.RuntimeNs)*float64(rep.Ranks))
	})
	for i := range calls {
		c := &calls[i]
		what := "lost"
		if c.CompletesRequests && !c.IsLocal {
			what = "waited"
		}
		calls := show.FormatPlural(c.Count, "call")
		if c.AddressCount > 1 {
			calls += fmt.Sprintf(" at %d addresses", c.AddressCount)
		}
		places := append([]string{c.Place}, c.OtherPlaces...)
		line := fmt.Sprintf("%s at %s: %s, %s %s", c.Function, strings.Join(places, " and "), calls, show.FormatDuration(c.EstimatedWaitNs), what)
		fmt.Fprintf(w, "\n%s\n", show.ShortenPlaces(line, places...))
		once := c.Count == uint64(c.RankDurations.Ranks) && c.RankDurations.Exact // one call per rank: single times equal the sums
		v.distribution("calls, total of a rank:", &c.RankDurations, "  ")
		if !once {
			v.sample(c.CallDurations)
		}
		v.distribution("gaps, total of a rank:", &c.RankGaps, "  ")
		if !once {
			v.sample(c.CallGaps)
		}
	}
	if len(calls) < len(rep.Calls) {
		fmt.Fprintln(w)
	}
	rest.Print(w)
}

// shareText writes a share in percent, with its error if that is at least 0.05 %.
func shareText(s efficiency.BoundedShare) string {
	text := show.Percentage(s.Value, 1)
	switch off := (s.High - s.Low) / 2; {
	case !s.IsPrecise():
		return fmt.Sprintf("not known better than %s to %s", show.Percentage(s.Low, 1), show.Percentage(s.High, 1))
	case off >= 0.0005:
		return fmt.Sprintf("%s ± %.1f", text, 100*off)
	}
	return text
}

func timingText(rep *efficiency.Report) string {
	switch rep.TimesKind {
	case "exact":
		return "each rank's own"
	case "bounded":
		return "each rank's own, within the error that was asked for"
	case "by class":
		return "each rank's own, to 1 %, at the call sites that take most; else from mean, deviation and extremes of the class"
	}
	return "not recorded"
}

// An imbalanceView writes how times are distributed over ranks or calls.
type imbalanceView struct {
	w     io.Writer
	width int
	hosts bool // the run used several hosts, so extremes are written with the rank's host
}

func manyHosts(rep *efficiency.Report) bool {
	all := []efficiency.RankTimeDistribution{rep.UsefulTime, rep.MPITime}
	for i := range rep.Calls {
		all = append(all, rep.Calls[i].RankDurations, rep.Calls[i].RankGaps)
	}
	for i := range all {
		if all[i].Min.Host != all[0].Min.Host || all[i].Max.Host != all[0].Min.Host {
			return true
		}
	}
	return false
}

// line writes a text and a histogram (bars) on one line, or on two if they are wider than the output.
func (v *imbalanceView) line(text, bars string) {
	if bars != "" && utf8.RuneCountInString(text)+2+utf8.RuneCountInString(bars) > v.width {
		fmt.Fprintf(v.w, "%s\n               %s\n", text, bars)
		return
	}
	fmt.Fprintln(v.w, strings.TrimRight(text+"  "+bars, " "))
}

// toAPercent is the largest error of a distribution, relative to its largest time, that is not mentioned.
const toAPercent = 0.0105

// distribution writes the distribution of a time over ranks.
func (v *imbalanceView) distribution(name string, d *efficiency.RankTimeDistribution, indent string) {
	if d.Ranks == 0 {
		return
	}
	text := fmt.Sprintf("%s%-7s %s mean, %s to %s", indent, name, show.FormatDuration(d.MeanNs), v.extreme(d.Min), v.extreme(d.Max))
	if d.ErrorNs >= 1 && d.ErrorNs > toAPercent*d.Max.Ns {
		text += ", each within " + show.FormatDuration(d.ErrorNs)
	}
	v.line(text, bars(d.RankHistogram))
	if len(d.Groups) == 2 {
		a, b := d.Groups[0], d.Groups[1]
		fmt.Fprintf(v.w, "%s        two groups: %s, and %s\n", indent, groupText(a), groupText(b))
	}
}

func (v *imbalanceView) extreme(x efficiency.Extreme) string {
	if v.hosts && x.Host != "" {
		return fmt.Sprintf("%s (rank %d, %s)", show.FormatDuration(x.Ns), x.Rank, x.Host)
	}
	return fmt.Sprintf("%s (rank %d)", show.FormatDuration(x.Ns), x.Rank)
}

// sample writes how the times of single calls are distributed.
func (v *imbalanceView) sample(s *efficiency.CallTimeDistribution) {
	if s == nil {
		return
	}
	v.line(fmt.Sprintf("          each %s mean, %s to %s", show.FormatDuration(s.MeanNs), v.extreme(s.Min), v.extreme(s.Max)), bars(s.LogHistogram))
	if len(s.Groups) == 2 {
		text := func(g efficiency.CallTimeGroup) string {
			return fmt.Sprintf("%d at %s", g.Calls, show.FormatDuration(g.MeanNs))
		}
		a, b := s.Groups[0], s.Groups[1]
		fmt.Fprintf(v.w, "               two groups: %s, and %s, from %s\n", text(a), text(b), v.extreme(b.Min))
	}
}

func groupText(g efficiency.RankTimeGroup) string {
	text := fmt.Sprintf("%s at %s", show.FormatPlural(g.Ranks, "rank"), show.FormatDuration(g.MeanNs))
	if g.IsRankCountEstimated {
		text = "about " + text
	}
	if len(g.SomeRanks) == 0 {
		return text
	}
	text += " (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.SomeRanks), " ", ", "), "[]")
	if g.Ranks > len(g.SomeRanks) {
		text += ", …"
	}
	return text + ")"
}

// bars draws a histogram as one line of bars.
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

// rankWidth is the approximate width of a table column of times, in characters.
const rankWidth = 10

// printRanks writes a row for each rank: its time of computation and in MPI, its attached values, and its times at the
// call sites with most time. Of the latter there are at most top columns, and not more than the width has room for.
func printRanks(w io.Writer, list []efficiency.RankTotals, top, width int) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return
	}
	hosts := slices.ContainsFunc(list, func(r efficiency.RankTotals) bool { return r.Host != list[0].Host })
	cols := efficiency.SiteTimeColumns(list)
	room := (width - 3*rankWidth) / rankWidth
	if hosts {
		room -= 2
	}
	if top > 0 {
		room = min(room, top)
	}
	values := valueNames(list)
	cols = cols[:max(0, min(room-len(values), len(cols)))]
	guessed := false
	known := func(text string, known bool) string {
		if known {
			return text
		}
		guessed = true
		return "~" + text
	}
	time := func(t efficiency.RankTime) string { return known(show.FormatDuration(t.Ns), t.IsOfRank) }
	show.WriteText(w, list, 0, func(c *show.Row, r efficiency.RankTotals) {
		c.Value("rank", r.Rank)
		if hosts {
			c.Text("host", r.Host)
		}
		c.Value("compute", time(r.Compute)).Value("in MPI", time(r.MPI))
		for _, name := range values {
			text := "-"
			for _, v := range r.AttachedSums {
				if v.Function == "" && v.Name == name {
					text = known(strconv.FormatFloat(v.Sum, 'g', 4, 64), v.IsOfRank)
				}
			}
			c.Value(name, text)
		}
		for i, col := range cols {
			text := "-"
			if t, ok := col.ByRank[r.Rank]; ok {
				text = time(t)
			}
			c.Value(fmt.Sprintf("[%d]", i+1), text)
		}
	})
	fmt.Fprintln(w)
	for i, c := range cols {
		what := "compute before"
		if c.IsTimeInCalls {
			what = "in"
		}
		fmt.Fprintln(w, show.ShortenPlaces(fmt.Sprintf("[%d] %s %s at %s", i+1, what, c.Function, c.Place), c.Place))
	}
	if guessed {
		fmt.Fprintln(w, "~ not known of the rank: its part in what ranks like it spent")
	}
}

// valueNames lists the names of values attached on any rank.
func valueNames(list []efficiency.RankTotals) (names []string) {
	for i := range list {
		for _, v := range list[i].AttachedSums {
			if v.Function == "" && !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// A rankQuantity is a rank's time in ns, or the sum of a value attached to its calls: of the whole rank, or at one call
// site.
type rankQuantity struct {
	rank                       int
	host, what, function, site string
	value                      efficiency.RankTime
}

// A rankAnswer is a rank in the JSON output. Rows are the rank's rows of rankTable; all other fields are as in release
// 1.0.
type rankAnswer struct {
	efficiency.RankTotals
	Rows show.Table[rankQuantity] `json:"rows"`
}

// rankTable returns a table with a row for each quantity of each rank: first the rank's totals, then its times by call
// site, then its attached values. It also returns the rows of each rank.
func rankTable(list []efficiency.RankTotals) (all show.Table[rankQuantity], perRank []rankAnswer) {
	all.Columns = show.Columns[rankQuantity]{
		{Name: "rank", Value: func(q rankQuantity) any { return q.rank }},
		{Name: "host", Unit: show.UnitWord, Value: func(q rankQuantity) any { return q.host }},
		{Name: "what", Unit: show.UnitWord, Doc: "compute, mpi, or the name of an attached value", Value: func(q rankQuantity) any { return q.what }},
		{Name: "function", Unit: show.UnitWord, Doc: "MPI function; empty for the rank's total", Value: func(q rankQuantity) any { return q.function }},
		{Name: "site", Unit: show.UnitWord, Doc: "call site", Value: func(q rankQuantity) any { return q.site }},
		{Name: "value", Unit: show.UnitRounded, Doc: "ns, or the sum of the attached value", Value: func(q rankQuantity) any { return q.value.Ns }},
		{Name: "within", Unit: show.UnitRounded, Doc: "the truth is at most this far away", Value: func(q rankQuantity) any { return q.value.ErrorNs }},
		{Name: "known", Doc: "the rank's own; else its part in what ranks like it spent", Value: func(q rankQuantity) any { return q.value.IsOfRank }},
	}
	for _, r := range list {
		rows := []rankQuantity{{r.Rank, r.Host, "compute", "", "", r.Compute}, {r.Rank, r.Host, "mpi", "", "", r.MPI}}
		for _, s := range r.Sites {
			rows = append(rows, rankQuantity{r.Rank, r.Host, "compute", s.Function, s.Place, s.Compute}, rankQuantity{r.Rank, r.Host, "mpi", s.Function, s.Place, s.MPI})
		}
		for _, v := range r.AttachedSums {
			rows = append(rows, rankQuantity{r.Rank, r.Host, v.Name, v.Function, v.Place, efficiency.RankTime{Ns: v.Sum, ErrorNs: v.Error, IsOfRank: v.IsOfRank}})
		}
		all.Rows = append(all.Rows, rows...)
		perRank = append(perRank, rankAnswer{r, show.Table[rankQuantity]{Rows: rows, Columns: all.Columns}})
	}
	return all, perRank
}
