package timing

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/histogram"
	"github.com/spoor-hpc/spoor/internal/imbalance"
	"github.com/spoor-hpc/spoor/internal/profile"
	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/internal/summary"
)

// A part is what stands between two fences.
type part struct{ compute, mpi float64 }

// parts cuts a list of nodes at the fences.
func parts[N any](list []N, fence func(N) bool, sums func(N) part) (out []part) {
	out = []part{{}}
	for _, n := range list {
		if fence(n) {
			out = append(out, part{})
			continue
		}
		p, last := sums(n), &out[len(out)-1]
		last.compute += p.compute
		last.mpi += p.mpi
	}
	return out
}

// structure looks at what verbs that show the structure say of what stands between two fences. Means are over
// the ranks, and so is the report.
func (c *cell) structure() {
	all := make([]knownSum, len(knownPlaces))
	for i, place := range knownPlaces {
		all[i] = c.truth.at(-1, place).mean(len(c.truth))
	}
	for rank := range c.truth {
		want := all
		if c.own() {
			want = make([]knownSum, len(knownPlaces))
			for i, place := range knownPlaces {
				want[i] = c.truth.at(rank, place)
			}
		}
		c.profile(rank, want)
	}
	page := &c.page
	if len(page.Structure) != 1 {
		c.t.Fatalf("report: %d structures", len(page.Structure))
	}
	s := &page.Structure[0]
	c.places("report", all, c.same, parts(s.Threads[0].Body, func(n report.Node) bool {
		return n.Site > 0 && s.Sites[n.Site-1].Function == "MPI_Comm_size"
	}, func(n report.Node) part { return part{n.Compute, n.MPI} }))
}

// places compares what stands between fences; only what is in front of the first and behind the last is
// not among the places.
func (c *cell) places(what string, want []knownSum, same func(string, float64, bound, uint64), got []part) {
	c.t.Helper()
	if len(got) != len(want)+2 {
		c.t.Fatalf("%s: %d parts between fences, want %d", what, len(got)-2, len(want))
	}
	for i, w := range want {
		x := got[i+1]
		if c.word == absent {
			if x != (part{}) {
				c.t.Errorf("%s: %s: %+v in a trace without times", what, knownPlaces[i], x)
			}
			continue
		}
		same(what+": before calls of "+knownPlaces[i], x.compute, w.gap, w.calls)
		same(what+": in calls of "+knownPlaces[i], x.mpi, w.duration, w.calls)
	}
}

func (c *cell) profile(rank int, want []knownSum) {
	c.t.Helper()
	flags := []string{"profile", "t.spoor", "--rank", strconv.Itoa(rank)}
	if c.word != absent {
		flags = append(flags, "--min-time", "0")
	}
	var list []profile.Profile
	c.json(&list, append(flags, "--json")...)
	p := &list[0]
	kind := map[string]string{absent: "unknown"}[c.word]
	if kind == "" {
		kind = c.word
	}
	if p.Times != kind || c.own() && len(p.TimesOf) != 1 {
		c.t.Errorf("profile: times are %s, of ranks %v; want %s", p.Times, p.TimesOf, kind)
	}
	c.places("profile --json", want, c.same, parts(p.Threads[0].Body, func(n *profile.Node) bool {
		return n.Site > 0 && p.Sites[n.Site-1].Function == "MPI_Comm_size"
	}, func(n *profile.Node) part { return part{n.Sums.Compute, n.Sums.MPI} }))
	if rank > 0 {
		return
	}
	// Lines of the tree that are within none: a share, the total and the mean of both, calls.
	tree := c.spoor(append(flags, "--depth", "0")...)
	if c.word == absent {
		if printed(c.t, tree) != nil || strings.Contains(tree, "share") {
			c.t.Errorf("profile prints times:\n%s", tree)
		}
		return
	}
	_, table, _ := strings.Cut(tree, "calls\n")
	c.places("profile", want, c.rounded, parts(strings.Split(strings.TrimSpace(table), "\n"), isFence, func(line string) part {
		times := printed(c.t, line)
		if len(times) < 4 {
			c.t.Fatalf("profile: line %q", line)
		}
		return part{times[0], times[2]}
	}))
	for _, style := range []string{"paper", "terse", "latex"} {
		var sums []knownSum
		for _, w := range want {
			w.duration.plus(w.gap) // terms of loops have one time
			w.gap = bound{}
			sums = append(sums, w)
		}
		c.places("profile --style "+style, sums, c.rounded, parts(terms(c.spoor(append(flags, "--style", style)...)), isFence, func(line string) part {
			us, err := strconv.ParseFloat(term.FindStringSubmatch(line)[1], 64)
			if err != nil {
				c.t.Fatalf("%q: %v", line, err)
			}
			return part{mpi: 1e3 * us}
		}))
	}
}

