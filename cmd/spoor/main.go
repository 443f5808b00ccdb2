// Command spoor traces MPI programs and answers questions about the traces.
//
// One verb is one file here. A verb parses its flags, calls a package and
// prints; what it knows beyond that belongs into the package.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// An exitCode ends the command with a code of its own; everything there is to
// say has been said.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// run is main without the process: arguments in, exit code out.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(stderr, "spoor: %v\n", err)
	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "spoor",
		Short: "Trace any MPI program into one small file, and read it back",
		Long: `spoor follows every MPI call of a parallel program and keeps the whole track
in kilobytes. It needs no recompiling and no relinking, and works with the
MPICH family and Open MPI, with C and Fortran.`,
		Example: `  spoor run mpirun -n 4 ./app     trace a program into app.spoor
  spoor info app.spoor            what ran, and what the trace holds
  spoor dump app.spoor --rank 0   every call of rank 0 as text`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(verbs()...)
	return root
}

// verbs lists the verbs in the order in which a user meets them.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newDoctor(),
	}
}
