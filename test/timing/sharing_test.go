package timing

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
)

// ranks looks at what each rank spent, in all and by call site.
func (c *cell) ranks() {
	if c.word == refused {
		c.refuses("no times", "efficiency", "--by-rank", "--json", "t.spoor")
		return
	}
	var list []efficiency.RankTotals
	c.json(&list, "efficiency", "--by-rank", "--json", "t.spoor")
	if len(list) != len(c.truth) {
		c.t.Fatalf("%d ranks", len(list))
	}
	c.ranksCSV()
	for rank, x := range list {
		want := c.truth.all(rank)
		c.rankTime(fmt.Sprintf("rank %d computed", rank), x.Compute, want.gap, want.calls)
		c.rankTime(fmt.Sprintf("rank %d in MPI", rank), x.MPI, want.duration, want.calls)
		for _, s := range x.Sites {
			switch s.Function {
			case "MPI_Allreduce", "MPI_Sendrecv", "MPI_Barrier", "MPI_Wait", "MPI_Send", "MPI_Irecv": // from one place
				want := c.truth.in(rank, s.Function)
				c.rankTime(fmt.Sprintf("rank %d before %s", rank, s.Function), s.Compute, want.gap, want.calls)
				c.rankTime(fmt.Sprintf("rank %d in %s", rank, s.Function), s.MPI, want.duration, want.calls)
			}
		}
	}
}

// ranksCSV does the same with the rows of --csv.
func (c *cell) ranksCSV() {
	c.t.Helper()
	seen := 0
	for _, row := range c.csv("efficiency", "--by-rank", "--csv", "t.spoor") {
		rank, err := strconv.Atoi(row["rank"])
		if err != nil {
			c.t.Fatal(err)
		}
		ns, err := strconv.ParseFloat(row["value"], 64)
		if err != nil {
			c.t.Fatal(err)
		}
		want := c.truth.all(rank)
		switch row["function"] {
		case "":
		case "MPI_Allreduce", "MPI_Sendrecv": // from one place
			want = c.truth.in(rank, row["function"])
		default:
			continue
		}
		seen++
		b := want.duration
		if row["what"] == "compute" {
			b = want.gap
		}
		if row["known"] == "true" {
			c.same(fmt.Sprintf("%v", row), ns, b, want.calls)
		}
	}
	if seen != 6*len(c.truth) {
		c.t.Errorf("efficiency --by-rank --csv: %d rows", seen)
	}
}

// lost looks at the calls in which ranks wait: what they cost, and who spent least and most. What is not said to be
// exact is off by what it says at most.
func (c *cell) lost() {
	if c.word == refused {
		c.refuses("no times", "efficiency", "--all-calls", "t.spoor")
		return
	}
	var rep efficiency.Report
	c.json(&rep, "efficiency", "--all-calls", "--json", "t.spoor")
	seen := 0
	for verb, calls := range map[string][]efficiency.CallSite{"imbalance": rep.Calls, "report": c.page.EfficiencyReport.Calls} {
		for i := range calls {
			x := &calls[i]
			switch x.Function {
			case "MPI_Barrier", "MPI_Wait", "MPI_Allreduce": // from one place
			default:
				continue
			}
			seen++
			var totals, gaps []bound
			for rank := range c.truth {
				s := c.truth.in(rank, x.Function)
				totals, gaps = append(totals, s.duration), append(gaps, s.gap)
			}
			d := c.spent(verb+": "+x.Function, &x.RankDurations, totals)
			c.spent(verb+": gaps before "+x.Function, &x.RankGaps, gaps)
			least, sum, n := totals[0], bound{}, float64(len(totals))
			for _, b := range totals {
				least = bound{min(least.low, b.low), min(least.high, b.high)}
				sum.plus(b)
			}
			d.ns = 2 * (n*d.ns + d.share*sum.high) // of a difference
			if x.IsCollective {                    // what ranks spent longer than the one that spent least
				sum = bound{sum.low - n*least.high, sum.high - n*least.low}
			}
			if !d.holds(x.EstimatedWaitNs, sum) {
				c.t.Errorf("%s: %s cost %.0f, want %v", verb, x.Function, x.EstimatedWaitNs, sum)
			}
		}
	}
	if seen != 6 {
		c.t.Errorf("%d call sites", seen)
	}
}

// The rows of `efficiency`: what a call site cost, and what its calls and the gaps before them came to on each rank.
var (
	siteRow = regexp.MustCompile(`^(MPI_\w+) at .*: (\d+) calls?, (.*) (lost|waited)$`)
	spread  = regexp.MustCompile(`^  (calls|gaps), total of a rank: (.*) mean, (.*) \(rank (\d+)\) to (.*) \(rank (\d+)\)`)
	inexact = regexp.MustCompile(`, each within (\S+ \S+)`)
)

