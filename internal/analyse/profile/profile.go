// Package profile shows where a program's time goes: the tree of its functions, loops and calls (package calltree) as
// text, and a flat table of call sites over all ranks, and how the times of their single calls are spread. Its cost follows the size of the compressed form, not the number of calls.
//
// The package does not find out which line a call site is (package symbolise does), and does not judge what it shows.
package profile

import (
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/trace"
)

// A Profile is the call tree of one rank, which may describe all ranks of its class.
type Profile struct{ *calltree.Tree }

// RankProfile makes the profile of a rank; see calltree.Build.
func RankProfile(r *trace.Reader, rank int, o calltree.Options) (*Profile, error) {
	t, err := calltree.Build(r, rank, o)
	return &Profile{t}, err
}

// countedText returns the iteration count that the program's own counter gives for a loop, if it differs from the
// trace's.
func countedText(n *calltree.Node) string {
	if text := n.RoundsByProgramText(); text != "" {
		return ", " + text + " counted"
	}
	return ""
}

func attachedOf(list []calltree.AttachedSummary) (out []calltree.AttachedSum) {
	for _, v := range list {
		out = append(out, calltree.AttachedSum{Name: v.Name, LeafAttachedSum: trace.LeafAttachedSum{Count: float64(v.Count), Sum: float64(v.Sum)}})
	}
	return out
}
