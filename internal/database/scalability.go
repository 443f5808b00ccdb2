package database

import "fmt"

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