func isFence(line string) bool { return fences.MatchString(line) }

var (
	fences = regexp.MustCompile(`Comm(\\?_)size`)
	term   = regexp.MustCompile(` : ([\d.]+)\$?$`)
)

// terms are the lines that end with a time in µs, those of computation together with the call that follows.
func terms(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); term.MatchString(line) {
			list = append(list, line)
		}
	}
	return list
}

// functions looks at sums over all ranks.
func (c *cell) functions() {
	got := make(map[string]map[string]float64) // by verb and function
	add := func(verb, function string, ns float64) {
		if got[verb] == nil {
			got[verb] = make(map[string]float64)
		}
		got[verb][function] += ns
	}
	var info summary.Summary
	c.json(&info, "info", "--json", "--top", "0", "t.spoor")
	for _, f := range info.Functions {
		add("info", f.Name, float64(f.Ns))
	}
	var flat profile.Flat
	c.json(&flat, "profile", "--flat", "--json", "t.spoor")
	for _, r := range flat.Rows {
		add("profile --flat", r.Function, float64(r.Ns))
		add("profile --flat, before", r.Function, float64(r.ComputeNs))
	}
	for _, r := range c.page.Flat.Rows {
		add("report", r.Function, float64(r.Ns))
		add("report, before", r.Function, float64(r.ComputeNs))
	}
	for _, verb := range []string{"--flat", "--callers"} {
		rows := c.csv("profile", verb, "--csv", "t.spoor")
		for _, row := range rows {
			if c.word == absent {
				if row["ns"] != "" || row["compute_ns"] != "" {
					c.t.Errorf("profile %s --csv: %v", verb, row)
				}
				continue
			}
			ns, err := strconv.ParseFloat(row["ns"], 64)
			if err != nil {
				c.t.Fatal(err)
			}
			before, err := strconv.ParseFloat(row["compute_ns"], 64)
			if err != nil {
				c.t.Fatal(err)
			}
			add("profile --csv "+verb, row["function"], ns)
			add("profile --csv "+verb+", before", row["function"], before)
		}
	}
	for verb, functions := range got {
		for name, ns := range functions {
			want := c.truth.in(-1, name)
			b := want.duration
			if strings.HasSuffix(verb, ", before") {
				b = want.gap
			}
			switch {
			case want.calls == 0:
				c.t.Errorf("%s: there are no calls of %s", verb, name)
			case c.word != absent:
				c.same(verb+": "+name, ns, b, want.calls)
			case ns != 0:
				c.t.Errorf("%s: %s took %.0f ns in a trace without times", verb, name, ns)
			}
		}
	}
	if c.word == absent {
		if text := c.spoor("info", "t.spoor") + c.spoor("profile", "--flat", "t.spoor"); printed(c.t, text) != nil {
			c.t.Errorf("times are printed:\n%s", text)
		}
	}
}

// csv reads what a verb prints, by the names of columns.
func (c *cell) csv(args ...string) (list []map[string]string) {
	c.t.Helper()
	rows, err := csv.NewReader(bytes.NewBufferString(c.spoor(args...))).ReadAll()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, row := range rows[1:] {
		m := make(map[string]string)
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		list = append(list, m)
	}
	return list
}

// extremes looks at the shortest and the longest call of each function, and who had the longest.
func (c *cell) extremes() {
	var info summary.Summary
	c.json(&info, "info", "--json", "--top", "0", "t.spoor")
	for _, f := range info.Functions {
		if c.word == absent {
			if f.MinNs != 0 || f.MaxNs != 0 {
				c.t.Errorf("info: %+v", f)
			}
			continue
		}
		want := c.truth.in(-1, f.Name)
		c.same("info: least of "+f.Name, float64(f.MinNs), want.least, 1)
		c.same("info: most of "+f.Name, float64(f.MaxNs), want.most, 1)
		if own := c.truth.in(f.MaxRank, f.Name); own.most.high < want.most.low*0.99 {
			c.t.Errorf("info: rank %d did not have the longest %s", f.MaxRank, f.Name)
		}
	}
}

