package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/simulate/goal"
	"github.com/spoor-hpc/spoor/internal/simulate/loggops"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
)

func newSimulate() *cobra.Command {
	p := loggops.Defaults
	var t traceSimulation
	var machines bool
	var model, out string
	cmd := &cobra.Command{
		Use:   "simulate [flags] TRACE|SCHEDULE",
		Short: "Predict how long a run would take on another machine",
		Long: `Predict how long the run of a trace would take on a machine that --machine
describes, and how each rank would spend that time: computing, in the overhead of
messages, waiting for other ranks to begin their part, and waiting for messages under
way. What ranks compute comes from the gaps between the calls of the trace, as many
times as fast as --cpu or the machine says; messages and their order from its calls; how
long messages take from the machine, by size and by how far ranks are from each
other. Receives get what they got in the traced run. Collectives are taken apart into
messages, as MPI libraries do; in large ones a formula stands in unless --messages is
given. Calls that no model is known of are listed with their
share of time; they take what they took.

A machine is a file, or one of those that come with spoor: --machines lists them. Their
figures are plausible and not measured; ideal has messages that take no time.

A schedule is a file in the text form of GOAL, as LogGOPSim's tools write it, as it is or
compressed by gzip: for each rank sends, receives and calculations, and what
waits for what. It is simulated under the LogGOPS model by LogGOPSim's rules, to the
digit, with the parameters -L to -S. Times are in the schedule's unit, nanoseconds
mostly; the parameters have to be in the same.

Where gaps are means or medians, rounds of the main loop that repeat are not gone
through again, and of ranks that do the same one is simulated: the result is the same
to the digit, and --each-round and --each-rank do without.

With -o the prediction is a trace with a time for every call: spoor waits of it says who
would wait for whom.

What doesn't come to its end is an error that says which operation waits.`,
		Example: `  spoor simulate --machine infiniband app.spoor
  spoor simulate --machine my.toml --cpu 1.3 --map cyclic app.spoor
  spoor simulate --machine ethernet --sensitivity app.spoor
  spoor simulate --machine infiniband --path app.spoor
  spoor simulate --machine infiniband,ethernet,ideal app.spoor
  spoor simulate --machine ethernet --vary bandwidth=1:100 app.spoor
  spoor simulate --machine ethernet -o there.spoor app.spoor && spoor diff --times app.spoor there.spoor
  spoor simulate --machine ethernet -o there.spoor app.spoor && spoor waits there.spoor
  spoor simulate --model loggops -L 1200 -o 300 app.spoor
  spoor simulate --machine infiniband -d spoor.db app.spoor && spoor db sql 'select * from prediction'
  spoor simulate --machine ideal --json app.spoor | jq .end_ps
  spoor simulate --machines                        which come with spoor
  spoor simulate -L 1200 -o 300 -g 400 -G 1 -S 16384 stencil.goal.gz`,
		Args: func(cmd *cobra.Command, args []string) error {
			if machines {
				return exactly(0, "no argument with --machines")(cmd, args)
			}
			return exactly(1, "one trace or schedule")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case machines:
				return printMachines(cmd.OutOrStdout())
			case model != "dataflow" && model != "loggops":
				return fmt.Errorf("no model %q: dataflow or loggops", model)
			case model == "loggops" && isTrace(args[0]):
				if err := overheadOf(cmd, out, &p); err != nil {
					return err
				}
				for _, name := range slices.Concat([]string{"machine"}, traceFlags, windowNames()) {
					if cmd.Flags().Changed(name) {
						return fmt.Errorf("--%s does not go with --model loggops, which has -L to -S", name)
					}
				}
				return simulateSchedule(cmd, args[0], p, t.output)
			case isTrace(args[0]) || len(t.machines) > 0:
				for _, name := range loggopsFlags {
					if cmd.Flags().Changed(name) {
						return fmt.Errorf("--%s is for schedules and --model loggops; a trace has its machine from --machine", name)
					}
				}
				t.out = out
				return simulateTrace(cmd, args[0], t)
			}
			if err := overheadOf(cmd, out, &p); err != nil {
				return err
			}
			for _, name := range slices.Concat(traceFlags, windowNames()) {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is for traces; %s is none", name, args[0])
				}
			}
			if cmd.Flags().Changed("model") && model != "loggops" {
				return fmt.Errorf("--model %s is for traces; schedules are simulated under loggops", model)
			}
			return runSimulate(cmd, args[0], p, t.output)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&t.machines, "machine", nil, "`file` or name of the machine to simulate a trace on; of several, separated by commas or each\nwith --machine, there is a table")
	f.StringVar(&model, "model", "dataflow", "how a trace is simulated: dataflow, on a machine, or `loggops`, as the schedule that spoor\nexport --to goal makes of it, with the parameters -L to -S in ns")
	f.BoolVar(&machines, "machines", false, "list the machines that come with spoor")
	f.StringVar(&t.mapping, "map", "block", "how ranks are laid out over nodes: block, cyclic, or a `file` with the name of a rank's node\nin each line")
	f.StringVar(&t.gaps, "gaps", "", "what is computed between calls: `series`, each call's own, or median or mean of its place;\nby default series if the trace has it, else mean")
	f.Float64Var(&t.cpu, "cpu", 0, "how many `times` as fast as traced everything is computed, in place of what the machine says")
	f.StringVar(&t.tracedOn, "traced-on", "", "`file` or name of the machine where the trace was made: what spoor calibrate found tracing to\ncost there is taken out of what is computed, not what the machine of --machine says")
	f.BoolVar(&t.sensitivity, "sensitivity", false, "tell what 10 % of latency, bandwidth, overhead and computing are worth, and the efficiencies\nof the POP project")
	f.StringVarP(&t.database, "database", "d", "", "put the prediction of a trace into this `file` of spoor db, and the trace if it isn't there")
	f.BoolVar(&t.path, "path", false, "show the critical path by call site and rank: what the end of the run depends on")
	f.StringVar(&t.vary, "vary", "", "predict for several factors of latency, bandwidth, overhead or cpu: `bandwidth=1:100`, or\nbandwidth=1:100:5 for five of them")
	f.BoolVar(&t.eachRank, "each-rank", false, "simulate each rank, of those that do the same, too; the result is the same")
	f.BoolVar(&t.eachRound, "each-round", false, "go through each round of loops, of those that repeat, too; the result is the same")
	f.BoolVar(&t.messages, "messages", false, "have messages in place of formulas in large collectives, too: slower, with much more memory")
	f.IntVar(&t.top, "top", 32, "list so many ranks, and call sites, of a trace; 0: all")
	debugPathFlag(f, &t.debugPaths)
	f.Uint64VarP(&p.Latency, "latency", "L", p.Latency, "how `long` a message is under way")
	f.Uint64Var(&p.Overhead, "overhead", p.Overhead, "how `long` a message keeps the CPUs of sender and receiver busy")
	f.Uint64VarP(&p.MessageGap, "message-gap", "g", p.MessageGap, "how `long` a message keeps their NICs busy")
	f.Uint64VarP(&p.ByteGap, "byte-gap", "G", p.ByteGap, "how `long` each byte after the first keeps the NICs busy")
	f.Uint64VarP(&p.ByteOverhead, "byte-overhead", "O", p.ByteOverhead, "how `long` each byte after the first keeps the CPUs busy")
	f.Uint64VarP(&p.Eager, "eager", "S", p.Eager, "the most `bytes` of a message that doesn't wait for its receive")
	f.StringVarP(&out, "out", "o", "", "of a trace: write the prediction as a trace to this `file`, which report, profile, imbalance\nand diff read as any other; of a schedule: --overhead, as LogGOPSim has it")
	t.window.add(f)
	f.BoolVar(&t.force, "force", false, "write over that file if it exists")
	f.BoolVar(&t.json, "json", false, "print JSON")
	return cmd
}

