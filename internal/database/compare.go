package database

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
)

// A Pair is one quantity in two runs.
type Pair struct {
	Name string  `json:"name"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	// Known says which of both have it.
	KnownA bool `json:"known_a"`
	KnownB bool `json:"known_b"`
}

// A SitePair is one call site in two runs; of a run that doesn't have it all is 0.
type SitePair struct {
	Site   `json:"site"`
	Calls  [2]int64 `json:"calls"`
	Ns     [2]int64 `json:"ns"`
	Gap    [2]int64 `json:"gap_ns"`
	Out    [2]int64 `json:"bytes_out"`
	In     [2]int64 `json:"bytes_in"`
	Waited [2]int64 `json:"waited_ns"` // for others
}

// A Site is a call site as all builds have it.
type Site struct {
	ID       int64  `json:"id"`
	Function string `json:"function"`
	Module   string `json:"module"`
	Symbol   string `json:"symbol"`
	File     string `json:"file"`
	Place    int    `json:"place"`
	Line     int    `json:"line,omitempty"` // in the last run that was asked for
}

// A Comparison is two runs side by side.
type Comparison struct {
	A     Run        `json:"a"`
	B     Run        `json:"b"`
	Whole []Pair     `json:"whole"`
	Sites []SitePair `json:"sites"` // those that differ most in time first
}

// Waits reports whether it is known of both runs who waited for whom, and the call site where waiting grew most; nil: nowhere.
func (c *Comparison) Waits() (known bool, most *SitePair) {
	i := slices.IndexFunc(c.Whole, func(p Pair) bool { return p.Name == "waited_ns" })
	if i < 0 || !c.Whole[i].KnownA || !c.Whole[i].KnownB {
		return false, nil
	}
	grown := int64(0)
	for i := range c.Sites {
		if x := &c.Sites[i]; x.Waited[1]-x.Waited[0] > grown {
			grown, most = x.Waited[1]-x.Waited[0], x
		}
	}
	return true, most
}

// whole are the columns of runs that are compared.
var whole = []string{
	"ranks", "calls", "bytes_out", "bytes_in", "span_ns", "mpi_ns", "total_ns", "parallel", "load_balance", "communication", "file_bytes", "waited_ns",
}

// Compare puts two runs side by side.
func (d *DB) Compare(a, b Run) (*Comparison, error) {
	c := &Comparison{A: a, B: b, Sites: []SitePair{}}
	for _, column := range whole {
		p := Pair{Name: column}
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
		c.Whole = append(c.Whole, p)
	}
	index := make(map[int64]int)
	for i, id := range []int64{a.ID, b.ID} {
		rows, err := d.db.Query(`select site, function, module, symbol, file, place, coalesce(min(line), 0), sum(calls), sum(ns), sum(gap_ns), sum(bytes_out), sum(bytes_in),
				coalesce((select sum(waited_ns) from waiting where waiting.run = callsite.run and waiting.site = callsite.site), 0)
			from callsite join site on site.id = callsite.site where run = ? group by site`, id)
		if err != nil {
			return nil, d.failed(err)
		}
		for rows.Next() {
			var s Site
			var calls, ns, gap, out, in, waited int64
			if err := rows.Scan(&s.ID, &s.Function, &s.Module, &s.Symbol, &s.File, &s.Place, &s.Line, &calls, &ns, &gap, &out, &in, &waited); err != nil {
				rows.Close()
				return nil, d.failed(err)
			}
			at, fresh := once.Number(index, s.ID)
			if fresh {
				c.Sites = append(c.Sites, SitePair{})
			}
			x := &c.Sites[at]
			x.Site, x.Calls[i], x.Ns[i], x.Gap[i], x.Out[i], x.In[i], x.Waited[i] = s, calls, ns, gap, out, in, waited
		}
		if err := rows.Close(); err != nil {
			return nil, d.failed(err)
		}
	}
	slices.SortStableFunc(c.Sites, func(x, y SitePair) int {
		off := func(p *SitePair) float64 { return math.Abs(float64(p.Ns[1]) - float64(p.Ns[0])) }
		return cmp.Or(cmp.Compare(off(&y), off(&x)), cmp.Compare(y.Calls[1], x.Calls[1]), cmp.Compare(x.ID, y.ID))
	})
	return c, nil
}

// Scalability is how well a run uses its ranks, as the POP project has it, beside a first run. What is not known is 0.
type Scalability struct {
	SpanNs        float64 // how long the slowest rank took
	Speedup       float64 // the first run's span over this one's
	Parallel      float64
	LoadBalance   float64
	Communication float64
	Computation   float64 // useful time of all ranks of the first run over that of this one
}

// Global is the global efficiency.
func (s Scalability) Global() float64 { return s.Parallel * s.Computation }

// Scalability returns that of both runs beside the first.
func (c *Comparison) Scalability() (a, b Scalability) {
	values := make(map[string][2]float64)
	for _, p := range c.Whole {
		values[p.Name] = [2]float64{p.A, p.B}
	}
	of := func(i int) Scalability {
		s := Scalability{SpanNs: values["span_ns"][i], Parallel: values["parallel"][i], LoadBalance: values["load_balance"][i], Communication: values["communication"][i]}
		if s.SpanNs > 0 {
			s.Speedup = values["span_ns"][0] / s.SpanNs
		}
		useful := func(i int) float64 { return values["parallel"][i] * values["span_ns"][i] * values["ranks"][i] }
		if useful(i) > 0 {
			s.Computation = useful(0) / useful(i)
		}
		return s
	}
	return of(0), of(1)
}

// Worse says what got worse from the first run to the second by more than a share: the span on as many ranks, efficiencies.
func (c *Comparison) Worse(threshold float64) (list []string) {
	for _, p := range c.Whole {
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
