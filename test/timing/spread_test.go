package timing

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
)

// histograms looks at how calls and gaps are spread.
func (c *cell) histograms() {
	if c.word == refused {
		why := "no times"
		if c.r.HasTimes() {
			why = "no histograms"
		}
		c.refuses(why, "profile", "--histogram", "--json", "t.spoor")
		return
	}
	var rep profile.Histograms
	c.json(&rep, "profile", "--histogram", "--json", "t.spoor")
	if rep.TimesKind != c.kind() {
		c.t.Errorf("times are %s, want %s", rep.TimesKind, c.kind())
	}
	rows := c.csv("profile", "--histogram", "--csv", "t.spoor")
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
			c.t.Fatalf("profile --histogram --csv: %s of %v: %v", name, row, err)
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
		c.t.Errorf("profile --histogram --csv: %s, %s: %.0f calls from %.0f to %.0f, %.0f in all; want %.0f from %v to %v, %v", function, what, calls, least, most, sum, n, first, last, want)
	}
}

// spread holds a histogram against the times that are in it. Its own bins are estimates, unless calls are
// counted one by one.
func (c *cell) spread(what string, got *profile.Histogram, times []bound) {
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
	if got.Count != uint64(len(times)) || !r.holds(got.MeanNs, sum) || !r.holds(float64(got.MinNs), least) || !r.holds(float64(got.MaxNs), most) {
		c.t.Errorf("%s: %d calls from %d to %d, mean %.0f; want %d from %v to %v, mean %v", what, got.Count, got.MinNs, got.MaxNs, got.MeanNs,
			len(times), least, most, sum)
	}
	calls, mean := uint64(0), 0.0
	for _, b := range got.Bins {
		calls += b.Count
		mean += b.MeanNs * float64(b.Count) / n
		if b.MeanNs < float64(b.MinNs)-1 || b.MeanNs > float64(b.MaxNs)+1 {
			c.t.Errorf("%s: bin %+v", what, b)
		}
		if !c.own() {
			continue
		}
		within, touching := uint64(0), uint64(0)
		for _, x := range times {
			low, high := x.low*(1-r.share)-r.ns, x.high*(1+r.share)+r.ns
			if low >= float64(b.MinNs) && high <= float64(b.MaxNs) {
				within++
			}
			if high >= float64(b.MinNs) && low <= float64(b.MaxNs) {
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
	if tl.TimesKind != c.kind() {
		c.t.Errorf("times are %s, want %s", tl.TimesKind, c.kind())
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
