package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/papers/goal"
)

func newSimulate() *cobra.Command {
	p := goal.DefaultParameters
	var t traceSimulation
	var model, out string
	cmd := &cobra.Command{
		Use:   "simulate [flags] TRACE|SCHEDULE",
		Short: "Predict the run time of a trace on another machine or network",
		Long: `spoor simulates the messages, collectives and waiting of the trace on the
machine, with the traced computation scaled by --cpu. It prints for each rank
the time of computation, overhead, waiting and transfer. Receives get the
messages they got in the traced run. Collectives become messages as MPI
libraries send them; large ones use a formula. Calls without a model take their
recorded time, and are listed. --output writes the prediction as a trace, for
spoor waits, report and diff.

--machine takes names of spoor machine list, or files of spoor machine measure.
A SCHEDULE is a GOAL file of LogGOPSim's tools (also .gz); it is simulated by
LogGOPSim's rules with the parameters -L to -S.
More: docs/simulate.md`,
		Example: `  spoor simulate --machine infiniband app.spoor
  spoor simulate --machine infiniband,ethernet,ideal app.spoor
  spoor simulate --machine my.toml --cpu 1.3 --map cyclic app.spoor
  spoor simulate --machine ethernet --vary bandwidth=1:100 app.spoor
  spoor simulate --machine ethernet --sensitivity app.spoor
  spoor simulate --machine ethernet --output there.spoor app.spoor && spoor waits there.spoor
  spoor simulate -L 1200 -o 300 -g 400 -G 1 -S 16384 stencil.goal.gz`,
		Args: exactly(1, "one trace or schedule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case model != "dataflow" && model != "loggops":
				return fmt.Errorf("no model %q: dataflow or loggops", model)
			case model == "loggops" && isTrace(args[0]):
				if err := overheadOf(cmd, out, &p); err != nil {
					return err
				}
				if name := given(cmd, slices.Concat([]string{"machine"}, traceFlags, windowNames())...); name != "" {
					return fmt.Errorf("--%s does not go with --model loggops, which has -L to -S", name)
				}
				return simulateSchedule(cmd, args[0], p, t.output)
			case isTrace(args[0]) || len(t.machines) > 0:
				if name := given(cmd, loggopsFlags...); name != "" {
					return fmt.Errorf("--%s is for schedules and --model loggops; a trace has its machine from --machine", name)
				}
				t.out = out
				return simulateTrace(cmd, args[0], t)
			}
			if err := overheadOf(cmd, out, &p); err != nil {
				return err
			}
			if name := given(cmd, slices.Concat(traceFlags, windowNames())...); name != "" {
				return fmt.Errorf("--%s is for traces; %s is a schedule", name, args[0])
			}
			if cmd.Flags().Changed("model") && model != "loggops" {
				return fmt.Errorf("--model %s is for traces; schedules are simulated under loggops", model)
			}
			return runSimulate(cmd, args[0], p, t.output)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&t.machines, "machine", nil, "`name`: a machine, or its file; several, separated by commas, make a table")
	f.StringVar(&model, "model", "dataflow", "`model`: dataflow (on a machine), or loggops (as a GOAL schedule, with -L to -S in ns)")
	f.StringVar(&t.mapping, "map", "block", "`how`: ranks on nodes: block, cyclic, or a file with the node of each rank")
	f.StringVar(&t.gaps, "gaps", "", "`kind`: computation between calls: series (each call's own), median or mean of its call path (default: as well as it is known, by iteration in traces without single times)")
	f.Float64Var(&t.cpu, "cpu", 0, "speed up computation by `factor`")
	f.StringVar(&t.tracedOn, "traced-on", "", "`name`: the machine of the trace, or its file; its cost of tracing is subtracted")
	f.BoolVar(&t.sensitivity, "sensitivity", false, "add what 10 % of latency, bandwidth, overhead and computation are worth")
	f.StringVarP(&t.database, "database", "d", "", "add the prediction to this `file` of spoor db")
	f.BoolVar(&t.path, "path", false, "add the critical path by call site and rank")
	f.StringVar(&t.vary, "vary", "", "`factors`: predict for several latencies, bandwidths, overheads or cpu: bandwidth=1:100")
	f.BoolVar(&t.eachRank, "each-rank", false, "simulate also ranks that do the same; the result is the same")
	f.BoolVar(&t.eachRound, "each-round", false, "simulate also iterations that repeat; the result is the same")
	f.BoolVar(&t.messages, "messages", false, "use messages instead of formulas for large collectives; slower")
	topFlag(f, &t.top, 32, "ranks and call sites")
	debugPathFlag(f, &t.debugPaths)
	f.Uint64VarP(&p.Latency, "latency", "L", p.Latency, "latency of a message, a `time`")
	f.Uint64Var(&p.Overhead, "overhead", p.Overhead, "CPU overhead per message at both ends, a `time`")
	f.Uint64VarP(&p.MessageGap, "message-gap", "g", p.MessageGap, "NIC gap per message, a `time`")
	f.Uint64VarP(&p.ByteGap, "byte-gap", "G", p.ByteGap, "NIC gap per byte, a `time`")
	f.Uint64VarP(&p.ByteOverhead, "byte-overhead", "O", p.ByteOverhead, "CPU overhead per byte, a `time`")
	f.Uint64VarP(&p.Eager, "eager", "S", p.Eager, "size in `bytes` up to which a message does not wait for its receive")
	f.StringVarP(&out, "output", "o", "", "write the prediction as a trace to this `file`; with a schedule: --overhead, as LogGOPSim has it")
	forceFlag(f, &t.force)
	jsonFlag(f, &t.json)
	inGroup(f, "LogGOPS (schedules, --model loggops)", loggopsFlags...)
	t.window.add(f)
	return cmd
}

