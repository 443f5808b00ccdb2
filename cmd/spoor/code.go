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

// newCode makes a hidden verb that adds the code's functions and loops to a trace. The engine runs it if no spoor run
// is there to do it, because spoor run replaced itself by the program.
func newCode() *cobra.Command {
	return &cobra.Command{
		Use:    "code TRACE",
		Short:  "Put what the binaries say of a trace's calls into it",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   oneTrace(func(cmd *cobra.Command, r *trace.Reader) error { return addCode(r) }),
	}
}

// maxCopied is the largest size in bytes of a trace that is rewritten to add a section.
const maxCopied = 1 << 30

// addCode adds functions, loops and other facts from the binaries to a trace file with call stacks, so that reading
// the file needs no binaries. Without such facts the file stays unchanged. r must have the old file open. As the user
// waits for the trace, addCode stops after a second of processor time, or after a hundredth of the run if that is
// longer.
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
	go func() { // while it reads debug information it can't be interrupted; after the budget it is left running
		own, err := trace.Open(r.Name()) // not r: this goroutine may still run when r is closed
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

// within waits for a result until the process has used budget of processor time, or five times as long has passed.
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

// processorTime is the processor time that the process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
