package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// showCode prints the functions and loops around MPI calls in a binary.
func showCode(cmd *cobra.Command, path string, paths []string, form output) error {
	m, err := code.Open(path)
	if r, traced := trace.Open(path); err != nil && traced == nil {
		r.Close()
		return fmt.Errorf("%s is a trace; for its loops: spoor calltree %s", path, path)
	}
	if err != nil {
		return err
	}
	defer m.Close()
	s := symbolise.New(symbolise.Options{Paths: paths})
	o := tree.NewOutline(m, s)
	for _, note := range append(s.Notes(), o.Notes...) {
		complain(cmd, errors.New(note))
	}
	return form.print(cmd, o, o.WriteText, nil)
}
