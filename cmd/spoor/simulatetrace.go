package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

// A traceSimulation is what flags say of the simulation of a trace.
type traceSimulation struct {
	machine, mapping, gaps, tracedOn string

	cpu               float64
	top               int
	sensitivity, json bool
	database          string
}

// isTrace reports whether a file is a trace: by its first bytes.
func isTrace(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(container.Magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == container.Magic
}

func simulateTrace(cmd *cobra.Command, path string, s traceSimulation) error {
	if s.machine == "" {
		return errors.New("a trace needs a machine: --machine FILE, or a name: spoor simulate --machines")
	}
	if cmd.Flags().Changed("cpu") && !(s.cpu > 0 && s.cpu <= 1e6) {
		return fmt.Errorf("--cpu is %v: how many times as fast, more than 0", s.cpu)
	}
	m, err := machine.Load(s.machine)
	if err != nil {
		return err
	}
	by, err := machine.ParseMapping(s.mapping)
	if err != nil {
		return err
	}
	r, err := openTrace(path)
	if err != nil {
		return err
	}
	defer r.Close()
	o := traced.Options{Machine: m, Mapping: by, CPU: s.cpu}
	if s.tracedOn != "" {
		there, err := machine.Load(s.tracedOn)
		if err != nil {
			return err
		}
		o.Recorder = &there.Recorder
	}
	switch s.gaps {
	case "", "mean":
		o.Mean = s.gaps == "mean"
	case "series":
		kind, err := r.TimeKind()
		if err != nil {
			return err
		}
		if !kind.Own() {
			return fmt.Errorf("%s has no times of single calls: --gaps mean, or trace with --timing lossless", path)
		}
	default:
		return fmt.Errorf("no gaps %q: series or mean", s.gaps)
	}
	total := 0
	for rank := range r.Ranks() {
		if k, err := r.Rank(rank); err == nil && k.Streams() > 0 {
			total += int(min(k.Len(0), math.MaxInt32))
		}
	}
	if s.sensitivity {
		total *= 6 // times that it is simulated
	}
	progress := newProgress(cmd.ErrOrStderr(), "simulating calls", total)
	o.Progress = func(calls uint64) { progress.steps(int(calls)) }
	p, err := traced.Predict(r, o)
	if err == nil && s.sensitivity {
		p.Sensitivity, err = traced.Vary(r, o, p)
	}
	progress.end()
	if err != nil && !strings.Contains(err.Error(), path) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return err
	}
	if s.database != "" {
		if err := keepPrediction(cmd, s.database, path, r, p); err != nil {
			return err
		}
	}
	if s.json {
		return writeJSON(cmd.OutOrStdout(), p)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	printPrediction(out, p, s.top)
	return out.Flush()
}

// keepPrediction puts a prediction into a database, beside the run that it is about.
func keepPrediction(cmd *cobra.Command, to, path string, r *trace.Reader, p *traced.Prediction) error {
	d, err := database.Open(to)
	if err != nil {
		return err
	}
	defer d.Close()
	where := newPlaces(nil)
	run, added, err := d.Add(path, r, database.Options{Place: where.called})
	if err != nil {
		return err
	}
	if added {
		where.complain(cmd)
	}
	return d.Predict(run, p)
}

// ps writes a time in ps.
func ps(t int64) string { return units.Duration(float64(t) / 1000) }

func printPrediction(w io.Writer, p *traced.Prediction, top int) {
	fmt.Fprintf(w, "machine    %s: %s\n", p.Machine, p.Source)
	cores := "cores as fast as traced"
	if p.CPU != 1 {
		cores = fmt.Sprintf("cores %.3g times as fast", p.CPU)
	}
	fmt.Fprintf(w, "ranks      %s, %s; gaps: %s; %s\n", plural(len(p.Ranks), "rank"), p.Mapping, p.Gaps, cores)
	fmt.Fprintf(w, "time       %s predicted, %s traced\n\n", ps(p.EndPs), units.Duration(float64(p.TracedNs)))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "rank\tend\tcompute\toverhead\twait\ttransfer\tas recorded\t")
	row := func(name string, t *dataflow.Time) {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, ps(t.End), ps(t.Compute), ps(t.Overhead), ps(t.Wait), ps(t.Transfer), ps(t.Recorded))
	}
	for i := range p.Ranks {
		if top > 0 && i == top {
			break
		}
		row(fmt.Sprint(i), &p.Ranks[i])
	}
	mean := p.Mean()
	row("mean", &mean)
	tw.Flush()
	if top > 0 && len(p.Ranks) > top {
		fmt.Fprintf(w, "%d more: --top 0\n", len(p.Ranks)-top)
	}
	if p.Sensitivity != nil {
		printSensitivity(w, p)
	}
	if len(p.Unmodelled) == 0 {
		return
	}
	fmt.Fprintf(w, "\nnot modelled, with their share of the traced time of all ranks:\n")
	for _, u := range p.Unmodelled {
		took := "left out"
		if u.Kept {
			took = "as recorded"
		}
		if u.Ns == 0 {
			fmt.Fprintf(w, "  %s: %s\n", u.What, units.Grouped(u.Calls))
			continue
		}
		fmt.Fprintf(w, "  %7s  %s: %s, %s, %s\n", units.Share(u.Share, 1), u.What, plural(u.Calls, "call"), units.Duration(u.Ns), took)
	}
}

func printSensitivity(w io.Writer, p *traced.Prediction) {
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range p.Sensitivity.Variations {
		change := 0.0
		if p.EndPs > 0 && v.EndPs != p.EndPs {
			change = 100 * (float64(v.EndPs)/float64(p.EndPs) - 1)
		}
		fmt.Fprintf(tw, "%s\t%s\t%.2f %%\n", v.What, ps(v.EndPs), change)
	}
	tw.Flush()
	s := p.Sensitivity
	fmt.Fprintf(w, "\ntransfer efficiency %s, serialisation efficiency %s, load balance %s\n",
		units.Share(s.Transfer, 1), units.Share(s.Serialisation, 1), units.Share(s.LoadBalance, 1))
}

// printMachines lists the machines that come with the tool, or writes the file of one.
func printMachines(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range machine.Names() {
		m, err := machine.Load(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(tw, "%s\t%s\n", name, m.Source)
	}
	return tw.Flush()
}
