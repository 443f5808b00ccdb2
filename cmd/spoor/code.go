package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

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

// addCode puts into the file of a trace with call stacks what the binaries, which are at hand now, say of its calls, so that they need not
// be there when it is read. Where they say nothing, the file stays as it is. The reader has what there was.
func addCode(r *trace.Reader) error {
	info, err := os.Stat(r.Name())
	if err != nil || info.Size() > maxCopied {
		return err
	}
	if frames, err := tree.Frames(r); err != nil || frames < 2 {
		return err
	}
	places := newPlaces(nil)
	c, err := r.Code()
	if err != nil || c != nil {
		return err
	}
	if c, err = tree.Of(r, places.s, places.tails); err != nil || c == nil {
		return err
	}
	if err := trace.AddCode(r.Name(), c, r); err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}