// ranks looks at what each rank spent, in all and by call site.
func (c *cell) ranks() {
	if c.word == refused {
		c.refuses("no times", "imbalance", "--ranks", "--json", "t.spoor")
		return
	}
	var list []imbalance.RankTotals
	c.json(&list, "imbalance", "--ranks", "--json", "t.spoor")
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
	for _, row := range c.csv("imbalance", "--ranks", "--csv", "t.spoor") {
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
		c.t.Errorf("imbalance --ranks --csv: %d rows", seen)
	}
}

// lost looks at the calls in which ranks wait: what they cost, and who spent least and most. What is not said to be
// exact is off by what it says at most.
func (c *cell) lost() {
	if c.word == refused {
		c.refuses("no times", "imbalance", "--all", "t.spoor")
		return
	}
	var rep imbalance.Report
	c.json(&rep, "imbalance", "--all", "--json", "t.spoor")
	seen := 0
	for verb, calls := range map[string][]imbalance.Call{"imbalance": rep.Calls, "report": c.page.Imbalance.Calls} {
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
			d := c.spent(verb+": "+x.Function, &x.Duration, totals)
			c.spent(verb+": gaps before "+x.Function, &x.Gap, gaps)
			least, sum, n := totals[0], bound{}, float64(len(totals))
			for _, b := range totals {
				least = bound{min(least.low, b.low), min(least.high, b.high)}
				sum.plus(b)
			}
			d.ns = 2 * (n*d.ns + d.share*sum.high) // of a difference
			if x.Collective {                      // what ranks spent longer than the one that spent least
				sum = bound{sum.low - n*least.high, sum.high - n*least.low}
			}
			if !d.holds(x.CostNs, sum) {
				c.t.Errorf("%s: %s cost %.0f, want %v", verb, x.Function, x.CostNs, sum)
			}
		}
	}
	if seen != 6 {
		c.t.Errorf("%d call sites", seen)
	}
}

// spent holds a distribution over the ranks against what each spent.
func (c *cell) spent(what string, got *imbalance.Distribution, of []bound) room {
	c.t.Helper()
	n := float64(len(of))
	least, most, mean := of[0], bound{}, bound{}
	for _, b := range of {
		least = bound{min(least.low, b.low), min(least.high, b.high)}
		most = bound{max(most.low, b.low), max(most.high, b.high)}
		mean.plus(bound{b.low / n, b.high / n})
	}
	r := c.room(uint64(len(c.truth[0])))
	if r.ns += got.Within; !c.r.HasTimes() || !r.holds(got.Mean, mean) || !r.holds(got.Least.Ns, least) || !r.holds(got.Most.Ns, most) {
		c.t.Errorf("%s: %+v, want %v to %v, mean %v", what, *got, least, most, mean)
	}
	if own := of[got.Most.Rank]; !r.holds(got.Most.Ns, own) {
		c.t.Errorf("%s: rank %d did not spend most: %v of %v", what, got.Most.Rank, own, most)
	}
	if got.Exact && c.word == percent && got.Most.Ns > got.Least.Ns && got.Most.Ns > 1e4 {
		c.t.Errorf("%s: %+v is not exact", what, *got)
	}
	return r
}

// rankTime holds a time against the truth by what it says of itself, and if it is the rank's, by the table.
func (c *cell) rankTime(what string, got imbalance.RankTime, want bound, calls uint64) {
	c.t.Helper()
	if r := (room{1e-3, got.Within + 5e3}); !r.holds(got.Ns, want) {
		c.t.Errorf("%s: %+v, want %v", what, got, want)
	}
	if got.Known {
		c.same(what, got.Ns, want, calls)
	}
}

