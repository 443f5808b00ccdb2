package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/outline"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/trace"
)

func newTree() *cobra.Command {
	var form output
	var paths []string
	cmd := &cobra.Command{
		Use:   "tree [flags] BINARY",
		Short: "Show where a program calls MPI, in which loops, without running it",
		Long: `Show what the machine code of a program or library says of its MPI calls: each
function that leads to one, and in it the loops, nested, around calls of MPI and
of other such functions. Nothing is run or recompiled. With debug information
places have lines; else they are offsets, as traces have them.

What is shown may run or not, and as often as data say. Calls through pointers,
as of virtual functions, are counted, since the code doesn't say where they
lead; so are jumps whose targets were not found. A call "by a jump" is the last
thing that a function does: the compiler spared the way back, and call stacks
don't show that function. Code that was inlined stands where it was put, behind
the name of its own function. "counter rbx, +1" is the register in which a loop
counts its rounds, kept during the calls in it; "CFA-24" a word of the frame.

x86-64 and arm64 are understood. Where a program calls MPI through libraries of
its own, look at these one by one.`,
		Example: `  spoor tree ./app
  spoor tree --json /usr/lib/x86_64-linux-gnu/liblammps.so.0 | jq '.loops'`,
		Args: exactly(1, "one binary"),
		RunE: func(cmd *cobra.Command, args []string) error { return runTree(cmd, args[0], paths, form) },
	}
	f := cmd.Flags()
	f.BoolVar(&form.json, "json", false, "print JSON")
	debugPathFlag(f, &paths)
	return cmd
}

func runTree(cmd *cobra.Command, path string, paths []string, form output) error {
	m, err := code.Open(path)
	if r, traced := trace.Open(path); err != nil && traced == nil {
		r.Close()
		return fmt.Errorf("%s is a trace; its loops: spoor profile %s", path, path)
	}
	if err != nil {
		return err
	}
	defer m.Close()
	s := symbolise.New(symbolise.Options{Paths: paths})
	o := outline.New(m, s)
	for _, note := range append(s.Notes(), o.Notes...) {
		complain(cmd, errors.New(note))
	}
	return form.print(cmd, o, o.WriteText, nil)
}
