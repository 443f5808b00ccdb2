package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/pcontrol"
	"github.com/spoor-hpc/spoor/trace"
)

// phaseFlag adds the flag of verbs that take the calls of one phase.
func phaseFlag(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "phase", "", "only calls from MPI_Pcontrol(`level`) to before the thread's next MPI_Pcontrol, each time")
}

// parsePhase returns the level that --phase names, nil if there is no such flag. nil ranks are all.
func parsePhase(name string, r *trace.Reader, ranks []int) (*int64, error) {
	if name == "" {
		return nil, nil
	}
	level, err := pcontrol.Parse(name, r, ranks)
	if err != nil {
		return nil, fmt.Errorf("--phase: %w", err)
	}
	return &level, nil
}