// overheadOf takes -o as LogGOPSim's o.
func overheadOf(cmd *cobra.Command, out string, p *goal.Parameters) (err error) {
	switch {
	case !cmd.Flags().Changed("output"):
		return nil
	case cmd.Flags().Changed("overhead"):
		return errors.New("both -o and --overhead")
	}
	if p.Overhead, err = strconv.ParseUint(out, 10, 64); err != nil {
		return fmt.Errorf("-o %q: of a schedule this is the overhead of a message, a whole number", out)
	}
	return nil
}

// Flags that are for schedules alone, and for traces alone.
var (
	loggopsFlags = []string{"latency", "overhead", "message-gap", "byte-gap", "byte-overhead", "eager"}
	traceFlags   = []string{"map", "gaps", "cpu", "traced-on", "top", "sensitivity", "path", "vary", "each-rank", "each-round", "messages", "debug-path", "database", "force"}
)

type simulateJSON struct {
	Parameters goal.Parameters `json:"parameters"`
	Ranks      int             `json:"ranks"`
	Operations int             `json:"operations"`
	Events     uint64          `json:"events"` // operations and messages
	End        uint64          `json:"end"`    // of the last rank
	Ends       []uint64        `json:"ends"`   // of each rank
}

func runSimulate(cmd *cobra.Command, path string, p goal.Parameters, o output) error {
	s, err := goal.Open(path)
	if err != nil {
		return err
	}
	return printSchedule(cmd, path, s, p, o)
}

// simulateSchedule simulates a trace as a schedule.
func simulateSchedule(cmd *cobra.Command, path string, p goal.Parameters, o output) error {
	r, err := openTrace(path)
	if err != nil {
		return err
	}
	defer r.Close()
	calls, err := ops.New(r, ops.Options{From: ops.FromStart, To: ops.ToEnd, Shares: true})
	if err != nil {
		return err
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(traced.WriteGOAL(calls, out)) }()
	s, err := goal.Read(in, path)
	in.CloseWithError(err) // nobody reads what is left
	if err != nil {
		return err
	}
	return printSchedule(cmd, path, s, p, o)
}

func printSchedule(cmd *cobra.Command, path string, s *goal.Schedule, p goal.Parameters, o output) error {
	r, err := goal.Simulate(s, p)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return o.print(cmd, simulateJSON{p, s.Ranks(), len(s.Ops), r.Events, slices.Max(append(r.End, 0)), r.End}, func(w io.Writer) {
		for rank, end := range r.End {
			fmt.Fprintf(w, "Host %d: %d\n", rank, end) // as LogGOPSim writes it
		}
	}, nil)
}
