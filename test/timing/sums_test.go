package timing

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
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

// inMain is what is in a thread's only node, main.
func inMain[N any](list []N, body func(N) []N) []N {
	if len(list) == 1 {
		return body(list[0])
	}
	return list
}

// directly are the lines of what is in main, and in nothing else.
func directly(lines []string) (list []string) {
	at := strings.Index(lines[0], "main()")
	if at < 0 {
		return lines
	}
	at = len([]rune(lines[0][:at])) + 2
	for _, line := range lines[1:] {
		if r := []rune(line); len(r) > at && r[at-1] == ' ' && r[at] != ' ' {
			list = append(list, line)
		}
	}
	return list
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
	if len(page.Structures) != 1 {
		c.t.Fatalf("report: %d structures", len(page.Structures))
	}
	s := &page.Structures[0]
	c.places("report", all, c.same, parts(inMain(s.Threads[0].Body, func(n report.Node) []report.Node { return n.Body }), func(n report.Node) bool {
		return n.SiteIndex > 0 && s.Sites[n.SiteIndex-1].Function == "MPI_Comm_size"
	}, func(n report.Node) part { return part{n.ComputeNs, n.InCallsNs} }))
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
	flags := []string{"calltree", "t.spoor", "--rank", strconv.Itoa(rank)}
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
	if p.TimesKind != kind || c.own() && len(p.TimedRanks) != 1 {
		c.t.Errorf("profile: times are %s, of ranks %v; want %s", p.TimesKind, p.TimedRanks, kind)
	}
	c.places("profile --json", want, c.same, parts(inMain(p.Threads[0].Body, func(n *calltree.Node) []*calltree.Node { return n.Body }), func(n *calltree.Node) bool {
		return n.SiteNumber > 0 && p.Sites[n.SiteNumber-1].Function == "MPI_Comm_size"
	}, func(n *calltree.Node) part { return part{n.Sums.ComputeNs, n.Sums.MPINs} }))
	if rank > 0 {
		return
	}
	// Lines of the tree that are within main alone: a share, the total and the mean of both, calls.
	tree := c.spoor(append(flags, "--depth", "0")...)
	if c.word == absent {
		if printed(c.t, tree) != nil || strings.Contains(tree, "share") {
			c.t.Errorf("profile prints times:\n%s", tree)
		}
		return
	}
	_, table, _ := strings.Cut(tree, "calls\n")
	table, _, _ = strings.Cut(table, "\niterations ")
	c.places("profile", want, c.rounded, parts(directly(strings.Split(strings.Trim(table, "\n"), "\n")), isFence, func(line string) part {
		times := printed(c.t, line)
		if len(times) < 4 {
			c.t.Fatalf("profile: line %q", line)
		}
		return part{times[0], times[2]}
	}))
	for _, style := range []string{"detailed", "terse", "latex"} {
		var sums []knownSum
		for _, w := range want {
			w.duration.plus(w.gap) // terms of loops have one time
			w.gap = bound{}
			sums = append(sums, w)
		}
		c.places("papers terms --style "+style, sums, c.rounded, parts(terms(c.spoor(append(slices.Concat([]string{"papers", "terms"}, flags[1:]), "--style", style)...)), isFence, func(line string) part {
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

// terms are the lines that end with a time in µs, but for the computation before fences: that is of no place.
func terms(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !term.MatchString(line) {
			continue
		}
		if n := len(list); isFence(line) && n > 0 && strings.Contains(list[n-1], "CPU") {
			list = list[:n-1]
		}
		list = append(list, line)
	}
	return list
}

// A flatProfile is what profile --json has.
type flatProfile struct {
	Rows []struct {
		Function  string  `json:"function"`
		Ns        float64 `json:"time_ns"`
		ComputeNs float64 `json:"compute_ns"`
	} `json:"sites"`
	PerRank []sums.RankSums `json:"per_rank"`
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
	var info sums.Summary
	c.json(&info, "info", "--json", "--top", "0", "t.spoor")
	for _, f := range info.Functions {
		add("info", f.Name, float64(f.Ns))
	}
	var flat flatProfile
	c.json(&flat, "profile", "--json", "t.spoor")
	for _, r := range flat.Rows {
		add("profile", r.Function, r.Ns)
		add("profile, before", r.Function, r.ComputeNs)
	}
	at := make(map[string]int)
	for i, h := range c.page.CallSites.Columns {
		at[h.Key] = i
	}
	for _, r := range c.page.CallSites.Rows {
		ns, before := 0.0, 0.0
		if c.word != absent {
			ns, before = r[at["time_ns"]].(float64), r[at["compute_ns"]].(float64)
		}
		add("report", r[at["function"]].(string), ns)
		add("report, before", r[at["function"]].(string), before)
	}
	for _, verb := range [][]string{{"profile"}, {"calltree", "--functions"}} {
		rows := c.csv(append(slices.Clone(verb), "--csv", "t.spoor")...)
		name := strings.Join(verb, " ") + " --csv"
		for _, row := range rows {
			if c.word == absent {
				if row["time_ns"] != "" || row["compute_ns"] != "" {
					c.t.Errorf("%v --csv: %v", verb, row)
				}
				continue
			}
			ns, err := strconv.ParseFloat(row["time_ns"], 64)
			if err != nil {
				c.t.Fatal(err)
			}
			before, err := strconv.ParseFloat(row["compute_ns"], 64)
			if err != nil {
				c.t.Fatal(err)
			}
			add(name, row["function"], ns)
			add(name+", before", row["function"], before)
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
		if text := c.spoor("info", "t.spoor") + c.spoor("profile", "t.spoor"); printed(c.t, text) != nil {
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
	var info sums.Summary
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
