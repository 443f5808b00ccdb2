package database

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites"
)

// A TotalPair is the values of one quantity in two runs.
type TotalPair struct {
	Name string  `json:"name"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	// KnownA and KnownB report whether the quantity is known for run A and for run B.
	KnownA bool `json:"known_a"`
	KnownB bool `json:"known_b"`
}

// A SitePair is the values of one call site in two runs.
type SitePair struct {
	Site
	values [2]map[string]any // by run (0: A, 1: B), then by key of a column; nil: the run doesn't have the site
}

// Value returns the value of a column, by its key, in run 0 (A) or 1 (B). It is nil if the value isn't known, 0 if the
// run doesn't have the site.
func (p *SitePair) Value(run int, key string) any {
	if p.values[run] == nil {
		return int64(0)
	}
	return p.values[run][key]
}

// Number returns the value of a column like Value, as a number. It is 0 if the value isn't known.
func (p *SitePair) Number(run int, key string) float64 {
	switch v := p.Value(run, key).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// MarshalJSON writes the site, and pairs of values under the names that release 1.0 gave them.
func (p SitePair) MarshalJSON() ([]byte, error) {
	pair := func(key string) [2]float64 { return [2]float64{p.Number(0, key), p.Number(1, key)} }
	return json.Marshal(struct {
		Site
		Calls  [2]float64 `json:"calls"`
		Ns     [2]float64 `json:"ns"`
		Gap    [2]float64 `json:"gap_ns"`
		Out    [2]float64 `json:"bytes_out"`
		In     [2]float64 `json:"bytes_in"`
		Waited [2]float64 `json:"waited_ns"`
	}{p.Site, pair("calls"), pair("time_ns"), pair("compute_ns"), pair("bytes_out"), pair("bytes_in"), pair("waited_ns")})
}

// shownInPairs are the keys of the call-site columns that a comparison shows by default.
var shownInPairs = []string{"calls", "time_ns", "waited_ns", "bytes_out"}

// Columns returns the columns of a comparison's table of call sites: each quantity in both runs, and the change of the
// site's time.
func (c *Comparison) Columns() (list show.Columns[SitePair]) {
	waits, _ := c.LargestWaitGrowth()
	for _, m := range sites.MeasureColumns(sites.KnownFacts{HasTimes: c.A.HasTimes && c.B.HasTimes, HasWaits: waits}) {
		key, room := m.Key(), 0
		if slices.Contains(shownInPairs, key) {
			room = 1
		}
		for run, name := range []string{" A", " B"} {
			list = append(list, show.Column[SitePair]{
				Name: m.Name + name, Unit: m.Unit, Doc: m.Doc, MinTerminalWidth: room, Value: func(p SitePair) any { return p.Value(run, key) },
			})
		}
		if key == "time_ns" {
			list = append(list, show.Column[SitePair]{Name: "change", MinTerminalWidth: 1, Doc: "of the time, as a share of that of A",
				Value: func(p SitePair) any {
					if p.Number(0, key) == 0 {
						return nil
					}
					return p.Number(1, key)/p.Number(0, key) - 1
				},
				Text: func(p SitePair) string { return show.PercentChange(p.Number(0, key), p.Number(1, key)) }})
		}
	}
	return append(list, show.Column[SitePair]{Name: "function, call site", Unit: show.UnitWord, MinTerminalWidth: 1, Value: func(p SitePair) any { return p.Site.String() }})
}

// A Site is a call site, identified without addresses, so that it is the same in all builds of a program.
type Site struct {
	ID              int64  `json:"id"`
	Function        string `json:"function"`
	Module          string `json:"module"`
	Symbol          string `json:"symbol"`
	File            string `json:"file"`
	IndexInFunction int    `json:"place"`
	Line            int    `json:"line,omitempty"` // source line in the last of the runs that were queried
}

// String returns the site as text: function, calling functions, source file and line, and a number from 1. Sites that
// are equal but for the line have different numbers.
func (s *Site) String() string {
	at := cmp.Or(s.Symbol, s.Module)
	if s.File != "" {
		at += " " + s.File
		if s.Line > 0 {
			at += ":" + strconv.Itoa(s.Line)
		}
	}
	return fmt.Sprintf("%s, %s, call %d", s.Function, at, s.IndexInFunction+1)
}

// A Comparison is what differs between two runs.
type Comparison struct {
	A      Run         `json:"a"`
	B      Run         `json:"b"`
	Totals []TotalPair `json:"whole"`
	Sites  []SitePair  `json:"sites"` // the largest difference in time_ns first
	// findings on iterations that only run A has, in the words of spoor info; the most expensive first
	FindingsOnlyInA []string `json:"only_a"`
	FindingsOnlyInB []string `json:"only_b"`
}

// LargestWaitGrowth reports whether both runs have wait states, and the call site whose waiting grew most; nil: none.
func (c *Comparison) LargestWaitGrowth() (known bool, most *SitePair) {
	i := slices.IndexFunc(c.Totals, func(p TotalPair) bool { return p.Name == "waited_ns" })
	if i < 0 || !c.Totals[i].KnownA || !c.Totals[i].KnownB {
		return false, nil
	}
	grown := 0.0
	for i := range c.Sites {
		x := &c.Sites[i]
		if more := x.Number(1, "waited_ns") - x.Number(0, "waited_ns"); more > grown {
			grown, most = more, x
		}
	}
	return true, most
}

// whole are the columns of table run that Compare compares.
var whole = []string{
	"ranks", "calls", "bytes_out", "bytes_in", "span_ns", "mpi_ns", "total_ns", "parallel", "load_balance", "communication", "file_bytes", "waited_ns",
	"iteration_ns", "slow_iteration_ns",
}

// Compare compares two runs: their totals, call sites and findings on iterations.
func (d *DB) Compare(a, b Run) (*Comparison, error) {
	c := &Comparison{A: a, B: b, Sites: []SitePair{}}
	for _, column := range whole {
		p := TotalPair{Name: column}
		for i, id := range []int64{a.ID, b.ID} {
			var v *float64
			if err := d.db.QueryRow("select "+column+" from run where id = ?", id).Scan(&v); err != nil {
				return nil, d.failed(err)
			}
			if v == nil {
				continue
			}
			if i == 0 {
				p.A, p.KnownA = *v, true
			} else {
				p.B, p.KnownB = *v, true
			}
		}
		c.Totals = append(c.Totals, p)
	}
	var err error
	if c.FindingsOnlyInA, c.FindingsOnlyInB, err = d.iterations(a.ID, b.ID); err != nil {
		return nil, d.failed(err)
	}
	have, err := d.measured()
	if err != nil {
		return nil, d.failed(err)
	}
	index := make(map[int64]int)
	for i, id := range []int64{a.ID, b.ID} {
		ask := "select site, function, module, symbol, file, place, coalesce(line, 0), " + strings.Join(have, ", ") + " from total join site on site.id = total.site where run = ?"
		if err := d.each(ask, []any{id}, func(rows *sql.Rows) error {
			var s Site
			values := make([]any, len(have))
			to := []any{&s.ID, &s.Function, &s.Module, &s.Symbol, &s.File, &s.IndexInFunction, &s.Line}
			for n := range values {
				to = append(to, &values[n])
			}
			if err := rows.Scan(to...); err != nil {
				return err
			}
			at, fresh := once.NumberOf(index, s.ID)
			if fresh {
				c.Sites = append(c.Sites, SitePair{})
			}
			x := &c.Sites[at]
			x.Site, x.values[i] = s, make(map[string]any)
			for n, v := range values {
				x.values[i][have[n]] = v
			}
			return nil
		}); err != nil {
			return nil, d.failed(err)
		}
	}
	slices.SortStableFunc(c.Sites, func(x, y SitePair) int {
		off := func(p *SitePair) float64 { return math.Abs(p.Number(1, "time_ns") - p.Number(0, "time_ns")) }
		return cmp.Or(cmp.Compare(off(&y), off(&x)), cmp.Compare(y.Number(1, "calls"), x.Number(1, "calls")), cmp.Compare(x.ID, y.ID))
	})
	return c, nil
}

// A finding is a row of the table finding: something unusual about iterations of a run.
type finding struct {
	kind, text           string
	iteration, every, of int64
	rank                 *int64
}

// nearIterations is how far apart the same finding may be in two runs, as a share of the number of iterations.
const nearIterations = 0.03

// iterations returns the findings of each run that the other run lacks. Findings are the same if kind and rank are
// equal and their iterations near.
func (d *DB) iterations(a, b int64) (onlyA, onlyB []string, err error) {
	var lists [2][]finding
	var most [2]int64
	for i, run := range []int64{a, b} {
		err = cmp.Or(err, d.db.QueryRow("select coalesce(sum(iterations), 0) from iteration where run = ?", run).Scan(&most[i]))
		err = cmp.Or(err, d.each("select kind, iteration, every, ranks, rank, text from finding where run = ? order by number", []any{run}, func(rows *sql.Rows) error {
			var f finding
			err := rows.Scan(&f.kind, &f.iteration, &f.every, &f.of, &f.rank, &f.text)
			lists[i] = append(lists[i], f)
			return err
		}))
	}
	near := nearIterations * float64(max(most[0], most[1]))
	alone := func(own, others []finding) []string {
		out := []string{}
		for _, f := range own {
			if !slices.ContainsFunc(others, func(g finding) bool {
				if f.kind == when.KindWaitingForCPU.String() { // a delay happens at a random iteration
					return f.kind == g.kind
				}
				return f.kind == g.kind && f.every == g.every && math.Abs(float64(f.iteration-g.iteration)) <= near && (f.of == 0) == (g.of == 0) &&
					(f.rank == nil || g.rank == nil || *f.rank == *g.rank)
			}) {
				out = append(out, f.text)
			}
		}
		return out
	}
	return alone(lists[0], lists[1]), alone(lists[1], lists[0]), err
}

// Scalability is the POP project's efficiencies of a run, relative to a reference run. Unknown values are 0.
type Scalability struct {
	MaxRankSpanNs float64 // run time of the rank that ran longest, in ns
	Speedup       float64 // SpanNs of the reference run divided by that of this run
	Parallel      float64
	LoadBalance   float64
	Communication float64
	Computation   float64 // useful time of all ranks in the reference run, divided by that in this run
}

// Global is the global efficiency of the POP project: parallel efficiency times computation scalability.
func (s Scalability) Global() float64 { return s.Parallel * s.Computation }

// Scalability returns the scalability of runs A and B, each relative to run A.
func (c *Comparison) Scalability() (a, b Scalability) {
	values := make(map[string][2]float64)
	for _, p := range c.Totals {
		values[p.Name] = [2]float64{p.A, p.B}
	}
	of := func(i int) Scalability {
		s := Scalability{MaxRankSpanNs: values["span_ns"][i], Parallel: values["parallel"][i], LoadBalance: values["load_balance"][i], Communication: values["communication"][i]}
		if s.MaxRankSpanNs > 0 {
			s.Speedup = values["span_ns"][0] / s.MaxRankSpanNs
		}
		useful := func(i int) float64 { return values["parallel"][i] * values["span_ns"][i] * values["ranks"][i] }
		if useful(i) > 0 {
			s.Computation = useful(0) / useful(i)
		}
		return s
	}
	return of(0), of(1)
}

// Regressions lists what got worse from run A to run B by more than the threshold, a share. It compares efficiencies, and the
// span if both runs have equally many ranks.
func (c *Comparison) Regressions(threshold float64) (list []string) {
	for _, p := range c.Totals {
		if !p.KnownA || !p.KnownB || p.A <= 0 {
			continue
		}
		change := p.B/p.A - 1
		switch p.Name {
		case "span_ns":
			if c.A.Ranks != c.B.Ranks || change <= threshold {
				continue
			}
		case "parallel", "load_balance", "communication":
			if -change <= threshold {
				continue
			}
		default:
			continue
		}
		list = append(list, fmt.Sprintf("%s got worse: %+.1f %%, which is more than %g %%", p.Name, 100*change, 100*threshold))
	}
	return list
}
