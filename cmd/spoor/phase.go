package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// phaseFlag adds the flag of verbs that take the calls of one phase.
func phaseFlag(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "phase", "", "only this `phase`: from each MPI_Pcontrol(PHASE) or plugin mark to the next mark of the thread")
}

// checkPhase returns an error if --phase names a phase that the ranks don't have. nil ranks are all.
func checkPhase(name string, r *trace.Reader, ranks []int) error {
	if name == "" {
		return nil
	}
	if err := ops.CheckPhase(name, r, ranks); err != nil {
		return fmt.Errorf("--phase: %w", err)
	}
	return nil
}
