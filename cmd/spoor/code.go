package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// newCode is for the engine, where spoor became the ranks.
func newCode() *cobra.Command {
	return &cobra.Command{
		Use:    "code TRACE",
		Short:  "Put what the binaries say of a trace's calls into it",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   oneTrace(func(cmd *cobra.Command, r *trace.Reader) error { return addCode(r) }),
	}
}

// maxCopied is up to how many bytes a trace is written anew for the sake of a section.
const maxCopied = 1 << 30

// addCode adds to a trace file with call stacks what the binaries say about its calls, such as functions and loops. So
// the binaries need not be there when the file is read. If they say nothing, the file stays as it is. r has the file as
// it was before. Somebody waits for the trace: addCode stops after a second of processor time, or after a hundredth of
// the run if that is longer.
func addCode(r *trace.Reader) error {
	procs, err := r.Processes()
	if err != nil {
		return err
	}
	budget := time.Second
	for _, p := range procs.All() {
		budget = max(budget, time.Duration(p.WallNs()/100))
	}
	return addCodeWithin(r, budget)
}

func addCodeWithin(r *trace.Reader, budget time.Duration) error {
	info, err := os.Stat(r.Name())
	if err != nil || info.Size() > maxCopied {
		return err
	}
	if frames, err := tree.StackLimit(r); err != nil || frames < 2 {
		return err
	}
	c, err := r.Code()
	if err != nil || c != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	found := make(chan error, 1)
	go func() { // keeps running if it doesn't check its time, as within debug information
		own, err := trace.Open(r.Name()) // nobody else reads it
		if err == nil {
			defer own.Close()
			places := newPlaces(nil)
			c, err = tree.Build(ctx, own, places.s, places.tails, tree.Options{})
		}
		found <- err
	}()
	err = within(budget, found)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		name := shortPath(r.Name())
		return fmt.Errorf("%s is complete, but for the program's functions and loops: finding them takes more than %s; spoor calltree %s does it when asked",
			name, show.FormatDuration(float64(budget)), name)
	case err != nil || c == nil:
		return err
	}
	if err := trace.AddCode(r.Name(), c, r); err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}

// within waits for a result until the process has used so much of a processor, or, where others use it, five times as long.
func within(budget time.Duration, result <-chan error) error {
	begin, used := time.Now(), processorTime()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for processorTime()-used < budget && time.Since(begin) < 5*budget {
		select {
		case err := <-result:
			return err
		case <-tick.C:
		}
	}
	return context.DeadlineExceeded
}

// processorTime is how long the process has had processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
