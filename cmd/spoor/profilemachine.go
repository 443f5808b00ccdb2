package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

// predictFlat puts what a machine would take beside what was measured.
func predictFlat(cmd *cobra.Command, r *trace.Reader, f *profile.Flat, name string) (*traced.Prediction, error) {
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
	there, err := trace.NewReader(bytes.NewReader(data), int64(len(data)), r.Name()+" on "+p.Machine)
	return there, p, err
}

// printPredictedFlat writes call sites with measured and predicted times, over all ranks.
func printPredictedFlat(w io.Writer, f *profile.Flat, p *traced.Prediction, top int) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s on %s, %s traced\n\n", f.Trace, ps(p.EndPs), p.Machine, units.Duration(float64(p.TracedNs)))
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "time\tpredicted\tcompute\tpredicted\tcalls\t  function and place")
	for i := range f.Rows {
		if top > 0 && i == top {
			break
		}
		x := &f.Rows[i]
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t  %s %s\n", units.Duration(float64(x.Ns)), units.Duration(x.Predicted.Ns),
			units.Duration(float64(x.ComputeNs)), units.Duration(x.Predicted.ComputeNs), units.Grouped(x.Calls), x.Function, x.Place)
	}
	tw.Flush()
	if n := len(f.Rows) - top; top > 0 && n > 0 {
		fmt.Fprintf(out, "%s more places: --top 0\n", units.Grouped(uint64(n)))
	}
	return out.Flush()
}