// lostText looks at the same as text, which has three digits.
func (c *cell) lostText() {
	if c.word == refused {
		c.refuses("no times", "efficiency", "--all-calls", "t.spoor")
		return
	}
	function, seen := "", make(map[string]int)
	for line := range strings.Lines(c.spoor("efficiency", "--all-calls", "--top", "0", "t.spoor")) {
		line = strings.TrimRight(line, "\n")
		if m := siteRow.FindStringSubmatch(line); m != nil {
			function = ""
			switch m[1] {
			case "MPI_Barrier", "MPI_Wait", "MPI_Allreduce", "MPI_Sendrecv", "MPI_Send", "MPI_Irecv":
				function = m[1]
			}
			if all := c.truth.in(-1, m[1]); function == "MPI_Wait" {
				c.rounded("imbalance: "+line, printed(c.t, m[3])[0], all.duration, all.calls)
			} else if function != "" && m[2] != strconv.FormatUint(all.calls, 10) {
				c.t.Errorf("imbalance: %q, there were %d calls", line, all.calls)
			}
			continue
		}
		m := spread.FindStringSubmatch(line)
		if m == nil || function == "" {
			continue
		}
		seen[m[1]]++
		r := c.text(uint64(len(c.truth[0])))
		if w := inexact.FindStringSubmatch(line); w != nil {
			r.ns += 1.005 * printed(c.t, w[1])[0]
		}
		of := make([]bound, len(c.truth))
		least, most, mean := bound{math.Inf(1), math.Inf(1)}, bound{}, bound{}
		for rank := range of {
			s := c.truth.in(rank, function)
			if of[rank] = s.duration; m[1] == "gaps" {
				of[rank] = s.gap
			}
			b := of[rank]
			least = bound{min(least.low, b.low), min(least.high, b.high)}
			most = bound{max(most.low, b.low), max(most.high, b.high)}
			mean.plus(bound{b.low / float64(len(of)), b.high / float64(len(of))})
		}
		lowest, _ := strconv.Atoi(m[4])
		highest, _ := strconv.Atoi(m[6])
		for _, x := range []struct {
			text string
			want []bound
		}{{m[2], []bound{mean}}, {m[3], []bound{least, of[lowest]}}, {m[5], []bound{most, of[highest]}}} {
			for _, want := range x.want {
				if ns := printed(c.t, x.text)[0]; !r.holds(ns, want) {
					c.t.Errorf("imbalance: %s of %q: want %.0f to %.0f, which is to be %s", x.text, line, want.low, want.high, c.word)
				}
			}
		}
	}
	if seen["calls"] != 6 || seen["gaps"] != 6 {
		c.t.Errorf("imbalance: rows of %v", seen)
	}
}

// spent holds a distribution over the ranks against what each spent.
func (c *cell) spent(what string, got *efficiency.RankTimeDistribution, of []bound) room {
	c.t.Helper()
	n := float64(len(of))
	least, most, mean := of[0], bound{}, bound{}
	for _, b := range of {
		least = bound{min(least.low, b.low), min(least.high, b.high)}
		most = bound{max(most.low, b.low), max(most.high, b.high)}
		mean.plus(bound{b.low / n, b.high / n})
	}
	r := c.room(uint64(len(c.truth[0])))
	if r.ns += got.ErrorNs; !c.r.HasTimes() || !r.holds(got.MeanNs, mean) || !r.holds(got.Min.Ns, least) || !r.holds(got.Max.Ns, most) {
		c.t.Errorf("%s: %+v, want %v to %v, mean %v", what, *got, least, most, mean)
	}
	if own := of[got.Max.Rank]; !r.holds(got.Max.Ns, own) {
		c.t.Errorf("%s: rank %d did not spend most: %v of %v", what, got.Max.Rank, own, most)
	}
	if got.Exact && c.word == percent && got.Max.Ns > got.Min.Ns && got.Max.Ns > 1e4 {
		c.t.Errorf("%s: %+v is not exact", what, *got)
	}
	return r
}

// rankTime holds a time against the truth by what it says of itself, and if it is the rank's, by the table.
func (c *cell) rankTime(what string, got efficiency.RankTime, want bound, calls uint64) {
	c.t.Helper()
	if r := (room{1e-3, got.ErrorNs + 5e3}); !r.holds(got.Ns, want) {
		c.t.Errorf("%s: %+v, want %v", what, got, want)
	}
	if got.IsOfRank {
		c.same(what, got.Ns, want, calls)
	}
}