// overheadOf takes -o as LogGOPSim's o.
func overheadOf(cmd *cobra.Command, out string, p *loggops.Parameters) (err error) {
	switch {
	case !cmd.Flags().Changed("out"):
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
	Parameters loggops.Parameters `json:"parameters"`
	Ranks      int                `json:"ranks"`
	Operations int                `json:"operations"`
	Events     uint64             `json:"events"` // operations and messages
	End        uint64             `json:"end"`    // of the last rank
	Ends       []uint64           `json:"ends"`   // of each rank
}

func runSimulate(cmd *cobra.Command, path string, p loggops.Parameters, o output) error {
	s, err := goal.Open(path)
	if err != nil {
		return err
	}
	return printSchedule(cmd, path, s, p, o)
}

// simulateSchedule simulates a trace as a schedule.
func simulateSchedule(cmd *cobra.Command, path string, p loggops.Parameters, o output) error {
	r, err := openTrace(path)
	if err != nil {
		return err
	}
	defer r.Close()
	s, err := traced.Schedule(r, path)
	if err != nil {
		return err
	}
	return printSchedule(cmd, path, s, p, o)
}

func printSchedule(cmd *cobra.Command, path string, s *goal.Schedule, p loggops.Parameters, o output) error {
	r, err := loggops.Simulate(s, p)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return o.print(cmd, simulateJSON{p, s.Ranks(), len(s.Ops), r.Events, slices.Max(append(r.End, 0)), r.End}, func(w io.Writer) error {
		for rank, end := range r.End {
			fmt.Fprintf(w, "Host %d: %d\n", rank, end) // as LogGOPSim writes it
		}
		return nil
	}, nil)
}