// perRank looks at the table that profile prints of all ranks.
func (c *cell) perRank() {
	var flat profile.Flat
	c.json(&flat, "profile", "--flat", "--per-rank", "--json", "t.spoor")
	if len(flat.PerRank) != len(c.truth) {
		c.t.Fatalf("%d ranks", len(flat.PerRank))
	}
	for rank, x := range flat.PerRank {
		want := c.truth.all(rank)
		if c.word == absent {
			if x.SpanNs != 0 || x.MPINs != 0 {
				c.t.Errorf("profile --per-rank: %+v", x)
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
		c.refuses("no times", "imbalance", "--json", "t.spoor")
		if c.page.Imbalance != nil {
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
	var rep imbalance.Report
	c.json(&rep, "imbalance", "--json", "t.spoor")
	for verb, rep := range map[string]*imbalance.Report{"imbalance": &rep, "report": c.page.Imbalance} {
		c.share(verb+": parallel efficiency", rep.Efficiency.Parallel, useful, span)
		c.share(verb+": load balance", rep.Efficiency.LoadBalance, useful, most)
		c.share(verb+": communication efficiency", rep.Efficiency.Communication, most, span)
		all := uint64(len(c.truth[0]))
		c.same(verb+": useful time", rep.Useful.Mean, useful, all)
		c.same(verb+": run time", float64(rep.Efficiency.RuntimeNs), span, all)
	}
	c.efficienciesText(useful, most, span)
}

var share = regexp.MustCompile(`([\d.]+) %`)

// efficienciesText looks at the same as text: three shares, the run time, and the useful time's mean, least and most.
func (c *cell) efficienciesText(useful, most, span bound) {
	c.t.Helper()
	text := c.spoor("imbalance", "t.spoor")
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

func (c *cell) share(what string, got imbalance.Share, of, in bound) {
	c.t.Helper()
	r := c.room(1)
	if want := (bound{of.low / in.high, of.high / in.low}); got.Low > got.Value || got.High < got.Value ||
		!(room{2 * r.share, 1e-3}).holds(got.Value, want) {
		c.t.Errorf("%s: %+v, want %v", what, got, want)
	}
}

// histograms looks at how calls and gaps are spread.
func (c *cell) histograms() {
	if c.word == refused {
		why := "no times"
		if c.r.HasTimes() {
			why = "no histograms"
		}
		c.refuses(why, "histogram", "--json", "t.spoor")
		return
	}
	var rep histogram.Report
	c.json(&rep, "histogram", "--json", "t.spoor")
	if rep.Times != c.kind() {
		c.t.Errorf("times are %s, want %s", rep.Times, c.kind())
	}
	rows := c.csv("histogram", "--csv", "t.spoor")
	for i := range rep.Sites {
		switch s := &rep.Sites[i]; s.Function {
		case "MPI_Allreduce", "MPI_Sendrecv", "MPI_Barrier", "MPI_Wait", "MPI_Send", "MPI_Irecv": // from one place
			var gaps, durations []bound
			for rank := range c.truth {
				for j := range c.truth[rank] {
					if known := &c.truth[rank][j]; known.name == s.Function {
						gaps, durations = append(gaps, known.gap), append(durations, known.lasted())
					}
				}
			}
			c.spread(s.Function+", durations", &s.Duration, durations)
			c.spread(s.Function+", gaps", &s.Gap, gaps)
			c.spreadCSV(rows, s.Function, "duration", durations)
			c.spreadCSV(rows, s.Function, "gap", gaps)
		}
	}
}

// spreadCSV looks at the rows of bins of a function: their calls together, what these come to, and the extremes.
func (c *cell) spreadCSV(rows []map[string]string, function, what string, times []bound) {
	c.t.Helper()
	number := func(row map[string]string, name string) float64 {
		n, err := strconv.ParseFloat(row[name], 64)
		if err != nil {
			c.t.Fatalf("histogram --csv: %s of %v: %v", name, row, err)
		}
		return n
	}
	calls, sum, least, most := 0.0, 0.0, math.Inf(1), 0.0
	for _, row := range rows {
		if row["function"] == function && row["what"] == what && row["after"] == "" {
			n := number(row, "calls")
			calls += n
			sum += n * number(row, "mean_ns")
			least, most = min(least, number(row, "least_ns")), max(most, number(row, "most_ns"))
		}
	}
	want, first, last := bound{}, times[0], bound{}
	for _, b := range times {
		want.plus(b)
		first = bound{min(first.low, b.low), min(first.high, b.high)}
		last = bound{max(last.low, b.low), max(last.high, b.high)}
	}
	n := float64(len(times))
	r := c.room(1)
	if c.word == drawn {
		r = room{2e-3, 5e3} // as in spread
	}
	if calls != n || !r.holds(sum/n, bound{want.low / n, want.high / n}) || !r.holds(least, first) || !r.holds(most, last) {
		c.t.Errorf("histogram --csv: %s, %s: %.0f calls from %.0f to %.0f, %.0f in all; want %.0f from %v to %v, %v", function, what, calls, least, most, sum, n, first, last, want)
	}
}

// spread holds a histogram against the times that are in it. Its own bins are estimates, unless calls are
// counted one by one.
func (c *cell) spread(what string, got *histogram.Spread, times []bound) {
	c.t.Helper()
	n := float64(len(times))
	least, most, sum := times[0], bound{}, bound{}
	for _, b := range times {
		least = bound{min(least.low, b.low), min(least.high, b.high)}
		most = bound{max(most.low, b.low), max(most.high, b.high)}
		sum.plus(bound{b.low / n, b.high / n})
	}
	r := c.room(1)
	if c.word == drawn {
		r = room{2e-3, 5e3} // counts, extremes and means of all calls are not
	}
	if got.Count != uint64(len(times)) || !r.holds(got.Mean, sum) || !r.holds(float64(got.Least), least) || !r.holds(float64(got.Most), most) {
		c.t.Errorf("%s: %d calls from %d to %d, mean %.0f; want %d from %v to %v, mean %v", what, got.Count, got.Least, got.Most, got.Mean,
			len(times), least, most, sum)
	}
	calls, mean := uint64(0), 0.0
	for _, b := range got.Bins {
		calls += b.Count
		mean += b.Mean * float64(b.Count) / n
		if b.Mean < float64(b.Least)-1 || b.Mean > float64(b.Most)+1 {
			c.t.Errorf("%s: bin %+v", what, b)
		}
		if !c.own() {
			continue
		}
		within, touching := uint64(0), uint64(0)
		for _, x := range times {
			low, high := x.low*(1-r.share)-r.ns, x.high*(1+r.share)+r.ns
			if low >= float64(b.Least) && high <= float64(b.Most) {
				within++
			}
			if high >= float64(b.Least) && low <= float64(b.Most) {
				touching++
			}
		}
		if b.Count < within || b.Count > touching {
			c.t.Errorf("%s: bin %+v, %d to %d calls are in there", what, b, within, touching)
		}
	}
	if calls != got.Count || !r.holds(mean, sum) {
		c.t.Errorf("%s: bins have %d calls, mean %.0f", what, calls, mean)
	}
}

// timeline looks at how much of the rows functions have.
func (c *cell) timeline() {
	tl := c.page.Timeline
	if c.word == absent {
		if tl != nil {
			c.t.Error("a timeline of a trace without times")
		}
		return
	}
	if tl.Kind != c.kind() {
		c.t.Errorf("times are %s, want %s", tl.Kind, c.kind())
	}
	seen := 0
	for _, f := range tl.Functions {
		if want := c.truth.in(-1, f.Name); want.calls > 0 {
			seen++
			if f.Calls != want.calls {
				c.t.Errorf("%s: %d calls, want %d", f.Name, f.Calls, want.calls)
			}
			c.same(f.Name, f.Ns, want.duration, want.calls)
		}
	}
	functions := make(map[string]bool)
	for i := range c.truth[0] {
		functions[c.truth[0][i].name] = true
	}
	if seen != len(functions) {
		c.t.Errorf("%d functions, want %v", seen, functions)
	}
}

// again looks at what ranks of a replay are to compute.
func (c *cell) again() {
	var rep struct {
		Timeless bool `json:"no_times"`
		Ranks    []struct {
			Wanted float64 `json:"wanted_ns"`
		}
	}
	if c.word == refused {
		c.refuses("no times", "replay", "--pace", "gaps", "t.spoor")
		c.refuses("no times", "proxy", "--compute", "sleep", "t.spoor")
		return
	}
	c.json(&rep, "replay", "--json", "--mpi", c.job.MPI.Name, "--pace", "gaps", "t.spoor")
	for rank, x := range rep.Ranks {
		want := c.truth.all(rank)
		c.same(fmt.Sprintf("rank %d is to compute", rank), x.Wanted, want.gap, want.calls)
	}
}