// perRank looks at the table that profile prints of all ranks.
func (c *cell) perRank() {
	var flat flatProfile
	c.json(&flat, "profile", "--by-rank", "--json", "t.spoor")
	if len(flat.PerRank) != len(c.truth) {
		c.t.Fatalf("%d ranks", len(flat.PerRank))
	}
	for rank, x := range flat.PerRank {
		want := c.truth.all(rank)
		if c.word == absent {
			if x.SpanNs != 0 || x.MPINs != 0 {
				c.t.Errorf("profile --by-rank: %+v", x)
			}
			continue
		}
		span := want.duration
		span.plus(want.gap)
		c.same(fmt.Sprintf("rank %d's time", rank), float64(x.SpanNs), span, want.calls)
		c.same(fmt.Sprintf("rank %d in MPI", rank), float64(x.MPINs), want.duration, want.calls)
	}
}

// efficiencies looks at shares: of what ranks computed in the time of the rank that took longest.
func (c *cell) efficiencies() {
	if c.word == refused {
		c.refuses("no times", "efficiency", "--json", "t.spoor")
		if c.page.EfficiencyReport != nil {
			c.t.Error("report: efficiencies in a trace without times")
		}
		return
	}
	var useful, span, most bound
	for rank := range c.truth {
		want := c.truth.all(rank)
		useful.plus(bound{want.gap.low / float64(len(c.truth)), want.gap.high / float64(len(c.truth))})
		most = bound{max(most.low, want.gap.low), max(most.high, want.gap.high)}
		want.gap.plus(want.duration)
		span = bound{max(span.low, want.gap.low), max(span.high, want.gap.high)}
	}
	var rep efficiency.Report
	c.json(&rep, "efficiency", "--json", "t.spoor")
	for verb, rep := range map[string]*efficiency.Report{"imbalance": &rep, "report": c.page.EfficiencyReport} {
		c.share(verb+": parallel efficiency", rep.Efficiency.Parallel, useful, span)
		c.share(verb+": load balance", rep.Efficiency.LoadBalance, useful, most)
		c.share(verb+": communication efficiency", rep.Efficiency.Communication, most, span)
		all := uint64(len(c.truth[0]))
		c.same(verb+": useful time", rep.UsefulTime.MeanNs, useful, all)
		c.same(verb+": run time", float64(rep.Efficiency.RuntimeNs), span, all)
	}
	c.efficienciesText(useful, most, span)
}

var share = regexp.MustCompile(`([\d.]+) %`)

// efficienciesText looks at the same as text: three shares, the run time, and the useful time's mean, least and most.
func (c *cell) efficienciesText(useful, most, span bound) {
	c.t.Helper()
	text := c.spoor("efficiency", "t.spoor")
	for name, x := range map[string]struct{ of, in bound }{"parallel efficiency": {useful, span}, "  load balance": {useful, most}, "  communication": {most, span}} {
		_, line, _ := strings.Cut(text, name)
		line, _, _ = strings.Cut(line, "\n")
		found := share.FindStringSubmatch(line)
		if found == nil {
			c.t.Errorf("imbalance: %s: %q", name, line)
			continue
		}
		got, err := strconv.ParseFloat(found[1], 64)
		want := bound{x.of.low / x.in.high, x.of.high / x.in.low}
		if r := (room{2 * c.room(1).share, 2e-3}); err != nil || !r.holds(got/100, want) {
			c.t.Errorf("imbalance: %s: %q, want %v", name, line, want)
		}
	}
	all := uint64(len(c.truth[0]))
	_, line, _ := strings.Cut(text, "parallel efficiency")
	line, rest, _ := strings.Cut(line, "\n")
	_, rest, _ = strings.Cut(rest, "\nuseful")
	rest, _, _ = strings.Cut(rest, "\n")
	rest, _, _ = strings.Cut(rest, ", each within")
	run, times := printed(c.t, line), printed(c.t, rest)
	if len(run) != 1 || len(times) != 3 {
		c.t.Fatalf("imbalance: %q, useful %q", line, rest)
	}
	c.rounded("imbalance: run time", run[0], span, all)
	c.rounded("imbalance: useful time", times[0], useful, all)
	c.rounded("imbalance: most useful time", times[2], most, all)
}

func (c *cell) share(what string, got efficiency.BoundedShare, of, in bound) {
	c.t.Helper()
	r := c.room(1)
	if want := (bound{of.low / in.high, of.high / in.low}); got.Low > got.Value || got.High < got.Value ||
		!(room{2 * r.share, 1e-3}).holds(got.Value, want) {
		c.t.Errorf("%s: %+v, want %v", what, got, want)
	}
}
