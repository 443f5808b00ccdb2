package main

import (
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/trace"
)

// predictFlat puts what a machine would take beside what was measured.
func predictFlat(r *trace.Reader, f *profile.Flat, name string) (*traced.Prediction, error) {
	m, err := machine.Load(name)
	if err != nil {
		return nil, err
	}
	p, err := traced.Predict(r, traced.Options{Machine: m, Sites: true, Progress: func(uint64) {}})
	if err != nil {
		return nil, err
	}
	return p, f.Predict(r, func(class, terminal int) profile.PredictedTime {
		if terminal >= len(p.Sites[class]) {
			return profile.PredictedTime{}
		}
		t := &p.Sites[class][terminal]
		return profile.PredictedTime{Ns: float64(t.Overhead+t.Wait+t.Transfer+t.Recorded) / 1000, ComputeNs: float64(t.Compute) / 1000}
	})
}

// predictedTrace is a trace's prediction for a machine, as a trace.
func predictedTrace(r *trace.Reader, name string) (*trace.Reader, *traced.Prediction, error) {
	m, err := machine.Load(name)
	if err != nil {
		return nil, nil, err
	}
	c, p, done, err := retimed(r, traced.Options{Machine: m})
	if err != nil {
		return nil, nil, err
	}
	defer done()
	data, err := sections.Encode(c)
	if err != nil {
		return nil, nil, err
	}
	there, err := trace.NewBytes(data, r.Name()+" on "+p.Machine)
	return there, p, err
}

// printPredictedFlat writes call sites with measured and predicted times, over all ranks.
func printPredictedFlat(w io.Writer, f *profile.Flat, p *traced.Prediction, top show.Limit) {
	fmt.Fprintf(w, "%s: %s on %s, %s traced\n\n", f.Trace, ps(p.EndPs), p.Machine, show.Duration(float64(p.TracedNs)))
	rows, rest := f.Worth(top)
	show.Text(w, rows, 0, func(c *show.Row, x profile.Row) {
		c.Ns("time", x.Ns).Ns("predicted", x.Predicted.Ns).Ns("compute", x.ComputeNs).Ns("predicted", x.Predicted.ComputeNs)
		c.Count("calls", x.Calls).Text("function and place", x.Function+" "+x.Place)
	})
	rest.Print(w)
}
