package main

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/goal"
	"github.com/spoor-hpc/spoor/internal/simulate/loggops"
)

func newSimulate() *cobra.Command {
	p := loggops.Defaults
	var json bool
	cmd := &cobra.Command{
		Use:   "simulate [flags] SCHEDULE",
		Short: "Predict when the ranks of a GOAL schedule end",
		Long: `Predict how long a schedule takes on a machine that the LogGOPS model describes. A
schedule is a file in the text form of GOAL, as LogGOPSim's tools write it, as it is or
compressed by gzip: for each rank sends, receives and calculations, and what
waits for what. Traces can't be simulated yet.

The rules are LogGOPSim's, and so are the times, to the digit. They are in the
schedule's unit, nanoseconds mostly; the parameters have to be in the same. A
schedule that doesn't come to its end is an error that says which operation waits.`,
		Example: `  spoor simulate stencil.goal
  spoor simulate -L 1200 -o 300 -g 400 -G 1 -S 16384 stencil.goal.gz
  spoor simulate --json stencil.goal | jq .end`,
		Args: exactly(1, "one schedule"),
		RunE: func(cmd *cobra.Command, args []string) error { return runSimulate(cmd, args[0], p, json) },
	}
	f := cmd.Flags()
	f.Uint64VarP(&p.Latency, "latency", "L", p.Latency, "how `long` a message is under way")
	f.Uint64VarP(&p.Overhead, "overhead", "o", p.Overhead, "how `long` a message keeps the CPUs of sender and receiver busy")
	f.Uint64VarP(&p.MessageGap, "message-gap", "g", p.MessageGap, "how `long` a message keeps their NICs busy")
	f.Uint64VarP(&p.ByteGap, "byte-gap", "G", p.ByteGap, "how `long` each byte after the first keeps the NICs busy")
	f.Uint64VarP(&p.ByteOverhead, "byte-overhead", "O", p.ByteOverhead, "how `long` each byte after the first keeps the CPUs busy")
	f.Uint64VarP(&p.Eager, "eager", "S", p.Eager, "the most `bytes` of a message that doesn't wait for its receive")
	f.BoolVar(&json, "json", false, "print JSON")
	return cmd
}

type simulateJSON struct {
	Parameters loggops.Parameters `json:"parameters"`
	Ranks      int                `json:"ranks"`
	Operations int                `json:"operations"`
	Events     uint64             `json:"events"` // operations and messages
	End        uint64             `json:"end"`    // of the last rank
	Ends       []uint64           `json:"ends"`   // of each rank
}

func runSimulate(cmd *cobra.Command, path string, p loggops.Parameters, json bool) error {
	s, err := goal.Open(path)
	if err != nil {
		return err
	}
	r, err := loggops.Simulate(s, p)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if json {
		return writeJSON(cmd.OutOrStdout(), simulateJSON{p, s.Ranks(), len(s.Ops), r.Events, slices.Max(append(r.End, 0)), r.End})
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	for rank, end := range r.End {
		fmt.Fprintf(out, "Host %d: %d\n", rank, end) // as LogGOPSim writes it
	}
	return out.Flush()
}
