package main

import "github.com/spf13/cobra"

func newSimulate() *cobra.Command {
	var t traceSimulation
	cmd := &cobra.Command{
		Use:   "simulate --machine NAME [flags] TRACE",
		Short: "Predict the run time of a trace on another machine or network",
		Long: `spoor simulates the messages, collectives and waiting of the trace on the
machine, with the traced computation scaled by --cpu. It prints for each rank
the time of computation, overhead, waiting and transfer. Receives get the
messages they got in the traced run. Collectives become messages as MPI
libraries send them; large ones use a formula. Calls without a model take their
recorded time, and are listed. --output writes the prediction as a trace, for
spoor profile, waits, compare and report.

--machine takes names of spoor machine list, or files of spoor machine measure.
More: docs/simulate.md`,
		Example: `  spoor simulate --machine infiniband app.spoor
  spoor simulate --machine infiniband --sites app.spoor
  spoor simulate --machine infiniband,ethernet,ideal app.spoor
  spoor simulate --machine my.toml --cpu 1.3 --map cyclic app.spoor
  spoor simulate --machine ethernet --vary bandwidth=1:100 app.spoor
  spoor simulate --machine ethernet --sensitivity app.spoor
  spoor simulate --machine ethernet -o there.spoor app.spoor && spoor profile there.spoor`,
		Args: exactly(1, "one trace"),
		RunE: func(cmd *cobra.Command, args []string) error { return simulateTrace(cmd, args[0], t) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&t.machines, "machine", nil, "`name`: a machine, or its file; several, separated by commas, make a table")
	f.StringVar(&t.mapping, "map", "block", "`how`: ranks on nodes: block, cyclic, or a file with the node of each rank")
	f.StringVar(&t.gaps, "compute-times", "", "`kind` of computation times between calls: all (each call's own), median or mean of its call path (default: as well as they are known, by iteration in traces without single times)")
	f.Float64Var(&t.cpu, "cpu", 0, "speed up computation by `factor`")
	f.StringVar(&t.tracedOn, "traced-on", "", "`name`: the machine of the trace, or its file; its cost of tracing is subtracted")
	f.BoolVar(&t.sensitivity, "sensitivity", false, "add what 10 % of latency, bandwidth, overhead and computation are worth")
	f.StringVarP(&t.database, "database", "d", "", "add the prediction to this `file` of spoor db")
	f.BoolVar(&t.sites, "sites", false, "add call sites: traced and predicted times")
	f.BoolVar(&t.path, "path", false, "add the critical path by call site and rank")
	f.StringVar(&t.vary, "vary", "", "`factors`: predict for several latencies, bandwidths, overheads or cpu: bandwidth=1:100")
	f.BoolVar(&t.whole, "no-shortcuts", false, "simulate also ranks and iterations that repeat others; the result is the same")
	f.BoolVar(&t.messages, "messages", false, "use messages instead of formulas for large collectives; slower")
	topFlag(f, &t.top, 32, "ranks and call sites")
	debugPathFlag(f, &t.debugPaths)
	f.StringVarP(&t.out, "output", "o", "", "write the prediction as a trace to this `file`")
	forceFlag(f, &t.force)
	jsonFlag(f, &t.json)
	t.window.add(f)
	return cmd
}
