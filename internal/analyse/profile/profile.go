// Package profile shows where a program's time goes: the tree of its functions, loops and calls (package calltree) as
// text, in the notation of Grosclaude et al., Tracing MPI binaries for knowledge discovery, or as LaTeX; and a flat
// table of call sites over all ranks. Its cost follows the size of the compressed form, not the number of calls.
//
// The package does not find out which line a call site is (package symbolise does), and does not judge what it shows.
package profile

import (
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/trace"
)

// A Profile is the tree of one rank of a class.
type Profile struct{ *calltree.Tree }

// Of is calltree.Of.
func Of(r *trace.Reader, rank int, o calltree.Options) (*Profile, error) {
	t, err := calltree.Of(r, rank, o)
	return &Profile{t}, err
}
